/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Model of how a producer ring falls asleep and wakes up, in module/user/shard.c.  The
 * worker that finds a ring empty sets ask, and looks once more after a period.  Then the
 * ring is not active any more, and the worker sleeps.  A producer commits, then loads
 * ask, without a barrier in between: its store may wait in a store buffer.  Properties:
 * no record stays where no one looks; and FLUSH, which looks at active rings only, takes
 * what was emitted before it was called.
 *
 * Variants:
 *	NO_SECOND_LOOK	the ring is not active as soon as ask is set
 *	LOOK_AT_ONCE	the second look is not a period later
 *	ASK_LATE	ask is set after the last look
 *	ASK_FIRST	the producer loads ask, then commits
 *	ASLEEP_EARLY	the ring is not active while the worker still has to look
 */
#define EVENTS 2
byte stored, committed;		/* by the producer; as others see it */
bool ask = true, asked, is_active, worker_runs, lock;
byte tail, returned;
bool over;

/* The store buffer is emptied in the end. */
active proctype Buffer()
{
end:	do
	:: d_step { committed != stored -> committed = stored }
	od
}

active proctype Producer()
{
	byte emitted;
	bool kicks;

	do
	:: emitted < EVENTS ->
#ifdef ASK_FIRST
		kicks = ask;
		stored++;
#else
		stored++;
		kicks = ask;
#endif
		if
		:: kicks ->
			/* KICK: a system call is a full barrier. */
			atomic {
				!lock -> committed = stored; tail = committed;
				ask = false; asked = false; is_active = true;
				worker_runs = true
			}
		:: else
		fi;
		kicks = false;
		d_step { emitted++; returned = stored }
	:: else -> break
	od;
	over = true
}

active proctype Worker()
{
end:	do
	:: worker_runs ->
		atomic { !lock -> lock = true };
		if
		:: tail != committed ->
			d_step {
				tail = committed; ask = false; asked = false;
				is_active = true; lock = false
			}
#ifdef ASK_LATE
		:: else ->
			lock = false;
			if
			:: tail == committed ->
				atomic { ask = true; is_active = false; worker_runs = false }
			:: else
			fi
#else
		:: tail == committed && asked ->
			d_step { is_active = false; worker_runs = false; lock = false }
		:: tail == committed && !asked ->
			ask = true;
#ifdef ASLEEP_EARLY
			is_active = false;
#endif
#ifdef NO_SECOND_LOOK
			d_step { is_active = false; worker_runs = false; lock = false }
#else
			d_step { asked = true; lock = false };
			/* A period: stores from before ask was visible become visible. */
#ifndef LOOK_AT_ONCE
			committed == stored || !asked
#endif
#endif
#endif
		fi
	od
}

active proctype Flusher()
{
	byte before;

	d_step { before = returned };
	atomic { !lock -> lock = true };
	if
	:: is_active ->
		/* What the caller knows to be emitted is visible to it. */
		committed >= before;
		tail = committed
	:: else
	fi;
	lock = false;
	assert(tail >= before)
}

/* In the end all is taken, or the worker still runs and takes it. */
active proctype End()
{
	over;
	committed == stored;
	atomic { (!worker_runs && !lock) -> assert(tail == committed) }
}
