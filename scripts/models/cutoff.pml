/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Model of a pass in module/user/shard.c, which merges the records of several producer
 * rings by time.  Properties: the time of an honest record is not changed, although the
 * snapshots of the rings are taken one after the other; and a pass that is not limited
 * takes all that was committed before it, also records with a time in the future.
 *
 * Two threads emit.  A thread reads the clock and commits in one step: a thread that is
 * preempted in between may have its time changed.  The thread HOSTILE forges times.
 *
 * Variants:
 *	CUTOFF_LATE	the cutoff is read after the snapshots
 *	NO_CUTOFF	a pass takes its snapshots whole
 *	NO_CLAMP	a time in the future is not changed
 *	CLAMP_TO_NOW	a time in the future becomes the time after the snapshots
 *	UNORDERED	a pass that is limited takes records of one ring first
 */
#define LATEST 4
#define FUTURE 9
#define EVENTS 2
#define PASSES 2
#define HOSTILE 1

byte now = 1, last;
byte committed[2], tail[2];
byte times[2 * EVENTS];
byte finished;

/* Time may pass before each step. */
inline tick()
{
	if
	:: now < LATEST -> now++
	:: skip
	fi
}

active [2] proctype Thread()
{
	byte me = _pid;

	do
	:: committed[me] < EVENTS ->
		if
		:: atomic { tick(); times[me * EVENTS + committed[me]] = now; committed[me]++ }
		:: atomic {
			me == HOSTILE -> times[me * EVENTS + committed[me]] = FUTURE;
			committed[me]++
		   }
		fi
	:: break
	od
}

#define TIME(r) times[r * EVENTS + tail[r]]
/* A record that this pass takes; a forged time counts as the cutoff. */
#define FORGED(r) (TIME(r) > limit)
#ifdef NO_CLAMP
#define KEY(r) TIME(r)
#else
#ifdef CLAMP_TO_NOW
#define KEY(r) (FORGED(r) -> limit : TIME(r))
#else
#define KEY(r) (FORGED(r) -> cutoff : TIME(r))
#endif
#endif
#if defined(NO_CUTOFF) || defined(CLAMP_TO_NOW)
#define TAKEN(r) (tail[r] < end[r] && (KEY(r) <= cutoff || KEY(r) <= limit))
#else
#define TAKEN(r) (tail[r] < end[r] && KEY(r) <= cutoff)
#endif

inline deliver(r)
{
	d_step {
		/* A forged time may change the thread's own later ones. */
		assert(r == HOSTILE || TIME(r) >= last);
		if
		:: KEY(r) > last -> last = KEY(r)
		:: else
		fi;
		tail[r]++
	}
}

active proctype Drain()
{
	byte passes, cutoff, limit, budget;
	byte end[2], before[2];

	do
	:: passes < PASSES ->
		atomic {
			tick();
			cutoff = now;
			before[0] = committed[0];
			before[1] = committed[1]
		};
		end[0] = committed[0];
		end[1] = committed[1];
		/* What follows reads only the snapshots. */
		atomic {
		tick();
		limit = now;
#ifdef CUTOFF_LATE
		cutoff = limit;
#endif
		if
		:: budget = 1
		:: budget = 2 * EVENTS
		fi;
		do
		:: budget && TAKEN(0) && (!TAKEN(1) || KEY(0) <= KEY(1)) ->
			deliver(0);
			budget--
#ifdef UNORDERED
		:: budget && TAKEN(1) ->
			deliver(1);
			budget--
#endif
		:: budget && TAKEN(1) && (!TAKEN(0) || KEY(1) < KEY(0)) ->
			deliver(1);
			budget--
		:: !budget || (!TAKEN(0) && !TAKEN(1)) -> break
		od;
		assert(!budget || (tail[0] >= before[0] && tail[1] >= before[1]));
		passes++; cutoff = 0; limit = 0; budget = 0;
		end[0] = 0; end[1] = 0; before[0] = 0; before[1] = 0
		}
	:: else -> break
	od
}
