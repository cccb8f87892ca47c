/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters as text, JSON or CSV, for elog stat.
 */
#ifndef REPORT_H
#define REPORT_H

#include "input/counters.h"
#include "output/print_settings.h"

/**
 * struct report - what a report needs besides the counters
 * @settings: how to print; may be NULL for report_summary()
 * @span: the time of counting, ns
 * @interval: the time that rates are about, ns; 0: @span
 * @repeated: there are several reports, at intervals
 * @continued: this is not the first report
 * @by_kernel: the kernel counts: see report_summary()
 */
struct report {
	const struct print_settings *settings;
	uint64_t span;
	uint64_t interval;
	bool repeated;
	bool continued;
	bool by_kernel;
};

/**
 * report_rows() - append the rows, with a header, and in text a total
 * @report: what else it needs
 * @counters: sorted, with rates
 * @text: to append to
 */
void report_rows(const struct report *report, const struct counters *counters,
		 struct elog_text *text);

/** report_summary() - append a line, "N events in S s, ..., lost L: CAUSE N" */
void report_summary(const struct report *report, const struct counters *counters,
		    struct elog_text *text);

#endif /* REPORT_H */
