// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog capture: subscribe, print events in the order of their times.
 *
 * The loop sleeps until a ring is half full or 100 ms are over, and then, if
 * there is anything, prints one batch. It ends on SIGINT, SIGTERM or SIGHUP,
 * after -n events, after -d seconds, when stdout is closed, or when COMMAND
 * has ended; except in the second and fourth case what was written until then
 * is printed.
 *
 * With --overwrite it is a flight recorder: the rings are left to themselves,
 * and what they hold is printed as one batch on SIGUSR1, when a trigger was
 * emitted, and at the end. A second consumer, opened after the first so that an
 * event reaches it last, waits for triggers.
 *
 * With -o the same goes to a file, as it is: see save.c.
 *
 * Signals only count; they are let in while the loop sleeps, writes or waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tool.h"

#define BATCH_MS	100
#define SYNC_NS		200000000ULL	/* from one SYNC block to the next */
#define OUTPUT_BYTES	65536	/* written at once */
#define FROZEN_BYTES	(256U << 20) /* kept back while writers are held up */
#define SUB_BUFFER_BYTES 131072	/* of a flight recorder, if it is that large */
#define SUB_BUFFERS_MAX	16
#define RECORDER_BYTES	(1U << 20) /* of a flight recorder's rings, by default */

static const int stopping[] = { SIGINT, SIGTERM, SIGHUP };

static volatile sig_atomic_t stop_signals;	/* how often we were told to stop */
static volatile sig_atomic_t stop_signal;	/* the last one */
static volatile sig_atomic_t snapshots_wanted;	/* how often SIGUSR1 came */
static volatile sig_atomic_t stop_from_terminal; /* COMMAND got it as well */

struct capture {
	const struct options *options;
	struct elog_consumer *consumer;
	struct elog_consumer *trigger;	/* NULL: there are no triggers */
	struct saver *saver;		/* NULL: print */
	bool file_failed;		/* writing it did */
	unsigned int snapshots;		/* printed so far */
	bool frozen;			/* the rings stand still */
	struct line_format format;
	struct elog_text output;
	bool terminal;		/* stdout is one */
	bool closed;		/* stdout's reader is gone */
	int error;		/* writing failed, or reading the rings did */
	uint64_t shown;
	bool enough;		/* -n is reached */
	bool damaged;		/* a ring was: records are missing */
	uint64_t started;	/* CLOCK_MONOTONIC, ns */
	uint64_t ended;

	pid_t command;		/* 0: there is none, or it has ended */
	int command_status;	/* of waitpid() */
	bool command_terminated; /* by us */

	sigset_t blocked;	/* by default */
	sigset_t open;		/* while sleeping, writing, waiting */
	struct sigaction inherited[ARRAY_SIZE(stopping)]; /* for COMMAND */
	struct sigaction inherited_snapshot; /* SIGUSR1's, likewise */
};

static void on_stop(int signal, siginfo_t *info, void *context)
{
	(void)context;
	stop_signal = signal;
	stop_from_terminal = info->si_code == SI_KERNEL;
	stop_signals++;
}

static void on_snapshot(int signal)
{
	(void)signal;
	snapshots_wanted++;
}

static void on_child(int signal)
{
	(void)signal;
}

static void set_signals(struct capture *capture)
{
	struct sigaction action = { .sa_sigaction = on_stop,
				    .sa_flags = SA_SIGINFO };
	struct sigaction snapshot = { .sa_handler = on_snapshot };
	struct sigaction child = { .sa_handler = on_child };
	struct sigaction *old;
	size_t i;

	sigemptyset(&capture->blocked);
	sigaddset(&capture->blocked, SIGCHLD);
	sigaction(SIGCHLD, &child, NULL);
	for (i = 0; i < ARRAY_SIZE(stopping); i++) {
		old = &capture->inherited[i];
		sigaction(stopping[i], NULL, old);
		/* nohup means it; a shell's "&" ignores SIGINT without a reason. */
		if (stopping[i] == SIGHUP && old->sa_handler == SIG_IGN)
			continue;
		sigaddset(&capture->blocked, stopping[i]);
		sigaction(stopping[i], &action, NULL);
	}
	if (capture->options->overwrite) {
		sigaddset(&capture->blocked, SIGUSR1);
		sigaction(SIGUSR1, &snapshot, &capture->inherited_snapshot);
	}
	sigprocmask(SIG_BLOCK, &capture->blocked, &capture->open);
	signal(SIGPIPE, SIG_IGN);
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/*
 * Write everything out. When told to stop for the second time, a reader that
 * does not read is given up.
 */
static void write_output(struct capture *capture)
{
	size_t written = 0;
	ssize_t ret;

	if (capture->output.error)
		capture->error = capture->output.error;
	while (written < capture->output.size && !capture->closed &&
	       !capture->error) {
		sigprocmask(SIG_SETMASK, &capture->open, NULL);
		ret = write(STDOUT_FILENO, capture->output.data + written,
			    capture->output.size - written);
		if (ret < 0)
			ret = -errno;
		sigprocmask(SIG_BLOCK, &capture->blocked, NULL);
		if (ret >= 0)
			written += (size_t)ret;
		else if (ret == -EPIPE || ((ret == -EINTR || ret == -EAGAIN) &&
					   stop_signals > 1))
			capture->closed = true;
		else if (ret == -EAGAIN)
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		else if (ret != -EINTR)
			capture->error = (int)ret;
	}
	capture->output.size = 0;
}

static void show(struct capture *capture, const struct elog_item *item)
{
	const struct elog_schema_event *event = NULL;
	const struct options *options = capture->options;

	/* A CPU that is not known may be one of them. */
	if (item->cpu != EVENTLOG_CPU_ALL && !number_matches(&options->cpus, item->cpu))
		return;
	if (item->type == ELOG_ITEM_LOST) {
		line_lost(item, &capture->output);
	} else {
		if (!number_matches(&options->tids, item->tid))
			return;
		if (elog_consumer_describe(capture->consumer, item->descriptor,
					   &event) == -ENOMEM)
			capture->error = -ENOMEM;
		line_event(&capture->format, item, event, &capture->output);
		capture->shown++;
		capture->enough = capture->shown == options->count;
	}
	if (capture->output.size >= (capture->frozen ? FROZEN_BYTES : OUTPUT_BYTES) ||
	    (capture->terminal && !capture->frozen))
		write_output(capture);
}

/* Print the batch that has been begun. */
static void print_items(struct capture *capture)
{
	struct elog_item item;
	int ret;

	line_start_batch(&capture->format);
	while (!capture->enough && !capture->closed && !capture->error) {
		ret = elog_consumer_next(capture->consumer, &item);
		if (!ret)
			break;
		if (ret > 0) {
			show(capture, &item);
			continue;
		}
		capture->damaged = true;
		elog_text_string(&capture->output,
				 "# a ring was damaged: records are missing\n");
	}
}

static void print_batch(struct capture *capture)
{
	int ret;

	do {
		ret = elog_consumer_flush(capture->consumer);
	} while (ret == -EINTR);
	if (ret) {
		capture->error = ret;
		return;
	}
	print_items(capture);
	write_output(capture);
}

/*
 * Print what the flight recorder holds. Events are held up, and lost, only
 * while they are turned into text, not while that is written, unless it is
 * more than FROZEN_BYTES.
 */
static void print_snapshot(struct capture *capture, const char *reason)
{
	char heading[64];
	int ret;

	snprintf(heading, sizeof(heading), "# snapshot %u: %s\n",
		 ++capture->snapshots, reason);
	elog_text_string(&capture->output, heading);
	ret = elog_consumer_freeze(capture->consumer);
	if (ret) {
		capture->error = ret;
		return;
	}
	capture->frozen = true;
	print_items(capture);
	capture->frozen = false;
	ret = elog_consumer_thaw(capture->consumer);
	if (ret)
		capture->error = ret;
	write_output(capture);
}

/* What @rule says of names; @provider is where to put the first part. */
static void set_glob(struct elog_rule *rule, const char *glob, char *provider)
{
	const char *slash = strchrnul(glob, '/');

	memcpy(provider, glob, (size_t)(slash - glob));
	provider[slash - glob] = '\0';
	rule->provider = provider;
	if (*slash)
		rule->event = slash + 1;
}

static void complain_rule(const char *glob, int error)
{
	complain("the kernel refused '%s': %s", glob, strerror(-error));
}

/* The rules for one combination of -e, -s and -p: one for each meaning of -k. */
static int add_rule(struct capture *capture, const char *glob,
		    const uint64_t *session, const uint64_t *pid)
{
	const struct options *options = capture->options;
	struct elog_rule rule = {
		.size = sizeof(rule),
		.level = options->level,
		.sample = options->sample,
	};
	const char *slash = strchr(glob, '/');
	struct keyword_rules keywords;
	size_t i;
	int ret;

	if (slash)
		rule.event = slash + 1;
	if (session) {
		rule.flags |= EVENTLOG_RULE_SESSION;
		rule.session = *session;
	}
	if (pid) {
		rule.flags |= EVENTLOG_RULE_PID;
		rule.pid = (uint32_t)*pid;
	}
	ret = keywords_resolve(options, glob, &keywords);
	for (i = 0; !ret && i < keywords.count; i++) {
		rule.provider = keywords.rules[i].provider;
		rule.keywords_any = keywords.rules[i].mask;
		ret = elog_consumer_rule_add(capture->consumer, &rule, NULL);
	}
	free(keywords.rules);
	return ret;
}

static const uint64_t *number_at(const struct number_list *list, size_t index)
{
	return list->count ? &list->values[index % list->count] : NULL;
}

static int add_rules(struct capture *capture)
{
	const struct options *options = capture->options;
	size_t globs = options->glob_count ? options->glob_count : 1;
	size_t sessions = options->sessions.count ? options->sessions.count : 1;
	size_t pids = options->pids.count ? options->pids.count : 1;
	const char *glob;
	size_t i;
	int ret;

	for (i = 0; i < globs * sessions * pids; i++) {
		glob = options->glob_count ?
		       options->globs[i / pids / sessions] : "*";
		ret = add_rule(capture, glob,
			       number_at(&options->sessions, i / pids),
			       number_at(&options->pids, i));
		if (!ret)
			continue;
		if (ret == -EMFILE) {
			complain("there may be no more than %zu rules", i);
			note("ask for fewer combinations of -e, -s and -p");
		} else if (ret == -ENOENT) {
			complain("no provider that '%s' matches has a keyword of '%s'",
				 glob, options->keyword_names);
			note("elog list shows the keywords there are");
		} else {
			complain_rule(glob, ret);
		}
		return ret;
	}
	return 0;
}

/* As many sub-buffers as leave room for the largest event: only one is lost at a time. */
static uint32_t recorder_sub_buffers(uint64_t ring_bytes)
{
	uint32_t count = 2;

	while (count < SUB_BUFFERS_MAX && ring_bytes / count > SUB_BUFFER_BYTES)
		count *= 2;
	return count;
}

static int open_trigger(struct capture *capture)
{
	const struct options *options = capture->options;
	struct elog_consumer_options consumer_options = {
		.size = sizeof(consumer_options),
		.ring_bytes = 2 * (uint64_t)sysconf(_SC_PAGESIZE),
		.watermark = 1,
	};
	char provider[EVENTLOG_GLOB_MAX];
	size_t i;
	int ret;

	ret = elog_consumer_open(&capture->trigger, &consumer_options);
	if (ret) {
		explain_trouble(ret, PURPOSE_CONSUME);
		return ret;
	}
	for (i = 0; i < options->trigger_count; i++) {
		struct elog_rule rule = { .size = sizeof(rule) };

		set_glob(&rule, options->triggers[i], provider);
		ret = elog_consumer_rule_add(capture->trigger, &rule, NULL);
		if (ret) {
			complain_rule(options->triggers[i], ret);
			return ret;
		}
	}
	return 0;
}

static int open_consumer(struct capture *capture)
{
	const struct options *options = capture->options;
	struct elog_consumer_options consumer_options = {
		.size = sizeof(consumer_options),
		.ring_bytes = options->per_cpu_bytes,
	};
	int ret;

	if (options->per_cpu_bytes &&
	    options->per_cpu_bytes < 2 * (uint64_t)sysconf(_SC_PAGESIZE)) {
		complain("--per-cpu-bytes: a ring has at least two pages, %ld bytes",
			 2 * sysconf(_SC_PAGESIZE));
		return -EINVAL;
	}
	if (options->overwrite) {
		if (!consumer_options.ring_bytes)
			consumer_options.ring_bytes = RECORDER_BYTES;
		consumer_options.flags = ELOG_CONSUMER_OVERWRITE;
		consumer_options.sub_buffers =
			recorder_sub_buffers(consumer_options.ring_bytes);
	}
	ret = elog_consumer_open(&capture->consumer, &consumer_options);
	if (ret) {
		explain_trouble(ret, PURPOSE_CONSUME);
		return ret;
	}
	ret = add_rules(capture);
	if (!ret && options->trigger_count)
		ret = open_trigger(capture);
	return ret;
}

/* Start COMMAND; says itself what failed. Return: 0 or an exit status. */
static int start_command(struct capture *capture)
{
	char **arguments = capture->options->arguments;
	const char *name = strrchr(arguments[0], '/');
	int report[2], error = 0;
	ssize_t got;
	size_t i;

	if (pipe2(report, O_CLOEXEC)) {
		complain("pipe: %s", strerror(errno));
		return STATUS_ERROR;
	}
	capture->command = fork();
	if (capture->command < 0) {
		complain("fork: %s", strerror(errno));
		capture->command = 0;
		close(report[0]);
		close(report[1]);
		return STATUS_ERROR;
	}
	if (!capture->command) {
		signal(SIGPIPE, SIG_DFL);
		/* The file is not to have in it what COMMAND prints. */
		if (capture->options->output &&
		    !strcmp(capture->options->output, "-"))
			dup2(STDERR_FILENO, STDOUT_FILENO);
		for (i = 0; i < ARRAY_SIZE(stopping); i++)
			sigaction(stopping[i], &capture->inherited[i], NULL);
		if (capture->options->overwrite)
			sigaction(SIGUSR1, &capture->inherited_snapshot, NULL);
		sigprocmask(SIG_SETMASK, &capture->open, NULL);
		execvp(arguments[0], arguments);
		error = errno;
		(void)!write(report[1], &error, sizeof(error));
		_exit(STATUS_NO_COMMAND);
	}
	close(report[1]);
	got = read(report[0], &error, sizeof(error));
	close(report[0]);
	if (got == sizeof(error)) {
		waitpid(capture->command, NULL, 0);
		capture->command = 0;
		complain("%s: %s", arguments[0], strerror(error));
		return error == ENOENT ? STATUS_NO_COMMAND :
					 STATUS_CANNOT_EXECUTE;
	}
	elog_processes_learn(capture->format.processes,
			     (uint32_t)capture->command,
			     (uint32_t)capture->command,
			     name ? name + 1 : arguments[0]);
	return 0;
}

/* Return: true once COMMAND has ended. */
static bool reap_command(struct capture *capture)
{
	pid_t pid;

	if (!capture->command)
		return true;
	pid = waitpid(capture->command, &capture->command_status, WNOHANG);
	if (pid == capture->command)
		capture->command = 0;
	return !capture->command;
}

/* The capture has ended before COMMAND: end that, too. */
static void end_command(struct capture *capture)
{
	const struct timespec limit = { .tv_nsec = BATCH_MS * 1000000L };
	int signals = stop_signals;

	if (reap_command(capture))
		return;
	capture->command_terminated = true;
	kill(capture->command, SIGTERM);
	/* Signals come while sleeping only: none is missed in between. */
	while (!reap_command(capture)) {
		if (stop_signals != signals) {
			signals = stop_signals;
			kill(capture->command, SIGKILL);
		}
		ppoll(NULL, 0, &limit, &capture->open);
	}
}

/*
 * Told to stop. With a COMMAND the first signal is for that, which may want to
 * say something at its end; the next one ends the capture.
 */
static bool has_to_stop(struct capture *capture, int *signals_seen)
{
	if (*signals_seen == stop_signals)
		return false;
	if (!capture->command || *signals_seen)
		return true;
	*signals_seen = stop_signals;
	if (!stop_from_terminal)
		kill(capture->command, stop_signal);
	return false;
}

/* Milliseconds of -d that are left, but no more than @most; negative: any number. */
static int time_left(const struct capture *capture, int most)
{
	const uint64_t duration = capture->options->duration;
	uint64_t left;

	if (!duration)
		return most;
	left = now() - capture->started;
	left = left < duration ? (duration - left + 999999) / 1000000 : 0;
	if (most >= 0 && left > (uint64_t)most)
		return most;
	return left < INT32_MAX ? (int)left : INT32_MAX;
}

/* Wait for a trigger, a signal, or the end of -d. */
static int wait_for_snapshot(struct capture *capture)
{
	int milliseconds = time_left(capture, -1);
	const struct timespec limit = {
		.tv_sec = milliseconds / 1000,
		.tv_nsec = milliseconds % 1000 * 1000000L,
	};

	if (capture->trigger)
		return elog_consumer_wait(capture->trigger, milliseconds,
					  &capture->open);
	if (ppoll(NULL, 0, milliseconds < 0 ? NULL : &limit, &capture->open) < 0)
		return -errno;
	return 0;
}

/* Forget the triggers that there were: one snapshot is for all of them. */
static int drain_trigger(struct capture *capture)
{
	struct elog_item item;
	int ret;

	do {
		ret = elog_consumer_flush(capture->trigger);
	} while (ret == -EINTR);
	if (ret)
		return ret;
	while (elog_consumer_next(capture->trigger, &item))
		;
	return 0;
}

/*
 * Everything that a signal may have said is looked at before sleeping: signals
 * are let in while a snapshot is written, too, and the sleep has no end.
 */
static void run_recorder(struct capture *capture)
{
	const uint64_t duration = capture->options->duration;
	bool with_command = capture->command != 0;
	int signals_seen = 0, asked_seen = 0, ret;

	while (!capture->enough && !capture->closed && !capture->error) {
		if (has_to_stop(capture, &signals_seen) ||
		    (with_command && reap_command(capture)) ||
		    (duration && now() - capture->started >= duration)) {
			print_snapshot(capture, "the end");
			return;
		}
		if (asked_seen != snapshots_wanted) {
			asked_seen = snapshots_wanted;
			print_snapshot(capture, "asked for");
			continue;
		}
		ret = wait_for_snapshot(capture);
		if (ret > 0) {
			ret = drain_trigger(capture);
			if (!ret)
				print_snapshot(capture, "triggered");
		}
		if (ret < 0 && ret != -EINTR)
			capture->error = ret;
	}
}

static void run_loop(struct capture *capture)
{
	const uint64_t duration = capture->options->duration;
	bool with_command = capture->command != 0, end = false;
	int signals_seen = 0, ret;

	while (!end && !capture->enough && !capture->closed && !capture->error) {
		ret = elog_consumer_wait(capture->consumer,
					 time_left(capture, BATCH_MS),
					 &capture->open);
		if (ret < 0 && ret != -EINTR) {
			capture->error = ret;
			return;
		}
		end = has_to_stop(capture, &signals_seen) ||
		      (with_command && reap_command(capture)) ||
		      (duration && now() - capture->started >= duration);
		ret = elog_consumer_pending(capture->consumer);
		if (ret < 0)
			capture->error = ret;
		/* At the end FLUSH waits for what is being written just now. */
		else if (ret || end)
			print_batch(capture);
	}
}

/* Told to stop for the second time: a reader that does not read is given up. */
static bool gives_up(void *context)
{
	(void)context;
	return stop_signals > 1;
}

/* Write to the file, by one of the functions; signals are let in meanwhile. */
static void save(struct capture *capture, int (*write_more)(struct saver *))
{
	int ret;

	if (capture->closed || capture->error)
		return;
	sigprocmask(SIG_SETMASK, &capture->open, NULL);
	ret = write_more(capture->saver);
	sigprocmask(SIG_BLOCK, &capture->blocked, NULL);
	if (ret == -EPIPE || ret == -EINTR) {
		capture->closed = true;
	} else if (ret) {
		capture->error = ret;
		capture->file_failed = true;
	}
	capture->damaged |= saver_damaged(capture->saver);
	capture->shown = saver_records(capture->saver);
	capture->enough = capture->options->count &&
			  capture->shown >= capture->options->count;
}

static int sync_file(struct saver *saver)
{
	return saver_sync(saver, false);
}

static void run_saver(struct capture *capture)
{
	const uint64_t duration = capture->options->duration;
	bool with_command = capture->command != 0, end = false;
	uint64_t synced = now();
	int signals_seen = 0, ret;

	while (!end && !capture->enough && !capture->closed && !capture->error) {
		ret = elog_consumer_wait(capture->consumer,
					 time_left(capture, BATCH_MS),
					 &capture->open);
		if (ret < 0 && ret != -EINTR) {
			capture->error = ret;
			return;
		}
		end = has_to_stop(capture, &signals_seen) ||
		      (with_command && reap_command(capture)) ||
		      (duration && now() - capture->started >= duration);
		if (end)
			break;
		ret = elog_consumer_pending(capture->consumer);
		if (ret < 0)
			capture->error = ret;
		else if (now() - synced >= SYNC_NS &&
			 (ret || saver_pending(capture->saver))) {
			save(capture, sync_file);
			synced = now();
		} else if (ret) {
			save(capture, saver_drain);
		}
	}
	save(capture, saver_end);
}

static void print_lost_events(struct capture *capture)
{
	struct eventlog_describe request = { .flags = EVENTLOG_DESCRIBE_NEXT };
	int fd = elog_consumer_fd(capture->consumer);
	const struct elog_schema_event *event;
	struct eventlog_stat stat;
	char *schema;

	while (!elog_device_describe(fd, &request, &schema)) {
		free(schema);
		request.flags = EVENTLOG_DESCRIBE_NEXT;
		if (elog_consumer_stat(capture->consumer, EVENTLOG_CPU_ALL,
				       request.descriptor, &stat) ||
		    !stat.event_lost)
			continue;
		if (elog_consumer_describe(capture->consumer,
					   request.descriptor, &event))
			note("lost %" PRIu64 " of event #%u",
			     (uint64_t)stat.event_lost, request.descriptor);
		else
			note("lost %" PRIu64 " of %s/%s",
			     (uint64_t)stat.event_lost, event->provider->name,
			     event->name);
	}
}

/* Return: how many events were lost. */
static uint64_t summarize(struct capture *capture)
{
	const struct options *options = capture->options;
	uint64_t counts[EVENTLOG_LOST_CAUSES], lost, elapsed;
	struct elog_text causes = { 0 };
	struct eventlog_stat stat;
	unsigned int i;
	int ret;

	ret = elog_consumer_stat(capture->consumer, EVENTLOG_CPU_ALL, 0, &stat);
	if (ret) {
		complain("the kernel does not tell what was lost: %s",
			 strerror(-ret));
		capture->error = ret;
		return 0;
	}
	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		counts[i] = stat.lost[i];
	lost = put_causes(counts, &causes);
	if (!options->quiet) {
		elapsed = capture->ended - capture->started;
		fprintf(stderr, "elog: %" PRIu64 " event%s in %" PRIu64 ".%03" PRIu64
			" s, %.0f/s, ", capture->shown,
			capture->shown == 1 ? "" : "s", elapsed / 1000000000,
			elapsed / 1000000 % 1000,
			elapsed ? (double)capture->shown * 1e9 / (double)elapsed : 0);
		if (capture->saver)
			fprintf(stderr, "%" PRIu64 " bytes, ",
				saver_size(capture->saver));
		fprintf(stderr, "lost %" PRIu64 "%s\n", lost,
			causes.data ? causes.data : "");
		if (lost)
			print_lost_events(capture);
		if (options->verbose)
			fprintf(stderr, "elog: %" PRIu64 " records, %" PRIu64
				" bytes placed in the rings\n",
				(uint64_t)stat.records, (uint64_t)stat.bytes);
	}
	elog_text_free(&causes);
	return lost;
}

static int final_status(struct capture *capture, uint64_t lost)
{
	int status = capture->command_status, ret = STATUS_OK;
	const char *name = capture->options->arguments[0];

	if (WIFSIGNALED(status)) {
		if (!capture->command_terminated || WTERMSIG(status) != SIGTERM)
			ret = STATUS_SIGNAL + WTERMSIG(status);
		if (ret && !capture->options->quiet)
			fprintf(stderr, "elog: %s was ended by signal %d (%s)\n",
				name, WTERMSIG(status), strsignal(WTERMSIG(status)));
	} else if (WEXITSTATUS(status)) {
		ret = WEXITSTATUS(status);
		if (!capture->options->quiet)
			fprintf(stderr, "elog: %s ended with status %d\n", name, ret);
	}
	if (capture->file_failed) {
		complain("%s: %s", capture->options->output,
			 strerror(-capture->error));
		note("what was written before can be shown");
		return STATUS_ERROR;
	}
	if (capture->error) {
		complain("%s", strerror(-capture->error));
		return STATUS_ERROR;
	}
	if (!ret && (lost || capture->damaged))
		ret = STATUS_LOST;
	return ret;
}

/* What does not go with -o. Return: the option, or NULL. */
static const char *not_for_file(const struct options *options)
{
	if (options->tids.count)
		return "-t";
	if (options->cpus.count)
		return "-C";
	if (options->time != TIME_MONO)
		return "--time";
	return NULL;
}

static int run_capture(const struct options *options)
{
	struct capture capture = { .options = options };
	int ret = STATUS_ERROR;

	if (options->output && not_for_file(options)) {
		complain("%s does not go with -o", not_for_file(options));
		note("the file has all; use it with elog show");
		return STATUS_ERROR;
	}
	if (options->output && options->overwrite) {
		complain("--overwrite does not go with -o");
		return STATUS_ERROR;
	}
	if (options->append && !options->output) {
		complain("--append is for a file: add -o FILE");
		return STATUS_ERROR;
	}

	if (options->argument_count && !options->separated) {
		complain("'%s' is not an option; a command goes behind --",
			 options->arguments[0]);
		note("try: elog capture --help");
		return STATUS_ERROR;
	}
	if (options->separated && !options->argument_count) {
		complain("the command behind -- is missing");
		return STATUS_ERROR;
	}
	if (options->trigger_count && !options->overwrite) {
		complain("--trigger is for a flight recorder: add --overwrite");
		return STATUS_ERROR;
	}
	capture.terminal = isatty(STDOUT_FILENO);
	capture.format.time = options->time;
	capture.format.processes = elog_processes_new();
	if (!capture.format.processes) {
		complain("out of memory");
		return STATUS_ERROR;
	}
	set_signals(&capture);
	if (open_consumer(&capture))
		goto out;
	if (options->output &&
	    saver_open(&capture.saver, options, capture.consumer,
		       capture.format.processes, gives_up, NULL))
		goto out;
	capture.started = now();
	if (options->argument_count) {
		ret = start_command(&capture);
		if (ret)
			goto out;
	} else if (options->verbose) {
		fputs("elog: capturing\n", stderr);
	}
	if (capture.saver)
		run_saver(&capture);
	else if (options->overwrite)
		run_recorder(&capture);
	else
		run_loop(&capture);
	capture.ended = now();
	end_command(&capture);
	ret = final_status(&capture, summarize(&capture));
out:
	saver_close(capture.saver);
	elog_consumer_close(capture.trigger);
	elog_consumer_close(capture.consumer);
	elog_processes_free(capture.format.processes);
	elog_text_free(&capture.output);
	return ret;
}

static const struct verb_option capture_options[] = {
	{ 'e', NULL }, { 'k', NULL }, { 'l', NULL }, { 's', NULL },
	{ 'p', NULL }, { 't', NULL }, { 'C', NULL }, { OPTION_SAMPLE, NULL },
	{ 'n', NULL }, { 'd', NULL }, { OPTION_PER_CPU_BYTES, NULL },
	{ OPTION_OVERWRITE, NULL }, { OPTION_TRIGGER, NULL },
	{ OPTION_TIME, NULL }, { 'o', NULL }, { OPTION_APPEND, NULL },
	{ 'q', "no summary" },
	{ 'v', "say when capturing has begun, and more in the summary" },
	{ 0, NULL },
};

const struct verb verb_capture = {
	.name = "capture",
	.summary = "print events as they happen, in the order of their times",
	.usage = "[OPTION...] [-- COMMAND [ARGUMENT...]]",
	.description =
	"Prints every event, or those that the options select, in one line each:\n"
	"  CPU TID COMM TIMESTAMP PROVIDER SESSION EVENT FIELD=VALUE...\n"
	"TID and SESSION are hexadecimal, a session of 0 is \"-\". A line that begins with\n"
	"\"#\" tells of events that were lost there. Ends with Ctrl-C, and prints a summary\n"
	"on stderr. With COMMAND, captures from before that starts until it has ended.\n"
	"\n"
	"With --overwrite it is a flight recorder: it prints nothing, and costs no more\n"
	"than the rings, until it is asked to, triggered, or ends.\n"
	"\n"
	"With -o it prints nothing but the summary: elog show prints the file.\n"
	"\n"
	"Exit status: 0 all is well; 1 an error; 2 events were lost; if COMMAND failed,\n"
	"its status (128 + N if signal N ended it; 127 there is no such command, 126 it\n"
	"cannot be executed).\n",
	.options = capture_options,
	.options_first = true,
	.run = run_capture,
};
