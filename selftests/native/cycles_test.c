// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test of module/user/cycles.h on simulated clocks: the counter's frequency differs from
 * the calibrated one, the kernel adjusts the clock's rate, and an anchor is not exact.
 * Times are in order and near the truth.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint64_t u64;
typedef uint32_t u32;

static u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

static u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	return (u64)((unsigned __int128)a * b >> shift);
}

#include "user/cycles.h"

/* The largest error of an anchor, and of a time between anchors. */
#define ANCHOR_ERROR 35
#define TIME_ERROR 77

static u64 state = 1;

static u64 below(u64 count)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 20) % count;
}

#define CHECK(condition) do { \
	if (!(condition)) { \
		printf("# %s:%d: %s\n", __FILE__, __LINE__, #condition); \
		return false; \
	} \
} while (0)

/* The truth: the time at a value of the counter. */
struct truth {
	u64 cycles;
	double time;
	double rate;		/* ns a cycle */
};

static double truth_at(const struct truth *truth, u64 cycles)
{
	return truth->time + (double)(cycles - truth->cycles) * truth->rate;
}

static void truth_advance(struct truth *truth, u64 cycles)
{
	truth->time = truth_at(truth, cycles);
	truth->cycles = cycles;
}

static struct eventlog_anchor anchor(const struct truth *truth)
{
	return (struct eventlog_anchor){
		.cycles = truth->cycles,
		.time = (u64)truth->time + ANCHOR_ERROR - below(2 * ANCHOR_ERROR),
	};
}

/*
 * Records between passes that are @most cycles apart.  With @leftover, some are converted
 * a few passes later only.
 */
static bool check(u32 khz, double error_ppm, u64 most, bool leftover)
{
	struct truth truth = {
		.cycles = 1000 + below(1ULL << 50), .time = 5e9,
		.rate = 1e6 / khz * (1 + error_ppm * 1e-6),
	};
	const double original = truth.rate;
	struct eventlog_cycles cycles;
	unsigned int pass, i;
	u64 last = 0;

	eventlog_cycles_init(&cycles, khz, anchor(&truth));
	for (pass = 0; pass < 20000; pass++) {
		const struct truth before = truth;
		u64 value[16], time, length = 2000 + below(most);

		for (i = 0; i < 16; i++)
			value[i] = before.cycles + length / 16 * i + below(length / 16);
		truth_advance(&truth, before.cycles + length);
		eventlog_cycles_update(&cycles, anchor(&truth));
		for (i = 0; i < 16; i++) {
			double real = truth_at(&before, value[i]), difference;

			time = eventlog_cycles_time(&cycles, value[i]);
			difference = (double)time - real;
			CHECK(difference <= TIME_ERROR && difference >= -TIME_ERROR);
			/* Anchors are not exact, so order is by clamping between passes. */
			CHECK(time >= last || !i);
			CHECK(time <= cycles.newest.time);
			last = time;
		}
		CHECK(eventlog_cycles_time(&cycles, truth.cycles + 1) == cycles.newest.time);
		if (leftover && pass > 100) {
			/* Up to 50 ms ago: the rate is measured, not the calibrated one. */
			u64 age = below(50ULL * khz), old = truth.cycles - age;
			double real = truth.time - (double)age * truth.rate, difference;

			difference = (double)eventlog_cycles_time(&cycles, old) - real;
			CHECK(difference < 2000 && difference > -2000);
		} else if (!leftover && pass % 100 == 99) {
			/* The kernel adjusts the rate, by up to 500 ppm. */
			truth.rate = original * (1 + ((double)below(1000) - 500) * 1e-6);
		}
	}
	return true;
}

/* The counter starts again, or stands still, and the clock jumps ahead. */
static bool check_jumps(void)
{
	struct eventlog_anchor now = { .cycles = 1ULL << 60, .time = 1ULL << 40 };
	struct eventlog_cycles cycles;
	u64 time;
	unsigned int i;

	eventlog_cycles_init(&cycles, 2300000, now);
	for (i = 0; i < 100000; i++) {
		switch (below(4)) {
		case 0:
			now.cycles = below(1ULL << 62);
			break;
		case 1:
			now.time += below(1ULL << 55);
			break;
		case 2:
			now.cycles += below(1ULL << 20);
			break;
		default:
			now.cycles += below(1ULL << 50);
			now.time += below(1ULL << 20);
		}
		eventlog_cycles_update(&cycles, now);
		CHECK(cycles.newest.time == now.time);
		CHECK(cycles.rate >= cycles.nominal - (cycles.nominal >> 9));
		CHECK(cycles.rate <= cycles.nominal + (cycles.nominal >> 9));
		time = eventlog_cycles_time(&cycles, below(~0ULL));
		CHECK(time <= now.time);
		CHECK(eventlog_cycles_time(&cycles, 0) <= now.time);
		CHECK(eventlog_cycles_time(&cycles, ~0ULL) == now.time);
	}
	return true;
}

static int failed, number;

static void report(const char *name, bool passed)
{
	printf("%sok %d %s\n", passed ? "" : "not ", ++number, name);
	failed += !passed;
}

int main(void)
{
	report("10 ms between passes", check(2300000, 30, 46000000, false));
	report("microseconds between passes", check(2300000, -30, 20000, false));
	report("90 ms between passes", check(3800000, 0, 340000000, false));
	report("a slow counter", check(25000, 100, 500000, false));
	report("records that were left", check(2300000, 200, 46000000, true));
	report("jumps", check_jumps());
	printf("1..%d\n", number);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
