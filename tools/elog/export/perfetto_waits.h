/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The intervals in which threads did not run, in a trace of Perfetto: a slice for each, inside of
 * the slice of its session, and a flow from the one who ended the wait.
 *
 * Where threads of a session wait at the same time, only one of the slices can be there; others,
 * and those of sessions without a span, are on the track of their thread.
 */
#ifndef PERFETTO_WAITS_H
#define PERFETTO_WAITS_H

#include "export/ended.h"
#include "input/interval.h"
#include "libelog/util/map.h"

/**
 * struct perfetto_waits - part of struct perfetto
 * @names: number of the first cause's name; 0: none has one yet
 * @next_flow: the next number of a flow
 * @ended: the last spans; their id is their track
 * @thread_ends: when the last slice on the track of a thread ended, uint64_t
 * @fields: annotations that all slices of an interval have
 */
struct perfetto_waits {
	uint64_t names;
	uint64_t next_flow;
	struct ended ended;
	struct elog_map thread_ends;
	struct elog_text fields;
};

/** perfetto_waits_open() - no interval yet; allocates nothing and cannot fail */
void perfetto_waits_open(struct perfetto_waits *waits);

/** perfetto_waits_close() - free the memory */
void perfetto_waits_close(struct perfetto_waits *waits);

#endif /* PERFETTO_WAITS_H */
