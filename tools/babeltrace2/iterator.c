// SPDX-License-Identifier: GPL-2.0-only
/*
 * Message iterators: read a file and make messages. Called by babeltrace2, on the thread of
 * the graph.
 *
 * Messages wait in a queue until babeltrace2 takes them: an event may need the beginning
 * of a stream and of a packet before it, and the end of a segment ends all its streams.
 *
 * Losses are messages between packets, as sink.ctf.fs asks: the packet ends at the time of
 * the loss, and an empty packet at the same time follows. In CTF 1.8, the count of lost
 * events is in the header of a packet.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "babeltrace2/plugin.h"
#include "libelog/util/text.h"

/* Readers of CTF map a packet as a whole, so packets end at one of these sizes. */
#define PACKET_EVENTS	32768
#define PACKET_BYTES	(1U << 20)

/* An array takes a hundred times its bytes in babeltrace2: return few large events at once. */
#define BATCH_BYTES	(64U << 10)

#define CHECK_ITEMS	4096	/* between two checks for interruptions */

/*
 * struct iterator - a message iterator
 * @self: of babeltrace2
 * @file: its file
 * @fd: the open file, or -1
 * @reader: reads it
 * @segment: the current one
 * @now: time of the last message in @segment
 * @end: the same from 1970; of all segments
 * @items: number of items read
 * @bytes: of payloads in the queue and the batch
 * @error: what ends the iteration when the queue is empty: 0: nothing; 1: the end of the
 *	file; or a negative errno
 * @text: for strings
 * @queue: messages to return: @count, from @first on
 * @capacity: of @queue
 */
struct iterator {
	bt_self_message_iterator *self;
	const struct input_file *file;
	int fd;
	struct elog_reader *reader;
	struct segment segment;
	int64_t now;
	int64_t end;
	uint64_t items;
	size_t bytes;
	int error;
	struct elog_text text;
	const bt_message **queue;
	size_t first;
	size_t count;
	size_t capacity;
};

/* ------------------------------------------------------------------------
 * Messages
 */

/* Takes the message, or reports that it could not be made. */
static int put(struct iterator *it, const bt_message *message)
{
	const bt_message **larger;
	size_t capacity;

	if (!message)
		return -ENOMEM;
	if (it->count == it->capacity) {
		capacity = it->capacity ? it->capacity * 2 : 16;
		larger = realloc(it->queue, capacity * sizeof(*larger));
		if (!larger) {
			bt_message_put_ref(message);
			return -ENOMEM;
		}
		it->queue = larger;
		it->capacity = capacity;
	}
	it->queue[it->count++] = message;
	return 0;
}

static int close_packet(struct iterator *it, struct cpu_stream *stream)
{
	int ret;

	if (!stream->packet)
		return 0;
	ret = put(it, bt_message_packet_end_create_with_default_clock_snapshot(it->self,
			stream->packet, (uint64_t)it->now));
	BT_PACKET_PUT_REF_AND_RESET(stream->packet);
	return ret;
}

static int open_packet(struct iterator *it, struct cpu_stream *stream)
{
	bt_field *context;

	if (stream->packet)
		return 0;
	stream->events = stream->bytes = 0;
	stream->packet = bt_packet_create(stream->stream);
	if (!stream->packet)
		return -ENOMEM;
	context = bt_packet_borrow_context_field(stream->packet);
	if (context)
		bt_field_integer_unsigned_set_value(member_at(context, 0), stream->cpu);
	return put(it, bt_message_packet_beginning_create_with_default_clock_snapshot(it->self,
			stream->packet, (uint64_t)it->now));
}

/* Get the stream of an event or a loss, which begins with its first message. */
static int get_stream(struct iterator *it, const struct elog_item *item,
		      struct cpu_stream **stream)
{
	bool begun;

	*stream = segment_stream(&it->segment, item->cpu, item->instance, &begun);
	if (!*stream)
		return -ENOMEM;
	return begun ? 0 : put(it, bt_message_stream_beginning_create(it->self,
								     (*stream)->stream));
}

static int end_segment(struct iterator *it)
{
	struct cpu_stream *stream = NULL;
	int ret = 0;

	while (it->segment.trace && !ret &&
	       (stream = segment_each_stream(&it->segment, stream))) {
		if (!stream->stream)
			continue;
		ret = close_packet(it, stream);
		if (!ret)
			ret = put(it, bt_message_stream_end_create(it->self, stream->stream));
	}
	segment_end(&it->segment);
	return ret;
}

/* ------------------------------------------------------------------------
 * Items
 */

/* Messages must not go back in time, and babeltrace2 must be able to add the clock's offset. */
static int pass_time(struct iterator *it, uint64_t time)
{
	int64_t now = time < (uint64_t)CLOCK_MAX ? (int64_t)time : CLOCK_MAX - 1;
	int ret;

	if (!it->segment.trace) {
		ret = segment_begin(&it->segment, it->file, it->reader, now, it->end);
		if (ret)
			return ret;
		/* It is INT64_MIN in the first segment. */
		it->now = it->end > it->segment.base ? it->end - it->segment.base : 0;
	}
	if (now > it->now)
		it->now = now;
	it->end = it->segment.base + it->now;
	return 0;
}

static const char *name_of_thread(const struct iterator *it, const struct elog_item *item)
{
	return item->tid ? elog_processes_name(elog_reader_processes(it->reader), item->pid,
					       item->tid) : "";
}

static bool is_since(const struct iterator *it, const struct elog_item *item)
{
	return item->time + (uint64_t)elog_reader_wall_offset(it->reader) >=
	       it->file->component->since;
}

static bool is_selected(const struct iterator *it, const struct event_kind *kind,
			const struct elog_item *item)
{
	if (!kind->selected)
		return false;
	return !kind->predicate ||
	       elog_predicate_match(kind->predicate, item,
				    elog_predicate_needs_comm(kind->predicate) ?
				    name_of_thread(it, item) : NULL);
}

static int set_context(struct iterator *it, bt_field *context, const struct elog_item *item,
		       const struct elog_schema_event *schema)
{
	const char *instance = item->instance ? item->instance : "";
	const char *name = name_of_thread(it, item);
	int ret;

	bt_field_integer_unsigned_set_value(member_at(context, 0), item->session);
	bt_field_integer_unsigned_set_value(member_at(context, 1), schema ? schema->keywords : 0);
	bt_field_integer_unsigned_set_value(member_at(context, 2), item->pid);
	bt_field_integer_unsigned_set_value(member_at(context, 3), item->tid);
	ret = set_string(member_at(context, 4), name, strlen(name), &it->text);
	return ret ? : set_string(member_at(context, 5), instance, strlen(instance), &it->text);
}

static int set_fields(struct iterator *it, bt_event *event, const struct elog_item *item,
		      const struct elog_schema_event *schema, struct event_kind *kind)
{
	int ret;

	ret = set_context(it, bt_event_borrow_common_context_field(event), item, schema);
	if (!ret)
		ret = set_payload(bt_event_borrow_payload_field(event), schema, item, &it->text);
	if (ret != -EBADMSG)
		return ret;
	if (!kind->warned)
		component_warn(it->file, "%s/%s at %" PRIu64 " ns: fields are missing or invalid,"
			       " shown as 0", schema->provider->name, schema->name, item->time);
	kind->warned = true;
	return 0;
}

static int put_event(struct iterator *it, const struct elog_item *item,
		     const struct elog_schema_event *schema, struct event_kind *kind)
{
	struct cpu_stream *stream;
	bt_event_class *class;
	bt_message *message;
	int ret;

	class = segment_event_class(&it->segment, kind, schema, item->cpu < CPUS_MAX);
	if (!class)
		return -ENOMEM;
	ret = get_stream(it, item, &stream);
	if (!ret)
		ret = open_packet(it, stream);
	if (ret)
		return ret;
	message = bt_message_event_create_with_packet_and_default_clock_snapshot(it->self, class,
			stream->packet, (uint64_t)it->now);
	if (!message)
		return -ENOMEM;
	ret = set_fields(it, bt_message_event_borrow_event(message), item, schema, kind);
	if (ret) {
		bt_message_put_ref(message);
		return ret;
	}
	it->bytes += item->payload_size;
	stream->bytes += (uint32_t)item->payload_size;
	stream->events++;
	ret = put(it, message);
	if (!ret && (stream->events >= PACKET_EVENTS || stream->bytes >= PACKET_BYTES))
		ret = close_packet(it, stream);
	return ret;
}

static int take_event(struct iterator *it, const struct elog_item *item)
{
	const struct elog_schema_event *schema = NULL;
	struct event_kind *kind = &it->segment.unknown;
	const struct known_event *known;
	struct elog_item decoded;
	int ret;

	if (!is_since(it, item))
		return 0;
	ret = pass_time(it, item->time);
	if (!ret)
		ret = segment_find_event(&it->segment, it->file, it->reader, item->descriptor,
					 &known);
	if (ret)
		return ret;
	if (known && known->kind) {
		kind = known->kind;
		schema = known->schema;
	} else if (known) {
		decoded = *item;
		item = &decoded;
		ret = segment_decode(&it->segment, it->file, known, &decoded, &schema, &kind);
		if (ret)
			return ret;
	}
	return is_selected(it, kind, item) ? put_event(it, item, schema, kind) : 0;
}

/* Invalid records of programs are not lost events. */
static uint64_t count_lost(const struct elog_item *item)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < item->lost_count; i++)
		if (i != EVENTLOG_LOST_ABORTED &&
		    __builtin_add_overflow(sum, item->lost[i], &sum))
			return UINT64_MAX;
	return sum;
}

static int take_loss(struct iterator *it, const struct elog_item *item)
{
	uint64_t lost = count_lost(item);
	struct cpu_stream *stream;
	bt_message *message;
	int ret;

	if (!lost || !is_since(it, item))
		return 0;
	ret = pass_time(it, item->time);
	if (!ret)
		ret = get_stream(it, item, &stream);
	if (!ret)
		ret = close_packet(it, stream);
	if (ret)
		return ret;
	message = bt_message_discarded_events_create_with_default_clock_snapshots(it->self,
			stream->stream, (uint64_t)it->now, (uint64_t)it->now);
	if (message)
		bt_message_discarded_events_set_count(message, lost);
	ret = put(it, message);
	if (!ret)
		ret = open_packet(it, stream);
	return ret ? : close_packet(it, stream);
}

static int take_damage(struct iterator *it, const struct elog_item *item)
{
	it->text.size = 0;
	elog_format_damage(&it->text, item);
	if (it->text.error)
		return it->text.error;
	component_warn(it->file, "%s", it->text.data);
	return 0;
}

static int take_item(struct iterator *it, const struct elog_item *item)
{
	switch (item->type) {
	case ELOG_ITEM_EVENT:
		return take_event(it, item);
	case ELOG_ITEM_LOST:
		return take_loss(it, item);
	case ELOG_ITEM_PART:
		return end_segment(it);
	case ELOG_ITEM_DAMAGE:
		return take_damage(it, item);
	default:
		return 0;
	}
}

/* ------------------------------------------------------------------------
 * The methods
 */

static void report(const struct iterator *it)
{
	const char *path = it->file->path, *reason;

	switch (it->error) {
	case -EBADMSG:
		reason = "not a file of elog capture -o";
		break;
	case -EPROTONOSUPPORT:
	case -EOPNOTSUPP:
		reason = "this plugin cannot read its version or its compression";
		break;
	case -E2BIG:
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(it->self,
			"%s: more than %d kinds of events", path, KINDS_MAX);
		return;
	default:
		reason = strerror(-it->error);
		break;
	}
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(it->self, "%s: %s", path,
								   reason);
}

/*
 * Read until there is a message, or the end. All streams end, even after an error. Return:
 * false: the user has interrupted the graph.
 */
static bool fill_queue(struct iterator *it)
{
	struct elog_item item;
	int ret = 0;

	it->first = it->count = 0;
	while (!it->count && !ret) {
		/* A filter may match none of many events. */
		if (!(++it->items % CHECK_ITEMS) &&
		    bt_self_message_iterator_is_interrupted(it->self))
			return false;
		ret = elog_reader_next(it->reader, &item);
		ret = ret > 0 ? take_item(it, &item) : ret ? : 1;
	}
	if (ret) {
		it->error = ret;
		if (end_segment(it) && ret > 0)
			it->error = -ENOMEM;
	}
	return true;
}

bt_message_iterator_class_next_method_status
iterator_next(bt_self_message_iterator *self, bt_message_array_const messages,
	      uint64_t capacity, uint64_t *count)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);

	it->bytes = 0;
	for (*count = 0; *count < capacity; ) {
		if (it->first < it->count)
			messages[(*count)++] = it->queue[it->first++];
		else if (it->error || (*count && it->bytes >= BATCH_BYTES))
			break;
		else if (!fill_queue(it))
			break;
	}
	if (*count)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	if (!it->error)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN;
	if (it->error > 0)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
	if (it->error == -ENOMEM)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_MEMORY_ERROR;
	report(it);
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
}

static void close_file(struct iterator *it)
{
	for (; it->first < it->count; it->first++)
		bt_message_put_ref(it->queue[it->first]);
	it->first = it->count = 0;
	segment_end(&it->segment);
	elog_reader_close(it->reader);
	it->reader = NULL;
	if (it->fd >= 0)
		close(it->fd);
	it->fd = -1;
}

static int open_file(struct iterator *it)
{
	const struct component *component = it->file->component;
	int ret;

	it->now = 0;
	it->end = INT64_MIN;
	it->error = 0;
	it->fd = open(it->file->path, O_RDONLY | O_CLOEXEC);
	ret = it->fd < 0 ? -errno : elog_reader_open(&it->reader, it->fd);
	if (!ret && component->since)
		ret = elog_reader_seek(it->reader, component->since);
	if (!ret)
		return 0;
	it->error = ret;
	report(it);
	close_file(it);
	return ret;
}

bt_message_iterator_class_initialize_method_status
iterator_initialize(bt_self_message_iterator *self,
		    bt_self_message_iterator_configuration *configuration,
		    bt_self_component_port_output *port)
{
	struct iterator *it = calloc(1, sizeof(*it));

	if (!it)
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	it->self = self;
	it->file = bt_self_component_port_get_data(
		bt_self_component_port_output_as_self_component_port(port));
	if (open_file(it)) {
		free(it);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_message_iterator_set_data(self, it);
	bt_self_message_iterator_configuration_set_can_seek_forward(configuration, BT_TRUE);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void iterator_finalize(bt_self_message_iterator *self)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);

	if (!it)
		return;
	close_file(it);
	elog_text_free(&it->text);
	free(it->queue);
	free(it);
}

/* babeltrace2 --begin goes to the beginning, and from there to a time. */
bt_message_iterator_class_seek_beginning_method_status
iterator_seek_beginning(bt_self_message_iterator *self)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);

	close_file(it);
	return open_file(it) ? BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_ERROR :
			       BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_OK;
}

bt_message_iterator_class_can_seek_beginning_method_status
iterator_can_seek_beginning(bt_self_message_iterator *self, bt_bool *can)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);
	struct stat info;

	*can = !fstat(it->fd, &info) && S_ISREG(info.st_mode);
	return BT_MESSAGE_ITERATOR_CLASS_CAN_SEEK_BEGINNING_METHOD_STATUS_OK;
}
