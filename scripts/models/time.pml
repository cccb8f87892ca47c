/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Model of the times of records in module/ring/ring.h.  Property: the times of a ring's
 * records never decrease, although the clock may step back and the floor, read on
 * another CPU, may be ahead of it.  A writer may have read the clock for another ring,
 * before it came to this one.
 *
 * The ring is unbounded; head counts records.
 *
 * Variants:
 *	NO_LAST		last_time is ignored
 *	NO_NESTED	nested_time is ignored
 *	ONE_WORD	nested writers store last_time, too
 *	NESTED_STORE	nested writers store their time without an exchange
 *	STORED_LATE	the time is stored after the record was placed
 */
#define LATEST 4
#ifndef N0
#define N0 2
#endif
#ifndef N1
#define N1 2
#endif
#ifndef N2
#define N2 2
#endif

byte now = 2, floor;
byte head, nest, last_time, nested_time;
byte latest;			/* time of the latest record */
bool inside1, inside2;

active proctype Clock()
{
end:	do
	:: d_step { now < LATEST -> now++ }
	:: d_step { floor < now + 1 -> floor = now + 1 }
	od
}

inline raise(to)
{
	if
	:: time < to -> time = to
	:: else
	fi
}

inline store_time()
{
#ifdef ONE_WORD
	last_time = time
#else
	if
	:: atomic { slot_nest == 0 -> last_time = time }
#ifdef NESTED_STORE
	:: atomic { slot_nest != 0 -> nested_time = time }
#else
	:: atomic { slot_nest != 0 && nested_time == last -> nested_time = time }
	:: atomic { slot_nest != 0 && nested_time != last -> goto retry }
#endif
	fi
#endif
}

inline read_clock()
{
	if
	:: time = now
	:: time = now - 1
	fi
}

inline emit()
{
	/* 0: not read yet */
	if
	:: read_clock()
	:: time = 0
	fi;
	slot_nest = nest;
	nest = slot_nest + 1;
	its_floor = floor;
retry:
	old = head;
	if
	:: time == 0 -> read_clock()
	:: else
	fi;
	d_step {
		last = last_time;
#ifndef NO_LAST
		raise(last)
#endif
	};
	d_step {
		last = nested_time;
#ifndef NO_NESTED
		raise(last);
#endif
		raise(its_floor)
	};
#ifndef STORED_LATE
	store_time();
#endif
	atomic {
		if
		:: head == old ->
			head++;
			assert(time >= latest);
			latest = time
		:: else -> goto retry
		fi
	};
#ifdef STORED_LATE
	atomic {
		if
		:: slot_nest == 0 -> last_time = time
		:: slot_nest != 0 && nested_time < time -> nested_time = time
		:: else
		fi
	};
#endif
	nest = slot_nest
}

inline end()
{
	d_step { slot_nest = 0; its_floor = 0; old = 0; time = 0; last = 0 }
}

#define WRITER byte events, slot_nest, its_floor, old, time, last

active proctype Task() provided (!inside1 && !inside2)
{
	WRITER;

	do
	:: atomic { events < N0 -> events++ }; emit(); end()
	:: else -> break
	od
}

active proctype Interrupt() provided (!inside2)
{
	WRITER;

	do
	:: atomic { events < N1 -> inside1 = true; events++ };
	   emit();
	   atomic { end(); inside1 = false }
	:: else -> break
	od
}

active proctype Nmi()
{
	WRITER;

	do
	:: atomic { events < N2 -> inside2 = true; events++ };
	   emit();
	   atomic { end(); inside2 = false }
	:: else -> break
	od
}
