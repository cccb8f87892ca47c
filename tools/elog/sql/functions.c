// SPDX-License-Identifier: GPL-2.0-only
/*
 * What elog adds to the language of SQLite: see functions.h. No state but that of an
 * aggregate, which belongs to SQLite.
 */
#include <stdlib.h>
#include <string.h>

#include "sql/functions.h"
#include "util/histogram.h"
#include "util/session_number.h"
#include "util/time_spec.h"

#if defined(ELOG_SQLITE_EXTENSION) || defined(ELOG_SQLITE)
#ifdef ELOG_SQLITE_EXTENSION
SQLITE_EXTENSION_INIT3
#endif

#define PERCENT		10000	/* percentages have four decimals */
#define FIRST_COUNT	64	/* values for which there is memory at first */

/*
 * struct percentile - the state of percentile()
 * @values: of all rows: integers until there is another number
 * @count: number of @values
 * @size: number of values for which there is memory
 * @part: the percentage
 * @is_real: @values are not integers
 * @error: there was an error, which SQLite knows
 */
struct percentile {
	union number {
		sqlite3_int64 integer;
		double real;
	} *values;
	sqlite3_uint64 count;
	sqlite3_uint64 size;
	unsigned int part;
	bool is_real;
	bool error;
};

static void fail(sqlite3_context *context, struct percentile *state, char *message)
{
	state->error = true;
	if (message)
		sqlite3_result_error(context, message, -1);
	else
		sqlite3_result_error_nomem(context);
	sqlite3_free(message);
}

static bool is_number(sqlite3_value *value)
{
	const int type = sqlite3_value_type(value);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/* Get the percentage, which must be the same in all rows. Return: false: it is none. */
static bool take_percentage(struct percentile *state, sqlite3_value *value)
{
	const double percentage = sqlite3_value_double(value);
	unsigned int part;

	if (!is_number(value) || !(percentage >= 0 && percentage <= 100))
		return false;
	part = (unsigned int)(percentage * PERCENT + 0.5);
	if (!state->size)
		state->part = part;
	return state->part == part;
}

static bool make_room(struct percentile *state)
{
	const sqlite3_uint64 size = state->size ? 2 * state->size : FIRST_COUNT;
	union number *values;

	if (state->count < state->size)
		return true;
	values = sqlite3_realloc64(state->values, size * sizeof(*values));
	if (!values)
		return false;
	state->values = values;
	state->size = size;
	return true;
}

static void take_number(struct percentile *state, sqlite3_value *value)
{
	union number *number = &state->values[state->count++];
	sqlite3_uint64 i;

	if (!state->is_real && sqlite3_value_type(value) == SQLITE_FLOAT) {
		for (i = 0; i < state->count - 1; i++)
			state->values[i].real = (double)state->values[i].integer;
		state->is_real = true;
	}
	if (state->is_real)
		number->real = sqlite3_value_double(value);
	else
		number->integer = sqlite3_value_int64(value);
}

static void percentile_step(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct percentile *state = sqlite3_aggregate_context(context, sizeof(*state));

	(void)count;
	if (!state || state->error)
		return;
	if (!take_percentage(state, values[1]))
		fail(context, state, sqlite3_mprintf("percentile(x, p): p must be a number from 0 "
						     "to 100, the same in all rows"));
	else if (sqlite3_value_type(values[0]) != SQLITE_NULL && !is_number(values[0]))
		fail(context, state, sqlite3_mprintf("percentile(x, p): x must be a number, not %s",
			sqlite3_value_type(values[0]) == SQLITE_TEXT ? "text" : "a blob"));
	else if (!make_room(state))
		fail(context, state, NULL);
	else if (is_number(values[0]))
		take_number(state, values[0]);
}

static int compare_integers(const void *a, const void *b)
{
	const sqlite3_int64 one = *(const sqlite3_int64 *)a, other = *(const sqlite3_int64 *)b;

	return one < other ? -1 : one > other;
}

static int compare_reals(const void *a, const void *b)
{
	const double one = *(const double *)a, other = *(const double *)b;

	return one < other ? -1 : one > other;
}

static void percentile_final(sqlite3_context *context)
{
	struct percentile *state = sqlite3_aggregate_context(context, 0);
	union number *found;

	if (state && state->count && !state->error) {
		qsort(state->values, state->count, sizeof(*state->values),
		      state->is_real ? compare_reals : compare_integers);
		found = &state->values[quantile_rank(state->count, state->part, 100 * PERCENT) - 1];
		if (state->is_real)
			sqlite3_result_double(context, found->real);
		else
			sqlite3_result_int64(context, found->integer);
	}
	if (state)
		sqlite3_free(state->values);
}

/* The nanoseconds of a span of time. */
static void dur(sqlite3_context *context, int count, sqlite3_value **values)
{
	const int type = sqlite3_value_type(values[0]);
	const char *text = (const char *)sqlite3_value_text(values[0]);
	int64_t nanoseconds;
	char *message;

	(void)count;
	if (type == SQLITE_NULL)
		return;
	if (text && type == SQLITE_TEXT &&
	    strlen(text) == (size_t)sqlite3_value_bytes(values[0]) &&
	    !time_span_parse(text, &nanoseconds)) {
		sqlite3_result_int64(context, nanoseconds);
		return;
	}
	message = sqlite3_mprintf(type == SQLITE_TEXT ? "dur(): %Q is not a span of time, as "
				  "'50ms' or '2h30m'; the units are ns, us, ms, s, m, min, h, d "
				  "and w" :
				  "dur(): %s is not a text, as '50ms'", text);
	sqlite3_result_error(context, message ? message : "dur()", -1);
	sqlite3_free(message);
}

/* ------------------------------------------------------------------------
 * Sessions
 */

bool sql_session_parse(const void *text, int size, uint64_t *session)
{
	char copy[SESSION_TEXT_BYTES];

	if (size <= 0 || size >= (int)sizeof(copy))
		return false;
	memcpy(copy, text, (size_t)size);
	copy[size] = '\0';
	return session_parse(copy, session);
}

/*
 * The order of the column session, and whether two values are equal: as numbers, however they
 * are written. What is no session is behind all sessions.
 */
static int compare_sessions(void *context, int size, const void *text, int other_size,
			    const void *other_text)
{
	uint64_t session, other;
	int least = size < other_size ? size : other_size, ret;
	bool is, other_is;

	(void)context;
	if (size == other_size && !memcmp(text, other_text, (size_t)size))
		return 0;
	is = sql_session_parse(text, size, &session);
	other_is = sql_session_parse(other_text, other_size, &other);
	if (is && other_is)
		return session < other ? -1 : session > other;
	if (is || other_is)
		return is ? -1 : 1;
	ret = memcmp(text, other_text, (size_t)least);
	return ret ? ret : size - other_size;
}

int sql_functions_register(sqlite3 *db)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	int ret = sqlite3_create_collation(db, "elog_session", SQLITE_UTF8, NULL,
					   compare_sessions);

	if (!ret)
		ret = sqlite3_create_function(db, "percentile", 2, flags, NULL, NULL,
					      percentile_step, percentile_final);
	return ret ? : sqlite3_create_function(db, "dur", 1, flags, NULL, dur, NULL, NULL);
}
#endif
