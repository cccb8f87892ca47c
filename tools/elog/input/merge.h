/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the sources of files and of streams share: inputs, merged by wall-clock time. An
 * input is a file, or a capture in a stream.
 */
#ifndef MERGE_H
#define MERGE_H

#include "input/hosts.h"
#include "input/source_state.h"

#define HOST_NAME_BYTES		256
#define MACHINE_ID_BYTES	40
#define BOOT_ID_BYTES		40

/* Of merge_take(), besides what source_next() returns: go on with the next item. */
#define MERGE_SKIP		2

struct stream_capture;

/**
 * struct input - a file, or a capture in a stream
 * @reader: NULL: it is at its end
 * @name: for messages
 * @fd: of a file; else -1
 * @capture: NULL: a file
 * @label: @name, if it is allocated
 * @host: of @capture
 * @host_name: of the present part; "": not known
 * @machine_id: likewise
 * @boot_id: likewise
 * @unwanted: --host does not select it
 * @events: its definitions
 */
struct input {
	struct elog_reader *reader;
	const char *name;
	int fd;
	struct stream_capture *capture;
	char *label;
	char *host;
	char host_name[HOST_NAME_BYTES];
	char machine_id[MACHINE_ID_BYTES];
	char boot_id[BOOT_ID_BYTES];
	bool unwanted;
	struct known_events events;
};

/**
 * struct merge - the inputs; a kind of source embeds it as the first member
 * @source: what all sources have
 * @settings: how to read
 * @inputs: allocated
 * @count: of @inputs
 * @set: merges them; NULL: there is one file only
 * @hosts: whose events are merged; NULL likewise
 * @seen: losses that one of several files of a capture has had; or NULL
 * @seen_count: so far
 * @complete: everything was read
 * @skipped: events before --since were not read
 * @unfinished: a capture still writes a file
 */
struct merge {
	struct source source;
	const struct source_settings *settings;
	struct input *inputs;
	size_t count;
	struct elog_reader_set *set;
	struct hosts *hosts;
	struct seen_loss *seen;
	size_t seen_count;
	bool complete;
	bool skipped;
	bool unfinished;
};

/** merge_of() - a source of files or of a stream */
static inline struct merge *merge_of(struct source *source)
{
	return (struct merge *)source;
}

/**
 * merge_new() - make the state of a source
 * @size: bytes of its kind
 * @ops: of its kind
 * @spec: outlives it
 * @settings: outlive it
 *
 * Return: the state, zeroed except for what the arguments set; source_close() frees it.
 * NULL: the reason was printed.
 */
void *merge_new(size_t size, const struct source_ops *ops, const struct selection_spec *spec,
		const struct source_settings *settings);

/** merge_close() - free what struct merge has */
void merge_close(struct merge *merge);

/** merge_open_set() - let it have several inputs; return 0, or -ENOMEM, which was printed */
int merge_open_set(struct merge *merge);

/** merge_init_input() - begin an input, which is zeroed */
void merge_init_input(struct input *input);

/** merge_start_input() - @input->reader is set: read it from here */
void merge_start_input(struct input *input);

/** merge_close_input() - close its reader, unless @merge->set has it, and its file */
void merge_close_input(struct merge *merge, struct input *input);

/**
 * merge_read() - read the next item of all inputs
 * @merge: the inputs
 * @item: filled in
 * @input: set to its input; there is always one
 *
 * Return: as elog_reader_next().
 */
int merge_read(struct merge *merge, struct elog_item *item, struct input **input);

/**
 * merge_take() - handle what merge_read() has returned
 * @merge: the inputs
 * @input: whose item this is
 * @entry: has the item; filled in
 * @ret: what merge_read() has returned, but not -EAGAIN
 *
 * Prints errors of files.
 *
 * Return: as source_next(); or MERGE_SKIP.
 */
int merge_take(struct merge *merge, struct input *input, struct entry *entry, int ret);

/** merge_set_origin() - set where an entry of an input is from */
void merge_set_origin(struct entry *entry, struct input *input);

/** merge_finish() - print which names no definition has; return true if it is an error */
bool merge_finish(struct merge *merge);

/** merge_wait() - sleep until a file may have got more: see source_wait() */
int merge_wait(struct source *source, int most, bool *over);

#endif /* MERGE_H */
