// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events in a stream of NATS JetStream: see source_state.h. Each capture in it is an input,
 * whose reader calls stream_read(). With --follow, inputs are added while it is read.
 */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/decoded.h"
#include "input/source_state.h"
#include "util/array.h"
#include "util/tool.h"

#define HOSTS_SHOWN	20	/* in a message */

bool source_is_stream(char *const *names, int count)
{
	return count && stream_is_url(names[0]);
}

/* Until its host is known, a capture has the id of its machine. */
static int set_host(struct input *input, const char *host)
{
	char *copy = strdup(host), *label;

	if (!copy)
		return -ENOMEM;
	if (asprintf(&label, "%s/%s", host, stream_name(input->capture)) < 0) {
		free(copy);
		return -ENOMEM;
	}
	free(input->host);
	free(input->label);
	input->host = copy;
	input->label = label;
	input->name = label;
	return 0;
}

static bool host_matches(const struct source *source, const char *host)
{
	return !source->settings->host || !fnmatch(source->settings->host, host, 0);
}

/* Read the captures that the stream has got. Return: 0 or -ENOMEM. */
static int add_captures(struct source *source)
{
	struct elog_reader_callback callback = { .read = stream_read };
	struct stream_capture *capture;
	struct input *input;
	int ret = 0;

	while (!ret && (capture = stream_new_capture(source->stream))) {
		input = array_grow(source->inputs, source->count, sizeof(*input));
		if (!input)
			return -ENOMEM;
		source->inputs = input;
		input += source->count++;
		memset(input, 0, sizeof(*input));
		elog_map_init(&input->event_cache, sizeof(struct cached_event));
		input->fd = -1;
		input->capture = capture;
		callback.context = capture;
		ret = set_host(input, stream_machine(capture));
		if (!ret)
			ret = elog_reader_set_add_callback(source->set, &callback,
							   &input->reader);
		if (!ret)
			input->generation = elog_reader_generation(input->reader);
	}
	return ret;
}

static int open_stream(struct source *source, const char *url)
{
	const struct source_settings *settings = source->settings;
	uint64_t time;
	int64_t since;
	int ret;

	source->skipped = selection_since(source->selection, &time);
	source->following = settings->follow;
	since = (int64_t)time;
	ret = stream_open(&source->stream, url, settings->follow, source->skipped ? &since : NULL,
			  settings->quiet);
	if (!ret)
		ret = source_open_set(source);
	return ret ? ret : add_captures(source);
}

int source_see_part(struct source *source, struct input *input)
{
	const char *host = elog_reader_info(input->reader, "host");
	int ret;

	if (input->capture) {
		ret = host && *host ? set_host(input, host) : 0;
		if (ret)
			return ret;
		input->unwanted = !host_matches(source, input->host) &&
				  !host_matches(source, stream_machine(input->capture));
		if (input->unwanted) {
			stream_drop(input->capture);
			return 0;
		}
	}
	return source->hosts ? hosts_see(source->hosts, input->reader) : 0;
}

bool source_next_gap(struct source *source, struct entry *entry)
{
	struct input *input = NULL;
	size_t i;

	do {
		if (!source->stream || !stream_take_gap(source->stream, &source->gap))
			return false;
		for (i = 0; i < source->count; i++)
			if (source->inputs[i].capture == source->gap.capture)
				input = &source->inputs[i];
	} while (!input || input->unwanted);
	source->failed = true;
	memset(&entry->item, 0, sizeof(entry->item));
	entry->item.type = ELOG_ITEM_DAMAGE;
	entry->item.damage = ELOG_DAMAGE_MISSING;
	entry->gap = &source->gap;
	entry->reader = input->reader;
	entry->file = input->name;
	entry->host = input->host;
	entry->processes = elog_reader_processes(input->reader);
	entry->wall_offset = elog_reader_wall_offset(input->reader);
	return true;
}

int source_open_stream(struct source **result, const struct selection_spec *spec,
		       const struct source_settings *settings, char *const *names, int count)
{
	struct source *source;
	int ret;

	if (count > 1) {
		elog_error("'%s': the URL of a stream must be the only argument", names[0]);
		return -EINVAL;
	}
	source = source_new(spec, settings, NULL, 0);
	if (!source)
		return -EINVAL;
	ret = names_open(&source->names, spec, settings->fields, NULL);
	if (!ret)
		ret = open_stream(source, names[0]);
	if (ret == -ENOMEM)
		elog_error("out of memory");
	if (ret)
		source_close(source);
	else
		*result = source;
	return ret;
}

int source_wait(struct source *source)
{
	int ret = stream_poll(source->stream);

	if (ret > 0)
		return add_captures(source) ? : 1;
	if (!source->settings->quiet)
		names_report(source->names, " yet");
	return ret ? ret : -EAGAIN;
}

static bool is_selected(const struct source *source, const struct input *input)
{
	return host_matches(source, input->host) ||
	       host_matches(source, stream_machine(input->capture));
}

/* Append the name of an input's host, unless another input has the same. */
static void put_known_host(const struct source *source, size_t index, struct elog_text *text,
			   size_t *count)
{
	const char *host = source->inputs[index].host;
	size_t i;

	for (i = 0; i < index; i++)
		if (!strcmp(source->inputs[i].host, host))
			return;
	if ((*count)++ >= HOSTS_SHOWN)
		return;
	elog_text_string(text, text->size ? ", " : "");
	put_quotable(text, host);
}

/* Return: false if --host matches no host, which was printed. */
static bool check_host(const struct source *source)
{
	const char *when = source->settings->follow ? " yet" :
			   source->skipped ? " since then" : "";
	struct elog_text hosts = { 0 };
	size_t i, count = 0;

	for (i = 0; i < source->count; i++)
		if (is_selected(source, &source->inputs[i]))
			return true;
	for (i = 0; i < source->count; i++)
		put_known_host(source, i, &hosts, &count);
	if (count > HOSTS_SHOWN)
		elog_text_printf(&hosts, " and %zu others", count - HOSTS_SHOWN);
	elog_error("--host: no host '%s'%s; the stream has %s", source->settings->host, when,
		   hosts.data ? : "none");
	elog_text_free(&hosts);
	return *when;
}

bool source_finish_stream(const struct source *source)
{
	const uint64_t late = source->stream ? stream_late(source->stream) : 0;

	if (!source->settings->quiet)
		hosts_report(source->hosts);
	if (late)
		elog_error("%" PRIu64 " message%s in a place that was reported as a gap", late,
			   late == 1 ? " came" : "s came");
	return source->stream && source->settings->host && !check_host(source);
}
