/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The in-kernel API of eventlog, see eventlog(9): kernel providers emit events,
 * in-kernel subscribers receive them through callbacks.
 *
 * A provider is described by a schema, see elog_schema(5).  The header that is
 * generated from the schema declares struct eventlog_provider eventlog_NAME and,
 * for each event, a typed function eventlog_NAME_EVENT(session, ...).  Exactly
 * one source file defines EVENTLOG_NAME_DEFINE before it includes that header
 * and so instantiates the tables and functions.  Providers do not call
 * eventlog_provider_emit*() and eventlog_part*() directly; the generated
 * functions do.
 *
 * enable() and rundown() may sleep.  They run one at a time, with a mutex of eventlog held
 * that registering and unregistering also take.  So they must not register or unregister
 * providers, callbacks or their rules, load a module, or wait for a task that does.  If a
 * tracer is attached, enable() runs a moment later, in a worker without ftrace's locks.
 *
 * Emitting takes no lock and is allowed in any context, including NMI.
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
struct eventlog_provider_info;
struct eventlog_subscriber;

/* ---- providers ---- */

/**
 * struct eventlog_value - a named number: a keyword, or a member of a set
 * @value: the number; a bit mask for keywords and flags
 * @name: identifier
 * @description: one line of text for users, or NULL
 */
struct eventlog_value {
	u64 value;
	const char *name;
	const char *description;
};

/**
 * struct eventlog_set - an enum or flags type of a schema
 * @name: identifier
 * @description: one line of text for users, or NULL
 * @flags: true: the members are bit masks (flags); false: values (enum)
 * @values: the members; may be NULL if @value_count is 0
 * @value_count: number of @values
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
 * @type: type in the schema language: "u32", "enum:state:u8", "char[16]", "string", ...
 * @name: identifier
 * @display: "dec", "hex" or NULL for the default of the type
 * @description: one line of text for users, or NULL
 */
struct eventlog_field {
	const char *type;
	const char *name;
	const char *display;
	const char *description;
};

/**
 * struct eventlog_provider_event - an event of a kernel provider
 * @enabled: static key; eventlog enables it while the event has a listener
 * @event: the registered definition, NULL if not registered; private to eventlog,
 *	protected by RCU
 * @lost_rcu_idle: events lost because RCU was not watching; no subscriber
 *	received them
 * @id: unique within the provider, never 0
 * @level: enum eventlog_level
 * @attribute: enum eventlog_attribute, or 0
 * @keywords: mask of the provider's keywords
 * @name: identifier
 * @description: one line of text for users, or NULL
 * @fields: the fields, packed in this order
 * @field_count: number of @fields
 * @fixed_bytes: size of the fixed part, taken from the generated struct;
 *	registration checks it against @fields
 */
struct eventlog_provider_event {
	struct static_key_false enabled;
	struct eventlog_event __rcu *event;
	atomic_long_t lost_rcu_idle;
	u32 id;
	u8 level;
	u8 attribute;
	u64 keywords;
	const char *name;
	const char *description;
	const struct eventlog_field *fields;
	unsigned int field_count;
	u32 fixed_bytes;
};

/**
 * struct eventlog_provider - a kernel provider
 * @name: its name; several registered providers may share one name
 * @description: one line of text for users, or NULL
 * @owner: the module that owns the memory of this struct and of all it points to
 * @keywords: names of the bits in keyword masks
 * @keyword_count: number of @keywords
 * @sets: enum and flags types that the fields use
 * @set_count: number of @sets
 * @events: its events
 * @event_count: number of @events
 * @rundown_keywords: events with one of these keywords belong to the state dump:
 *	if @rundown emits them, only the subscriber that it runs for receives them.
 *	If another task emits one, it is what events of any thread may refer to:
 *	rules select it, whatever process, session or cgroup they are for, and all
 *	samples have it
 * @enable: called after one of the events was enabled or disabled, so that the
 *	provider can hook or unhook its event sources.  @keywords is the union of
 *	the keyword masks of the enabled events, @level the most verbose of their
 *	levels; level 0: no event is enabled.  eventlog_NAME_EVENT_enabled() tests
 *	a single event.  If any event was enabled, the last call before
 *	eventlog_provider_unregister() returns has level 0.  May be NULL.
 * @rundown: state dump (ETW calls it a rundown): called after @enable when a
 *	subscriber starts to listen to events with @rundown_keywords; emits one
 *	event for each existing session.  May be NULL.
 * @locked: its events are emitted with a lock held that every task of the CPU may need: what the
 *	rules of all subscribers test is limited, see EVENTLOG_LOCKED_TERMS_MAX in
 *	<uapi/linux/eventlog.h>
 * @private: for the provider's own use
 * @update: private to eventlog; NULL except for providers that eventlog creates
 *	from markers; called when @event was enabled or disabled, returns whether
 *	its static key must be on
 * @info: private to eventlog; NULL if not registered
 * @id: unique among registered providers, 1 to 65535; set at registration
 *
 * The generated definition sets the members up to @event_count.  The provider
 * sets the others, except for @update, @info and @id, before it registers.
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
	bool locked;
	void *private;

	bool (*update)(struct eventlog_provider_event *event, bool enabled);
	struct eventlog_provider_info *info;
	u16 id;
};

/**
 * eventlog_provider_register() - register a provider and its events
 * @provider: filled in, not registered; must stay valid until it is unregistered
 *
 * On return, events that match the rules of existing subscribers are enabled,
 * and @provider's enable() and rundown() have been called for them.  If a table
 * is malformed, the kernel log names the event and the field.  The calling
 * module depends on eventlog.ko, which can therefore not be unloaded first.
 *
 * Context: process context, may sleep.
 *
 * Return: 0; -EINVAL: a table is malformed; -EBUSY: already registered; -ENOSPC:
 * 65,535 providers are registered, or too many events; -EINTR: a fatal signal is
 * pending; -ENOMEM.
 */
int eventlog_provider_register(struct eventlog_provider *provider);

/**
 * eventlog_provider_unregister() - unregister a provider and its events
 * @provider: does nothing if it is not registered
 *
 * Callers may continue to emit during and after this call, without effect.  On
 * return, neither eventlog nor an emission in progress uses any part of
 * @provider, and enable() has been called with level 0 if any event was enabled.
 * One exception: an emission where RCU is not watching still increments the
 * event's lost_rcu_idle.  Records in rings can still be decoded.
 *
 * Context: process context, may sleep.
 */
void eventlog_provider_unregister(struct eventlog_provider *provider);

/**
 * struct eventlog_part - one piece of a payload
 * @data: kernel memory that does not fault
 * @bytes: size of @data; for a string, without its NUL
 * @string: a NUL follows in the payload
 */
struct eventlog_part {
	const void *data;
	u32 bytes;
	bool string;
};

/*
 * Returns the fixed-part word of a dynamic field that starts at offset @end, and
 * advances @end behind the field.
 */
static __always_inline u32 eventlog_part_place(u32 bytes, u32 *end)
{
	u32 word = bytes << 16 | (u16)*end;

	*end += bytes;
	return word;
}

/**
 * eventlog_part_length() - measure a string
 * @text: NUL-terminated
 *
 * Context: any.
 *
 * Return: its bytes before the NUL, but at most EVENTLOG_PAYLOAD_MAX.
 */
u32 eventlog_part_length(const char *text);

/**
 * eventlog_part_string() - set up the part of a string field
 * @part: output
 * @text: NUL-terminated; NULL is recorded as "(null)"
 * @end: size of the payload so far; advanced by the size of the field
 *
 * A string of more than EVENTLOG_PAYLOAD_MAX bytes makes the event too large;
 * the event is then counted as lost.
 *
 * Context: any.
 *
 * Return: the field's word in the fixed part.
 */
static __always_inline u32 eventlog_part_string(struct eventlog_part *part, const char *text,
						u32 *end)
{
	if (unlikely(!text))
		text = "(null)";
	part->data = text;
	part->bytes = eventlog_part_length(text);
	part->string = true;
	return eventlog_part_place(part->bytes + 1, end);
}

/**
 * eventlog_part_bytes() - set up the part of a bytes field
 * @part: output
 * @data: kernel memory that does not fault; may be NULL if @bytes is 0
 * @bytes: size of @data; more than EVENTLOG_PAYLOAD_MAX makes the event too large
 * @end: size of the payload so far; advanced by the size of the field
 *
 * Context: any.
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
 * @text: NUL-terminated, or NULL; truncated to @bytes
 * @bytes: size of the field; unused bytes are zeroed, but the field has no NUL
 *	if @text fills it
 *
 * Context: any.
 */
static __always_inline void eventlog_copy_chars(char *to, const char *text, size_t bytes)
{
	size_t length = text ? strnlen(text, bytes) : 0;

	memcpy(to, text, length);
	memset(to + length, 0, bytes - length);
}

/**
 * eventlog_provider_emit() - deliver an event without dynamic fields
 * @event: an event of a provider, registered or not
 * @session: chosen by the provider; 0: none
 * @fields: the fixed part, which is the whole payload
 * @bytes: size of @fields
 *
 * Delivers the event to every subscriber with a matching rule.  Called by
 * generated functions.
 *
 * Context: any.
 */
void eventlog_provider_emit(struct eventlog_provider_event *event, u64 session,
			    const void *fields, u32 bytes);

/**
 * eventlog_provider_emit_parts() - deliver an event with dynamic fields
 * @event: an event of a provider, registered or not
 * @session: chosen by the provider; 0: none
 * @parts: the fixed part, then the dynamic fields in order
 * @count: number of @parts
 *
 * Delivers the event to every subscriber with a matching rule.  Called by
 * generated functions.
 *
 * Context: any.
 */
void eventlog_provider_emit_parts(struct eventlog_provider_event *event, u64 session,
				  const struct eventlog_part *parts, unsigned int count);

/* ---- in-kernel subscribers ---- */

/**
 * struct eventlog_delivery - an event as passed to a callback
 * @descriptor: id of its definition, for eventlog_describe()
 * @context: enum eventlog_context: the context it was emitted in
 * @time: CLOCK_MONOTONIC, ns
 * @session: chosen by the provider; 0: none
 * @pid: process (tgid), in the initial pid namespace
 * @tid: thread, in the initial pid namespace
 * @bytes: size of the whole payload
 * @parts: the pieces of the payload
 * @count: number of @parts
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
 * eventlog_delivery_copy() - copy the payload of a delivered event
 * @delivery: as passed to a callback
 * @to: destination
 * @room: size of the destination; a larger payload is truncated
 *
 * Context: any.
 *
 * Return: number of bytes copied.
 */
u32 eventlog_delivery_copy(const struct eventlog_delivery *delivery, void *to, u32 room);

/* May be called in NMI context, and by eventlog_sched.ko with the lock of a run queue held. */
#define EVENTLOG_CALLBACK_NMI	(1U << 0)

/**
 * struct eventlog_callback - a synchronous in-kernel subscriber
 * @name: shown in the status listing
 * @flags: EVENTLOG_CALLBACK_*
 * @deliver: called for each event that matches a rule, synchronously in the
 *	context of the emitter, with preemption disabled; in NMI context, and while
 *	a run queue is locked, only with EVENTLOG_CALLBACK_NMI: then it must not
 *	wake anything, nor call printk().  It must not sleep and must not take a lock
 *	that may be held by code that emits an event.  It may emit events; they
 *	are not delivered to this callback, and callbacks nest at most
 *	EVENTLOG_CALLBACK_DEPTH deep.
 * @private: for the owner's use
 * @subscriber: private to eventlog; NULL if not registered
 *
 * Events that are not delivered because of context or depth are counted, see
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
 * struct eventlog_callback_rule - a rule of a callback, the counterpart of struct eventlog_rule
 * @provider: glob over provider names; NULL: all
 * @event: glob over event names; NULL: all
 * @keywords_any: the event has at least one of these; 0: not tested
 * @keywords_all: the event has all of these
 * @flags: EVENTLOG_RULE_*
 * @session: only this session, with EVENTLOG_RULE_SESSION
 * @pid: only this process (tgid in the initial pid namespace), with EVENTLOG_RULE_PID
 * @level: maximum level; 0: every level
 * @sample: deliver the first of every N matching events; 0 and 1: all
 */
struct eventlog_callback_rule {
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
 * eventlog_callback_register() - register a callback as a subscriber
 * @callback: filled in, not registered; must stay valid until it is unregistered
 *
 * No event is delivered before a rule is added.
 *
 * Context: process context, may sleep.
 *
 * Return: 0; -EINVAL: a member is invalid; -EBUSY: already registered; -EMFILE:
 * too many subscribers; -ENOMEM.
 */
int eventlog_callback_register(struct eventlog_callback *callback);

/**
 * eventlog_callback_unregister() - unregister a callback
 * @callback: does nothing if it is not registered
 *
 * On return, deliver() is not running and will not be called again.
 *
 * Context: process context, may sleep.
 */
void eventlog_callback_unregister(struct eventlog_callback *callback);

/**
 * eventlog_callback_rule_add() - add a rule to a callback
 * @callback: registered
 * @rule: the rule; copied
 *
 * Context: process context, may sleep.
 *
 * Return: id of the rule, at least 1; -EINVAL: the rule is invalid; -EMFILE: too
 * many rules; -EINTR: a fatal signal is pending, and the rule was not added; -ENOMEM.
 */
int eventlog_callback_rule_add(struct eventlog_callback *callback,
			       const struct eventlog_callback_rule *rule);

/**
 * eventlog_callback_rule_delete() - delete a rule of a callback
 * @callback: registered
 * @rule_id: as returned by eventlog_callback_rule_add()
 *
 * Context: process context, may sleep.
 *
 * Return: 0; -ENOENT: there is no such rule; -EINTR: a fatal signal is pending, and the rule
 * stays.
 */
int eventlog_callback_rule_delete(struct eventlog_callback *callback, u32 rule_id);

/**
 * eventlog_callback_lost() - count the events that a callback lost
 * @callback: registered
 * @cause: EVENTLOG_LOST_NESTED: the callback was already running in that context,
 *	or it does not accept NMI context; EVENTLOG_LOST_DEPTH: callbacks nested
 *	too deeply; EVENTLOG_LOST_TOO_LARGE: the payload was larger than
 *	EVENTLOG_PAYLOAD_MAX; the count of any other cause is 0
 *
 * Events emitted where RCU is not watching are not included; the status listing
 * shows them for the event only.
 *
 * Context: any.
 *
 * Return: the number of events lost by @cause since registration.
 */
u64 eventlog_callback_lost(const struct eventlog_callback *callback, enum eventlog_lost cause);

/**
 * eventlog_describe() - get the schema text of a definition
 * @descriptor: from struct eventlog_delivery
 *
 * Context: process context, may sleep.
 *
 * Return: the text, which the caller frees with kvfree(), or an ERR_PTR():
 * -ENOENT: there is no such definition; -ENOMEM.
 */
char *eventlog_describe(u32 descriptor);

#endif /* _LINUX_EVENTLOG_H */
