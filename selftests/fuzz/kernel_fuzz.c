// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fuzzer of the kernel module that is guided by coverage: it changes programs, which are
 * sequences of calls, runs them, and keeps those that reach new instructions of the module.  See
 * abi.grammar for the calls, run.c for how they are made, and scripts/fuzz-kernel, which boots
 * a kernel with KCOV for it.
 *
 * Each program is stored before it runs, so that it is known if the kernel crashes.  After each
 * program, the kernel's log is searched for reports; the first one ends the run.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <linux/kcov.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#define CORPUS_MAX	4096
#define LAST		8		/* programs that are stored */
#define SEEN_BITS	24
#define STATUS_FOUND	3

static const char usage_text[] =
	"usage: kernel_fuzz [--corpus DIR] [--work DIR] [--seconds N] [--seed N]\n"
	"       kernel_fuzz [--times N] [--verbose] [--work DIR] --replay FILE...\n"
	"       kernel_fuzz --corpus DIR --work DIR --select\n"
	"\n"
	"Without --replay: change the programs of the corpus, run them, and add those that reach\n"
	"new instructions. With --replay: run these programs, N times each (1). With --select:\n"
	"write the names of few programs that reach what all programs do to the file selected.\n"
	"\n"
	"  --corpus DIR   programs to begin with, and where new ones go\n"
	"  --work DIR     where last.0 to last.7, the latest programs, found.log, what the kernel\n"
	"                 reported, and covered, the addresses reached, go\n"
	"  --verbose      print ioctl(), mmap() and write() that fail\n"
	"\n"
	"Exit status: 0; 1: an error; 3: the kernel has reported something, or hangs.\n";

static struct fuzz_program *corpus[CORPUS_MAX];
static char *names[CORPUS_MAX];
static unsigned int corpus_count;
static const char *corpus_directory, *work_directory;
static struct fuzz_coverage coverage[FUZZ_THREADS];
static unsigned char *seen;		/* one bit for each address, by its lowest bits */
static unsigned long *reached;		/* the addresses */
static size_t reached_count, reached_room;
static unsigned long run_count;
static int kmsg = -1;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* ------------------------------------------------------------------------
 * Coverage
 */

static void open_coverage(void)
{
	unsigned int i;

	seen = calloc(1, 1 << (SEEN_BITS - 3));
	if (!seen)
		die("kernel_fuzz");
	for (i = 0; i < FUZZ_THREADS; i++) {
		coverage[i].fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
		if (coverage[i].fd < 0)
			continue;
		if (ioctl(coverage[i].fd, KCOV_INIT_TRACE, FUZZ_AREA_WORDS))
			die("KCOV_INIT_TRACE");
		coverage[i].area = mmap(NULL, FUZZ_AREA_WORDS * sizeof(unsigned long),
					PROT_READ | PROT_WRITE, MAP_SHARED, coverage[i].fd, 0);
		/* A fork takes much longer if it copies them. */
		if (coverage[i].area == MAP_FAILED ||
		    madvise(coverage[i].area, FUZZ_AREA_WORDS * sizeof(unsigned long),
			    MADV_DONTFORK))
			die("kcov");
	}
}

static void keep_address(unsigned long address)
{
	unsigned long *larger;

	if (reached_count == reached_room) {
		reached_room = reached_room ? 2 * reached_room : 4096;
		larger = realloc(reached, reached_room * sizeof(*larger));
		if (!larger)
			die("kernel_fuzz");
		reached = larger;
	}
	reached[reached_count++] = address;
}

/* The bits of @seen that the last call of new_addresses() has found. */
static unsigned int bits[FUZZ_THREADS * FUZZ_AREA_WORDS];

/* The number of addresses of the last run that are new; with @keep they are not new any more. */
static unsigned int new_addresses(bool keep)
{
	unsigned int i, found = 0;
	unsigned long j, count;

	for (i = 0; i < FUZZ_THREADS; i++) {
		if (coverage[i].fd < 0)
			continue;
		count = __atomic_load_n(coverage[i].area, __ATOMIC_RELAXED);
		if (count >= FUZZ_AREA_WORDS)
			count = FUZZ_AREA_WORDS - 1;
		for (j = 1; j <= count; j++) {
			const unsigned int bit = coverage[i].area[j] & ((1UL << SEEN_BITS) - 1);

			if (seen[bit / 8] & 1 << bit % 8)
				continue;
			seen[bit / 8] |= 1 << bit % 8;
			bits[found++] = bit;
			if (keep)
				keep_address(coverage[i].area[j]);
		}
	}
	for (i = 0; !keep && i < found; i++)
		seen[bits[i] / 8] &= ~(1 << bits[i] % 8);
	return found;
}

static void clear_coverage(void)
{
	unsigned int i;

	for (i = 0; i < FUZZ_THREADS; i++)
		if (coverage[i].fd >= 0)
			coverage[i].area[0] = 0;
}

/* ------------------------------------------------------------------------
 * The kernel's log
 */

/* What scripts/dmesg-check searches for, as far as one run can cause it. */
static const char *const reports[] = {
	"BUG:", "WARNING:", "KASAN", "UBSAN", "Oops", "general protection", "refcount_t",
	"INFO: ", "possible circular", "possible recursive", "possible irq", "inconsistent lock",
	"suspicious RCU", "lock held when", "held lock freed", "stall", "blocked for more than",
	"ODEBUG", "corruption", "scheduling while atomic", "sleeping function", "kernel BUG",
};

static bool is_report(const char *line)
{
	unsigned int i;

	for (i = 0; i < sizeof(reports) / sizeof(reports[0]); i++)
		if (strstr(line, reports[i]))
			return true;
	return false;
}

/* Read the new messages; from the first report on, print and store them. */
static bool log_has_report(void)
{
	static FILE *log;
	char line[8192], path[PATH_MAX];
	bool found = false;
	ssize_t size;

	while ((size = read(kmsg, line, sizeof(line) - 1)) > 0 || (size < 0 && errno == EPIPE)) {
		if (size < 0)
			continue;
		line[size] = '\0';
		line[strcspn(line, "\n")] = '\0';
		found |= is_report(line);
		if (!found)
			continue;
		if (!log && work_directory) {
			snprintf(path, sizeof(path), "%s/found.log", work_directory);
			log = fopen(path, "w");
		}
		fprintf(log ? log : stderr, "%s\n",
			strchr(line, ';') ? strchr(line, ';') + 1 : line);
	}
	if (found && log)
		fflush(log);
	return found;
}

/* ------------------------------------------------------------------------
 * Running
 */

static void store(const struct fuzz_program *program, const char *directory, const char *name,
		  unsigned long number, bool sync)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s%lu", directory, name, number);
	file = fopen(path, "w");
	if (!file)
		die(path);
	fuzz_print(program, file);
	fflush(file);
	if (sync)
		fdatasync(fileno(file));
	fclose(file);
}

/* Run a program; if the kernel reports something, end. */
static void run(const struct fuzz_program *program)
{
	static unsigned long number;

	if (work_directory)
		store(program, work_directory, "last.", number++ % LAST, true);
	clear_coverage();
	run_count++;
	if (!fuzz_run(program, coverage)) {
		fprintf(stderr, "kernel_fuzz: a process does not end\n");
		fuzz_print(program, stderr);
		log_has_report();
		exit(STATUS_FOUND);
	}
	if (!log_has_report())
		return;
	fprintf(stderr, "kernel_fuzz: the kernel has reported something after\n");
	fuzz_print(program, stderr);
	exit(STATUS_FOUND);
}

/* @strict: end if it is not valid, as a program may be that an older interface has left. */
static void load(const char *path, bool strict)
{
	struct fuzz_program *program = malloc(sizeof(*program));
	FILE *file = fopen(path, "r");
	bool valid;

	if (!file || !program)
		die(path);
	valid = fuzz_parse(program, file, path);
	fclose(file);
	if (!valid && strict)
		exit(1);
	if (!valid || corpus_count == CORPUS_MAX) {
		free(program);
		return;
	}
	names[corpus_count] = strdup(strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	corpus[corpus_count++] = program;
}

static void load_corpus(void)
{
	struct dirent *entry;
	char path[PATH_MAX];
	DIR *directory;

	directory = opendir(corpus_directory);
	if (!directory)
		die(corpus_directory);
	while ((entry = readdir(directory))) {
		if (*entry->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", corpus_directory, entry->d_name);
		load(path, false);
	}
	closedir(directory);
}

/* ------------------------------------------------------------------------
 * Fuzzing
 */

static bool still_new(const struct fuzz_program *program, unsigned int least)
{
	run(program);
	return new_addresses(false) >= least;
}

/* Leave out the calls that the new addresses do not need. */
static void minimize(struct fuzz_program *program, unsigned int least)
{
	struct fuzz_program smaller;
	unsigned int i;

	for (i = program->count; i-- > 0;) {
		smaller = *program;
		smaller.count--;
		memmove(&smaller.calls[i], &smaller.calls[i + 1],
			(smaller.count - i) * sizeof(smaller.calls[0]));
		if (still_new(&smaller, least))
			*program = smaller;
	}
}

/* A program has reached something new. If it does so again, keep it. */
static void keep(struct fuzz_program *program)
{
	struct fuzz_program *kept;
	unsigned int least;

	least = new_addresses(false);
	run(program);
	if (new_addresses(false) < least) {
		/* It depends on time; do not try this one again for it. */
		least = new_addresses(true);
		if (!least)
			return;
	} else {
		minimize(program, least);
		run(program);
		new_addresses(true);
	}
	if (corpus_count == CORPUS_MAX)
		return;
	kept = malloc(sizeof(*kept));
	if (!kept)
		die("kernel_fuzz");
	*kept = *program;
	corpus[corpus_count] = kept;
	if (corpus_directory)
		store(kept, corpus_directory, "",
		      corpus_count + 1000 * (time(NULL) % 1000000), false);
	corpus_count++;
}

static void print_state(unsigned long seconds)
{
	printf("%lu s: %lu programs, %u kept, %zu instructions reached\n", seconds, run_count,
	       corpus_count, reached_count);
	fflush(stdout);
}

static void store_reached(void)
{
	char path[PATH_MAX];
	FILE *file;
	size_t i;

	if (!work_directory)
		return;
	snprintf(path, sizeof(path), "%s/covered", work_directory);
	file = fopen(path, "w");
	if (!file)
		die(path);
	for (i = 0; i < reached_count; i++)
		fprintf(file, "0x%lx\n", reached[i]);
	fclose(file);
}

static unsigned long seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static void fuzz(unsigned long seconds, __u64 seed)
{
	const unsigned long start = seconds_now();
	static const struct fuzz_program empty;
	struct fuzz_program program;
	const struct fuzz_program *other;
	unsigned long shown = start;
	unsigned int i;

	for (i = 0; i < corpus_count; i++) {
		run(corpus[i]);
		new_addresses(true);
	}
	print_state(seconds_now() - start);
	while (seconds_now() - start < seconds) {
		program = corpus_count && fuzz_random(&seed, 20) ?
			  *corpus[fuzz_random(&seed, corpus_count)] : empty;
		other = corpus_count ? corpus[fuzz_random(&seed, corpus_count)] : &empty;
		fuzz_mutate(&program, other, &seed);
		run(&program);
		if (new_addresses(false))
			keep(&program);
		if (seconds_now() - shown < 15)
			continue;
		shown = seconds_now();
		print_state(shown - start);
		store_reached();
	}
	print_state(seconds_now() - start);
	store_reached();
}

struct reached {
	unsigned int *bits;
	unsigned int count;
};

static unsigned int count_new(const struct reached *one)
{
	unsigned int i, count = 0;

	for (i = 0; i < one->count; i++)
		count += !(seen[one->bits[i] / 8] & 1 << one->bits[i] % 8);
	return count;
}

/* Each round takes the program that reaches most of what those before it have not reached. */
static void select_programs(void)
{
	struct reached *programs = calloc(corpus_count, sizeof(*programs));
	unsigned int i, best, most, count;
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/selected", work_directory);
	file = fopen(path, "w");
	if (!file || !programs)
		die(path);
	for (i = 0; i < corpus_count; i++) {
		run(corpus[i]);
		programs[i].count = new_addresses(false);
		programs[i].bits = malloc((programs[i].count + 1) * sizeof(*bits));
		if (!programs[i].bits)
			die("kernel_fuzz");
		memcpy(programs[i].bits, bits, programs[i].count * sizeof(*bits));
	}
	for (;;) {
		for (best = most = i = 0; i < corpus_count; i++) {
			count = count_new(&programs[i]);
			if (count > most) {
				most = count;
				best = i;
			}
		}
		if (!most)
			break;
		for (i = 0; i < programs[best].count; i++)
			seen[programs[best].bits[i] / 8] |= 1 << programs[best].bits[i] % 8;
		fprintf(file, "%s\n", names[best]);
		printf("%s: %u more\n", names[best], most);
	}
	fclose(file);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "corpus", required_argument, NULL, 'c' },
		{ "work", required_argument, NULL, 'w' },
		{ "seconds", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'r' },
		{ "times", required_argument, NULL, 't' },
		{ "replay", no_argument, NULL, 'p' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "select", no_argument, NULL, 'l' },
		{ 0 },
	};
	unsigned long seconds = 60, times = 1, i, j;
	__u64 seed = time(NULL);
	bool replay = false, selects = false;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0)
		switch (option) {
		case 'c':
			corpus_directory = optarg;
			break;
		case 'w':
			work_directory = optarg;
			break;
		case 's':
			seconds = strtoul(optarg, NULL, 10);
			break;
		case 'r':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 't':
			times = strtoul(optarg, NULL, 10);
			break;
		case 'p':
			replay = true;
			break;
		case 'v':
			fuzz_verbose = true;
			break;
		case 'l':
			selects = true;
			break;
		default:
			fputs(usage_text, stderr);
			return 1;
		}
	if (replay != (optind < argc) || (selects && !(corpus_directory && work_directory))) {
		fputs(usage_text, stderr);
		return 1;
	}
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (kmsg < 0)
		die("/dev/kmsg");
	lseek(kmsg, 0, SEEK_END);
	open_coverage();
	if (corpus_directory && !replay)
		load_corpus();
	for (i = optind; i < (unsigned long)argc; i++)
		load(argv[i], true);
	if (selects) {
		select_programs();
		return 0;
	}
	if (!replay) {
		printf("seed 0x%llx\n", seed);
		fuzz(seconds, seed | 1);
		return 0;
	}
	for (i = 0; i < corpus_count; i++)
		for (j = 0; j < times; j++) {
			run(corpus[i]);
			new_addresses(true);
		}
	print_state(0);
	store_reached();
	return 0;
}
