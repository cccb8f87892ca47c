// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of pointers by number: see klinux/numbers.h.
 */
#include "kernel/klinux.h"

#define LEVEL_BITS 6
#define LEVELS_MAX DIV_ROUND_UP(BITS_PER_LONG, LEVEL_BITS)

/* The nodes on the way to a number, from the leaf upwards. */
struct path {
	struct xa_node *nodes[LEVELS_MAX];
};

static unsigned int place_in(unsigned long index, unsigned int level)
{
	return index >> level * LEVEL_BITS & (XA_PLACES - 1);
}

/* The bits of an index above a level. */
static unsigned long above(unsigned long index, unsigned int level)
{
	return ++level < LEVELS_MAX ? index >> level * LEVEL_BITS : 0;
}

static bool has_levels(const struct xarray *table, unsigned long index)
{
	return table->levels && !above(index, table->levels - 1);
}

/*
 * Keeps what nodes say of those below them, and frees nodes that are empty, from a level of the
 * path upwards.
 */
static void update(struct xarray *table, struct path *path, unsigned long index, unsigned int level)
{
	for (; level < table->levels; level++) {
		struct xa_node *node = path->nodes[level];
		struct xa_node *parent = level + 1 < table->levels ? path->nodes[level + 1] : NULL;
		const unsigned int place = parent ? place_in(index, level + 1) : 0;

		if (parent)
			parent->full &= ~BIT(place);
		if (node->count && parent && node->full == U64_MAX)
			parent->full |= BIT(place);
		if (node->count)
			continue;
		free(node);
		if (parent) {
			parent->slots[place] = NULL;
			parent->count--;
		} else {
			table->root = NULL;
			table->levels = 0;
		}
	}
}

static bool add_levels(struct xarray *table, unsigned long index)
{
	struct xa_node *node;

	for (; !has_levels(table, index); table->levels++) {
		if (!table->root)
			continue;
		node = calloc(1, sizeof(*node));
		if (!node)
			return false;
		node->slots[0] = table->root;
		node->full = table->root->full == U64_MAX;
		node->count = 1;
		table->root = node;
	}
	return true;
}

/* @makes: nodes that are missing are made. Return: false: there is no way, or no memory. */
static bool find_path(struct xarray *table, unsigned long index, struct path *path, bool makes)
{
	struct xa_node *node = NULL, *next;
	unsigned int level;

	if (makes ? !add_levels(table, index) : !has_levels(table, index))
		return false;
	for (level = table->levels; level--; node = next) {
		next = node ? node->slots[place_in(index, level + 1)] : table->root;
		if (!next && makes)
			next = calloc(1, sizeof(*next));
		if (!next) {
			update(table, path, index, level + 1);
			return false;
		}
		path->nodes[level] = next;
		if (!node) {
			table->root = next;
		} else if (!node->slots[place_in(index, level + 1)]) {
			node->slots[place_in(index, level + 1)] = next;
			node->count++;
		}
	}
	return true;
}

static bool is_taken(const struct xa_node *leaf, unsigned long index)
{
	return leaf->full & BIT(place_in(index, 0));
}

static int put(struct xarray *table, unsigned long index, void *entry)
{
	struct xa_node *leaf;
	struct path path;

	if (!find_path(table, index, &path, true))
		return -ENOMEM;
	leaf = path.nodes[0];
	leaf->count += !is_taken(leaf, index);
	leaf->full |= BIT(place_in(index, 0));
	leaf->slots[place_in(index, 0)] = entry;
	update(table, &path, index, 0);
	return 0;
}

void xa_init_flags(struct xarray *table, unsigned int flags)
{
	*table = (struct xarray){ .first = flags & XA_FLAGS_ALLOC1 };
}

static void free_below(struct xa_node *node, unsigned int level)
{
	unsigned int place;

	for (place = 0; level && place < XA_PLACES; place++)
		if (node->slots[place])
			free_below(node->slots[place], level - 1);
	free(node);
}

void xa_destroy(struct xarray *table)
{
	if (table->root)
		free_below(table->root, table->levels - 1);
	table->root = NULL;
	table->levels = 0;
}

void *xa_load(struct xarray *table, unsigned long index)
{
	struct path path;

	if (!find_path(table, index, &path, false))
		return NULL;
	return path.nodes[0]->slots[place_in(index, 0)];
}

void *xa_store(struct xarray *table, unsigned long index, void *entry, gfp_t gfp)
{
	void *old = xa_load(table, index);

	return put(table, index, entry) ? ERR_PTR(-ENOMEM) : old;
}

void *xa_erase(struct xarray *table, unsigned long index)
{
	struct xa_node *leaf;
	struct path path;
	void *old;

	if (!find_path(table, index, &path, false))
		return NULL;
	leaf = path.nodes[0];
	old = leaf->slots[place_in(index, 0)];
	leaf->count -= is_taken(leaf, index);
	leaf->full &= ~BIT(place_in(index, 0));
	leaf->slots[place_in(index, 0)] = NULL;
	update(table, &path, index, 0);
	return old;
}

int xa_reserve(struct xarray *table, unsigned long index, gfp_t gfp)
{
	return xa_load(table, index) ? 0 : put(table, index, NULL);
}

void xa_release(struct xarray *table, unsigned long index)
{
	if (!xa_load(table, index))
		xa_erase(table, index);
}

/* The least number from @index on that is free. */
static unsigned long find_free(const struct xarray *table, unsigned long index)
{
	const struct xa_node *node = table->root;
	unsigned int level = table->levels, place;
	u64 free;

	while (node && has_levels(table, index)) {
		place = place_in(index, --level);
		free = ~node->full & ~0ULL << place;
		if (!free) {
			/* Behind all numbers of the node, from the root again. */
			index = (above(index, level) + 1) << (level + 1) * LEVEL_BITS;
			node = table->root;
			level = table->levels;
			continue;
		}
		if (__builtin_ctzll(free) != (int)place)
			index = (above(index, level) * XA_PLACES + __builtin_ctzll(free)) <<
				level * LEVEL_BITS;
		node = level ? node->slots[place_in(index, level)] : NULL;
	}
	return index;
}

int xa_alloc(struct xarray *table, u32 *index, void *entry, struct klinux_limit limit, gfp_t gfp)
{
	unsigned long number = find_free(table, max(limit.min, table->first));

	if (number > limit.max)
		return -EBUSY;
	*index = (u32)number;
	return put(table, number, entry);
}

void *xa_find(struct xarray *table, unsigned long *index, unsigned long last, int filter)
{
	const struct xa_node *node = table->root;
	unsigned int level = table->levels, place;
	unsigned long at = *index;

	while (node && has_levels(table, at)) {
		level--;
		for (place = place_in(at, level); place < XA_PLACES && !node->slots[place]; place++)
			;
		if (place == XA_PLACES) {
			/* Behind all numbers of the node, from the root again. */
			if (level + 1 == table->levels)
				return NULL;
			at = (above(at, level) + 1) << (level + 1) * LEVEL_BITS;
			node = table->root;
			level = table->levels;
			continue;
		}
		if (place != place_in(at, level))
			at = (above(at, level) * XA_PLACES + place) << level * LEVEL_BITS;
		if (at > last)
			return NULL;
		if (!level) {
			*index = at;
			return node->slots[place];
		}
		node = node->slots[place];
	}
	return NULL;
}

void *xa_find_after(struct xarray *table, unsigned long *index, unsigned long last, int filter)
{
	unsigned long after = *index + 1;
	void *entry = after ? xa_find(table, &after, last, filter) : NULL;

	if (entry)
		*index = after;
	return entry;
}
