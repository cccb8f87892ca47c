/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which markers elog marker is about, and what to do with them.
 */
#ifndef MARKER_SETTINGS_H
#define MARKER_SETTINGS_H

#include "util/tool.h"

/**
 * struct marker_settings - of elog marker; zero for what was not given
 * @arguments: the action, then patterns or the names of files
 * @argument_count: of @arguments
 * @program: a glob: markers of programs
 * @module: a glob: markers of modules
 * @handlers: names, separated by commas
 * @predicate: handlers run only if it is true
 * @format: to print
 * @tree: print a tree
 * @quiet: no headings, no summary
 */
struct marker_settings {
	char **arguments;
	int argument_count;
	const char *program;
	const char *module;
	const char *handlers;
	const char *predicate;
	enum output_format format;
	bool tree;
	bool quiet;
};

#endif /* MARKER_SETTINGS_H */
