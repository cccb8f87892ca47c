// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hosts whose events are merged: see hosts.h. A FILE block has the id of the machine and
 * the error of its clock, 0 if it is not known. Files without an id are of any machine.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/hosts.h"
#include "util/array.h"
#include "util/tool.h"

#define HOSTS_MAX	65536
#define ID_BYTES	40
#define NAME_BYTES	65

struct host {
	char id[ID_BYTES];
	char name[NAME_BYTES];
	uint64_t error;		/* the largest, ns */
	bool unknown;		/* the error is not always known */
};

struct hosts {
	struct host *hosts;
	size_t count;
};

struct hosts *hosts_new(void)
{
	return calloc(1, sizeof(struct hosts));
}

void hosts_free(struct hosts *hosts)
{
	if (hosts)
		free(hosts->hosts);
	free(hosts);
}

static struct host *find_host(struct hosts *hosts, const char *id)
{
	struct host *host;
	size_t i;

	for (i = 0; i < hosts->count; i++)
		if (!strcmp(hosts->hosts[i].id, id))
			return &hosts->hosts[i];
	host = array_grow(hosts->hosts, hosts->count, sizeof(*host));
	if (!host)
		return NULL;
	hosts->hosts = host;
	host += hosts->count++;
	*host = (struct host){ .error = 0 };
	snprintf(host->id, sizeof(host->id), "%s", id);
	return host;
}

int hosts_see(struct hosts *hosts, const struct elog_reader *reader)
{
	const char *id = elog_reader_info(reader, "machine_id");
	const char *name = elog_reader_info(reader, "host");
	const char *text = elog_reader_info(reader, "clock_error");
	const uint64_t error = text ? strtoull(text, NULL, 10) : 0;
	struct host *host;

	if (!id || strspn(id, "0") == strlen(id) || strlen(id) >= ID_BYTES ||
	    hosts->count == HOSTS_MAX)
		return 0;
	host = find_host(hosts, id);
	if (!host)
		return -ENOMEM;
	snprintf(host->name, sizeof(host->name), "%s", name ? name : id);
	host->unknown |= !error;
	if (error > host->error)
		host->error = error;
	return 0;
}

/* Of equal ones, take the first name. */
static bool is_worse(const struct host *host, const struct host *other)
{
	return !other || host->error > other->error ||
	       (host->error == other->error && strcmp(host->name, other->name) < 0);
}

/* The two largest errors: so far may the clocks of two hosts be apart. */
static void put_errors(const struct hosts *hosts, struct elog_text *text)
{
	const struct host *first = NULL, *second = NULL, *host;
	size_t i;

	for (i = 0; i < hosts->count; i++) {
		host = &hosts->hosts[i];
		if (host->unknown)
			continue;
		if (is_worse(host, first)) {
			second = first;
			first = host;
		} else if (is_worse(host, second)) {
			second = host;
		}
	}
	if (!second)
		return;
	elog_text_string(text, "events of ");
	put_quotable(text, first->name);
	elog_text_string(text, hosts->count > 2 ? ", " : " and ");
	put_quotable(text, second->name);
	if (hosts->count > 2)
		elog_text_printf(text, " and %zu other host%s", hosts->count - 2,
				 hosts->count > 3 ? "s" : "");
	elog_text_printf(text, " within %.3f ms may be in another order",
			 ((double)first->error + (double)second->error) / 1e6);
}

/* Hosts whose clocks may be wrong by any time. */
static void put_unknown(const struct hosts *hosts, struct elog_text *text)
{
	const struct host *first = NULL;
	size_t unknown = 0, i;

	for (i = 0; i < hosts->count; i++) {
		if (!hosts->hosts[i].unknown)
			continue;
		first = first ? first : &hosts->hosts[i];
		unknown++;
	}
	if (!unknown)
		return;
	elog_text_string(text, "the error of the clock of ");
	put_quotable(text, first->name);
	if (unknown > 1)
		elog_text_printf(text, " and %zu other host%s", unknown - 1,
				 unknown > 2 ? "s" : "");
	elog_text_string(text, " is not known: events may be in another order");
}

void hosts_report(const struct hosts *hosts)
{
	struct elog_text errors = { 0 }, unknown = { 0 };

	if (!hosts || hosts->count < 2)
		return;
	put_errors(hosts, &errors);
	put_unknown(hosts, &unknown);
	if (errors.data)
		fprintf(stderr, "elog: %s\n", errors.data);
	if (unknown.data)
		fprintf(stderr, "elog: %s\n", unknown.data);
	elog_text_free(&errors);
	elog_text_free(&unknown);
}
