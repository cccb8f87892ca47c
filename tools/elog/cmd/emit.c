// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog emit: write an event, for scripts and experiments.
 *
 * Only the kernel parses the types of fields: the event is registered, and the kernel's
 * description of it gives the layout of the payload.
 *
 * A script must not fail because its events cannot be recorded: without --strict, only wrong
 * arguments are errors. While the module is being replaced, this tries again.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/emit_lines.h"
#include "cmd/register.h"
#include "cmd/verb.h"
#include "libelog/util/port.h"
#include "util/nearest.h"

struct emission {
	const struct options *options;
	char *provider;			/* NULL: the default one */
	const char *name;
	const char *fields;		/* as given; "" without */
	char **values;			/* "FIELD=VALUE" */
	int value_count;
	struct elog_producer *producer;
	struct elog_event *event;	/* of @producer */
	bool registered;		/* it was, at least once */
	struct elog_schema *schema;
	struct elog_payload payload;
	unsigned char *buffer;
	size_t size;			/* of the payload in it */
	uint64_t written;		/* events so far */
	bool replaced;			/* the module is being replaced, or its node is made */
	int error;			/* why the event cannot be emitted; 0: its arguments are wrong */
};

/* Twice the maximum: composing dynamic fields needs additional room. */
#define BUFFER_BYTES	(2 * EVENTLOG_PAYLOAD_MAX)

#define REPLACED_NS	3000000000ULL	/* try so long while the module is being replaced */
#define PAUSE_NS	10000000

static bool parse_command_line(struct emission *emission)
{
	const struct options *options = emission->options;

	if (!options->argument_count) {
		elog_error("PROVIDER/EVENT is missing");
		return false;
	}
	if (!split_name(options->arguments[0], &emission->provider,
			&emission->name))
		return false;
	emission->fields = "";
	emission->values = options->arguments + 1;
	emission->value_count = options->argument_count - 1;
	if (emission->value_count && !strchr(emission->values[0], '=')) {
		emission->fields = *emission->values++;
		emission->value_count--;
	}
	return true;
}

/* Remember an error that is not the caller's. Return: @error. */
static int fail(struct emission *emission, int error)
{
	emission->error = error;
	return error;
}

/* Are the event's name, types or values wrong? */
static bool is_wrong(int error)
{
	return error == -EINVAL || error == -E2BIG || error == -EPERM;
}

static struct registration registration_of(const struct emission *emission)
{
	return (struct registration){
		.title = emission->options->arguments[0],
		.provider = emission->provider,
		.name = emission->name,
		.fields = emission->fields,
		.level = emission->options->select.level,
		.keywords = emission->options->select.keywords,
	};
}

static int register_it(struct emission *emission)
{
	const struct registration registration = registration_of(emission);
	int ret = register_event(emission->producer, &registration, &emission->event);

	emission->registered |= !ret;
	if (!is_wrong(ret))
		return fail(emission, ret);
	explain_registration(emission->producer, &registration, ret);
	return ret;
}

static int get_schema(struct emission *emission)
{
	struct eventlog_describe describe = {
		.size = sizeof(describe),
		.descriptor = elog_event_descriptor(emission->event),
	};
	struct elog_schema_error error;
	int fd, ret;
	char *text;

	fd = elog_device_open(NULL);
	if (fd < 0)
		return fail(emission, fd);
	ret = elog_device_describe(fd, &describe, &text);
	elog_port_close(fd);
	if (ret)
		return fail(emission, ret);
	ret = elog_schema_parse(text, strlen(text), &emission->schema, &error);
	free(text);
	if (ret)
		elog_error("the kernel's description, line %u: %s", error.line,
			   ret == -ENOMEM ? "out of memory" : error.message);
	else if (!emission->schema->provider_count ||
		 !emission->schema->providers[0]->event_count)
		ret = -EPROTO;
	return ret;
}

static bool put_integer(struct emission *emission,
			const struct elog_schema_field *field, const char *text)
{
	const unsigned int bits = (unsigned int)field->size * 8;
	const int64_t most = (int64_t)(INT64_MAX >> (64 - bits));
	const uint64_t unsigned_most = UINT64_MAX >> (64 - bits);
	uint64_t value;
	char *end;
	bool range;

	if (!isdigit((unsigned char)text[*text == '-'])) {
		elog_error("%s=%s: this is not a number", field->name, text);
		return false;
	}
	errno = 0;
	if (*text == '-') {
		const int64_t negative = strtoll(text, &end, number_base(text));

		value = (uint64_t)negative;
		range = !errno && field->is_signed && negative >= -most - 1;
	} else {
		value = strtoull(text, &end, number_base(text));
		range = !errno && value <= (field->is_signed ? (uint64_t)most :
					    unsigned_most);
	}
	if (*end) {
		elog_error("%s=%s: this is not a number", field->name, text);
		return false;
	}
	if (!range) {
		if (field->is_signed)
			elog_error("%s=%s: out of range, %s holds %" PRId64 " to %" PRId64,
				   field->name, text, field->type_name, -most - 1,
				   most);
		else
			elog_error("%s=%s: out of range, %s holds 0 to %" PRIu64,
				   field->name, text, field->type_name,
				   unsigned_most);
		return false;
	}
	elog_payload_integer(&emission->payload, value,
			     (unsigned int)field->size);
	return true;
}

static int hex_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	digit = (char)tolower((unsigned char)digit);
	return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Return: number of bytes; -1 if @text is not hexadecimal. */
static ssize_t parse_hex(const char *text, unsigned char *bytes)
{
	ssize_t size = 0;
	int high, low;

	for (; *text; text += 2) {
		high = hex_value(text[0]);
		low = high < 0 ? -1 : hex_value(text[1]);
		if (low < 0)
			return -1;
		bytes[size++] = (unsigned char)(high << 4 | low);
	}
	return size;
}

static bool put_bytes(struct emission *emission,
		      const struct elog_schema_field *field, const char *text)
{
	unsigned char *bytes = calloc(1, strlen(text) / 2 + field->size + 1);
	ssize_t size = bytes ? parse_hex(text, bytes) : -1;
	bool fits = true;

	if (size < 0) {
		elog_error("%s=%s: bytes must be hexadecimal, two digits each",
			   field->name, text);
		free(bytes);
		return false;
	}
	if (field->type == ELOG_TYPE_BYTES && field->relative)
		elog_payload_bytes_rel(&emission->payload, bytes, (size_t)size);
	else if (field->type == ELOG_TYPE_BYTES)
		elog_payload_bytes(&emission->payload, bytes, (size_t)size);
	else if ((size_t)size > field->size)
		fits = false;
	else
		elog_payload_raw(&emission->payload, bytes, field->size);
	if (!fits)
		elog_error("%s: %zd bytes are too many, %s holds %zu",
			   field->name, size, field->type_name, field->size);
	free(bytes);
	return fits;
}

static bool put_value(struct emission *emission,
		      const struct elog_schema_field *field, const char *text)
{
	switch (field->type) {
	case ELOG_TYPE_UNSIGNED:
	case ELOG_TYPE_SIGNED:
		return put_integer(emission, field, text);
	case ELOG_TYPE_CHARS:
		if (strlen(text) > field->size) {
			elog_error("%s: '%s' is too long, %s holds %zu bytes",
				   field->name, text, field->type_name,
				   field->size);
			return false;
		}
		elog_payload_chars(&emission->payload, text, field->size);
		return true;
	case ELOG_TYPE_STRING:
		if (field->relative)
			elog_payload_string_rel(&emission->payload, text);
		else
			elog_payload_string(&emission->payload, text);
		return true;
	case ELOG_TYPE_OCTETS:
	case ELOG_TYPE_BYTES:
	case ELOG_TYPE_STRUCT:
		return put_bytes(emission, field, text);
	default:
		elog_error("%s: values of type %s are not supported", field->name,
			   field->type_name);
		return false;
	}
}

/* The value of a field; NULL unless the command line has exactly one. */
static const char *find_value(struct emission *emission,
			      const struct elog_schema_field *field)
{
	size_t size = strlen(field->name);
	const char *found = NULL;
	int i;

	for (i = 0; i < emission->value_count; i++) {
		if (strncmp(emission->values[i], field->name, size) ||
		    emission->values[i][size] != '=')
			continue;
		if (found) {
			elog_error("field %s has two values", field->name);
			return NULL;
		}
		found = emission->values[i] + size + 1;
	}
	if (!found)
		elog_error("field %s (%s) is missing", field->name, field->type_name);
	return found;
}

static bool is_field(const struct elog_schema_event *event, const char *value)
{
	size_t size, i;

	for (i = 0; i < event->field_count; i++) {
		size = strlen(event->fields[i]->name);
		if (!strncmp(event->fields[i]->name, value, size) &&
		    value[size] == '=')
			return true;
	}
	return false;
}

static void error_field(const struct elog_schema_event *event, const char *value)
{
	char *name = strndup(value, strcspn(value, "="));
	struct nearest nearest = { .sought = name };
	size_t i;

	for (i = 0; name && i < event->field_count; i++)
		nearest_offer(&nearest, event->fields[i]->name);
	nearest_error(&nearest, "no field '%s'", name ? name : value);
	nearest_free(&nearest);
	free(name);
}

static bool compose(struct emission *emission)
{
	const struct elog_schema_event *event =
		emission->schema->providers[0]->events[0];
	const char *value;
	bool good = true;
	ssize_t size;
	size_t k;
	int i;

	for (i = 0; i < emission->value_count; i++) {
		if (is_field(event, emission->values[i]))
			continue;
		if (strchr(emission->values[i], '='))
			error_field(event, emission->values[i]);
		else
			elog_error("'%s' is not FIELD=VALUE", emission->values[i]);
		good = false;
	}
	elog_payload_init(&emission->payload, emission->buffer, BUFFER_BYTES);
	for (k = 0; k < event->field_count; k++) {
		value = find_value(emission, event->fields[k]);
		good = value && put_value(emission, event->fields[k], value) &&
		       good;
	}
	if (!good)
		return false;
	size = elog_payload_end(&emission->payload);
	if (size < 0) {
		elog_error("the values exceed the maximum size of an event, %u bytes",
			   EVENTLOG_PAYLOAD_MAX);
		return false;
	}
	emission->size = (size_t)size;
	return true;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Return: false if the event was not enabled within the duration of -d. */
static bool wait_until_enabled(struct emission *emission)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	const uint64_t start = now();

	while (!elog_event_enabled(emission->event)) {
		if (emission->options->live.duration &&
		    now() - start >= emission->options->live.duration)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

static int write_events(struct emission *emission)
{
	const struct options *options = emission->options;
	const uint64_t session = options->select.sessions.count ?
				 options->select.sessions.values[0] : 0;
	const uint64_t count = options->count ? options->count : 1;
	struct iovec part = {
		.iov_base = emission->buffer,
		.iov_len = emission->size,
	};
	int ret = 0;

	while (emission->written < count && !ret) {
		ret = elog_event_write(emission->event, session, &part, 1);
		emission->written += !ret;
	}
	/* The library has given the device up: the event may have a listener. */
	if (ret == -EBADF && elog_event_error(emission->event))
		ret = -ESHUTDOWN;
	if (ret && ret != -EBADF)
		return fail(emission, ret);
	if (options->verbose && emission->written)
		elog_hint("emitted %" PRIu64 " of %s", emission->written, options->arguments[0]);
	if (options->verbose && ret)
		elog_hint("%s has no listeners", options->arguments[0]);
	return 0;
}

/* Return: 0, or a negative errno; the reason was printed, except that of @error. */
static int try_to_emit(struct emission *emission)
{
	int ret = elog_producer_open(&emission->producer, NULL);

	emission->error = 0;
	if (ret) {
		elog_error("out of memory");
		return ret;
	}
	ret = elog_producer_connect(emission->producer);
	if (ret)
		return fail(emission, ret);
	ret = register_it(emission);
	if (!ret)
		ret = get_schema(emission);
	if (ret)
		return ret;
	if (!compose(emission))
		return -EINVAL;
	if (emission->options->wait && !wait_until_enabled(emission)) {
		elog_error("%s was not enabled in that time", emission->options->arguments[0]);
		return -ETIMEDOUT;
	}
	return write_events(emission);
}

static void forget(struct emission *emission)
{
	elog_schema_free(emission->schema);
	elog_producer_close(emission->producer);
	emission->schema = NULL;
	emission->producer = NULL;
	emission->event = NULL;
}

/*
 * Is the module being replaced? Then there is no device for a moment, and the next one gets
 * its owner and mode from udev. Without a module nothing comes that is worth waiting for.
 */
static bool is_replaced(struct emission *emission)
{
	const int error = emission->error;

	emission->replaced |= error == -ESHUTDOWN ||
			      ((error == -ENXIO || error == -ENODEV) && emission->registered);
	return emission->replaced && (error == -ESHUTDOWN || error == -ENOENT || error == -ENXIO ||
				      error == -ENODEV || error == -EACCES);
}

static void explain(struct emission *emission)
{
	const struct registration registration = registration_of(emission);

	if (emission->error == -EDQUOT || emission->error == -ENOSPC)
		explain_registration(emission->producer, &registration, emission->error);
	else
		explain_device_error(emission->error, PURPOSE_PRODUCE);
}

static int emit(struct emission *emission)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	const struct options *options = emission->options;
	const char *variable = getenv("ELOG_STRICT");
	const bool strict = options->strict || options->wait ||
			    (variable && *variable && strcmp(variable, "0") != 0);
	const uint64_t start = now();
	int ret;

	if (options->select.sessions.count > 1) {
		elog_error("-s: an event has only one session");
		return STATUS_ERROR;
	}
	if (options->lines)
		return emit_lines(options, strict);
	if (!parse_command_line(emission))
		return STATUS_ERROR;
	emission->buffer = malloc(BUFFER_BYTES);
	if (!emission->buffer) {
		elog_error("out of memory");
		return STATUS_ERROR;
	}
	while ((ret = try_to_emit(emission)) && is_replaced(emission) &&
	       now() - start < REPLACED_NS) {
		forget(emission);
		nanosleep(&pause, NULL);
	}
	if (!ret)
		return STATUS_OK;
	if (emission->error && (strict || options->verbose))
		explain(emission);
	return emission->error && !strict ? STATUS_OK : STATUS_ERROR;
}

static int run_emit(const struct options *options)
{
	struct emission emission = { .options = options };
	int status;

	if (options->select.keyword_names) {
		elog_error("-k: '%s': keywords of a new event must be numbers",
			   options->select.keyword_names);
		return STATUS_ERROR;
	}
	status = emit(&emission);
	forget(&emission);
	free(emission.provider);
	free(emission.buffer);
	return status;
}

static const struct verb_option emit_options[] = {
	{ 's', "the event's session; default 0, none" },
	{ 'l', "the event's level: critical, error, warning, notice, info\n"
	  "(default), debug, verbose, or 1 to 7" },
	{ 'k', "the event's keywords, as a number" },
	{ 'n', "number of events to write; default 1" },
	{ OPTION_WAIT, NULL },
	{ OPTION_STRICT, "fail, and say why, if there is no module or no permission; --wait and\n"
	  "ELOG_STRICT=1 in the environment do so, too" },
	{ OPTION_STDIN, "emit each line of stdin, until its end, as an event with the\n"
	  "fields logger, message and fields; json: an object in each line" },
	{ 'd', "with --wait: fail after this time; may have fractions" },
	{ 'D', NULL },
	{ 'v', "print how many were written, or why none was" },
	{ 0, NULL },
};

const struct verb verb_emit = {
	.name = "emit",
	.summary = "write an event",
	.usage = "[OPTION...] [PROVIDER/]EVENT ['TYPE FIELD; ...'] [FIELD=VALUE...]\n"
		 "       COMMAND | elog emit --stdin[=json] [OPTION...] [PROVIDER/]EVENT",
	.description =
	"Registers an event, and writes it if it is enabled. Types: u8 u16 u32 u64 s8 s16\n"
	"s32 s64, char[N], unsigned char[N], __data_loc char[] (a string of any length),\n"
	"__data_loc unsigned char[] (bytes), struct NAME FIELD SIZE. Every field needs a\n"
	"value: a number, text, or, for bytes and structs, hexadecimal digits.\n"
	"\n"
	"  elog emit backup/done 'u64 bytes; __data_loc char[] path' bytes=4096 path=/srv\n"
	"\n"
	"With --stdin, each line of another program becomes an event, with its text in the field\n"
	"message. With --stdin=json, level, logger, message and other members of an object do.\n"
	"\n"
	"  node server.js | elog emit --stdin=json web/log\n"
	"\n"
	"Exit status: 0 success, also if there is no listener, or if there is no module or no\n"
	"permission; 1 an error in the arguments, or with --strict any error.\n",
	.options = emit_options,
	.run = run_emit,
};
