/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The names of the instances in a part of a .elog file: INSTANCE blocks have them, other
 * blocks have numbers. A table belongs to one reader or writer, and to its thread.
 */
#ifndef LIBELOG_INSTANCES_H
#define LIBELOG_INSTANCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A limit of this library, not of the format. */
#define ELOG_FILE_INSTANCES_MAX	8192

struct elog_instance_name;

/**
 * struct elog_instances - numbers and names
 * @entries: in the order in which they were added
 * @count: number of @entries
 */
struct elog_instances {
	struct elog_instance_name **entries;
	size_t count;
};

/** elog_instances_free() - forget all names */
void elog_instances_free(struct elog_instances *instances);

/** elog_instance_valid() - can this be the name of an instance? */
bool elog_instance_valid(const char *name, size_t size);

/**
 * elog_instances_add() - add a name
 * @instances: the table
 * @id: its number, not 0; a name that the number has stays
 * @name: the name, of @size bytes, as elog_instance_valid() accepts it
 *
 * Return: 0; -ENOSPC the table is full; -ENOMEM.
 */
int elog_instances_add(struct elog_instances *instances, uint32_t id, const char *name,
		       size_t size);

/** elog_instances_copy() - fill an empty table with the names of another; return 0 or -ENOMEM */
int elog_instances_copy(struct elog_instances *instances, const struct elog_instances *from);

/**
 * elog_instances_name() - get the name of a number
 * @instances: the table
 * @id: the number; without a name, it gets one from its digits
 * @name: set to the name, which stays until elog_instances_free(); NULL for 0
 *
 * Return: as elog_instances_add().
 */
int elog_instances_name(struct elog_instances *instances, uint32_t id, const char **name);

/**
 * elog_instances_number() - get the number of a name, and add it if it is new
 * @instances: the table of a writer, whose numbers count from 1
 * @name: the name; NULL: the root
 * @id: set to the number; 0 for the root
 *
 * Return: 0; -EINVAL @name is not valid; or as elog_instances_add().
 */
int elog_instances_number(struct elog_instances *instances, const char *name, uint32_t *id);

#endif /* LIBELOG_INSTANCES_H */
