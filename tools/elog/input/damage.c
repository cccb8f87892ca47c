// SPDX-License-Identifier: GPL-2.0-only
/*
 * Describing what is damaged or missing in a source: see source.h. No state.
 */
#include <inttypes.h>
#include <stdio.h>

#include "nats/stream.h"
#include "input/source.h"
#include "util/tool.h"

static void put_gap(const struct stream_gap *gap, struct elog_text *text)
{
	const struct order_gap *range = &gap->gap;

	if (gap->count > 1)
		elog_text_printf(text, "gap: %" PRIu64 " messages of the stream, from %" PRIu64
				 " to %" PRIu64 ", are not valid, or were removed", gap->count,
				 gap->sequence, gap->last);
	else if (gap->count)
		elog_text_printf(text, "gap: message %" PRIu64
				 " of the stream is not valid, or was removed", gap->sequence);
	else if (range->to)
		elog_text_printf(text, "gap: bytes %" PRIu64 " to %" PRIu64 " of file %s are missing",
				 range->from, range->to - 1, range->file);
	else
		elog_text_printf(text, "gap: files may be missing behind byte %" PRIu64
				 " of file %s", range->from, range->file);
}

void source_put_damage(const struct entry *entry, struct elog_text *text)
{
	elog_text_printf(text, "%s: ", entry->file);
	if (entry->gap) {
		put_gap(entry->gap, text);
		return;
	}
	if (entry->unfinished) {
		elog_text_printf(text, "the capture is still running: read up to byte %" PRIu64,
				 entry->item.offset);
		return;
	}
	elog_format_damage(text, &entry->item);
}

void source_print_damage(const struct entry *entry)
{
	struct elog_text text = { 0 };

	source_put_damage(entry, &text);
	if (text.error)
		elog_error("%s: damaged at byte %" PRIu64, entry->file, entry->item.offset);
	else if (entry->unfinished)
		fprintf(stderr, "elog: %s\n", text.data);
	else
		elog_error("%s", text.data);
	elog_text_free(&text);
}
