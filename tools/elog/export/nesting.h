/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which span is inside which, for exports: a span's parent began before it and ends after it, in
 * the same session, or else in the same thread. The owner has a struct nest in what it keeps of
 * a START.
 *
 * A thread that alternates between sessions, as an event loop does, has several spans of one kind
 * open at the same time. Then no span is inside another one because of the thread.
 */
#ifndef NESTING_H
#define NESTING_H

#include <stdbool.h>
#include <stddef.h>

#include "libelog/util/map.h"

#define NESTING_DEPTH	8	/* open spans of a thread that are looked at */
#define NESTING_WALK	64	/* spans inside of one another that are looked at */

enum { NEST_SESSION, NEST_THREAD, NEST_LISTS };

/**
 * struct nest - an open span
 * @key: of its session and of its thread
 * @has_key: whether it has one
 * @kind: equal for spans of the same kind
 * @unseen: a walk did not reach it, or a span that was inside of it: see struct nest_walk
 *
 * The rest belongs to nesting.c.
 */
struct nest {
	struct elog_map_key key[NEST_LISTS];
	bool has_key[NEST_LISTS];
	const void *kind;
	bool unseen;

	struct nest_list *list[NEST_LISTS];
	struct nest *before[NEST_LISTS];	/* that began before it, and is open */
	struct nest *after[NEST_LISTS];
};

/**
 * struct nesting - the open spans
 * @maps: struct nest_list, by session and by thread
 */
struct nesting {
	struct elog_map maps[NEST_LISTS];
};

/** nesting_init() - no span is open; allocates nothing and cannot fail */
void nesting_init(struct nesting *nesting);

/** nesting_free() - free the memory */
void nesting_free(struct nesting *nesting);

/**
 * nesting_start() - a span begins
 * @nesting: the open spans
 * @nest: the span; zeroed, but for its keys and its kind
 *
 * Return: 0; -ENOMEM: it is not open.
 */
int nesting_start(struct nesting *nesting, struct nest *nest);

/** nesting_end() - a span has ended, or was dropped; does nothing if it is not open */
void nesting_end(struct nesting *nesting, struct nest *nest);

/** nesting_parent() - the innermost span that is open, and was when @nest began; or NULL */
struct nest *nesting_parent(const struct nest *nest);

/** nesting_innermost() - the span of a session that began last and is open, or NULL */
struct nest *nesting_innermost(const struct nesting *nesting, struct elog_map_key session);

/** nesting_outermost() - the span of a session that began first and is open, or NULL */
struct nest *nesting_outermost(const struct nesting *nesting, struct elog_map_key session);

/**
 * struct nest_walk - goes from the innermost span of a session outwards
 * @next: the next span; NULL: none
 * @left: how many more spans it may visit. There is a limit because a session may have any number
 *	of open spans, and each event may need a walk
 *
 * A span that a walk does not reach lacks what the walk adds to the others. The walk marks only
 * the first such span as unseen, which costs little. When a span that is unseen ends, its parent
 * becomes unseen. So each of them is unseen when it ends.
 */
struct nest_walk {
	struct nest *next;
	unsigned int left;
};

/** nesting_walk() - begin a walk */
static inline struct nest_walk nesting_walk(const struct nesting *nesting,
					    struct elog_map_key session)
{
	return (struct nest_walk){ nesting_innermost(nesting, session), NESTING_WALK };
}

/** nesting_next() - the next span of a walk: the parent of the one before it; or NULL */
static inline struct nest *nesting_next(struct nest_walk *walk)
{
	struct nest *nest = walk->left ? walk->next : NULL;

	if (nest) {
		walk->left--;
		walk->next = nesting_parent(nest);
		if (!walk->left && walk->next)
			walk->next->unseen = true;
	}
	return nest;
}

/** nesting_cut() - has a walk not reached the outermost span? */
static inline bool nesting_cut(const struct nest_walk *walk)
{
	return walk->next;
}

#endif /* NESTING_H */
