// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog_provider_test.ko: tests of kernel providers and in-kernel subscribers, and of
 * what eventlog.ko does to the kernel when it is loaded.
 *
 * Loading the module runs the tests and prints KTAP to the kernel log.  Loading fails
 * with -EIO if a test fails.  The tables are written by hand, because many of them are
 * malformed on purpose.  No other provider may be registered while the tests run.
 */
#define pr_fmt(format) format

#include <linux/completion.h>
#include <linux/context_tracking.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/eventlog.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>

#ifdef CONFIG_X86
#include <asm/nmi.h>
#endif

#include "compat.h"
#include "ktest.h"

static bool nmi;
module_param(nmi, bool, 0444);
MODULE_PARM_DESC(nmi, "wait for NMIs, which are injected from outside (N)");

static uint many;
module_param(many, uint, 0444);
MODULE_PARM_DESC(many, "run only one test: register this many providers, and one too many");

/* ---- a provider ---- */

#define KEYWORD_A 0x1ULL
#define KEYWORD_B 0x8000000000000000ULL
#define KEYWORD_RUNDOWN 0x10ULL

static const struct eventlog_value test_keywords[] = {
	{ KEYWORD_A, "a", "the first" },
	{ KEYWORD_RUNDOWN, "rundown", NULL },
	{ KEYWORD_B, "b", "says \"b\" \\ and more" },
};

static const struct eventlog_value test_colours[] = {
	{ 1, "RED", "like a rose" },
	{ -2, "BLUE", NULL },
};

static const struct eventlog_value test_bits[] = {
	{ 0, "NONE", "no bit" },
	{ 0x1, "ONE", NULL },
	{ 0x80, "EIGHT", NULL },
};

static const struct eventlog_set test_sets[] = {
	{ "colour", "what it looks like", false, test_colours, ARRAY_SIZE(test_colours) },
	{ "bit", NULL, true, test_bits, ARRAY_SIZE(test_bits) },
};

static const struct eventlog_field plain_fields[] = {
	{ "u32", "number", "hex", "a number" },
	{ "enum:colour:s8", "colour", NULL, NULL },
	{ "flags:bit:u8", "bits", NULL, NULL },
	{ "char[6]", "chars", NULL, "six" },
	{ "struct:in_addr:4", "raw", NULL, NULL },
};

static const struct eventlog_field dynamic_fields[] = {
	{ "u8", "before", NULL, NULL },
	{ "string", "text", NULL, NULL },
	{ "u16", "between", NULL, NULL },
	{ "bytes", "data", NULL, NULL },
};

#define TEST_EVENT(_id, _name, _level, _keywords, _fields, _bytes, ...) {	\
	.enabled = STATIC_KEY_FALSE_INIT,					\
	.id = _id,								\
	.level = _level,							\
	.keywords = _keywords,							\
	.name = _name,								\
	.fields = _fields,							\
	.field_count = ARRAY_SIZE(_fields),					\
	.fixed_bytes = _bytes,							\
	__VA_ARGS__								\
}

static struct eventlog_provider_event plain_event =
	TEST_EVENT(1, "plain", EVENTLOG_LEVEL_INFO, KEYWORD_A, plain_fields, 16);
static struct eventlog_provider_event dynamic_event =
	TEST_EVENT(7, "dynamic", EVENTLOG_LEVEL_DEBUG, KEYWORD_A | KEYWORD_B | 0x100,
		   dynamic_fields, 11, .attribute = EVENTLOG_ATTRIBUTE_END);
/* Like "plain", except for its name and id. */
static struct eventlog_provider_event twin_event =
	TEST_EVENT(2, "twin", EVENTLOG_LEVEL_INFO, KEYWORD_A, plain_fields, 16);
static struct eventlog_provider_event rundown_event =
	TEST_EVENT(4294967295, "existing", EVENTLOG_LEVEL_NOTICE, KEYWORD_RUNDOWN, plain_fields,
		   16);

static struct eventlog_provider_event *const test_events[] = {
	&plain_event, &dynamic_event, &rundown_event, &twin_event,
};

static struct {
	unsigned int enables;
	unsigned int rundowns;
	u64 keywords;
	u32 level;
} provider_calls;

static u8 plain_payload[16] = "abcdefghijklmnop";

static void test_enable(struct eventlog_provider *provider, u64 keywords, u32 level)
{
	provider_calls.enables++;
	provider_calls.keywords = keywords;
	provider_calls.level = level;
}

/* State dump: sessions 1 to 3 exist. */
static void test_rundown(struct eventlog_provider *provider)
{
	u64 session;

	provider_calls.rundowns++;
	for (session = 1; session <= 3; session++)
		eventlog_provider_emit(&rundown_event, session, plain_payload, 16);
}

static struct eventlog_provider test_provider = {
	.name = "test",
	.description = "of eventlog",
	.owner = THIS_MODULE,
	.keywords = test_keywords,
	.keyword_count = ARRAY_SIZE(test_keywords),
	.sets = test_sets,
	.set_count = ARRAY_SIZE(test_sets),
	.events = test_events,
	.event_count = ARRAY_SIZE(test_events),
	.rundown_keywords = KEYWORD_RUNDOWN,
	.enable = test_enable,
	.rundown = test_rundown,
};

static void plain_emit(u64 session)
{
	if (static_branch_unlikely(&plain_event.enabled))
		eventlog_provider_emit(&plain_event, session, plain_payload, 16);
}

static void dynamic_emit_always(u64 session, const char *text, const void *data, size_t bytes)
{
	struct { u8 before; u32 text; u16 between; u32 data; } __packed fields = {
		.before = 1, .between = 2,
	};
	struct eventlog_part parts[3] = { { .data = &fields, .bytes = sizeof(fields) } };
	u32 end = sizeof(fields);

	fields.text = eventlog_part_string(&parts[1], text, &end);
	fields.data = eventlog_part_bytes(&parts[2], data, bytes, &end);
	eventlog_provider_emit_parts(&dynamic_event, session, parts, 3);
}

static void dynamic_emit(u64 session, const char *text, const void *data, size_t bytes)
{
	if (static_branch_unlikely(&dynamic_event.enabled))
		dynamic_emit_always(session, text, data, bytes);
}

/* ---- a subscriber ---- */

/* A callback and what it received.  Only test_nmi() calls it on several CPUs at once. */
struct taker {
	struct eventlog_callback callback;
	atomic_t taken;
	u32 contexts;
	u64 last_time;
	u64 last_session;
	u32 descriptor;
	u32 bytes;
	u32 pid;
	u32 tid;
	u8 payload[64];
	void (*then)(struct taker *taker);
};

static void taker_deliver(struct eventlog_callback *callback,
			  const struct eventlog_delivery *delivery)
{
	struct taker *taker = container_of(callback, struct taker, callback);

	atomic_inc(&taker->taken);
	taker->contexts |= 1 << delivery->context;
	if (delivery->time < taker->last_time)
		ktest_fail("time went backwards");
	taker->last_time = delivery->time;
	taker->last_session = delivery->session;
	taker->descriptor = delivery->descriptor;
	taker->bytes = delivery->bytes;
	taker->pid = delivery->pid;
	taker->tid = delivery->tid;
	memset(taker->payload, 0xee, sizeof(taker->payload));
	eventlog_delivery_copy(delivery, taker->payload, sizeof(taker->payload));
	if (taker->then)
		taker->then(taker);
}

static struct taker takers[8];

static struct taker *taker_new(unsigned int number)
{
	struct taker *taker = &takers[number];

	memset(taker, 0, sizeof(*taker));
	taker->callback.name = "ktest";
	taker->callback.deliver = taker_deliver;
	EXPECT_EQ(eventlog_callback_register(&taker->callback), 0);
	return taker;
}

static int taker_wants(struct taker *taker, const char *provider, const char *event)
{
	struct eventlog_callback_rule rule = { .provider = provider, .event = event };
	int id = eventlog_callback_rule_add(&taker->callback, &rule);

	EXPECT(id > 0);
	return id;
}

static void taker_free(struct taker *taker)
{
	eventlog_callback_unregister(&taker->callback);
}

static u64 taker_lost(const struct taker *taker, enum eventlog_lost cause)
{
	return eventlog_callback_lost(&taker->callback, cause);
}

/* ---- registering ---- */

static void test_register(void)
{
	struct eventlog_provider unknown = { .name = "unknown" };

	EXPECT_EQ(eventlog_provider_register(&test_provider), 0);
	EXPECT(test_provider.id);
	EXPECT_EQ(eventlog_provider_register(&test_provider), -EBUSY);
	EXPECT(!static_key_enabled(&plain_event.enabled));
	eventlog_provider_unregister(&test_provider);
	EXPECT(!test_provider.info);
	EXPECT_EQ(test_provider.id, 0);
	eventlog_provider_unregister(&test_provider);
	eventlog_provider_unregister(&unknown);
	/* Emitting an unregistered event is allowed and has no effect. */
	eventlog_provider_emit(&plain_event, 1, plain_payload, 16);
}

static struct eventlog_provider_event other_event =
	TEST_EVENT(1, "plain", EVENTLOG_LEVEL_INFO, KEYWORD_A, plain_fields, 16);
static struct eventlog_provider_event *const other_events[] = { &other_event };
static struct eventlog_provider other_provider = {
	.name = "test",
	.sets = test_sets,
	.set_count = ARRAY_SIZE(test_sets),
	.events = other_events,
	.event_count = ARRAY_SIZE(other_events),
};

static void test_same_name(void)
{
	struct taker *taker = taker_new(0);
	u32 descriptor;

	taker_wants(taker, "test", "plain");
	EXPECT_EQ(eventlog_provider_register(&test_provider), 0);
	EXPECT_EQ(eventlog_provider_register(&other_provider), 0);
	EXPECT(test_provider.id != other_provider.id);
	EXPECT(static_key_enabled(&plain_event.enabled));
	EXPECT(static_key_enabled(&other_event.enabled));
	plain_emit(1);
	descriptor = taker->descriptor;
	eventlog_provider_emit(&other_event, 2, plain_payload, 16);
	EXPECT_EQ(atomic_read(&taker->taken), 2);
	EXPECT(taker->descriptor != descriptor);
	eventlog_provider_unregister(&test_provider);
	plain_emit(3);
	eventlog_provider_emit(&other_event, 4, plain_payload, 16);
	EXPECT_EQ(atomic_read(&taker->taken), 3);
	/* Events that are registered again get new descriptors. */
	descriptor = taker->descriptor;
	EXPECT_EQ(eventlog_provider_register(&test_provider), 0);
	plain_emit(5);
	EXPECT(taker->descriptor > descriptor);
	eventlog_provider_unregister(&test_provider);
	eventlog_provider_unregister(&other_provider);
	taker_free(taker);
}

static const char described[] =
	"eventlog 1\n"
	"provider test \"of eventlog\"\n"
	"keyword a 0x1 \"the first\"\n"
	"keyword rundown 0x10\n"
	"keyword b 0x8000000000000000 \"says \\\"b\\\" \\\\ and more\"\n"
	"enum colour \"what it looks like\"\n"
	"\t1 RED \"like a rose\"\n"
	"\t-2 BLUE\n"
	"flags bit\n"
	"\t0x0 NONE \"no bit\"\n"
	"\t0x1 ONE\n"
	"\t0x80 EIGHT\n";

static void expect_described(u32 descriptor, const char *event)
{
	char *text = eventlog_describe(descriptor);

	if (IS_ERR(text)) {
		ktest_fail("describe: %ld", PTR_ERR(text));
		return;
	}
	EXPECT(!strncmp(text, described, strlen(described)));
	EXPECT(!strcmp(text + strlen(described), event));
	kvfree(text);
}

static void test_describe(void)
{
	struct taker *taker = taker_new(0);
	u32 plain, dynamic;

	taker_wants(taker, "test", "*");
	EXPECT_EQ(eventlog_provider_register(&test_provider), 0);
	plain_emit(1);
	plain = taker->descriptor;
	dynamic_emit(1, "", NULL, 0);
	dynamic = taker->descriptor;
	expect_described(plain, "event 1 plain info a\n\tu32 number as hex \"a number\"\n"
			 "\tenum:colour:s8 colour\n\tflags:bit:u8 bits\n\tchar[6] chars \"six\"\n"
			 "\tstruct:in_addr:4 raw\n");
	expect_described(dynamic, "event 7 dynamic debug a,b,0x100 end\n\tu8 before\n"
			 "\tstring text\n\tu16 between\n\tbytes data\n");
	eventlog_provider_unregister(&test_provider);
	/* The subscriber may still have records of the event. */
	expect_described(plain, "event 1 plain info a\n\tu32 number as hex \"a number\"\n"
			 "\tenum:colour:s8 colour\n\tflags:bit:u8 bits\n\tchar[6] chars \"six\"\n"
			 "\tstruct:in_addr:4 raw\n");
	taker_free(taker);
	EXPECT(eventlog_describe(plain) == ERR_PTR(-ENOENT));
	EXPECT(eventlog_describe(0) == ERR_PTR(-ENOENT));
}

/* ---- malformed tables ---- */

static struct eventlog_provider_event wrong_event;
static struct eventlog_provider_event wrong_second;
static struct eventlog_provider_event *const wrong_events[] = { &wrong_event, &wrong_second };
static struct eventlog_field wrong_fields[3];
static struct eventlog_field wrong_many_fields[EVENTLOG_FIELDS_MAX + 1];
static struct eventlog_value wrong_values[2];
static struct eventlog_set wrong_sets[2];
static struct eventlog_provider wrong_provider;

static void wrong_reset(void)
{
	static const struct eventlog_provider_event event = {
		.enabled = STATIC_KEY_FALSE_INIT, .id = 1, .level = EVENTLOG_LEVEL_INFO,
		.name = "one", .fields = wrong_fields, .field_count = 2, .fixed_bytes = 5,
	};
	unsigned int i;

	memcpy(&wrong_event, &event, sizeof(event));
	memcpy(&wrong_second, &event, sizeof(event));
	wrong_second.id = 2;
	wrong_second.name = "two";
	wrong_fields[0] = (struct eventlog_field){ "u8", "small" };
	wrong_fields[1] = (struct eventlog_field){ "u32", "large" };
	wrong_fields[2] = (struct eventlog_field){ "u64", "larger" };
	for (i = 0; i < ARRAY_SIZE(wrong_many_fields); i++)
		wrong_many_fields[i] = (struct eventlog_field){ "u8", "same" };
	wrong_values[0] = (struct eventlog_value){ 1, "first" };
	wrong_values[1] = (struct eventlog_value){ 2, "second" };
	wrong_sets[0] = (struct eventlog_set){ "set", NULL, false, wrong_values, 2 };
	wrong_sets[1] = (struct eventlog_set){ "bits", NULL, true, wrong_values, 2 };
	wrong_provider = (struct eventlog_provider){
		.name = "wrong", .keywords = wrong_values, .keyword_count = 2, .sets = wrong_sets,
		.set_count = 2, .events = wrong_events, .event_count = 2,
	};
}

/* @says is the expected line of the kernel log; provider_module_test.sh compares them. */
#define REJECTED(says, change) do {						\
	wrong_reset();								\
	change;									\
	if (eventlog_provider_register(&wrong_provider) != -EINVAL) {		\
		ktest_fail("malformed table accepted: %s", #change);		\
		eventlog_provider_unregister(&wrong_provider);			\
	}									\
	EXPECT(!wrong_provider.info && !wrong_provider.id);			\
	pr_info("# expected: eventlog: %s\n", says);				\
} while (0)

#define WRONG "provider wrong: "

static void test_malformed(void)
{
	wrong_reset();
	EXPECT_EQ(eventlog_provider_register(&wrong_provider), 0);
	eventlog_provider_unregister(&wrong_provider);

	REJECTED("provider with an invalid name", wrong_provider.name = NULL);
	REJECTED("provider with an invalid name", wrong_provider.name = "1x");
	REJECTED(WRONG "control character in description", wrong_provider.description = "\n");
	REJECTED(WRONG "no events", wrong_provider.event_count = 0);
	REJECTED(WRONG "keywords: value 1: invalid name", wrong_values[1].name = "a b");
	REJECTED(WRONG "keywords: first: value is 0", wrong_values[0].value = 0);
	REJECTED(WRONG "keywords: duplicate name first", wrong_values[1].name = "first");
	REJECTED(WRONG "keywords: first and second have the same value", wrong_values[1].value = 1);
	REJECTED(WRONG "keywords: second: control character in description",
		 wrong_values[1].description = "\x7f");
	REJECTED(WRONG "set 0: invalid name", wrong_sets[0].name = "");
	REJECTED(WRONG "duplicate set bits", wrong_sets[0].name = "bits");
	REJECTED(WRONG "event 0: invalid name", wrong_event.name = NULL);
	REJECTED(WRONG "event 1: invalid name", wrong_second.name = "x/y");
	REJECTED(WRONG "event one: id is 0", wrong_event.id = 0);
	REJECTED(WRONG "events one and two have the same id 1", wrong_second.id = 1);
	REJECTED(WRONG "duplicate event one", wrong_second.name = "one");
	REJECTED(WRONG "event two: invalid level 8", wrong_second.level = 8);
	REJECTED(WRONG "event two: invalid level 0", wrong_second.level = 0);
	REJECTED(WRONG "event two: invalid attribute 3", wrong_second.attribute = 3);
	REJECTED(WRONG "event one: control character in description",
		 wrong_event.description = "two\nlines");
	REJECTED(WRONG "event one: field 1: invalid name", wrong_fields[1].name = NULL);
	REJECTED(WRONG "event one: duplicate field small", wrong_fields[1].name = "small");
	REJECTED(WRONG "event one: field large: unknown type 'u33'", wrong_fields[1].type = "u33");
	REJECTED(WRONG "event one: field large: unknown type ''", wrong_fields[1].type = NULL);
	REJECTED(WRONG "event one: field large: unknown type 'char[0]'",
		 wrong_fields[1].type = "char[0]");
	REJECTED(WRONG "event one: field large: unknown type 'char[65537]'",
		 wrong_fields[1].type = "char[65537]");
	REJECTED(WRONG "event one: field large: unknown type 'char[4] '",
		 wrong_fields[1].type = "char[4] ");
	REJECTED(WRONG "event one: field large: unknown type 'u16[4]'",
		 wrong_fields[1].type = "u16[4]");
	REJECTED(WRONG "event one: field large: unknown type 'enum:none:u32'",
		 wrong_fields[1].type = "enum:none:u32");
	REJECTED(WRONG "event one: field large: unknown type 'enum:bits:u32'",
		 wrong_fields[1].type = "enum:bits:u32");
	REJECTED(WRONG "event one: field large: unknown type 'enum:set'",
		 wrong_fields[1].type = "enum:set");
	REJECTED(WRONG "event one: field large: unknown type 'flags:bits:s32'",
		 wrong_fields[1].type = "flags:bits:s32");
	REJECTED(WRONG "event one: field large: unknown type 'struct::4'",
		 wrong_fields[1].type = "struct::4");
	REJECTED(WRONG "event one: field large: unknown type 'string:rel'",
		 wrong_fields[1].type = "string:rel");
	REJECTED(WRONG "event one: field large: unknown display 'oct'",
		 wrong_fields[1].display = "oct");
	REJECTED(WRONG "event one: field small: control character in description",
		 wrong_fields[0].description = "\r");
	REJECTED(WRONG "event one: the fields take 5 bytes, fixed_bytes is 6",
		 wrong_event.fixed_bytes = 6);
	REJECTED(WRONG "event one: the fields take 13 bytes, fixed_bytes is 5",
		 wrong_event.field_count = 3);
	REJECTED(WRONG "event one: field large exceeds the maximum of 65536 bytes",
		 wrong_fields[1].type = "char[65536]");
	REJECTED(WRONG "event one: 257 fields, the maximum is 256",
		 wrong_event.fields = wrong_many_fields;
		wrong_event.field_count = ARRAY_SIZE(wrong_many_fields));
}

/* ---- delivery ---- */

static void test_delivery(void)
{
	static const u8 dynamic[] = { 1, 11, 0, 2, 0, 2, 0, 13, 0, 3, 0, 'x', 0, 7, 8, 9 };
	struct taker *taker = taker_new(0);
	int rule;

	EXPECT_EQ(eventlog_provider_register(&test_provider), 0);
	plain_emit(1);
	EXPECT_EQ(atomic_read(&taker->taken), 0);
	rule = taker_wants(taker, "t*t", "[pd]*");
	plain_emit(0x123456789abcdefULL);
	EXPECT_EQ(atomic_read(&taker->taken), 1);
	EXPECT(taker->last_session == 0x123456789abcdefULL);
	EXPECT_EQ(taker->bytes, 16);
	EXPECT(!memcmp(taker->payload, plain_payload, 16));
	EXPECT_EQ(taker->pid, current->tgid);
	EXPECT_EQ(taker->tid, current->pid);
	EXPECT_EQ(taker->contexts, 1 << EVENTLOG_CONTEXT_TASK);

	dynamic_emit(2, "x", "\7\10\11", 3);
	EXPECT_EQ(atomic_read(&taker->taken), 2);
	EXPECT_EQ(taker->bytes, sizeof(dynamic));
	EXPECT(!memcmp(taker->payload, dynamic, sizeof(dynamic)));
	dynamic_emit(2, NULL, NULL, 0);
	EXPECT_EQ(taker->bytes, 11 + 7);
	EXPECT(!memcmp(taker->payload + 11, "(null)", 7));

	EXPECT_EQ(eventlog_callback_rule_delete(&taker->callback, rule + 1), -ENOENT);
	EXPECT_EQ(eventlog_callback_rule_delete(&taker->callback, rule), 0);
	EXPECT_EQ(eventlog_callback_rule_delete(&taker->callback, rule), -ENOENT);
	EXPECT(!static_key_enabled(&plain_event.enabled));
	plain_emit(3);
	EXPECT_EQ(atomic_read(&taker->taken), 3);
	eventlog_provider_unregister(&test_provider);
	taker_free(taker);
}

static void test_too_large(void)
{
	struct taker *taker = taker_new(0);
	char *text = vmalloc(2 * EVENTLOG_PAYLOAD_MAX);

	if (!EXPECT(text))
		goto out;
	EXPECT_EQ(eventlog_provider_register(&test_provider), 0);
	taker_wants(taker, "test", "dynamic");
	/* With the fixed part and the NUL, the payload has exactly the maximum size. */
	memset(text, 'x', 2 * EVENTLOG_PAYLOAD_MAX);
	text[EVENTLOG_PAYLOAD_MAX - 12] = '\0';
	dynamic_emit(1, text, NULL, 0);
	EXPECT_EQ(atomic_read(&taker->taken), 1);
	EXPECT_EQ(taker->bytes, EVENTLOG_PAYLOAD_MAX);
	dynamic_emit(1, text, "y", 1);
	EXPECT_EQ(taker_lost(taker, EVENTLOG_LOST_TOO_LARGE), 1);
	text[EVENTLOG_PAYLOAD_MAX - 12] = 'x';
	text[EVENTLOG_PAYLOAD_MAX - 11] = '\0';
	dynamic_emit(1, text, NULL, 0);
	text[EVENTLOG_PAYLOAD_MAX - 11] = 'x';
	text[2 * EVENTLOG_PAYLOAD_MAX - 1] = '\0';
	dynamic_emit(1, text, NULL, 0);
	dynamic_emit(1, NULL, text, SIZE_MAX);
	EXPECT_EQ(taker_lost(taker, EVENTLOG_LOST_TOO_LARGE), 4);
	EXPECT_EQ(atomic_read(&taker->taken), 1);
	eventlog_provider_unregister(&test_provider);
out:
	vfree(text);
	taker_free(taker);
}

/* At the end of memory, and between bytes of any value. */
static void test_string_lengths(void)
{
	char *page = vmalloc(PAGE_SIZE), *text;
	unsigned int length, behind, round;

	if (!EXPECT(page))
		return;
	for (round = 0; round < 2; round++) {
		for (length = 0; length <= 40; length++) {
			for (behind = 0; behind < 16; behind++) {
				memset(page, round ? 0x80 : 0, PAGE_SIZE);
				text = page + PAGE_SIZE - behind - 1 - length;
				memset(text, round ? 0x01 : 0xff, length);
				text[length] = '\0';
				EXPECT_EQ(eventlog_part_length(text), length);
			}
		}
	}
	vfree(page);
}

static void expect_taken(struct taker *taker, const struct eventlog_callback_rule *rule,
			 unsigned int count)
{
	int id = eventlog_callback_rule_add(&taker->callback, rule);
	/* Do not count the state dump that the rule may have caused. */
	int before = atomic_read(&taker->taken);
	u64 session;

	EXPECT(id > 0);
	for (session = 1; session <= 10; session++) {
		plain_emit(session);
		dynamic_emit(session, "", NULL, 0);
	}
	EXPECT_EQ(atomic_read(&taker->taken) - before, count);
	EXPECT_EQ(eventlog_callback_rule_delete(&taker->callback, id), 0);
}

static void test_rules(void)
{
	struct taker *taker = taker_new(0);
	struct eventlog_callback_rule rule = { .provider = "test" };

	EXPECT_EQ(eventlog_provider_register(&test_provider), 0);
	expect_taken(taker, &rule, 20);
	expect_taken(taker, &(struct eventlog_callback_rule){ .event = "plain" }, 10);
	expect_taken(taker, &(struct eventlog_callback_rule){ .provider = "tes" }, 0);
	expect_taken(taker, &(struct eventlog_callback_rule){ .keywords_any = KEYWORD_B | 2 }, 10);
	expect_taken(taker, &(struct eventlog_callback_rule){ .keywords_all = KEYWORD_A }, 20);
	expect_taken(taker,
		     &(struct eventlog_callback_rule){ .keywords_all = KEYWORD_A | KEYWORD_B }, 10);
	expect_taken(taker, &(struct eventlog_callback_rule){ .level = EVENTLOG_LEVEL_INFO }, 10);
	expect_taken(taker, &(struct eventlog_callback_rule){ .level = EVENTLOG_LEVEL_NOTICE }, 0);
	expect_taken(taker, &(struct eventlog_callback_rule){ .flags = EVENTLOG_RULE_SESSION,
							      .session = 4 }, 2);
	expect_taken(taker, &(struct eventlog_callback_rule){ .flags = EVENTLOG_RULE_PID,
								.pid = current->tgid }, 20);
	expect_taken(taker, &(struct eventlog_callback_rule){ .flags = EVENTLOG_RULE_PID,
								.pid = current->tgid + 1 }, 0);
	expect_taken(taker, &(struct eventlog_callback_rule){ .sample = 4, .event = "plain" }, 3);

	rule.flags = 1 << 31;
	EXPECT_EQ(eventlog_callback_rule_add(&taker->callback, &rule), -EINVAL);
	rule = (struct eventlog_callback_rule){ .event = "" };
	EXPECT_EQ(eventlog_callback_rule_add(&taker->callback, &rule), -EINVAL);
	rule = (struct eventlog_callback_rule){ .level = EVENTLOG_LEVEL_VERBOSE + 1 };
	EXPECT_EQ(eventlog_callback_rule_add(&taker->callback, &rule), -EINVAL);
	eventlog_provider_unregister(&test_provider);
	taker_free(taker);
	EXPECT_EQ(eventlog_callback_rule_add(&taker->callback, &rule), -EINVAL);
	EXPECT_EQ(eventlog_callback_rule_delete(&taker->callback, 1), -ENOENT);
}

static void test_callback_calls(void)
{
	struct eventlog_callback callback = { .name = "x", .deliver = taker_deliver };

	callback.flags = 2;
	EXPECT_EQ(eventlog_callback_register(&callback), -EINVAL);
	callback.flags = 0;
	callback.deliver = NULL;
	EXPECT_EQ(eventlog_callback_register(&callback), -EINVAL);
	callback.deliver = taker_deliver;
	callback.name = NULL;
	EXPECT_EQ(eventlog_callback_register(&callback), -EINVAL);
	callback.name = "x";
	EXPECT_EQ(eventlog_callback_register(&callback), 0);
	EXPECT_EQ(eventlog_callback_register(&callback), -EBUSY);
	EXPECT_EQ(eventlog_callback_lost(&callback, EVENTLOG_LOST_NESTED), 0);
	EXPECT_EQ(eventlog_callback_lost(&callback, EVENTLOG_LOST_CAUSES), 0);
	eventlog_callback_unregister(&callback);
	eventlog_callback_unregister(&callback);
}

/* ---- calling enable() and rundown() ---- */

static void test_enabling(void)
{
	struct taker *first = taker_new(0), *second = taker_new(1);
	int rule;

	memset(&provider_calls, 0, sizeof(provider_calls));
	EXPECT_EQ(eventlog_provider_register(&test_provider), 0);
	EXPECT_EQ(provider_calls.enables, 0);
	taker_wants(first, "test", "plain");
	EXPECT_EQ(provider_calls.enables, 1);
	EXPECT(provider_calls.keywords == KEYWORD_A && provider_calls.level == EVENTLOG_LEVEL_INFO);
	EXPECT(static_key_enabled(&plain_event.enabled));
	EXPECT(!static_key_enabled(&dynamic_event.enabled));
	/* No change: the event is enabled already. */
	taker_wants(second, "test", "plain");
	EXPECT_EQ(provider_calls.enables, 1);
	/* enable() is called for another event, even with the same keywords and level. */
	rule = taker_wants(second, "test", "twin");
	EXPECT_EQ(provider_calls.enables, 2);
	EXPECT(static_key_enabled(&twin_event.enabled));
	EXPECT_EQ(eventlog_callback_rule_delete(&second->callback, rule), 0);
	EXPECT_EQ(provider_calls.enables, 3);
	EXPECT(!static_key_enabled(&twin_event.enabled));
	provider_calls.enables = 1;
	rule = taker_wants(second, "test", "dynamic");
	EXPECT_EQ(provider_calls.enables, 2);
	EXPECT(provider_calls.keywords == (KEYWORD_A | KEYWORD_B | 0x100));
	EXPECT_EQ(provider_calls.level, EVENTLOG_LEVEL_DEBUG);
	EXPECT_EQ(eventlog_callback_rule_delete(&second->callback, rule), 0);
	EXPECT_EQ(provider_calls.enables, 3);
	EXPECT(provider_calls.keywords == KEYWORD_A && provider_calls.level == EVENTLOG_LEVEL_INFO);
	taker_free(first);
	EXPECT_EQ(provider_calls.enables, 3);
	taker_free(second);
	EXPECT_EQ(provider_calls.enables, 4);
	EXPECT(!provider_calls.keywords && !provider_calls.level);
	EXPECT(!static_key_enabled(&plain_event.enabled));

	/* A rule that exists before registration and after unregistration. */
	first = taker_new(0);
	taker_wants(first, "*", NULL);
	eventlog_provider_unregister(&test_provider);
	EXPECT_EQ(provider_calls.enables, 6);
	EXPECT(!provider_calls.keywords && !provider_calls.level);
	EXPECT(!static_key_enabled(&plain_event.enabled));
	EXPECT_EQ(eventlog_provider_register(&test_provider), 0);
	EXPECT_EQ(provider_calls.enables, 7);
	EXPECT(provider_calls.level == EVENTLOG_LEVEL_DEBUG);
	eventlog_provider_unregister(&test_provider);
	EXPECT_EQ(provider_calls.enables, 8);
	taker_free(first);
}

static void test_rundowns(void)
{
	struct taker *first = taker_new(0), *second = taker_new(1);

	memset(&provider_calls, 0, sizeof(provider_calls));
	EXPECT_EQ(eventlog_provider_register(&test_provider), 0);
	taker_wants(first, "test", "plain");
	EXPECT_EQ(provider_calls.rundowns, 0);
	taker_wants(first, "test", "existing");
	EXPECT_EQ(provider_calls.rundowns, 1);
	EXPECT_EQ(atomic_read(&first->taken), 3);
	/* Only the new subscriber receives the second state dump. */
	taker_wants(second, "test", NULL);
	EXPECT_EQ(provider_calls.rundowns, 2);
	EXPECT_EQ(atomic_read(&first->taken), 3);
	EXPECT_EQ(atomic_read(&second->taken), 3);
	/* Outside a state dump, every subscriber receives the events. */
	eventlog_provider_emit(&rundown_event, 9, plain_payload, 16);
	EXPECT_EQ(atomic_read(&first->taken), 4);
	EXPECT_EQ(atomic_read(&second->taken), 4);
	eventlog_provider_unregister(&test_provider);
	/* Subscribers that exist before the provider receive a dump at registration. */
	EXPECT_EQ(eventlog_provider_register(&test_provider), 0);
	EXPECT_EQ(provider_calls.rundowns, 3);
	EXPECT_EQ(atomic_read(&first->taken), 7);
	EXPECT_EQ(atomic_read(&second->taken), 7);
	eventlog_provider_unregister(&test_provider);
	taker_free(first);
	taker_free(second);
}

/* ---- recursion ---- */

static void emit_again(struct taker *taker)
{
	plain_emit(taker->last_session + 1);
}

static void test_recursion(void)
{
	struct taker *first = taker_new(0), *second = taker_new(1);

	EXPECT_EQ(eventlog_provider_register(&test_provider), 0);
	taker_wants(first, "test", "plain");
	first->then = emit_again;
	plain_emit(1);
	EXPECT_EQ(atomic_read(&first->taken), 1);
	EXPECT_EQ(taker_lost(first, EVENTLOG_LOST_NESTED), 1);
	/* Two callbacks that emit events for each other. */
	taker_wants(second, "test", "plain");
	second->then = emit_again;
	plain_emit(1);
	/* The second callback receives the first one's event, then the original event. */
	EXPECT_EQ(atomic_read(&first->taken), 3);
	EXPECT_EQ(atomic_read(&second->taken), 2);
	eventlog_provider_unregister(&test_provider);
	taker_free(first);
	taker_free(second);
}

static void test_depth(void)
{
	unsigned int i;
	u64 deep = 0;

	EXPECT_EQ(eventlog_provider_register(&test_provider), 0);
	for (i = 0; i < ARRAY_SIZE(takers); i++) {
		taker_new(i)->then = emit_again;
		taker_wants(&takers[i], "test", "plain");
	}
	plain_emit(1);
	for (i = 0; i < ARRAY_SIZE(takers); i++) {
		EXPECT(atomic_read(&takers[i].taken));
		EXPECT(takers[i].last_session <= EVENTLOG_CALLBACK_DEPTH);
		deep += taker_lost(&takers[i], EVENTLOG_LOST_DEPTH);
	}
	EXPECT(deep);
	for (i = 0; i < ARRAY_SIZE(takers); i++)
		taker_free(&takers[i]);
	eventlog_provider_unregister(&test_provider);
}

/* ---- contexts ---- */

static struct completion elsewhere;

static enum hrtimer_restart emit_in_softirq(struct hrtimer *timer)
{
	plain_emit(2);
	complete(&elsewhere);
	return HRTIMER_NORESTART;
}

static void emit_in_hardirq(struct irq_work *work)
{
	plain_emit(3);
	complete(&elsewhere);
}

static void test_contexts(void)
{
	struct taker *taker = taker_new(0);
	struct irq_work work;
	struct hrtimer timer;

	EXPECT_EQ(eventlog_provider_register(&test_provider), 0);
	taker_wants(taker, "test", "plain");
	plain_emit(1);
	local_bh_disable();
	plain_emit(1);
	local_bh_enable();
	EXPECT_EQ(taker->contexts, 1 << EVENTLOG_CONTEXT_TASK);

	init_completion(&elsewhere);
	hrtimer_setup_on_stack(&timer, emit_in_softirq, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	hrtimer_start(&timer, 0, HRTIMER_MODE_REL_SOFT);
	wait_for_completion(&elsewhere);
	hrtimer_cancel(&timer);
	destroy_hrtimer_on_stack(&timer);
	EXPECT(IS_ENABLED(CONFIG_PREEMPT_RT) || taker->contexts & 1 << EVENTLOG_CONTEXT_SOFTIRQ);

	init_completion(&elsewhere);
	init_irq_work(&work, emit_in_hardirq);
	irq_work_queue(&work);
	wait_for_completion(&elsewhere);
	irq_work_sync(&work);
	EXPECT(IS_ENABLED(CONFIG_PREEMPT_RT) || taker->contexts & 1 << EVENTLOG_CONTEXT_HARDIRQ);
	EXPECT_EQ(atomic_read(&taker->taken), 4);
	eventlog_provider_unregister(&test_provider);
	taker_free(taker);
}

/* Like an idle task, in which RCU watches up to a moment before the CPU sleeps. */
static void test_idle(void)
{
	struct taker *taker = taker_new(0);
	bool watching;

	EXPECT_EQ(eventlog_provider_register(&test_provider), 0);
	taker_wants(taker, "test", "plain");
	local_irq_disable();
	current->flags |= PF_IDLE;
	eventlog_provider_emit(&plain_event, 1, plain_payload, 16);
	ct_idle_enter();
	watching = rcu_is_watching();
	eventlog_provider_emit(&plain_event, 2, plain_payload, 16);
	ct_idle_exit();
	current->flags &= ~PF_IDLE;
	local_irq_enable();
	EXPECT(!watching || IS_ENABLED(CONFIG_TINY_RCU));
	EXPECT_EQ(atomic_read(&taker->taken), 1 + watching);
	EXPECT_EQ(atomic_long_read(&plain_event.lost_rcu_idle), !watching);
	eventlog_provider_unregister(&test_provider);
	taker_free(taker);
}

#ifdef CONFIG_X86
static atomic_t nmis;

static int emit_in_nmi(unsigned int command, struct pt_regs *regs)
{
	if (atomic_add_unless(&nmis, 1, 100)) {
		plain_emit(4);
		dynamic_emit(4, "in an NMI", plain_payload, 16);
	}
	return NMI_HANDLED;
}

/* Called on several CPUs at once, so it only counts. */
static void nmi_deliver(struct eventlog_callback *callback,
			const struct eventlog_delivery *delivery)
{
	struct taker *taker = container_of(callback, struct taker, callback);

	atomic_inc(&taker->taken);
	if (delivery->context != EVENTLOG_CONTEXT_NMI)
		taker->contexts = 1 << delivery->context;
}

static void test_nmi(void)
{
	struct taker *willing = taker_new(0), *other = taker_new(1);
	unsigned long end = jiffies + 60 * HZ;
	int seen;

	eventlog_callback_unregister(&willing->callback);
	willing->callback.flags = EVENTLOG_CALLBACK_NMI;
	willing->callback.deliver = nmi_deliver;
	EXPECT_EQ(eventlog_callback_register(&willing->callback), 0);
	EXPECT_EQ(eventlog_provider_register(&test_provider), 0);
	taker_wants(willing, "test", "[pd]*");
	taker_wants(other, "test", "[pd]*");
	atomic_set(&nmis, 0);
	if (EXPECT_EQ(register_nmi_handler(NMI_LOCAL, emit_in_nmi, 0, "provider_test"), 0)) {
		while (nmi && atomic_read(&nmis) < 5 && time_before(jiffies, end))
			msleep(20);
		unregister_nmi_handler(NMI_LOCAL, "provider_test");
	}
	/* Wait for handlers that still run on other CPUs. */
	synchronize_rcu();
	seen = atomic_read(&nmis);
	pr_info("# %d NMIs emitted\n", seen);
	EXPECT(!nmi || seen >= 5);
	EXPECT_EQ(atomic_read(&willing->taken) + taker_lost(willing, EVENTLOG_LOST_NESTED),
		  2 * seen);
	EXPECT_EQ(willing->contexts, 0);
	EXPECT_EQ(atomic_read(&other->taken), 0);
	EXPECT_EQ(taker_lost(other, EVENTLOG_LOST_NESTED), 2 * seen);
	eventlog_provider_unregister(&test_provider);
	taker_free(willing);
	taker_free(other);
}
#endif

/* ---- concurrency ---- */

/*
 * Does not test the static keys, so that events are emitted in every state of the
 * provider.  Besides, QEMU before 8.1 may loop on a removed breakpoint if one CPU
 * executes code that another CPU is patching.
 */
static int emit_all_the_time(void *number)
{
	u64 session = (unsigned long)number;

	while (!kthread_should_stop()) {
		eventlog_provider_emit(&plain_event, session, plain_payload, 16);
		dynamic_emit_always(session, current->comm, plain_payload, 16);
		cond_resched();
	}
	return 0;
}

static atomic_t counted;

static void count_deliver(struct eventlog_callback *callback,
			  const struct eventlog_delivery *delivery)
{
	atomic_inc(&counted);
}

static int register_churn(void *unused)
{
	struct eventlog_callback callback = { .name = "churn", .deliver = count_deliver };
	struct eventlog_callback_rule rule = { .provider = "test" };

	while (!kthread_should_stop()) {
		if (eventlog_callback_register(&callback) ||
		    eventlog_callback_rule_add(&callback, &rule) < 0)
			ktest_fail("cannot register a callback");
		cond_resched();
		eventlog_callback_unregister(&callback);
		cond_resched();
	}
	return 0;
}

static void test_churn(void)
{
	struct eventlog_callback callback = { .name = "counter", .deliver = count_deliver };
	struct eventlog_callback_rule rule = { .provider = "test", .event = "plain" };
	struct task_struct *tasks[4] = {};
	unsigned int i, turn;

	atomic_set(&counted, 0);
	EXPECT_EQ(eventlog_callback_register(&callback), 0);
	for (i = 0; i < 3; i++)
		tasks[i] = kthread_run(emit_all_the_time, (void *)(long)i, "eventlog_emit/%u", i);
	for (turn = 0; turn < 30; turn++) {
		int id, before = atomic_read(&counted);

		if (!EXPECT_EQ(eventlog_provider_register(&test_provider), 0))
			break;
		id = eventlog_callback_rule_add(&callback, &rule);
		EXPECT(id > 0);
		while (atomic_read(&counted) == before)
			cond_resched();
		if (turn % 2)
			EXPECT_EQ(eventlog_callback_rule_delete(&callback, id), 0);
		eventlog_provider_unregister(&test_provider);
		if (!(turn % 2))
			EXPECT_EQ(eventlog_callback_rule_delete(&callback, id), 0);
		before = atomic_read(&counted);
		cond_resched();
		EXPECT_EQ(atomic_read(&counted), before);
	}
	for (i = 0; i < ARRAY_SIZE(tasks); i++)
		if (!IS_ERR_OR_NULL(tasks[i]))
			kthread_stop(tasks[i]);
	eventlog_callback_unregister(&callback);
}

/* Registers and unregisters subscribers and providers concurrently. */
static void test_churn_both(void)
{
	struct task_struct *tasks[3] = {};
	unsigned int i, turn;

	tasks[0] = kthread_run(register_churn, NULL, "eventlog_churn");
	for (i = 1; i < ARRAY_SIZE(tasks); i++)
		tasks[i] = kthread_run(emit_all_the_time, (void *)(long)i, "eventlog_emit/%u", i);
	for (turn = 0; turn < 30; turn++) {
		if (!EXPECT_EQ(eventlog_provider_register(&test_provider), 0))
			break;
		cond_resched();
		eventlog_provider_unregister(&test_provider);
	}
	for (i = 0; i < ARRAY_SIZE(tasks); i++)
		if (!IS_ERR_OR_NULL(tasks[i]))
			kthread_stop(tasks[i]);
}

/* ---- many providers ---- */

struct many_provider {
	struct eventlog_provider provider;
	struct eventlog_provider_event event;
	struct eventlog_provider_event *events[1];
};

static void test_many(void)
{
	struct many_provider *all = vzalloc(array_size(many + 1, sizeof(*all)));
	unsigned long *ids = vzalloc(BITS_TO_LONGS(65536) * sizeof(long));
	unsigned int i, count;
	int ret = 0;

	if (!EXPECT(all && ids))
		goto out;
	for (count = 0; count <= many; count++) {
		struct many_provider *one = &all[count];

		memcpy(&one->event, &other_event, sizeof(one->event));
		one->events[0] = &one->event;
		one->provider = other_provider;
		one->provider.events = one->events;
		ret = eventlog_provider_register(&one->provider);
		if (ret)
			break;
		if (!EXPECT(one->provider.id && !__test_and_set_bit(one->provider.id, ids)))
			break;
		cond_resched();
	}
	EXPECT_EQ(count, many);
	EXPECT_EQ(ret, -ENOSPC);
	/* Of these events only one has room: none is registered, and the room stays. */
	if (count) {
		eventlog_provider_unregister(&all[count - 1].provider);
		EXPECT_EQ(eventlog_provider_register(&test_provider), -ENOSPC);
		EXPECT(!test_provider.info);
		EXPECT_EQ(eventlog_provider_register(&all[count - 1].provider), 0);
	}
	for (i = 0; i < count; i++) {
		eventlog_provider_unregister(&all[i].provider);
		cond_resched();
	}
out:
	vfree(ids);
	vfree(all);
}

/* ---- the kernel's tracepoints ---- */

/* eventlog.ko has probes on them while user_events are used. */
static void no_probe(struct tracepoint *point, void *unused)
{
	if (!strcmp(point->name, "sched_process_fork") ||
	    !strcmp(point->name, "sched_process_exec") ||
	    !strcmp(point->name, "sched_process_exit"))
		EXPECT(!rcu_access_pointer(point->funcs));
}

static void test_no_probes(void)
{
	for_each_kernel_tracepoint(no_probe, NULL);
}

static const struct ktest_case cases[] = {
	{ "load: no probe on tracepoints that nothing needs", test_no_probes },
	{ "provider: register and unregister", test_register },
	{ "provider: two providers with the same name", test_same_name },
	{ "provider: describe, also after unregistration", test_describe },
	{ "provider: reject malformed tables", test_malformed },
	{ "provider: deliver events to a callback", test_delivery },
	{ "provider: count events that are too large", test_too_large },
	{ "provider: measure strings", test_string_lengths },
	{ "provider: call enable() when events are enabled or disabled", test_enabling },
	{ "provider: dump state to the new subscriber only", test_rundowns },
	{ "callback: rules", test_rules },
	{ "callback: reject invalid calls", test_callback_calls },
	{ "callback: no recursion", test_recursion },
	{ "callback: limit the depth of nesting", test_depth },
	{ "callback: every context", test_contexts },
	{ "provider: count events where RCU does not watch", test_idle },
#ifdef CONFIG_X86
	{ "callback: NMI context only with EVENTLOG_CALLBACK_NMI", test_nmi },
#endif
	{ "provider: register and unregister while emitting", test_churn },
	{ "callback: register and unregister while providers do", test_churn_both },
};

static const struct ktest_case many_cases[] = {
	{ "provider: register until ids run out", test_many },
};

static int __init eventlog_provider_test_init(void)
{
	unsigned int failed = many ? ktest_run(many_cases, ARRAY_SIZE(many_cases)) :
				     ktest_run(cases, ARRAY_SIZE(cases));

	return failed ? -EIO : 0;
}

static void __exit eventlog_provider_test_exit(void)
{
}

module_init(eventlog_provider_test_init);
module_exit(eventlog_provider_test_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The eventlog developers");
MODULE_DESCRIPTION("Self-tests of eventlog's kernel providers and callbacks");
