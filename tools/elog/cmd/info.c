// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog info: what the kernel module is, can do, and has to do.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/verb.h"
#include "input/listing.h"
#include "util/background.h"

static const char *const feature_names[] = {
	[0] = "overwrite", [1] = "pause", [3] = "markers",
};

/* A number there may be; @known: there is. */
struct number {
	const char *name;	/* in JSON */
	const char *label;
	bool known;
	uint64_t value;
};

/* The number behind "NAME: " at the start of a line. */
static void find_count(const char *status, const char *name,
		       struct number *number)
{
	size_t size = strlen(name);
	const char *found;

	for (found = status; (found = strstr(found, name)); found += size) {
		if ((found != status && found[-1] != '\n') ||
		    strncmp(found + size, ": ", 2))
			continue;
		number->known = true;
		number->value = strtoull(found + size + 2, NULL, 10);
		return;
	}
}

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

static void tell_captures(int ret)
{
	if (ret < 0)
		elog_error("captures in the background: %s", strerror(-ret));
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
		printf("%-28s%d %s\n", "capture in the background", pid,
		       text.data);
	elog_text_free(&text);
	return 0;
}

static void print_text(const struct eventlog_version *version,
		       const struct number *numbers, size_t count)
{
	size_t i;

	printf("%-28s%s\n", "module", version->release);
	printf("%-28s%u\n", "abi", version->abi);
	printf("%-28s%s\n", "elog", tool_version());
	printf("%-28s%s\n", "device", EVENTLOG_DEVICE);
	print_features(version->features);
	for (i = 0; i < count; i++)
		if (numbers[i].known)
			printf("%-28s%" PRIu64 "\n", numbers[i].label,
			       numbers[i].value);
	tell_captures(background_each(print_capture, NULL));
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

/* One object, in a line. */
static void put_json(const struct eventlog_version *version,
		     const struct number *numbers, size_t count,
		     const char *status, struct elog_text *text)
{
	const char *comma = "";
	unsigned int bit;
	size_t i;

	elog_text_put(text, "{", 1);
	json_member(text, "module", version->release);
	elog_text_printf(text, ",\"abi\":%u,", version->abi);
	json_member(text, "elog", tool_version());
	elog_text_put(text, ",", 1);
	json_member(text, "device", EVENTLOG_DEVICE);
	elog_text_string(text, ",\"features\":[");
	for (bit = 0; bit < 64; bit++) {
		if (!(version->features >> bit & 1))
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
		if (numbers[i].known)
			elog_text_printf(text, ",\"%s\":%" PRIu64,
					 numbers[i].name, numbers[i].value);
	elog_text_string(text, ",\"captures\":[");
	tell_captures(background_each(put_capture, text));
	elog_text_put(text, "]", 1);
	if (status) {
		elog_text_put(text, ",", 1);
		json_member(text, "status", status);
	}
	elog_text_string(text, "}\n");
}

/* Return: an exit status. */
static int print_info(const struct options *options,
		      const struct eventlog_version *version, const char *status)
{
	struct number numbers[] = {
		{ "events", "events", false, 0 },
		{ "events_wanted", "events wanted", false, 0 },
		{ "events_max", "events at most", true, version->events_max },
		{ "subscribers_max", "subscribers at most", true,
		  version->subscribers_max },
		{ "rules_max", "rules of a subscriber", true, version->rules_max },
		{ "registrations_max", "registrations of a file", true,
		  version->registrations_max },
		{ "payload_max", "bytes of a payload", true, version->payload_max },
		{ "command_max", "bytes of a command", true, version->command_max },
		{ "ring_bytes_max", "bytes of a ring", true,
		  version->ring_bytes_max },
	};
	struct elog_text text = { 0 };
	int ret = STATUS_OK;

	if (status) {
		find_count(status, "Active", &numbers[0]);
		find_count(status, "Busy", &numbers[1]);
	}
	if (options->format == FORMAT_JSON) {
		put_json(version, numbers, ARRAY_SIZE(numbers),
			 options->verbose ? status : NULL, &text);
		if (text.error) {
			elog_error("out of memory");
			ret = STATUS_ERROR;
		} else {
			fwrite(text.data, 1, text.size, stdout);
		}
		elog_text_free(&text);
		return ret;
	}
	print_text(version, numbers, ARRAY_SIZE(numbers));
	if (options->verbose && status)
		printf("\n%s", status);
	return ret;
}

static int run_info(const struct options *options)
{
	struct elog_text status = { 0 };
	struct eventlog_version version;
	int fd, ret, printed;

	if (options->argument_count) {
		elog_error("'%s' is too much", options->arguments[0]);
		return STATUS_ERROR;
	}
	fd = elog_device_open(NULL);
	if (fd < 0) {
		explain_device_error(fd, PURPOSE_QUERY);
		return STATUS_ERROR;
	}
	ret = elog_device_version(fd, &version);
	if (!ret)
		ret = listing_text(fd, &status);
	close(fd);
	if (ret) {
		explain_device_error(ret, PURPOSE_QUERY);
		elog_text_free(&status);
		return STATUS_ERROR;
	}
	printed = print_info(options, &version, status.data);
	elog_text_free(&status);
	if (version.abi != EVENTLOG_ABI_VERSION) {
		elog_error("the module's ABI is %u, this elog knows %u",
			   version.abi, EVENTLOG_ABI_VERSION);
		elog_hint("use the elog that came with the module");
		return STATUS_ERROR;
	}
	return printed;
}

static const struct verb_option info_options[] = {
	{ OPTION_FORMAT, "text (default), or json: an object in a line" },
	{ 'v', "print the status listing as well" },
	{ 0, NULL },
};

const struct verb verb_info = {
	.name = "info",
	.summary = "tell about the kernel module",
	.usage = "[OPTION...]",
	.description =
	"Prints the module's version, features, limits and counts, one a line, and this\n"
	"user's captures in the background: process and file.\n"
	"\n"
	"Exit status: 0 all is well, 1 an error.\n",
	.options = info_options,
	.formats = 1U << FORMAT_TEXT | 1U << FORMAT_JSON,
	.run = run_info,
};
