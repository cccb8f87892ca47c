// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog show: print the events of files as elog capture prints them. What a file
 * says is trusted in nothing; what is not whole is told on stderr.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

#define OUTPUT_BYTES	65536

struct show {
	const struct options *options;
	const char *name;		/* of the file being shown */
	struct elog_file_reader *reader;
	struct line_format format;
	struct elog_text output;
	uint64_t shown;
	uint64_t lost[EVENTLOG_LOST_CAUSES];
	bool enough;			/* -n is reached */
	bool closed;			/* stdout's reader is gone */
	bool failed;			/* a file was damaged, or worse */
};

static void write_output(struct show *show)
{
	size_t written = 0;
	ssize_t ret;

	if (show->output.error) {
		complain("out of memory");
		show->failed = true;
		show->closed = true;
	}
	while (written < show->output.size && !show->closed) {
		ret = write(STDOUT_FILENO, show->output.data + written,
			    show->output.size - written);
		if (ret >= 0) {
			written += (size_t)ret;
		} else if (errno != EINTR) {
			show->closed = true;
			if (errno == EPIPE)
				break;
			complain("cannot write to stdout: %s", strerror(errno));
			show->failed = true;
		}
	}
	show->output.size = 0;
}

static bool glob_matches(const char *glob, const struct elog_schema_event *event)
{
	const char *slash = strchr(glob, '/');
	char provider[EVENTLOG_GLOB_MAX];

	if (slash && fnmatch(slash + 1, event->name, 0))
		return false;
	if (!slash)
		return !fnmatch(glob, event->provider->name, 0);
	memcpy(provider, glob, (size_t)(slash - glob));
	provider[slash - glob] = '\0';
	return !fnmatch(provider, event->provider->name, 0);
}

/* What is asked of the definition; one that is unknown is not what is asked for. */
static bool definition_matches(const struct options *options,
			       const struct elog_schema_event *event)
{
	size_t i;

	if (options->level && (!event || event->level > options->level))
		return false;
	if ((options->keywords || options->keyword_names) &&
	    (!event || !keywords_match(options, event)))
		return false;
	if (!options->glob_count)
		return true;
	for (i = 0; event && i < options->glob_count; i++)
		if (glob_matches(options->globs[i], event))
			return true;
	return false;
}

static void show_event(struct show *show, const struct elog_item *item)
{
	const struct options *options = show->options;
	const struct elog_schema_event *event = NULL;

	if (!number_matches(&options->cpus, item->cpu) ||
	    !number_matches(&options->tids, item->tid) ||
	    !number_matches(&options->pids, item->pid) ||
	    !number_matches(&options->sessions, item->session))
		return;
	if (elog_file_describe(show->reader, item->descriptor, &event))
		event = NULL;
	if (!definition_matches(options, event))
		return;
	show->format.processes = elog_file_processes(show->reader);
	show->format.wall_offset = elog_file_wall_offset(show->reader);
	line_event(&show->format, item, event, &show->output);
	show->shown++;
	show->enough = show->shown == options->count;
}

static void show_loss(struct show *show, const struct elog_item *item)
{
	unsigned int i;

	/* A CPU that is not known may be one of them. */
	if (item->cpu != EVENTLOG_CPU_ALL &&
	    !number_matches(&show->options->cpus, item->cpu))
		return;
	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		show->lost[i] += item->lost[i];
	line_lost(item, &show->output);
}

static void tell_part(struct show *show)
{
	static const char *const keys[] = {
		"host", "machine", "kernel", "elog", "command",
	};
	struct elog_text text = { 0 };
	const char *value;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		value = elog_file_info(show->reader, keys[i]);
		if (!value)
			continue;
		elog_text_printf(&text, " %s=", keys[i]);
		elog_text_quoted(&text, value, strlen(value));
	}
	fprintf(stderr, "elog: %s:%s\n", show->name, text.data ? text.data : "");
	elog_text_free(&text);
}

static void tell_damage(struct show *show, const struct elog_item *item)
{
	const char *name = show->name;
	uint64_t at = item->offset, size = item->size;

	show->failed = true;
	switch (item->damage) {
	case ELOG_DAMAGE_CUT:
		complain("%s: ends within a block: the last %" PRIu64
			 " bytes, from byte %" PRIu64 ", are of no use",
			 name, size, at);
		break;
	case ELOG_DAMAGE_NO_END:
		complain("%s: the capture was cut off at byte %" PRIu64, name, at);
		break;
	case ELOG_DAMAGE_RECORDS:
		complain("%s: %" PRIu64 " bytes in the block at byte %" PRIu64
			 " are not events: skipped", name, size, at);
		break;
	case ELOG_DAMAGE_MISSING:
		if (size)
			complain("%s: before byte %" PRIu64 " %" PRIu64
				 " bytes of events are missing", name, at, size);
		else
			complain("%s: before byte %" PRIu64
				 " events are missing", name, at);
		break;
	case ELOG_DAMAGE_ORDER:
		complain("%s: before byte %" PRIu64
			 " too much is unsorted: the order may be wrong",
			 name, at);
		break;
	case ELOG_DAMAGE_UNKNOWN:
		complain("%s: the block at byte %" PRIu64
			 " is for a later version of elog: skipped", name, at);
		break;
	default:
		complain("%s: %" PRIu64 " bytes at byte %" PRIu64
			 " are damaged: skipped", name, size, at);
		break;
	}
}

static void show_item(struct show *show, const struct elog_item *item)
{
	switch (item->type) {
	case ELOG_ITEM_EVENT:
		show_event(show, item);
		break;
	case ELOG_ITEM_LOST:
		show_loss(show, item);
		break;
	case ELOG_ITEM_PART:
		if (show->options->verbose)
			tell_part(show);
		break;
	case ELOG_ITEM_SYNC:
		/* The next one may be long in coming. */
		write_output(show);
		break;
	case ELOG_ITEM_DAMAGE:
		write_output(show);
		tell_damage(show, item);
		break;
	}
	if (show->output.size >= OUTPUT_BYTES)
		write_output(show);
}

static void show_file(struct show *show, int fd)
{
	struct elog_item item;
	int ret;

	ret = elog_file_reader_open(&show->reader, fd);
	while (!ret && !show->enough && !show->closed) {
		ret = elog_file_next(show->reader, &item);
		if (ret <= 0)
			break;
		show_item(show, &item);
		ret = 0;
	}
	write_output(show);
	elog_file_reader_close(show->reader);
	show->reader = NULL;
	if (!ret)
		return;
	show->failed = true;
	switch (ret) {
	case -EBADMSG:
		complain("%s: not a file of elog capture -o", show->name);
		break;
	case -EPROTONOSUPPORT:
		complain("%s: of a version that this elog does not know",
			 show->name);
		break;
	case -EOPNOTSUPP:
		complain("%s: from a machine of the other byte order: read it on such a one",
			 show->name);
		break;
	default:
		complain("%s: %s", show->name, strerror(-ret));
		break;
	}
}

static void show_named(struct show *show, const char *name)
{
	int fd;

	show->name = name;
	if (!strcmp(name, "-")) {
		show->name = "stdin";
		show_file(show, STDIN_FILENO);
		return;
	}
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		complain("%s: %s", name, strerror(errno));
		show->failed = true;
		return;
	}
	show_file(show, fd);
	close(fd);
}

static int run_show(const struct options *options)
{
	struct show show = { .options = options };
	struct elog_text causes = { 0 };
	uint64_t lost;
	int i;

	if (!options->argument_count) {
		complain("FILE is missing");
		note("try: elog show --help");
		return STATUS_ERROR;
	}
	signal(SIGPIPE, SIG_IGN);
	show.format.time = options->time;
	for (i = 0; i < options->argument_count && !show.enough && !show.closed; i++)
		show_named(&show, options->arguments[i]);
	elog_text_free(&show.output);
	lost = put_causes(show.lost, &causes);
	if (!options->quiet)
		fprintf(stderr, "elog: %" PRIu64 " event%s, lost %" PRIu64 "%s\n",
			show.shown, show.shown == 1 ? "" : "s", lost,
			causes.data ? causes.data : "");
	elog_text_free(&causes);
	if (show.failed)
		return STATUS_ERROR;
	return lost ? STATUS_LOST : STATUS_OK;
}

static const struct verb_option show_options[] = {
	{ 'e', NULL }, { 'k', NULL }, { 'l', NULL }, { 's', NULL },
	{ 'p', NULL }, { 't', NULL }, { 'C', NULL }, { 'n', NULL },
	{ OPTION_TIME, NULL }, { 'q', "no summary" },
	{ 'v', "say of each capture where it was made" },
	{ 0, NULL },
};

const struct verb verb_show = {
	.name = "show",
	.summary = "print the events of a file that capture -o has written",
	.usage = "[OPTION...] FILE...",
	.description =
	"Prints the events of each FILE, in the order of their times, as elog capture\n"
	"prints them; - is the standard input. What is damaged is skipped, and told.\n"
	"\n"
	"Exit status: 0 all is well; 1 an error, or a FILE was damaged; 2 events were\n"
	"lost when they were captured.\n",
	.options = show_options,
	.run = run_show,
};
