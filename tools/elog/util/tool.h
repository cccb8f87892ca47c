/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all folders of elog use: error messages, numbers and text.
 *
 * The process has one thread. A consumer with a backlog has another one, which only
 * the library uses.
 */
#ifndef TOOL_H
#define TOOL_H

#include <elog.h>

#include "libelog/util/text.h"
#include "util/time_spec.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* Exit statuses, documented in elog(1) and by --help. */
enum status {
	STATUS_OK = 0,
	STATUS_ERROR = 1,		/* also wrong usage */
	STATUS_LOST = 2,		/* events were lost */
	STATUS_CANNOT_EXECUTE = 126,	/* as in shells */
	STATUS_NO_COMMAND = 127,
	STATUS_SIGNAL = 128,		/* plus the signal */
};

enum output_format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_CSV,
	FORMAT_PROMETHEUS,
	FORMAT_JSONL,
	FORMAT_PERFETTO,
	FORMAT_PARQUET,
	FORMATS,
};

enum color {
	COLOR_AUTO,
	COLOR_ALWAYS,
	COLOR_NEVER,
};

enum time_format {
	TIME_DEFAULT,			/* as TIME_MONO, unless the verb has another one */
	TIME_MONO,
	TIME_WALL,
	TIME_DELTA,
	TIME_UNIVERSAL,			/* universal time, in RFC 3339 format */
};

enum ids_format {
	IDS_DEFAULT,			/* hexadecimal */
	IDS_HEX,
	IDS_DECIMAL,
};

/**
 * struct number_list - the numbers of an option that may be repeated
 * @count: of @values
 * @values: allocated
 */
struct number_list {
	size_t count;
	uint64_t *values;
};

/**
 * struct string_list - the words of an option that may be repeated
 * @count: of @strings
 * @strings: allocated; they point into the command line
 */
struct string_list {
	size_t count;
	const char **strings;
};

/** tool_version() - the version of this build */
const char *tool_version(void);

/** elog_error_prefix() - set the VERB of elog_error() */
void elog_error_prefix(const char *verb);

/** elog_error() - print "elog VERB: ..." and a newline on stderr */
void elog_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** elog_hint() - the same without the prefix, indented below an error */
void elog_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** number_matches() - is @value in the list, or the list empty? */
bool number_matches(const struct number_list *list, uint64_t value);

/** number_base() - 16 for a number that starts with 0x, else 10: 010 is ten */
int number_base(const char *text);

/** parse_unsigned() - parse a number; false if it is invalid or greater than @most */
bool parse_unsigned(const char *text, uint64_t most, uint64_t *value);

/** parse_size() - parse a number that may have a suffix K, M or G; false if it is invalid */
bool parse_size(const char *text, uint64_t *value);

/** enum purpose - why the device was opened */
enum purpose {
	PURPOSE_QUERY,
	PURPOSE_PRODUCE,
	PURPOSE_CONSUME,
	PURPOSE_ADMINISTER,
	PURPOSE_MARKERS,
	PURPOSE_INSTANCES,
};

/**
 * explain_device_error() - print why the device cannot be used, and what helps
 * @error: of elog_device_open(), elog_producer_connect() or elog_consumer_open()
 * @purpose: why the device was opened
 */
void explain_device_error(int error, enum purpose purpose);

/** as_root() - what to write before a command for root: "sudo " or "" */
const char *as_root(void);

/**
 * explain_restriction() - say that the kernel shows only events of this user, if it does
 * @fd: the device, from which events were listed
 */
void explain_restriction(int fd);

/*
 * Invalid records in producer rings are counted like a cause of loss, but are no losses: a
 * program can claim any number of them. So they are shown apart, and change no exit status.
 */
#define CAUSE_INVALID	EVENTLOG_LOST_ABORTED

/**
 * put_causes() - append ": cause count, ...; count invalid records" of a loss
 * @lost: counts by cause
 * @count: elements of @lost
 * @text: to append to
 *
 * Return: the sum of the counts, without invalid records.
 */
uint64_t put_causes(const uint64_t *lost, unsigned int count, struct elog_text *text);

/** plural() - the ending of a noun after this number: "" or "s" */
static inline const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/** put_quotable() - append the name of a provider or an event, quoted if it is not plain */
void put_quotable(struct elog_text *text, const char *name);

/**
 * find_slash() - find the slash between the provider and the event
 * @glob: a name or a glob, with \ escapes
 *
 * Return: the first "/" that is not escaped, or the end.
 */
char *find_slash(const char *glob);

/**
 * glob_error() - find a mistake in a glob that would make it match nothing
 * @glob: the glob
 *
 * Return: the mistake, for a message, or NULL.
 */
const char *glob_error(const char *glob);

/** event_glob_error() - the same for both parts of PROVIDER[/EVENT] */
const char *event_glob_error(const char *glob);

/** put_seconds() - append "S.NNNNNNNNN", S being @width wide at least */
void put_seconds(struct elog_text *text, uint64_t nanoseconds, unsigned int width);

struct date;

/**
 * put_date() - append CLOCK_REALTIME ns
 * @text: the text
 * @date: all zeros at first, except @utc; keeps the last second, which is often the next one
 * @realtime: ns
 * @zone: append the zone of local time, too; that of universal time is never left out
 */
void put_date(struct elog_text *text, struct date *date, int64_t realtime, bool zone);

/** put_wall() - the same, for one time: local time, unless @format is TIME_UNIVERSAL */
void put_wall(struct elog_text *text, enum time_format format, int64_t realtime, bool zone);

/** time_is_wall() - is it a date, not a number of seconds? */
static inline bool time_is_wall(enum time_format format)
{
	return format == TIME_WALL || format == TIME_UNIVERSAL;
}

/** escape_cells() - put_cell() escapes what a terminal would not show as it is */
void escape_cells(bool escape);

/**
 * put_cell() - append a cell of comma-separated values
 * @text: the text
 * @data: the cell
 * @size: bytes of it
 *
 * A file gets the exact bytes, as RFC 4180 says; for a terminal see escape_cells().
 */
void put_cell(struct elog_text *text, const char *data, size_t size);

/** put_blanks() - append blanks */
void put_blanks(struct elog_text *text, size_t count);

/** fill_column() - append blanks until there are @width bytes since @from */
void fill_column(struct elog_text *text, size_t from, size_t width);

/**
 * text_print() - print a text on stdout, and free it
 *
 * Return: STATUS_OK; STATUS_ERROR no memory, which was reported.
 */
int text_print(struct elog_text *text);

/** json_member() - append "name":"value" */
void json_member(struct elog_text *text, const char *name, const char *value);

/** json_causes() - append "causes":{"cause":count,...} and "invalid":count, if any, of a loss */
void json_causes(const uint64_t *lost, unsigned int count, struct elog_text *text);

/**
 * add_causes() - add the counts of a loss to ELOG_LOST_CAUSES_MAX counts
 *
 * Return: the sum of the counts, without invalid records.
 */
uint64_t add_causes(uint64_t *lost, const struct elog_item *item);

/** sum_causes() - the sum of the first @count counts, without invalid records */
uint64_t sum_causes(const uint64_t *lost, unsigned int count);

#endif /* TOOL_H */
