// SPDX-License-Identifier: GPL-2.0-only
/*
 * The writer with several threads: see writer.h.
 *
 * Each thread has a part of the consumer, a raw writer and a file of its own. The
 * process's own thread waits for FLUSH and passes the result to all threads, which write
 * SYNC blocks of the same time. So the files can be merged, and they rotate together.
 *
 * The lock of a part protects what its thread shares with the process's own thread. No
 * thread holds it while it reads or writes. After an error a thread ends, and the others
 * complete their files. A thread whose disk is full or fails keeps its request, so that its
 * SYNC block has the same time; the others drain their rings meanwhile.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "libelog/unexported/consumer.h"
#include "libelog/util/thread.h"
#include "record/raw_writer.h"
#include "record/trace_writer.h"

#define WAIT_MS		100
#define DISK_WAIT_MS	20	/* at most, from a request to its answer while a disk fails */
#define PART_FILES	3	/* that a part has open: the device, its wakeup, and its file */

enum request {
	REQUEST_NONE,
	REQUEST_SYNC,
	REQUEST_ROTATE,		/* SYNC, and then a new file */
	REQUEST_END,		/* SYNC, and complete the file */
	REQUEST_QUIT,		/* leave the file as it is */
};

struct part {
	struct live live;		/* as the capture's, with a consumer and names of its own */
	struct writer *writer;		/* the thread's */
	pthread_t thread;
	bool started;

	pthread_mutex_t lock;
	pthread_cond_t changed;		/* for the process's thread: @request or @over */
	enum request request;
	unsigned int number;		/* of the request */
	struct eventlog_flush flush;	/* likewise */
	uint64_t start;			/* of the next file, likewise */
	bool ending;			/* do not keep a request that cannot be handled */
	bool over;			/* the thread has ended */
	struct writer_wait wait;
	bool pending;			/* records were written since this was cleared */
	uint64_t records;
	uint64_t bytes;
	uint64_t gone;
	uint64_t size;			/* of the current file */
	uint64_t begun;			/* likewise */
	int error;
};

struct parallel_writer {
	struct writer writer;
	bool rotate;			/* with the next SYNC */
	bool early;			/* all parts rotate, because one has filled the disk */
	uint64_t requested;		/* time of the last request */
	uint64_t handled;		/* of the last one that all parts have handled */
	uint32_t generation;		/* of the rings, when has_news() was last called */
	uint64_t lost;			/* likewise, in all */
	struct part *parts;		/* writer.parts of them */
};

static struct parallel_writer *to_parallel(struct writer *writer)
{
	return (struct parallel_writer *)writer;
}

/* ------------------------------------------------------------------------
 * The threads
 */

static int handle(struct part *part, enum request request, const struct eventlog_flush *flush,
		  uint64_t start)
{
	if (request == REQUEST_SYNC || request == REQUEST_ROTATE)
		return raw_writer_sync(part->writer, flush,
				       request == REQUEST_ROTATE ? start : 0);
	return request == REQUEST_END ? raw_writer_end(part->writer, flush) : 0;
}

static void *run(void *context)
{
	struct part *part = context;
	struct writer *writer = part->writer;
	struct eventlog_flush flush;
	enum request request;
	unsigned int number;
	bool over = false, kept;
	uint64_t start;
	int ret;

	while (!over) {
		/* The rings have records, so they are nothing to wait for. */
		ret = writer_waits(writer) ? poll(NULL, 0, DISK_WAIT_MS) :
		      elog_consumer_wait(part->live.consumer, WAIT_MS, NULL);
		/* After the deletion of the instance, wait for a request to end. */
		if (ret == -ENODEV)
			poll(NULL, 0, 1);
		ret = ret < 0 && ret != -EINTR && ret != -ENODEV ? ret : writer_drain(writer);
		pthread_mutex_lock(&part->lock);
		request = part->request;
		flush = part->flush;
		number = part->number;
		start = part->start;
		pthread_mutex_unlock(&part->lock);
		if (!ret)
			ret = handle(part, request, &flush, start);
		kept = ret == -EAGAIN;
		ret = kept ? 0 : ret;
		over = ret || request == REQUEST_END || request == REQUEST_QUIT;

		pthread_mutex_lock(&part->lock);
		kept = kept && !part->ending;
		part->wait = writer->wait;
		part->pending |= writer->pending;
		part->records = writer->records;
		part->bytes = writer->bytes;
		part->gone = writer->gone;
		part->size = trace_writer_size(writer->file);
		part->begun = writer->age.begun;
		part->error = ret;
		part->over = over;
		/* Keep a request that arrived after this iteration read @request. */
		if ((request != REQUEST_NONE && !kept && number == part->number) || over) {
			part->request = REQUEST_NONE;
			pthread_cond_signal(&part->changed);
		}
		pthread_mutex_unlock(&part->lock);
		writer->pending = false;
	}
	return NULL;
}

/* ------------------------------------------------------------------------
 * The process's own thread
 */

static void request(struct part *part, enum request request, const struct eventlog_flush *flush)
{
	pthread_mutex_lock(&part->lock);
	if (!part->over) {
		part->request = request;
		part->flush = *flush;
		part->number++;
	}
	pthread_mutex_unlock(&part->lock);
	elog_consumer_wake(part->live.consumer);
}

/* Wait until the part has handled its request, or has ended. */
static void wait_for_part(struct part *part)
{
	pthread_mutex_lock(&part->lock);
	while (part->request != REQUEST_NONE && !part->over)
		pthread_cond_wait(&part->changed, &part->lock);
	pthread_mutex_unlock(&part->lock);
}

/* Add up what the parts have done. Return: 0, or the first error of a part. */
static int add_up(struct parallel_writer *parallel, bool *busy, uint64_t *size)
{
	struct writer *writer = &parallel->writer;
	struct part *part;
	uint64_t begun = 0;
	unsigned int i;
	int error = 0;

	writer->records = 0;
	writer->bytes = 0;
	writer->gone = 0;
	writer->wait.error = 0;
	writer->wait.failures = 0;
	writer->wait.removed = 0;
	*busy = false;
	*size = 0;
	for (i = 0; i < writer->parts; i++) {
		part = &parallel->parts[i];
		pthread_mutex_lock(&part->lock);
		writer->records += part->records;
		writer->bytes += part->bytes;
		writer->gone += part->gone;
		writer->pending |= part->pending;
		part->pending = false;
		if (part->wait.error)
			writer->wait.error = part->wait.error;
		writer->wait.failures += part->wait.failures;
		writer->wait.removed += part->wait.removed;
		*busy |= part->request != REQUEST_NONE;
		*size += part->size;
		if (part->begun && (!begun || part->begun < begun))
			begun = part->begun;
		if (!error)
			error = part->error;
		pthread_mutex_unlock(&part->lock);
	}
	/* While they rotate, some have a new file. */
	if (!*busy)
		writer->age.begun = begun;
	return error;
}

static int wait_for_flush(struct parallel_writer *parallel, struct eventlog_flush *flush)
{
	int ret;

	*flush = (struct eventlog_flush){ .size = sizeof(*flush) };
	do {
		ret = elog_consumer_flush_wait(parallel->writer.live->consumer, flush);
	} while (ret == -EINTR);
	return ret;
}

/* End all threads. Return: 0, or the first error of one. */
static int end_parts(struct parallel_writer *parallel, enum request how)
{
	struct writer *writer = &parallel->writer;
	struct eventlog_flush flush = { 0 };
	struct part *part;
	unsigned int i;
	uint64_t size;
	bool busy;
	int ret = 0;

	for (i = 0; i < writer->parts; i++) {
		part = &parallel->parts[i];
		pthread_mutex_lock(&part->lock);
		part->ending = true;
		pthread_mutex_unlock(&part->lock);
		if (part->started)
			wait_for_part(part);
	}
	if (how == REQUEST_END) {
		ret = wait_for_flush(parallel, &flush);
		how = ret ? REQUEST_QUIT : how;
	}
	for (i = 0; i < writer->parts; i++)
		if (parallel->parts[i].started)
			request(&parallel->parts[i], how, &flush);
	for (i = 0; i < writer->parts; i++) {
		part = &parallel->parts[i];
		if (!part->started)
			continue;
		pthread_join(part->thread, NULL);
		part->started = false;
		writer->files += part->writer->files;
		writer->damaged |= part->writer->damaged;
		writer->explained |= part->writer->explained;
		if (!writer->failed_path && part->writer->failed_path)
			writer->failed_path = strdup(part->writer->failed_path);
	}
	return add_up(parallel, &busy, &size) ?: ret;
}

/* A part has failed: complete the files of the others. Return: @error. */
static int fail(struct parallel_writer *parallel, int error)
{
	end_parts(parallel, REQUEST_END);
	return error;
}

/*
 * Are there new rings or losses since the last call? Parts map rings and write losses only
 * with a SYNC, and if no part writes records, nothing else asks for one.
 */
static bool has_news(struct parallel_writer *parallel)
{
	struct eventlog_stat stat = { .size = sizeof(stat) };
	uint64_t lost;
	bool news;

	if (elog_consumer_stat(parallel->writer.live->consumer, EVENTLOG_RINGS_ALL, 0, &stat))
		return false;
	lost = live_lost_sum(&stat) + stat.lost[CAUSE_INVALID];
	news = stat.generation != parallel->generation || lost != parallel->lost;
	parallel->generation = stat.generation;
	parallel->lost = lost;
	return news;
}

static int parallel_drain(struct writer *writer)
{
	struct parallel_writer *parallel = to_parallel(writer);
	uint64_t size;
	bool busy;
	int ret;

	writer->pending |= has_news(parallel);
	ret = add_up(parallel, &busy, &size);
	return ret ? fail(parallel, ret) : 0;
}

static int parallel_sync(struct writer *writer, bool rotate)
{
	struct parallel_writer *parallel = to_parallel(writer);
	const uint64_t most = writer->settings->rotate_size;
	struct eventlog_flush flush;
	uint64_t size;
	unsigned int i;
	bool busy;
	int ret;

	parallel->rotate |= rotate;
	ret = add_up(parallel, &busy, &size);
	if (ret)
		return fail(parallel, ret);
	if (!busy) {
		parallel->handled = parallel->requested;
		parallel->early = false;
	}
	/*
	 * A part with a slow disk must not stop the others: they continue to drain. But if it
	 * has filled the disk, all rotate now, so that old segments can be removed.
	 */
	if (busy && (parallel->early || !writer_is_stuck(writer) || !most || size < most))
		return 0;
	parallel->early = busy;
	/* Records from here on may be later than the flush: they need another SYNC. */
	writer->pending = false;
	ret = wait_for_flush(parallel, &flush);
	if (ret)
		return ret;
	parallel->rotate |= most && size >= most;
	parallel->requested = flush.time;
	for (i = 0; i < writer->parts; i++) {
		pthread_mutex_lock(&parallel->parts[i].lock);
		parallel->parts[i].start = parallel->handled ? : writer->start;
		pthread_mutex_unlock(&parallel->parts[i].lock);
		request(&parallel->parts[i], parallel->rotate ? REQUEST_ROTATE : REQUEST_SYNC,
			&flush);
	}
	parallel->rotate = false;
	return 0;
}

static int parallel_end(struct writer *writer)
{
	return end_parts(to_parallel(writer), REQUEST_END);
}

static void parallel_close(struct writer *writer)
{
	struct parallel_writer *parallel = to_parallel(writer);
	struct part *part;
	unsigned int i;

	end_parts(parallel, REQUEST_QUIT);
	for (i = 0; i < writer->parts; i++) {
		part = &parallel->parts[i];
		/* These are shared. */
		if (part->writer)
			part->writer->segments = NULL;
		writer_close(part->writer);
		elog_consumer_close(part->live.consumer);
		elog_processes_free(part->live.processes);
		pthread_cond_destroy(&part->changed);
		pthread_mutex_destroy(&part->lock);
	}
	free(parallel->parts);
	free(parallel);
}

static const struct writer_ops parallel_ops = {
	.drain = parallel_drain,
	.sync = parallel_sync,
	.end = parallel_end,
	.close = parallel_close,
};

struct writer *parallel_writer_new(struct live *live, unsigned int parts)
{
	struct parallel_writer *parallel = calloc(1, sizeof(*parallel));
	unsigned int i;

	if (!parallel)
		return NULL;
	parallel->parts = calloc(parts, sizeof(*parallel->parts));
	if (!parallel->parts) {
		free(parallel);
		return NULL;
	}
	for (i = 0; i < parts; i++) {
		parallel->parts[i].live = *live;
		parallel->parts[i].live.consumer = NULL;
		parallel->parts[i].live.processes = NULL;
		pthread_mutex_init(&parallel->parts[i].lock, NULL);
		pthread_cond_init(&parallel->parts[i].changed, NULL);
	}
	parallel->writer.ops = &parallel_ops;
	parallel->writer.parallel = true;
	parallel->writer.parts = parts;
	return &parallel->writer;
}

/* Open a part's consumer and file. */
static int open_part(struct parallel_writer *parallel, struct part *part, unsigned int number)
{
	const struct writer *writer = &parallel->writer;
	struct elog_part_options options = {
		.size = sizeof(options), .part = number, .parts = writer->parts,
	};
	int ret;

	part->live.processes = elog_processes_new();
	if (!part->live.processes) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	options.processes = part->live.processes;
	ret = elog_consumer_part_open(&part->live.consumer, writer->live->consumer, &options);
	if (ret) {
		elog_error("cannot divide the rings: %s", strerror(-ret));
		return ret;
	}
	part->writer = raw_writer_new(&part->live, number, writer->parts);
	if (!part->writer) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	part->writer->settings = writer->settings;
	part->writer->live = &part->live;
	part->writer->start = writer->start;
	part->writer->parts = writer->parts;
	part->writer->segments = writer->segments;
	memcpy(part->writer->capture, writer->capture, sizeof(writer->capture));
	return trace_writer_create(&part->writer->file, part->writer,
				   writer->settings->output, number, false);
}

int parallel_writer_open(struct writer *writer)
{
	struct parallel_writer *parallel = to_parallel(writer);
	struct part *part;
	unsigned int i;
	int ret;

	source_allow_files(writer->parts * PART_FILES);
	ret = writer_identify(writer);
	for (i = 0; !ret && i < writer->parts; i++)
		ret = open_part(parallel, &parallel->parts[i], i);
	/* Replace files only now: the limit of open files may have been too low. */
	for (i = 0; !ret && i < writer->parts; i++)
		ret = trace_writer_begin(parallel->parts[i].writer->file);
	for (i = 0; !ret && i < writer->parts; i++) {
		part = &parallel->parts[i];
		part->writer->wait.possible = true;
		ret = elog_thread_start(&part->thread, run, part);
		part->started = !ret;
		if (ret)
			explain_device_error(ret, PURPOSE_CONSUME);
	}
	return ret;
}
