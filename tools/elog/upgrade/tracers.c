// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracers: see tracers.h.
 *
 * The systems of trace events of eventlog.ko start with its name.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "upgrade/modules.h"
#include "upgrade/tracers.h"
#include "util/array.h"
#include "util/tool.h"

#define NAMES_MAX 5	/* that are printed */

struct found {
	struct elog_text names;
	size_t count;
};

static const char *tracefs(void)
{
	static const char *const paths[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char path[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		snprintf(path, sizeof(path), "%s/set_event", paths[i]);
		if (!access(path, R_OK))
			return paths[i];
	}
	return NULL;
}

static void add_name(struct found *found, const char *name)
{
	if (found->count++ < NAMES_MAX)
		elog_text_printf(&found->names, "%s%s", found->names.data ? ", " : "", name);
	else if (found->count == NAMES_MAX + 2)
		elog_text_printf(&found->names, ", ...");
}

static bool is_ours(const char *event)
{
	return !strncmp(event, EVENTLOG_MODULE, strlen(EVENTLOG_MODULE));
}

/* A line of set_event: "system:event". */
static void see_enabled(struct found *found, char *line)
{
	if (is_ours(line))
		add_name(found, line);
}

/* A line of dynamic_events: "e:group/name system.event field..." */
static void see_eprobe(struct found *found, char *line)
{
	char *event = strchr(line, ' ');

	if (strncmp(line, "e:", 2) != 0 || !event)
		return;
	*event++ = '\0';
	if (is_ours(event))
		add_name(found, line + 2);
}

static void see_lines(struct found *found, const char *path,
		      void (*see)(struct found *found, char *line))
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;

	while (file && getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		see(found, line);
	}
	if (file)
		fclose(file);
	free(line);
}

static void find_enabled(struct found *found, const char *directory)
{
	char pattern[96];
	glob_t paths;
	size_t i;

	snprintf(pattern, sizeof(pattern), "%s/set_event", directory);
	see_lines(found, pattern, see_enabled);
	snprintf(pattern, sizeof(pattern), "%s/instances/*/set_event", directory);
	if (glob(pattern, 0, NULL, &paths))
		return;
	for (i = 0; i < paths.gl_pathc; i++)
		see_lines(found, paths.gl_pathv[i], see_enabled);
	globfree(&paths);
}

bool tracers_enabled(void)
{
	const char *directory = tracefs();
	struct found found = { 0 };

	if (directory)
		find_enabled(&found, directory);
	if (found.count) {
		elog_error("trace events are enabled, which keeps the module: %s",
			   found.names.data);
		elog_hint("disable them, for example with: echo 0 > %s/events/SYSTEM/EVENT/enable",
			  directory);
	}
	elog_text_free(&found.names);
	return found.count;
}

bool tracers_eprobes(void)
{
	const char *directory = tracefs();
	struct found found = { 0 };
	char path[64];

	if (!directory)
		return false;
	snprintf(path, sizeof(path), "%s/dynamic_events", directory);
	see_lines(&found, path, see_eprobe);
	if (found.count) {
		elog_error("eprobes use trace events of the module: %s", found.names.data);
		elog_hint("remove them, for example with: echo -:GROUP/NAME >> %s", path);
	}
	elog_text_free(&found.names);
	return found.count;
}
