/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Model of module/ring/ring.h: strictly nested writers on one CPU, and a consumer on
 * another CPU.
 *
 * A word of the data represents 8 bytes or more: a record has one to three words, a
 * marker has one, padding has any number.  Positions wrap at 64 and start shortly before
 * that.  Every access that a nested writer or the consumer can observe is a step of its
 * own; other accesses are part of a step.  Stores become visible in order, except in the
 * variants named WEAK_*.
 *
 * Modes:	OVERWRITE	overwrite mode; otherwise discard mode
 *		HOSTILE		the consumer stores arbitrary positions and does not read
 *		META		with metadata of sub-buffers, in discard mode; all events
 *				are news
 * Size:	N0 N1 N2	number of events of the three levels of nesting
 *		LENGTHS		lengths of the events: 1: all 2; 2: all 3; 3: shorter on
 *				deeper levels; 4: mixed; otherwise any
 * Each variant removes one rule.  All variants must fail:
 *	NO_GUARD		no guard
 *	NO_EXCHANGE		head is stored without compare-and-exchange
 *	NO_RECHECK		head is not read again after publishing
 *	NO_PUBLISH_ON_DROP	a writer that drops its event does not publish
 *	NO_NEST			every writer publishes when it leaves
 *	NO_PADDING		records may straddle sub-buffers
 *	PREEMPTIBLE		writers are not strictly nested
 *	MARKER_APART		marker and record are reserved separately
 *	MARKER_ONCE		the writer tests whether it needs a marker before the loop
 *	REWIND			an abandoned record gives its space back if possible
 *	WEAK_COMMITTED		committed becomes visible before the last data (no release)
 *	WEAK_HEAD		data becomes visible before head (no smp_wmb)
 *	WEAK_POSITION		the position becomes visible before the data was read
 *	READS_HEAD		the consumer reads up to head
 *	STEPS_BACK		the consumer follows committed when it steps back
 *	NO_LOOK			in overwrite mode, the consumer does not check head after copying
 *	LOOKS_AT_COMMITTED	in overwrite mode, the consumer checks committed, not head
 *	META_NESTED		a nested writer states how many events precede its own
 *	META_HEAD		head is not read again after this number
 *	META_ORDER		the position becomes visible before the number (no release)
 *	NEWS_STORED		news are stored without compare-and-exchange
 *	NEWS_LATE		news are stored after the record is committed
 */
#define SIZE 8
#define SUB 4
#define WRAP 63
#ifndef START
#define START 58
#endif
#ifndef N0
#define N0 2
#endif
#ifndef N1
#define N1 1
#endif
#ifndef N2
#define N2 1
#endif
#ifndef LENGTHS
#define LENGTHS 0
#endif

#define DIFFERENCE(a, b) (((a) - (b)) & WRAP)
/* As wide as positions, so it overflows if the consumer stores wrong ones. */
#define UNREAD_AND_NEED(head) ((DIFFERENCE(head, consumer_position) + need) & WRAP)
#define LEFT(position) (SUB - (position) % SUB)
#define AT(position) ((position) % SIZE)

#define PADDING 1
#define MARKER 2
#define EVENT 3

/* The members of the ring, as in ring.h. */
byte head = START, committed = START;
byte nest, consumer_position = START;
byte lost, reported;
byte position = START;			/* the consumer's page */

/* The data.  tag is the position of a word; the first word of a record is its header. */
byte tag[SIZE], bytes[SIZE], type[SIZE], count[SIZE];

/* State of the model that does not exist in the code. */
byte owner[SIZE];			/* the writer that has not finished the word yet */
byte known[SIZE];			/* number of events lost before this event was placed */
byte attempted, records, taken;
byte finished;
bool inside1, inside2;

#ifdef WEAK_HEAD
byte head_seen = START;
#define HEAD_SEEN head_seen
active proctype Memory()
{
end:	do
	:: d_step { head_seen != head -> head_seen = head }
	od
}
#else
#define HEAD_SEEN head
#endif

#ifdef META
#define NUMBER(at) (AT(at) / SUB)
#define NO_NUMBER 255
byte meta_position[2] = NO_NUMBER, meta_records[2], meta_news[2] = START - 1;

/* eventlog_ring_raise() */
inline raise(number, at)
{
	do
	:: seen = meta_news[number];
	   if
	   :: DIFFERENCE(seen, at) < SIZE -> break
	   :: else
	   fi;
#ifdef NEWS_STORED
	   meta_news[number] = (at) & WRAP;
	   break
#else
	   atomic {
		if
		:: meta_news[number] == seen -> meta_news[number] = (at) & WRAP; break
		:: else
		fi
	   }
#endif
	od;
	seen = 0
}

/* eventlog_ring_enter() */
inline enter(at)
{
	before_meta = records;
	unknown = false;
#ifndef META_HEAD
	unknown = (head != ((old + need) & WRAP));
#endif
#ifndef META_NESTED
	unknown = unknown || slot_nest;
#endif
#ifdef META_ORDER
	meta_position[NUMBER(at)] = (unknown -> NO_NUMBER : (at) & WRAP);
	meta_records[NUMBER(at)] = before_meta;
#else
	meta_records[NUMBER(at)] = before_meta;
	meta_position[NUMBER(at)] = (unknown -> NO_NUMBER : (at) & WRAP);
#endif
	raise(NUMBER(at), at - 1);
	d_step { before_meta = 0; unknown = false }
}

#define META_STATE ; byte before_meta; bool unknown
#define CHECK_RECORDS(at) assert((at) % SUB || meta_position[NUMBER(at)] != (at) || \
				 meta_records[NUMBER(at)] == taken)
#define CHECK_NEWS(at) assert(DIFFERENCE(meta_news[NUMBER(at)], at) < (WRAP + 1) / 2)
#else
#define META_STATE
#define CHECK_RECORDS(at) skip
#define CHECK_NEWS(at) skip
#endif

inline store(at, its_bytes, its_type, its_count)
{
	assert(owner[AT(at)] == me);
	tag[AT(at)] = (at) & WRAP;
	bytes[AT(at)] = its_bytes;
	type[AT(at)] = its_type;
	count[AT(at)] = its_count
}

inline choose_length()
{
	if
	:: LENGTHS == 1 -> length = 2
	:: LENGTHS == 2 -> length = 3
	:: LENGTHS == 3 -> length = 4 - me
	:: LENGTHS == 4 -> length = 1 + (events + me) % 3
	:: LENGTHS == 0 -> length = 1
	:: LENGTHS == 0 -> length = 2
	:: LENGTHS == 0 -> length = 3
	fi
}

/* Advances head from old by need, and marks the words as unfinished. */
inline exchange()
{
	head = (old + need) & WRAP;
	i = 0;
	do
	:: i < need ->
		assert(owner[AT(old + i)] == 0);	/* no unfinished record is overwritten */
		owner[AT(old + i)] = me;
		i++
	:: else -> break
	od;
	i = 0
}

inline let_go()
{
	i = 0;
	do
	:: i < SIZE ->
		if
		:: owner[i] == me -> owner[i] = 0
		:: else
		fi;
		i++
	:: else -> break
	od;
	i = 0
}

#ifdef WEAK_COMMITTED
#define STORED_IN_TIME (length - 1)
#else
#define STORED_IN_TIME length
#endif

/* Counts the attempt; the model's counters are updated before and after the event. */
inline begin()
{
	choose_length();
	attempted++
}

/* eventlog_ring_reserve(), filling the record, eventlog_ring_commit() */
inline emit()
{
	slot_nest = nest;
	nest = slot_nest + 1;
#ifdef MARKER_ONCE
	marker = (lost != reported -> 1 : 0);
#endif
retry:
	atomic { old = head; before = lost };
#ifndef MARKER_ONCE
	seen = lost;
	marker = (seen != reported -> 1 : 0);
#endif
#ifdef MARKER_APART
	if
	:: marker ->
		d_step {
			padding = 0;
			need = 1
		};
		if
		:: DIFFERENCE(old, position) + 1 + length > SIZE ->
			lost++;
			goto leave
		:: slot_nest && DIFFERENCE(old + need, committed) > SIZE ->
			lost++;
			goto leave
		:: else
		fi;
		atomic {
			if
			:: head == old -> exchange()
			:: else -> goto retry
			fi
		};
		d_step { store(old, 1, MARKER, lost); seen = lost };
		reported = seen;
		d_step { marker = 0; let_go(); old = head; before = lost }
	:: else
	fi;
#endif
	d_step {
		seen = 0;
		need = length + marker;
		padding = (need > LEFT(old) -> LEFT(old) : 0);
#ifdef NO_PADDING
		padding = 0;
#endif
		need = need + padding;
		drop = false
	};
#ifndef OVERWRITE
	if
	:: UNREAD_AND_NEED(old) > SIZE ->
		consumer_position = position;
#ifndef HOSTILE
		/* An honest consumer is never ahead of head. */
		assert(DIFFERENCE(old, consumer_position) <= SIZE);
#endif
		atomic {
			drop = (UNREAD_AND_NEED(old) > SIZE);
			seen = consumer_position
		}
	:: else
	fi;
#endif
#ifndef NO_GUARD
	if
	:: !drop && slot_nest && DIFFERENCE(old + need, committed) > SIZE -> drop = true
	:: else
	fi;
#endif
	if
	:: drop ->
#ifndef HOSTILE
		/* The drop is justified, even if a nested writer has moved head. */
		d_step {
			need = length + (lost != reported -> 1 : 0);
			need = need + (need > LEFT(head) -> LEFT(head) : 0);
			assert(slot_nest && DIFFERENCE(head + need, committed) > SIZE ||
			       DIFFERENCE(head, seen) + need > SIZE)
		};
#endif
		lost++;
#ifdef NO_PUBLISH_ON_DROP
		nest = slot_nest;
		goto out
#else
		goto leave
#endif
	:: else
	fi;
#ifdef NO_EXCHANGE
	atomic { exchange() };
#else
	atomic {
		if
		:: head == old -> exchange()
		:: else -> goto retry
		fi
	};
#endif
	if
	:: padding -> d_step { store(old, padding, PADDING, 0) }
	:: else
	fi;
#ifdef META
	if
	:: padding || old % SUB == 0 -> enter(old + padding)
	:: else
	fi;
#endif
	if
	:: marker ->
		d_step { store(old + padding, 1, MARKER, lost); seen = lost };
		reported = seen;
		seen = 0
	:: else
	fi;
#ifdef REWIND
	if
	:: atomic {
		head == ((old + need) & WRAP) && !abandoned ->
		abandoned = true;
		head = old;
		let_go();
		attempted--
	   };
	   goto leave
	:: true
	fi;
#endif
	do
	:: i < STORED_IN_TIME ->
		d_step {
			store(old + padding + marker + i, length * (i == 0), EVENT, 0);
			known[AT(old + padding + marker + i)] = before;
			i++
		}
	:: else -> break
	od;
#if defined(META) && !defined(NEWS_LATE)
	raise(NUMBER(old + padding + marker), old + padding + marker);
#endif
	skip;
	d_step {
		records++;
#ifndef WEAK_COMMITTED
		let_go()
#endif
	};
leave:
#ifdef NO_NEST
	slot_nest = 0;
	nest = 0;
#else
	nest = slot_nest;
#endif
	if
	:: slot_nest == 0 ->
		do
		:: old = head;
		   committed = old;
#ifdef NO_RECHECK
		   break
#else
		   if
		   :: head == old -> break
		   :: else
		   fi
#endif
		od
	:: else
	fi;
#ifdef NEWS_LATE
	if
	:: !drop -> raise(NUMBER(old + padding + marker), old + padding + marker)
	:: else
	fi;
#endif
#ifdef WEAK_COMMITTED
	if
	:: i == STORED_IN_TIME && !drop ->
		d_step {
			store(old - 1, length * (i == 0), EVENT, 0);
			let_go()
		}
	:: else
	fi;
#endif
out:	skip
}

inline end()
{
	d_step {
		length = 0; slot_nest = 0; old = 0; before = 0; seen = 0; marker = 0;
		need = 0; padding = 0; drop = false; i = 0; events++
	}
}

#define WRITER								\
	byte events, length, slot_nest, old, before, seen, marker, need, padding, i;	\
	bool drop, abandoned META_STATE

#ifdef PREEMPTIBLE
#define UNLESS(condition)
#else
#define UNLESS(condition) provided (!(condition))
#endif

active proctype Task() UNLESS(inside1 || inside2)
{
	WRITER;
	byte me = 1;

	do
	:: atomic { events < N0 -> begin() }; emit(); end()
	:: atomic { events == N0 -> finished++; break }
	od
}

active proctype Interrupt() UNLESS(inside2)
{
	WRITER;
	byte me = 2;

	do
	:: atomic { events < N1 -> inside1 = true; begin() };
	   emit();
	   atomic { end(); inside1 = false }
	:: atomic { events == N1 -> finished++; break }
	od
}

active proctype Nmi()
{
	WRITER;
	byte me = 3;

	do
	:: atomic { events < N2 -> inside2 = true; begin() };
	   emit();
	   atomic { end(); inside2 = false }
	:: atomic { events == N2 -> finished++; break }
	od
}

#if defined(HOSTILE)

active proctype Consumer()
{
	do
	:: d_step { finished < 3 -> position = head }
	:: d_step { finished < 3 -> position = (head - 3) & WRAP }
	:: d_step { finished < 3 -> position = (head + 5) & WRAP }
	:: finished == 3 -> break
	od;
	assert(nest == 0 && committed == head);
	assert(records + lost == attempted)
}

#elif !defined(OVERWRITE)

active proctype Consumer()
{
	byte at = START, limit, its_bytes, its_type, told, i;

	do
	:: atomic { finished == 3 && at == head -> break }
	:: atomic { finished == 3 && at != head && at == committed ->
			assert(false) }		/* complete, but never published */
	:: at != committed ->
		d_step {
#ifdef READS_HEAD
			limit = head;
#else
			limit = committed;
#endif
#ifndef STEPS_BACK
			if
			:: DIFFERENCE(limit, at) > SIZE -> limit = at
			:: else
			fi
#endif
		};
		do
		:: at != limit ->
#ifdef WEAK_POSITION
			position = (at + bytes[AT(at)]) & WRAP;
#endif
			d_step {
				assert(owner[AT(at)] == 0 && tag[AT(at)] == at &&
				       bytes[AT(at)] > 0);
				its_bytes = bytes[AT(at)];
				its_type = type[AT(at)];
				assert(its_bytes <= LEFT(at));
				if
				:: its_type == MARKER && count[AT(at)] > told ->
					told = count[AT(at)];
					assert(told <= lost)
				:: else
				fi;
				assert(its_type != EVENT || told >= known[AT(at)]);
				CHECK_RECORDS(at);
				if
				:: its_type == EVENT -> CHECK_NEWS(at)
				:: else
				fi;
				i = 1
			};
			do
			:: d_step {
					i < its_bytes && its_type == EVENT ->
					assert(owner[AT(at + i)] == 0 &&
					       tag[AT(at + i)] == ((at + i) & WRAP) &&
					       bytes[AT(at + i)] == 0);
					i++
			   }
			:: atomic { i >= its_bytes || its_type != EVENT ->
				d_step {
					taken = taken + (its_type == EVENT);
					at = (at + its_bytes) & WRAP;
					its_bytes = 0; its_type = 0; i = 0;
#ifndef WEAK_POSITION
					position = at
#endif
				};
				break
			   }
			od
		:: atomic { at == limit -> CHECK_RECORDS(at); limit = 0; break }
		od
	od;
	assert(nest == 0 && committed == head);
	assert(taken == records && taken + lost == attempted)
}

#else

active proctype Consumer()
{
	byte at = START, limit, before, its_bytes, its_type, i;
	byte copy[4];
	bool whole;

	do
	:: atomic { finished == 3 && at == head && HEAD_SEEN == head -> break }
	:: atomic { finished == 3 && at != head && at == committed ->
			assert(false) }		/* complete, but never published */
	:: at != committed ->
#ifdef READS_HEAD
		limit = HEAD_SEEN;
#else
		limit = committed;
#endif
		d_step {
			before = HEAD_SEEN;
			if
			:: DIFFERENCE(before, at) > SIZE ->
				at = (before - SIZE + SUB - 1) & WRAP & ~(SUB - 1)
			:: else
			fi;
			if
			:: DIFFERENCE(limit, at) > SIZE -> limit = at
			:: else
			fi
		};
		do
		:: d_step {
				at != limit ->
				its_bytes = bytes[AT(at)];
				its_type = type[AT(at)];
				copy[0] = tag[AT(at)];
				whole = its_bytes > 0 && its_bytes <= LEFT(at) && its_type;
				i = 1
		   };
			do
			:: d_step {
					whole && i < its_bytes && its_type == EVENT ->
					copy[i] = tag[AT(at + i)];
					whole = bytes[AT(at + i)] == 0;
					i++
			   }
			:: atomic { !(whole && i < its_bytes && its_type == EVENT) ->
				d_step {
#if defined(NO_LOOK)
					before = before;
#elif defined(LOOKS_AT_COMMITTED)
					before = committed;
#else
					before = HEAD_SEEN;
#endif
					if
					:: DIFFERENCE(before, at) > SIZE ->
						at = (before - SIZE + SUB - 1) & WRAP &
						     ~(SUB - 1);
						limit = at
					:: else ->
						/* The copy is a record, at this position. */
						assert(whole);
						i = 0;
						do
						:: i < its_bytes &&
						   (i == 0 || its_type == EVENT) ->
							assert(copy[i] == ((at + i) & WRAP));
							i++
						:: else -> break
						od;
						taken = taken + (its_type == EVENT);
						at = (at + its_bytes) & WRAP;
						its_bytes = 0; its_type = 0; i = 0
					fi
				};
				break
			   }
			od
		:: at == limit -> break
		od;
		skip;
		d_step {
			copy[0] = 0; copy[1] = 0; copy[2] = 0; copy[3] = 0;
			limit = 0; before = 0; its_bytes = 0; its_type = 0; i = 0; whole = false
		}
	od;
	assert(nest == 0 && committed == head);
	assert(records + lost == attempted && taken <= records)
}

#endif
