// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps the text of the last events: see tail.h. However many are taken, the memory is what @most
 * texts need: each is in the memory of the one that it replaces.
 */
#include <errno.h>
#include <stdlib.h>

#include "output/tail.h"
#include "util/array.h"

#define LOSSES_BYTES	4096	/* behind one event: a file may have very many */

static struct elog_text *next_line(struct tail *tail)
{
	struct elog_text *lines;

	if (tail->count == tail->most) {
		lines = &tail->lines[tail->next];
		tail->next = (tail->next + 1) % tail->count;
		lines->size = 0;
		return lines;
	}
	lines = array_grow(tail->lines, tail->count, sizeof(*lines));
	if (!lines)
		return NULL;
	tail->lines = lines;
	lines[tail->count] = (struct elog_text){ 0 };
	return &lines[tail->count++];
}

int tail_take(struct tail *tail, bool is_loss, struct elog_text *text, size_t from)
{
	const size_t size = text->size - from;
	struct elog_text *line;

	text->size = from;
	if (!tail->most || !size || text->error)
		return 0;
	if (is_loss && tail->count) {
		line = &tail->lines[(tail->next + tail->count - 1) % tail->count];
		if (tail->losses > LOSSES_BYTES)
			return 0;
		tail->losses += size;
	} else {
		line = next_line(tail);
		tail->losses = 0;
	}
	if (!line)
		return -ENOMEM;
	elog_text_put(line, text->data + from, size);
	return line->error;
}

void tail_put(struct tail *tail, struct elog_text *text)
{
	size_t i, at;

	for (i = 0; i < tail->count; i++) {
		at = (tail->next + i) % tail->count;
		if (text)
			elog_text_put(text, tail->lines[at].data, tail->lines[at].size);
		elog_text_free(&tail->lines[at]);
	}
	free(tail->lines);
	*tail = (struct tail){ 0 };
}
