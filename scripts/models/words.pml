/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Model of module/ring/ring_words.h on a 32-bit machine, which stores words in halves.
 * Property: a reader gets a value that was stored, and not an older one than the last
 * value that was complete when it started to read.
 *
 * A half is a digit of a number with base BASE.
 *
 * Variants:
 *	TWICE		the reader reads the upper half twice instead of the copy
 *	COPY_LATE	the reader reads the upper half first and the copy last
 *	LOW_FIRST	the lower half is stored before the upper half
 *	COPY_FIRST	the copy is stored before both halves
 *	COPY_EARLY	the copy is stored between the halves
 */
#ifndef BASE
#define BASE 2
#endif
#ifndef LAST
#define LAST 9
#endif

byte high, low, copy;
byte whole;			/* the last value that was stored completely */
bool was[LAST + 1];		/* values whose store has started */

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
