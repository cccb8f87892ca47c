// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is known of the instances of a live run: see instance_facts.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "input/instance_facts.h"
#include "input/names.h"
#include "libelog/util/map.h"
#include "util/array.h"

#define COUNT_EVERY	10	/* calls: others may have replaced as many definitions */

struct instance_fact *instance_facts_find(const struct instance_facts *facts, const char *name)
{
	size_t i;

	for (i = 0; i < facts->count; i++)
		if (!strcmp(facts->facts[i].name, name))
			return &facts->facts[i];
	return NULL;
}

void instance_facts_free(struct instance_facts *facts)
{
	free(facts->facts);
	memset(facts, 0, sizeof(*facts));
}

/* Return: the facts of a member, which may be new; NULL: no memory. */
static struct instance_fact *fact_of(struct instance_facts *facts, const struct member *member)
{
	const char *name = *member->name ? member->name : "-";
	struct instance_fact *fact = instance_facts_find(facts, name), *larger;

	if (!fact) {
		larger = array_grow(facts->facts, facts->count, sizeof(*larger));
		if (!larger)
			return NULL;
		facts->facts = larger;
		fact = &larger[facts->count++];
		fact->id = member->id + 1;
	}
	if (fact->id != member->id) {
		memset(fact, 0, sizeof(*fact));
		snprintf(fact->name, sizeof(fact->name), "%s", name);
		fact->id = member->id;
	}
	return fact;
}

static bool see_provider(void *context, const struct eventlog_definition *describe,
			 const struct elog_schema_event *event)
{
	(void)describe;
	return elog_map_get(context, elog_map_name(event->provider->name, 0));
}

static int count_providers(int fd, uint32_t *count)
{
	struct elog_map names;
	int ret;

	elog_map_init(&names, sizeof(uint64_t));
	ret = definitions_each(fd, see_provider, &names);
	*count = names.count;
	elog_map_free(&names);
	return ret;
}

static void set_user(struct instance_fact *fact, uint32_t uid)
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		snprintf(fact->user, sizeof(fact->user), "%s", user->pw_name);
	else
		snprintf(fact->user, sizeof(fact->user), "%" PRIu32, uid);
}

/* The owners of instances; the root belongs to the owner of its device. */
static void read_users(struct instance_facts *facts, int fd)
{
	struct eventlog_instance_info next = { .size = sizeof(next) };
	struct elog_list *list = NULL;
	struct stat root;
	const char *name;
	size_t i;

	for (i = 0; i < facts->count; i++)
		if (!facts->facts[i].id && !*facts->facts[i].user && !fstat(fd, &root))
			set_user(&facts->facts[i], root.st_uid);
	if (elog_list_open(fd, EVENTLOG_LIST_INSTANCES, 0, &list))
		return;
	while (!elog_list_next(list, &next, &name))
		for (i = 0; i < facts->count; i++)
			if (facts->facts[i].id == next.id && !*facts->facts[i].user)
				set_user(&facts->facts[i], next.owner);
	elog_list_close(list);
}

int instance_facts_read(struct instance_facts *facts, const struct live *live)
{
	const bool recount = facts->reads++ % COUNT_EVERY == 0;
	const struct member *member;
	struct instance_fact *fact;
	size_t i;
	int ret;

	for (i = 0; (member = live_member(live, i)); i++) {
		struct eventlog_info info = { .size = sizeof(info) };
		int fd = member->consumer ? elog_consumer_fd(member->consumer) : -1;

		fact = fact_of(facts, member);
		if (!fact)
			return -ENOMEM;
		fact->deleted = !member->consumer || member->deleted;
		if (fact->deleted || elog_device_info(fd, &info) ||
		    (info.events == fact->definitions && !recount))
			continue;
		fact->definitions = info.events;
		ret = count_providers(fd, &fact->providers);
		if (ret)
			return ret;
	}
	read_users(facts, elog_consumer_fd(live->consumer));
	return 0;
}
