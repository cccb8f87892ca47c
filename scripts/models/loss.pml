/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * module/ring/ring.h, ring.c: what was lost before an event was placed is told
 * before it, by counts that are never above the truth.
 *
 * Any event may be lost.  The ring is unlimited; its records are checked after all
 * writers have ended.
 *
 * Variants:
 *	TOTAL_FIRST	losing counts the total, then the cause
 *	TOTAL_LATE	the reported total is read after the counts
 *	NO_MARKER	no lost records
 *	MARKER_APART	marker and record are reserved one after the other
 *	MARKER_ONCE	the need for a marker is checked once, before the loop
 */
#ifndef N0
#define N0 2
#endif
#ifndef N1
#define N1 2
#endif
#ifndef N2
#define N2 2
#endif
#define ITEMS (2 * (N0 + N1 + N2))

byte head, nest;
byte lost, lost_total, reported;	/* lost: for the only cause */
bool is_event[ITEMS];
byte count[ITEMS];			/* event: losses before it; marker: losses reported */
byte finished;
bool inside1, inside2;

inline lose()
{
#ifdef TOTAL_FIRST
	lost_total++;
	lost++
#else
	lost++;
	lost_total++
#endif
}

/* eventlog_ring_write_marker() */
inline write_marker(where)
{
#ifdef TOTAL_LATE
	count[where] = lost;
	total = lost_total;
#else
	total = lost_total;
	count[where] = lost;
#endif
	reported = total
}

inline emit()
{
	slot_nest = nest;
	nest = slot_nest + 1;
#ifdef MARKER_ONCE
	marker = (lost_total != reported -> 1 : 0);
#endif
retry:
	atomic { old = head; before = lost_total };
#ifndef MARKER_ONCE
	total = lost_total;
	marker = (total != reported -> 1 : 0);
#endif
#ifdef NO_MARKER
	marker = 0;
#endif
	if
	:: lose(); goto leave
	:: true
	fi;
#ifdef MARKER_APART
	if
	:: marker ->
		atomic {
			if
			:: head == old -> head = old + 1
			:: else -> goto retry
			fi
		};
		write_marker(old);
		atomic { marker = 0; old = head; before = lost_total }
	:: else
	fi;
#endif
	atomic {
		if
		:: head == old ->
			head = old + marker + 1;
			is_event[old + marker] = true;
			count[old + marker] = before
		:: else -> goto retry
		fi
	};
	if
	:: marker -> write_marker(old)
	:: else
	fi;
leave:
	nest = slot_nest
}

inline end()
{
	d_step { slot_nest = 0; old = 0; before = 0; marker = 0; total = 0; events++ }
}

#define WRITER byte events, slot_nest, old, before, marker, total

active proctype Task() provided (!inside1 && !inside2)
{
	WRITER;

	do
	:: events < N0 -> emit(); end()
	:: atomic { events == N0 -> finished++; break }
	od
}

active proctype Interrupt() provided (!inside2)
{
	WRITER;

	do
	:: atomic { events < N1 -> inside1 = true };
	   emit();
	   atomic { end(); inside1 = false }
	:: atomic { events == N1 -> finished++; break }
	od
}

active proctype Nmi()
{
	WRITER;

	do
	:: atomic { events < N2 -> inside2 = true };
	   emit();
	   atomic { end(); inside2 = false }
	:: atomic { events == N2 -> finished++; break }
	od
}

active proctype Consumer()
{
	byte at, told;

	finished == 3;
	d_step {
		assert(lost == lost_total);
		do
		:: at < head ->
			if
			:: is_event[at] -> assert(told >= count[at])
			:: else ->
				assert(count[at] <= lost);
				if
				:: count[at] > told -> told = count[at]
				:: else
				fi
			fi;
			at++
		:: else -> break
		od
	}
}
