// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the time, the name and the fields of each event in a .elog file, and the
 * losses. elog show has more features.
 *
 *	elog capture -o job.elog -- ./job; ./reader job.elog
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <elog.h>

static void print_event(struct elog_reader *reader,
			const struct elog_item *item, struct elog_text *text)
{
	const struct elog_schema_event *event;

	printf("%" PRIu64 ".%09u ", item->time / 1000000000,
	       (unsigned int)(item->time % 1000000000));
	if (elog_reader_describe(reader, item->descriptor, &event)) {
		printf("event %" PRIu32 "\n", item->descriptor);
		return;
	}
	text->size = 0;
	elog_format_fields(text, event, item->payload, item->payload_size);
	printf("%s/%s %s\n", event->provider->name, event->name,
	       text->error ? "(out of memory)" : text->size ? text->data : "");
}

static void print_lost(const struct elog_item *item)
{
	unsigned int cause;

	for (cause = 0; cause < item->lost_count; cause++)
		if (item->lost[cause])
			printf("# lost %" PRIu64 ": %s\n", item->lost[cause],
			       elog_lost_name(cause) ? elog_lost_name(cause) : "?");
}

int main(int count, char **arguments)
{
	struct elog_reader *reader = NULL;
	struct elog_text text = { 0 };
	struct elog_item item;
	bool damaged = false;
	int fd, ret;

	if (count != 2) {
		fprintf(stderr, "usage: reader FILE\n");
		return 1;
	}
	fd = open(arguments[1], O_RDONLY | O_CLOEXEC);
	ret = fd < 0 ? -errno : elog_reader_open(&reader, fd);
	while (!ret && (ret = elog_reader_next(reader, &item)) > 0) {
		if (item.type == ELOG_ITEM_EVENT)
			print_event(reader, &item, &text);
		else if (item.type == ELOG_ITEM_LOST)
			print_lost(&item);
		else if (item.type == ELOG_ITEM_DAMAGE)
			damaged = true;
		ret = 0;
	}
	if (ret)
		fprintf(stderr, "%s: %s\n", arguments[1], strerror(-ret));
	else if (damaged)
		fprintf(stderr, "%s is damaged\n", arguments[1]);
	elog_text_free(&text);
	elog_reader_close(reader);
	if (fd >= 0)
		close(fd);
	return ret || damaged;
}
