// SPDX-License-Identifier: GPL-2.0-only
/*
 * For bpf.bats: programs on trace events. One names its event, the other is attached
 * to those that the command line gives.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

/* The layout that "format" shows for an event whose first field is "u32 number". */
struct numbered {
	__u64 common;
	__u64 session;
	__u32 number;
} __attribute__((packed));

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, __u64);
} sessions SEC(".maps");

__u64 named;
__u64 any;

SEC("tp/eventlog_made/one")
int on_one(struct numbered *event)
{
	__sync_fetch_and_add(&named, event->number);
	return 0;
}

SEC("tp")
int on_any(struct numbered *event)
{
	const __u64 session = event->session, number = event->number;
	__u64 *sum;

	__sync_fetch_and_add(&any, 1);
	sum = bpf_map_lookup_elem(&sessions, &session);
	if (sum)
		__sync_fetch_and_add(sum, number);
	else
		bpf_map_update_elem(&sessions, &session, &number, BPF_NOEXIST);
	return 0;
}

char program_license[] SEC("license") = "GPL";
