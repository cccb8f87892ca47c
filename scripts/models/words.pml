/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * module/ring/ring_words.h: what is read of a word that a 32-bit machine stores in
 * halves is a value that it has had, at the time of the reading.
 *
 * Halves are digits of BASE here.
 *
 * Variants:
 *	TWICE		the upper half is read twice, the copy is not read
 *	COPY_LATE	the copy is read last, the upper half first
 *	LOW_FIRST	the lower half is stored before the upper one
 *	COPY_FIRST	the copy is stored before both
 *	COPY_EARLY	the copy is stored between the two
 */
#ifndef BASE
#define BASE 2
#endif
#ifndef LAST
#define LAST 9
#endif

byte high, low, copy;
byte whole;			/* the last value stored completely */
bool was[LAST + 1];		/* values whose store has begun */

active proctype Writer()
{
	byte value, next;

	do
	:: value < LAST ->
		if
		:: next = value + 1
		:: value + BASE <= LAST -> next = value + BASE
		:: value + BASE + 1 <= LAST -> next = value + BASE + 1
		fi;
		was[next] = true;
		if
		:: next / BASE == high -> low = next % BASE
		:: else ->
#if defined(LOW_FIRST)
			low = next % BASE;
			high = next / BASE;
			copy = next / BASE
#elif defined(COPY_FIRST)
			copy = next / BASE;
			high = next / BASE;
			low = next % BASE
#elif defined(COPY_EARLY)
			high = next / BASE;
			copy = next / BASE;
			low = next % BASE
#else
			high = next / BASE;
			low = next % BASE;
			copy = next / BASE
#endif
		fi;
		value = next;
		whole = next
	:: else -> break
	od
}

active proctype Reader()
{
	byte first, middle, last, seen, least;

	do
	:: seen < LAST ->
		least = whole;
again:
#if defined(TWICE) || defined(COPY_LATE)
		first = high;
#else
		first = copy;
#endif
		middle = low;
#ifdef COPY_LATE
		last = copy;
#else
		last = high;
#endif
		if
		:: first != last -> goto again
		:: else
		fi;
		last = first * BASE + middle;
		assert(last <= LAST && (last == 0 || was[last]));
		assert(last >= least && last >= seen);
		seen = last
	:: else -> break
	od
}
