/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The actions of elog marker that switch handlers, or save and restore them. Only for marker.c.
 */
#ifndef CMD_MARKER_SWITCH_H
#define CMD_MARKER_SWITCH_H

#include "cmd/options.h"
#include "util/tool.h"

enum marker_action {
	MARKER_LIST,
	MARKER_ENABLE,
	MARKER_DISABLE,
	MARKER_SET,
	MARKER_POLICIES,
	MARKER_SAVE,
	MARKER_RESTORE,
};

/** marker_action_find() - find an action by its name; -1: none, and a message was printed */
int marker_action_find(const char *name);

/** marker_patterns_check() - are the patterns valid? Otherwise a message was printed. */
bool marker_patterns_check(const struct options *options);

/** marker_error() - print why the device does not return markers */
void marker_error(int error);

/** marker_options_choice() - which markers the options mean, without --program */
struct marker_choice marker_options_choice(const struct options *options);

/**
 * marker_switch() - enable, disable or set
 * @options: the command line
 * @action: which of them
 * @fd: the device
 *
 * Return: the exit status.
 */
int marker_switch(const struct options *options, enum marker_action action, int fd);

/** marker_save() - save; returns the exit status */
int marker_save(const struct options *options, int fd);

/** marker_restore() - restore; returns the exit status */
int marker_restore(const struct options *options, int fd);

#endif /* CMD_MARKER_SWITCH_H */
