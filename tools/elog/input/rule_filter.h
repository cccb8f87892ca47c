/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The filter of the rules of a live run: what the kernel can decide of the expressions
 * of -f.
 */
#ifndef RULE_FILTER_H
#define RULE_FILTER_H

#include "input/select.h"

/**
 * rule_filter_compile() - compile the expressions of -f
 * @spec: with them
 * @verbose: print what the kernel decides, and what elog does
 * @filter: set to the filter, for elog_filter_free(); NULL: there is no -f, or the kernel
 *	can decide nothing
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int rule_filter_compile(const struct selection_spec *spec, bool verbose,
			struct elog_filter **filter);

/**
 * rule_filter_parse() - parse the expressions of -f
 * @spec: with them
 * @expressions: room for all; those that were parsed are set even after an error
 *
 * Return: as rule_filter_compile().
 */
int rule_filter_parse(const struct selection_spec *spec, struct elog_expression **expressions);

#endif /* RULE_FILTER_H */
