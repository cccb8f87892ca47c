/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verbs of elog, and the options that they have.
 */
#ifndef VERB_H
#define VERB_H

#include "cmd/options.h"

/* Options without a short form. */
enum long_option {
	OPTION_SAMPLE = 256,
	OPTION_PER_CPU_BYTES,
	OPTION_TIME,
	OPTION_ZONE,
	OPTION_UNIT,
	OPTION_CGROUP,
	OPTION_IDS,
	OPTION_WAIT,
	OPTION_STRICT,
	OPTION_STDIN,
	OPTION_OVERWRITE,
	OPTION_TRIGGER,
	OPTION_APPEND,
	OPTION_SINCE,
	OPTION_UNTIL,
	OPTION_AROUND,
	OPTION_FORMAT,
	OPTION_FIELDS,
	OPTION_COLOR,
	OPTION_NO_PAGER,
	OPTION_FOLLOW,
	OPTION_HOST,
	OPTION_SESSION_SUMMARY,
	OPTION_INTERVAL,
	OPTION_BY,
	OPTION_SORT,
	OPTION_COMPRESS,
	OPTION_ROTATE,
	OPTION_WRITERS,
	OPTION_SPLIT,
	OPTION_BACKGROUND,
	OPTION_GROUP,
	OPTION_SLOWEST,
	OPTION_PENDING,
	OPTION_SPAN,
	OPTION_OTLP,
	OPTION_TREE,
	OPTION_PROVIDER,
	OPTION_BPF,
	OPTION_MODULE,
	OPTION_HANDLER,
	OPTION_PROGRAM,
	OPTION_IF,
	OPTION_FROM,
	OPTION_ONCE,
	OPTION_CREATE_STREAM,
	OPTION_MAX_AGE,
	OPTION_MAX_BYTES,
	OPTION_REPLICAS,
	OPTION_STATUS,
	OPTION_STATE,
	OPTION_INSTANCE,
	OPTION_INSTANCES,
	OPTION_OF_INSTANCES,
	OPTION_BY_INSTANCES,
	OPTION_OWNER,
	OPTION_MODE,
	OPTION_QUOTA,
	OPTION_TRACE,
	OPTION_DRY_RUN,
	OPTION_TIMEOUT,
	OPTION_FORCE,
	OPTION_WHY,
	OPTION_TAIL,
};

/**
 * struct verb_option - an option of a verb
 * @option: its letter, or enum long_option; 0 ends a list
 * @help: what it does in this verb; NULL: the common help
 */
struct verb_option {
	int option;
	const char *help;
};

/**
 * struct verb - a verb
 * @name: its name
 * @summary: a line for elog --help
 * @usage: the rest of the usage line
 * @description: for elog VERB --help
 * @options: besides -h and -V, which all verbs have
 * @formats: mask of 1 << enum output_format that --format accepts
 * @options_first: the first argument ends the options
 * @run: run the verb; returns the exit status
 */
struct verb {
	const char *name;
	const char *summary;
	const char *usage;
	const char *description;
	const struct verb_option *options;
	unsigned int formats;
	bool options_first;
	int (*run)(const struct options *options);
};

extern const struct verb verb_capture;
extern const struct verb verb_create;
extern const struct verb verb_delete;
extern const struct verb verb_emit;
extern const struct verb verb_engine;
extern const struct verb verb_export;
extern const struct verb verb_info;
extern const struct verb verb_latency;
extern const struct verb verb_list;
extern const struct verb verb_marker;
extern const struct verb verb_report;
extern const struct verb verb_ship;
extern const struct verb verb_show;
extern const struct verb verb_sql;
extern const struct verb verb_stat;
extern const struct verb verb_stop;
extern const struct verb verb_top;
extern const struct verb verb_upgrade;
extern const struct verb verb_why;

#endif /* VERB_H */
