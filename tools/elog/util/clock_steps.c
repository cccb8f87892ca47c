// SPDX-License-Identifier: GPL-2.0-only
/*
 * When CLOCK_REALTIME was set: see clock_steps.h.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "util/clock_steps.h"

#define STEPS_MAX 1024

struct clock_steps {
	struct clock_step (*sample)(void);
	pthread_t thread;
	int timer;
	int end;			/* an eventfd that ends the thread */
	pthread_mutex_t lock;		/* of the members below */
	struct clock_step list[STEPS_MAX];	/* the first one is from the start */
	size_t count;
};

/* The caller holds the lock. If the list is full, forget the oldest one. */
static void check_timer(struct clock_steps *steps)
{
	uint64_t expirations;

	if (read(steps->timer, &expirations, sizeof(expirations)) >= 0 || errno != ECANCELED)
		return;
	if (steps->count == STEPS_MAX) {
		memmove(steps->list, steps->list + 1, (STEPS_MAX - 1) * sizeof(*steps->list));
		steps->count--;
	}
	steps->list[steps->count++] = steps->sample();
}

static void *watch(void *context)
{
	struct clock_steps *steps = context;
	struct pollfd fds[] = {
		{ .fd = steps->timer, .events = POLLIN },
		{ .fd = steps->end, .events = POLLIN },
	};

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return NULL;
		if (fds[1].revents)
			return NULL;
		pthread_mutex_lock(&steps->lock);
		check_timer(steps);
		pthread_mutex_unlock(&steps->lock);
	}
}

/* Signals are for the other threads. */
static int start_thread(struct clock_steps *steps)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&steps->thread, NULL, watch, steps);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret;
}

struct clock_steps *clock_steps_new(struct clock_step (*sample)(void))
{
	/* It never expires; it is read when the clock is set. */
	const struct itimerspec never = {
		.it_value.tv_sec = (time_t)(sizeof(time_t) == 8 ? INT64_MAX : INT32_MAX),
	};
	struct clock_steps *steps = calloc(1, sizeof(*steps));

	if (!steps)
		return NULL;
	steps->sample = sample;
	pthread_mutex_init(&steps->lock, NULL);
	steps->end = eventfd(0, EFD_CLOEXEC);
	steps->timer = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (steps->end < 0 || steps->timer < 0 ||
	    timerfd_settime(steps->timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never,
			    NULL))
		goto fail;
	steps->list[steps->count++] = sample();
	if (!start_thread(steps))
		return steps;
fail:
	if (steps->end >= 0)
		close(steps->end);
	if (steps->timer >= 0)
		close(steps->timer);
	free(steps);
	return NULL;
}

void clock_steps_free(struct clock_steps *steps)
{
	const uint64_t one = 1;

	if (!steps)
		return;
	(void)!write(steps->end, &one, sizeof(one));
	pthread_join(steps->thread, NULL);
	close(steps->end);
	close(steps->timer);
	pthread_mutex_destroy(&steps->lock);
	free(steps);
}

int64_t clock_steps_offset(struct clock_steps *steps, uint64_t time)
{
	int64_t offset;
	size_t i;

	pthread_mutex_lock(&steps->lock);
	for (i = steps->count - 1; i && steps->list[i].time > time; i--)
		;
	offset = steps->list[i].offset;
	pthread_mutex_unlock(&steps->lock);
	return offset;
}

bool clock_steps_next(struct clock_steps *steps, uint64_t after, uint64_t until,
		      struct clock_step *step)
{
	bool found = false;
	size_t i;

	if (!steps)
		return false;
	pthread_mutex_lock(&steps->lock);
	/* The thread may not have run yet. */
	check_timer(steps);
	for (i = 1; i < steps->count && !found; i++) {
		*step = steps->list[i];
		found = step->time > after && step->time <= until;
	}
	pthread_mutex_unlock(&steps->lock);
	return found;
}
