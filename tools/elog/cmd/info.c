// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog info: print version, features, limits and counts of the kernel module, or the headers
 * of files.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/info_file.h"
#include "cmd/instance.h"
#include "cmd/verb.h"
#include "libelog/util/abi.h"
#include "libelog/util/port.h"
#include "util/background.h"
#include "util/engine.h"

static const char *const feature_names[] = {
	[0] = "trace", [1] = "instances", [2] = "sessions", [3] = "leave", [4] = "cgroup",
};

/**
 * struct source - what the numbers are of
 * @engine: the process of an engine; 0: the module
 * @path: of its device or socket
 */
struct source {
	pid_t engine;
	char path[PATH_MAX];
};

static const char *const weaker[] = {
	"no events of the kernel, no trace events, no instances, no elog why",
	"if it is killed, what programs have emitted since it last looked is lost, not counted",
	"a program whose ring is full waits for it",
};

struct number {
	const char *name;	/* in JSON */
	const char *label;
	uint64_t value;
};

static void print_features(uint64_t features)
{
	unsigned int bit;

	printf("%-28s", "features");
	if (!features)
		putchar('-');
	for (bit = 0; bit < 64; bit++) {
		if (!(features >> bit & 1))
			continue;
		if (features & ((1ULL << bit) - 1))
			putchar(',');
		if (bit < ARRAY_SIZE(feature_names) && feature_names[bit])
			fputs(feature_names[bit], stdout);
		else
			printf("bit%u", bit);
	}
	putchar('\n');
}

static int print_capture(const struct background_info *info, void *context)
{
	pid_t pid = background_process(info);
	struct elog_text text = { 0 };

	(void)context;
	if (!pid)
		return 0;
	elog_text_quoted(&text, info->target, strlen(info->target));
	if (!text.error)
		printf("%-28s%d %s\n", "background capture", pid, text.data);
	elog_text_free(&text);
	return 0;
}

static void print_text(const struct eventlog_info *info, const struct source *source,
		       const struct number *numbers, size_t count)
{
	size_t i;

	if (source->engine)
		printf("%-28s%s, process %d\n", "engine", info->release, source->engine);
	else
		printf("%-28s%s\n", "module", info->release);
	printf("%-28s%u\n", "abi", info->abi);
	printf("%-28s%s\n", "elog", tool_version());
	printf("%-28s%s\n", "device", source->path);
	for (i = 0; source->engine && i < ARRAY_SIZE(weaker); i++)
		printf("%-28s%s\n", i ? "" : "weaker than the module", weaker[i]);
	print_features(info->features);
	for (i = 0; i < count; i++)
		printf("%-28s%" PRIu64 "\n", numbers[i].label, numbers[i].value);
	background_each(print_capture, NULL);
}

/* ------------------------------------------------------------------------
 * JSON
 */

static int put_capture(const struct background_info *info, void *context)
{
	pid_t pid = background_process(info);
	struct elog_text *text = context;

	if (!pid)
		return 0;
	elog_text_printf(text, "%s{\"pid\":%d,",
			 text->size && text->data[text->size - 1] == '}' ? "," : "",
			 pid);
	json_member(text, "target", info->target);
	elog_text_put(text, "}", 1);
	return 0;
}

/* By enum eventlog_quota. */
static const char *const quota_labels[EVENTLOG_QUOTAS] = {
	"your events", "your new events in a second", "your registrations",
	"bytes of your trace events", "bytes of your ended events", "bytes of your rings",
	"your producer rings",
};

static void print_quotas(const struct eventlog_user_quota *found)
{
	unsigned int i;

	if (found[0].limit == UINT64_MAX) {
		printf("%-28s%s\n", "your limits", "none");
		return;
	}
	for (i = 0; i < EVENTLOG_QUOTAS; i++)
		printf("%-28s%" PRIu64 " of %" PRIu64 ", denied %" PRIu64 "\n", quota_labels[i],
		       (uint64_t)found[i].use, (uint64_t)found[i].limit,
		       (uint64_t)found[i].denied);
}

/* A limit of null: there is none. */
static void put_quotas(const struct eventlog_user_quota *found, struct elog_text *text)
{
	unsigned int i;

	elog_text_string(text, ",\"quotas\":{");
	for (i = 0; i < EVENTLOG_QUOTAS; i++) {
		elog_text_printf(text, "%s\"%s\":{\"limit\":", i ? "," : "", quota_names[i]);
		if (found[i].limit == UINT64_MAX)
			elog_text_string(text, "null");
		else
			elog_text_printf(text, "%" PRIu64, (uint64_t)found[i].limit);
		elog_text_printf(text, ",\"use\":%" PRIu64 ",\"denied\":%" PRIu64 "}",
				 (uint64_t)found[i].use, (uint64_t)found[i].denied);
	}
	elog_text_put(text, "}", 1);
}

/* Put one object in one line. */
static void put_json(const struct eventlog_info *info, const struct source *source,
		     const struct number *numbers, size_t count, const char *status,
		     struct elog_text *text)
{
	const char *comma = "";
	unsigned int bit;
	size_t i;

	elog_text_put(text, "{", 1);
	json_member(text, "module", info->release);
	elog_text_printf(text, ",\"abi\":%u,", info->abi);
	json_member(text, "elog", tool_version());
	elog_text_put(text, ",", 1);
	json_member(text, "device", source->path);
	if (source->engine)
		elog_text_printf(text, ",\"engine\":%d", source->engine);
	elog_text_string(text, ",\"features\":[");
	for (bit = 0; bit < 64; bit++) {
		if (!(info->features >> bit & 1))
			continue;
		if (bit < ARRAY_SIZE(feature_names) && feature_names[bit])
			elog_text_printf(text, "%s\"%s\"", comma,
					 feature_names[bit]);
		else
			elog_text_printf(text, "%s\"bit%u\"", comma, bit);
		comma = ",";
	}
	elog_text_put(text, "]", 1);
	for (i = 0; i < count; i++)
		elog_text_printf(text, ",\"%s\":%" PRIu64, numbers[i].name,
				 numbers[i].value);
	put_quotas(info->quotas, text);
	elog_text_string(text, ",\"captures\":[");
	background_each(put_capture, text);
	elog_text_put(text, "]", 1);
	if (status) {
		elog_text_put(text, ",", 1);
		json_member(text, "status", status);
	}
	elog_text_string(text, "}\n");
}

/* Return: an exit status. */
static int print_info(const struct options *options, const struct eventlog_info *info,
		      const struct source *source, const char *status)
{
	const struct number numbers[] = {
		{ "events", "events", info->events },
		{ "events_enabled", "events enabled", info->enabled },
		{ "events_retained", "events retained", info->retained },
		{ "kernel_providers", "kernel providers", info->providers },
		{ "subscribers", "subscribers", info->subscribers },
		{ "marker_policies", "marker policies", info->policies },
		{ "events_max", "events at most", info->events_max },
		{ "subscribers_max", "subscribers at most", info->subscribers_max },
		{ "policies_max", "marker policies at most", info->policies_max },
		{ "rules_max", "rules of a subscriber", info->rules_max },
		{ "registrations_max", "registrations of a file", info->registrations_max },
		{ "payload_max", "bytes of a payload", info->payload_max },
		{ "command_max", "bytes of a command", info->command_max },
		{ "ring_bytes_max", "bytes of a ring", info->ring_bytes_max },
	};
	struct elog_text text = { 0 };

	if (options->print.format == FORMAT_JSON) {
		put_json(info, source, numbers, ARRAY_SIZE(numbers),
			 options->verbose ? status : NULL, &text);
		return text_print(&text);
	}
	print_text(info, source, numbers, ARRAY_SIZE(numbers));
	print_quotas(info->quotas);
	if (options->verbose && status)
		printf("\n%s", status);
	return STATUS_OK;
}

/* Return: 0 or a negative errno. */
static int read_listing(int fd, struct elog_text *text)
{
	char buffer[4096];
	ssize_t size;

	do {
		size = elog_port_read(fd, buffer, sizeof(buffer));
		if (size > 0)
			elog_text_put(text, buffer, (size_t)size);
	} while (size > 0 || (size < 0 && errno == EINTR));
	return size < 0 ? -errno : text->error;
}

static int run_info(const struct options *options)
{
	struct eventlog_info info = { .size = sizeof(info) };
	struct elog_text status = { 0 };
	struct source source;
	int fd, ret, printed;

	if (options->argument_count)
		return info_files(options);
	fd = elog_device_open(NULL);
	if (fd < 0) {
		explain_device_error(fd, PURPOSE_QUERY);
		return STATUS_ERROR;
	}
	source.engine = engine_of(fd);
	snprintf(source.path, sizeof(source.path), "%s", elog_device_path(NULL));
	if (source.engine)
		engine_path(fd, source.path, sizeof(source.path));
	ret = elog_device_info(fd, &info);
	if (!ret && options->verbose)
		ret = read_listing(fd, &status);
	if (!ret && options->verbose)
		explain_restriction(fd);
	elog_port_close(fd);
	if (ret) {
		explain_device_error(ret, PURPOSE_QUERY);
		elog_text_free(&status);
		return STATUS_ERROR;
	}
	printed = print_info(options, &info, &source, status.data);
	elog_text_free(&status);
	return printed;
}

static const struct verb_option info_options[] = {
	{ OPTION_FORMAT, "text (default), or json: one object in one line" },
	{ 'D', NULL },
	{ 'v', "also print the status listing; of a FILE, the whole header, and what\n"
	  "each instance lost" },
	{ 0, NULL },
};

const struct verb verb_info = {
	.name = "info",
	.summary = "print information about the kernel module, or about files",
	.usage = "[OPTION...] [FILE...]",
	.description =
	"Prints the module's version, features, limits and counts, one per line, the process\n"
	"and file of each background capture of this user, and what this user may make the\n"
	"module keep: use, limit, and how often the limit was reached.\n"
	"\n"
	"With FILE, prints the header of each file that elog capture -o wrote instead.\n"
	"\n"
	"Exit status: 0 success, 1 an error.\n",
	.options = info_options,
	.formats = 1U << FORMAT_TEXT | 1U << FORMAT_JSON,
	.run = run_info,
};
