/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * COMMAND: a program that a verb starts; the verb ends when it ends.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <sys/types.h>

#include "util/tool.h"

/**
 * struct command - the program
 * @name: the first argument; NULL: not started
 * @pid: its process; 0: not started, or it has ended
 * @status: of waitpid()
 * @terminated: command_end() sent SIGTERM
 */
struct command {
	const char *name;
	pid_t pid;
	int status;
	bool terminated;
};

/**
 * command_start() - start the program; print what failed
 * @command: all zero; filled in
 * @arguments: the command and its arguments, NULL-terminated
 * @stdout_taken: redirect its stdout to stderr
 *
 * Return: 0 or an exit status.
 */
int command_start(struct command *command, char **arguments, bool stdout_taken);

/** command_reap() - has it ended? If so, @status is valid */
bool command_reap(struct command *command);

/**
 * command_end() - send SIGTERM, unless it has ended, and wait for its end
 * @command: any
 * @insist: send SIGKILL if it has not ended after a second
 *
 * A signal to stop that arrives meanwhile also sends SIGKILL.
 */
void command_end(struct command *command, bool insist);

/**
 * command_status() - the exit status of the verb
 * @command: has ended, or was never started
 * @quiet: do not print that it failed
 */
int command_status(const struct command *command, bool quiet);

#endif /* COMMAND_H */
