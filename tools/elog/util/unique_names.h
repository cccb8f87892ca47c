/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of columns and the like for the fields of an event, where a field must not have the name
 * of another column. Inline, as session_number.h.
 */
#ifndef UNIQUE_NAMES_H
#define UNIQUE_NAMES_H

#include <stdbool.h>
#include <string.h>

#include "libelog/util/text.h"

/**
 * struct unique_names - the names; zero, but for @compare, when there are none
 * @compare: strcmp(), or the like where letters of any case are equal
 * @given: those of columns so far, each with its NUL
 * @fields: those of all fields, likewise
 */
struct unique_names {
	int (*compare)(const char *one, const char *other);
	struct elog_text given;
	struct elog_text fields;
};

/** unique_names_add() - add a name of @size bytes to one of the lists */
static inline void unique_names_add(struct elog_text *list, const char *name, size_t size)
{
	elog_text_put(list, name, size);
	elog_text_put(list, "", 1);
}

/** unique_names_have() - is a name in one of the lists? */
static inline bool unique_names_have(const struct unique_names *names,
				     const struct elog_text *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->size; i += strlen(list->data + i) + 1)
		if (!names->compare(list->data + i, name))
			return true;
	return false;
}

/**
 * unique_names_give() - give a field a name that no other column and no other field has
 * @names: the names; gets this one
 * @field: the field
 * @name: what the field would be called if there were no others; gets underscores
 *
 * Return: 0; -ENOMEM.
 */
static inline int unique_names_give(struct unique_names *names, const char *field,
				    struct elog_text *name)
{
	while (!name->error && (unique_names_have(names, &names->given, name->data) ||
				(strcmp(name->data, field) &&
				 unique_names_have(names, &names->fields, name->data))))
		elog_text_put(name, "_", 1);
	if (!name->error)
		unique_names_add(&names->given, name->data, name->size);
	return name->error ? : names->given.error ? : names->fields.error;
}

/** unique_names_free() - free the lists */
static inline void unique_names_free(struct unique_names *names)
{
	elog_text_free(&names->given);
	elog_text_free(&names->fields);
}

#endif /* UNIQUE_NAMES_H */
