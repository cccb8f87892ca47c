// SPDX-License-Identifier: GPL-2.0-only
/*
 * A live run: see live.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libelog/util/abi.h"
#include "libelog/util/port.h"
#include "input/live.h"
#include "input/missing.h"
#include "input/names.h"
#include "input/rule_filter.h"
#include "libelog/util/process.h"
#include "util/time_spec.h"
#include "util/signals.h"

#define AWAIT_MS 50	/* between looks for the device */
#define AWAIT_NS 10000000000ULL

uint64_t monotonic(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

int time_left(uint64_t start, uint64_t span, int most)
{
	const uint64_t passed = monotonic() - start;
	const uint64_t left = passed < span ? (span - passed + 999999) / 1000000 : 0;

	return left < (uint64_t)most ? (int)left : most;
}

uint64_t record_time(uint64_t time)
{
	static int64_t offset;
	static bool is_known;

	/* Computing it reads three files of /proc; it never changes. */
	if (!is_known) {
		offset = elog_time_offset();
		is_known = true;
	}
	return time - (uint64_t)offset;
}

/* Sample the clocks; of three attempts, take the one that took the shortest time. */
static struct clock_step sample_clocks(void)
{
	uint64_t before, after, best = UINT64_MAX;
	struct clock_step step = { 0 };
	unsigned int i;
	int64_t now;

	for (i = 0; i < 3; i++) {
		before = monotonic();
		now = realtime_now();
		after = monotonic();
		if (after - before >= best)
			continue;
		best = after - before;
		step.time = record_time(before + best / 2);
		step.offset = now - (int64_t)step.time;
	}
	return step;
}

int64_t wall_offset(void)
{
	return sample_clocks().offset;
}

/* Subscribes. After a module was replaced, waits until that is possible, or a signal arrives. */
static int open_consumer(struct live *live, const struct elog_consumer_options *options)
{
	const uint64_t start = monotonic();
	int ret;

	for (;;) {
		ret = elog_consumer_open(&live->consumer, options);
		if (!ret || !live->settings->await)
			return ret;
		if (signals_stops())
			return -ECANCELED;
		/* Until udev has seen the node, its owner and permissions are others. */
		if (ret != -ENOENT && ret != -ENXIO && ret != -ENODEV && ret != -ESHUTDOWN &&
		    monotonic() - start > AWAIT_NS)
			return ret;
		signals_poll(NULL, 0, AWAIT_MS);
	}
}

int live_open(struct live *live, const struct selection_spec *spec,
	      const struct live_settings *settings,
	      const struct elog_consumer_options *consumer_options)
{
	struct elog_consumer_options chosen = {
		.size = sizeof(chosen),
		.ring_bytes = settings->ring_bytes,
	};
	long page_size = sysconf(_SC_PAGESIZE);
	int ret;

	memset(live, 0, sizeof(*live));
	live->spec = spec;
	live->settings = settings;
	live->processes = elog_processes_new();
	if (!live->processes) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	if (settings->ring_bytes &&
	    settings->ring_bytes < 2 * (uint64_t)page_size) {
		elog_error("--per-cpu-bytes: the minimum is two pages, %ld bytes",
			   2 * page_size);
		return -EINVAL;
	}
	ret = rule_filter_compile(spec, settings->verbose && !settings->quiet, &live->filter);
	if (ret)
		return ret;
	if (consumer_options)
		chosen = *consumer_options;
	else if (settings->instances && !settings->ring_bytes)
		chosen.ring_bytes = INSTANCES_RING_BYTES;
	chosen.processes = live->processes;
	/* An event from the ring of a thread has no CPU. */
	if (spec->cpus.count && !(chosen.flags & ELOG_CONSUMER_NO_RINGS))
		chosen.flags |= ELOG_CONSUMER_NO_SHARDS;
	live->steps = clock_steps_new(sample_clocks);
	ret = open_consumer(live, &chosen);
	if (ret == -ECANCELED)
		return ret;
	if (ret) {
		explain_device_error(ret, PURPOSE_CONSUME);
		return ret;
	}
	ret = instances_open(live, &chosen);
	if (!ret)
		ret = missing_open(live);
	return ret ? ret : rules_add(live, live->consumer);
}

void live_close(struct live *live)
{
	names_close(live->names);
	instances_close(live);
	elog_consumer_close(live->consumer);
	clock_steps_free(live->steps);
	live->steps = NULL;
	elog_processes_free(live->processes);
	elog_filter_free(live->filter);
	free(live->rules);
	live->consumer = NULL;
	live->processes = NULL;
	live->names = NULL;
	live->filter = NULL;
	live->rules = NULL;
}

int live_start(struct live *live)
{
	char **command = live->settings->command;
	const char *name;
	uint32_t pid;
	int ret;

	live->started = monotonic();
	if (!command)
		return 0;
	ret = command_start(&live->command, command, live->settings->owns_stdout);
	if (ret)
		return ret;
	name = strrchr(command[0], '/');
	pid = (uint32_t)live->command.pid;
	elog_processes_learn(live->processes, pid, pid, name ? name + 1 : command[0]);
	return 0;
}

static bool stop_requested(struct live *live)
{
	bool from_terminal;
	int stops = signals_stops(), signal;

	if (live->stops_seen == stops)
		return false;
	/* Both may have arrived since the last call. */
	if (!live->command.pid || stops > 1)
		return true;
	live->stops_seen = stops;
	signal = signals_stop(&from_terminal);
	if (!from_terminal)
		kill(live->command.pid, signal);
	return false;
}

/* poll() reports POLLRDHUP only to who asks for it, which libelog does not. */
static bool is_asked(const struct live *live)
{
	struct pollfd file = { .fd = elog_consumer_fd(live->consumer), .events = POLLRDHUP };

	return elog_port_poll(&file, 1, 0, NULL) > 0 && file.revents & POLLRDHUP;
}

/* Must the run end for a reason that also ends COMMAND? */
static bool is_command_over(struct live *live)
{
	const uint64_t duration = live->settings->duration;

	return stop_requested(live) || (live->command.name && command_reap(&live->command)) ||
	       (duration && monotonic() - live->started >= duration);
}

bool live_over(struct live *live)
{
	live->asked |= is_asked(live);
	return is_command_over(live) || live->deleted || live->asked;
}

int live_left(const struct live *live, int most)
{
	/* The signal arrived before the sleep, for example while a file was opened. */
	if (live->stops_seen != signals_stops())
		return 0;
	if (!live->settings->duration)
		return most;
	return time_left(live->started, live->settings->duration, most < 0 ? INT32_MAX : most);
}

int live_wait(struct live *live, int most, bool *over)
{
	int ret;

	if (live->instances && (most < 0 || most > INSTANCES_LOOK_MS))
		most = INSTANCES_LOOK_MS;
	ret = instances_wait(live, live_left(live, most));
	live->deleted |= ret == -ENODEV;
	instances_look(live);
	*over = live_over(live);
	if (ret < 0 && ret != -EINTR && ret != -ENODEV)
		return ret;
	return live_pending(live);
}

void live_sleep(struct live *live, int most, bool *over)
{
	/* poll() always reports POLLHUP. */
	struct pollfd file = { .fd = elog_consumer_fd(live->consumer), .events = POLLRDHUP };

	if (live->instances && (most < 0 || most > INSTANCES_LOOK_MS))
		most = INSTANCES_LOOK_MS;
	if (signals_poll(&file, 1, live_left(live, most)) > 0)
		live->deleted |= (file.revents & POLLHUP) != 0;
	instances_look(live);
	*over = live_over(live);
}

static bool is_lost(const struct live *live)
{
	return live->deleted || live->asked;
}

bool live_deleted(const struct live *live)
{
	const bool ended = live->deleted && elog_port_gone(elog_consumer_fd(live->consumer));

	if (ended)
		elog_error("%s: the engine was ended: events that it had not delivered are lost, "
			   "and later ones", elog_device_path(NULL));
	else if (live->deleted)
		elog_error("%s: the instance was deleted", elog_device_path(NULL));
	else if (live->asked)
		elog_error("the kernel module is being replaced");
	if (is_lost(live) && live->command.pid)
		elog_hint("%s goes on, its later events are missing", live->command.name);
	return is_lost(live) && (ended || !live->command.name);
}

int flush_consumer(struct elog_consumer *consumer)
{
	int ret;

	do {
		ret = elog_consumer_flush(consumer);
	} while (ret == -EINTR);
	return ret;
}

void live_end(struct live *live)
{
	live->ended = monotonic();
	if ((!is_lost(live) && !live->failed) || is_command_over(live))
		command_end(&live->command, signals_stops() > 1);
}

int live_outlast(struct live *live, int status)
{
	int ret;

	if (!live->command.pid)
		return status;
	if (live->failed)
		elog_hint("%s goes on, its later events are missing", live->command.name);
	while (!is_command_over(live))
		signals_sleep(live_left(live, -1));
	command_end(&live->command, signals_stops() > 1);
	ret = command_status(&live->command, live->settings->quiet);
	return live->failed || !ret ? status : ret;
}

uint64_t live_lost_sum(const struct eventlog_stat *stat)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		sum += i == CAUSE_INVALID ? 0 : stat->lost[i];
	return sum;
}

int live_lost(struct live *live, struct eventlog_stat *stat, uint64_t *sum)
{
	int ret;

	*sum = 0;
	ret = live_stat(live, stat);
	if (ret) {
		elog_error("cannot read the number of lost events: %s", strerror(-ret));
		return ret;
	}
	*sum = live_lost_sum(stat);
	return 0;
}

/* @event: NULL: it is not known */
static void hint_lost(const char *instance, const struct elog_schema_event *event,
		      uint32_t descriptor, const struct eventlog_stat *stat)
{
	const uint64_t invalid = stat->lost[CAUSE_INVALID], lost = stat->event_lost - invalid;
	struct elog_text name = { 0 };

	if (*instance)
		elog_text_printf(&name, "%s:", instance);
	if (event) {
		put_quotable(&name, event->provider->name);
		elog_text_put(&name, "/", 1);
		put_quotable(&name, event->name);
	} else {
		elog_text_printf(&name, "event #%u", descriptor);
	}
	if (lost)
		elog_hint("lost %" PRIu64 " of %s", lost, name.error ? "?" : name.data);
	if (invalid)
		elog_hint("invalid: %" PRIu64 " of %s", invalid, name.error ? "?" : name.data);
	elog_text_free(&name);
}

static void print_lost(struct elog_consumer *consumer, const char *instance)
{
	struct eventlog_definition definition = { .size = sizeof(definition) };
	struct eventlog_stat stat = { .size = sizeof(stat) };
	const struct elog_schema_event *event;
	struct elog_list *definitions;
	const char *schema;

	if (elog_list_open(elog_consumer_fd(consumer), EVENTLOG_LIST_DEFINITIONS, 0, &definitions))
		return;
	while (!elog_list_next(definitions, &definition, &schema)) {
		if (elog_consumer_stat(consumer, EVENTLOG_RINGS_ALL, definition.descriptor,
				       &stat) ||
		    !stat.event_lost)
			continue;
		if (elog_consumer_describe(consumer, definition.descriptor, &event))
			event = NULL;
		hint_lost(instance, event, definition.descriptor, &stat);
	}
	elog_list_close(definitions);
}

void live_print_lost(struct live *live)
{
	const struct member *member;
	struct eventlog_stat stat;
	size_t i;

	print_lost(live->consumer, "");
	for (i = 1; (member = live_member(live, i)); i++) {
		stat = member->lost;
		stat.size = sizeof(stat);
		if (member->consumer &&
		    elog_consumer_stat(member->consumer, EVENTLOG_RINGS_ALL, 0, &stat))
			continue;
		if (live_lost_sum(&stat))
			elog_hint("lost %" PRIu64 " of instance %s", live_lost_sum(&stat),
				  member->name);
		if (member->consumer)
			print_lost(member->consumer, member->name);
	}
}

void print_rejected(const struct eventlog_stat *stat, const char *glob)
{
	fprintf(stderr, "elog: %" PRIu64 " event%s%s%s rejected by the filter in the kernel",
		(uint64_t)stat->rejected, stat->rejected == 1 ? "" : "s", *glob ? " of " : "",
		glob);
	if (stat->incompatible)
		fprintf(stderr, ", %" PRIu64 " of them without the fields that it compares",
			(uint64_t)stat->incompatible);
	fputc('\n', stderr);
}

void live_print_rejected(struct live *live)
{
	struct eventlog_stat stat = { .size = sizeof(stat) };
	size_t i;

	if (!live->filter || !live->settings->verbose || live->settings->quiet ||
	    live_stat(live, &stat))
		return;
	print_rejected(&stat, "");
	for (i = 0; live->rule_count > 1 && i < live->rule_count; i++)
		if (!elog_consumer_rule_stat(live->consumer, live->rules[i].id, &stat) &&
		    stat.rejected)
			print_rejected(&stat, live->rules[i].glob);
}
