// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The names of the instances in a part of a .elog file: see instances.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/eventlog.h>

#include "file/instances.h"

struct elog_instance_name {
	uint32_t id;
	char name[EVENTLOG_INSTANCE_NAME_MAX];
};

void elog_instances_free(struct elog_instances *instances)
{
	while (instances->count)
		free(instances->entries[--instances->count]);
	free(instances->entries);
	instances->entries = NULL;
}

bool elog_instance_valid(const char *name, size_t size)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789_.-";
	size_t i;

	for (i = 0; i < size; i++)
		if (!name[i] || !strchr(letters, name[i]))
			return false;
	return size && size < EVENTLOG_INSTANCE_NAME_MAX && !strchr("_.-", *name);
}

static struct elog_instance_name *find(const struct elog_instances *instances, uint32_t id)
{
	size_t i;

	for (i = 0; i < instances->count; i++)
		if (instances->entries[i]->id == id)
			return instances->entries[i];
	return NULL;
}

int elog_instances_add(struct elog_instances *instances, uint32_t id, const char *name,
		       size_t size)
{
	struct elog_instance_name **larger, *entry;

	if (find(instances, id))
		return 0;
	if (instances->count == ELOG_FILE_INSTANCES_MAX)
		return -ENOSPC;
	entry = calloc(1, sizeof(*entry));
	larger = realloc(instances->entries, (instances->count + 1) * sizeof(*larger));
	if (larger)
		instances->entries = larger;
	if (!entry || !larger) {
		free(entry);
		return -ENOMEM;
	}
	entry->id = id;
	memcpy(entry->name, name, size);
	larger[instances->count++] = entry;
	return 0;
}

int elog_instances_copy(struct elog_instances *instances, const struct elog_instances *from)
{
	const struct elog_instance_name *entry;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < from->count; i++) {
		entry = from->entries[i];
		ret = elog_instances_add(instances, entry->id, entry->name, strlen(entry->name));
	}
	return ret;
}

int elog_instances_name(struct elog_instances *instances, uint32_t id, const char **name)
{
	char digits[16];
	int size, ret = 0;

	*name = NULL;
	if (!id)
		return 0;
	if (!find(instances, id)) {
		size = snprintf(digits, sizeof(digits), "#%" PRIu32, id);
		ret = elog_instances_add(instances, id, digits, (size_t)size);
	}
	if (!ret)
		*name = find(instances, id)->name;
	return ret;
}

int elog_instances_number(struct elog_instances *instances, const char *name, uint32_t *id)
{
	size_t i;

	*id = 0;
	if (!name)
		return 0;
	for (i = 0; i < instances->count; i++)
		if (!strcmp(instances->entries[i]->name, name)) {
			*id = instances->entries[i]->id;
			return 0;
		}
	if (!elog_instance_valid(name, strlen(name)))
		return -EINVAL;
	*id = (uint32_t)instances->count + 1;
	return elog_instances_add(instances, *id, name, strlen(name));
}
