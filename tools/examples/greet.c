// SPDX-License-Identifier: GPL-2.0-only
/*
 * An example of a program with one marker: an event in one line.
 *
 *	cc -o greet greet.c $(pkg-config --cflags --libs libelog)
 *	elog capture -- ./greet
 */
#include <elog_marker.h>

int main(void)
{
	int number;

	for (number = 1; number <= 3; number++)
		ELOG_MARKER(greeting, FIELD(auto, number), FIELD_NAMED(string, text, "hello"));
	return 0;
}
