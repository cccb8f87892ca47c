/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a JSON object in one line, member by member, without memory of its own.
 */
#ifndef JSON_OBJECT_H
#define JSON_OBJECT_H

#include "util/tool.h"

/**
 * struct json_object - the members of an object
 * @at: the next character
 * @end: the end of the text
 * @started: the first member was read
 * @name: of the member; it points into the text, behind the quote
 * @name_size: bytes before the other quote
 * @value: of the member, in the text: a string with its quotes, a number, an object and so on
 * @value_size: bytes of it
 */
struct json_object {
	const char *at, *end;
	bool started;
	const char *name;
	size_t name_size;
	const char *value;
	size_t value_size;
};

/**
 * json_object_next() - go to the next member
 * @object: at first only @at and @end are set
 *
 * Checks all that it passes, also the values in arrays, up to a depth of 64.
 *
 * Return: 1: a member; 0: the end of the object, and of the text; -1: this is not a JSON object in
 * UTF-8.
 */
int json_object_next(struct json_object *object);

/** json_is_named() - is this the name of the member? @name needs no escapes in JSON */
bool json_is_named(const struct json_object *object, const char *name);

/**
 * json_put_string() - append the text of a value
 * @text: to append to
 * @value: a valid value: of a string, its characters, which may include NUL; else as it is
 * @size: bytes of it
 *
 * An escaped half of a surrogate pair stays as it is.
 */
void json_put_string(struct elog_text *text, const char *value, size_t size);

#endif /* JSON_OBJECT_H */
