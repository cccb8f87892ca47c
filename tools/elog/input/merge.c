// SPDX-License-Identifier: GPL-2.0-only
/*
 * Inputs, merged by wall-clock time: see merge.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/merge.h"
#include "libelog/unexported/reader.h"
#include "nats/stream.h"
#include "util/file_error.h"
#include "util/output_file.h"
#include "util/signals.h"
#include "util/time_spec.h"

#define FOLLOW_MS	100	/* between looks at a file that grows */
#define LOSSES		1024	/* remembered of captures that have several files */
#define CAPTURE_SIZE	20	/* of the id of such a capture, with its NUL */

/* A loss that one of several files of a capture contains. */
struct seen_loss {
	char capture[CAPTURE_SIZE];
	uint32_t cpu;
	uint64_t time;
	uint32_t stream;
	uint64_t lost[ELOG_LOST_CAUSES_MAX];
};

/* ------------------------------------------------------------------------
 * The beginning and the end
 */

void *merge_new(size_t size, const struct source_ops *ops, const struct selection_spec *spec,
		const struct source_settings *settings)
{
	struct merge *merge = calloc(1, size);
	int ret = -ENOMEM;

	if (merge) {
		merge->settings = settings;
		if (source_init(&merge->source, ops, spec, false, false)) {
			free(merge);
			return NULL;
		}
		ret = names_open(&merge->source.names, spec, settings->fields, NULL);
	}
	if (!ret)
		return merge;
	elog_error("out of memory");
	source_close(merge ? &merge->source : NULL);
	return NULL;
}

int merge_open_set(struct merge *merge)
{
	int ret = elog_reader_set_open(&merge->set);

	merge->hosts = ret ? NULL : hosts_new();
	if (!merge->hosts)
		elog_error("out of memory");
	return merge->hosts ? 0 : -ENOMEM;
}

static int describe(void *reader, uint32_t descriptor, const struct elog_schema_event **event)
{
	return elog_reader_describe(reader, descriptor, event);
}

static uint64_t generation_now(void *reader)
{
	return elog_reader_generation(reader);
}

void merge_init_input(struct input *input)
{
	input->fd = -1;
	input->events.describe = describe;
	input->events.generation_now = generation_now;
	elog_map_init(&input->events.cache, sizeof(struct cached_event));
}

void merge_start_input(struct input *input)
{
	input->events.context = input->reader;
	input->events.generation = elog_reader_generation(input->reader);
}

void merge_close_input(struct merge *merge, struct input *input)
{
	known_events_clear(&input->events, &merge->source);
	if (!merge->set)
		elog_reader_close(input->reader);
	input->reader = NULL;
	if (input->fd > STDIN_FILENO)
		close(input->fd);
	input->fd = -1;
	free(input->label);
	free(input->host);
	input->label = NULL;
	input->host = NULL;
}

void merge_close(struct merge *merge)
{
	size_t i;

	for (i = 0; i < merge->count; i++)
		merge_close_input(merge, &merge->inputs[i]);
	elog_reader_set_close(merge->set);
	hosts_free(merge->hosts);
	free(merge->seen);
	free(merge->inputs);
}

/* ------------------------------------------------------------------------
 * Items
 */

int merge_read(struct merge *merge, struct elog_item *item, struct input **input)
{
	struct elog_reader *reader = NULL;
	size_t i;
	int ret;

	*input = merge->inputs;
	if (!merge->set)
		return merge->inputs->reader ? elog_reader_next(merge->inputs->reader, item) : 0;
	ret = elog_reader_set_next(merge->set, item, &reader);
	for (i = 0; reader && i < merge->count; i++)
		if (merge->inputs[i].reader == reader)
			*input = &merge->inputs[i];
	return ret;
}

/* "+SPAN" counts from the first segment of the earliest file. */
static void set_start(struct merge *merge, const struct entry *entry)
{
	const char *value = elog_reader_info(entry->reader, "start");
	uint64_t begin, boottime, realtime;

	if (value && sscanf(value, "%" SCNu64 " %" SCNu64 " %" SCNu64, &begin,
			    &boottime, &realtime) == 3)
		selection_start(merge->source.selection, (int64_t)realtime);
}

/*
 * Several files of one capture contain the same loss, if it may concern each of them:
 * return it once. They are merged by time, so only recent losses are compared. Return:
 * true, false, or -ENOMEM.
 */
static int was_seen(struct merge *merge, const struct entry *entry)
{
	const struct elog_item *item = &entry->item;
	const char *capture;
	uint64_t lost[ELOG_LOST_CAUSES_MAX] = { 0 };
	struct seen_loss *seen;
	size_t i;

	capture = merge->set ? elog_reader_info(entry->reader, "capture") : NULL;
	if (!capture || strlen(capture) >= CAPTURE_SIZE)
		return false;
	if (!merge->seen)
		merge->seen = calloc(LOSSES, sizeof(*merge->seen));
	if (!merge->seen)
		return -ENOMEM;
	add_causes(lost, item);
	for (i = 0; i < merge->seen_count && i < LOSSES; i++) {
		seen = &merge->seen[i];
		if (seen->time == item->time && seen->cpu == item->cpu &&
		    seen->stream == item->stream &&
		    !memcmp(seen->lost, lost, sizeof(lost)) &&
		    !strcmp(seen->capture, capture))
			return true;
	}
	seen = &merge->seen[merge->seen_count++ % LOSSES];
	snprintf(seen->capture, sizeof(seen->capture), "%s", capture);
	seen->time = item->time;
	seen->cpu = item->cpu;
	seen->stream = item->stream;
	memcpy(seen->lost, lost, sizeof(lost));
	return false;
}

/*
 * Is this the end of a file that a capture still writes, instead of damage? Such a file is
 * locked by the capture, or the capture has completed it after it was read.
 */
static bool is_unfinished(const struct input *input, const struct elog_item *item)
{
	off_t at = lseek(input->fd, 0, SEEK_CUR);
	struct stat stat;

	if (item->damage != ELOG_DAMAGE_NO_END && item->damage != ELOG_DAMAGE_CUT)
		return false;
	if (input->capture)
		return stream_is_at_end(input->capture);
	/* Damage elsewhere in the file is before the end of what was read. */
	if (at < 0 || (uint64_t)at != item->offset + item->size)
		return false;
	if (output_is_locked(input->fd))
		return true;
	return !fstat(input->fd, &stat) && S_ISREG(stat.st_mode) && stat.st_size > at;
}

static const char *known(const char *text)
{
	return *text ? text : NULL;
}

static void set_origin(struct entry *entry, const struct input *input)
{
	entry->host_name = known(input->host_name);
	entry->machine_id = known(input->machine_id);
	entry->boot_id = known(input->boot_id);
}

/* Remember whose events follow: asking the reader for each event would take long. */
static void see_origin(struct input *input, struct entry *entry)
{
	const char *name = elog_reader_info(input->reader, "host");
	const char *id = elog_reader_info(input->reader, "machine_id");
	const char *boot = elog_reader_info(input->reader, "boot_id");

	if (!name || strlen(name) >= sizeof(input->host_name))
		name = "";
	/* A machine without an id has zeros. */
	if (!id || strlen(id) >= sizeof(input->machine_id) || strspn(id, "0") == strlen(id))
		id = "";
	if (!boot || strlen(boot) >= sizeof(input->boot_id))
		boot = "";
	strcpy(input->host_name, name);
	strcpy(input->machine_id, id);
	strcpy(input->boot_id, boot);
	set_origin(entry, input);
}

/* See which host the part that begins is of. Return: 0 or -ENOMEM. */
static int see_part(struct merge *merge, struct input *input, struct entry *entry)
{
	see_origin(input, entry);
	set_start(merge, entry);
	return merge->hosts ? hosts_see(merge->hosts, input->reader) : 0;
}

/* Return: as source_next(), or 0 for an item that is skipped. */
static int select_item(struct merge *merge, struct input *input, struct entry *entry)
{
	const struct elog_item *item = &entry->item;
	int ret;

	switch (item->type) {
	case ELOG_ITEM_EVENT:
		return source_select_event(&merge->source, &input->events,
					   elog_reader_generation(input->reader), entry);
	case ELOG_ITEM_LOST:
		ret = was_seen(merge, entry);
		if (ret)
			return ret < 0 ? ret : 0;
		return source_select_loss(&merge->source, entry);
	case ELOG_ITEM_PART:
		return see_part(merge, input, entry) ? : 1;
	case ELOG_ITEM_DAMAGE:
		entry->unfinished = is_unfinished(input, item);
		merge->unfinished |= entry->unfinished;
		/* A stream ends at any place, which is no damage. */
		if (entry->unfinished)
			return !merge->settings->quiet && !input->capture;
		merge->source.failed = true;
		return 1;
	default:
		return 1;
	}
}

static void print_error(struct merge *merge, const struct input *input, int error)
{
	char buffer[FILE_ERROR_BYTES];

	merge->source.failed = true;
	elog_error("%s: %s", input->name, file_error(input->reader, error, buffer));
}

void merge_set_origin(struct entry *entry, struct input *input)
{
	entry->reader = input->reader;
	entry->host = input->host;
	set_origin(entry, input);
	entry->file = input->name;
	entry->processes = elog_reader_processes(input->reader);
	entry->wall_offset = elog_reader_wall_offset(input->reader);
}

int merge_take(struct merge *merge, struct input *input, struct entry *entry, int ret)
{
	if (ret < 0) {
		print_error(merge, input, ret);
		return merge->set ? MERGE_SKIP : 0;
	}
	if (!ret) {
		merge->complete = true;
		return 0;
	}
	merge->source.read = true;
	merge_set_origin(entry, input);
	return select_item(merge, input, entry) ? : MERGE_SKIP;
}

int merge_wait(struct source *source, int most, bool *over)
{
	(void)source;
	/* poll() reports a file as always readable, so wait for some time. */
	signals_sleep(most < 0 || most > FOLLOW_MS ? FOLLOW_MS : (unsigned int)most);
	*over = signals_stops();
	return 1;
}

void source_progress(const struct source *source, uint64_t *done,
		     uint64_t *total)
{
	const struct merge *merge = (const struct merge *)source;
	uint64_t read, size;
	bool known = true;
	size_t i;

	*done = 0;
	*total = 0;
	for (i = 0; i < merge->count; i++) {
		if (!merge->inputs[i].reader ||
		    elog_reader_progress(merge->inputs[i].reader, &read, &size))
			continue;
		*done += read;
		*total += size;
		known = known && size;
	}
	if (!known)
		*total = 0;
}

/*
 * Report names that no definition in the files has. An empty file has no definitions: it
 * proves nothing. Neither does the part of a file since a time, or up to now, so that is no
 * error.
 */
bool merge_finish(struct merge *merge)
{
	const char *when = merge->unfinished ? " yet" : merge->skipped ? " since then" : "";
	bool failed = false;

	if (merge->complete && names_any(merge->source.names))
		failed = names_report(merge->source.names, when) && !*when;
	if (!merge->settings->quiet)
		hosts_report(merge->hosts);
	return failed;
}
