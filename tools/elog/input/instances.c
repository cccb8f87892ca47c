// SPDX-License-Identifier: GPL-2.0-only
/*
 * The subscriptions of a live run: see instances.h.
 *
 * FLUSH of each subscription returns a time. A batch has the records before the smallest
 * of these times, so no later batch has an older record of any subscription.
 *
 * The kernel never uses the id of an instance again, and gives greater ids to later
 * instances. So looking for new ones is usually one system call.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/live.h"
#include "libelog/unexported/consumer.h"
#include "libelog/util/abi.h"
#include "libelog/util/port.h"
#include "util/array.h"
#include "util/engine.h"
#include "util/signals.h"

static struct member *add_member(struct instances *instances, const char *name)
{
	struct member **larger, *member = calloc(1, sizeof(*member));

	larger = array_grow(instances->members, instances->count, sizeof(*larger));
	if (larger)
		instances->members = larger;
	if (!member || !larger) {
		free(member);
		return NULL;
	}
	memcpy(member->name, name, strlen(name));
	larger[instances->count++] = member;
	return member;
}

/* Streams of CPUs without ring get a number, too: a loss must not be one of the root. */
static uint32_t count_streams(const struct member *member)
{
	return elog_consumer_rings(member->consumer) + 1;
}

static int explain_member(const char *name, int error)
{
	switch (error) {
	case -EDQUOT:
		elog_error("instance '%s': the user's limit of ring memory is reached", name);
		elog_hint("use a smaller --per-cpu-bytes");
		break;
	case -ENOMEM:
	case -E2BIG:
		elog_error("instance '%s': no memory for the rings", name);
		elog_hint("each instance has rings of --per-cpu-bytes for each CPU");
		break;
	case -ENFILE:
		elog_error("instance '%s': too many instances for one capture", name);
		break;
	default:
		elog_error("instance '%s': %s", name, strerror(-error));
		break;
	}
	return error;
}

int instances_open_trigger(const struct live *live, uint32_t id, struct elog_consumer **trigger)
{
	struct elog_consumer_options options = {
		.size = sizeof(options),
		.ring_bytes = 2 * (uint64_t)sysconf(_SC_PAGESIZE),
		.watermark = 1,
	};
	int fd = -1, ret;

	if (id) {
		fd = elog_instance_open(elog_consumer_fd(live->consumer), id);
		if (fd < 0)
			return fd;
		options.flags = ELOG_CONSUMER_FILE;
		options.file = fd;
	}
	ret = elog_consumer_open(trigger, &options);
	if (fd >= 0)
		close(fd);
	return ret ? : rules_add_globs(*trigger, &live->settings->triggers);
}

/* Return: 0, also if it was deleted meanwhile; or a negative errno. */
static int subscribe(struct live *live, struct instances *instances, uint32_t id,
		     const char *name)
{
	struct elog_consumer_options options = instances->options;
	struct member *member;
	int fd, ret;

	fd = elog_instance_open(elog_consumer_fd(live->consumer), id);
	if (fd < 0)
		return fd == -ENOENT || fd == -ENODEV ? 0 : fd;
	options.flags |= ELOG_CONSUMER_FILE;
	options.file = fd;
	member = add_member(instances, name);
	ret = member ? elog_consumer_open(&member->consumer, &options) : -ENOMEM;
	close(fd);
	if (member) {
		member->id = id;
		member->first_stream = instances->next_stream;
	}
	if (!ret && instances->next_stream + count_streams(member) > STREAMS_MAX)
		ret = -ENFILE;
	if (!ret)
		ret = rules_add(live, member->consumer);
	if (!ret && live->settings->triggers.count)
		ret = instances_open_trigger(live, id, &member->trigger);
	if (!ret) {
		instances->next_stream += count_streams(member);
		return 0;
	}
	if (member) {
		elog_consumer_close(member->trigger);
		elog_consumer_close(member->consumer);
		instances->count--;
		free(member);
	}
	return ret == -ENODEV ? 0 : ret;
}

/* Subscribe to the instances that are new. Return: 0, or the last error, which was printed. */
static int find_new(struct live *live, struct instances *instances)
{
	struct eventlog_instance_info next = { .size = sizeof(next) };
	struct elog_list *list = NULL;
	const char *name;
	int ret, failed = 0;

	ret = elog_list_open(elog_consumer_fd(live->consumer), EVENTLOG_LIST_INSTANCES,
			     instances->last_id, &list);
	while (!ret && !(ret = elog_list_next(list, &next, &name))) {
		instances->last_id = next.id;
		if (fnmatch(live->settings->instances, name, 0))
			continue;
		ret = subscribe(live, instances, next.id, name);
		if (ret)
			failed = explain_member(name, ret);
		ret = 0;
	}
	elog_list_close(list);
	if (ret == -ENOENT)
		return failed;
	if (!instances->failed)
		elog_error("cannot list the instances: %s", strerror(-ret));
	return ret;
}

/* Is the device that of an instance? */
static bool is_instance(int fd)
{
	struct eventlog_info info = { .size = sizeof(info) };

	return !elog_device_info(fd, &info) && info.instance;
}

int instances_open(struct live *live, const struct elog_consumer_options *consumer_options)
{
	struct instances *instances;
	struct member *member;

	if (!live->settings->instances)
		return 0;
	if (engine_lacks(elog_consumer_fd(live->consumer), "instances"))
		return -EOPNOTSUPP;
	if (is_instance(elog_consumer_fd(live->consumer))) {
		elog_error("--instances: %s is the device of an instance, which sees no others",
			   elog_device_path(NULL));
		return -EINVAL;
	}
	if (live->spec->keyword_names) {
		elog_error("--instances: -k must be a mask: instances may have other keywords");
		return -EINVAL;
	}
	instances = calloc(1, sizeof(*instances));
	member = instances ? add_member(instances, "") : NULL;
	if (!member) {
		free(instances);
		elog_error("out of memory");
		return -ENOMEM;
	}
	live->instances = instances;
	instances->options = *consumer_options;
	instances->current = member;
	member->consumer = live->consumer;
	instances->next_stream = elog_consumer_rings(live->consumer);
	return find_new(live, instances);
}

void instances_close(struct live *live)
{
	struct instances *instances = live->instances;
	size_t i;

	live->instances = NULL;
	for (i = 0; instances && i < instances->count; i++) {
		elog_consumer_close(instances->members[i]->trigger);
		if (i)
			elog_consumer_close(instances->members[i]->consumer);
		free(instances->members[i]);
	}
	if (instances)
		free(instances->members);
	free(instances);
}

static bool is_deleted(const struct elog_consumer *consumer)
{
	/* poll() always reports POLLHUP. */
	struct pollfd file = { .fd = elog_consumer_fd(consumer) };

	return elog_port_poll(&file, 1, 0, NULL) > 0 && file.revents & POLLHUP;
}

void instances_look(struct live *live)
{
	struct instances *instances = live->instances;
	struct member *member;
	size_t i;

	if (!instances)
		return;
	if (find_new(live, instances))
		instances->failed = true;
	for (i = 1; i < instances->count; i++) {
		member = instances->members[i];
		if (member->consumer && !member->deleted)
			member->deleted = is_deleted(member->consumer);
	}
}

int instances_wait(struct live *live, int milliseconds)
{
	struct instances *instances = live->instances;
	struct pollfd *files;
	size_t i, count = 0;
	int ret;

	/* The thread of a backlog empties the rings. */
	if (!instances || instances->options.backlog_bytes)
		return elog_consumer_wait(live->consumer, milliseconds, signals_mask());
	files = calloc(instances->count, sizeof(*files));
	if (!files)
		return -ENOMEM;
	for (i = 0; i < instances->count; i++) {
		if (!instances->members[i]->consumer || instances->members[i]->deleted)
			continue;
		files[count].fd = elog_consumer_fd(instances->members[i]->consumer);
		files[count++].events = POLLIN;
	}
	ret = signals_poll(files, count, milliseconds);
	ret = ret < 0 ? -errno : ret > 0;
	free(files);
	return ret;
}

int instances_wait_trigger(struct live *live, struct elog_consumer *trigger, int milliseconds)
{
	struct instances *instances = live->instances;
	struct pollfd *files;
	size_t i, count = 1;
	int ret;

	if (!instances)
		return elog_consumer_wait(trigger, milliseconds, signals_mask());
	files = calloc(instances->count, sizeof(*files));
	if (!files)
		return -ENOMEM;
	files[0] = (struct pollfd){ .fd = elog_consumer_fd(trigger), .events = POLLIN };
	for (i = 1; i < instances->count; i++)
		if (instances->members[i]->trigger && !instances->members[i]->deleted)
			files[count++] = (struct pollfd){
				.fd = elog_consumer_fd(instances->members[i]->trigger),
				.events = POLLIN,
			};
	ret = signals_poll(files, count, milliseconds);
	ret = ret < 0 ? -errno : 0;
	/* A deleted instance is no trigger. */
	for (i = 0; !ret && i < count; i++)
		ret = (files[i].revents & (POLLIN | POLLHUP)) == POLLIN;
	free(files);
	return ret;
}

static int drain(struct elog_consumer *trigger)
{
	struct elog_item item;
	int ret = flush_consumer(trigger);

	while (!ret && elog_consumer_next(trigger, &item) > 0)
		;
	return ret;
}

int instances_drain_trigger(struct live *live, struct elog_consumer *trigger)
{
	struct instances *instances = live->instances;
	int ret = drain(trigger);
	size_t i;

	/* The one of an instance that is being deleted is closed with it. */
	for (i = 1; !ret && instances && i < instances->count; i++)
		if (instances->members[i]->trigger && !instances->members[i]->deleted)
			drain(instances->members[i]->trigger);
	return ret;
}

const struct member *live_member(const struct live *live, size_t index)
{
	return live->instances && index < live->instances->count ?
	       live->instances->members[index] : NULL;
}

int live_pending(struct live *live)
{
	struct instances *instances = live->instances;
	int ret = elog_consumer_pending(live->consumer);
	struct member *member;
	size_t i;

	for (i = 1; !ret && instances && i < instances->count; i++) {
		member = instances->members[i];
		if (member->consumer)
			ret = member->deleted ? 1 : elog_consumer_pending(member->consumer);
	}
	return ret;
}

bool live_failed(const struct live *live)
{
	return live->instances && live->instances->failed;
}

/* ------------------------------------------------------------------------
 * Batches
 */

/* The batch with everything that a deleted instance has may not have been read to its end. */
static bool is_read(const struct member *member)
{
	return member->complete && member->over && !member->has_head;
}

/* Everything of the instance was read. */
static void end_member(struct instances *instances, struct member *member)
{
	member->lost.size = sizeof(member->lost);
	elog_consumer_stat(member->consumer, EVENTLOG_RINGS_ALL, 0, &member->lost);
	/* Definitions of the consumer become invalid. */
	instances->generation += elog_consumer_generation(member->consumer) + 1;
	elog_consumer_close(member->trigger);
	member->trigger = NULL;
	elog_consumer_close(member->consumer);
	member->consumer = NULL;
	if (instances->current == member)
		instances->current = instances->members[0];
}

static int wait_flush(struct member *member)
{
	int ret;

	member->complete = member->deleted;
	do {
		member->flush.size = sizeof(member->flush);
		ret = elog_consumer_flush_wait(member->consumer, &member->flush);
	} while (ret == -EINTR);
	return ret;
}

int live_flush(struct live *live)
{
	struct instances *instances = live->instances;
	uint64_t time = UINT64_MAX;
	struct member *member;
	size_t i;
	int ret;

	if (!instances)
		return flush_consumer(live->consumer);
	for (i = 0; i < instances->count; i++) {
		member = instances->members[i];
		if (member->consumer && is_read(member))
			end_member(instances, member);
		if (!member->consumer)
			continue;
		ret = wait_flush(member);
		if (ret)
			return ret;
		if (member->flush.time < time)
			time = member->flush.time;
	}
	for (i = 0; i < instances->count; i++) {
		member = instances->members[i];
		if (!member->consumer)
			continue;
		/* Nothing follows what a deleted instance has. */
		member->flush.time = time;
		ret = elog_consumer_flush_until(member->consumer, &member->flush);
		if (ret)
			return ret;
		member->over = false;
		member->has_head = false;
	}
	return 0;
}

int live_pause(struct live *live)
{
	struct instances *instances = live->instances;
	struct member *member;
	int ret = 0;
	size_t i;

	if (!instances)
		return elog_consumer_pause(live->consumer);
	for (i = 0; !ret && i < instances->count; i++) {
		member = instances->members[i];
		if (member->consumer && is_read(member))
			end_member(instances, member);
		if (!member->consumer)
			continue;
		member->complete = member->deleted;
		member->over = false;
		member->has_head = false;
		ret = elog_consumer_pause(member->consumer);
	}
	return ret;
}

int live_resume(struct live *live)
{
	struct instances *instances = live->instances;
	int ret = elog_consumer_resume(live->consumer), error;
	struct member *member;
	size_t i;

	for (i = 1; instances && i < instances->count; i++) {
		member = instances->members[i];
		error = member->consumer ? elog_consumer_resume(member->consumer) : 0;
		if (!ret)
			ret = error;
	}
	return ret;
}

/* Get the next item of a member. Return: as elog_consumer_next(). */
static int fetch(struct member *member)
{
	struct elog_item *item = &member->head;
	int ret;

	if (member->has_head || member->over || !member->consumer)
		return 0;
	ret = elog_consumer_next(member->consumer, item);
	member->over = !ret;
	if (ret <= 0)
		return ret;
	member->has_head = true;
	if (!member->id)
		return 1;
	item->instance = member->name;
	if (item->stream == ELOG_STREAM_NONE)
		item->stream = elog_consumer_rings(member->consumer);
	item->stream += member->first_stream;
	return 1;
}

int live_next(struct live *live, struct elog_item *item)
{
	struct instances *instances = live->instances;
	struct member *member, *first = NULL;
	size_t i;
	int ret;

	if (!instances)
		return elog_consumer_next(live->consumer, item);
	for (i = 0; i < instances->count; i++) {
		member = instances->members[i];
		ret = fetch(member);
		if (ret < 0)
			return ret;
		if (member->has_head && (!first || member->head.time < first->head.time))
			first = member;
	}
	if (!first)
		return 0;
	*item = first->head;
	first->has_head = false;
	instances->current = first;
	return 1;
}

struct elog_consumer *live_current(const struct live *live)
{
	return live->instances ? live->instances->current->consumer : live->consumer;
}

uint64_t live_generation(const struct live *live)
{
	const struct instances *instances = live->instances;
	uint64_t sum = elog_consumer_generation(live->consumer);
	size_t i;

	if (!instances)
		return sum;
	sum += instances->generation;
	for (i = 1; i < instances->count; i++)
		if (instances->members[i]->consumer)
			sum += elog_consumer_generation(instances->members[i]->consumer);
	return sum;
}

/* ------------------------------------------------------------------------
 * Counts
 */

int live_stat(const struct live *live, struct eventlog_stat *stat)
{
	int ret = elog_consumer_stat(live->consumer, EVENTLOG_RINGS_ALL, 0, stat);
	struct eventlog_stat one = { .size = sizeof(one) };
	const struct member *member;
	size_t i, cause;

	for (i = 1; !ret && (member = live_member(live, i)); i++) {
		one = member->lost;
		one.size = sizeof(one);
		if (member->consumer)
			ret = elog_consumer_stat(member->consumer, EVENTLOG_RINGS_ALL, 0, &one);
		stat->records += one.records;
		stat->bytes += one.bytes;
		stat->rejected += one.rejected;
		stat->incompatible += one.incompatible;
		for (cause = 0; cause < EVENTLOG_LOST_CAUSES; cause++)
			stat->lost[cause] += one.lost[cause];
	}
	return ret;
}
