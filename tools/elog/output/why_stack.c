// SPDX-License-Identifier: GPL-2.0-only
/*
 * What kernel stacks look like: see why_stack.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "output/why_stack.h"
#include "util/tool.h"

#define FRAMES_SHOWN	6
#define BYTES_MAX	(1U << 26)

struct why_stack_text {
	char *frames;
};

static struct elog_map_key key_of(uint64_t scope, uint32_t number)
{
	const uint64_t words[2] = { scope, number };

	return elog_map_bytes(words, sizeof(words));
}

void why_stacks_init(struct why_stacks *stacks)
{
	elog_map_init(&stacks->map, sizeof(struct why_stack_text));
	stacks->bytes = 0;
}

void why_stacks_free(struct why_stacks *stacks)
{
	struct why_stack_text *text;

	elog_map_for_each(&stacks->map, text)
		free(text->frames);
	elog_map_free(&stacks->map);
}

int why_stacks_add(struct why_stacks *stacks, uint64_t scope, uint32_t number, const char *frames,
		   size_t size)
{
	const struct elog_map_key key = key_of(scope, number);
	struct why_stack_text *text;
	char *copy;

	/* What the map needs for an empty one counts, too. */
	if (!size || elog_map_find(&stacks->map, key) || stacks->bytes + size + 64 > BYTES_MAX)
		return 0;
	copy = strndup(frames, size);
	text = copy ? elog_map_insert(&stacks->map, key) : NULL;
	if (!text) {
		free(copy);
		return -ENOMEM;
	}
	text->frames = copy;
	stacks->bytes += size + 64;
	return 0;
}

const char *why_stacks_find(const struct why_stacks *stacks, uint64_t scope, uint32_t number)
{
	const struct why_stack_text *text = elog_map_find(&stacks->map, key_of(scope, number));

	return text ? text->frames : NULL;
}

/* The name in a+0x1c/0x80 [module]. */
static size_t name_size(const char *frame, size_t size)
{
	const char *end = memchr(frame, '+', size);

	return end ? (size_t)(end - frame) : size;
}

static bool begins_with(const char *frame, size_t size, const char *prefix)
{
	return size >= strlen(prefix) && !memcmp(frame, prefix, strlen(prefix));
}

/* How a thread stops running is the same everywhere. */
static bool is_of_scheduler(const char *frame, size_t size)
{
	return begins_with(frame, size, "schedule") || begins_with(frame, size, "__schedule") ||
	       begins_with(frame, size, "preempt_schedule") ||
	       begins_with(frame, size, "__switch_to");
}

/* Return: the rest behind a frame, or NULL. */
static const char *next_frame(const char *frame, size_t *size)
{
	*size = strcspn(frame, ";");
	return frame[*size] ? frame + *size + 1 : NULL;
}

static const char *skip_scheduler(const char *frames)
{
	const char *frame = frames, *rest;
	size_t size;

	for (;;) {
		rest = next_frame(frame, &size);
		if (!rest || !is_of_scheduler(frame, size))
			return frame;
		frame = rest;
	}
}

static bool is_in_fault(const char *frames)
{
	const char *frame, *rest;
	size_t size;

	for (frame = frames; frame; frame = rest) {
		rest = next_frame(frame, &size);
		size = name_size(frame, size);
		if (size == strlen("handle_mm_fault") && !memcmp(frame, "handle_mm_fault", size))
			return true;
	}
	return false;
}

void why_stack_put(struct elog_text *text, const char *frames)
{
	const char *frame, *rest;
	unsigned int count = 0;
	size_t size;

	elog_text_string(text, is_in_fault(frames) ? "in a page fault, at " : "at ");
	for (frame = skip_scheduler(frames); frame && count < FRAMES_SHOWN; frame = rest) {
		rest = next_frame(frame, &size);
		elog_text_string(text, count++ ? " < " : "");
		elog_text_visible(text, frame, name_size(frame, size));
	}
	if (frame)
		elog_text_string(text, " ...");
}

void why_stack_put_all(struct elog_text *text, const char *frames, unsigned int column)
{
	const char *frame, *rest;
	size_t size;

	for (frame = frames; frame; frame = rest) {
		rest = next_frame(frame, &size);
		put_blanks(text, column);
		elog_text_visible(text, frame, size);
		elog_text_string(text, "\n");
	}
}

void why_stack_put_json(struct elog_text *text, const char *frames)
{
	const char *frame, *rest;
	size_t size;

	elog_text_string(text, "[");
	for (frame = frames; frame; frame = rest) {
		rest = next_frame(frame, &size);
		elog_text_string(text, frame == frames ? "" : ",");
		elog_text_json_string(text, frame, size);
	}
	elog_text_string(text, "]");
}
