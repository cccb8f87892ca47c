/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Names and values that are unique in a scope, for the parser of schemas. The first few are
 * searched one by one, which is faster than hashing. The others are in a map, so that the
 * time is proportional to the length even of a hostile text.
 *
 * No locks: they belong to one parser.
 */
#ifndef ELOG_USES_H
#define ELOG_USES_H

#include "util/map.h"

#define ELOG_USES_FEW	24

/**
 * struct elog_use - an object with a name or a value
 * @scope: any address: uses of different scopes are different
 * @name: outlives the use; NULL: it has a value
 * @value: compared if @name is NULL
 * @object: the object
 */
struct elog_use {
	const void *scope;
	const char *name;
	uint64_t value;
	void *object;
};

/**
 * struct elog_uses - the uses
 * @count: of @few
 * @few: the first ones
 * @map: the others, void *
 */
struct elog_uses {
	unsigned int count;
	struct elog_use few[ELOG_USES_FEW];
	struct elog_map map;
};

/** elog_uses_init() - start without uses; allocates nothing */
void elog_uses_init(struct elog_uses *uses);

/** elog_uses_free() - free the memory */
void elog_uses_free(struct elog_uses *uses);

/** elog_uses_find() - find the object of an equal use; NULL: there is none */
void *elog_uses_find(const struct elog_uses *uses, const struct elog_use *use);

/** elog_uses_add() - add a use; return 0, 1 if there is an equal one, or -ENOMEM */
int elog_uses_add(struct elog_uses *uses, const struct elog_use *use);

#endif /* ELOG_USES_H */
