// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog export --format jsonl and csv: what elog show prints as JSON or CSV, with all columns
 * in each line: programs that look only at the first lines find them all. The end of a span
 * has its name and its duration. A loss is an event of the provider eventlog.
 */
#include <errno.h>
#include <stdlib.h>

#include <unistd.h>

#include "export/export.h"
#include "output/printer.h"

/*
 * struct lines - the state
 * @settings: of the printer
 * @printer: appends to the sink's text
 */
struct lines {
	struct print_settings settings;
	struct printer *printer;
};

static int open_lines(struct export *export)
{
	struct lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	export->state = lines;
	lines->settings.format = export->csv ? FORMAT_CSV : FORMAT_JSON;
	lines->settings.time = TIME_UNIVERSAL;
	lines->settings.complete = true;
	escape_cells(isatty(export->sink.fd));
	return printer_open(&lines->printer, &lines->settings, &export->sink.text, false) ?
	       -EINVAL : 0;
}

static void close_lines(struct export *export)
{
	struct lines *lines = export->state;

	if (lines)
		printer_close(lines->printer);
	free(lines);
}

static int line_of_event(void *context, struct visit_event *event)
{
	struct export *export = context;
	struct lines *lines = export->state;
	const struct span *span = &event->match.span;
	struct printed_span printed;

	if (event->match.ended)
		printed = (struct printed_span){
			.name = span->role->start.name,
			.name_size = span->role->start.name_size,
			.duration = span->duration,
		};
	printer_event(lines->printer, event->entry, event->match.ended ? &printed : NULL);
	return sink_commit(&export->sink);
}

static int line_of_loss(void *context, const struct entry *entry, uint64_t count)
{
	struct export *export = context;
	struct lines *lines = export->state;

	(void)count;
	printer_lost(lines->printer, entry);
	return sink_commit(&export->sink);
}

const struct export_format export_lines = {
	.ops = { .event = line_of_event, .lost = line_of_loss },
	.open = open_lines,
	.close = close_lines,
};
