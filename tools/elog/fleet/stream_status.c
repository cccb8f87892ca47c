// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a stream has of each host: see stream_status.h.
 *
 * The headers of all messages say how many bytes there are, and which are missing. Two messages
 * of each host are read whole: the last one, for the time until which there are events, and one
 * that begins a file, for the name of the host.
 *
 * What messages say is not trusted.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/stream_create.h"
#include "fleet/stream_status.h"
#include "libelog/file/blocks.h"
#include "nats/order.h"
#include "nats/stream.h"
#include "output/output.h"
#include "output/row.h"
#include "util/array.h"
#include "util/signals.h"
#include "util/time_spec.h"

#define TRIES		30	/* a second each, until a message comes */
#define REPLIES_MAX	64	/* messages that are asked for at the same time */
#define REPLY_MS	100
#define REPLY_TRIES	20	/* without any reply, until the rest is asked for again */
#define ASK_TRIES	5
#define HOST_BYTES	65
#define MESSAGES	2	/* of each host: enum wanted */

enum wanted { WANTED_LAST, WANTED_BEGINNING };

/*
 * struct machine - a host
 * @id: the machine id
 * @name: its name; "": not known
 * @captures: number of subjects, of which
 * @messages: were stored since the time, also those that came twice
 * @bytes: of files, without those that came twice
 * @gaps: places where something is missing
 * @missing: bytes there, as far as they are known
 * @invalid: messages that are not valid
 * @beginning: number of the latest message that begins a file; 0: none
 * @newest: number of the latest message that is more than the end of a file; 0: none
 * @before: of the one before that; a message may have no time: the end of a killed capture
 * @stored: when the last message was stored, CLOCK_REALTIME ns; 0: not known
 * @until: events before this time of the host are stored; 0: not known
 * @lag: from then until they were stored, ns
 * @answered: by enum wanted
 */
struct machine {
	char id[STREAM_MACHINE_BYTES];
	char name[HOST_BYTES];
	size_t captures;
	uint64_t messages;
	uint64_t bytes;
	uint64_t gaps;
	uint64_t missing;
	uint64_t invalid;
	uint64_t beginning;
	uint64_t newest;
	uint64_t before;
	int64_t stored;
	int64_t until;
	int64_t lag;
	bool answered[MESSAGES];
};

struct capture {
	char *subject;
	struct order *order;
	struct machine *machine;
};

/*
 * struct survey - the state
 * @captures: by subject, as tsearch() has them
 * @machines: by id, likewise
 * @list: the machines
 * @taken: a message came
 * @unread: number of messages that could not be read: their host is not known
 * @partial: the stream does not have the beginnings of all captures
 */
struct survey {
	const struct status_settings *settings;
	const struct transport_ops *ops;
	struct transport *transport;
	char stream[STREAM_NAME_BYTES];
	struct transport_info info;
	void *captures;
	void *machines;
	struct machine **list;
	size_t count;
	uint64_t unread;
	bool taken;
	bool partial;
};

/* ------------------------------------------------------------------------
 * Hosts and captures
 */

static int compare_machines(const void *one, const void *other)
{
	return strcmp(((const struct machine *)one)->id, ((const struct machine *)other)->id);
}

static int compare_captures(const void *one, const void *other)
{
	return strcmp(((const struct capture *)one)->subject,
		      ((const struct capture *)other)->subject);
}

static void free_capture(void *context)
{
	struct capture *capture = context;

	order_free(capture->order);
	free(capture->subject);
	free(capture);
}

/* Return: the host; NULL: no memory. */
static struct machine *get_machine(struct survey *survey, const char *id)
{
	struct machine *machine = calloc(1, sizeof(*machine)), **found, **larger;

	larger = array_grow(survey->list, survey->count, sizeof(struct machine *));
	if (larger)
		survey->list = larger;
	if (!machine || !larger) {
		free(machine);
		return NULL;
	}
	snprintf(machine->id, sizeof(machine->id), "%s", id);
	found = tsearch(machine, &survey->machines, compare_machines);
	if (found && *found == machine) {
		survey->list[survey->count++] = machine;
		return machine;
	}
	free(machine);
	return found ? *found : NULL;
}

/* Return: 1 and set @result; 0: it is no subject of elog ship; or -ENOMEM. */
static int get_capture(struct survey *survey, const char *subject, struct capture **result)
{
	const struct capture key = { .subject = (char *)subject };
	struct capture *capture, **found = tfind(&key, &survey->captures, compare_captures);
	char machine[STREAM_MACHINE_BYTES];

	if (found) {
		*result = *found;
		return 1;
	}
	if (!stream_split_subject(subject, machine))
		return 0;
	capture = calloc(1, sizeof(*capture));
	if (!capture)
		return -ENOMEM;
	capture->subject = strdup(subject);
	capture->order = order_new(survey->partial);
	capture->machine = get_machine(survey, machine);
	if (!capture->subject || !capture->order || !capture->machine ||
	    !tsearch(capture, &survey->captures, compare_captures)) {
		free_capture(capture);
		return -ENOMEM;
	}
	capture->machine->captures++;
	*result = capture;
	return 1;
}

static int take_subject(void *context, const char *subject)
{
	struct capture *capture;
	int ret = get_capture(context, subject, &capture);

	return ret < 0 ? ret : 0;
}

/* ------------------------------------------------------------------------
 * Counting
 */

/* Count what continues the capture. @final: nothing follows */
static int count_order(struct capture *capture, bool final)
{
	struct machine *machine = capture->machine;
	struct order_message message;
	struct order_gap gap;
	int ret;

	while ((ret = order_next(capture->order, final, &message, &gap)) > 0) {
		if (ret == 1) {
			machine->bytes += message.size - message.skip;
		} else {
			machine->gaps++;
			if (gap.to)
				machine->missing += gap.to - gap.from;
		}
	}
	return ret;
}

static int take_header(void *context, const struct transport_stored *stored)
{
	struct survey *survey = context;
	struct capture *capture;
	int ret;

	if (signals_stops())
		return -EINTR;
	survey->taken = true;
	if (!*stored->subject)
		survey->unread++;
	ret = get_capture(survey, stored->subject, &capture);
	if (ret <= 0)
		return ret;
	capture->machine->messages++;
	ret = stored->error ? stored->error : order_put(capture->order, stored);
	if (ret == -EBADMSG) {
		capture->machine->invalid++;
		return 0;
	}
	if (ret)
		return ret;
	if (!stored->offset)
		capture->machine->beginning = stored->sequence;
	if (stored->size > sizeof(struct elog_block_header) + sizeof(struct elog_block_end)) {
		capture->machine->before = capture->machine->newest;
		capture->machine->newest = stored->sequence;
	}
	capture->machine->stored = stored->time;
	return count_order(capture, false);
}

static void finish_capture(const void *node, VISIT visit, void *context)
{
	int *ret = context;

	if ((visit == postorder || visit == leaf) && !*ret)
		*ret = count_order(*(struct capture *const *)node, true);
}

/* Return: 0, or a negative errno and @why is set, unless that is -EINTR or -ENOMEM. */
static int try_headers(struct survey *survey, char *why)
{
	const struct transport_ops *ops = survey->ops;
	int ret;

	ret = ops->info(survey->transport, survey->stream, &survey->info, why);
	survey->partial = survey->settings->since || survey->info.first > 1;
	if (!ret)
		ret = ops->subjects(survey->transport, survey->stream, "elog.>", take_subject,
				    survey, why);
	if (!ret)
		ret = ops->headers(survey->transport, survey->stream, survey->settings->since,
				   take_header, survey, why);
	/* A request that is not permitted gets no reply. */
	if (ret == -EAGAIN && ops->take_error(survey->transport, why) &&
	    strcasestr(why, "permissions violation"))
		ret = -EACCES;
	return ret;
}

/* As try_headers(). Servers may be starting, or the stream has no leader yet. */
static int read_headers(struct survey *survey, char *why)
{
	int ret, tries;

	for (tries = 1; ; tries++) {
		ret = try_headers(survey, why);
		if (ret != -EAGAIN || tries == TRIES || survey->taken || signals_stops())
			break;
		signals_sleep(1000);
	}
	if (!ret)
		twalk_r(survey->captures, finish_capture, &ret);
	return ret;
}

/* ------------------------------------------------------------------------
 * The last message and a beginning of each host
 */

static bool has_block(const unsigned char *at, size_t left, struct elog_block_header *header)
{
	if (left < sizeof(*header))
		return false;
	memcpy(header, at, sizeof(*header));
	header->type = le32toh(header->type);
	header->flags = le32toh(header->flags);
	header->size = le32toh(header->size);
	return header->size <= left - sizeof(*header);
}

/* "KEY VALUE\n" lines. */
static void take_name(struct machine *machine, const char *text, size_t size)
{
	const char *line = memmem(text, size, "\nhost ", 6), *end;

	if (!line)
		return;
	line += 6;
	end = memchr(line, '\n', size - (size_t)(line - text));
	if (end && end > line && (size_t)(end - line) < sizeof(machine->name))
		snprintf(machine->name, sizeof(machine->name), "%.*s", (int)(end - line), line);
}

/* Look at the blocks that need not be decompressed: those that are searched for are short. */
static void take_blocks(struct machine *machine, const struct transport_stored *stored, bool last)
{
	const unsigned char *at = stored->data, *end = at + stored->size;
	struct elog_block_header header;
	struct elog_block_sync sync;

	while ((at = memmem(at, (size_t)(end - at), ELOG_FILE_MAGIC, 8))) {
		if (!has_block(at, (size_t)(end - at), &header)) {
			at += 8;
			continue;
		}
		at += sizeof(header);
		if (header.flags & ELOG_BLOCK_ZSTD)
			continue;
		if (header.type == ELOG_BLOCK_FILE)
			take_name(machine, (const char *)at, header.size);
		if (last && header.type == ELOG_BLOCK_SYNC && header.size >= sizeof(sync)) {
			memcpy(&sync, at, sizeof(sync));
			/* The block is not trusted; 0: the time is not known. */
			machine->until = (int64_t)le64toh(sync.realtime);
			if (machine->until < 0)
				machine->until = 0;
		}
	}
}

static void take_reply(struct survey *survey, const struct transport_stored *stored)
{
	struct machine *machine;
	enum wanted wanted = stored->number % MESSAGES;

	if (stored->number / MESSAGES >= survey->count)
		return;
	machine = survey->list[stored->number / MESSAGES];
	/* Ask again for what failed; but it may have been removed meanwhile. */
	if (machine->answered[wanted] || stored->error == -EAGAIN)
		return;
	machine->answered[wanted] = true;
	if (stored->error)
		return;
	take_blocks(machine, stored, wanted == WANTED_LAST);
	if (wanted == WANTED_BEGINNING)
		return;
	if (!machine->stored)
		machine->stored = stored->time;
	if (!machine->until && machine->before) {
		machine->newest = machine->before;
		machine->before = 0;
		machine->answered[wanted] = false;
	}
	/* The clocks of the host and of the server may differ. */
	if (machine->until && stored->time > machine->until)
		machine->lag = stored->time - machine->until;
}

/* Ask for a message of a host that is not known yet. Return: 1 asked; 0; or a negative errno. */
static int ask(struct survey *survey, size_t number, char *why)
{
	struct machine *machine = survey->list[number / MESSAGES];
	const bool last = number % MESSAGES == WANTED_LAST;
	char subject[TRANSPORT_SUBJECT_BYTES];
	const struct transport_get get = {
		.number = number, .stream = survey->stream, .subject = subject,
		.sequence = last ? machine->newest : machine->beginning, .certain = true,
	};

	if (machine->answered[number % MESSAGES] || (!last && !machine->beginning))
		return 0;
	snprintf(subject, sizeof(subject), "elog.%s.>", machine->id);
	return survey->ops->get(survey->transport, &get, why) ? : 1;
}

/* Wait for replies until there are not more than @left. Return: how many are missing. */
static size_t wait_replies(struct survey *survey, size_t asked, size_t left)
{
	struct transport_stored stored;
	int tries = 0;

	while (asked > left && tries < REPLY_TRIES && !signals_stops()) {
		if (!survey->ops->got(survey->transport, REPLY_MS, &stored)) {
			tries++;
			continue;
		}
		tries = 0;
		asked--;
		take_reply(survey, &stored);
		survey->ops->release(&stored);
	}
	return asked;
}

/* As read_headers(). Servers that do not answer leave a few cells empty. */
static int read_messages(struct survey *survey, char *why)
{
	size_t number, asked;
	int ret, tries;
	bool any = true;

	for (tries = 0; any && tries < ASK_TRIES; tries++) {
		any = false;
		asked = 0;
		for (number = 0; number < survey->count * MESSAGES; number++) {
			ret = ask(survey, number, why);
			if (ret < 0)
				return ret;
			any |= ret;
			asked = wait_replies(survey, asked + (size_t)ret, REPLIES_MAX);
			if (signals_stops())
				return -EINTR;
		}
		wait_replies(survey, asked, 0);
	}
	return 0;
}

/* ------------------------------------------------------------------------
 * Printing
 */

static void put_time(struct row *row, const char *name, const char *title, int64_t time)
{
	struct date date = { 0 };
	struct elog_text *text;

	if (!time && !row->heading) {
		row_null(row, name, NULL, 0);
		row_null(row, NULL, title, -19);
		return;
	}
	row_seconds(row, name, NULL, 0, (uint64_t)time);
	text = row_cell(row, NULL, title, -19);
	date_set(&date, time / 1000000000);
	if (text)
		elog_text_string(text, date.text);
}

static void put_machine(struct row *row, const struct machine *machine)
{
	struct elog_text *text;

	row_begin(row);
	row_string(row, "host", NULL, 0, *machine->name ? machine->name : NULL);
	text = row_cell(row, NULL, "HOST", -16);
	if (text)
		put_quotable(text, *machine->name ? machine->name : machine->id);
	row_string(row, "machine_id", NULL, 0, machine->id);
	row_number(row, "captures", "CAPTURES", 8, machine->captures);
	row_number(row, "messages", "MESSAGES", 8, machine->messages);
	row_number(row, "bytes", "BYTES", 14, machine->bytes);
	row_number(row, "gaps", "GAPS", 5, machine->gaps);
	row_number(row, "missing_bytes", "MISSING", 10, machine->missing);
	row_number(row, "invalid", "INVALID", 7, machine->invalid);
	put_time(row, "last_event", "LAST EVENT", machine->until);
	if (row->heading || machine->until) {
		row_seconds(row, "lag", NULL, 0, (uint64_t)machine->lag);
		row_decimal(row, NULL, "LAG", 8, (double)machine->lag / 1e9);
	} else {
		row_null(row, "lag", NULL, 0);
		row_null(row, NULL, "LAG", 8);
	}
	row_seconds(row, "stored", NULL, 0, (uint64_t)machine->stored);
	row_end(row);
}

static int compare_names(const void *one, const void *other)
{
	const struct machine *a = *(struct machine *const *)one;
	const struct machine *b = *(struct machine *const *)other;
	/* Hosts without a name are the last ones. */
	const int named = !*a->name - !*b->name;

	return named ? : strcmp(a->name, b->name) ? : strcmp(a->id, b->id);
}

static void report_stream(const struct survey *survey)
{
	const struct transport_info *info = &survey->info;
	struct elog_text text = { 0 };

	stream_put_limits(&text, &info->limits);
	if (*info->servers) {
		elog_text_string(&text, "; servers: ");
		/* A server chooses its name. */
		elog_text_visible(&text, info->servers, strlen(info->servers));
	}
	fprintf(stderr, "elog: the stream %s: %" PRIu64 " message%s, %" PRIu64
		" bytes in each server; %s\n", survey->stream, info->messages,
		plural(info->messages), info->bytes, text.data ? : "");
	elog_text_free(&text);
}

/* Return: an exit status. */
static int print(struct survey *survey)
{
	const struct status_settings *settings = survey->settings;
	const struct machine none = { .name = "" };
	struct output output;
	struct row row = { .format = settings->format, .text = &output.text };
	uint64_t lost = survey->unread;
	size_t i;

	qsort(survey->list, survey->count, sizeof(struct machine *), compare_names);
	output_open(&output, settings->color, false);
	row.heading = !settings->quiet && row.format != FORMAT_JSON;
	if (row.heading)
		put_machine(&row, &none);
	row.heading = false;
	for (i = 0; i < survey->count; i++) {
		put_machine(&row, survey->list[i]);
		lost |= survey->list[i]->gaps | survey->list[i]->invalid;
		output_check(&output);
	}
	if (output_close(&output))
		return STATUS_ERROR;
	if (!settings->quiet)
		report_stream(survey);
	if (survey->unread)
		elog_error("%" PRIu64 " message%s of the stream could not be read",
			   survey->unread, plural(survey->unread));
	return lost ? STATUS_LOST : STATUS_OK;
}

int stream_status(const struct status_settings *settings)
{
	struct survey survey = { .settings = settings, .ops = transport_load() };
	char why[TRANSPORT_WHY_MAX] = "";
	int ret = -EINVAL, result = STATUS_ERROR;
	char *servers;
	size_t i;

	if (!survey.ops)
		return STATUS_ERROR;
	servers = stream_split_url(settings->url, survey.stream);
	if (servers)
		ret = survey.ops->open(&survey.transport, servers, why);
	if (!ret)
		ret = read_headers(&survey, why);
	if (!ret)
		ret = read_messages(&survey, why);
	if (!ret)
		result = print(&survey);
	else if (ret == -ENOMEM)
		elog_error("out of memory");
	else if (ret != -EINTR && *why)
		elog_error("%s", why);
	survey.ops->close(survey.transport);
	tdestroy(survey.captures, free_capture);
	for (i = 0; i < survey.count; i++)
		tdelete(survey.list[i], &survey.machines, compare_machines);
	for (i = 0; i < survey.count; i++)
		free(survey.list[i]);
	free(survey.list);
	free(servers);
	return result;
}
