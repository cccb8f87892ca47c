// SPDX-License-Identifier: GPL-2.0-only
/*
 * COMMAND: see command.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/command.h"
#include "util/signals.h"

#define REAP_MS	100
#define PATIENCE 10	/* times REAP_MS, after SIGTERM */

static void execute(char **arguments, bool stdout_taken, int report)
{
	int error;

	/* Keep the command's output out of the file. */
	if (stdout_taken)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	signals_restore();
	execvp(arguments[0], arguments);
	error = errno;
	(void)!write(report, &error, sizeof(error));
	_exit(STATUS_NO_COMMAND);
}

int command_start(struct command *command, char **arguments, bool stdout_taken)
{
	int report[2], error = 0;
	ssize_t got;

	if (pipe2(report, O_CLOEXEC)) {
		elog_error("pipe: %s", strerror(errno));
		return STATUS_ERROR;
	}
	command->pid = fork();
	if (command->pid < 0) {
		elog_error("fork: %s", strerror(errno));
		command->pid = 0;
		close(report[0]);
		close(report[1]);
		return STATUS_ERROR;
	}
	if (!command->pid)
		execute(arguments, stdout_taken, report[1]);
	close(report[1]);
	got = read(report[0], &error, sizeof(error));
	close(report[0]);
	if (got == sizeof(error)) {
		waitpid(command->pid, NULL, 0);
		command->pid = 0;
		elog_error("%s: %s", arguments[0], strerror(error));
		return error == ENOENT ? STATUS_NO_COMMAND :
					 STATUS_CANNOT_EXECUTE;
	}
	command->name = arguments[0];
	return 0;
}

bool command_reap(struct command *command)
{
	if (!command->pid)
		return true;
	if (waitpid(command->pid, &command->status, WNOHANG) == command->pid)
		command->pid = 0;
	return !command->pid;
}

void command_end(struct command *command, bool insist)
{
	int stops = signals_stops(), waited = 0;

	if (command_reap(command))
		return;
	command->terminated = true;
	kill(command->pid, SIGTERM);
	/* Signals arrive only while sleeping, so none is missed. */
	while (!command_reap(command)) {
		if (signals_stops() != stops || (insist && waited == PATIENCE)) {
			stops = signals_stops();
			kill(command->pid, SIGKILL);
		}
		signals_sleep(REAP_MS);
		waited++;
	}
}

int command_status(const struct command *command, bool quiet)
{
	int status = command->status, signal;

	if (!command->name)
		return STATUS_OK;
	if (WIFSIGNALED(status)) {
		signal = WTERMSIG(status);
		if (command->terminated && signal == SIGTERM)
			return STATUS_OK;
		if (!quiet)
			fprintf(stderr, "elog: %s was ended by signal %d (%s)\n",
				command->name, signal, strsignal(signal));
		return STATUS_SIGNAL + signal;
	}
	status = WEXITSTATUS(status);
	if (status && !quiet)
		fprintf(stderr, "elog: %s ended with status %d\n",
			command->name, status);
	return status;
}
