// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which span is inside which: see nesting.h. The open spans of a session, and those of a thread,
 * are in a list, in the order of their beginning.
 */
#include <errno.h>

#include "export/nesting.h"

struct nest_list {
	struct nest *first;
	struct nest *last;
};

void nesting_init(struct nesting *nesting)
{
	unsigned int i;

	for (i = 0; i < NEST_LISTS; i++)
		elog_map_init(&nesting->maps[i], sizeof(struct nest_list));
}

void nesting_free(struct nesting *nesting)
{
	unsigned int i;

	for (i = 0; i < NEST_LISTS; i++)
		elog_map_free(&nesting->maps[i]);
}

int nesting_start(struct nesting *nesting, struct nest *nest)
{
	unsigned int i;

	for (i = 0; i < NEST_LISTS; i++) {
		struct nest_list *list;

		if (!nest->has_key[i])
			continue;
		list = elog_map_get(&nesting->maps[i], nest->key[i]);
		if (!list) {
			nesting_end(nesting, nest);
			return -ENOMEM;
		}
		nest->list[i] = list;
		nest->before[i] = list->last;
		if (list->last)
			list->last->after[i] = nest;
		else
			list->first = nest;
		list->last = nest;
	}
	return 0;
}

void nesting_end(struct nesting *nesting, struct nest *nest)
{
	struct nest *parent;
	unsigned int i;

	if (!nest->list[NEST_SESSION] && !nest->list[NEST_THREAD])
		return;
	parent = nest->unseen ? nesting_parent(nest) : NULL;
	if (parent)
		parent->unseen = true;
	for (i = 0; i < NEST_LISTS; i++) {
		struct nest_list *list = nest->list[i];

		if (!list)
			continue;
		if (nest->before[i])
			nest->before[i]->after[i] = nest->after[i];
		else
			list->first = nest->after[i];
		if (nest->after[i])
			nest->after[i]->before[i] = nest->before[i];
		else
			list->last = nest->before[i];
		if (!list->last)
			elog_map_remove(&nesting->maps[i], list);
		nest->list[i] = NULL;
	}
}

/* Are spans of one kind among a span and those of its thread before it? */
static bool is_loop(const struct nest *nest)
{
	const struct nest *one, *other;
	unsigned int depth = 0;

	for (one = nest; one; one = one->before[NEST_THREAD]) {
		if (depth++ > NESTING_DEPTH)
			return true;
		for (other = nest; other != one; other = other->before[NEST_THREAD])
			if (other->kind == one->kind)
				return true;
	}
	return false;
}

struct nest *nesting_parent(const struct nest *nest)
{
	if (nest->before[NEST_SESSION])
		return nest->before[NEST_SESSION];
	return is_loop(nest) ? NULL : nest->before[NEST_THREAD];
}

struct nest *nesting_innermost(const struct nesting *nesting, struct elog_map_key session)
{
	const struct nest_list *list = elog_map_find(&nesting->maps[NEST_SESSION], session);

	return list ? list->last : NULL;
}

struct nest *nesting_outermost(const struct nesting *nesting, struct elog_map_key session)
{
	const struct nest_list *list = elog_map_find(&nesting->maps[NEST_SESSION], session);

	return list ? list->first : NULL;
}
