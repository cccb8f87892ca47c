/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * eventlog(9): what kernel code emits events with, and subscribes with.
 *
 * A provider is written as a schema (elog_schema(5)); the header generated from
 * it declares struct eventlog_provider eventlog_NAME and, for each event, a
 * typed function eventlog_NAME_EVENT(session, ...).  One source file defines
 * EVENTLOG_NAME_DEFINE before it includes the header: the tables and functions
 * are built there.  Nothing below that is called eventlog_provider_emit*() or
 * eventlog_part*() need be used by hand.
 *
 * Locks: registering, unregistering, enable and rundown calls are serialised by
 * one mutex of eventlog's, which is held while a provider's enable() and
 * rundown() run: these may sleep, but must not register or unregister providers
 * or callbacks, nor add or delete a callback's rules, nor wait for somebody who
 * does.  A tracer that is attached or detached calls enable() as well, with
 * ftrace's event_mutex and perhaps a process's mmap_lock held: enable() may hook
 * tracepoints, but must neither change ftrace's or perf's events, nor touch user
 * memory, nor wait for somebody who does.  Modules come and go with it being told
 * of their markers, so that it must not load one, either.  Emitting takes no lock and is allowed everywhere, NMI included.
 */
#ifndef _LINUX_EVENTLOG_H
#define _LINUX_EVENTLOG_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>

struct eventlog_event;
struct eventlog_markers;
struct eventlog_provider_info;
struct eventlog_subscriber;

/* ---- providers ---- */

/**
 * struct eventlog_value - a named number: a keyword, or a member of a set
 * @value: the number; a mask for keywords and flags
 * @name: identifier
 * @description: for people, or NULL
 */
struct eventlog_value {
	u64 value;
	const char *name;
	const char *description;
};

/**
 * struct eventlog_set - an enum or flags type of a schema
 * @name: identifier
 * @description: for people, or NULL
 * @flags: members are bits, rather than values
 * @values: members; may be NULL when there are none
 * @value_count: their number
 */
struct eventlog_set {
	const char *name;
	const char *description;
	bool flags;
	const struct eventlog_value *values;
	unsigned int value_count;
};

/**
 * struct eventlog_field - a field of an event
 * @type: as in the schema: "u32", "enum:state:u8", "char[16]", "string", ...
 * @name: identifier
 * @display: "dec" or "hex", or NULL
 * @description: for people, or NULL
 */
struct eventlog_field {
	const char *type;
	const char *name;
	const char *display;
	const char *description;
};

/**
 * struct eventlog_provider_event - an event of a kernel provider
 * @enabled: somebody wants it; eventlog flips it
 * @event: what eventlog makes of it at registration; eventlog's, RCU
 * @lost_not_watching: emitted where RCU was not watching, reached nobody
 * @id: within the provider; never 0
 * @level: enum eventlog_level
 * @keywords: mask of the provider's keywords
 * @name: identifier
 * @description: for people, or NULL
 * @fields: packed in this order
 * @field_count: their number
 * @fixed_bytes: size of the fixed part as the generated struct has it, checked
 *	against @fields at registration
 */
struct eventlog_provider_event {
	struct static_key_false enabled;
	struct eventlog_event __rcu *event;
	atomic_long_t lost_not_watching;
	u32 id;
	u8 level;
	u64 keywords;
	const char *name;
	const char *description;
	const struct eventlog_field *fields;
	unsigned int field_count;
	u32 fixed_bytes;
};

/**
 * struct eventlog_provider - a kernel provider
 * @name: its name; several living providers may have the same
 * @description: for people, or NULL
 * @owner: the module whose memory this and everything it points to is
 * @keywords: names of the bits in keyword masks
 * @keyword_count: their number
 * @sets: enum and flags types its fields use
 * @set_count: their number
 * @events: its events
 * @event_count: their number
 * @rundown_keywords: events with one of these belong to rundowns: emitted by
 *	@rundown they reach the subscriber that it runs for, and no other
 * @enable: called when one of its events has come to be wanted, or has ceased
 *	to be: @keywords is the union of the masks of its wanted events, @level the most verbose
 *	of their levels, 0: none is wanted.  The place to hook and unhook event
 *	sources.  eventlog_NAME_EVENT_enabled() tells of single events.  NULL:
 *	not needed.  The last call before eventlog_provider_unregister() returns
 *	says that nothing is wanted, if anything was.
 * @rundown: called when a subscriber has begun to want rundown events, after
 *	@enable: emits one event for each session there is.  NULL: not needed.
 * @private: the provider's own
 * @markers: eventlog's; NULL but for the providers it makes of markers
 * @info: eventlog's; NULL when not registered
 * @id: unique among living providers, 1 to 65535; set at registration
 *
 * The generated definition fills in everything up to @event_count; the provider
 * sets the others before it registers.
 */
struct eventlog_provider {
	const char *name;
	const char *description;
	struct module *owner;
	const struct eventlog_value *keywords;
	unsigned int keyword_count;
	const struct eventlog_set *sets;
	unsigned int set_count;
	struct eventlog_provider_event *const *events;
	unsigned int event_count;

	u64 rundown_keywords;
	void (*enable)(struct eventlog_provider *provider, u64 keywords, u32 level);
	void (*rundown)(struct eventlog_provider *provider);
	void *private;

	struct eventlog_markers *markers;
	struct eventlog_provider_info *info;
	u16 id;
};

/**
 * eventlog_provider_register() - make a provider's events known
 * @provider: filled in, not registered; stays until unregistered
 *
 * Process context, may sleep.  Events that a subscriber wants already are
 * enabled on return, and @provider's enable() and rundown() have been called.
 * A malformed table is refused and the kernel log says which event and field.
 * The module that calls this depends on eventlog.ko, which therefore stays.
 *
 * Return: 0; -EINVAL: malformed; -EBUSY: registered already; -ENOSPC: 65,535
 * providers live, or no room for the events; -ENOMEM.
 */
int eventlog_provider_register(struct eventlog_provider *provider);

/**
 * eventlog_provider_unregister() - take a provider's events back
 * @provider: registered, or not (then nothing is done)
 *
 * Process context, may sleep.  Emitting may go on meanwhile and afterwards: it
 * has no effect.  On return nothing of @provider is in use by eventlog or by
 * an emission under way (but for one where RCU does not watch, which touches
 * nothing but the event's lost_not_watching), and enable() has been told that
 * nothing is wanted.
 * Records already taken by subscribers can still be decoded.
 */
void eventlog_provider_unregister(struct eventlog_provider *provider);

/**
 * struct eventlog_part - a piece of a payload behind its fixed part
 * @data: kernel memory that does not fault
 * @bytes: how much of it; a string's NUL is not among them
 * @string: a NUL is to follow
 */
struct eventlog_part {
	const void *data;
	u32 bytes;
	bool string;
};

/* The word of a dynamic field that begins at @end, which moves behind it. */
static __always_inline u32 eventlog_part_place(u32 bytes, u32 *end)
{
	u32 word = bytes << 16 | (u16)*end;

	*end += bytes;
	return word;
}

/**
 * eventlog_part_string() - describe a string
 * @part: set
 * @text: NUL-terminated, or NULL, which is shown as "(null)"
 * @end: bytes of the payload so far; moves on
 *
 * Any context.  A string of more than EVENTLOG_PAYLOAD_MAX bytes makes the
 * event too large, which is counted.
 *
 * Return: the field's word in the fixed part.
 */
static __always_inline u32 eventlog_part_string(struct eventlog_part *part, const char *text,
						u32 *end)
{
	if (unlikely(!text))
		text = "(null)";
	part->data = text;
	part->bytes = strnlen(text, EVENTLOG_PAYLOAD_MAX);
	part->string = true;
	return eventlog_part_place(part->bytes + 1, end);
}

/**
 * eventlog_part_bytes() - describe bytes
 * @part: set
 * @data: kernel memory that does not fault; may be NULL when @bytes is 0
 * @bytes: how many; more than EVENTLOG_PAYLOAD_MAX makes the event too large
 * @end: bytes of the payload so far; moves on
 *
 * Any context.
 *
 * Return: the field's word in the fixed part.
 */
static __always_inline u32 eventlog_part_bytes(struct eventlog_part *part, const void *data,
					       size_t bytes, u32 *end)
{
	part->data = data;
	part->bytes = min_t(size_t, bytes, EVENTLOG_PAYLOAD_MAX);
	part->string = false;
	return eventlog_part_place(part->bytes, end);
}

/**
 * eventlog_copy_chars() - fill a char[N] field
 * @to: the field
 * @text: NUL-terminated, or NULL; what does not fit is cut off
 * @bytes: size of the field; the rest is zeroed, a NUL is not guaranteed
 *
 * Any context.
 */
static __always_inline void eventlog_copy_chars(char *to, const char *text, size_t bytes)
{
	size_t length = text ? strnlen(text, bytes) : 0;

	memcpy(to, text, length);
	memset(to + length, 0, bytes - length);
}

/**
 * eventlog_provider_emit() - give an event to every subscriber that wants it
 * @event: an event of a provider, registered or not
 * @session: chosen by the provider, 0: none
 * @fields: the fixed part, which is the whole payload
 * @bytes: its size
 *
 * Any context.  For generated functions.
 */
void eventlog_provider_emit(struct eventlog_provider_event *event, u64 session,
			    const void *fields, u32 bytes);

/**
 * eventlog_provider_emit_parts() - likewise, of an event with dynamic fields
 * @event: an event of a provider, registered or not
 * @session: chosen by the provider, 0: none
 * @parts: the fixed part, then the dynamic ones, in order
 * @count: their number
 *
 * Any context.  For generated functions.
 */
void eventlog_provider_emit_parts(struct eventlog_provider_event *event, u64 session,
				  const struct eventlog_part *parts, unsigned int count);

/* ---- in-kernel subscribers ---- */

/**
 * struct eventlog_delivery - an event as a callback gets it
 * @descriptor: of its definition, for eventlog_describe()
 * @context: enum eventlog_context, where it was emitted
 * @time: CLOCK_MONOTONIC, ns
 * @session: chosen by the provider, 0: none
 * @pid: process (tgid), as init sees it
 * @tid: thread, likewise
 * @bytes: of the whole payload
 * @parts: the payload, in pieces
 * @count: their number
 */
struct eventlog_delivery {
	u32 descriptor;
	u32 context;
	u64 time;
	u64 session;
	u32 pid;
	u32 tid;
	u32 bytes;
	const struct eventlog_part *parts;
	unsigned int count;
};

/**
 * eventlog_delivery_copy() - put a delivered payload together
 * @delivery: as given to a callback
 * @to: where to
 * @room: bytes there
 *
 * Any context.
 *
 * Return: how many bytes were copied: all, or @room.
 */
u32 eventlog_delivery_copy(const struct eventlog_delivery *delivery, void *to, u32 room);

#define EVENTLOG_CALLBACK_NMI	(1U << 0) /* may be called in NMI context */

/**
 * struct eventlog_callback - a synchronous in-kernel subscriber
 * @name: shown in the status listing
 * @flags: EVENTLOG_CALLBACK_*
 * @deliver: called for each event that one of the rules lets through, where it
 *	is emitted: any context (NMI with EVENTLOG_CALLBACK_NMI only), preemption
 *	off.  It may emit; what it emits is not delivered to itself, nor more
 *	than EVENTLOG_CALLBACK_DEPTH callbacks deep.  It must not sleep, nor take
 *	a lock that may be held where an event is emitted.
 * @private: the owner's
 * @subscriber: eventlog's; NULL when not registered
 *
 * Not delivered because of context or depth: counted, see
 * eventlog_callback_lost().
 */
struct eventlog_callback {
	const char *name;
	u32 flags;
	void (*deliver)(struct eventlog_callback *callback,
			const struct eventlog_delivery *delivery);
	void *private;
	struct eventlog_subscriber *subscriber;
};

#define EVENTLOG_CALLBACK_DEPTH	4

/**
 * struct eventlog_wish - a rule of a callback; as struct eventlog_rule
 * @provider: glob over provider names, NULL: all
 * @event: glob over event names, NULL: all
 * @keywords_any: the event has one of these; 0: not tested
 * @keywords_all: the event has all of these
 * @flags: EVENTLOG_RULE_*
 * @session: with EVENTLOG_RULE_SESSION
 * @pid: with EVENTLOG_RULE_PID, as init sees it
 * @level: at most this verbose; 0: every level
 * @sample: the 1st of every N that match; 0 and 1: all
 */
struct eventlog_wish {
	const char *provider;
	const char *event;
	u64 keywords_any;
	u64 keywords_all;
	u32 flags;
	u64 session;
	u32 pid;
	u32 level;
	u32 sample;
};

/**
 * eventlog_callback_register() - become a subscriber
 * @callback: filled in, not registered; stays until unregistered
 *
 * Process context, may sleep.  Nothing is delivered before a rule is added.
 *
 * Return: 0; -EINVAL; -EBUSY: registered already; -EMFILE: too many
 * subscribers; -ENOMEM.
 */
int eventlog_callback_register(struct eventlog_callback *callback);

/**
 * eventlog_callback_unregister() - cease to be one
 * @callback: registered, or not (then nothing is done)
 *
 * Process context, may sleep.  On return it is not being called and will not be.
 */
void eventlog_callback_unregister(struct eventlog_callback *callback);

/**
 * eventlog_callback_rule_add() - ask for events
 * @callback: registered
 * @wish: which
 *
 * Process context, may sleep.
 *
 * Return: the rule's id, at least 1; -EINVAL; -EMFILE: too many rules; -ENOMEM.
 */
int eventlog_callback_rule_add(struct eventlog_callback *callback,
			       const struct eventlog_wish *wish);

/**
 * eventlog_callback_rule_delete() - take a rule back
 * @callback: registered
 * @rule_id: as returned when it was added
 *
 * Process context, may sleep.
 *
 * Return: 0 or -ENOENT.
 */
int eventlog_callback_rule_delete(struct eventlog_callback *callback, u32 rule_id);

/**
 * eventlog_callback_lost() - how many events were not delivered to a callback
 * @callback: registered
 * @cause: EVENTLOG_LOST_NESTED: it was being called in that context already, or
 *	an NMI came that it does not accept; EVENTLOG_LOST_DEPTH: callbacks
 *	emitted too deeply; EVENTLOG_LOST_TOO_LARGE: the payload exceeded
 *	EVENTLOG_PAYLOAD_MAX; others: 0.  What was emitted where RCU does not
 *	watch is counted with the event alone, in the status listing.
 *
 * Any context.
 */
u64 eventlog_callback_lost(const struct eventlog_callback *callback, enum eventlog_lost cause);

/**
 * eventlog_describe() - the schema text of a definition
 * @descriptor: as delivered
 *
 * Process context, may sleep.
 *
 * Return: the text, for kvfree(); or ERR_PTR: -ENOENT, -ENOMEM.
 */
char *eventlog_describe(u32 descriptor);

#endif /* _LINUX_EVENTLOG_H */
