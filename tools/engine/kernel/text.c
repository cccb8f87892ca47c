// SPDX-License-Identifier: GPL-2.0-only
/*
 * Strings, hashes, sorting, random numbers: see klinux/text.h.
 */
#include <stdlib.h>
#include <sys/random.h>

#include "kernel/klinux.h"
#include "util/siphash.h"

unsigned int klinux_warnings;

void klinux_warn(const char *file, int line, const char *condition)
{
	fprintf(stderr, "engine: WARNING: %s:%d: %s\n", file, line, condition);
	klinux_warnings++;
}

const void *memchr_inv(const void *from, int byte, size_t bytes)
{
	const u8 *at = from;

	for (; bytes; at++, bytes--)
		if (*at != (u8)byte)
			return at;
	return NULL;
}

ssize_t strscpy(char *to, const char *from, size_t room)
{
	const size_t bytes = strnlen(from, room - 1);

	memcpy(to, from, bytes);
	to[bytes] = '\0';
	return from[bytes] ? -E2BIG : (ssize_t)bytes;
}

int kstrtoull(const char *text, unsigned int base, unsigned long long *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, (int)base);
	if (errno)
		return -ERANGE;
	return end == text || (*end && strcmp(end, "\n")) ? -EINVAL : 0;
}

/* A class of characters: "abc]", "a-z]", "!a]". Return: what follows ']'; NULL: there is none. */
static const char *match_class(const char *class, u8 c, bool *matches)
{
	const bool inverted = *class == '!';
	const char *at = class + inverted;

	*matches = inverted;
	do {
		const u8 from = (u8)*at++;
		u8 to = from;

		if (!from)
			return NULL;
		if (at[0] == '-' && at[1] && at[1] != ']') {
			to = (u8)at[1];
			at += 2;
		}
		if (from <= c && c <= to)
			*matches = !inverted;
	} while (*at != ']');
	return at + 1;
}

/*
 * Compares one element of a glob that is no '*' with a character, which may be the end.
 *
 * Return: what follows the element; NULL: they differ.
 */
static const char *match_one(const char *glob, char c)
{
	const char *next;
	bool matches;

	switch (*glob) {
	case '?':
		return c ? glob + 1 : NULL;
	case '[':
		next = match_class(glob + 1, (u8)c, &matches);
		if (next)
			return c && matches ? next : NULL;
		break;
	case '\\':
		glob++;
		break;
	}
	return *glob == c ? glob + 1 : NULL;
}

bool glob_match(const char *glob, const char *name)
{
	const char *star = NULL, *retry = NULL, *next;

	for (;;) {
		if (*glob == '*') {
			star = ++glob;
			retry = name;
			if (!*glob)
				return true;
			continue;
		}
		next = match_one(glob, *name);
		if (next && !*name)
			return true;
		if (next) {
			glob = next;
			name++;
		} else if (star && *retry) {
			glob = star;
			name = ++retry;
		} else {
			return false;
		}
	}
}

u64 siphash(const void *data, size_t bytes, const siphash_key_t *key)
{
	const struct elog_siphash secret = { .words = { key->key[0], key->key[1] } };

	return elog_siphash(&secret, data, bytes).words[0];
}

u64 siphash_4u64(u64 a, u64 b, u64 c, u64 d, const siphash_key_t *key)
{
	const u64 words[] = { a, b, c, d };

	return siphash(words, sizeof(words), key);
}

/* Users choose the keys: the start is a secret. */
u32 jhash(const void *key, u32 bytes, u32 initial)
{
	static siphash_key_t secret;

	if (!secret.key[0])
		get_random_bytes(&secret, sizeof(secret));
	return (u32)siphash(key, bytes, &secret) ^ initial;
}

void get_random_bytes(void *to, size_t bytes)
{
	if (getrandom(to, bytes, 0) != (ssize_t)bytes)
		abort();
}

struct sorting {
	int (*compare)(const void *left, const void *right, const void *context);
	const void *context;
};

static int compare_with(const void *left, const void *right, void *argument)
{
	const struct sorting *sorting = argument;

	return sorting->compare(left, right, sorting->context);
}

void klinux_sort(void *base, size_t count, size_t size,
		 int (*compare)(const void *left, const void *right, const void *context),
		 const void *context)
{
	struct sorting sorting = { compare, context };

	qsort_r(base, count, size, compare_with, &sorting);
}
