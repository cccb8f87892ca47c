// SPDX-License-Identifier: GPL-2.0-only
/*
 * An example of a program with ten markers.
 *
 *	cc -o teahouse teahouse.c $(pkg-config --cflags --libs libelog)
 *	elog capture -e markers_teahouse -- ./teahouse 3
 *	ELOG_MARKERS='serve=print' ./teahouse 3
 *
 * Serves this number of guests, and prints how often a marker's expression was evaluated.
 */
#include <stdio.h>
#include <stdlib.h>

#include <elog_marker.h>

struct order {
	const char *guest;
	unsigned int number;
	unsigned char cups;
	bool milk;
	short celsius;
};

static unsigned int evaluated;

static unsigned int evaluate(unsigned int value)
{
	evaluated++;
	return value;
}

static inline void pour(const struct order *order)
{
	ELOG_MARKER(pour, FIELD(auto, order->number), FIELD(auto, order->cups));
}

static void drink(const struct order *order)
{
	ELOG_MARKER(drink, FIELD(string, order->guest));
	if (order->milk)
		ELOG_MARKER(drink, FIELD(string, order->guest),
			    FIELD_NAMED(bool, with_milk, order->milk));
}

static void serve(unsigned int number)
{
	struct order order = {
		.guest = number % 2 ? "Alice" : "Bob",
		.number = number,
		.cups = (unsigned char)(number + 1),
		.milk = number % 2,
		.celsius = -5,
	};

	ELOG_MARKER(serve, FIELD(auto, order.guest), FIELD(auto, order.number),
		    FIELD(u8, order.cups), FIELD(auto, order.milk),
		    FIELD(auto, order.celsius), FIELD(ptr, &order));
	pour(&order);
	ELOG_MARKER(evaluated, FIELD(u32, evaluate(order.number)));
	drink(&order);
	ELOG_MARKER(numbers, FIELD(auto, (signed char)-1), FIELD(auto, 0xffffU),
		    FIELD(auto, -1L), FIELD(u16, 0x1ffff), FIELD(auto, 1ULL << 40));
	ELOG_MARKER(served);
}

int main(int argc, char **argv)
{
	unsigned int guests = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 0) : 1, i;

	ELOG_MARKER(opened, FIELD(auto, guests), FIELD(auto, argv[0]));
	for (i = 0; i < guests; i++)
		serve(i);
	ELOG_MARKER(closed, FIELD(auto, guests));
	printf("%u evaluated\n", evaluated);
	return 0;
}
