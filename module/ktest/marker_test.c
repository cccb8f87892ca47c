// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog_marker_test.ko: tests of markers and of their in-kernel API.
 *
 * Loading the module runs the tests and prints KTAP to the kernel log.  Loading fails
 * if a test fails.
 */
#define pr_fmt(format) format

#include <linux/module.h>
#include <linux/slab.h>

#include <linux/eventlog_marker.h>

#include "ktest.h"

/* The arguments of the last call of the probe. */
static struct {
	unsigned int fired;
	const struct eventlog_marker *marker;
	u64 values[EVENTLOG_MARKER_FIELDS_MAX];
} seen;

static void see(struct eventlog_marker_probe *probe, const struct eventlog_marker *marker,
		const u64 *values)
{
	unsigned int i;

	seen.fired++;
	seen.marker = marker;
	for (i = 0; i < marker->event.field_count; i++)
		seen.values[i] = eventlog_marker_value(marker, values, i);
	EXPECT(probe->private == &seen);
	EXPECT_EQ(eventlog_marker_value(marker, values, marker->event.field_count), 0);
}

static struct eventlog_marker_probe probe = {
	.module = KBUILD_MODNAME,
	.fire = see,
	.private = &seen,
};

static unsigned int evaluated;

static unsigned int evaluate(void)
{
	return ++evaluated;
}

static noinline void fire_integers(unsigned int wide)
{
	eventlog_marker(integers, 0, FIELD(u8, wide), FIELD(u16, wide), FIELD(u32, -1),
			FIELD(u64, -1), FIELD(s8, -1), FIELD(s16, -2), FIELD(s32, -3),
			FIELD(s64, -4), FIELD(bool, 17), FIELD(port, 443), FIELD(time, 5),
			FIELD(duration, 6));
}

enum colour { RED, GREEN };

static noinline void fire_inferred(void)
{
	struct {
		const char *name;
		char chars[8];
		volatile const u8 small;
		enum colour colour;
	} thing = { "name", "chars", 200, GREEN };

	eventlog_marker(inferred, 0, FIELD(auto, (u8)1), FIELD(auto, (s8)-1), FIELD(auto, (u16)2),
			FIELD(auto, (s16)-2), FIELD(auto, 3U), FIELD(auto, -3), FIELD(auto, 4UL),
			FIELD(auto, -4L), FIELD(auto, 5ULL), FIELD(auto, -5LL),
			FIELD(auto, (bool)true), FIELD(auto, thing.name), FIELD(auto, thing.chars),
			FIELD(auto, &thing), FIELD(auto, thing.small), FIELD(auto, thing.colour));
}

static noinline void fire_others(void)
{
	eventlog_marker(none, 0);
	eventlog_marker(counted, 0, FIELD(u32, evaluate()));
	eventlog_marker(never_probed, EVENTLOG_MARKER_ALLOW(EVENTLOG_MARKER_TRACE),
			FIELD(u32, evaluate()));
	eventlog_marker(named, 0, FIELD(u32, 1 + 1), FIELD(u32, evaluate() ? 3 : min(4, 5)),
			FIELD_NAMED(string, text, "a, \"b) c"), FIELD(string, NULL),
			FIELD(u32, 1 + 1));
}

/* Markers on one line have the order of the source. */
static noinline void fire_line(void)
{
	eventlog_marker(left, 0); eventlog_marker(right, 0);
}

static void marker_test_status(void)
{
	EXPECT_EQ(eventlog_module_markers(), 0);
}

static void marker_test_values(void)
{
	static const u64 expected[] = {
		0xff, 0xffff, 0xffffffff, -1, -1, -2, -3, -4, 1, 443, 5, 6,
	};
	unsigned int i;

	seen.fired = 0;
	fire_integers(0x1ffff);
	EXPECT_EQ(seen.fired, 0);
	if (!EXPECT_EQ(eventlog_marker_probe_register(&probe), 0))
		return;
	fire_integers(0x1ffff);
	EXPECT_EQ(seen.fired, 1);
	for (i = 0; i < ARRAY_SIZE(expected); i++)
		EXPECT_EQ(seen.values[i], expected[i]);
	eventlog_marker_probe_unregister(&probe);
	fire_integers(0x1ffff);
	EXPECT_EQ(seen.fired, 1);
}

static void marker_test_types(void)
{
	static const char *const expected[] = {
		"u8", "s8", "u16", "s16", "u32", "s32", sizeof(long) == 8 ? "u64" : "u32",
		sizeof(long) == 8 ? "s64" : "s32", "u64", "s64", "bool", "string", "string", "ptr",
		"u8", "u32",
	};
	unsigned int i;

	if (!EXPECT_EQ(eventlog_marker_probe_register(&probe), 0))
		return;
	fire_inferred();
	EXPECT_EQ(seen.marker->event.field_count, ARRAY_SIZE(expected));
	for (i = 0; i < ARRAY_SIZE(expected); i++)
		if (strcmp(seen.marker->event.fields[i].type, expected[i]))
			ktest_fail("field %u is %s, expected %s", i,
				   seen.marker->event.fields[i].type, expected[i]);
	EXPECT_EQ((s64)seen.values[1], -1);
	EXPECT_EQ((s64)seen.values[3], -2);
	EXPECT_EQ((s64)seen.values[5], -3);
	EXPECT_EQ((s64)seen.values[7], -4);
	EXPECT_EQ((s64)seen.values[9], -5);
	EXPECT(!strcmp((const char *)(unsigned long)seen.values[11], "name"));
	EXPECT_EQ(seen.values[14], 200);
	EXPECT_EQ(seen.values[15], GREEN);
	eventlog_marker_probe_unregister(&probe);
}

static void expect_field(unsigned int i, const char *name, const char *description)
{
	const struct eventlog_field *field = &seen.marker->event.fields[i];

	if (strcmp(field->name, name) ||
	    strcmp(field->description ?: "", description ?: ""))
		ktest_fail("field %u is %s, '%s'", i, field->name, field->description ?: "");
}

static void marker_test_names(void)
{
	probe.marker = "named";
	if (EXPECT_EQ(eventlog_marker_probe_register(&probe), 0)) {
		fire_others();
		EXPECT_EQ(seen.marker->event.field_count, 5);
		expect_field(0, "_1_1", "1 + 1");
		expect_field(1, "evaluate_3_min_4_5", "evaluate() ? 3 : min(4, 5)");
		expect_field(2, "text", "\"a, \\\"b) c\"");
		expect_field(3, "NULL", NULL);
		expect_field(4, "_1_1_2", "1 + 1");
		eventlog_marker_probe_unregister(&probe);
	}
	probe.marker = NULL;
}

/* A probe is attached to the markers that match and allow it; fire_others() has four. */
static void marker_test_patterns(void)
{
	static const struct {
		const char *pattern;
		unsigned int fired, evaluated;
	} cases[] = {
		{ "counted", 1, 1 }, { "never_probed", 0, 0 }, { "*:fire_others:*", 3, 2 },
		{ "*:fire_others:1", 1, 1 }, { "no_such", 0, 0 }, { NULL, 3, 2 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		seen.fired = 0;
		evaluated = 0;
		probe.marker = cases[i].pattern;
		if (!EXPECT_EQ(eventlog_marker_probe_register(&probe), 0))
			return;
		fire_others();
		eventlog_marker_probe_unregister(&probe);
		fire_others();
		if (seen.fired != cases[i].fired || evaluated != cases[i].evaluated)
			ktest_fail("%s: fired %u times, %u evaluated", cases[i].pattern ?: "NULL",
				   seen.fired, evaluated);
	}
	probe.marker = NULL;
}

static void marker_test_two_probes(void)
{
	struct eventlog_marker_probe *second = kzalloc(sizeof(*second), GFP_KERNEL);

	if (!EXPECT(second))
		return;
	second->fire = see;
	second->private = &seen;
	second->marker = "none";
	seen.fired = 0;
	if (EXPECT_EQ(eventlog_marker_probe_register(&probe), 0) &&
	    EXPECT_EQ(eventlog_marker_probe_register(second), 0)) {
		fire_others();
		EXPECT_EQ(seen.fired, 4);
		eventlog_marker_probe_unregister(&probe);
		fire_others();
		EXPECT_EQ(seen.fired, 5);
		eventlog_marker_probe_unregister(second);
		kfree_sensitive(second);
		fire_others();
		EXPECT_EQ(seen.fired, 5);
	}
}

static void marker_test_ordinals(void)
{
	if (!EXPECT_EQ(eventlog_marker_probe_register(&probe), 0))
		return;
	/* The probe has recorded the last marker that fired. */
	fire_line();
	EXPECT(!strcmp(seen.marker->tag, "right"));
	EXPECT_EQ(seen.marker->ordinal, 1);
	EXPECT(!strcmp(seen.marker->event.description, "module/ktest/marker_test.c:fire_line:1"));
	fire_others();
	EXPECT_EQ(seen.marker->ordinal, 3);
	eventlog_marker_probe_unregister(&probe);
}

static const struct ktest_case marker_cases[] = {
	{ "marker: registered before the module's init function", marker_test_status },
	{ "marker: values passed to a probe", marker_test_values },
	{ "marker: deduced types", marker_test_types },
	{ "marker: names and descriptions of fields", marker_test_names },
	{ "marker: patterns of probes", marker_test_patterns },
	{ "marker: two probes", marker_test_two_probes },
	{ "marker: ordinals", marker_test_ordinals },
};

static int __init marker_test_init(void)
{
	return ktest_run(marker_cases, ARRAY_SIZE(marker_cases)) ? -EINVAL : 0;
}

static void __exit marker_test_exit(void)
{
}

module_init(marker_test_init);
module_exit(marker_test_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Self-tests of eventlog's markers");
