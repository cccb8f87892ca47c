// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog stat --bpf: counts every event that somebody wants, by definition, where it
 * is emitted. Any context: preemption is off, so a CPU's counts are written by
 * that CPU alone, but an interrupt may come in between; hence the atomic additions.
 *
 * The argument is read through bpf_probe_read_kernel(): what the kernel module's
 * structs are called need not be known to the kernel (BTF).
 */
#include <linux/bpf.h>
#include <linux/eventlog.h>

#include <bpf/bpf_helpers.h>

#include "stat.h"

/* By descriptor. Its size is set when it is loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stat_counts);
} counts SEC(".maps");

/* What there was no room for, or what came while the table was locked. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stat_counts);
} others SEC(".maps");

/*
 * 0, then one more than the binary logarithm. In 64 bits, so that it is one register
 * that is compared and used: else the verifier does not see what the last line is for.
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
	/* Another CPU may be faster: then it is there all the same. */
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
