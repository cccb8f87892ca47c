/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Model of how module/user/shard.c reads a producer ring while its process changes any
 * word at any time.  Properties: what is copied lies inside of the ring and was committed,
 * and a pass ends.  In units of 8 bytes; a size may be 0 or beyond the ring, a record may
 * be padding, and committed may be anything.
 *
 * Variants:
 *	READ_TWICE	the size is checked, then read again for the copy
 *	NO_BOUND	committed is not compared with the tail
 *	READ_AGAIN	committed is read again during the pass
 *	NO_ZERO		a size of 0 is accepted
 *	NO_END		a size is not compared with the end of the ring
 *	NO_LEFT		a size is not compared with committed
 *	PADDING_ANY	padding may have any size up to the end of the ring
 */
#define SIZE 4			/* of the ring: positions are modulo 16 */
#define MODULO 16
#define MOST (SIZE + 1)		/* of a record */

byte length[SIZE] = 1, committed = 2;
bool padding[SIZE];
byte budget = 3;		/* how often the process changes something */

active proctype Hostile()
{
	byte i, value;

	do
	:: budget > 0 ->
		d_step { budget-- };
		if
		:: i = 0 :: i = 1 :: i = 2 :: i = 3
		fi;
		if
		:: value = 0 :: value = 1 :: value = 2 :: value = SIZE :: value = MOST
		fi;
		if
		:: length[i] = value
		:: padding[i] = !padding[i]
		:: committed = (committed + value) % MODULO
		:: committed = i * 5
		fi;
		d_step { i = 0; value = 0 }
	:: break
	od
}

#define LEFT ((end - tail + MODULO) % MODULO)

active proctype Kernel()
{
	byte tail, end, size, at, turns, passes;
	bool dead, is_padding;

	do
	:: passes < 2 && !dead ->
		end = committed;
#ifndef NO_BOUND
		if
		:: LEFT > SIZE -> dead = true
		:: else
		fi;
#endif
		turns = 0;
		do
		:: !dead && tail != end ->
			turns++;
			assert(turns <= SIZE);		/* the pass ends */
			at = tail % SIZE;
			size = length[at];
			is_padding = padding[at];
			if
#ifndef PADDING_ANY
			:: is_padding && size != SIZE - at -> dead = true
#endif
			:: else
			fi;
#ifndef NO_ZERO
			if
			:: size == 0 -> dead = true
			:: else
			fi;
#endif
#ifndef NO_END
			if
			:: size > SIZE - at -> dead = true
			:: else
			fi;
#endif
#ifndef NO_LEFT
			if
			:: size > LEFT -> dead = true
			:: else
			fi;
#endif
#ifdef READ_TWICE
			size = length[at];
#endif
			if
			:: !dead ->
				d_step {
					/* Padding is not copied. */
					assert(is_padding || at + size <= SIZE);
					assert(size <= LEFT);
					/* The next record starts where padding says. */
					assert(!is_padding || (tail + size) % SIZE == 0);
					tail = (tail + size) % MODULO
				}
#ifdef READ_AGAIN
				;
				end = committed
#endif
			:: else
			fi
		:: dead || tail == end -> break
		od;
		passes++
	:: else -> break
	od
}
