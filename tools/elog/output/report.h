/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters as text, JSON or CSV, which elog stat prints.
 */
#ifndef REPORT_H
#define REPORT_H

#include "input/counters.h"

/**
 * struct report - what there is to say besides the counters
 * @options: --format, --time, -q
 * @span: how long all was counted, ns
 * @interval: how long the interval was that rates are of; 0: @span
 * @continued: it is not the first one
 */
struct report {
	const struct options *options;
	uint64_t span;
	uint64_t interval;
	bool continued;
};

/**
 * report_rows() - append the rows, with a header, and a total in text
 * @report: what else there is
 * @counters: sorted, with rates
 * @text: where
 */
void report_rows(const struct report *report, const struct counters *counters,
		 struct elog_text *text);

/** report_summary() - append "N events in S s, ..., lost L: CAUSE N", a line */
void report_summary(const struct report *report, const struct counters *counters,
		    struct elog_text *text);

#endif /* REPORT_H */
