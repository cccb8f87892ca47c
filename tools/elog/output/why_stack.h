/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What kernel stacks look like, by their numbers: the events stack of the provider sched. They
 * come after the events that have the numbers, so they are looked up at the end. Memory is
 * bounded, whatever a file says.
 */
#ifndef WHY_STACK_H
#define WHY_STACK_H

#include "libelog/util/map.h"
#include "libelog/util/text.h"

/**
 * struct why_stacks - the stacks of a file
 * @map: struct why_stack_text, by host, boot and number
 * @bytes: of all texts
 */
struct why_stacks {
	struct elog_map map;
	uint64_t bytes;
};

/** why_stacks_init() - begin without any; allocates nothing */
void why_stacks_init(struct why_stacks *stacks);

/** why_stacks_free() - free everything */
void why_stacks_free(struct why_stacks *stacks);

/**
 * why_stacks_add() - keep what a stack looks like
 * @stacks: to add to
 * @scope: of its host and boot
 * @number: its number
 * @frames: the frames, with ; between them; any bytes
 * @size: of @frames
 *
 * The first one with a number counts: later ones are repetitions.
 *
 * Return: 0, -ENOMEM.
 */
int why_stacks_add(struct why_stacks *stacks, uint64_t scope, uint32_t number, const char *frames,
		   size_t size);

/** why_stacks_find() - what a stack looks like, valid until they are freed; NULL: not known */
const char *why_stacks_find(const struct why_stacks *stacks, uint64_t scope, uint32_t number);

/**
 * why_stack_put() - append a few frames: at a < b < c ...
 * @text: to append to
 * @frames: of a stack
 *
 * Names of functions only, without those of the scheduler. Says so if it is in a page fault.
 */
void why_stack_put(struct elog_text *text, const char *frames);

/**
 * why_stack_put_all() - append a line for each frame
 * @text: to append to
 * @frames: of a stack
 * @column: where the lines begin
 */
void why_stack_put_all(struct elog_text *text, const char *frames, unsigned int column);

/** why_stack_put_json() - append an array of strings */
void why_stack_put_json(struct elog_text *text, const char *frames);

#endif /* WHY_STACK_H */
