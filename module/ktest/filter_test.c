// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog_filter_test.ko: a provider for tests of rules' filters.
 *
 * "types" has a field of every type that processes' events cannot have.  "torn" has a
 * string that another thread changes.  "storm" is emitted on all CPUs, in threads and in
 * the interrupts and NMIs that interrupt them.  The tables are written by hand.
 */
#include <linux/err.h>
#include <linux/eventlog.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat.h"
#include "ktest/storm.h"

static const struct eventlog_value colours[] = {
	{ 1, "RED", NULL },
	{ -2, "BLUE", NULL },
	{ 0, "NONE", NULL },
};

static const struct eventlog_value bits[] = {
	{ 0x1, "ONE", NULL },
	{ 0x8000, "SIXTEEN", NULL },
};

static const struct eventlog_set sets[] = {
	{ "colour", NULL, false, colours, ARRAY_SIZE(colours) },
	{ "bit", NULL, true, bits, ARRAY_SIZE(bits) },
};

struct types {
	u8 flag;
	u64 pointer;
	u8 v4[4];
	u8 v6[16];
	u8 mac[6];
	u8 port[2];
	s8 colour;
	u16 bits;
	char chars[5];
	u32 text;
	u64 time;
	u64 duration;
	u32 data;
	u8 octets[16];
	u8 raw[4];
} __packed;

static const struct eventlog_field types_fields[] = {
	{ "bool", "flag", NULL, NULL },
	{ "ptr", "pointer", NULL, NULL },
	{ "ipv4", "v4", NULL, NULL },
	{ "ipv6", "v6", NULL, "also\tIPv4" },
	{ "mac", "mac", NULL, NULL },
	{ "port", "port", NULL, NULL },
	{ "enum:colour:s8", "colour", NULL, NULL },
	{ "flags:bit:u16", "bits", NULL, NULL },
	{ "char[5]", "chars", NULL, NULL },
	{ "string", "text", NULL, NULL },
	{ "time", "time", NULL, NULL },
	{ "duration", "duration", NULL, NULL },
	{ "bytes", "data", NULL, NULL },
	{ "u8[16]", "octets", NULL, NULL },
	{ "struct:in_addr:4", "raw", NULL, NULL },
};

struct number_and_text {
	u32 number;
	u32 text;
} __packed;

static const struct eventlog_field torn_fields[] = {
	{ "u32", "number", "hex", NULL },
	{ "string", "text", NULL, NULL },
};

#define TEST_EVENT(_id, _name, _fields, _bytes) {				\
	.enabled = STATIC_KEY_FALSE_INIT,					\
	.id = _id,								\
	.level = EVENTLOG_LEVEL_INFO,						\
	.name = _name,								\
	.fields = _fields,							\
	.field_count = ARRAY_SIZE(_fields),					\
	.fixed_bytes = _bytes,							\
}

static struct eventlog_provider_event types_event =
	TEST_EVENT(1, "types", types_fields, sizeof(struct types));
static struct eventlog_provider_event torn_event =
	TEST_EVENT(2, "torn", torn_fields, sizeof(struct number_and_text));
static struct eventlog_provider_event storm_event =
	TEST_EVENT(3, "storm", torn_fields, sizeof(struct number_and_text));

static struct eventlog_provider_event *const events[] = {
	&types_event, &torn_event, &storm_event,
};

static struct eventlog_provider provider = {
	.name = "filter_test",
	.owner = THIS_MODULE,
	.sets = sets,
	.set_count = ARRAY_SIZE(sets),
	.events = events,
	.event_count = ARRAY_SIZE(events),
};

/* ---- types ---- */

/* Bits 0 to 31 are spread over the fields; bit 32 makes v6 an IPv4 address. */
static void emit_types(u64 number, const char *text)
{
	__be32 low = cpu_to_be32((u32)number);
	__be16 port = cpu_to_be16((u16)number);
	struct types types = {
		.flag = number & 1,
		.pointer = number,
		.mac = { 2 },
		.v6 = { 0xfd },
		.colour = (s8)number,
		.bits = (u16)number,
		.time = number,
		.duration = number,
	};
	u32 end = sizeof(types);
	struct eventlog_part parts[3];

	memcpy(types.v4, &low, sizeof(low));
	memcpy(types.raw, &low, sizeof(low));
	memcpy(types.mac + 2, &low, sizeof(low));
	memcpy(types.port, &port, sizeof(port));
	memcpy(types.v6 + 12, &low, sizeof(low));
	if (number >> 32 & 1) {
		types.v6[0] = 0;
		types.v6[10] = 0xff;
		types.v6[11] = 0xff;
	}
	memset(types.octets, (u8)number, sizeof(types.octets));
	eventlog_copy_chars(types.chars, text, sizeof(types.chars));
	parts[0] = (struct eventlog_part){ .data = &types, .bytes = sizeof(types) };
	types.text = eventlog_part_string(&parts[1], text, &end);
	types.data = eventlog_part_bytes(&parts[2], text, text ? strlen(text) : 0, &end);
	eventlog_provider_emit_parts(&types_event, number, parts, ARRAY_SIZE(parts));
}

/* Parses "NUMBER[ TEXT]"; without TEXT the string is NULL. */
static int emit_set(const char *argument, const struct kernel_param *parameter)
{
	char *copy = kstrdup(argument, GFP_KERNEL), *text = copy, *number;
	u64 value;
	int ret;

	if (!copy)
		return -ENOMEM;
	if (*copy)
		strchrnul(copy, '\n')[0] = '\0';
	number = strsep(&text, " ");
	ret = kstrtou64(number, 0, &value);
	if (!ret)
		emit_types(value, text);
	kfree(copy);
	return ret;
}

static const struct kernel_param_ops emit_ops = { .set = emit_set };
module_param_cb(emit, &emit_ops, NULL, 0200);

static void emit_text(struct eventlog_provider_event *event, u32 number, const char *text)
{
	struct number_and_text fields = { .number = number };
	u32 end = sizeof(fields);
	struct eventlog_part parts[2];

	parts[0] = (struct eventlog_part){ .data = &fields, .bytes = sizeof(fields) };
	fields.text = eventlog_part_string(&parts[1], text, &end);
	eventlog_provider_emit_parts(event, 0, parts, ARRAY_SIZE(parts));
}

/* ---- torn ---- */

static char torn_text[64];

static int torn_run(void *argument)
{
	char letter = 'a';

	while (!kthread_should_stop()) {
		letter ^= 'a' ^ 'b';
		memset(torn_text, letter, sizeof(torn_text) - 1);
		cond_resched();
	}
	return 0;
}

/* Emits so many events while a thread changes the string. */
static int torn_set(const char *argument, const struct kernel_param *parameter)
{
	struct task_struct *thread;
	u32 count, i;
	int ret = kstrtou32(argument, 0, &count);

	if (ret)
		return ret;
	memset(torn_text, 'a', sizeof(torn_text) - 1);
	thread = kthread_run(torn_run, NULL, "torn");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	for (i = 0; i < count; i++) {
		emit_text(&torn_event, i, torn_text);
		cond_resched();
	}
	kthread_stop(thread);
	return 0;
}

static const struct kernel_param_ops torn_ops = { .set = torn_set };
module_param_cb(torn, &torn_ops, NULL, 0200);

/* ---- storm ---- */

static atomic_t storm_emitted;
module_param_named(emitted, storm_emitted.counter, int, 0444);

/* The text says in which context it was emitted: the subscriber checks both. */
static void storm_fire(unsigned int value)
{
	emit_text(&storm_event, value, in_nmi() ? "nmi" : in_hardirq() ? "hardirq" : "task");
	atomic_inc(&storm_emitted);
}

static int __init filter_test_init(void)
{
	return eventlog_provider_register(&provider);
}

static void __exit filter_test_exit(void)
{
	storm_stop();
	eventlog_provider_unregister(&provider);
}

module_init(filter_test_init);
module_exit(filter_test_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Provider for tests of filters");
