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
#include <linux/sched/signal.h>
#include <linux/time_namespace.h>

#include "compat.h"
#include "core/ioctl.h"
#include "core/ops.h"
#include "core/domain.h"
#include "core/subscriber.h"
#include "core/thread.h"
#include "core/types.h"
#include "core/user.h"
#include "memory.h"
#include "user/file.h"
#include "user/instance.h"
#include "user/mapped.h"
#include "user/producer.h"
#include "user/shard.h"
#include "user/watch.h"

/* ---- references ---- */

/* Finds a ring that has not ended, and takes a reference; NULL: there is none. */
static struct eventlog_mapped *eventlog_mapped_get(struct eventlog_file *file, u32 number)
{
	struct eventlog_mapped *ring;

	rcu_read_lock();
	ring = xa_load(&file->mapped, number);
	if (ring && (READ_ONCE(ring->ended) || !refcount_inc_not_zero(&ring->users)))
		ring = NULL;
	rcu_read_unlock();
	return ring;
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
	eventlog_shard_lock(ring->shard);
	ring->mappings++;
	if (vma->vm_mm != ring->mm)
		eventlog_shard_end(ring);
	eventlog_steps_end(&ring->shard->steps, EVENTLOG_STEPS_MMAP);
	eventlog_shard_unlock(ring->shard);
}

/* With mmap_lock.  The worker, or the release of the file, delivers what the ring contains. */
static void eventlog_mapped_vma_close(struct vm_area_struct *vma)
{
	struct eventlog_mapped *ring = vma->vm_private_data;

	eventlog_shard_lock(ring->shard);
	if (!--ring->mappings)
		eventlog_shard_end(ring);
	eventlog_steps_end(&ring->shard->steps, EVENTLOG_STEPS_MMAP);
	eventlog_shard_unlock(ring->shard);
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
	eventlog_shard_lock(ring->shard);
	ret = ring->ended ? -ENXIO : ring->mappings ? -EBUSY : 0;
	if (!ret)
		ring->mappings = 1;
	eventlog_shard_unlock(ring->shard);
	if (ret)
		goto out_put;
	/* Not with the lock: page tables are charged, so this may wait for the memory cgroup. */
	ret = eventlog_pages_map(&ring->pages, 0, vma);
	if (!ret) {
		vma->vm_private_data = ring;
		vma->vm_ops = &eventlog_mapped_vm_ops;
		return 0;
	}
	eventlog_shard_lock(ring->shard);
	ring->mappings = 0;
	eventlog_shard_unlock(ring->shard);
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
	get_task_comm(ring->comm, current);
	ring->emitter.comm = ring->comm;
	/* It comes after what the thread has emitted without it. */
	eventlog_mapped_advance(ring, max(ktime_get_ns(), eventlog_ring_clock()));
}

/* Allocates a ring that is in no shard and has no number. */
static struct eventlog_mapped *eventlog_mapped_new(struct eventlog_file *file, u32 data_bytes,
						   u32 flags)
{
	struct eventlog_mapped *ring;
	int ret;

	if (!eventlog_user_charge_ring(file->user, PAGE_SIZE + data_bytes))
		return ERR_PTR(-EDQUOT);
	ring = eventlog_alloc(sizeof(*ring));
	if (!ring) {
		eventlog_user_uncharge_ring(file->user, PAGE_SIZE + data_bytes);
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
	ret = eventlog_pages_alloc(&ring->pages, 1 + (data_bytes >> PAGE_SHIFT), NUMA_NO_NODE,
				   file->user);
	if (ret) {
		eventlog_mapped_put(ring);
		return ERR_PTR(ret);
	}
	ring->running = eventlog_thread_new(ring->pages.pages[0], file->domain, ring->user);
	if (!ring->running) {
		eventlog_mapped_put(ring);
		return ERR_PTR(-ENOMEM);
	}
	ring->header = ring->pages.address;
	ring->data = ring->pages.address + PAGE_SIZE;
	ring->header->magic = EVENTLOG_MAPPED_MAGIC;
	ring->header->data_offset = PAGE_SIZE;
	ring->header->data_bytes = data_bytes;
	ring->header->late_max = EVENTLOG_MAPPED_LATE_MAX;
	return ring;
}

/* Allocates a ring with a number, which no one can use yet. */
static struct eventlog_mapped *eventlog_mapped_reserve(struct eventlog_file *file, u32 data_bytes,
						       u32 flags)
{
	struct eventlog_mapped *ring = eventlog_mapped_new(file, data_bytes, flags);
	int ret;

	if (IS_ERR(ring))
		return ring;
	ret = xa_alloc(&file->mapped, &ring->number, NULL, XA_LIMIT(1, EVENTLOG_MAPPED_RINGS_MAX),
		       GFP_KERNEL_ACCOUNT);
	if (ret) {
		eventlog_mapped_put(ring);
		return ERR_PTR(ret == -EBUSY ? -EMFILE : ret);
	}
	ring->header->ring = ring->number;
	ring->shard = eventlog_shard_choose(file->domain, ring->user);
	return ring;
}

static struct eventlog_mapped *eventlog_mapped_make(struct eventlog_file *file,
						    const struct eventlog_attach *request)
{
	const u32 data_bytes = request->data_bytes;

	if (!is_power_of_2(data_bytes) || data_bytes < EVENTLOG_MAPPED_BYTES_MIN ||
	    data_bytes < PAGE_SIZE || data_bytes > EVENTLOG_MAPPED_BYTES_MAX)
		return ERR_PTR(-EINVAL);
	if (request->flags & EVENTLOG_ATTACH_CYCLES && !eventlog_cycles_usable())
		return ERR_PTR(-EOPNOTSUPP);
	/* Rings that were unmapped count until they are drained, which nothing may have done. */
	if (atomic_read(&file->ending) && eventlog_mapped_drain(file))
		return ERR_PTR(-EINTR);
	return eventlog_mapped_reserve(file, data_bytes, request->flags);
}

/* May the caller take over a ring?  The shard is locked. */
static int eventlog_mapped_check(const struct eventlog_mapped *ring, u32 flags)
{
	if (ring->mm != current->mm)
		return -EPERM;
	if (ring->has_cycles != !!(flags & EVENTLOG_ATTACH_CYCLES))
		return -EINVAL;
	return ring->ended || ring->leave ? -ENOENT : 0;
}

/* Finds a ring to take over, and delivers what the other thread has emitted. */
static struct eventlog_mapped *eventlog_mapped_prepare(struct eventlog_file *file,
						       const struct eventlog_attach *request)
{
	struct eventlog_mapped *ring = eventlog_mapped_get(file, request->ring);
	u64 pass = 0;
	int ret;

	if (!ring)
		return ERR_PTR(-ENOENT);
	eventlog_shard_lock(ring->shard);
	ret = eventlog_mapped_check(ring, request->flags);
	if (!ret) {
		pass = eventlog_shard_next(ring->shard);
		eventlog_shard_want(ring);
	}
	eventlog_shard_unlock(ring->shard);
	ret = ret ?: eventlog_shard_wait(ring->shard, pass, true);
	if (ret) {
		eventlog_mapped_put(ring);
		return ERR_PTR(ret);
	}
	return ring;
}

/* Gives a ring to the caller, after the results have been copied out. */
static int eventlog_mapped_hand_over(struct eventlog_mapped *ring, u32 flags)
{
	struct eventlog_thread *running;
	int ret;

	running = eventlog_thread_new(ring->pages.pages[0], ring->file->domain, ring->user);
	if (!running)
		return -ENOMEM;
	eventlog_shard_lock(ring->shard);
	ret = eventlog_mapped_check(ring, flags);
	if (!ret) {
		eventlog_mapped_adopt(ring);
		swap(ring->running, running);
		/* First: the exit of the other thread must not end the ring any more. */
		eventlog_thread_hide(running);
		eventlog_shard_resume(ring);
		/* Of the session that the other thread worked on. */
		WRITE_ONCE(ring->header->session_of, 0);
		eventlog_thread_publish(ring->running);
	}
	eventlog_shard_unlock(ring->shard);
	eventlog_thread_drop(running);
	return ret;
}

/* Adds a new ring to its shard and publishes its number: the file gets a reference. */
static int eventlog_mapped_publish(struct eventlog_mapped *ring)
{
	int ret = eventlog_shard_add(ring);

	if (ret)
		return ret;
	refcount_inc(&ring->users);
	/* Before others can end the ring, for they find it by its number. */
	eventlog_thread_publish(ring->running);
	/* Cannot fail: the number is reserved. */
	xa_store(&ring->file->mapped, ring->number, ring, GFP_KERNEL);
	return 0;
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
	ret = eventlog_thread_full() ? -EMFILE : eventlog_watch();
	if (ret)
		return ret;
	ring = is_new ? eventlog_mapped_make(file, request) :
			eventlog_mapped_prepare(file, request);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	request->ring = ring->number;
	request->data_bytes = ring->data_bytes;
	request->offset = (u64)ring->number * EVENTLOG_MAPPED_STRIDE;
	request->length = (u64)ring->pages.count << PAGE_SHIFT;
	request->time_offset = eventlog_time_offset();
	ret = eventlog_argument_put(user, request, sizeof(*request));
	if (!ret)
		ret = is_new ? eventlog_mapped_publish(ring) :
			       eventlog_mapped_hand_over(ring, request->flags);
	if (ret && is_new)
		xa_release(&file->mapped, ring->number);
	eventlog_mapped_put(ring);
	return ret;
}

static int eventlog_ioctl_detach(struct eventlog_domain *domain, struct file *filp,
				 void *argument, void __user *user)
{
	struct eventlog_file *file = filp->private_data;
	struct eventlog_detach *request = argument;
	struct eventlog_mapped *ring;
	u64 pass;
	int ret;

	if (eventlog_file_role(file) == EVENTLOG_ROLE_SUBSCRIBER)
		return -EBUSY;
	ring = eventlog_mapped_get(file, request->ring);
	if (!ring)
		return -ENOENT;
	eventlog_shard_lock(ring->shard);
	ret = ring->ended ? -ENOENT : 0;
	eventlog_shard_end(ring);
	pass = eventlog_shard_next(ring->shard);
	eventlog_shard_unlock(ring->shard);
	ret = ret ?: eventlog_shard_wait(ring->shard, pass, true);
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
	u32 number, final;
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
	eventlog_shard_lock(ring->shard);
	if (!ring->ended)
		eventlog_shard_take(ring);
	if (eventlog_thread_left(ring->running, &final)) {
		ret = -ENOENT;
	} else if (bytes) {
		ret = eventlog_producer_emit(file, message, bytes, &ring->emitter.latest);
		/* Records that the pass has left keep their times, which are before it. */
		if (!ret && eventlog_mapped_is_empty(ring))
			eventlog_mapped_advance(ring, ring->emitter.latest);
	}
	eventlog_shard_unlock(ring->shard);
	eventlog_mapped_put(ring);
	return ret;
}

/* ---- life ---- */

/* The shards in which a file has rings, as bits. */
static unsigned long eventlog_mapped_shards(struct eventlog_file *file)
{
	unsigned long number, which = 0;
	struct eventlog_mapped *ring;

	rcu_read_lock();
	xa_for_each(&file->mapped, number, ring)
		which |= BIT(ring->shard->index);
	rcu_read_unlock();
	return which;
}

/*
 * Calls a function for the rings that a file has in a shard, with that locked.  Looks at all rings
 * of the file, which are fewer than what one hold of the lock may look at.
 *
 * Return: the number of the pass that begins next.
 */
static u64 eventlog_mapped_each(struct eventlog_file *file, struct eventlog_shard *shard,
				void (*function)(struct eventlog_mapped *ring))
{
	struct eventlog_mapped *ring;
	unsigned long number;
	u64 pass;

	eventlog_shard_lock(shard);
	rcu_read_lock();
	xa_for_each(&file->mapped, number, ring) {
		eventlog_steps_add(&shard->steps, 1);
		if (ring->shard != shard)
			continue;
		rcu_read_unlock();
		/* It stays: only the holder of the lock removes it. */
		function(ring);
		cond_resched();
		rcu_read_lock();
	}
	rcu_read_unlock();
	pass = eventlog_shard_next(shard);
	eventlog_shard_unlock(shard);
	return pass;
}

/*
 * Calls a function for all rings of a file, with their shards locked, and waits for a pass of each
 * of these.  Rings of others are left alone.
 */
static int eventlog_mapped_settle(struct eventlog_file *file,
				  void (*function)(struct eventlog_mapped *ring), bool killable)
{
	unsigned long which = eventlog_mapped_shards(file);
	struct eventlog_shard *shard;
	u64 pass;
	int ret = 0;

	for (shard = file->domain->shards; which && !ret; shard++, which >>= 1) {
		if (!(which & 1))
			continue;
		if (killable && fatal_signal_pending(current))
			return -EINTR;
		pass = eventlog_mapped_each(file, shard, function);
		ret = eventlog_shard_wait(shard, pass, killable);
	}
	return ret;
}

void eventlog_mapped_release(struct eventlog_file *file)
{
	/* Rings refer to the file until they are removed. */
	eventlog_mapped_settle(file, eventlog_shard_end, false);
	xa_destroy(&file->mapped);
}

int eventlog_mapped_drain(struct eventlog_file *file)
{
	return eventlog_mapped_settle(file, eventlog_shard_wake, true);
}

static int eventlog_mapped_drain_all(struct eventlog_domain *domain)
{
	return eventlog_shards_drain(domain, true);
}

static const struct eventlog_mapped_ops eventlog_shards_ops = {
	.drain = eventlog_mapped_drain_all,
	.sessions = eventlog_instances_sessions,
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
