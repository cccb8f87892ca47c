/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps the text of the last events, and of the losses behind each, until it is printed.
 */
#ifndef TAIL_H
#define TAIL_H

#include "util/tool.h"

/**
 * struct tail - the last events. Set @most and zero the rest
 * @most: events that are kept
 * @lines: a ring of their texts
 * @count: of @lines
 * @next: the oldest one if there are @most: it will be replaced
 * @losses: bytes of losses behind the last event
 */
struct tail {
	uint64_t most;
	struct elog_text *lines;
	size_t count;
	size_t next;
	size_t losses;
};

/**
 * tail_take() - keep a text
 * @tail: where
 * @is_loss: it is of a loss, not of an event
 * @text: ends with it; it is removed from there
 * @from: where it begins
 *
 * Return: 0 or -ENOMEM.
 */
int tail_take(struct tail *tail, bool is_loss, struct elog_text *text, size_t from);

/** tail_put() - append what is kept to @text, and free it; NULL: only free it */
void tail_put(struct tail *tail, struct elog_text *text);

#endif /* TAIL_H */
