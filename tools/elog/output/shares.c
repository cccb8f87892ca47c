// SPDX-License-Identifier: GPL-2.0-only
/*
 * The shares that causes have of the time of pairs: see shares.h.
 */
#include <stdlib.h>

#include "output/shares.h"

#define SHOWN	0.0005		/* 0.1 % in text */

/* Adds the shares of a pair, so many times. */
static void add(struct shares *shares, const struct waits *waits, uint64_t duration, double times)
{
	const double whole = (double)waits_whole(waits, duration);
	unsigned int i;

	for (i = 0; i < INTERVAL_CAUSES && whole > 0; i++)
		shares->sums[i] += times * (double)waits->times[i] / whole;
}

static bool has_waits(const struct waits *waits)
{
	uint64_t any = 0;
	unsigned int i;

	for (i = 0; i < INTERVAL_CAUSES; i++)
		any |= waits->times[i];
	return any;
}

void shares_add(struct shares *shares, const struct waits *waits, uint64_t duration)
{
	shares->pairs++;
	shares->known += has_waits(waits);
	shares->several += waits_whole(waits, duration) > duration;
	add(shares, waits, duration, 1);
}

void shares_remove(struct shares *shares, const struct waits *waits, uint64_t duration)
{
	shares->pairs--;
	shares->known -= has_waits(waits);
	shares->several -= waits_whole(waits, duration) > duration;
	add(shares, waits, duration, -1);
}

struct shares shares_slowest(const struct shares buckets[HISTOGRAM_BUCKETS], uint64_t pairs)
{
	const uint64_t wanted = pairs / 100 + (pairs % 100 != 0);
	struct shares slowest = { 0 };
	size_t bucket = HISTOGRAM_BUCKETS;
	unsigned int i;

	while (bucket && slowest.pairs < wanted) {
		bucket--;
		slowest.pairs += buckets[bucket].pairs;
		slowest.known += buckets[bucket].known;
		slowest.several += buckets[bucket].several;
		for (i = 0; i < INTERVAL_CAUSES; i++)
			slowest.sums[i] += buckets[bucket].sums[i];
	}
	return slowest;
}

struct part {
	unsigned int what;
	double share;
};

static int compare(const void *one, const void *other)
{
	const struct part *a = one, *b = other;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return a->what < b->what ? -1 : a->what > b->what;
}

double shares_get(const struct shares *shares, unsigned int part)
{
	double share = 1;
	unsigned int i;

	if (!shares->known || part == SHARES_UNKNOWN)
		return !shares->known && part == SHARES_UNKNOWN;
	if (part != SHARES_ON_CPU)
		share = shares->sums[part] / (double)shares->pairs;
	for (i = 0; part == SHARES_ON_CPU && i < INTERVAL_CAUSES; i++)
		share -= shares->sums[i] / (double)shares->pairs;
	/* What was removed may leave an error of rounding. */
	return share > 0 ? share : 0;
}

/* The greatest is first. */
static void make_parts(const struct shares *shares, struct part parts[SHARES_PARTS])
{
	unsigned int i;

	for (i = 0; i < SHARES_PARTS; i++)
		parts[i] = (struct part){ .what = i, .share = shares_get(shares, i) };
	qsort(parts, SHARES_PARTS, sizeof(*parts), compare);
}

static const char *part_name(const struct part *part)
{
	return part->what == SHARES_ON_CPU ? "on CPU" : part->what == SHARES_UNKNOWN ? "unknown" :
	       interval_cause_name(part->what);
}

void shares_put_text(const struct shares *shares, struct elog_text *text)
{
	struct part parts[SHARES_PARTS];
	unsigned int i;

	make_parts(shares, parts);
	for (i = 0; i < SHARES_PARTS && parts[i].share >= SHOWN; i++)
		elog_text_printf(text, "%s%s %.1f %%", i ? ", " : "", part_name(&parts[i]),
				 100 * parts[i].share);
}

void shares_put_json(const struct shares *shares, struct elog_text *text)
{
	struct part parts[SHARES_PARTS];
	unsigned int i;

	make_parts(shares, parts);
	elog_text_string(text, "{");
	for (i = 0; i < SHARES_PARTS; i++)
		elog_text_printf(text, "%s\"%s\":%.6f", i ? "," : "", part_name(&parts[i]),
				 parts[i].share);
	elog_text_string(text, "}");
}
