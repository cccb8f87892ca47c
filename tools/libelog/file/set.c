// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reading several .elog files as one, in the order of the time of day.
 *
 * One event of each file is fetched in advance and waits in a heap. It stays the last
 * item of its reader, so the reader's state belongs to it, and its payload is valid.
 * The next event of a file is fetched by the call after the one that returned its last
 * event.
 *
 * Files of one boot of one machine have the same clock. Their times of day differ a
 * little, because the clocks were read several times. So these files share an offset,
 * and their order is that of their clock. The offset changes when a file's offset
 * differs by more than a reading takes.
 *
 * No locks and nothing global: a set belongs to one thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elog.h"
#include "unexported/reader.h"

/* Two readings of the clocks differ by less, ns, unless one of the clocks was set. */
#define READING_NS	1000000
/* Limit for files that claim many boots; further ones share no offset. */
#define BOOTS_MAX	1024
#define BOOT_ID_MAX	64

/* A boot of a machine. */
struct boot {
	struct boot *next;
	int64_t offset;		/* CLOCK_REALTIME - CLOCK_MONOTONIC, ns */
	char id[];
};

struct member {
	struct elog_reader *reader;
	struct elog_item item;
	struct boot *boot;	/* of the current part; NULL: not known */
	int64_t wall_time;	/* of @item, ns */
	size_t number;		/* in the order of adding */
};

struct elog_reader_set {
	struct boot *boots;
	size_t boot_count;
	struct member **members;	/* all */
	size_t count;
	struct member **heap;		/* those whose @item waits, oldest first */
	size_t heap_count;
	struct member **to_fetch;	/* those whose next item must be fetched, a stack */
	size_t to_fetch_count;
	struct member **idle;		/* those that have no data for now */
	size_t idle_count;
	size_t room;			/* of each of these lists */
};

int elog_reader_set_open(struct elog_reader_set **set)
{
	*set = calloc(1, sizeof(**set));
	return *set ? 0 : -ENOMEM;
}

void elog_reader_set_close(struct elog_reader_set *set)
{
	struct boot *boot;
	size_t i;

	if (!set)
		return;
	while ((boot = set->boots)) {
		set->boots = boot->next;
		free(boot);
	}
	for (i = 0; i < set->count; i++) {
		elog_reader_close(set->members[i]->reader);
		free(set->members[i]);
	}
	free(set->members);
	free(set->heap);
	free(set->to_fetch);
	free(set->idle);
	free(set);
}

static int grow_list(struct member ***list, size_t room)
{
	struct member **larger = realloc(*list, room * sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	*list = larger;
	return 0;
}

/* Make room for one more member in all lists. */
static int grow(struct elog_reader_set *set)
{
	size_t room = set->room ? 2 * set->room : 8;

	if (set->count < set->room)
		return 0;
	if (grow_list(&set->members, room) || grow_list(&set->heap, room) ||
	    grow_list(&set->to_fetch, room) || grow_list(&set->idle, room))
		return -ENOMEM;
	set->room = room;
	return 0;
}

/* Closes the reader if it fails. */
static int add(struct elog_reader_set *set, struct elog_reader *reader)
{
	struct member *member = NULL;
	int ret = grow(set);

	if (!ret) {
		member = calloc(1, sizeof(*member));
		ret = member ? 0 : -ENOMEM;
	}
	if (ret) {
		elog_reader_close(reader);
		return ret;
	}
	member->reader = reader;
	member->number = set->count;
	set->members[set->count++] = member;
	set->to_fetch[set->to_fetch_count++] = member;
	return 0;
}

int elog_reader_set_add(struct elog_reader_set *set, int fd,
		      struct elog_reader **reader)
{
	int ret = elog_reader_open(reader, fd);

	return ret ? ret : add(set, *reader);
}

int elog_reader_set_add_callback(struct elog_reader_set *set,
				 const struct elog_reader_callback *callback,
				 struct elog_reader **reader)
{
	int ret = elog_reader_open_callback(reader, callback);

	return ret ? ret : add(set, *reader);
}

/* At equal times, as in one file: what has no CPU is first. */
static bool is_older(const struct member *one, const struct member *other)
{
	const bool mapped = one->item.cpu == EVENTLOG_CPU_UNKNOWN;

	if (one->wall_time != other->wall_time)
		return one->wall_time < other->wall_time;
	if (mapped != (other->item.cpu == EVENTLOG_CPU_UNKNOWN))
		return mapped;
	return one->number < other->number;
}

static void push(struct elog_reader_set *set, struct member *member)
{
	size_t hole, parent;

	for (hole = set->heap_count++; hole; hole = parent) {
		parent = (hole - 1) / 2;
		if (!is_older(member, set->heap[parent]))
			break;
		set->heap[hole] = set->heap[parent];
	}
	set->heap[hole] = member;
}

static struct member *pop(struct elog_reader_set *set)
{
	struct member *oldest = set->heap[0];
	struct member *last = set->heap[--set->heap_count];
	size_t hole = 0, child;

	while ((child = 2 * hole + 1) < set->heap_count) {
		if (child + 1 < set->heap_count &&
		    is_older(set->heap[child + 1], set->heap[child]))
			child++;
		if (!is_older(set->heap[child], last))
			break;
		set->heap[hole] = set->heap[child];
		hole = child;
	}
	set->heap[hole] = last;
	return oldest;
}

/* The numbers may be arbitrary: add them unsigned, which may wrap. */
static void set_wall_time(struct member *member, int64_t offset)
{
	member->wall_time = (int64_t)(member->item.time + (uint64_t)offset);
}

/*
 * Find the boot of the current part; NULL: it shares its clock with no other file. Return: 0 or
 * -ENOMEM.
 */
static int find_boot(struct elog_reader_set *set, const struct elog_reader *reader,
		     struct boot **found)
{
	const char *id = elog_reader_info(reader, "boot_id");
	struct boot *boot;
	size_t size;

	*found = NULL;
	if (!id || strlen(id) > BOOT_ID_MAX)
		return 0;
	for (boot = set->boots; boot; boot = boot->next) {
		if (!strcmp(boot->id, id)) {
			*found = boot;
			return 0;
		}
	}
	size = strlen(id) + 1;
	if (set->boot_count == BOOTS_MAX)
		return 0;
	boot = malloc(sizeof(*boot) + size);
	if (!boot)
		return -ENOMEM;
	memcpy(boot->id, id, size);
	boot->offset = elog_reader_wall_offset(reader);
	boot->next = set->boots;
	set->boots = boot;
	set->boot_count++;
	*found = boot;
	return 0;
}

/* The clock was set: sort the waiting items of this boot again. */
static void change_offset(struct elog_reader_set *set, struct boot *boot,
			  int64_t offset)
{
	size_t count = set->heap_count, i;

	boot->offset = offset;
	for (i = 0; i < count; i++)
		if (set->heap[i]->boot == boot)
			set_wall_time(set->heap[i], offset);
	set->heap_count = 0;
	for (i = 0; i < count; i++)
		push(set, set->heap[i]);
}

/* Return: 0 or -ENOMEM. */
static int find_wall_time(struct elog_reader_set *set, struct member *member)
{
	int64_t offset = elog_reader_wall_offset(member->reader);
	struct boot *boot;
	uint64_t more;

	if (!member->boot && find_boot(set, member->reader, &member->boot))
		return -ENOMEM;
	boot = member->boot;
	if (boot) {
		more = (uint64_t)offset - (uint64_t)boot->offset;
		if (more + READING_NS > 2 * READING_NS)
			change_offset(set, boot, offset);
		offset = boot->offset;
	}
	set_wall_time(member, offset);
	return 0;
}

/*
 * Fetch the next item of a file. Return: true if the caller must return @ret, with an
 * item if that is 1.
 */
static bool fetch(struct elog_reader_set *set, struct member *member, int *ret)
{
	struct elog_item *item = &member->item;

	*ret = elog_reader_next(member->reader, item);
	if (*ret == 1 && (item->type == ELOG_ITEM_EVENT ||
			  item->type == ELOG_ITEM_LOST)) {
		*ret = find_wall_time(set, member);
		set->to_fetch_count--;
		/* The error is returned once, as those of the reader are. */
		if (*ret)
			return true;
		push(set, member);
		return false;
	}
	if (*ret == 1) {
		if (item->type == ELOG_ITEM_PART)
			member->boot = NULL;
		return true;
	}
	set->to_fetch_count--;
	if (*ret == -EAGAIN)
		set->idle[set->idle_count++] = member;
	return *ret && *ret != -EAGAIN;
}

int elog_reader_set_next(struct elog_reader_set *set, struct elog_item *item,
		       struct elog_reader **reader)
{
	struct member *member;
	int ret;

	while (set->to_fetch_count) {
		member = set->to_fetch[set->to_fetch_count - 1];
		if (!fetch(set, member, &ret))
			continue;
		*item = member->item;
		*reader = member->reader;
		return ret;
	}
	if (set->heap_count) {
		member = pop(set);
		set->to_fetch[set->to_fetch_count++] = member;
		*item = member->item;
		*reader = member->reader;
		return 1;
	}
	*reader = NULL;
	if (!set->idle_count)
		return 0;
	while (set->idle_count)
		set->to_fetch[set->to_fetch_count++] = set->idle[--set->idle_count];
	return -EAGAIN;
}
