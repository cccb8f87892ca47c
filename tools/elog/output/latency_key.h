/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What elog latency pairs events by, and groups pairs by: fields of the events, or
 * what every event has besides, such as its session.
 */
#ifndef LATENCY_KEY_H
#define LATENCY_KEY_H

#include "input/source.h"
#include "libelog/util/map.h"
#include "util/nearest.h"

#define LATENCY_NAMES_MAX	16	/* of --by */

/** enum latency_property - what every event has, as --by and --group name it */
enum latency_property {
	LATENCY_SESSION,
	LATENCY_PID,
	LATENCY_TID,
	LATENCY_CPU,
	LATENCY_PROVIDER,
	LATENCY_EVENT,
	LATENCY_COMM,
	LATENCY_FIELD,		/* none of these: a field */
};

/**
 * struct latency_name - a name that --by or --group gives
 * @name: the name
 * @property: what it means
 * @sought: a START, or an END, must have a field of this name
 * @found: and one has it
 * @nearest: names that are near, for the error message
 */
struct latency_name {
	const char *name;
	enum latency_property property;
	bool sought[2];
	bool found[2];
	struct nearest nearest;
};

/**
 * struct latency_key - what events are paired by
 * @names: names of --by
 * @count: number of @names
 * @by_provider: events of different providers are no pair
 * @words: what is paired by, for a report
 *
 * The rest belongs to latency_key.c.
 */
struct latency_key {
	struct latency_name names[LATENCY_NAMES_MAX];
	size_t count;
	bool by_provider;
	char *words;

	char *copy;			/* of --by, cut into names */
	struct elog_text bytes;		/* of the last key */
};

/**
 * latency_key_open() - parse --by
 * @key: zeroed; close it in any case
 * @by: the argument of --by; NULL: by session
 * @by_provider: do not pair events of different providers
 *
 * Return: 0; -EINVAL, after an error message; -ENOMEM.
 */
int latency_key_open(struct latency_key *key, const char *by, bool by_provider);

/** latency_key_close() - free what the key has */
void latency_key_close(struct latency_key *key);

/**
 * latency_key_make() - make the key of an event
 * @key: what events are paired by
 * @entry: the event; its cached definition remembers a part of the key in row_serial
 * @made: set to the key: of other values it is another one
 *
 * Return: 1; 0: the event lacks what is paired by; -ENOMEM.
 */
int latency_key_make(struct latency_key *key, const struct entry *entry,
		     struct elog_map_key *made);

/**
 * latency_key_session() - make the key that events of a session have
 * @key: what events are paired by: the session
 * @entry: an event of the same boot
 * @provider: of the session
 * @session: its number
 * @made: set to the key
 *
 * Return: 0, -ENOMEM.
 */
int latency_key_session(struct latency_key *key, const struct entry *entry, const char *provider,
			uint64_t session, struct elog_map_key *made);

/** latency_key_span() - make the key of spans with this hash of that of their session */
static inline struct elog_map_key latency_key_span(struct elog_map_key session,
						   struct elog_map_key hash)
{
	/* The hashes are keyed, so crafted names and sessions cannot make this collide. */
	session.words[0] ^= hash.words[0];
	session.words[1] ^= hash.words[1];
	return session;
}

/**
 * latency_key_format() - "name=value name=value", or members of a JSON object
 * @key: what events are paired by
 * @entry: the END
 * @format: of values
 *
 * Return: a string to be freed; NULL: no memory.
 */
char *latency_key_format(struct latency_key *key, const struct entry *entry,
			 enum output_format format);

/** latency_name_set() - parse a name; @text outlives it */
void latency_name_set(struct latency_name *name, const char *text);

/**
 * latency_name_see() - note whether a definition has the field
 * @name: its sought, found and nearest are updated
 * @event: the definition
 * @end: of an END, instead of a START
 */
void latency_name_see(struct latency_name *name, const struct elog_schema_event *event,
		      bool end);

/** latency_name_close() - free what the name has */
void latency_name_close(struct latency_name *name);

/**
 * latency_name_format() - the value that an END has
 * @name: what it is called
 * @entry: the END
 * @format: of values
 * @size: set to the bytes of the value
 *
 * Return: a string to be freed; NULL: no memory.
 */
char *latency_name_format(struct latency_name *name, const struct entry *entry,
			  enum output_format format, size_t *size);

#endif /* LATENCY_KEY_H */
