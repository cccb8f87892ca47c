// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog info: what the kernel module is, can do, and has to do.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

static int read_status(int fd, struct elog_text *text)
{
	char buffer[4096];
	ssize_t size;

	while ((size = read(fd, buffer, sizeof(buffer))) > 0)
		elog_text_put(text, buffer, (size_t)size);
	return size < 0 ? -errno : text->error;
}

/* The number behind "NAME: " at the start of a line, as the text it is. */
static void print_count(const char *status, const char *name, const char *label)
{
	const char *found = status;
	size_t size = strlen(name);

	while ((found = strstr(found, name))) {
		if ((found == status || found[-1] == '\n') &&
		    !strncmp(found + size, ": ", 2)) {
			found += size + 2;
			printf("%-28s%.*s\n", label,
			       (int)strcspn(found, "\n"), found);
			return;
		}
		found += size;
	}
}

static void print_features(uint64_t features)
{
	static const char *const names[] = { "overwrite" };
	unsigned int bit;

	printf("%-28s", "features");
	if (!features)
		putchar('-');
	for (bit = 0; bit < 64; bit++) {
		if (!(features >> bit & 1))
			continue;
		if (features & ((1ULL << bit) - 1))
			putchar(',');
		if (bit < ARRAY_SIZE(names))
			fputs(names[bit], stdout);
		else
			printf("bit%u", bit);
	}
	putchar('\n');
}

static int run_info(const struct options *options)
{
	struct elog_text status = { 0 };
	struct eventlog_version version;
	int fd, ret;

	if (options->argument_count) {
		complain("'%s' is too much", options->arguments[0]);
		return STATUS_ERROR;
	}
	fd = elog_device_open(NULL);
	if (fd < 0) {
		explain_trouble(fd, PURPOSE_ASK);
		return STATUS_ERROR;
	}
	ret = elog_device_version(fd, &version);
	if (!ret)
		ret = read_status(fd, &status);
	close(fd);
	if (ret) {
		explain_trouble(ret, PURPOSE_ASK);
		elog_text_free(&status);
		return STATUS_ERROR;
	}
	printf("%-28s%s\n", "module", version.release);
	printf("%-28s%u\n", "abi", version.abi);
	printf("%-28s%s\n", "elog", tool_version());
	printf("%-28s%s\n", "device", EVENTLOG_DEVICE);
	print_features(version.features);
	if (status.data) {
		print_count(status.data, "Active", "events");
		print_count(status.data, "Busy", "events wanted");
	}
	printf("%-28s%u\n", "events at most", version.events_max);
	printf("%-28s%u\n", "subscribers at most", version.subscribers_max);
	printf("%-28s%u\n", "rules of a subscriber", version.rules_max);
	printf("%-28s%u\n", "registrations of a file", version.registrations_max);
	printf("%-28s%u\n", "bytes of a payload", version.payload_max);
	printf("%-28s%u\n", "bytes of a command", version.command_max);
	printf("%-28s%llu\n", "bytes of a ring", version.ring_bytes_max);
	if (options->verbose && status.data)
		printf("\n%s", status.data);
	elog_text_free(&status);
	if (version.abi != EVENTLOG_ABI_VERSION) {
		complain("the module's ABI is %u, this elog knows %u",
			 version.abi, EVENTLOG_ABI_VERSION);
		note("use the elog that came with the module");
		return STATUS_ERROR;
	}
	return STATUS_OK;
}

static const struct verb_option info_options[] = {
	{ 'v', "print the status listing as well" },
	{ 0, NULL },
};

const struct verb verb_info = {
	.name = "info",
	.summary = "tell about the kernel module",
	.usage = "[OPTION...]",
	.description =
	"Prints the module's version, features, limits and counts, one a line.\n"
	"\n"
	"Exit status: 0 all is well, 1 an error.\n",
	.options = info_options,
	.run = run_info,
};
