/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Model of FLUSH in module/core/subscriber.c and emit.c.  Property: after FLUSH has
 * returned a time, no record with an earlier time is published.
 *
 * Two CPUs emit and two threads flush.  Each of them reads a clock that may be behind
 * the latest time.  A CPU that emits to several rings reads it only for the first one.
 *
 * Variants:
 *	NO_GRACE	FLUSH does not wait for a grace period
 *	NO_FLOOR	the time of a record may be before the floor
 *	FLOOR_FALLS	FLUSH may lower the floor
 *	FLOOR_LATE	FLUSH reads the time and sets the floor after the grace period
 *	NO_LOCK		concurrent flushes raise the floor without a lock
 *	TIME_OUTSIDE	floor and clock are read before the RCU section
 *	FLOOR_OUTSIDE	the floor is read before the RCU section
 */
#define LATEST 3
#ifndef EVENTS
#define EVENTS 2
#endif

byte now = 1, floor, promised;
bool lock;
byte section[2];			/* odd: inside an RCU section */

active proctype Clock()
{
end:	do
	:: d_step { now < LATEST -> now++ }
	od
}

inline read_clock(into)
{
	if
	:: into = now
	:: into = now - 1
	fi
}

active [2] proctype Emitter()
{
	byte cpu = _pid - 1, events, time, its_floor;

	do
	:: events < EVENTS ->
#if defined(TIME_OUTSIDE) || defined(FLOOR_OUTSIDE)
		its_floor = floor;
#endif
#ifdef TIME_OUTSIDE
		read_clock(time);
#endif
		section[cpu]++;
#if !defined(TIME_OUTSIDE) && !defined(FLOOR_OUTSIDE)
		/* For another ring, before this ring's floor is read. */
		if
		:: read_clock(time)
		:: true
		fi;
		its_floor = floor;
#endif
		atomic {
#ifndef TIME_OUTSIDE
			if
			:: time == 0 -> read_clock(time)
			:: else
			fi;
#endif
#ifndef NO_FLOOR
			if
			:: time < its_floor -> time = its_floor
			:: else
			fi
#endif
		};
		assert(time >= promised);	/* published here */
		d_step { section[cpu]++; time = 0; its_floor = 0; events++ }
	:: else -> break
	od
}

inline raise_floor()
{
#ifndef NO_LOCK
	atomic { !lock -> lock = true };
#endif
	read_clock(time);
#ifndef FLOOR_FALLS
	if
	:: time < floor -> time = floor
	:: else
	fi;
#endif
	floor = time;
#ifndef NO_LOCK
	lock = false
#endif
}

inline grace_period()
{
#ifndef NO_GRACE
	d_step { seen[0] = section[0]; seen[1] = section[1] };
	!(seen[0] & 1) || section[0] != seen[0];
	!(seen[1] & 1) || section[1] != seen[1]
#else
	skip
#endif
}

active [2] proctype Flusher()
{
	byte time;
	byte seen[2];

#ifdef FLOOR_LATE
	grace_period();
	raise_floor();
#else
	raise_floor();
	grace_period();
#endif
	atomic {
		if
		:: promised < time -> promised = time
		:: else
		fi
	}
}
