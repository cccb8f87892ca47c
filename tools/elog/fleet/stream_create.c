// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creating the stream that elog ship sends to: see stream_create.h.
 *
 * Without a limit, a stream grows until the disks of the servers are full, and then refuses
 * what the hosts send. So there is always a limit of age, unless the user wants none. There is
 * no default limit of size, because the size of the disks is not known.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fleet/stream_create.h"
#include "nats/stream.h"
#include "util/array.h"
#include "util/signals.h"
#include "util/time_spec.h"
#include "util/tool.h"

#define SUBJECT		"elog.>"
#define DAY_NS		(86400 * 1000000000ULL)
#define AGE_MIN_NS	1000000000
#define MAX_AGE_NS	(7 * DAY_NS)
#define REPLICAS	3	/* if there are as many servers */
#define TRIES		50	/* a cluster that starts has no leader yet */
#define WAIT_MS		200	/* between two tries */

static bool parse_none(const char *text, uint64_t *limit)
{
	*limit = STREAM_LIMIT_NONE;
	return !strcmp(text, "none");
}

const char *stream_parse_age(const char *text, uint64_t *limit)
{
	const char *wrong;
	int64_t span = 0;

	if (parse_none(text, limit))
		return NULL;
	wrong = time_span_parse(text, &span);
	*limit = (uint64_t)span;
	return wrong || span >= AGE_MIN_NS ? wrong : text;
}

bool stream_parse_bytes(const char *text, uint64_t *limit)
{
	if (parse_none(text, limit))
		return true;
	return parse_size(text, limit) && *limit && *limit <= INT64_MAX;
}

/* Append the largest unit that divides the time. */
static void put_age(struct elog_text *text, uint64_t nanoseconds)
{
	static const struct {
		const char *name;
		uint64_t nanoseconds;
	} units[] = {
		{ "d", DAY_NS }, { "h", DAY_NS / 24 }, { "m", DAY_NS / 1440 },
		{ "s", DAY_NS / 86400 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 },
	};
	size_t i = 0;

	while (nanoseconds % units[i].nanoseconds)
		i++;
	elog_text_printf(text, "%" PRIu64 "%s", nanoseconds / units[i].nanoseconds,
			 units[i].name);
}

/* Append a size as --max-bytes takes it. */
static void put_bytes(struct elog_text *text, uint64_t bytes)
{
	static const char suffixes[] = "\0KMG";
	unsigned int i = 0;

	while (i < 3 && !(bytes % 1024)) {
		bytes /= 1024;
		i++;
	}
	elog_text_printf(text, "%" PRIu64 "%.1s", bytes, suffixes + i);
}

/* How a limit is shown. */
static void put_limit(struct elog_text *text, const char *name, uint64_t value,
		      void (*put)(struct elog_text *text, uint64_t value))
{
	elog_text_printf(text, "%s ", name);
	if (value)
		put(text, value);
	else
		elog_text_string(text, "none");
}

static void put_count(struct elog_text *text, uint64_t count)
{
	elog_text_printf(text, "%" PRIu64, count);
}

void stream_put_limits(struct elog_text *text, const struct transport_limits *limits)
{
	put_limit(text, "replicas", limits->replicas, put_count);
	put_limit(text, ", max age", (uint64_t)limits->max_age, put_age);
	put_limit(text, ", max bytes", limits->max_bytes, put_bytes);
}

/* Append a limit that differs from the one that was chosen. */
static void put_other(struct elog_text *text, const char *name, uint64_t wanted, uint64_t found,
		      void (*put)(struct elog_text *text, uint64_t value))
{
	if (!wanted)
		return;
	wanted = wanted == STREAM_LIMIT_NONE ? 0 : wanted;
	if (wanted == found)
		return;
	elog_text_string(text, text->size ? "; " : "");
	put_limit(text, name, found, put);
	put_limit(text, ", not", wanted, put);
}

/* Return: 0 or -EEXIST, and the limits that differ were printed. */
static int compare(const struct stream_wanted *wanted, const struct transport_limits *found)
{
	struct elog_text text = { 0 };
	bool other;

	put_other(&text, "replicas", wanted->replicas, found->replicas, put_count);
	put_other(&text, "max age", wanted->max_age, (uint64_t)found->max_age, put_age);
	put_other(&text, "max bytes", wanted->max_bytes, found->max_bytes, put_bytes);
	other = text.size;
	if (other)
		elog_error("the stream %s exists, and was not changed: %s", STREAM_DEFAULT,
			   text.data);
	elog_text_free(&text);
	return other ? -EEXIST : 0;
}

static void report(bool created, const struct transport_limits *found)
{
	struct elog_text text = { 0 };

	stream_put_limits(&text, found);
	fprintf(stderr, "elog: %s the stream %s%s: %s\n", created ? "created" : "found",
		STREAM_DEFAULT, created ? "" : ", and did not change it", text.data ? : "");
	if (created && !found->max_bytes)
		elog_hint("set --max-bytes, so that it does not fill the disks of the servers");
	elog_text_free(&text);
}

static unsigned int count_servers(const char *url)
{
	unsigned int count = 1;

	for (; *url; url++)
		count += *url == ',';
	return count;
}

static uint64_t limit_of(uint64_t wanted, uint64_t by_default)
{
	return wanted == STREAM_LIMIT_NONE ? 0 : wanted ? : by_default;
}

int stream_create(const struct transport_ops *ops, struct transport *transport, const char *url,
		  const struct stream_wanted *wanted, bool quiet)
{
	const struct transport_limits limits = {
		.replicas = wanted->replicas ? : count_servers(url) < REPLICAS ? 1 : REPLICAS,
		.max_age = (int64_t)limit_of(wanted->max_age, MAX_AGE_NS),
		.max_bytes = limit_of(wanted->max_bytes, 0),
	};
	char why[TRANSPORT_WHY_MAX], denied[TRANSPORT_WHY_MAX];
	struct transport_limits found;
	int ret, tries;

	for (tries = 1; ; tries++) {
		ret = ops->create(transport, STREAM_DEFAULT, SUBJECT, &limits, &found, why);
		if (ret >= 0)
			break;
		/* A request that is not permitted gets no reply. */
		if (ops->take_error(transport, denied) &&
		    strcasestr(denied, "permissions violation")) {
			elog_error("%s", denied);
			return -EACCES;
		}
		if (ret != -EAGAIN || tries == TRIES) {
			elog_error("%s", why);
			return ret;
		}
		signals_sleep(WAIT_MS);
		if (signals_stops())
			return -EINTR;
	}
	if (!ret && compare(wanted, &found))
		return -EEXIST;
	if (!quiet && (ret || wanted->report))
		report(ret, &found);
	return 0;
}
