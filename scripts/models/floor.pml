/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * module/ring/floor.h on a 32-bit machine: a reader of the floor gets a time that was
 * stored, and none that is older than the one present when it started.
 *
 * An interrupt during FLUSH's store reads as well, and must not wait.
 *
 * Variants:
 *	ONE_PLACE	there is one place, and no turns
 *	NO_LOOK		the reader does not check the turn again
 *	TURN_FIRST	the turn is stored before the time
 *	WAITS		readers wait for the end of the store
 */
#define BASE 2
#define LAST 5

byte high[2], low[2], turn;
byte present;			/* the last time stored completely */
bool was[LAST + BASE];		/* times whose store has begun */
bool storing, interrupted;

inline store(time)
{
#ifdef ONE_PLACE
	high[0] = (time) / BASE;
	low[0] = (time) % BASE;
#else
#ifdef TURN_FIRST
	turn++;
	high[turn % 2] = (time) / BASE;
	low[turn % 2] = (time) % BASE;
#else
	high[(turn + 1) % 2] = (time) / BASE;
	low[(turn + 1) % 2] = (time) % BASE;
	turn++;
#endif
#endif
}

/* FLUSH makes no step before the interrupt ends. */
active proctype Flush() provided (!interrupted)
{
	byte time;

	do
	:: time < LAST ->
		if
		:: time = time + 1
		:: time + BASE <= LAST -> time = time + BASE
		fi;
		was[time] = true;
		storing = true;
		store(time);
		atomic { present = time; storing = false }
	:: else -> break
	od
}

inline load()
{
	least = present;
	do
	::
#ifdef WAITS
		!storing;
#endif
#ifdef ONE_PLACE
		seen = high[0] * BASE;
		seen = seen + low[0];
		break
#else
		its_turn = turn;
		seen = high[its_turn % 2] * BASE;
		seen = seen + low[its_turn % 2];
#ifdef NO_LOOK
		break
#else
		if
		:: its_turn == turn -> break
		:: else
		fi
#endif
#endif
	od;
	assert(seen >= least && (seen == 0 || was[seen]))
}

inline forget()
{
	seen = 0;
	least = 0;
	its_turn = 0
}

active proctype Other_cpu()
{
	byte seen, least, its_turn, count;

	do
	:: count < 2 -> load(); d_step { forget(); count++ }
	:: else -> break
	od
}

active proctype Interrupt()
{
	byte seen, least, its_turn, count;

	do
	:: d_step { count < 2 -> interrupted = true };
	   load();
	   d_step { forget(); interrupted = false; count++ }
	:: else -> break
	od
}
