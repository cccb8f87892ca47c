// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel stacks of threads that did not run for long: see stack.h.
 *
 * The table exists while someone listens.  It has a fixed size: entries, a hash table of their
 * indices, and words for the frames of all of them.  Entries are only added, under a raw spin lock
 * that is taken with the lock of the run queue held, and under which nothing else is locked.
 * Finding one takes no lock: the index is published last.
 *
 * The table is replaced, with sched_stacks_mutex held, when it is full for a while, and when a
 * module is loaded: the addresses of an entry may then be those of other functions.  Numbers are
 * never used again as long as eventlog.ko is loaded.
 */
#define pr_fmt(format) "eventlog_sched: " format

#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "core/thread.h"
#include "sched/stack.h"
#include "sched_eventlog.h"

#define SCHED_FRAMES_MAX	32
/* For each entry; most stacks are not as deep as the deepest. */
#define SCHED_FRAMES_MEAN	16
#define SCHED_TEXT_MAX		4096
/* Entries are emitted again for those who keep only the latest events, or rotate files. */
#define SCHED_AGAIN		(30 * HZ)
/* A table that is full is replaced when it is so old. */
#define SCHED_FULL		(300 * HZ)

/* Entries, at most: their indices are 16-bit numbers, and 0 is none. */
#define SCHED_STACKS_LIMIT	16384

/**
 * struct sched_entry - a stack
 * @hash: of the frames
 * @first: index of the first frame in the words
 * @round: in which it was emitted last, see sched_round()
 * @say: it has to be emitted
 * @count: of the frames
 */
struct sched_entry {
	unsigned long hash;
	u32 first;
	u32 round;
	bool say;
	u8 count;
};

/**
 * struct sched_stacks - a table of stacks
 * @begin: when it was made, jiffies
 * @first: number of the first entry
 * @max: entries
 * @bits: the hash table has 1 << @bits slots
 * @full: a stack was left out
 * @used: entries that are in use; sched_stacks_lock
 * @words_used: likewise
 * @entries: the entries
 * @slots: for each slot of the hash table, the index of an entry plus 1; 0: none
 * @words: the frames
 */
struct sched_stacks {
	unsigned long begin;
	u32 first;
	unsigned int max;
	unsigned int bits;
	bool full;
	unsigned int used;
	unsigned int words_used;
	struct sched_entry *entries;
	u16 *slots;
	unsigned long *words;
};

static struct sched_stacks __rcu *sched_stacks;
static DEFINE_RAW_SPINLOCK(sched_stacks_lock);
static DEFINE_MUTEX(sched_stacks_mutex);
static atomic_t sched_again;

/* ---- parameters ---- */

unsigned int sched_stack_us = 1000;

static int sched_stack_us_set(const char *text, const struct kernel_param *parameter)
{
	unsigned int value;
	int ret = kstrtouint(text, 0, &value);

	if (ret)
		return ret;
	if (value > USEC_PER_SEC)
		return -EINVAL;
	WRITE_ONCE(sched_stack_us, value);
	return 0;
}

static const struct kernel_param_ops sched_stack_us_ops = {
	.set = sched_stack_us_set,
	.get = param_get_uint,
};

module_param_cb(stack_us, &sched_stack_us_ops, &sched_stack_us, 0644);
MODULE_PARM_DESC(stack_us, "waits so long, in microseconds, have their kernel stack; 0: none");

static unsigned int sched_stacks_max = 4096;

static int sched_stacks_max_set(const char *text, const struct kernel_param *parameter)
{
	unsigned int value;
	int ret = kstrtouint(text, 0, &value);

	if (ret)
		return ret;
	if (!value || value > SCHED_STACKS_LIMIT)
		return -EINVAL;
	sched_stacks_max = value;
	return 0;
}

static const struct kernel_param_ops sched_stacks_max_ops = {
	.set = sched_stacks_max_set,
	.get = param_get_uint,
};

module_param_cb(stacks_max, &sched_stacks_max_ops, &sched_stacks_max, 0444);
MODULE_PARM_DESC(stacks_max, "different stacks that are kept; each takes 160 bytes");

/* Counts stacks that have no number because the table is full. */
static atomic_t sched_stacks_lost;

static int sched_stacks_lost_get(char *text, const struct kernel_param *parameter)
{
	return scnprintf(text, PAGE_SIZE, "%u\n", (unsigned int)atomic_read(&sched_stacks_lost));
}

static const struct kernel_param_ops sched_stacks_lost_ops = {
	.get = sched_stacks_lost_get,
};

module_param_cb(stacks_lost, &sched_stacks_lost_ops, NULL, 0444);
MODULE_PARM_DESC(stacks_lost, "stacks that were left out because too many are different");

/* ---- unwinding ---- */

#if EVENTLOG_UNWIND

static unsigned int sched_unwind(struct task_struct *task, unsigned long *frames, unsigned int max)
{
	struct unwind_state state;
	unsigned int count = 0;

	for (unwind_start(&state, task, NULL, NULL); !unwind_done(&state) && count < max;
	     unwind_next_frame(&state)) {
		frames[count] = unwind_get_return_address(&state);
		if (!frames[count])
			break;
		count++;
	}
	return count;
}

static void sched_unwind_init(void)
{
}

static void sched_unwind_exit(void)
{
}

#else

/* Not all kernels export it: without it there are no stacks. */
static unsigned int (*sched_save)(struct task_struct *task, unsigned long *frames,
				  unsigned int max, unsigned int skip);

static unsigned int sched_unwind(struct task_struct *task, unsigned long *frames, unsigned int max)
{
	return sched_save ? sched_save(task, frames, max, 0) : 0;
}

static void sched_unwind_init(void)
{
	/* A guess may be wrong. */
	if (!IS_ENABLED(CONFIG_UNWINDER_GUESS))
		sched_save = __symbol_get("stack_trace_save_tsk");
}

static void sched_unwind_exit(void)
{
	if (sched_save)
		__symbol_put("stack_trace_save_tsk");
}

#endif

/* ---- events with stacks ---- */

static u32 sched_number(const struct sched_stacks *stacks, const struct sched_entry *entry)
{
	return stacks->first + (u32)(entry - stacks->entries);
}

/* sched_stacks_mutex. */
static char sched_text[SCHED_TEXT_MAX];
static char sched_frame[KSYM_SYMBOL_LEN];

/* What has no name is not printed, because that would be its address. */
static const char *sched_frame_print(unsigned long address)
{
	snprintf(sched_frame, sizeof(sched_frame), "%pB", (void *)address);
	return str_has_prefix(sched_frame, "0x") ? "?" : sched_frame;
}

static void sched_stack_emit(const struct sched_stacks *stacks, const struct sched_entry *entry)
{
	const unsigned long *frames = stacks->words + entry->first;
	unsigned int i;
	size_t size = 0;

	if (!eventlog_sched_stack_enabled())
		return;
	for (i = 0; i < entry->count; i++) {
		const char *frame = sched_frame_print(frames[i]);

		/* The innermost ones matter most. */
		if (size + strlen(frame) + 2 > sizeof(sched_text))
			break;
		size += scnprintf(sched_text + size, sizeof(sched_text) - size, "%s%s",
				  i ? ";" : "", frame);
	}
	eventlog_sched_stack(0, sched_number(stacks, entry), sched_text);
}

/* sched_stacks_mutex is held.  Who sets @say later queues the worker again. */
static void sched_stacks_emit(struct sched_stacks *stacks)
{
	unsigned int i;

	for (i = 0; i < smp_load_acquire(&stacks->used); i++) {
		struct sched_entry *entry = &stacks->entries[i];

		if (READ_ONCE(entry->say)) {
			WRITE_ONCE(entry->say, false);
			sched_stack_emit(stacks, entry);
		}
		cond_resched();
	}
}

static void sched_stacks_renew(void);

static bool sched_stacks_are_worn(const struct sched_stacks *stacks)
{
	return READ_ONCE(stacks->full) && time_after(jiffies, stacks->begin + SCHED_FULL);
}

static void sched_stacks_work_run(struct work_struct *work)
{
	struct sched_stacks *stacks;

	mutex_lock(&sched_stacks_mutex);
	stacks = rcu_dereference_protected(sched_stacks, lockdep_is_held(&sched_stacks_mutex));
	if (stacks)
		sched_stacks_emit(stacks);
	if (stacks && sched_stacks_are_worn(stacks))
		sched_stacks_renew();
	mutex_unlock(&sched_stacks_mutex);
}

static DECLARE_WORK(sched_stacks_work, sched_stacks_work_run);

/* Queueing work wakes a task, which is not allowed with the lock of the run queue. */
static void sched_stacks_irq_run(struct irq_work *work)
{
	schedule_work(&sched_stacks_work);
}

static struct irq_work sched_stacks_irq;

/* ---- the table ---- */

/*
 * Entries are emitted again when this number changes: when a capture begins, and from time to
 * time.
 */
static u32 sched_round(void)
{
	return (u32)atomic_read(&sched_again) + (u32)(jiffies / SCHED_AGAIN);
}

static unsigned long sched_frames_hash(const unsigned long *frames, unsigned int count)
{
	unsigned long hash = count;

	while (count--)
		hash = hash_long(hash, BITS_PER_LONG) ^ *frames++;
	return hash;
}

/*
 * Finds a stack. At most half of the slots are in use, so one is free. Return: NULL: it is not
 * there; then *@slot is where it belongs.
 */
static struct sched_entry *sched_entry_find(const struct sched_stacks *stacks, unsigned long hash,
					    const unsigned long *frames, unsigned int count,
					    unsigned int *slot)
{
	const unsigned int mask = (1U << stacks->bits) - 1;
	unsigned int i = hash_long(hash, stacks->bits);
	struct sched_entry *entry;
	u16 index;

	for (;; i = (i + 1) & mask) {
		index = smp_load_acquire(&stacks->slots[i]);
		if (!index)
			break;
		entry = &stacks->entries[index - 1];
		if (entry->hash == hash && entry->count == count &&
		    !memcmp(stacks->words + entry->first, frames, count * sizeof(*frames)))
			return entry;
	}
	*slot = i;
	return NULL;
}

static unsigned int sched_words_max(unsigned int max)
{
	return max * SCHED_FRAMES_MEAN + SCHED_FRAMES_MAX;
}

/* Return: NULL: the table is full. */
static struct sched_entry *sched_entry_add(struct sched_stacks *stacks, unsigned long hash,
					   const unsigned long *frames, unsigned int count)
{
	struct sched_entry *entry;
	unsigned int slot;

	raw_spin_lock(&sched_stacks_lock);
	entry = sched_entry_find(stacks, hash, frames, count, &slot);
	if (entry)
		goto out;
	if (stacks->used == stacks->max || count > sched_words_max(stacks->max) -
						   stacks->words_used) {
		WRITE_ONCE(stacks->full, true);
		goto out;
	}
	entry = &stacks->entries[stacks->used];
	entry->hash = hash;
	entry->first = stacks->words_used;
	entry->count = count;
	entry->round = sched_round() - 1;
	memcpy(stacks->words + entry->first, frames, count * sizeof(*frames));
	stacks->words_used += count;
	smp_store_release(&stacks->used, stacks->used + 1);
	smp_store_release(&stacks->slots[slot], stacks->used);
out:
	raw_spin_unlock(&sched_stacks_lock);
	return entry;
}

u32 sched_stack_take(struct task_struct *task)
{
	unsigned long frames[SCHED_FRAMES_MAX], hash;
	struct sched_stacks *stacks = rcu_dereference_sched(sched_stacks);
	struct sched_entry *entry;
	unsigned int count, slot;
	u32 round;

	if (!stacks)
		return 0;
	count = sched_unwind(task, frames, SCHED_FRAMES_MAX);
	if (!count)
		return 0;
	hash = sched_frames_hash(frames, count);
	entry = sched_entry_find(stacks, hash, frames, count, &slot) ?:
		sched_entry_add(stacks, hash, frames, count);
	if (!entry) {
		atomic_inc(&sched_stacks_lost);
		if (sched_stacks_are_worn(stacks))
			irq_work_queue(&sched_stacks_irq);
		return 0;
	}
	round = sched_round();
	if (READ_ONCE(entry->round) != round) {
		WRITE_ONCE(entry->round, round);
		WRITE_ONCE(entry->say, true);
		irq_work_queue(&sched_stacks_irq);
	}
	return sched_number(stacks, entry);
}

static struct sched_stacks *sched_stacks_make(void)
{
	struct sched_stacks *stacks = kzalloc(sizeof(*stacks), GFP_KERNEL);
	const unsigned int max = sched_stacks_max;

	if (!stacks)
		return NULL;
	stacks->begin = jiffies;
	stacks->max = max;
	stacks->bits = ilog2(max) + 2;
	stacks->first = eventlog_stack_numbers(max);
	stacks->entries = kvcalloc(max, sizeof(*stacks->entries), GFP_KERNEL);
	stacks->slots = kvcalloc(1U << stacks->bits, sizeof(*stacks->slots), GFP_KERNEL);
	stacks->words = kvcalloc(sched_words_max(max), sizeof(*stacks->words), GFP_KERNEL);
	return stacks;
}

static void sched_stacks_free(struct sched_stacks *stacks)
{
	if (!stacks)
		return;
	kvfree(stacks->words);
	kvfree(stacks->slots);
	kvfree(stacks->entries);
	kfree(stacks);
}

/* The new table, or NULL, takes the place of the present one. */
static void sched_stacks_replace(struct sched_stacks *stacks)
{
	struct sched_stacks *old;

	old = rcu_dereference_protected(sched_stacks, lockdep_is_held(&sched_stacks_mutex));
	if (stacks && !(stacks->entries && stacks->slots && stacks->words)) {
		sched_stacks_free(stacks);
		stacks = NULL;
		pr_warn("no memory for stacks\n");
	}
	rcu_assign_pointer(sched_stacks, stacks);
	if (!old)
		return;
	synchronize_rcu();
	/* Events have these numbers already. */
	sched_stacks_emit(old);
	sched_stacks_free(old);
}

static void sched_stacks_renew(void)
{
	if (rcu_access_pointer(sched_stacks))
		sched_stacks_replace(sched_stacks_make());
}

void sched_stacks_listen(bool wanted)
{
	mutex_lock(&sched_stacks_mutex);
	if (!wanted || !rcu_access_pointer(sched_stacks))
		sched_stacks_replace(wanted ? sched_stacks_make() : NULL);
	mutex_unlock(&sched_stacks_mutex);
}

void sched_stacks_again(void)
{
	atomic_inc(&sched_again);
}

/* ---- modules ---- */

/*
 * No thread is in the code whose names are about to go: that of the module in MODULE_STATE_GOING,
 * that of its initialization in MODULE_STATE_LIVE.  What is emitted later has neither.
 */
static int sched_stacks_notify(struct notifier_block *block, unsigned long action, void *module)
{
	struct sched_stacks *stacks;

	mutex_lock(&sched_stacks_mutex);
	stacks = rcu_dereference_protected(sched_stacks, lockdep_is_held(&sched_stacks_mutex));
	if (action == MODULE_STATE_COMING)
		sched_stacks_renew();
	else if (stacks)
		sched_stacks_emit(stacks);
	mutex_unlock(&sched_stacks_mutex);
	return NOTIFY_DONE;
}

static struct notifier_block sched_stacks_notifier = {
	.notifier_call = sched_stacks_notify,
};

int sched_stacks_init(void)
{
	init_irq_work(&sched_stacks_irq, sched_stacks_irq_run);
	sched_unwind_init();
	return register_module_notifier(&sched_stacks_notifier);
}

void sched_stacks_exit(void)
{
	unregister_module_notifier(&sched_stacks_notifier);
	irq_work_sync(&sched_stacks_irq);
	cancel_work_sync(&sched_stacks_work);
	sched_stacks_listen(false);
	sched_unwind_exit();
}
