// SPDX-License-Identifier: GPL-2.0-only
/*
 * What servers answer: see nats_answer.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nats/nats_answer.h"

#define SECOND_NS	1000000000LL
#define HEADERS_MAX	4096	/* bytes of a message's headers */

bool nats_parse_number(const char *text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = text && *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
	return text && *text >= '0' && *text <= '9' && !errno && !*end;
}

/* "2026-11-23T19:49:37.123456789Z"; the fraction may be shorter or missing. */
bool nats_parse_time(const char *text, int64_t *nanoseconds)
{
	int64_t fraction = 0, unit = SECOND_NS / 10;
	struct tm tm = { 0 };
	const char *end;

	end = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	if (!end || tm.tm_year < 70 || tm.tm_year > 292)
		return false;
	if (*end == '.')
		for (end++; *end >= '0' && *end <= '9'; end++, unit /= 10)
			fraction += (*end - '0') * unit;
	*nanoseconds = (int64_t)timegm(&tm) * SECOND_NS + fraction;
	return *end == 'Z' && !end[1];
}

bool nats_copy_text(char *to, size_t size, const char *text)
{
	return !text || snprintf(to, size, "%s", text) < (int)size;
}

bool nats_take_headers(struct transport_stored *stored, const struct nats_headers *headers)
{
	return headers->file && nats_copy_text(stored->file, sizeof(stored->file), headers->file) &&
	       nats_copy_text(stored->previous, sizeof(stored->previous), headers->previous) &&
	       nats_parse_number(headers->offset, &stored->offset) &&
	       (!headers->previous_size ||
		nats_parse_number(headers->previous_size, &stored->previous_size));
}

void nats_describe(const char *text, char *why)
{
	const char *value = strstr(text, "\"description\"");
	size_t length;

	value = value ? strchr(value + 13, '"') : NULL;
	length = value ? strcspn(value + 1, "\"") : 0;
	/* The text of the server does not say of what. */
	if (strstr(text, "\"err_code\":10023") || strstr(text, "\"err_code\":10047"))
		snprintf(why, TRANSPORT_WHY_MAX, "the server's disk is full, or it stores as much "
			 "as its max_file allows: %.*s", (int)length, length ? value + 1 : "");
	else if (strcasestr(text, "no space left"))
		snprintf(why, TRANSPORT_WHY_MAX, "the server's disk is full");
	else if (length)
		snprintf(why, TRANSPORT_WHY_MAX, "%.*s", (int)length, value + 1);
	else
		snprintf(why, TRANSPORT_WHY_MAX, "%.*s", TRANSPORT_WHY_MAX - 1, text);
}

void nats_read_reply(const char *text, struct transport_reply *reply)
{
	reply->stored = strstr(text, "\"seq\"") && !strstr(text, "\"error\"");
	reply->duplicate = reply->stored && strstr(text, "\"duplicate\"");
	if (!reply->stored)
		nats_describe(text, reply->why);
}

/* ------------------------------------------------------------------------
 * Replies of the leader: {"message":{"subject":"S","seq":1,"hdrs":"BASE64",...}}
 */

/* Find the value of a key, and end it with a NUL. Return: NULL: there is none. */
static char *json_value(char *text, const char *key)
{
	char name[32], *value;

	snprintf(name, sizeof(name), "\"%s\":", key);
	value = strstr(text, name);
	if (!value)
		return NULL;
	value += strlen(name);
	return value + (*value == '"');
}

static void end_value(char *value)
{
	if (value)
		value[strcspn(value, "\",}")] = '\0';
}

static int digit64(unsigned char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decode base64 in place. Return: the bytes; -1: it is not valid. */
static ssize_t decode64(char *text)
{
	static signed char digits[256];
	unsigned char *to = (unsigned char *)text;
	const unsigned char *from = to;
	uint32_t bits = 0;
	size_t count;
	int i;

	if (!digits['B'])
		for (i = 0; i < 256; i++)
			digits[i] = (signed char)digit64((unsigned char)i);
	for (count = 0; digits[*from] >= 0; from++) {
		bits = bits << 6 | (uint32_t)digits[*from];
		if (++count % 4)
			continue;
		*to++ = (unsigned char)(bits >> 16);
		*to++ = (unsigned char)(bits >> 8);
		*to++ = (unsigned char)bits;
	}
	if (strspn((const char *)from, "=") != -count % 4 || from[-count % 4] || count % 4 == 1)
		return -1;
	if (count % 4)
		*to++ = (unsigned char)(bits >> (count % 4 == 2 ? 4 : 10));
	if (count % 4 == 3)
		*to++ = (unsigned char)(bits >> 2);
	return to - (unsigned char *)text;
}

/* "NATS/1.0\r\nKEY: VALUE\r\n...": end each value with a NUL. */
static void parse_headers(char *text, struct nats_headers *headers)
{
	const struct {
		const char *key;
		const char **value;
	} keys[] = {
		{ "Elog-File: ", &headers->file },
		{ "Elog-Previous: ", &headers->previous },
		{ "Elog-Previous-Size: ", &headers->previous_size },
		{ "Elog-Offset: ", &headers->offset },
	};
	char *line, *next;
	size_t i;

	for (line = text; line; line = next) {
		next = strstr(line, "\r\n");
		if (next) {
			*next = '\0';
			next += 2;
		}
		for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			if (!strncmp(line, keys[i].key, strlen(keys[i].key)))
				*keys[i].value = line + strlen(keys[i].key);
	}
}

/* Return: false: the text is not valid. */
static bool parse_message(char *text, struct transport_stored *stored)
{
	char *subject = json_value(text, "subject"), *sequence = json_value(text, "seq");
	char *hdrs = json_value(text, "hdrs"), *data = json_value(text, "data");
	char *stamp = json_value(text, "time");
	struct nats_headers headers = { 0 };
	ssize_t size;

	end_value(subject);
	end_value(sequence);
	end_value(hdrs);
	end_value(data);
	end_value(stamp);
	if (!subject || !nats_parse_number(sequence, &stored->sequence) ||
	    !nats_parse_time(stamp, &stored->time) ||
	    !nats_copy_text(stored->subject, sizeof(stored->subject), subject) || !hdrs || !data)
		return false;
	size = decode64(hdrs);
	if (size < 0 || size > HEADERS_MAX)
		return false;
	hdrs[size] = '\0';
	parse_headers(hdrs, &headers);
	size = decode64(data);
	stored->data = (unsigned char *)data;
	stored->size = size < 0 ? 0 : (size_t)size;
	return size >= 0 && nats_take_headers(stored, &headers);
}

void nats_read_message(char *text, struct transport_stored *stored)
{
	if (strstr(text, "\"error\":{")) {
		stored->error = strstr(text, "\"code\":404") ? -ENOENT : -EAGAIN;
		nats_describe(text, stored->why);
	} else if (!parse_message(text, stored)) {
		stored->error = -EBADMSG;
	}
}
