// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog emit --stdin: see emit_lines.h.
 *
 * The writer of the lines must not notice: this reads to the end also where nothing can be
 * emitted, because the writer gets SIGPIPE without a reader. It keeps at most LINE_BYTES of a line.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/emit_lines.h"
#include "cmd/register.h"
#include "util/json_object.h"
#include "util/signals.h"

#define LINE_BYTES	(1U << 20)
/* Bytes of fields: together less than EVENTLOG_PAYLOAD_MAX. */
#define LOGGER_BYTES	256
#define MESSAGE_BYTES	32768
#define FIELDS_BYTES	20480

struct lines {
	const struct options *options;
	struct registration registration;
	struct elog_producer *producer;
	struct elog_event *events[EVENTLOG_LEVEL_VERBOSE + 1];	/* of a level; NULL: not yet */
	struct elog_text logger, message, fields;	/* of the line */
	unsigned int level;				/* likewise */
	size_t left_out;				/* members of the line without room */
	char *buffer;			/* the start of a line that was not read to its end */
	size_t size;			/* of it */
	uint64_t beyond;		/* bytes of the line that had no room in it */
	uint64_t count, emitted;
	uint64_t wrong, first_wrong;	/* lines that are not JSON, and the number of the first */
	bool out_of_memory;
};

/* Names of other loggers. */
static const struct {
	const char *word;
	unsigned int level;
} level_words[] = {
	{ "trace", EVENTLOG_LEVEL_VERBOSE }, { "information", EVENTLOG_LEVEL_INFO },
	{ "err", EVENTLOG_LEVEL_ERROR }, { "crit", EVENTLOG_LEVEL_CRITICAL },
	{ "fatal", EVENTLOG_LEVEL_CRITICAL }, { "panic", EVENTLOG_LEVEL_CRITICAL },
	{ "alert", EVENTLOG_LEVEL_CRITICAL }, { "emerg", EVENTLOG_LEVEL_CRITICAL },
	{ "emergency", EVENTLOG_LEVEL_CRITICAL },
};

/* Return: the level; 0: not known. Numbers up to 7 are those of syslog, larger ones of pino. */
static unsigned int find_level(const char *value, size_t size)
{
	static const unsigned char syslog[] = {
		EVENTLOG_LEVEL_CRITICAL, EVENTLOG_LEVEL_CRITICAL, EVENTLOG_LEVEL_CRITICAL,
		EVENTLOG_LEVEL_ERROR, EVENTLOG_LEVEL_WARNING, EVENTLOG_LEVEL_NOTICE,
		EVENTLOG_LEVEL_INFO, EVENTLOG_LEVEL_DEBUG,
	};
	static const unsigned char pino[] = {
		EVENTLOG_LEVEL_VERBOSE, EVENTLOG_LEVEL_VERBOSE, EVENTLOG_LEVEL_DEBUG,
		EVENTLOG_LEVEL_INFO, EVENTLOG_LEVEL_WARNING, EVENTLOG_LEVEL_ERROR,
		EVENTLOG_LEVEL_CRITICAL,
	};
	char word[16];
	uint64_t number;
	size_t i;

	if (size >= 2 && *value == '"') {
		value++;
		size -= 2;
	}
	if (size >= sizeof(word))
		return 0;
	for (i = 0; i < size; i++)
		word[i] = (char)tolower((unsigned char)value[i]);
	word[size] = '\0';
	if (elog_level_parse(word))
		return elog_level_parse(word);
	for (i = 0; i < ARRAY_SIZE(level_words); i++)
		if (!strcmp(word, level_words[i].word))
			return level_words[i].level;
	if (!parse_unsigned(word, 1000, &number))
		return 0;
	if (number < ARRAY_SIZE(syslog))
		return syslog[number];
	return pino[number / 10 < ARRAY_SIZE(pino) ? number / 10 : ARRAY_SIZE(pino) - 1];
}

static void put_default(struct lines *lines, const char *line, size_t size)
{
	lines->logger.size = lines->message.size = lines->fields.size = lines->left_out = 0;
	lines->level = lines->registration.level;
	elog_text_put(&lines->message, line, size);
}

static void put_member(struct lines *lines, const struct json_object *object)
{
	const size_t size = object->name_size + object->value_size + sizeof("\"\": , ");

	if (lines->fields.size + size > FIELDS_BYTES) {
		lines->left_out++;
		return;
	}
	elog_text_string(&lines->fields, lines->fields.size ? ", \"" : "{\"");
	elog_text_put(&lines->fields, object->name, object->name_size);
	elog_text_string(&lines->fields, "\": ");
	elog_text_put(&lines->fields, object->value, object->value_size);
}

/* Return: false if the line is not a JSON object. */
static bool read_json(struct lines *lines, const char *line, size_t size)
{
	struct json_object object = { .at = line, .end = line + size };
	bool has_logger = false, has_message = false, has_level = false, is_string;
	unsigned int level;
	int ret;

	put_default(lines, "", 0);
	while ((ret = json_object_next(&object)) > 0) {
		is_string = *object.value == '"';
		if (!has_message && (json_is_named(&object, "message") ||
				     json_is_named(&object, "msg"))) {
			has_message = true;
			json_put_string(&lines->message, object.value, object.value_size);
			continue;
		}
		if (!has_logger && is_string && (json_is_named(&object, "logger") ||
						 json_is_named(&object, "name"))) {
			has_logger = true;
			json_put_string(&lines->logger, object.value, object.value_size);
			continue;
		}
		if (!has_level && (json_is_named(&object, "level") ||
				   json_is_named(&object, "severity"))) {
			level = find_level(object.value, object.value_size);
			if (level) {
				has_level = true;
				lines->level = level;
				continue;
			}
		}
		put_member(lines, &object);
	}
	if (lines->left_out)
		elog_text_printf(&lines->fields, "%s\"truncated\": %zu",
				 lines->fields.size ? ", " : "{", lines->left_out);
	if (lines->fields.size)
		elog_text_string(&lines->fields, "}");
	return !ret;
}

/* Make a string of it that is not too long: @beyond bytes are left out already. */
static void finish_text(struct elog_text *text, size_t limit, uint64_t beyond)
{
	struct elog_text whole = { 0 };
	const char *at = text->data, *end = at + text->size, *nul;

	while (at < end && (nul = memchr(at, '\0', (size_t)(end - at)))) {
		elog_text_put(&whole, at, (size_t)(nul - at));
		elog_text_string(&whole, "\\x00");
		at = nul + 1;
	}
	if (whole.data || whole.error) {
		elog_text_put(&whole, at, (size_t)(end - at));
		elog_text_free(text);
		*text = whole;
	}
	if (text->error || (text->size <= limit && !beyond))
		return;
	if (text->size > limit) {
		size_t start = limit;

		/* Not inside of a character. */
		while (start > limit - 4 && ((unsigned char)text->data[start] & 0xc0) == 0x80)
			start--;
		beyond += text->size - start;
		text->size = start;
	}
	elog_text_printf(text, " ... (%" PRIu64 " bytes more)", beyond);
}

/* Register the event for this level, unless it is. The library does it again for a new module. */
static int register_level(struct lines *lines, unsigned int level)
{
	const struct registration *registration = &lines->registration;
	struct elog_text command = { 0 };
	int ret;

	if (lines->events[level])
		return 0;
	elog_text_printf(&command, "%s %s", registration->name, registration->fields);
	ret = command.error;
	if (!ret)
		ret = elog_event_register(lines->producer, registration->provider, command.data,
					  level, registration->keywords, 0, &lines->events[level]);
	if (ret)
		lines->events[level] = NULL;
	elog_text_free(&command);
	return ret;
}

static void emit_line(struct lines *lines, const char *line, size_t size, uint64_t beyond)
{
	const struct number_list *sessions = &lines->options->select.sessions;
	static unsigned char buffer[EVENTLOG_PAYLOAD_MAX];
	struct elog_payload payload;
	struct iovec part;
	ssize_t bytes;

	lines->count++;
	if (lines->options->lines == LINES_TEXT) {
		put_default(lines, line, size);
	} else if (!size && !beyond) {
		return;
	} else if (beyond || !read_json(lines, line, size)) {
		if (!lines->wrong++)
			lines->first_wrong = lines->count;
		put_default(lines, line, size);
	}
	if (register_level(lines, lines->level) || !elog_event_enabled(lines->events[lines->level]))
		return;
	finish_text(&lines->logger, LOGGER_BYTES, 0);
	finish_text(&lines->message, MESSAGE_BYTES, beyond);
	if (lines->logger.error || lines->message.error || lines->fields.error) {
		lines->out_of_memory = true;
		return;
	}
	elog_payload_init(&payload, buffer, sizeof(buffer));
	elog_payload_string(&payload, lines->logger.size ? lines->logger.data : "");
	elog_payload_string(&payload, lines->message.size ? lines->message.data : "");
	elog_payload_string(&payload, lines->fields.size ? lines->fields.data : "");
	bytes = elog_payload_end(&payload);
	if (bytes < 0)
		return;
	part.iov_base = buffer;
	part.iov_len = (size_t)bytes;
	lines->emitted += !elog_event_write(lines->events[lines->level],
					    sessions->count ? sessions->values[0] : 0, &part, 1);
}

/* Without the CR of a line from elsewhere. */
static void end_line(struct lines *lines)
{
	const bool cr = !lines->beyond && lines->size && lines->buffer[lines->size - 1] == '\r';

	emit_line(lines, lines->buffer, lines->size - cr, lines->beyond);
	lines->size = 0;
	lines->beyond = 0;
}

static void take(struct lines *lines, const char *data, size_t size)
{
	const char *end = data + size, *newline;
	size_t part, room;

	while (data < end) {
		newline = memchr(data, '\n', (size_t)(end - data));
		part = (size_t)((newline ? newline : end) - data);
		room = LINE_BYTES - lines->size;
		memcpy(lines->buffer + lines->size, data, part < room ? part : room);
		lines->size += part < room ? part : room;
		lines->beyond += part < room ? 0 : part - room;
		data += part;
		if (!newline)
			return;
		end_line(lines);
		data++;
	}
}

/*
 * The key that stops a pipeline also goes to the writer, whose last lines are wanted. A second
 * signal, or one for this process alone, stops it.
 */
static bool is_stopped(void)
{
	bool from_terminal = false;
	const int stops = signals_stops();

	if (stops)
		signals_stop(&from_terminal);
	return stops > 1 || (stops && (!from_terminal || isatty(STDIN_FILENO)));
}

/* Return: 0, also after a signal, or a negative errno of reading. */
static int read_lines(struct lines *lines)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	static char data[65536];
	ssize_t size;

	/* poll(2) would wait forever for a file that cannot be read. */
	if (read(STDIN_FILENO, data, 0) < 0)
		return -errno;
	while (!is_stopped()) {
		if (signals_poll(&input, 1, -1) < 0 || is_stopped())
			continue;
		size = read(STDIN_FILENO, data, sizeof(data));
		if (size < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (size > 0)
			take(lines, data, (size_t)size);
		if (size)
			continue;
		if (lines->size || lines->beyond)
			end_line(lines);
		return 0;
	}
	return 0;
}

/* Return: false if nothing is to be read; the reason was printed. */
static bool start(struct lines *lines, bool strict)
{
	const unsigned int level = lines->registration.level;
	int ret = elog_producer_open(&lines->producer, NULL);

	if (ret) {
		elog_error("out of memory");
		return false;
	}
	ret = elog_producer_connect(lines->producer);
	if (ret && (strict || lines->options->verbose))
		explain_device_error(ret, PURPOSE_PRODUCE);
	if (ret && strict)
		return false;
	ret = register_level(lines, level);
	if (!ret && strict)
		ret = elog_event_error(lines->events[level]);
	if (ret)
		explain_registration(lines->producer, &lines->registration, ret);
	return !ret;
}

static bool check_arguments(struct lines *lines)
{
	const struct options *options = lines->options;

	if (options->wait || options->count) {
		elog_error("--stdin goes without --wait and -n");
		return false;
	}
	if (options->argument_count != 1) {
		elog_error(options->argument_count ? "--stdin takes only PROVIDER/EVENT" :
			   "PROVIDER/EVENT is missing");
		return false;
	}
	return true;
}

/* Return: does this make --strict fail? */
static bool report(const struct lines *lines)
{
	const char *title = lines->registration.title;

	if (lines->options->verbose)
		elog_hint("emitted %" PRIu64 " of %" PRIu64 " lines as %s", lines->emitted,
			  lines->count, title);
	if (lines->wrong)
		elog_error("%" PRIu64 " of %" PRIu64 " lines are no JSON objects, first line %"
			   PRIu64 ": they are messages as they are", lines->wrong, lines->count,
			   lines->first_wrong);
	if (lines->out_of_memory)
		elog_error("out of memory");
	return lines->wrong || lines->out_of_memory;
}

int emit_lines(const struct options *options, bool strict)
{
	struct lines lines = {
		.options = options,
		.registration = {
			.fields = "__data_loc char[] logger; __data_loc char[] message; "
				  "__data_loc char[] fields",
			.level = options->select.level ? : EVENTLOG_LEVEL_INFO,
			.keywords = options->select.keywords,
		},
	};
	int status = STATUS_ERROR, ret;
	char *provider = NULL;

	if (!check_arguments(&lines))
		return STATUS_ERROR;
	lines.registration.title = options->arguments[0];
	if (!split_name(options->arguments[0], &provider, &lines.registration.name))
		return STATUS_ERROR;
	lines.registration.provider = provider;
	lines.buffer = malloc(LINE_BYTES);
	if (!lines.buffer) {
		elog_error("out of memory");
		goto free;
	}
	if (!start(&lines, strict))
		goto free;
	signals_catch(0);
	ret = read_lines(&lines);
	if (ret)
		elog_error("stdin: %s", strerror(-ret));
	status = (report(&lines) && strict) || ret ? STATUS_ERROR : STATUS_OK;
free:
	elog_producer_close(lines.producer);
	elog_text_free(&lines.logger);
	elog_text_free(&lines.message);
	elog_text_free(&lines.fields);
	free(lines.buffer);
	free(provider);
	return status;
}
