/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Changes of handlers: of markers of modules directly, of those of programs by policies that
 * the kernel keeps. And saved sets, which are files of commands that make such changes.
 */
#ifndef MARKER_CHANGE_H
#define MARKER_CHANGE_H

#include <wordexp.h>

#include "util/tool.h"

struct marker_list;
struct policy_list;

/**
 * struct marker_change - what one command does with one pattern
 * @of_program: it is a policy for programs
 * @owner: glob over modules, or programs as their providers have them; NULL: all
 * @pattern: glob over tags and places; with @of_program, over names of events
 * @number: only the marker with this number, from 1, of those that match; 0: all
 * @predicate: of marker_filter_compile(); NULL: none
 * @operation: enum eventlog_marker_operation
 * @handlers: EVENTLOG_MARKER_*
 */
struct marker_change {
	bool of_program;
	char *owner;
	char *pattern;
	uint32_t number;
	struct elog_filter *predicate;
	uint32_t operation;
	uint32_t handlers;
};

/**
 * struct marker_counts - what changes did
 * @matched: markers that match
 * @changed: of these, changed
 * @denied: of these, unchanged, because they do not allow a handler
 * @incompatible: of these, unchanged, because they do not have the predicate's fields
 */
struct marker_counts {
	size_t matched;
	size_t changed;
	size_t denied;
	size_t incompatible;
};

/**
 * marker_change_apply() - carry out a change
 * @fd: the device
 * @change: the change
 * @counts: what it did is added
 *
 * Return: 0; -ENOENT: no marker of a module matches; or another negative errno.
 */
int marker_change_apply(int fd, const struct marker_change *change, struct marker_counts *counts);

/**
 * struct marker_command - a command of a set
 * @words: the command line, from "elog" on
 * @line: its number in the file
 */
struct marker_command {
	wordexp_t words;
	unsigned int line;
};

/**
 * struct marker_set - a set
 * @count: of @commands
 * @commands: in the order of the file
 */
struct marker_set {
	size_t count;
	struct marker_command *commands;
};

/**
 * marker_set_save() - replace a file by a set that restores the present state
 * @list: markers of modules
 * @policies: policies for programs
 * @name: of the file
 *
 * Return: 0 or a negative errno.
 */
int marker_set_save(const struct marker_list *list, const struct policy_list *policies,
		    const char *name);

/**
 * marker_set_read() - read a set from a file
 * @set: empty; call marker_set_free() also after an error
 * @name: of the file
 * @line: set to the number of the line that is wrong
 *
 * Return: 0; -EINVAL: a line is no command of elog marker, or the file is truncated; or another
 * negative errno.
 */
int marker_set_read(struct marker_set *set, const char *name, unsigned int *line);

/** marker_set_free() - free the commands of a set */
void marker_set_free(struct marker_set *set);

#endif /* MARKER_CHANGE_H */
