// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a command several times and prints the cost of the fastest run: "SECONDS
 * MAXRSS", CPU time of the process and its children, and KiB.  The command's output
 * goes to /dev/null.
 *
 *	measure RUNS COMMAND [ARGUMENT...]
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int count, char **arguments)
{
	int runs = count > 2 ? atoi(arguments[1]) : 0, status, run;
	double fastest = 0, taken;
	struct rusage usage;
	long most = 0;
	pid_t child;

	if (runs <= 0) {
		fputs("usage: measure RUNS COMMAND [ARGUMENT...]\n", stderr);
		return 2;
	}
	for (run = 0; run < runs; run++) {
		child = fork();
		if (!child) {
			dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
			execvp(arguments[2], arguments + 2);
			perror(arguments[2]);
			_exit(127);
		}
		if (child < 0 || wait4(child, &status, 0, &usage) < 0 || status) {
			fprintf(stderr, "measure: %s failed\n", arguments[2]);
			return 1;
		}
		taken = seconds(usage.ru_utime) + seconds(usage.ru_stime);
		if (!run || taken < fastest)
			fastest = taken;
		if (usage.ru_maxrss > most)
			most = usage.ru_maxrss;
	}
	printf("%.6f %ld\n", fastest, most);
	return 0;
}
