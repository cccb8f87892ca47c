/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Model of producer rings: module/user/shard.c, and FLUSH in module/core/subscriber.c.
 * Two threads emit to rings of their own, which are drained by the worker, by a thread
 * whose ring is full (KICK), when a thread ends, and by FLUSH.  Properties:
 *	- a record is delivered once, whole, and not from a ring that has ended
 *	- nothing is lost uncounted, wherever a thread is killed
 *	- when FLUSH returns, what was emitted before it was called is delivered, with its
 *	  own time, and no record with an earlier time is delivered later
 *
 * Variants:
 *	NO_LOCK		passes do not exclude one another
 *	NO_DRAIN	FLUSH does not drain
 *	FLOOR_FIRST	FLUSH raises the floor before it drains
 *	NO_FLOOR	records do not respect the floor
 *	NO_GRACE	FLUSH does not wait for a grace period
 *	FLOOR_OUTSIDE	a pass reads the floor before its RCU section
 *	COMMIT_FIRST	a thread commits before the record is whole
 *	POSITION_FIRST	a pass gives the room back before it has copied
 *	END_NO_DRAIN	a ring ends without being drained
 *	END_NO_LOCK	a ring ends while a pass runs
 *	TRY_LOCK	a ring that ends is drained only if no other pass runs
 */
#define SLOTS 1
#define LATEST 3
#define EVENTS 2	/* of the first thread; the second one emits one */
#ifndef PASSES
#define PASSES 1
#endif
#define WORKER 2
#define FLUSHER 3

byte now = 2, floor, promised, last;
bool lock;
byte committed[2], position[2], tail[2], returned[2], began[2];
byte slot[2 * SLOTS];		/* times; 0: not whole */
bool seen[2 * EVENTS];
bool gone[2];
byte attempted, delivered, lost, finished;
byte section[4];		/* of each process; odd: inside an RCU section */

/* The clock advances when it is read. */
inline read_clock(into)
{
	atomic {
		if
		:: now < LATEST -> now++
		:: skip
		fi;
		into = now
	}
}

#define AT(r) tail[r]

inline deliver(r)
{
#ifdef POSITION_FIRST
	position[r] = tail[r] + 1;
#endif
	d_step {
		assert(!gone[r]);
		time = slot[r * SLOTS + AT(r) % SLOTS];
		which = AT(r);
		assert(time != 0)
	};
#ifdef FLOOR_OUTSIDE
	its_floor = floor;
	section[me]++;
#else
	d_step { section[me]++; its_floor = floor };
#endif
	d_step {
#ifndef NO_FLOOR
		if
		:: time < its_floor ->
			/* Emitted before FLUSH: it keeps its time. */
			assert(which >= began[r]);
			time = its_floor
		:: else
		fi;
#endif
		if
		:: time < last -> time = last
		:: else -> last = time
		fi;
		assert(time >= promised);
		assert(!seen[r * EVENTS + which]);
		seen[r * EVENTS + which] = true;
		delivered++;
		section[me]++;
		tail[r] = which + 1;
		position[r] = tail[r];
		time = 0; its_floor = 0; which = 0
	}
}

#define HAS(r, end) (AT(r) < end)
#define TIME(r) slot[r * SLOTS + AT(r) % SLOTS]

/* Delivers what both snapshots contain, the oldest record first. */
inline pass_locked()
{
	d_step {
		if :: gone[0] -> end0 = 0 :: else -> end0 = committed[0] fi;
		if :: gone[1] -> end1 = 0 :: else -> end1 = committed[1] fi
	};
	do
	:: HAS(0, end0) && (!HAS(1, end1) || TIME(0) <= TIME(1)) -> deliver(0)
	:: HAS(1, end1) && (!HAS(0, end0) || TIME(1) < TIME(0)) -> deliver(1)
	:: !HAS(0, end0) && !HAS(1, end1) -> break
	od;
	atomic { end0 = 0; end1 = 0 }
}

inline take_lock()
{
#ifndef NO_LOCK
	atomic { !lock -> lock = true }
#else
	skip
#endif
}

inline drop_lock()
{
#ifndef NO_LOCK
	lock = false
#else
	skip
#endif
}

active [2] proctype Producer()
{
	byte me = _pid, its, emitted, end0, end1, time, its_floor, which;

	do
	:: emitted < EVENTS - me ->
		if
		:: committed[me] - position[me] == SLOTS ->
			if
			:: take_lock(); pass_locked(); drop_lock()	/* KICK */
			:: d_step { attempted++; lost++; emitted++ }	/* counted */
			fi
		:: else ->
			read_clock(its);
#ifdef COMMIT_FIRST
			d_step { committed[me]++; attempted++ };
			slot[me * SLOTS + (committed[me] - 1) % SLOTS] = its;
#else
			slot[me * SLOTS + committed[me] % SLOTS] = 0;
			if
			:: skip
			:: break			/* killed */
			fi;
			slot[me * SLOTS + committed[me] % SLOTS] = its;
			if
			:: skip
			:: break
			fi;
			d_step { committed[me]++; attempted++ };
#endif
			d_step { its = 0; emitted++; returned[me] = committed[me] }
		fi
	:: else -> break
	od;
	atomic { its = 0; emitted = 0 };
	/* The mapping is closed. */
#ifdef END_NO_LOCK
	gone[me] = true;
#else
#ifdef TRY_LOCK
	if
	:: atomic { !lock -> lock = true }; pass_locked(); atomic { gone[me] = true; lock = false }
	:: atomic { lock -> gone[me] = true }
	fi;
#else
	take_lock();
#ifndef END_NO_DRAIN
	pass_locked();
#endif
	gone[me] = true;
	drop_lock();
#endif
#endif
	finished++
}

active proctype Worker()
{
	byte me = WORKER, passes, end0, end1, time, its_floor, which;

	do
	:: passes < PASSES -> take_lock(); pass_locked(); drop_lock(); passes++
	:: break
	od;
	finished++
}

inline wait_for(i)
{
	!(seen_section[i] & 1) || section[i] != seen_section[i]
}

active proctype Flusher()
{
	byte me = FLUSHER, zero, end0, end1, time, its_floor, which;
	byte seen_section[4];

	atomic {
		began[0] = returned[0];
		began[1] = returned[1]
	};
	read_clock(zero);
#ifdef FLOOR_FIRST
	floor = zero;
#endif
#ifndef NO_DRAIN
	take_lock(); pass_locked(); drop_lock();
#endif
	floor = zero;
#ifndef NO_GRACE
	d_step { seen_section[0] = section[0]; seen_section[1] = section[1]; seen_section[2] = section[2] };
	wait_for(0); wait_for(1); wait_for(2);
#endif
	atomic {
		promised = zero;
		assert(tail[0] >= began[0] && tail[1] >= began[1])
	};
	finished++
}

active proctype End()
{
	finished == 4;
	assert(attempted == delivered + lost)
}
