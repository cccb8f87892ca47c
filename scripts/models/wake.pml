/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * module/core/subscriber.c: whoever polls is woken.
 *
 * Two CPUs write to their rings.  Their stores stay in a store buffer for a while,
 * because writers have no full barrier.  Two threads poll, read when poll() returns,
 * and poll again.  At the end, when nothing more can happen, no thread may sleep
 * while there is something to read.
 *
 * Each CPU writes EVENTS events; a ring is readable from WATERMARK events on.
 *
 * Variants:
 *	NO_TIMER	no timer checks again
 *	TIMER_AT_ONCE	the timer expires before old stores are visible
 *	WAKE_FIRST	the writer checks for a poller, then publishes
 *	CLEARS_LATE	the flag is cleared after all were woken
 *	NO_FLAG		poll() does not set the flag
 *	FULL_BARRIER	(good) the writer has a full barrier; with it NO_TIMER is good
 */
#ifndef EVENTS
#define EVENTS 2
#endif
#ifndef WATERMARK
#define WATERMARK 1
#endif

byte committed[2], buffered[2];		/* as others see it; as its own CPU sees it */
byte position[2];
bool old[2];				/* in the buffer when the timer was set */
bool poller, timer;
bool queued[2], triggered[2], asleep[2];

#define UNREAD(cpu) (committed[cpu] - position[cpu])
#define READABLE (UNREAD(0) >= WATERMARK || UNREAD(1) >= WATERMARK)

inline wake_all()
{
#ifndef CLEARS_LATE
	poller = false;
#endif
	/* wake_up_all(), under the queue's lock */
	d_step {
		if
		:: queued[0] -> triggered[0] = true
		:: else
		fi;
		if
		:: queued[1] -> triggered[1] = true
		:: else
		fi
	};
#ifdef CLEARS_LATE
	poller = false
#endif
}

active [2] proctype Writer()
{
	byte cpu = _pid, events;

	do
	:: atomic { events < EVENTS -> events++ };
#ifdef WAKE_FIRST
		if
		:: poller && buffered[cpu] + 1 - position[cpu] >= WATERMARK -> wake_all()
		:: else
		fi;
		buffered[cpu]++
#else
		buffered[cpu]++;
#ifdef FULL_BARRIER
		committed[cpu] == buffered[cpu];
#endif
		if
		:: poller && buffered[cpu] - position[cpu] >= WATERMARK ->
			/* An interrupt has emptied the buffer. */
			committed[cpu] == buffered[cpu];
			wake_all()
		:: else
		fi
#endif
	:: else -> break
	od
}

active [2] proctype Drain()
{
	byte cpu = _pid - 2;

end:	do
	:: d_step {
		committed[cpu] != buffered[cpu] ->
		committed[cpu] = buffered[cpu];
		old[cpu] = false
	   }
	od
}

active proctype Timer()
{
end:	do
	:: atomic {
#ifdef TIMER_AT_ONCE
		timer ->
#else
		timer && !old[0] && !old[1] ->
#endif
		timer = false
	   };
		if
		:: READABLE -> wake_all()
		:: else
		fi
	od
}

active [2] proctype Poller()
{
	byte self = _pid - 5;
	bool readable;

	queued[self] = true;
	do
	:: true ->
#ifndef NO_FLAG
		poller = true;
#endif
		/* One ring after the other. */
		readable = UNREAD(0) >= WATERMARK;
		readable = readable || UNREAD(1) >= WATERMARK;
		if
		:: d_step {
				readable ->
				position[0] = committed[0];
				position[1] = committed[1];
				readable = false
		   }
		:: d_step {
				!readable ->
#ifndef NO_TIMER
				/* mod_timer(): one jiffy from now, even if it was pending. */
				timer = true;
				old[0] = committed[0] != buffered[0];
				old[1] = committed[1] != buffered[1];
#endif
				asleep[self] = true
		   };
end:			atomic { triggered[self] -> asleep[self] = false };
			triggered[self] = false
		fi
	od
}

active proctype Monitor()
{
	timeout ->
	assert(!((asleep[0] || asleep[1]) && READABLE))
}
