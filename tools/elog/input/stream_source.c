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
#include <unistd.h>

#include "input/merge.h"
#include "libelog/unexported/reader.h"
#include "nats/stream.h"
#include "util/array.h"
#include "util/tool.h"

#define HOSTS_SHOWN	20	/* in a message */

/*
 * struct stream_source - the state
 * @merge: the captures
 * @stream: the stream
 * @gap: of the last entry
 */
struct stream_source {
	struct merge merge;
	struct stream *stream;
	struct stream_gap gap;
};

static struct stream_source *to_stream(struct source *source)
{
	return (struct stream_source *)source;
}

bool source_is_stream(char *const *names, int count)
{
	return count && stream_is_url(names[0]);
}

bool source_is_file(const char *name)
{
	return !strcmp(name, "-") || stream_is_url(name) || !access(name, F_OK);
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

static bool host_matches(const struct stream_source *source, const char *host)
{
	const char *glob = source->merge.settings->host;

	return !glob || !fnmatch(glob, host, 0);
}

static bool is_selected(const struct stream_source *source, const struct input *input)
{
	return host_matches(source, input->host) ||
	       host_matches(source, stream_machine(input->capture));
}

/* Read the captures that the stream has got. Return: 0 or -ENOMEM. */
static int add_captures(struct stream_source *source)
{
	struct elog_reader_callback callback = { .read = stream_read };
	struct merge *merge = &source->merge;
	struct stream_capture *capture;
	struct input *input;
	int ret = 0;

	while (!ret && (capture = stream_new_capture(source->stream))) {
		input = array_grow(merge->inputs, merge->count, sizeof(*input));
		if (!input)
			return -ENOMEM;
		merge->inputs = input;
		input += merge->count++;
		memset(input, 0, sizeof(*input));
		merge_init_input(input);
		input->capture = capture;
		callback.context = capture;
		ret = set_host(input, stream_machine(capture));
		if (!ret)
			ret = elog_reader_set_add_callback(merge->set, &callback, &input->reader);
		if (!ret)
			merge_start_input(input);
	}
	return ret;
}

static int open_stream(struct stream_source *source, const char *url)
{
	struct merge *merge = &source->merge;
	const struct source_settings *settings = merge->settings;
	uint64_t time;
	int64_t since;
	int ret;

	merge->skipped = selection_since(merge->source.selection, &time);
	merge->source.following = settings->follow;
	merge->source.read = true;
	since = (int64_t)time;
	ret = stream_open(&source->stream, url, settings->follow, merge->skipped ? &since : NULL,
			  settings->quiet);
	if (!ret && settings->waiting)
		stream_on_wait(source->stream, settings->waiting, settings->context);
	if (!ret)
		ret = merge_open_set(merge);
	return ret ? ret : add_captures(source);
}

/* A part begins: see which host it is of, and whether that is selected. Return: 0 or -ENOMEM. */
static int see_host(struct stream_source *source, struct input *input)
{
	const char *host = elog_reader_info(input->reader, "host");
	int ret = host && *host ? set_host(input, host) : 0;

	if (ret)
		return ret;
	input->unwanted = !is_selected(source, input);
	if (input->unwanted)
		stream_drop(input->capture);
	return 0;
}

/* Fill in a gap that reading has found. Return: false if there is none. */
static bool next_gap(struct stream_source *source, struct entry *entry)
{
	struct merge *merge = &source->merge;
	struct input *input = NULL;
	size_t i;

	do {
		if (!stream_take_gap(source->stream, &source->gap))
			return false;
		for (i = 0; i < merge->count; i++)
			if (merge->inputs[i].capture == source->gap.capture)
				input = &merge->inputs[i];
	} while (!input || input->unwanted);
	merge->source.failed = true;
	memset(&entry->item, 0, sizeof(entry->item));
	entry->item.type = ELOG_ITEM_DAMAGE;
	entry->item.damage = ELOG_DAMAGE_MISSING;
	entry->gap = &source->gap;
	merge_set_origin(entry, input);
	return true;
}

/* All captures have nothing for now. Return: 1 they have again; or a negative errno. */
static int poll_stream(struct stream_source *source)
{
	int ret = stream_poll(source->stream);

	if (ret > 0)
		return add_captures(source) ? : 1;
	if (!source->merge.settings->quiet)
		names_report(source->merge.source.names, " yet");
	return ret ? ret : -EAGAIN;
}

/* A capture cannot be read on. Return: true if that was no error of its file. */
static bool drop_capture(struct stream_source *source, struct input *input, int error)
{
	stream_drop(input->capture);
	/* A capture may have nothing since then. */
	if (error == -EBADMSG && stream_is_empty(input->capture))
		return true;
	/* Errors of the servers were printed. */
	if (error != -ETIMEDOUT && error != -EACCES)
		return false;
	source->merge.source.failed = true;
	return true;
}

static int next_of_stream(struct source *base, struct entry *entry)
{
	struct stream_source *source = to_stream(base);
	struct input *input;
	int ret;

	do {
		if (next_gap(source, entry))
			return 1;
		ret = merge_read(&source->merge, &entry->item, &input);
		/* All captures may be of hosts that are not selected; others may come. */
		if (ret == -EAGAIN || (!ret && base->following)) {
			ret = poll_stream(source);
			if (ret < 0)
				return ret;
			ret = MERGE_SKIP;
			continue;
		}
		if (ret < 0 && drop_capture(source, input, ret)) {
			ret = MERGE_SKIP;
			continue;
		}
		if (!ret && next_gap(source, entry))
			return 1;
		if (ret > 0 && entry->item.type == ELOG_ITEM_PART && !input->unwanted) {
			ret = see_host(source, input) ? : 1;
			if (ret < 0)
				return ret;
		}
		ret = ret > 0 && input->unwanted ? MERGE_SKIP :
		      merge_take(&source->merge, input, entry, ret);
	} while (ret == MERGE_SKIP);
	return ret;
}

/* Append the name of an input's host, unless another input has the same. */
static void put_known_host(const struct merge *merge, size_t index, struct elog_text *text,
			   size_t *count)
{
	const char *host = merge->inputs[index].host;
	size_t i;

	for (i = 0; i < index; i++)
		if (!strcmp(merge->inputs[i].host, host))
			return;
	if ((*count)++ >= HOSTS_SHOWN)
		return;
	elog_text_string(text, text->size ? ", " : "");
	put_quotable(text, host);
}

/* Return: false if --host matches no host, which was printed. */
static bool check_host(const struct stream_source *source)
{
	const struct merge *merge = &source->merge;
	const char *when = merge->settings->follow ? " yet" : merge->skipped ? " since then" : "";
	struct elog_text hosts = { 0 };
	size_t i, count = 0;

	for (i = 0; i < merge->count; i++)
		if (is_selected(source, &merge->inputs[i]))
			return true;
	for (i = 0; i < merge->count; i++)
		put_known_host(merge, i, &hosts, &count);
	if (count > HOSTS_SHOWN)
		elog_text_printf(&hosts, " and %zu others", count - HOSTS_SHOWN);
	elog_error("--host: no host '%s'%s; the stream has %s", merge->settings->host, when,
		   hosts.data ? : "none");
	elog_text_free(&hosts);
	return *when;
}

/* ------------------------------------------------------------------------
 * The beginning and the end
 */

static bool finish_stream(struct source *base)
{
	const struct stream_source *source = to_stream(base);
	const uint64_t late = stream_late(source->stream);
	bool failed = merge_finish(merge_of(base));

	if (late)
		elog_error("%" PRIu64 " message%s in a place that was reported as a gap", late,
			   late == 1 ? " came" : "s came");
	return (source->merge.settings->host && !check_host(source)) || failed;
}

static void close_stream(struct source *base)
{
	merge_close(merge_of(base));
	stream_close(to_stream(base)->stream);
}

static const struct source_ops stream_ops = {
	.next = next_of_stream,
	.wait = merge_wait,
	.finish = finish_stream,
	.close = close_stream,
};

bool source_is_connected(const struct source *source)
{
	return source->ops != &stream_ops ||
	       stream_is_connected(((const struct stream_source *)source)->stream);
}

int source_open_stream(struct source **result, const struct selection_spec *spec,
		       const struct source_settings *settings, char *const *names, int count)
{
	struct stream_source *source;
	int ret;

	if (count > 1) {
		elog_error("'%s': the URL of a stream must be the only argument", names[0]);
		return -EINVAL;
	}
	source = merge_new(sizeof(*source), &stream_ops, spec, settings);
	if (!source)
		return -EINVAL;
	ret = open_stream(source, names[0]);
	if (ret == -ENOMEM)
		elog_error("out of memory");
	if (ret)
		source_close(&source->merge.source);
	else
		*result = &source->merge.source;
	return ret;
}
