// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Unique names and values: see uses.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "format/uses.h"

void elog_uses_init(struct elog_uses *uses)
{
	uses->count = 0;
	elog_map_init(&uses->map, sizeof(void *));
}

void elog_uses_free(struct elog_uses *uses)
{
	/* It has memory only after the few are used up. */
	if (uses->count == ELOG_USES_FEW)
		elog_map_free(&uses->map);
}

static bool is_equal(const struct elog_use *one, const struct elog_use *other)
{
	if (one->scope != other->scope || !one->name != !other->name)
		return false;
	if (!one->name)
		return one->value == other->value;
	return *one->name == *other->name && !strcmp(one->name, other->name);
}

static struct elog_map_key key_of(const struct elog_use *use)
{
	const uint64_t words[] = { (uintptr_t)use->scope, use->value };

	return use->name ? elog_map_name(use->name, words[0]) :
			   elog_map_bytes(words, sizeof(words));
}

void *elog_uses_find(const struct elog_uses *uses, const struct elog_use *use)
{
	unsigned int i;
	void **slot;

	for (i = 0; i < uses->count; i++)
		if (is_equal(&uses->few[i], use))
			return uses->few[i].object;
	slot = uses->map.count ? elog_map_find(&uses->map, key_of(use)) : NULL;
	return slot ? *slot : NULL;
}

int elog_uses_add(struct elog_uses *uses, const struct elog_use *use)
{
	void **slot;

	if (elog_uses_find(uses, use))
		return 1;
	if (uses->count < ELOG_USES_FEW) {
		uses->few[uses->count++] = *use;
		return 0;
	}
	slot = elog_map_insert(&uses->map, key_of(use));
	if (!slot)
		return -ENOMEM;
	*slot = use->object;
	return 0;
}
