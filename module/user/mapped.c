// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings that producers map: see mapped.h.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/time_namespace.h>

#include "compat.h"
#include "core/ioctl.h"
#include "core/ops.h"
#include "core/subscriber.h"
#include "core/types.h"
#include "core/user.h"
#include "memory.h"
#include "user/file.h"
#include "user/mapped.h"
#include "user/producer.h"
#include "user/shard.h"

/* ---- references ---- */

static void eventlog_mapped_free_rcu(struct rcu_head *rcu)
{
	eventlog_free(container_of(rcu, struct eventlog_mapped, rcu));
}

static void eventlog_mapped_free(struct eventlog_mapped *ring)
{
	eventlog_user_uncharge(ring->user, EVENTLOG_QUOTA_RING_BYTES,
			       PAGE_SIZE + ring->data_bytes);
	eventlog_user_put(ring->user);
	eventlog_pages_free(&ring->pages);
	put_pid(ring->emitter.process);
	put_pid(ring->emitter.thread);
	mmdrop(ring->mm);
	call_rcu(&ring->rcu, eventlog_mapped_free_rcu);
}

static void eventlog_mapped_put(struct eventlog_mapped *ring)
{
	if (refcount_dec_and_test(&ring->users))
		eventlog_mapped_free(ring);
}

/* Finds a ring and takes a reference; NULL: there is none. */
static struct eventlog_mapped *eventlog_mapped_get(struct eventlog_file *file, u32 number)
{
	struct eventlog_mapped *ring;

	rcu_read_lock();
	ring = xa_load(&file->mapped, number);
	if (ring && !refcount_inc_not_zero(&ring->users))
		ring = NULL;
	rcu_read_unlock();
	return ring;
}

/*
 * Ends a ring, unless it has ended.  The shard is locked, and the caller has a reference
 * of its own.
 */
static void eventlog_mapped_end(struct eventlog_mapped *ring)
{
	lockdep_assert_held(&ring->shard->lock);
	if (ring->ended)
		return;
	eventlog_shard_remove(ring);
	xa_erase(&ring->file->mapped, ring->number);
	eventlog_mapped_put(ring);
}

/* ---- mapping ---- */

/*
 * Called when mremap() has moved the mapping and then fails: close() follows.  Also in
 * fork(), if the process has called madvise(MADV_DOFORK): the ring ends, because the child
 * would emit as the parent, even after that has exited and its pid is another process's.
 */
static void eventlog_mapped_vma_open(struct vm_area_struct *vma)
{
	struct eventlog_mapped *ring = vma->vm_private_data;

	refcount_inc(&ring->users);
	mutex_lock(&ring->shard->lock);
	ring->mappings++;
	if (vma->vm_mm != ring->mm)
		eventlog_mapped_end(ring);
	mutex_unlock(&ring->shard->lock);
}

static void eventlog_mapped_vma_close(struct vm_area_struct *vma)
{
	struct eventlog_mapped *ring = vma->vm_private_data;

	mutex_lock(&ring->shard->lock);
	if (!--ring->mappings)
		eventlog_mapped_end(ring);
	mutex_unlock(&ring->shard->lock);
	eventlog_mapped_put(ring);
}

static int eventlog_mapped_vma_split(struct vm_area_struct *vma, unsigned long address)
{
	return -EINVAL;
}

static int eventlog_mapped_vma_mremap(struct vm_area_struct *vma)
{
	return -EINVAL;
}

static const struct vm_operations_struct eventlog_mapped_vm_ops = {
	.open = eventlog_mapped_vma_open,
	.close = eventlog_mapped_vma_close,
	.may_split = eventlog_mapped_vma_split,
	.mremap = eventlog_mapped_vma_mremap,
};

int eventlog_mapped_mmap(struct eventlog_file *file, struct vm_area_struct *vma)
{
	const unsigned long stride = EVENTLOG_MAPPED_STRIDE >> PAGE_SHIFT;
	struct eventlog_mapped *ring;
	int ret = -EINVAL;

	if (vma->vm_pgoff / stride > EVENTLOG_MAPPED_RINGS_MAX)
		return -ENXIO;
	ring = eventlog_mapped_get(file, vma->vm_pgoff / stride);
	if (!ring)
		return -ENXIO;
	if (vma->vm_pgoff % stride || vma_pages(vma) != ring->pages.count ||
	    (vma->vm_flags & (VM_READ | VM_WRITE)) != (VM_READ | VM_WRITE))
		goto out_put;
	ret = -EPERM;
	if (ring->mm != vma->vm_mm)
		goto out_put;
	mutex_lock(&ring->shard->lock);
	ret = ring->ended ? -ENXIO : ring->mappings ? -EBUSY : 0;
	if (!ret)
		ring->mappings = 1;
	mutex_unlock(&ring->shard->lock);
	if (ret)
		goto out_put;
	/* Not with the lock: page tables are charged, so this may wait for the memory cgroup. */
	ret = eventlog_pages_map(&ring->pages, 0, vma);
	if (!ret) {
		vma->vm_private_data = ring;
		vma->vm_ops = &eventlog_mapped_vm_ops;
		return 0;
	}
	mutex_lock(&ring->shard->lock);
	ring->mappings = 0;
	mutex_unlock(&ring->shard->lock);
out_put:
	eventlog_mapped_put(ring);
	return ret;
}

/* ---- ATTACH and DETACH ---- */

/* Makes the current task the thread of a ring. */
static void eventlog_mapped_adopt(struct eventlog_mapped *ring)
{
	put_pid(ring->emitter.process);
	put_pid(ring->emitter.thread);
	ring->emitter.process = get_task_pid(current, PIDTYPE_TGID);
	ring->emitter.thread = get_task_pid(current, PIDTYPE_PID);
	get_task_comm(ring->emitter.comm, current);
	/* It comes after what the thread has emitted without it. */
	eventlog_mapped_advance(ring, max(ktime_get_ns(), eventlog_ring_clock()));
}

/* Allocates a ring that is in no shard and has no number. */
static struct eventlog_mapped *eventlog_mapped_new(struct eventlog_file *file, u32 data_bytes,
						   u32 flags)
{
	struct eventlog_mapped *ring;
	int ret;

	if (!eventlog_user_charge(file->user, EVENTLOG_QUOTA_RING_BYTES, PAGE_SIZE + data_bytes))
		return ERR_PTR(-EDQUOT);
	ring = eventlog_alloc(sizeof(*ring));
	if (!ring) {
		eventlog_user_uncharge(file->user, EVENTLOG_QUOTA_RING_BYTES,
				       PAGE_SIZE + data_bytes);
		return ERR_PTR(-ENOMEM);
	}
	refcount_set(&ring->users, 1);
	ring->file = file;
	ring->user = eventlog_user_get(file->user);
	ring->mm = current->mm;
	mmgrab(ring->mm);
	ring->data_bytes = data_bytes;
	ring->has_cycles = flags & EVENTLOG_ATTACH_CYCLES;
	eventlog_mapped_adopt(ring);
	ret = eventlog_pages_alloc(&ring->pages, 1 + (data_bytes >> PAGE_SHIFT), NUMA_NO_NODE);
	if (ret) {
		eventlog_mapped_put(ring);
		return ERR_PTR(ret);
	}
	ring->header = ring->pages.address;
	ring->data = ring->pages.address + PAGE_SIZE;
	ring->header->magic = EVENTLOG_MAPPED_MAGIC;
	ring->header->data_offset = PAGE_SIZE;
	ring->header->data_bytes = data_bytes;
	return ring;
}

/*
 * Gives a ring a number, adds it to a shard, and publishes it.  The caller keeps its
 * reference, and the file gets one.
 */
static int eventlog_mapped_publish(struct eventlog_mapped *ring)
{
	struct eventlog_file *file = ring->file;
	int ret;

	ret = xa_alloc(&file->mapped, &ring->number, NULL, XA_LIMIT(1, EVENTLOG_MAPPED_RINGS_MAX),
		       GFP_KERNEL_ACCOUNT);
	if (ret)
		return ret == -EBUSY ? -EMFILE : ret;
	ring->header->ring = ring->number;
	ring->shard = eventlog_shard_choose(file->domain, ring->user);
	ret = eventlog_shard_add(ring);
	if (ret) {
		xa_release(&file->mapped, ring->number);
		return ret;
	}
	refcount_inc(&ring->users);
	/* Cannot fail: the number is reserved. */
	xa_store(&file->mapped, ring->number, ring, GFP_KERNEL);
	return 0;
}

static struct eventlog_mapped *eventlog_mapped_make(struct eventlog_file *file, u32 data_bytes,
						    u32 flags)
{
	struct eventlog_mapped *ring;
	int ret;

	if (!is_power_of_2(data_bytes) || data_bytes < EVENTLOG_MAPPED_BYTES_MIN ||
	    data_bytes < PAGE_SIZE || data_bytes > EVENTLOG_MAPPED_BYTES_MAX)
		return ERR_PTR(-EINVAL);
	if (flags & EVENTLOG_ATTACH_CYCLES && !eventlog_cycles_usable())
		return ERR_PTR(-EOPNOTSUPP);
	ring = eventlog_mapped_new(file, data_bytes, flags);
	if (IS_ERR(ring))
		return ring;
	ret = eventlog_mapped_publish(ring);
	if (ret) {
		eventlog_mapped_put(ring);
		return ERR_PTR(ret);
	}
	return ring;
}

/* Takes over a ring of another thread. */
static struct eventlog_mapped *eventlog_mapped_take_over(struct eventlog_file *file, u32 number,
							 u32 flags)
{
	struct eventlog_mapped *ring = eventlog_mapped_get(file, number);
	int ret = -ENOENT;

	if (!ring)
		return ERR_PTR(-ENOENT);
	mutex_lock(&ring->shard->lock);
	if (ring->mm != current->mm) {
		ret = -EPERM;
	} else if (ring->has_cycles != !!(flags & EVENTLOG_ATTACH_CYCLES)) {
		ret = -EINVAL;
	} else if (!ring->ended && !ring->leave) {
		eventlog_shard_take(ring, true);
		eventlog_mapped_adopt(ring);
		ret = 0;
	}
	mutex_unlock(&ring->shard->lock);
	if (ret) {
		eventlog_mapped_put(ring);
		return ERR_PTR(ret);
	}
	return ring;
}

/* What a task must add to its CLOCK_MONOTONIC to get that of the initial time namespace. */
static s64 eventlog_time_offset(void)
{
	struct timespec64 offset = {};

	timens_add_monotonic(&offset);
	return -timespec64_to_ns(&offset);
}

static int eventlog_ioctl_attach(struct eventlog_domain *domain, struct file *filp,
				 void *argument, void __user *user)
{
	struct eventlog_file *file = filp->private_data;
	struct eventlog_attach *request = argument;
	struct eventlog_mapped *ring;
	bool is_new = !request->ring;
	int ret;

	if (request->flags & ~EVENTLOG_ATTACH_CYCLES)
		return -EINVAL;
	if (!eventlog_file_read_write(filp))
		return -EBADF;
	/* A ring that is attached during the deletion is of no use, and does no harm. */
	if (READ_ONCE(domain->dead))
		return -ENODEV;
	if (eventlog_file_role(file) != EVENTLOG_ROLE_PRODUCER)
		return eventlog_file_role(file) == EVENTLOG_ROLE_SUBSCRIBER ? -EBUSY : -EINVAL;
	ring = is_new ? eventlog_mapped_make(file, request->data_bytes, request->flags) :
			eventlog_mapped_take_over(file, request->ring, request->flags);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	request->ring = ring->number;
	request->data_bytes = ring->data_bytes;
	request->offset = (u64)ring->number * EVENTLOG_MAPPED_STRIDE;
	request->length = (u64)ring->pages.count << PAGE_SHIFT;
	request->time_offset = eventlog_time_offset();
	ret = eventlog_argument_put(user, request, sizeof(*request));
	if (ret && is_new) {
		mutex_lock(&ring->shard->lock);
		eventlog_mapped_end(ring);
		mutex_unlock(&ring->shard->lock);
	}
	eventlog_mapped_put(ring);
	return ret;
}

static int eventlog_ioctl_detach(struct eventlog_domain *domain, struct file *filp,
				 void *argument, void __user *user)
{
	struct eventlog_file *file = filp->private_data;
	struct eventlog_detach *request = argument;
	struct eventlog_mapped *ring;
	int ret;

	if (eventlog_file_role(file) == EVENTLOG_ROLE_SUBSCRIBER)
		return -EBUSY;
	ring = eventlog_mapped_get(file, request->ring);
	if (!ring)
		return -ENOENT;
	mutex_lock(&ring->shard->lock);
	ret = ring->ended ? -ENOENT : 0;
	eventlog_mapped_end(ring);
	mutex_unlock(&ring->shard->lock);
	eventlog_mapped_put(ring);
	return ret;
}

static const struct eventlog_ioctl eventlog_mapped_table[] = {
	EVENTLOG_IOCTL(ATTACH, eventlog_attach, time_offset, eventlog_ioctl_attach),
	EVENTLOG_IOCTL(DETACH, eventlog_detach, ring, eventlog_ioctl_detach),
};

const struct eventlog_ioctls eventlog_mapped_ioctls = {
	.ioctls = eventlog_mapped_table,
	.count = ARRAY_SIZE(eventlog_mapped_table),
};

/* ---- write() ---- */

int eventlog_mapped_kick(struct eventlog_file *file, const u8 *message, size_t bytes)
{
	struct eventlog_mapped *ring;
	u32 number;
	int ret = 0;

	if (bytes < sizeof(u32) + sizeof(number) ||
	    (bytes > sizeof(u32) + sizeof(number) && bytes < 2 * sizeof(u32) + sizeof(number)))
		return -EINVAL;
	number = get_unaligned((const u32 *)(message + sizeof(u32)));
	message += sizeof(u32) + sizeof(number);
	bytes -= sizeof(u32) + sizeof(number);
	ring = eventlog_mapped_get(file, number);
	if (!ring)
		return -ENOENT;
	mutex_lock(&ring->shard->lock);
	if (!ring->ended)
		eventlog_shard_take(ring, false);
	if (bytes) {
		ret = eventlog_producer_emit(file, message, bytes, &ring->emitter.latest);
		/* Records that the pass has left keep their times, which are before it. */
		if (!ret && ring->tail == ring->end)
			eventlog_mapped_advance(ring, ring->emitter.latest);
	}
	mutex_unlock(&ring->shard->lock);
	eventlog_mapped_put(ring);
	return ret;
}

/* ---- life ---- */

void eventlog_mapped_release(struct eventlog_file *file)
{
	struct eventlog_mapped *ring;
	unsigned long number;

	xa_for_each(&file->mapped, number, ring) {
		refcount_inc(&ring->users);
		mutex_lock(&ring->shard->lock);
		eventlog_mapped_end(ring);
		mutex_unlock(&ring->shard->lock);
		eventlog_mapped_put(ring);
	}
	xa_destroy(&file->mapped);
}

void eventlog_mapped_drain(struct eventlog_file *file)
{
	struct eventlog_mapped *ring;
	unsigned long number, which = 0;

	rcu_read_lock();
	xa_for_each(&file->mapped, number, ring)
		which |= BIT(ring->shard->index);
	rcu_read_unlock();
	eventlog_shards_drain(file->domain, which);
}

static void eventlog_mapped_drain_all(struct eventlog_domain *domain)
{
	eventlog_shards_drain(domain, ~0UL);
}

static const struct eventlog_mapped_ops eventlog_shards_ops = {
	.drain = eventlog_mapped_drain_all,
};

int eventlog_mapped_init(struct eventlog_domain *domain)
{
	eventlog_mapped_ops = &eventlog_shards_ops;
	return eventlog_shards_init(domain);
}

void eventlog_mapped_exit(struct eventlog_domain *domain)
{
	eventlog_shards_exit(domain);
}
