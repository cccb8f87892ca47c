// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Describes damage to a file: see elog_format_damage() in elog/reader.h.
 */
#include <inttypes.h>

#include "elog.h"
#include "util/text.h"

void elog_format_damage(struct elog_text *text, const struct elog_item *item)
{
	uint64_t at = item->offset, size = item->size;

	switch (item->damage) {
	case ELOG_DAMAGE_CUT:
		elog_text_printf(text, "ends within a block: the last %" PRIu64
				 " bytes, from byte %" PRIu64 ", are unusable", size, at);
		break;
	case ELOG_DAMAGE_NO_END:
		elog_text_printf(text, "the capture was cut off at byte %" PRIu64, at);
		break;
	case ELOG_DAMAGE_RECORDS:
		elog_text_printf(text, "%" PRIu64 " bytes in the block at byte %" PRIu64
				 " are not events: skipped", size, at);
		break;
	case ELOG_DAMAGE_MISSING:
		elog_text_printf(text, "before byte %" PRIu64 " ", at);
		if (size)
			elog_text_printf(text, "%" PRIu64 " bytes of ", size);
		elog_text_string(text, "events are missing");
		break;
	case ELOG_DAMAGE_ORDER:
		elog_text_printf(text, "too many events before byte %" PRIu64
				 " are unsorted: the order may be wrong", at);
		break;
	case ELOG_DAMAGE_UNKNOWN:
		elog_text_printf(text, "the block at byte %" PRIu64
				 " has a form, a CPU or a stream that this program cannot read: "
				 "skipped", at);
		break;
	default:
		elog_text_printf(text, "%" PRIu64 " bytes at byte %" PRIu64
				 " are damaged: skipped", size, at);
		break;
	}
}
