/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * source.elog.file, a source component class of babeltrace2 that reads .elog files.
 *
 * A component has an output port for each file, and a message iterator reads the file of
 * its port. component.c owns components, iterator.c iterators, and trace.c and field.c the
 * objects of babeltrace2 that describe a segment of a file.
 *
 * babeltrace2 ends the process if a caller breaks a rule of its library, and what is in a
 * file is anything: all of it is checked before it gets there. A graph and its components
 * belong to one thread.
 */
#ifndef BABELTRACE2_PLUGIN_H
#define BABELTRACE2_PLUGIN_H

#include <babeltrace2/babeltrace.h>
#include <elog.h>

#include "libelog/util/map.h"

/* Kinds of events in a segment of a file, as in the other verbs and formats. */
#define KINDS_MAX	4096

/* CPUs of a segment; libelog accepts no more. The last number is that of unknown CPUs. */
#define CPUS_MAX	4096

struct boot_clock;

/**
 * struct component - a component
 * @self: of babeltrace2
 * @files: the inputs
 * @file_count: number of @files
 * @expression: the parameter filter, or NULL
 * @since: the parameter since: omit earlier events, ns of CLOCK_REALTIME; 0: none
 * @clocks: clocks of boots, so that all files of a boot have the same one
 */
struct component {
	bt_self_component *self;
	struct input_file *files;
	size_t file_count;
	struct elog_expression *expression;
	uint64_t since;
	struct boot_clock *clocks;
};

/**
 * struct input_file - a file
 * @component: has it
 * @path: its name
 */
struct input_file {
	struct component *component;
	char *path;
};

/** component_warn() - print a warning about a file, unless the log level forbids it */
void component_warn(const struct input_file *file, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * struct event_kind - the events with one definition
 * @classes: with a known CPU, and with an unknown one; NULL: not needed so far
 * @predicate: the filter; NULL: none, or no event matches
 * @decoded: the definition is in the records, see elog_eventheader(3)
 * @selected: events may match the filter
 * @warned: a warning about invalid payloads was printed
 */
struct event_kind {
	bt_event_class *classes[2];
	struct elog_predicate *predicate;
	bool decoded;
	bool selected;
	bool warned;
};

/**
 * struct cpu_stream - the stream of a CPU
 * @stream: NULL: it has no message so far
 * @packet: NULL: none is open
 * @events: in the packet
 * @bytes: of payloads in the packet
 */
struct cpu_stream {
	bt_stream *stream;
	bt_packet *packet;
	unsigned int cpu;
	uint32_t events;
	uint32_t bytes;
};

/**
 * struct segment - what babeltrace2 knows of a capture in a file
 * @trace: NULL: no segment has begun
 * @trace_class: of @trace
 * @clock: of all streams
 * @base: the clock's offset from 1970, ns
 * @classes: of streams of CPUs, and of the stream of unknown CPUs
 * @kinds: struct event_kind, by the text of the definition
 * @descriptors: struct known_event, by descriptor
 * @decoder: for records that have their definition; NULL: there was none so far
 * @decoded: struct event_kind *, by the address of a schema of @decoder
 * @generation: of these schemas
 * @unknown: the kind of events without a definition
 * @streams: of the root, by CPU
 * @instance_streams: struct cpu_stream, by instance and CPU
 */
struct segment {
	bt_trace *trace;
	bt_trace_class *trace_class;
	bt_clock_class *clock;
	int64_t base;
	bt_stream_class *classes[2];
	struct elog_map kinds;
	struct elog_map descriptors;
	struct elog_eventheader *decoder;
	struct elog_map decoded;
	uint64_t generation;
	struct event_kind unknown;
	struct cpu_stream streams[CPUS_MAX + 1];
	struct elog_map instance_streams;
};

/**
 * struct known_event - the definition of a descriptor
 * @generation: of the reader when it was found
 * @schema: the definition, valid for this generation
 * @kind: its kind; NULL: the records have definitions
 */
struct known_event {
	uint64_t generation;
	const struct elog_schema_event *schema;
	struct event_kind *kind;
};

/* The largest value of a clock, and the largest offset: babeltrace2 adds them. */
#define CLOCK_MAX	((int64_t)1 << 62)

/**
 * segment_begin() - make the objects of a new segment
 * @segment: without one
 * @file: its file
 * @reader: at the first event or loss of the segment
 * @time: of this event or loss, less than CLOCK_MAX
 * @earliest: no message may be earlier, ns from 1970: the end of the previous segment;
 *	INT64_MIN: there was none
 *
 * Moves the segment behind the previous one, if the clock was set back between them.
 *
 * Return: 0 or -ENOMEM.
 */
int segment_begin(struct segment *segment, const struct input_file *file,
		  const struct elog_reader *reader, int64_t time, int64_t earliest);

/** segment_end() - drop all objects; there need be none */
void segment_end(struct segment *segment);

/**
 * segment_find_event() - find the definition of an event
 * @segment: the segment
 * @file: its file
 * @reader: of the file
 * @descriptor: of the event
 * @known: set; NULL: the file has no definition
 *
 * Return: 0; -ENOMEM; -E2BIG there are too many kinds.
 */
int segment_find_event(struct segment *segment, const struct input_file *file,
		       struct elog_reader *reader, uint32_t descriptor,
		       const struct known_event **known);

/**
 * segment_decode() - decode a record that has its definition
 * @segment: the segment
 * @file: its file
 * @known: what segment_find_event() has found, without a kind
 * @item: the event; its payload is replaced, until the next call
 * @schema: set to the definition in the record
 * @kind: set to its kind
 *
 * Return: 0; -ENOMEM; -E2BIG there are too many kinds.
 */
int segment_decode(struct segment *segment, const struct input_file *file,
		   const struct known_event *known, struct elog_item *item,
		   const struct elog_schema_event **schema, struct event_kind **kind);

/**
 * segment_event_class() - get the class of a kind's events
 * @segment: the segment
 * @kind: the kind
 * @schema: its definition, or NULL
 * @cpu_known: whether the CPU of the event is known
 *
 * Return: the class, which belongs to the segment; NULL: no memory.
 */
bt_event_class *segment_event_class(struct segment *segment, struct event_kind *kind,
				    const struct elog_schema_event *schema, bool cpu_known);

/**
 * segment_stream() - get the stream of a CPU in an instance
 * @segment: the segment
 * @cpu: less than CPUS_MAX, or EVENTLOG_CPU_UNKNOWN
 * @instance: the name; NULL: the root
 * @begun: set: it was there before
 *
 * Return: the stream; NULL: no memory.
 */
struct cpu_stream *segment_stream(struct segment *segment, unsigned int cpu,
				  const char *instance, bool *begun);

/** segment_each_stream() - get the stream behind @stream, or the first one; NULL: the end */
struct cpu_stream *segment_each_stream(struct segment *segment, struct cpu_stream *stream);

/** clocks_free() - forget the clocks of all boots */
void clocks_free(struct component *component);

/** make_integer() - an unsigned field of so many bits; NULL: no memory */
bt_field_class *make_integer(bt_trace_class *trace_class, unsigned int bits, bool hex);

/** add_member() - add a field to a structure, and drop the reference to it; NULL is -ENOMEM */
int add_member(bt_field_class *structure, const char *name, bt_field_class *member);

/**
 * make_payload() - make the class of an event's fields
 * @trace_class: of the event
 * @schema: its definition; NULL: there is one field, payload
 * @decoded: the definition was in a record
 *
 * Return: the class, or NULL: no memory.
 */
bt_field_class *make_payload(bt_trace_class *trace_class,
			     const struct elog_schema_event *schema, bool decoded);

/**
 * set_payload() - set an event's fields
 * @payload: of the class that make_payload() has made
 * @schema: its definition, or NULL
 * @item: the event
 * @text: for strings
 *
 * A field that cannot be decoded gets 0, or the error as text, or nothing if it is optional.
 *
 * Return: 0; -EBADMSG if there was one; -ENOMEM.
 */
int set_payload(bt_field *payload, const struct elog_schema_event *schema,
		const struct elog_item *item, struct elog_text *text);

/** set_string() - set a field to text, of which only valid UTF-8 is kept; 0 or -ENOMEM */
int set_string(bt_field *field, const char *data, size_t size, struct elog_text *text);

/** member_at() - the field of a structure with this index */
static inline bt_field *member_at(bt_field *structure, size_t index)
{
	return bt_field_structure_borrow_member_field_by_index(structure, index);
}

bt_message_iterator_class_initialize_method_status
iterator_initialize(bt_self_message_iterator *self,
		    bt_self_message_iterator_configuration *configuration,
		    bt_self_component_port_output *port);
void iterator_finalize(bt_self_message_iterator *self);
bt_message_iterator_class_next_method_status
iterator_next(bt_self_message_iterator *self, bt_message_array_const messages,
	      uint64_t capacity, uint64_t *count);
bt_message_iterator_class_seek_beginning_method_status
iterator_seek_beginning(bt_self_message_iterator *self);
bt_message_iterator_class_can_seek_beginning_method_status
iterator_can_seek_beginning(bt_self_message_iterator *self, bt_bool *can);

#endif /* BABELTRACE2_PLUGIN_H */
