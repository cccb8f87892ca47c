/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line: what the options of all verbs set. Only verbs see it; they pass to each
 * room the part that is its own. scripts/check-layers knows this rule.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "export/visit.h"
#include "fleet/stream_create.h"
#include "input/live.h"
#include "input/select.h"
#include "input/source.h"
#include "output/print_settings.h"
#include "record/writer.h"

struct verb;

/** enum line_kind - what the lines of elog emit --stdin are */
enum line_kind {
	LINES_NONE,			/* no --stdin */
	LINES_TEXT,
	LINES_JSON,
};

/**
 * struct options - the command line; zero for options that were not given
 * @select: -e, -k, -l, -s, -p, --unit, --cgroup, -t, -C, -f, --sample, --since, --until
 * @source: --follow, --host
 * @live: -d, --per-cpu-bytes, --instances GLOB, --trigger, COMMAND
 * @print: --format, --time, --ids or ELOG_IDS, --fields
 * @record: -o, --split and how files are written
 * @spans: --span, --by, --pending
 * @visit: the files, with @select, @source, @spans, -n
 * @program: --program, or NULL
 * @module: --module, or NULL
 * @handlers: --handler, or NULL
 * @predicate: --if, or NULL
 * @count: -n
 * @tail: --tail, plus 1; 0: not given
 * @quiet: -q; parse_options() copies options that several parts need into each of them
 * @verbose: -v; likewise
 * @wait: --wait
 * @lines: --stdin
 * @output: -o, or NULL
 * @color: --color
 * @no_pager: --no-pager
 * @session_summary: --session-summary
 * @interval: --interval, ns
 * @by: --by, or NULL
 * @sort: --sort, or NULL
 * @background: --background
 * @group: --group, or NULL
 * @slowest: --slowest
 * @why: --why
 * @otlp: --otlp, or NULL
 * @tree: --tree
 * @provider: --provider, or NULL
 * @bpf: --bpf
 * @from: --from
 * @once: --once
 * @stream: --create-stream, --replicas, --max-age, --max-bytes
 * @status: --status
 * @state: --state, or NULL
 * @separated: "--" precedes the arguments
 * @arguments: the rest, NULL-terminated
 * @argument_count: of @arguments
 * @command_count: how many of the last @arguments followed the "--"
 * @device: -D, or NULL
 * @instance: --instance, or NULL
 * @instances: --instances
 * @owner: --owner, or NULL
 * @mode: --mode, or NULL
 * @quota: --quota, or NULL
 * @trace: --trace
 * @dry_run: --dry-run
 * @timeout: --timeout, ns; 0: the default
 * @force: --force
 */
struct options {
	struct selection_spec select;
	struct source_settings source;
	struct live_settings live;
	struct print_settings print;
	struct record_settings record;
	struct span_settings spans;
	struct visit_settings visit;
	const char *program;
	const char *module;
	const char *handlers;
	const char *predicate;
	uint64_t count;
	uint64_t tail;
	bool quiet;
	bool verbose;
	bool wait;
	enum line_kind lines;
	bool strict;
	const char *output;
	enum color color;
	bool no_pager;
	bool session_summary;
	uint64_t interval;
	const char *by;
	const char *sort;
	bool background;
	const char *group;
	uint32_t slowest;
	bool why;
	const char *otlp;
	bool tree;
	const char *provider;
	bool bpf;
	struct time_spec from;
	bool once;
	struct stream_wanted stream;
	bool status;
	const char *state;
	bool separated;
	char **arguments;
	int argument_count;
	int command_count;
	const char *device;
	const char *instance;
	bool instances;
	const char *owner;
	const char *mode;
	const char *quota;
	bool trace;
	bool dry_run;
	uint64_t timeout;
	bool force;
};

/** print_version() - the output of -V */
void print_version(void);

/** print_help() - the output of elog VERB --help */
void print_help(const struct verb *verb);

/**
 * parse_options() - parse a verb's command line
 * @verb: the verb
 * @count: of @arguments
 * @arguments: the command line, the verb first
 * @options: filled in; call free_options() also after an error
 *
 * Return: -1: run the verb; otherwise the exit status, and a message was printed.
 */
int parse_options(const struct verb *verb, int count, char **arguments,
		  struct options *options);

/** free_options() - free what parse_options() allocated */
void free_options(struct options *options);

#endif /* OPTIONS_H */
