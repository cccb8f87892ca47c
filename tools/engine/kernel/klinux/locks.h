/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Atomic words, locks, RCU, one CPU.
 *
 * There is one thread, which never waits. A lock that is taken twice, or given back twice, is a
 * fault of the module.
 */
#ifndef KLINUX_LOCKS_H
#define KLINUX_LOCKS_H

#include "kernel/klinux/types.h"

/* ---- atomic words: of the engine only ---- */

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	long counter;
} atomic_long_t;

typedef struct {
	long counter;
} local_t;

#define ATOMIC_INIT(number) { number }
#define ATOMIC_LONG_INIT(number) { number }
#define atomic_read(word) ((word)->counter)
#define atomic_set(word, number) ((void)((word)->counter = (number)))
#define atomic_set_release(word, number) atomic_set(word, number)
#define atomic_inc(word) ((void)(word)->counter++)
#define atomic_dec(word) ((void)(word)->counter--)
#define atomic_sub(number, word) ((void)((word)->counter -= (number)))
#define atomic_inc_return(word) (++(word)->counter)
#define atomic_inc_return_relaxed(word) atomic_inc_return(word)
#define atomic_dec_return(word) (--(word)->counter)
#define atomic_dec_and_test(word) (!--(word)->counter)
#define atomic_long_read(word) ((word)->counter)
#define atomic_long_set(word, number) ((void)((word)->counter = (number)))
#define atomic_long_inc(word) ((void)(word)->counter++)
#define atomic_long_dec(word) ((void)(word)->counter--)
#define atomic_long_add(number, word) ((void)((word)->counter += (long)(number)))
#define atomic_long_sub(number, word) ((void)((word)->counter -= (long)(number)))
#define atomic_long_add_return(number, word) ((word)->counter += (long)(number))
#define local_add(number, word) ((void)((word)->counter += (number)))

#define try_cmpxchg(word, old, new) ({						\
	bool exchanged = *(word) == *(old);					\
										\
	if (exchanged)								\
		*(word) = (new);						\
	else									\
		*(old) = *(word);						\
	exchanged;								\
})
#define cmpxchg(word, old, new) ({						\
	__typeof__(*(word)) seen = *(word);					\
										\
	if (seen == (old))							\
		*(word) = (new);						\
	seen;									\
})
#define cmpxchg_local(word, old, new) cmpxchg(word, old, new)
#define xchg(word, new) ({							\
	__typeof__(*(word)) seen = *(word);					\
										\
	*(word) = (new);							\
	seen;									\
})
#define atomic_xchg(word, new) xchg(&(word)->counter, new)
#define atomic_cmpxchg_acquire(word, old, new) cmpxchg(&(word)->counter, old, new)
#define atomic_try_cmpxchg(word, old, new) try_cmpxchg(&(word)->counter, old, new)
#define atomic_long_try_cmpxchg(word, old, new) try_cmpxchg(&(word)->counter, old, (long)(new))

typedef struct {
	unsigned int count;
} refcount_t;

#define REFCOUNT_INIT(number) { number }
#define refcount_set(references, number) ((void)((references)->count = (number)))
#define refcount_read(references) ((references)->count)

static inline void refcount_inc(refcount_t *references)
{
	assert(references->count);
	references->count++;
}

static inline bool refcount_inc_not_zero(refcount_t *references)
{
	return references->count && references->count++;
}

static inline bool refcount_dec_and_test(refcount_t *references)
{
	assert(references->count);
	return !--references->count;
}

/* ---- locks ---- */

struct mutex {
	bool held;
};

typedef struct mutex spinlock_t;
typedef struct mutex raw_spinlock_t;

static inline bool mutex_trylock(struct mutex *lock)
{
	if (lock->held)
		return false;
	lock->held = true;
	return true;
}

static inline void mutex_lock(struct mutex *lock)
{
	bool free = mutex_trylock(lock);

	assert(free);
	(void)free;
}

static inline int mutex_lock_killable(struct mutex *lock)
{
	mutex_lock(lock);
	return 0;
}

static inline void mutex_unlock(struct mutex *lock)
{
	assert(lock->held);
	lock->held = false;
}

#define DEFINE_MUTEX(name) struct mutex name
#define DEFINE_RAW_SPINLOCK(name) raw_spinlock_t name
#define mutex_init(lock) ((void)((lock)->held = false))
#define atomic_dec_and_mutex_lock(word, lock) \
	(atomic_dec_and_test(word) ? mutex_lock(lock), true : false)
#define spin_lock_init(lock) mutex_init(lock)
#define spin_lock(lock) mutex_lock(lock)
#define spin_unlock(lock) mutex_unlock(lock)
#define raw_spin_lock_init(lock) mutex_init(lock)
#define raw_spin_lock(lock) mutex_lock(lock)
#define raw_spin_unlock(lock) mutex_unlock(lock)
#define lockdep_is_held(lock) ((lock)->held)
#define lockdep_assert_held(lock) assert((lock)->held)

#define local_irq_save(flags) ((void)((flags) = 0))
#define local_irq_restore(flags) ((void)(flags))
#define preempt_disable() barrier()
#define preempt_enable() barrier()
#define preempt_disable_notrace() barrier()
#define preempt_enable_notrace() barrier()
#define cond_resched() ((void)0)
#define might_sleep() ((void)0)

/* ---- RCU: what it frees is freed between two calls, by klinux_settle() ---- */

struct rcu_head {
	struct rcu_head *next;
	void (*function)(struct rcu_head *head);
};

void call_rcu(struct rcu_head *head, void (*function)(struct rcu_head *head));

#define rcu_read_lock() barrier()
#define rcu_read_unlock() barrier()
#define rcu_barrier() klinux_settle()
#define synchronize_rcu() ((void)0)
#define rcu_is_watching() true
#define rcu_dereference(pointer) READ_ONCE(pointer)
#define rcu_dereference_sched(pointer) READ_ONCE(pointer)
#define rcu_dereference_protected(pointer, condition) (pointer)
#define rcu_access_pointer(pointer) READ_ONCE(pointer)
#define rcu_assign_pointer(pointer, value) smp_store_release(&(pointer), (value))
#define RCU_INIT_POINTER(pointer, value) ((void)((pointer) = (value)))

struct srcu_struct {
	int unused;
};

#define DEFINE_STATIC_SRCU(name) static struct srcu_struct name
#define srcu_read_lock(srcu) ((void)(srcu), 0)
#define srcu_read_unlock(srcu, index) ((void)(index))
#define synchronize_srcu(srcu) ((void)(srcu))

/* ---- one CPU ---- */

#define nr_cpu_ids 1U
#define num_online_cpus() 1U
#define smp_processor_id() 0
#define raw_smp_processor_id() 0
#define cpu_online(cpu) ((void)(cpu), true)
#define cpu_to_node(cpu) NUMA_NO_NODE
#define for_each_possible_cpu(cpu) for ((cpu) = 0; (cpu) < 1; (cpu)++)
#define for_each_online_cpu(cpu) for_each_possible_cpu(cpu)
#define DEFINE_PER_CPU(type, name) __typeof__(type) name
#define DECLARE_PER_CPU(type, name) extern __typeof__(type) name
#define this_cpu_ptr(pointer) (pointer)
#define per_cpu_ptr(pointer, cpu) ((void)(cpu), (pointer))
#define this_cpu_inc(word) ((void)(word)++)
#define this_cpu_write(word, value) ((void)((word) = (value)))
#define alloc_percpu(type) ((__typeof__(type) *)calloc(1, sizeof(type)))
#define alloc_percpu_gfp(type, flags) alloc_percpu(type)
#define free_percpu(pointer) free(pointer)

enum cpuhp_state {
	CPUHP_BP_PREPARE_DYN,
};

#define cpuhp_setup_state_multi(state, name, online, offline) ((void)(online), 0)
#define cpuhp_remove_multi_state(state) ((void)(state))
#define cpuhp_state_add_instance_nocalls(state, node) ((void)(node), 0)
#define cpuhp_state_remove_instance_nocalls(state, node) ((void)(node))

#define in_task() true
#define in_nmi() false
#define in_hardirq() false
#define is_idle_task(task) false

struct static_key {
	bool on;
};

struct static_key_false {
	struct static_key key;
};

#define DEFINE_STATIC_KEY_FALSE(name) struct static_key_false name
#define STATIC_KEY_FALSE_INIT { { false } }
#define static_branch_unlikely(branch) ((branch)->key.on)
#define static_branch_enable(branch) ((void)((branch)->key.on = true))
#define static_branch_disable(branch) ((void)((branch)->key.on = false))
#define static_key_enabled(static_key) ((static_key)->on)

#endif /* KLINUX_LOCKS_H */
