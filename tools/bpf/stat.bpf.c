// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog stat --bpf: counts every enabled event by its definition, in any context.
 * Preemption is off, so only one CPU writes a CPU's counts; additions are atomic because
 * an interrupt may come in between.
 *
 * bpf_probe_read_kernel() reads the argument, so the program needs no types (BTF) of the
 * kernel module.
 */
#include <linux/bpf.h>
#include <linux/eventlog.h>

#include <bpf/bpf_helpers.h>

#include "stat.h"

/* By descriptor. The size is set before the program is loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stat_counts);
} counts SEC(".maps");

/* Events that @counts has no room for, or that came while it was locked. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stat_counts);
} others SEC(".maps");

/*
 * Return: 0 for 0 bytes, else one more than the binary logarithm. With 64 bits, the same
 * register is compared and used as an index, which the verifier needs to see the limit.
 */
static __always_inline __u64 size_index(__u64 bytes)
{
	__u64 index = 0;

	if (bytes >> 16) {
		index += 16;
		bytes >>= 16;
	}
	if (bytes >> 8) {
		index += 8;
		bytes >>= 8;
	}
	if (bytes >> 4) {
		index += 4;
		bytes >>= 4;
	}
	if (bytes >> 2) {
		index += 2;
		bytes >>= 2;
	}
	if (bytes >> 1) {
		index++;
		bytes >>= 1;
	}
	index += bytes;
	return index < STAT_SIZES ? index : STAT_SIZES - 1;
}

static __always_inline struct stat_counts *find_counts(__u32 descriptor)
{
	struct stat_counts none = {}, *found;
	__u32 zero = 0;

	found = bpf_map_lookup_elem(&counts, &descriptor);
	if (found)
		return found;
	/* If another CPU was faster, the entry exists anyway. */
	bpf_map_update_elem(&counts, &descriptor, &none, BPF_NOEXIST);
	found = bpf_map_lookup_elem(&counts, &descriptor);
	return found ? found : bpf_map_lookup_elem(&others, &zero);
}

SEC("raw_tp/eventlog_emit")
int count(struct bpf_raw_tracepoint_args *arguments)
{
	struct eventlog_emitted emitted;
	struct stat_counts *found;

	if (bpf_probe_read_kernel(&emitted, sizeof(emitted),
				  (const void *)arguments->args[0]))
		return 0;
	found = find_counts(emitted.descriptor);
	if (!found)
		return 0;
	__sync_fetch_and_add(&found->events, 1);
	__sync_fetch_and_add(&found->bytes, (emitted.bytes + 7) & ~7U);
	__sync_fetch_and_add(&found->sizes[size_index(emitted.bytes)], 1);
	found->last = emitted.time;
	return 0;
}

char program_license[] SEC("license") = "GPL";
