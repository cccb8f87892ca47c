// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that wait for the event that ends them: see starts.h.
 *
 * Slots are numbered from 1, 0 is none. A slot is in a chain of those whose keys
 * have the same low bits, and either in the list of all by age, or, by @newer, in
 * that of the free ones.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/starts.h"

#define FIRST_SLOTS	256U	/* a power of two, as is their number ever after */

struct slot {
	struct siphash key;
	struct start start;
	uint32_t chain;
	uint32_t older;
	uint32_t newer;
};

struct starts {
	uint32_t most;
	uint32_t count;
	uint32_t size;		/* of @slots and @chains; a power of two */
	uint32_t used;		/* slots that ever were */
	uint32_t unused;	/* first free one of these */
	uint32_t oldest;
	uint32_t newest;
	struct slot *slots;	/* number N at N - 1 */
	uint32_t *chains;	/* first slot of each */
};

struct starts *starts_open(uint32_t most)
{
	struct starts *starts = calloc(1, sizeof(*starts));

	if (starts)
		starts->most = most;
	return starts;
}

void starts_close(struct starts *starts)
{
	if (!starts)
		return;
	free(starts->slots);
	free(starts->chains);
	free(starts);
}

static struct slot *slot_of(struct starts *starts, uint32_t number)
{
	return &starts->slots[number - 1];
}

static uint32_t *chain_of(struct starts *starts, const struct siphash *key)
{
	return &starts->chains[key->words[0] & (starts->size - 1)];
}

/* Twice as many chains and slots. */
static int grow(struct starts *starts)
{
	uint32_t size = starts->size ? 2 * starts->size : FIRST_SLOTS, number;
	uint32_t *chains, *chain;
	struct slot *slots;

	slots = realloc(starts->slots, size * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	starts->slots = slots;
	chains = calloc(size, sizeof(*chains));
	if (!chains)
		return -ENOMEM;
	free(starts->chains);
	starts->chains = chains;
	starts->size = size;
	for (number = starts->oldest; number;
	     number = slot_of(starts, number)->newer) {
		chain = chain_of(starts, &slot_of(starts, number)->key);
		slot_of(starts, number)->chain = *chain;
		*chain = number;
	}
	return 0;
}

/* Return: what refers to the slot of this key, 0 if there is none; or NULL. */
static uint32_t *find(struct starts *starts, const struct siphash *key)
{
	uint32_t *number;

	if (!starts->size)
		return NULL;
	for (number = chain_of(starts, key); *number;
	     number = &slot_of(starts, *number)->chain)
		if (!memcmp(&slot_of(starts, *number)->key, key, sizeof(*key)))
			break;
	return number;
}

static void remove_slot(struct starts *starts, uint32_t *reference)
{
	uint32_t number = *reference;
	struct slot *slot = slot_of(starts, number);

	*reference = slot->chain;
	if (slot->older)
		slot_of(starts, slot->older)->newer = slot->newer;
	else
		starts->oldest = slot->newer;
	if (slot->newer)
		slot_of(starts, slot->newer)->older = slot->older;
	else
		starts->newest = slot->older;
	slot->newer = starts->unused;
	starts->unused = number;
	starts->count--;
}

static uint32_t take_unused(struct starts *starts)
{
	uint32_t number = starts->unused;

	if (!number)
		return ++starts->used;
	starts->unused = slot_of(starts, number)->newer;
	return number;
}

int starts_add(struct starts *starts, const struct siphash *key,
	       const struct start *start)
{
	enum starts_added added = STARTS_ADDED;
	uint32_t *reference = find(starts, key), number;
	struct slot *slot;

	if (reference && *reference) {
		remove_slot(starts, reference);
		added = STARTS_REPLACED;
	} else if (starts->count >= starts->most) {
		slot = slot_of(starts, starts->oldest);
		remove_slot(starts, find(starts, &slot->key));
		added = STARTS_EVICTED;
	}
	if (!starts->unused && starts->used == starts->size && grow(starts))
		return -ENOMEM;
	number = take_unused(starts);
	slot = slot_of(starts, number);
	slot->key = *key;
	slot->start = *start;
	reference = chain_of(starts, key);
	slot->chain = *reference;
	*reference = number;
	slot->newer = 0;
	slot->older = starts->newest;
	if (starts->newest)
		slot_of(starts, starts->newest)->newer = number;
	else
		starts->oldest = number;
	starts->newest = number;
	starts->count++;
	return (int)added;
}

int starts_take(struct starts *starts, const struct siphash *key,
		struct start *start)
{
	uint32_t *reference = find(starts, key);

	if (!reference || !*reference)
		return 0;
	*start = slot_of(starts, *reference)->start;
	remove_slot(starts, reference);
	return 1;
}

uint32_t starts_count(const struct starts *starts)
{
	return starts->count;
}

void starts_forget(struct starts *starts)
{
	if (!starts->count)
		return;
	memset(starts->chains, 0, starts->size * sizeof(*starts->chains));
	starts->count = 0;
	starts->used = 0;
	starts->unused = 0;
	starts->oldest = 0;
	starts->newest = 0;
}
