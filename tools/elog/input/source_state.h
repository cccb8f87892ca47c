/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kinds of sources share: see source.h. There are three: live_source.c,
 * file_source.c and stream_source.c. Each has a state of its own, which begins with struct
 * source; those of files and of streams begin with struct merge, see merge.h.
 */
#ifndef SOURCE_STATE_H
#define SOURCE_STATE_H

#include "input/names.h"
#include "input/source.h"
#include "libelog/util/map.h"

/**
 * struct source_ops - what a kind of source does
 * @next: see source_next(); sets the item, its time, and where it is from
 * @wait: see source_wait()
 * @finish: print what is known only at the end, besides errors of the selection; return
 *	true if there was an error
 * @close: free everything but what struct source has
 */
struct source_ops {
	int (*next)(struct source *source, struct entry *entry);
	int (*wait)(struct source *source, int most, bool *over);
	bool (*finish)(struct source *source);
	void (*close)(struct source *source);
};

/**
 * struct source - a source; its kind embeds it as the first member
 * @ops: of its kind
 * @spec: what to select
 * @selection: likewise, prepared
 * @names: names in the command line that definitions must have; NULL: there are none, or
 *	the owner of the live run has them
 * @failed: a file was damaged or unreadable
 * @read: something was read; always true unless this is of files
 * @following: reading does not block, and has no end yet
 */
struct source {
	const struct source_ops *ops;
	const struct selection_spec *spec;
	struct selection *selection;
	struct names *names;
	bool failed;
	bool read;
	bool following;
};

/**
 * struct known_events - the definitions that one file or subscription has shown so far
 * @describe: find the definition of a descriptor; return 0 or a negative errno
 * @generation_now: a number that changes when definitions are dropped
 * @context: for both
 * @generation: when @cache was empty
 * @cache: struct cached_event, by descriptor
 * @unknown: for a definition that is missing
 * @decoded: NULL: no record had an eventheader yet
 */
struct known_events {
	int (*describe)(void *context, uint32_t descriptor,
			const struct elog_schema_event **event);
	uint64_t (*generation_now)(void *context);
	void *context;
	uint64_t generation;
	struct elog_map cache;
	struct cached_event unknown;
	struct decoded *decoded;
};

/**
 * source_init() - set up what all kinds have
 * @source: zeroed
 * @ops: of its kind
 * @spec: outlives it
 * @live: see selection_open()
 * @decided: likewise
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int source_init(struct source *source, const struct source_ops *ops,
		const struct selection_spec *spec, bool live, bool decided);

/** known_events_clear() - forget all definitions */
void known_events_clear(struct known_events *events, struct source *source);

/**
 * source_select_event() - find an event's definition, and decode it if its record says how
 * @source: the source
 * @events: of the file or the subscription
 * @now: what its generation_now() returns
 * @entry: an event
 *
 * Return: 1: it is selected; 0: it is not; or a negative errno.
 */
int source_select_event(struct source *source, struct known_events *events, uint64_t now,
			struct entry *entry);

/** source_select_loss() - is a loss selected? */
bool source_select_loss(const struct source *source, const struct entry *entry);

/** source_open_stream() - as source_open_files(), for the URL of a stream */
int source_open_stream(struct source **source, const struct selection_spec *spec,
		       const struct source_settings *settings, char *const *names, int count);

#endif /* SOURCE_STATE_H */
