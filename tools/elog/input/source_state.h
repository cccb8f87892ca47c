/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What source.c and stream_source.c, which has the streams of NATS, share: see source.h.
 */
#ifndef SOURCE_STATE_H
#define SOURCE_STATE_H

#include "nats/stream.h"
#include "input/hosts.h"
#include "input/names.h"
#include "input/parts.h"
#include "input/source.h"
#include "libelog/util/map.h"

#define LOSSES		1024	/* remembered of captures that have several files */
#define CAPTURE_SIZE	20	/* of the id of such a capture, with its NUL */

/* The header of the first block of a file, which contains a checksum of the block. */
#define HEAD_BYTES	32

#define HOST_NAME_BYTES		256
#define MACHINE_ID_BYTES	40

struct input {
	struct elog_reader *reader;	/* NULL: live, or at its end */
	const char *name;
	int fd;
	struct stream_capture *capture;	/* NULL: a file */
	char *label;			/* @name, if it is allocated */
	char *host;			/* of @capture */
	char host_name[HOST_NAME_BYTES];	/* of the present part; "": not known */
	char machine_id[MACHINE_ID_BYTES];	/* likewise */
	bool unwanted;			/* --host does not select it */
	uint64_t generation;
	struct elog_map event_cache;		/* struct cached_event, by descriptor */
	struct cached_event unknown;		/* for a definition that is missing */
	struct decoded *decoded;		/* NULL: no record had an eventheader yet */
	uint64_t passed;		/* events of the capture up to here, in all its files */
	unsigned char head[HEAD_BYTES];		/* the first bytes of a followed file */
	bool has_head;
};

/* A loss that one of several files of a capture contains. */
struct seen_loss {
	char capture[CAPTURE_SIZE];
	uint32_t cpu;
	uint64_t time;
	uint32_t stream;
	uint64_t lost[ELOG_LOST_CAUSES_MAX];
};

/* What happened to a followed file. */
enum rotation {
	ROTATION_NONE,
	ROTATION_TRUNCATED,	/* it is shorter, or its head has changed */
	ROTATION_REPLACED,	/* another file has its name */
};

struct source {
	const struct selection_spec *spec;
	const struct source_settings *settings;
	struct selection *selection;
	struct names *names;		/* of files: those in the command line; or NULL */
	struct live *live;
	uint64_t batch;			/* time of the live batch that @wall_offset is of */
	int64_t wall_offset;
	bool removed;			/* the followed file was removed: see note_item() */
	uint64_t missed;		/* events in removed files, to be reported */
	uint64_t missed_time;		/* of the last event before these */
	uint64_t missed_lost[ELOG_LOST_REMOVED + 1];	/* of that report */
	struct stream *stream;		/* NULL: files, or live */
	struct hosts *hosts;		/* NULL: one file only, or live */
	struct stream_gap gap;		/* of the last entry */
	struct elog_reader_set *set;	/* NULL: one file only, or live */
	struct input *inputs;
	size_t count;
	struct file_list files;		/* of @inputs */
	struct seen_loss *seen;		/* LOSSES of them, a ring; or NULL */
	size_t seen_count;		/* so far */
	bool failed;
	bool read;			/* something was read */
	bool complete;			/* everything was read */
	bool skipped;			/* events before --since were not read */
	bool unfinished;		/* a capture still writes a file */
	bool following;
	bool idle;			/* the last read found nothing */
	enum rotation rotation;			/* why the followed file ends */
};

/** source_new() - make one with room for this number of inputs; NULL: it was printed why */
struct source *source_new(const struct selection_spec *spec,
			  const struct source_settings *settings, const struct live *live,
			  size_t count);

/** source_open_set() - let it have several inputs; return 0, or -ENOMEM, which was printed */
int source_open_set(struct source *source);

/** source_open_stream() - as source_open_files(), for the URL of a stream */
int source_open_stream(struct source **source, const struct selection_spec *spec,
		       const struct source_settings *settings, char *const *names, int count);

/** source_see_part() - a part begins: see which host it is of; return 0 or -ENOMEM */
int source_see_part(struct source *source, struct input *input);

/** source_next_gap() - fill in a gap that reading a stream has found; false: there is none */
bool source_next_gap(struct source *source, struct entry *entry);

/** source_wait() - a stream has nothing for now: return 1 it has again; or a negative errno */
int source_wait(struct source *source);

/** source_finish_stream() - print what is known only at the end; return true: an error */
bool source_finish_stream(const struct source *source);

#endif /* SOURCE_STATE_H */
