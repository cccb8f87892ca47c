// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The producers of the process: see process.h.
 *
 * producers_lock protects the list. It is taken before any producer's lock.
 */
#include <pthread.h>

#include "producer/process.h"
#include "util/port.h"

static pthread_mutex_t producers_lock = PTHREAD_MUTEX_INITIALIZER;
static struct elog_producer *producers;
static pthread_once_t fork_handlers_once = PTHREAD_ONCE_INIT;

/* Its destructor gives back the rings of a thread that ends. */
static pthread_key_t thread_key;
static bool has_thread_key;

static void before_fork(void)
{
	struct elog_producer *producer;

	pthread_mutex_lock(&producers_lock);
	for (producer = producers; producer; producer = producer->next) {
		pthread_mutex_lock(&producer->lock);
		elog_rings_before_fork(&producer->rings);
	}
}

static void after_fork(void)
{
	struct elog_producer *producer;

	for (producer = producers; producer; producer = producer->next)
		pthread_mutex_unlock(&producer->lock);
	pthread_mutex_unlock(&producers_lock);
}

static void after_fork_in_child(void)
{
	struct elog_producer *producer;

	for (producer = producers; producer; producer = producer->next)
		elog_producer_after_fork(producer);
	after_fork();
}

static void set_fork_handlers(void)
{
	pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

/* ------------------------------------------------------------------------
 * Threads
 */

static void end_thread(void *unused)
{
	struct elog_producer *producer;

	(void)unused;
	elog_thread_rings.ended = true;
	pthread_mutex_lock(&producers_lock);
	for (producer = producers; producer; producer = producer->next) {
		pthread_mutex_lock(&producer->lock);
		elog_rings_thread_ended(&producer->rings, elog_port_maybe(producer->file.fd) ?
					producer_file(producer) : -1);
		pthread_mutex_unlock(&producer->lock);
	}
	pthread_mutex_unlock(&producers_lock);
}

/* When the library is loaded, because early keys are the cheap ones. */
__attribute__((constructor)) static void make_thread_key(void)
{
	if (pthread_key_create(&thread_key, end_thread))
		return;
#ifdef __GLIBC__
	/* For later keys, glibc allocates memory when a thread first uses one of them. */
	has_thread_key = thread_key < 32;
#else
	has_thread_key = true;
#endif
	if (!has_thread_key)
		pthread_key_delete(thread_key);
}

/* A plugin that contains the library may be unloaded, but its threads go on. */
__attribute__((destructor)) static void delete_thread_key(void)
{
	if (has_thread_key)
		pthread_key_delete(thread_key);
	has_thread_key = false;
}

bool elog_rings_watch_thread(void)
{
	return has_thread_key && !pthread_setspecific(thread_key, &elog_thread_rings);
}

void elog_process_add(struct elog_producer *producer, bool has_rings)
{
	struct elog_producer *other;
	unsigned int places = 0;

	pthread_once(&fork_handlers_once, set_fork_handlers);
	pthread_mutex_lock(&producers_lock);
	for (other = producers; other; other = other->next)
		places |= 1U << other->rings.place;
	elog_rings_open(&producer->rings, has_rings, places);
	producer->next = producers;
	producers = producer;
	pthread_mutex_unlock(&producers_lock);
}

void elog_process_remove(struct elog_producer *producer)
{
	struct elog_producer **link;

	/* Until the rings are closed, a thread that ends must find the producer. */
	pthread_mutex_lock(&producers_lock);
	for (link = &producers; *link != producer; link = &(*link)->next)
		;
	*link = producer->next;
	elog_rings_close(&producer->rings);
	pthread_mutex_unlock(&producers_lock);
}
