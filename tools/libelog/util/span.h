/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Spans of time, and sizes, as users write them in options and filters.
 */
#ifndef LIBELOG_SPAN_H
#define LIBELOG_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct elog_span - a span of time
 * @value: ns, rounded down; of a size, bytes
 * @is_bare: it is a number without unit
 * @is_size: its unit is K, M or G
 * @is_rounded: it has a fraction that is too fine
 * @wrong: where an error is in the text
 */
struct elog_span {
	uint64_t value;
	bool is_bare;
	bool is_size;
	bool is_rounded;
	const char *wrong;
};

/**
 * elog_span_parse() - parse a span of time, or a size
 * @text: "1h30m", "1.5s", "5 minutes", "64K"; or a number alone
 * @size: bytes of @text
 * @unit: of a number alone
 * @span: set
 *
 * Return: 0; -EINVAL: it is none; -ERANGE: it does not fit.
 */
int elog_span_parse(const char *text, size_t size, uint64_t unit, struct elog_span *span);

#endif /* LIBELOG_SPAN_H */
