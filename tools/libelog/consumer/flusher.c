// SPDX-License-Identifier: LGPL-2.1-only
/*
 * A thread that waits for FLUSH. FLUSH takes an RCU grace period, tens of milliseconds in
 * which a small ring fills up. So a consumer that must not lose events continues to read
 * while this thread waits. If the thread cannot be created, for example after
 * unshare(CLONE_NEWTIME), elog_flusher_start() waits itself.
 *
 * The lock protects everything that is not constant. The thread does not hold it during
 * FLUSH.
 */
#include <errno.h>
#include <stdlib.h>

#include "consumer/flusher.h"
#include "unexported/consumer.h"
#include "util/thread.h"

enum flush_state {
	FLUSH_NONE,
	FLUSH_STARTED,
	FLUSH_OVER,
};

struct elog_flusher {
	struct elog_consumer *consumer;
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;		/* for the thread: @state or @stop */
	bool stop;
	enum flush_state state;
	struct eventlog_flush flush;	/* the result, if @error is 0 */
	int error;
};

/* Wait for FLUSH. The caller holds the lock; this function releases it while it waits. */
static void flush_now(struct elog_flusher *flusher)
{
	struct eventlog_flush flush = { .size = sizeof(flush) };
	int ret;

	pthread_mutex_unlock(&flusher->lock);
	ret = elog_consumer_flush_wait(flusher->consumer, &flush);
	pthread_mutex_lock(&flusher->lock);
	flusher->flush = flush;
	flusher->error = ret;
	flusher->state = FLUSH_OVER;
	elog_consumer_wake(flusher->consumer);
}

static void *run(void *context)
{
	struct elog_flusher *flusher = context;

	pthread_mutex_lock(&flusher->lock);
	while (!flusher->stop) {
		if (flusher->state == FLUSH_STARTED)
			flush_now(flusher);
		else
			pthread_cond_wait(&flusher->changed, &flusher->lock);
	}
	pthread_mutex_unlock(&flusher->lock);
	return NULL;
}

int elog_flusher_open(struct elog_flusher **result, struct elog_consumer *consumer)
{
	struct elog_flusher *flusher = calloc(1, sizeof(*flusher));

	if (!flusher)
		return -ENOMEM;
	flusher->consumer = consumer;
	pthread_mutex_init(&flusher->lock, NULL);
	pthread_cond_init(&flusher->changed, NULL);
	flusher->has_thread = !elog_thread_start(&flusher->thread, run, flusher);
	*result = flusher;
	return 0;
}

void elog_flusher_close(struct elog_flusher *flusher)
{
	if (!flusher)
		return;
	pthread_mutex_lock(&flusher->lock);
	flusher->stop = true;
	pthread_cond_signal(&flusher->changed);
	pthread_mutex_unlock(&flusher->lock);
	if (flusher->has_thread)
		pthread_join(flusher->thread, NULL);
	pthread_cond_destroy(&flusher->changed);
	pthread_mutex_destroy(&flusher->lock);
	free(flusher);
}

int elog_flusher_start(struct elog_flusher *flusher)
{
	int ret = -EBUSY;

	pthread_mutex_lock(&flusher->lock);
	if (flusher->state == FLUSH_NONE) {
		flusher->state = FLUSH_STARTED;
		if (flusher->has_thread)
			pthread_cond_signal(&flusher->changed);
		else
			flush_now(flusher);
		ret = 0;
	}
	pthread_mutex_unlock(&flusher->lock);
	return ret;
}

bool elog_flusher_over(struct elog_flusher *flusher)
{
	bool over;

	pthread_mutex_lock(&flusher->lock);
	over = flusher->state == FLUSH_OVER;
	pthread_mutex_unlock(&flusher->lock);
	return over;
}

int elog_flusher_end(struct elog_flusher *flusher, struct eventlog_flush *flush)
{
	int ret = -EINVAL;

	pthread_mutex_lock(&flusher->lock);
	if (flusher->state == FLUSH_STARTED) {
		ret = 0;
	} else if (flusher->state == FLUSH_OVER) {
		flusher->state = FLUSH_NONE;
		*flush = flusher->flush;
		ret = flusher->error ? flusher->error : 1;
	}
	pthread_mutex_unlock(&flusher->lock);
	return ret;
}
