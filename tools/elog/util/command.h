/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * COMMAND: a program that a verb runs, and ends with.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <sys/types.h>

#include "util/tool.h"

/**
 * struct command - a program that was started
 * @name: as it was called; NULL: none was
 * @pid: its process; 0: there is none, or it has ended
 * @status: of waitpid()
 * @terminated: we told it to end
 */
struct command {
	const char *name;
	pid_t pid;
	int status;
	bool terminated;
};

/**
 * command_start() - start it; says itself what failed
 * @command: all zero; filled in
 * @arguments: the command and its arguments, NULL-terminated
 * @stdout_taken: what it prints goes to stderr
 *
 * Return: 0 or an exit status.
 */
int command_start(struct command *command, char **arguments, bool stdout_taken);

/** command_reap() - has it ended? Then its status is known */
bool command_reap(struct command *command);

/** command_end() - tell it to end, if it has not, and wait until it has */
void command_end(struct command *command);

/**
 * command_status() - the exit status that is due to it
 * @command: has ended, or was never started
 * @quiet: do not say that it failed
 */
int command_status(const struct command *command, bool quiet);

#endif /* COMMAND_H */
