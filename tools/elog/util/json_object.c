// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading a JSON object: see json_object.h.
 */
#include <ctype.h>

#include "util/json_object.h"

#define DEPTH_MAX	64

static void skip_blanks(struct json_object *object)
{
	while (object->at < object->end && strchr(" \t\r\n", *object->at) && *object->at)
		object->at++;
}

static bool take(struct json_object *object, char wanted)
{
	if (object->at == object->end || *object->at != wanted)
		return false;
	object->at++;
	return true;
}

static bool take_word(struct json_object *object, const char *word)
{
	const size_t size = strlen(word);

	if ((size_t)(object->end - object->at) < size || memcmp(object->at, word, size))
		return false;
	object->at += size;
	return true;
}

static bool take_digits(struct json_object *object)
{
	const char *start = object->at;

	while (object->at < object->end && isdigit((unsigned char)*object->at))
		object->at++;
	return object->at > start;
}

static bool take_number(struct json_object *object)
{
	take(object, '-');
	if (!take(object, '0') && !take_digits(object))
		return false;
	if (take(object, '.') && !take_digits(object))
		return false;
	if (!take(object, 'e') && !take(object, 'E'))
		return true;
	if (!take(object, '-'))
		take(object, '+');
	return take_digits(object);
}

static bool take_escape(struct json_object *object)
{
	const char escape = object->at < object->end ? *object->at++ : '\0';
	int i;

	if (escape != 'u')
		return escape && strchr("\"\\/bfnrt", escape);
	for (i = 0; i < 4; i++, object->at++)
		if (object->at == object->end || !isxdigit((unsigned char)*object->at))
			return false;
	return true;
}

static bool take_string(struct json_object *object)
{
	if (!take(object, '"'))
		return false;
	while (object->at < object->end) {
		const unsigned char character = (unsigned char)*object->at++;

		if (character == '"')
			return true;
		if (character < ' ' || (character == '\\' && !take_escape(object)))
			return false;
	}
	return false;
}

static bool take_value(struct json_object *object, unsigned int depth);

/* The members of an object or of an array, behind the bracket. */
static bool take_members(struct json_object *object, char close, unsigned int depth)
{
	if (depth >= DEPTH_MAX)
		return false;
	skip_blanks(object);
	if (take(object, close))
		return true;
	do {
		skip_blanks(object);
		if (close == '}') {
			if (!take_string(object))
				return false;
			skip_blanks(object);
			if (!take(object, ':'))
				return false;
		}
		if (!take_value(object, depth + 1))
			return false;
		skip_blanks(object);
	} while (take(object, ','));
	return take(object, close);
}

static bool take_value(struct json_object *object, unsigned int depth)
{
	skip_blanks(object);
	if (object->at == object->end)
		return false;
	switch (*object->at) {
	case '"':
		return take_string(object);
	case '{':
		object->at++;
		return take_members(object, '}', depth);
	case '[':
		object->at++;
		return take_members(object, ']', depth);
	case 't':
		return take_word(object, "true");
	case 'f':
		return take_word(object, "false");
	case 'n':
		return take_word(object, "null");
	default:
		return take_number(object);
	}
}

/* Behind the last member. */
static int end_object(struct json_object *object)
{
	skip_blanks(object);
	return object->at == object->end ? 0 : -1;
}

int json_object_next(struct json_object *object)
{
	if (!object->started) {
		if (!elog_is_text(object->at, object->end))
			return -1;
		skip_blanks(object);
		if (!take(object, '{'))
			return -1;
		skip_blanks(object);
		if (take(object, '}'))
			return end_object(object);
		object->started = true;
	} else {
		skip_blanks(object);
		if (take(object, '}'))
			return end_object(object);
		if (!take(object, ','))
			return -1;
		skip_blanks(object);
	}
	object->name = object->at + 1;
	if (!take_string(object))
		return -1;
	object->name_size = (size_t)(object->at - 1 - object->name);
	skip_blanks(object);
	if (!take(object, ':'))
		return -1;
	skip_blanks(object);
	object->value = object->at;
	if (!take_value(object, 0))
		return -1;
	object->value_size = (size_t)(object->at - object->value);
	return 1;
}

bool json_is_named(const struct json_object *object, const char *name)
{
	return strlen(name) == object->name_size && !memcmp(object->name, name, object->name_size);
}

static unsigned int hex4(const char *digits)
{
	unsigned int value = 0;
	int i, digit;

	for (i = 0; i < 4; i++) {
		digit = digits[i];
		digit = isdigit((unsigned char)digit) ? digit - '0' : (digit | 0x20) - 'a' + 10;
		value = value << 4 | (unsigned int)digit;
	}
	return value;
}

/* @at is at the "u", and the escape is valid. Return: the end of it, and of the second half. */
static const char *put_unicode(struct elog_text *text, const char *at, const char *end)
{
	unsigned int character = hex4(at + 1), low;

	if (character >= 0xd800 && character < 0xdc00 && end - at >= 11 && at[5] == '\\' &&
	    at[6] == 'u') {
		low = hex4(at + 7);
		if (low >= 0xdc00 && low < 0xe000) {
			elog_text_unicode(text, 0x10000 + ((character - 0xd800) << 10) +
					  (low - 0xdc00));
			return at + 11;
		}
	}
	if (character >= 0xd800 && character < 0xe000)
		elog_text_put(text, at - 1, 6);
	else
		elog_text_unicode(text, character);
	return at + 5;
}

void json_put_string(struct elog_text *text, const char *value, size_t size)
{
	static const char escapes[] = "bfnrt", characters[] = "\b\f\n\r\t";
	const char *at = value + 1, *end = value + size - 1, *next, *escape;

	if (!size || *value != '"') {
		elog_text_put(text, value, size);
		return;
	}
	while (at < end) {
		next = memchr(at, '\\', (size_t)(end - at));
		if (!next)
			next = end;
		elog_text_put(text, at, (size_t)(next - at));
		at = next + 1;
		if (next == end)
			break;
		if (*at == 'u') {
			at = put_unicode(text, at, end);
			continue;
		}
		escape = strchr(escapes, *at);
		elog_text_character(text, escape ? characters[escape - escapes] : *at);
		at++;
	}
}
