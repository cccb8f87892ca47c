// SPDX-License-Identifier: GPL-2.0-only
/*
 * Visits everything in files or in a live run: see visit.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/visit.h"
#include "util/signals.h"

/* ------------------------------------------------------------------------
 * Kinds
 */

static void put_string(struct elog_text *key, const char *string)
{
	elog_text_put(key, string, strlen(string) + 1);
}

/* What a kind's events have in common, which is what tables of them and spans need to know. */
static int make_key(struct visit *visit, const struct elog_schema_event *event)
{
	struct elog_text *key = &visit->key;
	size_t i;

	key->size = 0;
	if (!event)
		return 0;
	put_string(key, event->provider->name);
	put_string(key, event->name);
	elog_text_printf(key, "%u ", event->attribute);
	for (i = 0; i < event->field_count; i++) {
		const struct elog_schema_field *field = event->fields[i];

		put_string(key, field->name);
		elog_text_printf(key, "%d %zu %d %d ", field->type, field->size,
				 field->is_signed, field->display);
	}
	return key->error;
}

static void free_kind(struct event_kind *kind)
{
	if (!kind)
		return;
	free(kind->provider);
	free(kind->name);
	free(kind);
}

static struct event_kind *new_kind(struct visit *visit, struct elog_map_key key,
				   const struct elog_schema_event *event)
{
	struct event_kind *kind = calloc(1, sizeof(*kind)), **place;

	if (!kind)
		return NULL;
	kind->is_missing = !event;
	kind->provider = strdup(event ? event->provider->name : "?");
	kind->name = strdup(event ? event->name : "?");
	place = kind->provider && kind->name ? elog_map_insert(&visit->kind_map, key) : NULL;
	if (!place) {
		free_kind(kind);
		return NULL;
	}
	spans_find_role(&visit->spans, event, &kind->role);
	/* The definition may go; the kind stays. */
	if (event && kind->role.start.name == event->name)
		kind->role.start.name = kind->name;
	if (event && kind->role.end.name == event->name)
		kind->role.end.name = kind->name;
	*place = kind;
	*visit->kind_end = kind;
	visit->kind_end = &kind->next;
	visit->kind_count++;
	return kind;
}

static int find_kind(struct visit *visit, struct cached_event *cached)
{
	struct event_kind *kind, **found;
	struct elog_map_key key;
	int ret;

	ret = make_key(visit, cached->event);
	if (ret)
		return ret;
	key = elog_map_bytes(visit->key.data, visit->key.size);
	found = elog_map_find(&visit->kind_map, key);
	if (!found && visit->kind_count == VISIT_KINDS_MAX)
		return -E2BIG;
	kind = found ? *found : new_kind(visit, key, cached->event);
	cached->row = kind;
	return kind ? 0 : -ENOMEM;
}

/* ------------------------------------------------------------------------
 * Items
 */

static void pass_time(struct visit *visit, const struct entry *entry)
{
	visit->last = wall_time(entry->item.time, entry->wall_offset);
	if (!visit->any)
		visit->first = visit->last;
	visit->any = true;
}

/* Find the kind of an event, and its spans. */
static int match_spans(struct visit *visit, struct visit_event *event)
{
	const struct entry *entry = event->entry;
	int ret = entry->cached->row ? 0 : find_kind(visit, entry->cached);

	if (ret)
		return ret;
	event->kind = entry->cached->row;
	visit->unknown += !entry->cached->event;
	return spans_take(&visit->spans, entry, &event->kind->role, &event->match);
}

static int take_event(struct visit *visit, const struct entry *entry)
{
	struct visit_event event;
	int ret;

	event.entry = entry;
	event.kind = NULL;
	ret = visit->settings->spans ? match_spans(visit, &event) : 0;
	if (ret == -E2BIG && visit->settings->skip_kinds) {
		visit->skipped++;
		return 0;
	}
	if (ret)
		return ret;
	pass_time(visit, entry);
	visit->events += !visit->held;
	visit->enough |= visit->events == visit->settings->count;
	return visit->ops->event ? visit->ops->event(visit->context, &event) : 0;
}

static void forget(struct visit *visit)
{
	if (visit->pairing)
		pairing_forget(visit->pairing);
}

static int take_loss(struct visit *visit, const struct entry *entry)
{
	uint64_t count = visit->held ? sum_causes(entry->item.lost, entry->item.lost_count) :
				       add_causes(visit->lost, &entry->item);

	/* A program can claim any number of invalid records: they end nothing. */
	if (count)
		forget(visit);
	if (!count && !invalid_records(&entry->item))
		return 0;
	pass_time(visit, entry);
	return visit->ops->lost ? visit->ops->lost(visit->context, entry, count) : 0;
}

static void pass_duration(struct visit *visit)
{
	const uint64_t duration = visit->settings->duration;

	/* A live run knows its own. */
	visit->enough |= duration && !visit->live && monotonic() - visit->started >= duration;
}

/* Let the owner do what is due. Return: 0, or its error. */
static int pass(struct visit *visit)
{
	pass_duration(visit);
	return visit->ops->idle ? visit->ops->idle(visit->context, visit->over) : 0;
}

/* The servers do not answer. Return: true: end. */
static bool pass_waiting(void *context)
{
	struct visit *visit = context;

	if (!visit->error)
		visit->error = pass(visit);
	return visit->error || visit->enough;
}

static int take_sync(struct visit *visit, const struct entry *entry)
{
	progress_update(&visit->progress, visit->source, visit->events);
	if (signals_mask()) {
		signals_let_in();
		signals_hold();
		if (visit->settings->source->follow)
			visit->enough |= signals_stops();
		else
			visit->stopped = signals_stops();
	}
	pass_duration(visit);
	return visit->ops->sync ? visit->ops->sync(visit->context, entry) : 0;
}

static int take_damage(struct visit *visit, const struct entry *entry)
{
	int ret = visit->ops->damage ? visit->ops->damage(visit->context, entry) : 0;

	progress_clear(&visit->progress);
	source_print_damage(entry);
	if (!entry->unfinished)
		forget(visit);
	return ret;
}

static int take_item(struct visit *visit, const struct entry *entry)
{
	switch (entry->item.type) {
	case ELOG_ITEM_EVENT:
		return take_event(visit, entry);
	case ELOG_ITEM_LOST:
		return take_loss(visit, entry);
	case ELOG_ITEM_PART:
		if (visit->pairing)
			pairing_begin_segment(visit->pairing, entry);
		return visit->ops->segment ? visit->ops->segment(visit->context, entry) : 0;
	case ELOG_ITEM_SYNC:
		return take_sync(visit, entry);
	case ELOG_ITEM_DAMAGE:
		return take_damage(visit, entry);
	}
	return 0;
}

void visit_end(struct visit *visit)
{
	if (visit->pairing)
		pairing_finish(visit->pairing);
}

/* A ring was damaged: continue. */
static int see_damaged_ring(struct visit *visit)
{
	visit->damaged = true;
	forget(visit);
	return visit->ops->broken ? visit->ops->broken(visit->context) : 0;
}

/* Nothing is to be read for now. Return: 1: read again; 0: this was the end; or an error. */
static int wait_for_more(struct visit *visit)
{
	const struct visit_ops *ops = visit->ops;
	int ret;

	visit->drained = true;
	ret = visit->error ? : pass(visit);
	visit->drained = false;

	if (ret || visit->over)
		return ret;
	if (visit->enough)
		return 1;
	ret = source_wait(visit->source, ops->left ? ops->left(visit->context) : -1,
			  &visit->over);
	return ret < 0 ? ret : 1;
}

int visit_batch(struct visit *visit)
{
	int ret = 0;

	while (!ret && !visit->stopped && (!visit->enough || visit->held)) {
		ret = visit->held ? 1 : source_next(visit->source, &visit->entry);
		if (ret > 0) {
			ret = take_item(visit, &visit->entry);
			visit->held = ret == -EAGAIN;
		} else if (ret == -EBADMSG) {
			ret = see_damaged_ring(visit);
		} else {
			return ret == -EAGAIN || (!ret && visit->live) ? 1 : ret;
		}
	}
	return ret;
}

int visit_run(struct visit *visit)
{
	int ret;

	do {
		ret = visit_batch(visit);
		if (ret > 0)
			ret = wait_for_more(visit);
	} while (ret > 0);
	progress_clear(&visit->progress);
	visit_end(visit);
	return ret ? ret : visit->error;
}

/* ------------------------------------------------------------------------
 * The beginning and the end
 */

static bool are_regular(const struct visit_settings *settings)
{
	struct stat info;
	int i;

	for (i = 0; i < settings->name_count; i++)
		if (stat(settings->names[i], &info) || !S_ISREG(info.st_mode))
			return false;
	return true;
}

static int open_visit(struct visit **result, const struct visit_settings *settings,
		      const struct visit_ops *ops, void *context, bool many_files)
{
	struct visit *visit = calloc(1, sizeof(*visit));
	int ret = -ENOMEM;

	if (visit) {
		visit->settings = settings;
		visit->ops = ops;
		visit->context = context;
		visit->kind_end = &visit->kinds;
		elog_map_init(&visit->kind_map, sizeof(struct event_kind *));
		ret = settings->spans ?
		      spans_open(&visit->spans, settings->spans, many_files) : 0;
		visit->pairing = settings->spans ? &visit->spans.pairing : NULL;
		visit->spans.pairing.drop = (void (*)(void *, void *))ops->drop;
		visit->spans.pairing.context = context;
	}
	if (ret == -ENOMEM)
		elog_error("out of memory");
	if (ret)
		visit_close(visit);
	else
		*result = visit;
	return ret;
}

int visit_open_live(struct visit **result, const struct visit_settings *settings,
		    struct live *live, const struct visit_ops *ops, void *context)
{
	struct visit *visit;
	int ret;

	ret = open_visit(&visit, settings, ops, context, false);
	if (ret)
		return ret;
	visit->live = live;
	ret = source_open_live(&visit->source, live);
	if (ret)
		visit_close(visit);
	else
		*result = visit;
	return ret;
}

int visit_open(struct visit **result, const struct visit_settings *settings,
	       const struct visit_ops *ops, void *context)
{
	const struct output output = {
		.terminal = settings->to_stdout && isatty(STDOUT_FILENO),
	};
	struct visit *visit;
	int ret;

	ret = open_visit(&visit, settings, ops, context, settings->name_count > 1 ||
			 source_is_stream(settings->names, settings->name_count));
	if (ret)
		return ret;
	visit->reading = *settings->source;
	if (visit->reading.follow) {
		visit->reading.waiting = pass_waiting;
		visit->reading.context = visit;
	}
	visit->started = monotonic();
	ret = source_open_files(&visit->source, settings->select, &visit->reading,
				settings->names, settings->name_count);
	if (ret) {
		visit_close(visit);
		return ret;
	}
	/* A signal is taken between two blocks; reading a pipe may wait for ever. */
	if (settings->whole ? are_regular(settings) : source_follows(visit->source))
		signals_catch(0);
	progress_start(&visit->progress, !settings->quiet && !source_follows(visit->source),
		       &output);
	*result = visit;
	return 0;
}

/* Return: 0; 1 after a message; or a negative errno. */
static int read_again(const struct visit_settings *before, const struct visit_ops *ops,
		      void *context, bool failed_before)
{
	struct visit_settings settings = *before;
	struct visit *visit;
	int ret;

	settings.spans = NULL;
	settings.count = 0;
	settings.quiet = true;
	if (visit_open(&visit, &settings, ops, context))
		return 1;
	ret = visit_run(visit);
	if (!ret && visit_has_failed(visit) && !failed_before)
		ret = 1;
	visit_close(visit);
	return ret;
}

static void print_messages(int fd)
{
	char bytes[4096];
	off_t at = 0;
	ssize_t got;

	for (; (got = pread(fd, bytes, sizeof(bytes), at)) > 0; at += got)
		fwrite(bytes, 1, (size_t)got, stderr);
}

int visit_again(const struct visit_settings *settings, const struct visit_ops *ops, void *context,
		bool failed_before)
{
	const int messages = memfd_create("messages", MFD_CLOEXEC);
	const int saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int ret;

	if (messages >= 0 && saved >= 0)
		dup2(messages, STDERR_FILENO);
	ret = read_again(settings, ops, context, failed_before);
	if (saved >= 0)
		dup2(saved, STDERR_FILENO);
	if (ret > 0 && messages >= 0)
		print_messages(messages);
	close(saved);
	close(messages);
	return ret;
}

bool visit_is_connected(const struct visit *visit)
{
	return source_is_connected(visit->source);
}

bool visit_has_failed(const struct visit *visit)
{
	return source_failed(visit->source);
}

bool visit_is_unreadable(const struct visit *visit)
{
	return source_is_unreadable(visit->source);
}

void visit_print_spans(const struct visit *visit)
{
	const struct pair_counts *counts = &visit->spans.pairing.counts;
	const struct visit_settings *settings = visit->settings;

	if (counts->dropped)
		fprintf(stderr, "elog: dropped %" PRIu64 " START%s, as more than %" PRIu32
			" were pending: spans may be missing; see --pending\n",
			counts->dropped, plural(counts->dropped),
			visit->spans.pairing.pending_max);
	if (settings->spans->rules.count && !counts->starts)
		fprintf(stderr, "elog: no event matched a START of --span\n");
	if (settings->spans->rules.count && !counts->ends)
		fprintf(stderr, "elog: no event matched an END of --span\n");
	if (settings->spans->by && counts->unkeyed)
		fprintf(stderr, "elog: %" PRIu64 " START or END event%s no value for --by %s\n",
			counts->unkeyed, counts->unkeyed == 1 ? " has" : "s have",
			settings->spans->by);
}

static void print_summary(struct visit *visit, uint64_t lost, const char *causes)
{
	fprintf(stderr, "elog: %" PRIu64 " event%s, lost %" PRIu64 "%s\n", visit->events,
		plural(visit->events), lost, causes ? causes : "");
	if (visit->unknown)
		fprintf(stderr, "elog: %" PRIu64 " event%s no definition in the file\n",
			visit->unknown, visit->unknown == 1 ? " has" : "s have");
	if (visit->settings->spans)
		visit_print_spans(visit);
}

int visit_status(struct visit *visit, bool failed, uint64_t lost)
{
	struct live *live = visit->live;
	int ret = live ? command_status(&live->command, visit->settings->quiet) : STATUS_OK;

	if (live && !failed)
		failed = live_deleted(live) || live_failed(live);
	failed |= source_failed(visit->source);
	failed |= source_finish(visit->source);
	if (failed)
		return STATUS_ERROR;
	return !ret && (lost || visit->damaged) ? STATUS_LOST : ret;
}

int visit_finish(struct visit *visit, bool failed)
{
	struct elog_text causes = { 0 };
	uint64_t lost = put_causes(visit->lost, ELOG_LOST_CAUSES_MAX, &causes);

	if (visit->stopped) {
		elog_error("interrupted: later events are missing");
		failed = true;
	}
	if (!visit->settings->quiet && !visit->silent)
		print_summary(visit, lost, causes.data);
	elog_text_free(&causes);
	return visit_status(visit, failed, lost);
}

void visit_close(struct visit *visit)
{
	struct event_kind *kind, *next;

	if (!visit)
		return;
	if (visit->settings->spans)
		spans_close(&visit->spans);
	source_close(visit->source);
	elog_map_free(&visit->kind_map);
	elog_text_free(&visit->key);
	for (kind = visit->kinds; kind; kind = next) {
		next = kind->next;
		free_kind(kind);
	}
	free(visit);
}
