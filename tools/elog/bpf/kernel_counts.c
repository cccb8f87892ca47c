// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events counted in the kernel: see kernel_counts.h.
 *
 * The BPF program counts all enabled events by descriptor; the options select from
 * these counts here. Definitions that are new when the BPF map is full are counted
 * together.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/kernel_counts.h"

#ifdef ELOG_BPF_PROGRAMS

#include <bpf/bpf.h>
#include <stat.skel.h>

#include "../bpf/stat.h"

#define TRACEPOINT	"eventlog_emit"

/* Each takes 168 bytes on each CPU. */
#define DEFINITIONS_MIN	4096
#define DEFINITIONS_MAX	65535

_Static_assert(STAT_SIZES == COUNTERS_SIZES, "the program and the counters count alike");

struct kernel_counts {
	struct live *live;
	struct selection *selection;
	struct stat_bpf *program;
	struct stat_counts *values;	/* of one definition, by CPU */
	unsigned int cpus;
};

static uint32_t definitions_expected(void)
{
	struct eventlog_info info = { .size = sizeof(info) };
	int fd = elog_device_open(NULL);

	if (fd >= 0) {
		/* On failure the counts stay 0. */
		elog_device_info(fd, &info);
		close(fd);
	}
	if (info.events < DEFINITIONS_MIN / 2)
		return DEFINITIONS_MIN;
	return info.events < DEFINITIONS_MAX / 2 ? 2 * info.events : DEFINITIONS_MAX;
}

static int print_libbpf(enum libbpf_print_level level, const char *format,
			va_list arguments)
{
	return level == LIBBPF_DEBUG ? 0 : vfprintf(stderr, format, arguments);
}

static void explain(const char *what, int error)
{
	char text[128];

	libbpf_strerror(error, text, sizeof(text));
	elog_error("%s: %s", what, text);
	if (error == -EPERM)
		elog_hint("run elog as root: BPF programs need CAP_BPF and CAP_PERFMON");
}

static int load(struct kernel_counts *counts)
{
	int ret;

	counts->program = stat_bpf__open();
	if (!counts->program)
		return -errno;
	ret = bpf_map__set_max_entries(counts->program->maps.counts,
				       definitions_expected());
	return ret ? ret : stat_bpf__load(counts->program);
}

static int attach(struct kernel_counts *counts)
{
	int ret = stat_bpf__attach(counts->program);

	if (ret == -ENOENT) {
		elog_error("there is no tracepoint " TRACEPOINT);
		elog_hint("the kernel module is older than elog, or the kernel has no tracepoints");
	} else if (ret) {
		explain("cannot attach to the tracepoint " TRACEPOINT, ret);
	}
	return ret;
}

int kernel_counts_open(struct kernel_counts **result, struct live *live)
{
	struct kernel_counts *counts = calloc(1, sizeof(*counts));
	int ret;

	*result = counts;
	if (!counts) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	counts->live = live;
	ret = selection_open(&counts->selection, live->spec, false, false);
	if (ret)
		return ret;
	libbpf_set_print(live->settings->verbose ? print_libbpf : NULL);
	ret = libbpf_num_possible_cpus();
	if (ret > 0) {
		counts->cpus = (unsigned int)ret;
		counts->values = calloc(counts->cpus, sizeof(*counts->values));
		ret = counts->values ? load(counts) : -ENOMEM;
	}
	if (ret) {
		explain("cannot load the BPF program", ret);
		return ret;
	}
	return attach(counts);
}

void kernel_counts_close(struct kernel_counts *counts)
{
	if (!counts)
		return;
	stat_bpf__destroy(counts->program);
	selection_close(counts->selection);
	free(counts->values);
	free(counts);
}

static void add_counts(struct stat_counts *sum, const struct stat_counts *counts)
{
	unsigned int i;

	sum->events += counts->events;
	sum->bytes += counts->bytes;
	if (counts->last > sum->last)
		sum->last = counts->last;
	for (i = 0; i < STAT_SIZES; i++)
		sum->sizes[i] += counts->sizes[i];
}

static int add_to_counters(struct counters *counters, struct entry *entry,
			   const struct stat_counts *counts)
{
	uint64_t sizes[STAT_SIZES];
	struct counter_totals many = {
		.events = counts->events, .bytes = counts->bytes, .sizes = sizes,
	};
	unsigned int i;

	if (!counts->events)
		return 0;
	for (i = 0; i < STAT_SIZES; i++)
		sizes[i] = counts->sizes[i];
	entry->item.time = counts->last;
	return counters_add_counts(counters, entry, &many);
}

/* Add the values of the selected CPUs. */
static int take_values(struct kernel_counts *counts, struct counters *counters,
		       struct entry *entry)
{
	const struct selection_spec *spec = counts->live->spec;
	struct stat_counts sum = { 0 };
	unsigned int cpu;
	int ret;

	for (cpu = 0; cpu < counts->cpus; cpu++) {
		if (!number_matches(&spec->cpus, cpu))
			continue;
		if (counters->by != COUNTERS_BY_CPU) {
			add_counts(&sum, &counts->values[cpu]);
			continue;
		}
		entry->item.cpu = cpu;
		ret = add_to_counters(counters, entry, &counts->values[cpu]);
		if (ret)
			return ret;
	}
	return add_to_counters(counters, entry, &sum);
}

static int take_definition(struct kernel_counts *counts, struct counters *counters,
			   uint32_t descriptor, int64_t wall_offset)
{
	const struct elog_schema_event *event;
	struct cached_event cached = { 0 };
	struct entry entry = {
		.item = { .type = ELOG_ITEM_EVENT, .descriptor = descriptor },
		.cached = &cached,
		.wall_offset = wall_offset,
	};
	int ret;

	if (elog_consumer_describe(counts->live->consumer, descriptor, &event))
		event = NULL;
	ret = selection_bind(counts->selection, event, event, &cached);
	if (!ret && cached.selected)
		ret = take_values(counts, counters, &entry);
	selection_unbind(counts->selection, &cached);
	return ret;
}

static int take_others(struct kernel_counts *counts, struct counters *counters,
		       int64_t wall_offset)
{
	struct entry entry = {
		.item = { .type = ELOG_ITEM_EVENT }, .wall_offset = wall_offset,
	};
	const uint32_t zero = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(counts->program->maps.others), &zero,
				counts->values))
		return -errno;
	return take_values(counts, counters, &entry);
}

/* How often the kernel skipped the program, because the CPU was running it already. */
static int read_missed(struct kernel_counts *counts, struct counters *counters)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(counts->program->progs.count),
				   &info, &size))
		return -errno;
	counters->lost[EVENTLOG_LOST_NESTED] = info.recursion_misses;
	counters->total.lost = info.recursion_misses;
	return 0;
}

int kernel_counts_read(struct kernel_counts *counts, struct counters *counters)
{
	int fd = bpf_map__fd(counts->program->maps.counts), ret;
	const int64_t offset = wall_offset();
	uint32_t descriptor, *before = NULL;

	counters_restart(counters);
	/* Keys are never removed, so each key leads to the next one. */
	while (!bpf_map_get_next_key(fd, before, &descriptor)) {
		before = &descriptor;
		if (bpf_map_lookup_elem(fd, &descriptor, counts->values))
			return -errno;
		ret = take_definition(counts, counters, descriptor, offset);
		if (ret)
			return ret;
	}
	if (errno != ENOENT)
		return -errno;
	ret = take_others(counts, counters, offset);
	return ret ? ret : read_missed(counts, counters);
}

#else

int kernel_counts_open(struct kernel_counts **counts, struct live *live)
{
	(void)live;
	*counts = NULL;
#ifdef ELOG_BPF
	elog_error("this elog was built without clang or bpftool: it has no BPF programs");
#else
	elog_error("this elog was built without libbpf");
#endif
	return -EOPNOTSUPP;
}

void kernel_counts_close(struct kernel_counts *counts)
{
	(void)counts;
}

int kernel_counts_read(struct kernel_counts *counts, struct counters *counters)
{
	(void)counts;
	(void)counters;
	return -EOPNOTSUPP;
}

#endif /* ELOG_BPF_PROGRAMS */
