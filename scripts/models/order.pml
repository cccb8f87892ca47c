/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Model of the order of one thread's events: those that it puts into its producer ring,
 * and those that it writes with KICK, module/user/mapped.c.  The thread, the kernel and
 * emission read clocks that differ by one.  Other threads raise the times in the rings of
 * the subscriber, and FLUSH raises the floor.  Property: in the subscriber's rings, the
 * times are in the order of the events, and those of events in different rings differ.
 *
 * Variants:
 *	NO_LATEST	a written event has the time of the clock
 *	LATEST_KEY	the latest time is not that of the records
 *	NO_ADVANCE	later records may have an earlier time than a written event
 *	NO_WHOLE	KICK leaves records of its ring that are after the cutoff
 */
#define LATEST 3
#define OPS 3

byte now = 1, floor = 1;
byte shard_last = 1, cpu_last = 1;	/* of the subscriber's two rings */
byte ring_last = 1, latest;		/* of the producer ring */
bool lock;
byte times[OPS];
bool mapped[OPS];
byte committed, tail;			/* numbers of events; KICK skips its own */
byte recorded[OPS];			/* 0: not delivered yet */

inline tick()
{
	if
	:: now < LATEST -> now++
	:: skip
	fi
}

#define MAX(a, b) ((a) > (b) -> (a) : (b))

/* The events on both sides of event @n that are delivered. */
inline check(n)
{
	assert(n == 0 || !recorded[n - 1] || recorded[n] >= recorded[n - 1]);
	assert(n == 0 || !recorded[n - 1] || mapped[n] == mapped[n - 1] ||
	       recorded[n] > recorded[n - 1]);
	assert(n + 1 >= OPS || !recorded[n + 1] || recorded[n + 1] >= recorded[n]);
	assert(n + 1 >= OPS || !recorded[n + 1] || mapped[n] == mapped[n + 1] ||
	       recorded[n + 1] > recorded[n])
}

/* A pass, in one step: the caller has the lock.  @whole: takes all. */
inline pass(whole)
{
	tick();
	cutoff = now;
	do
	:: tail < committed && !mapped[tail] -> tail++
	:: tail < committed && mapped[tail] && (times[tail] <= cutoff || whole) ->
		key = MAX(MAX((times[tail] <= cutoff -> times[tail] : cutoff), 1), ring_last);
		recorded[tail] = MAX(MAX(key, shard_last), floor);
		shard_last = recorded[tail];
		ring_last = key;
#ifdef LATEST_KEY
		latest = MAX(latest, key);
#else
		latest = MAX(latest, recorded[tail]);
#endif
		check(tail);
		tail++
	:: tail == committed || (mapped[tail] && times[tail] > cutoff && !(whole)) -> break
	od;
	cutoff = 0; key = 0
}

#ifdef NO_WHOLE
#define WHOLE false
#else
#define WHOLE true
#endif

inline emit_written()
{
	/* The clock of emission is before, at or after the kernel's. */
	if
	:: fast = now - 1
	:: fast = now
	:: fast = now + 1
	fi;
#ifdef NO_LATEST
	key = fast;
#else
	key = MAX(fast, MAX(now, latest) + 1);
#endif
	recorded[count] = MAX(MAX(key, cpu_last), floor);
	cpu_last = recorded[count];
	latest = MAX(latest, recorded[count]);
#ifndef NO_ADVANCE
	if
	:: tail == count -> ring_last = MAX(ring_last, latest + 1)
	:: else
	fi;
#endif
	fast = 0; key = 0;
	check(count)
}

active proctype Thread()
{
	byte count, cutoff, key, fast;

	do
	:: count < OPS ->
		if
		:: atomic {
			tick();
			/* The vDSO may be ahead of the kernel. */
			if
			:: times[count] = now
			:: times[count] = now + 1
			fi;
			mapped[count] = true
		   };
		   committed = count + 1
		:: atomic {
			!lock -> lock = true;
			pass(WHOLE);
			tick();
			emit_written();
			committed = count + 1;
			lock = false
		   }
		fi;
		count++
	:: else -> break
	od
}

/* The worker, and FLUSH. */
active proctype Drain()
{
	byte passes, cutoff, key, before;

	do
	:: passes < 2 ->
		atomic { tick(); before = now + 1 };
		atomic { !lock -> pass(false) };
		if
		:: floor = MAX(floor, before)
		:: skip
		fi;
		before = 0;
		passes++
	:: else -> break
	od
}

/* Other threads emit. */
active proctype Others()
{
end:
	do
	:: atomic { shard_last < now && !lock -> shard_last = now }
	:: atomic { cpu_last < now + 1 -> cpu_last = now + 1 }
	od
}
