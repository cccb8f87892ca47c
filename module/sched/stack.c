// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel stacks of threads that did not run for long: see stack.h.
 *
 * The table exists while someone listens.  It has a fixed size: sets of a few entries, in one of
 * which a stack belongs.  A stack that is not there takes the place of the one of its set that was
 * used the longest time ago.  It is left out only while all entries of its set wait for the worker
 * that emits them, or if its user has added too many: a user's threads may add about a quarter of
 * the table in half a minute, so others keep what they use, and readers do not drown in new stacks.
 * A period begins with the first new stack, so the end of one and the start of the next may meet.
 *
 * Each set has a raw spin lock that is taken with the lock of the run queue held, for as long as it
 * takes to compare or copy a stack, and under which nothing else is locked.  A stack that is there
 * and need not be emitted is found without the lock, by the set's sequence count, because threads
 * on many CPUs may wait in one place.  sched_stacks_mutex protects the pointer to the table, and
 * what emits.
 *
 * The table is emptied when a module is loaded: the addresses of an entry may then be those of
 * other functions.  Numbers are never used again as long as eventlog.ko is loaded.
 */
#define pr_fmt(format) "eventlog_sched: " format

#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/overflow.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seqlock.h>
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
#define SCHED_TEXT_MAX		4096
/* Entries are emitted again for those who keep only the latest events, or rotate files. */
#define SCHED_AGAIN		(30 * HZ)

#define SCHED_STACKS_LIMIT	16384
/* Entries of a set. */
#define SCHED_WAYS		8

/**
 * struct sched_entry - a stack
 * @number: of the stack
 * @round: in which it was emitted last, see sched_round()
 * @used: when it was used last, jiffies; also written without the lock
 * @count: of the frames
 * @frames: the return addresses, innermost first
 */
struct sched_entry {
	u32 number;
	u32 round;
	unsigned long used;
	unsigned int count;
	unsigned long frames[SCHED_FRAMES_MAX];
};

/**
 * struct sched_set - entries for stacks with some hashes
 * @lock: protects all of it; interrupts are off
 * @sequence: changes with @hashes, and with number, count and frames of an entry
 * @say: a bit for each entry that has to be emitted, and keeps its place until then
 * @hashes: of the frames; 0: there is no entry
 * @entries: the entries
 */
struct sched_set {
	raw_spinlock_t lock;
	seqcount_t sequence;
	u32 say;
	unsigned long hashes[SCHED_WAYS];
	struct sched_entry entries[SCHED_WAYS];
};

/**
 * struct sched_stacks - a table of stacks
 * @seed: of the hashes, so that no one can choose a set
 * @budget: how many a user may add in EVENTLOG_STACKS_PERIOD
 * @generation: no other table has it, and it changes when the table is emptied: budgets begin again
 * @count: of the sets
 * @sets: the sets
 */
struct sched_stacks {
	unsigned long seed;
	unsigned int budget;
	u32 generation;
	unsigned int count;
	struct sched_set sets[];
};

static struct sched_stacks __rcu *sched_stacks;
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
MODULE_PARM_DESC(stacks_max, "different stacks that are kept; each takes 300 bytes");

/* Counts stacks without a number: of a user with too many, or in a set without a free place. */
static atomic_t sched_stacks_lost;
module_param_named(stacks_lost, sched_stacks_lost.counter, int, 0444);
MODULE_PARM_DESC(stacks_lost, "stacks left out: a user has too many, or they came too fast");

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

/* sched_stacks_mutex. */
static char sched_text[SCHED_TEXT_MAX];
static char sched_frame[KSYM_SYMBOL_LEN];
static struct sched_entry sched_copy;

/* What has no name is not printed, because that would be its address. */
static const char *sched_frame_print(unsigned long address)
{
	snprintf(sched_frame, sizeof(sched_frame), "%pB", (void *)address);
	return str_has_prefix(sched_frame, "0x") ? "?" : sched_frame;
}

static void sched_stack_emit(const struct sched_entry *entry)
{
	unsigned int i;
	size_t size = 0;

	if (!eventlog_sched_stack_enabled())
		return;
	for (i = 0; i < entry->count; i++) {
		const char *frame = sched_frame_print(entry->frames[i]);

		/* The innermost ones matter most. */
		if (size + strlen(frame) + 2 > sizeof(sched_text))
			break;
		size += scnprintf(sched_text + size, sizeof(sched_text) - size, "%s%s",
				  i ? ";" : "", frame);
	}
	eventlog_sched_stack(0, entry->number, sched_text);
}

/* Not @used, which others write meanwhile. */
static void sched_entry_copy(const struct sched_entry *entry)
{
	sched_copy.number = entry->number;
	sched_copy.count = entry->count;
	memcpy(sched_copy.frames, entry->frames, entry->count * sizeof(*entry->frames));
}

static void sched_set_emit(struct sched_set *set, bool forget)
{
	unsigned int i;
	bool say;

	for (i = 0; i < SCHED_WAYS; i++) {
		raw_spin_lock_irq(&set->lock);
		say = set->say & BIT(i);
		if (say)
			sched_entry_copy(&set->entries[i]);
		WRITE_ONCE(set->say, set->say & ~BIT(i));
		if (forget) {
			raw_write_seqcount_begin(&set->sequence);
			set->hashes[i] = 0;
			raw_write_seqcount_end(&set->sequence);
		}
		raw_spin_unlock_irq(&set->lock);
		if (say)
			sched_stack_emit(&sched_copy);
	}
}

/*
 * Emits what has to be, and empties the table if @forget is set.  sched_stacks_mutex is held.  Who
 * sets a bit of @say later queues the worker again.
 */
static void sched_stacks_emit(struct sched_stacks *stacks, bool forget)
{
	unsigned int i;

	for (i = 0; i < stacks->count; i++) {
		if (forget || READ_ONCE(stacks->sets[i].say))
			sched_set_emit(&stacks->sets[i], forget);
		cond_resched();
	}
	if (forget)
		WRITE_ONCE(stacks->generation, eventlog_stack_number());
}

static struct sched_stacks *sched_stacks_locked(void)
{
	return rcu_dereference_protected(sched_stacks, lockdep_is_held(&sched_stacks_mutex));
}

static void sched_stacks_work_run(struct work_struct *work)
{
	struct sched_stacks *stacks;

	mutex_lock(&sched_stacks_mutex);
	stacks = sched_stacks_locked();
	if (stacks)
		sched_stacks_emit(stacks, false);
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

/* Not 0. */
static unsigned long sched_frames_hash(unsigned long seed, const unsigned long *frames,
				       unsigned int count)
{
	unsigned long hash = seed + count;

	while (count--)
		hash = hash_long(hash, BITS_PER_LONG) ^ *frames++;
	return hash ?: 1;
}

/* Returns the index of a stack in its set; below 0: it is not there. */
static int sched_entry_find(const struct sched_set *set, unsigned long hash,
			    const unsigned long *frames, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < SCHED_WAYS; i++)
		if (set->hashes[i] == hash && set->entries[i].count == count &&
		    !memcmp(set->entries[i].frames, frames, count * sizeof(*frames)))
			return i;
	return -1;
}

/* Returns the index of the place for a new stack; below 0: all have yet to be emitted. */
static int sched_entry_choose(const struct sched_set *set)
{
	int i, oldest = -1;

	for (i = 0; i < SCHED_WAYS; i++) {
		if (!set->hashes[i])
			return i;
		if (set->say & BIT(i))
			continue;
		if (oldest < 0 || time_before(READ_ONCE(set->entries[i].used),
					      READ_ONCE(set->entries[oldest].used)))
			oldest = i;
	}
	return oldest;
}

static void sched_entry_fill(struct sched_set *set, int i, u32 round, unsigned long hash,
			     const unsigned long *frames, unsigned int count)
{
	struct sched_entry *entry = &set->entries[i];

	raw_write_seqcount_begin(&set->sequence);
	set->hashes[i] = hash;
	entry->number = eventlog_stack_number();
	entry->count = count;
	memcpy(entry->frames, frames, count * sizeof(*frames));
	/* It has not been emitted in this round. */
	WRITE_ONCE(entry->round, round - 1);
	raw_write_seqcount_end(&set->sequence);
}

/* Cheap for many CPUs that use the same entry. */
static void sched_entry_use(struct sched_entry *entry)
{
	const unsigned long now = jiffies;

	if (READ_ONCE(entry->used) != now)
		WRITE_ONCE(entry->used, now);
}

/*
 * Finds a stack that need not be emitted in this round, without the lock, and without waiting for
 * who changes the set.  Returns its number, or 0.
 */
static u32 sched_stack_look(struct sched_set *set, u32 round, unsigned long hash,
			    const unsigned long *frames, unsigned int count)
{
	const unsigned int sequence = raw_read_seqcount(&set->sequence);
	const int i = sched_entry_find(set, hash, frames, count);
	u32 number = 0;

	if (i >= 0 && READ_ONCE(set->entries[i].round) == round)
		number = set->entries[i].number;
	/* It is odd during a change. */
	if (read_seqcount_retry(&set->sequence, sequence) || (sequence & 1) || !number)
		return 0;
	sched_entry_use(&set->entries[i]);
	return number;
}

/* The budget is taken last: only for a stack that gets a place.  Returns the index, or below 0. */
static int sched_stack_add(struct sched_stacks *stacks, struct sched_set *set,
			   const struct eventlog_thread *thread, u32 round, unsigned long hash,
			   const unsigned long *frames, unsigned int count)
{
	const int i = sched_entry_choose(set);

	if (i < 0 || !eventlog_thread_may_add_stack(thread, READ_ONCE(stacks->generation),
						    stacks->budget))
		return -1;
	sched_entry_fill(set, i, round, hash, frames, count);
	return i;
}

u32 sched_stack_take(const struct eventlog_thread *thread, struct task_struct *task)
{
	unsigned long frames[SCHED_FRAMES_MAX], hash;
	struct sched_stacks *stacks = rcu_dereference_sched(sched_stacks);
	const u32 round = sched_round();
	struct sched_entry *entry;
	struct sched_set *set;
	unsigned int count;
	bool say = false;
	u32 number;
	int i;

	if (!stacks)
		return 0;
	count = sched_unwind(task, frames, SCHED_FRAMES_MAX);
	if (!count)
		return 0;
	hash = sched_frames_hash(stacks->seed, frames, count);
	set = &stacks->sets[reciprocal_scale(hash_long(hash, 32), stacks->count)];
	number = sched_stack_look(set, round, hash, frames, count);
	if (number)
		return number;
	raw_spin_lock(&set->lock);
	i = sched_entry_find(set, hash, frames, count);
	if (i < 0)
		i = sched_stack_add(stacks, set, thread, round, hash, frames, count);
	if (i >= 0) {
		entry = &set->entries[i];
		number = entry->number;
		sched_entry_use(entry);
		say = entry->round != round;
		if (say) {
			WRITE_ONCE(entry->round, round);
			WRITE_ONCE(set->say, set->say | BIT(i));
		}
	}
	raw_spin_unlock(&set->lock);
	if (say)
		irq_work_queue(&sched_stacks_irq);
	if (!number)
		atomic_inc(&sched_stacks_lost);
	return number;
}

static struct sched_stacks *sched_stacks_make(void)
{
	const unsigned int count = DIV_ROUND_UP(sched_stacks_max, SCHED_WAYS);
	struct sched_stacks *stacks;
	unsigned int i;

	stacks = kvzalloc(struct_size(stacks, sets, count), GFP_KERNEL);
	if (!stacks) {
		pr_warn("no memory for stacks\n");
		return NULL;
	}
	stacks->seed = get_random_long();
	stacks->budget = max(count * SCHED_WAYS / 4, (unsigned int)SCHED_WAYS);
	stacks->generation = eventlog_stack_number();
	stacks->count = count;
	for (i = 0; i < count; i++) {
		raw_spin_lock_init(&stacks->sets[i].lock);
		seqcount_init(&stacks->sets[i].sequence);
	}
	return stacks;
}

void sched_stacks_listen(bool wanted)
{
	struct sched_stacks *stacks;

	mutex_lock(&sched_stacks_mutex);
	stacks = sched_stacks_locked();
	if (wanted && !stacks) {
		rcu_assign_pointer(sched_stacks, sched_stacks_make());
	} else if (!wanted && stacks) {
		RCU_INIT_POINTER(sched_stacks, NULL);
		synchronize_rcu();
		/* Events have these numbers already. */
		sched_stacks_emit(stacks, true);
		kvfree(stacks);
	}
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
	stacks = sched_stacks_locked();
	if (stacks)
		sched_stacks_emit(stacks, action == MODULE_STATE_COMING);
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
