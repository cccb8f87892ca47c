// SPDX-License-Identifier: GPL-2.0-only
/*
 * For bpf.bats: what a program on the tracepoint eventlog_emit gets of an event.
 */
#include <linux/bpf.h>
#include <linux/eventlog.h>

#include <bpf/bpf_helpers.h>

struct record {
	__u64 session;
	__u64 keywords;
	__u32 pid;
	__u32 bytes;
	__u32 read;
	__u32 level;
	__u32 context;
	__u32 first;
	char text[12];
};

/* The first event, and how many there were of each level. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct record);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u64);
} levels SEC(".maps");

__u64 events;

static void keep(const struct eventlog_emitted *event, const void *payload, __u64 read)
{
	const __u32 zero = 0;
	struct record *record = bpf_map_lookup_elem(&records, &zero);

	if (!record)
		return;
	record->session = event->session;
	record->keywords = event->keywords;
	record->pid = event->pid;
	record->bytes = event->bytes;
	record->read = (__u32)read;
	record->level = event->level;
	record->context = event->context;
	if (event->bytes >= 4)
		bpf_probe_read_kernel(&record->first, 4, payload);
	if (event->bytes >= 16)
		bpf_probe_read_kernel(record->text, sizeof(record->text), payload + 4);
}

SEC("raw_tp/eventlog_emit")
int emitted(struct bpf_raw_tracepoint_args *arguments)
{
	const __u64 one = 1;
	struct eventlog_emitted event;
	__u32 level;
	__u64 *count;

	if (bpf_probe_read_kernel(&event, sizeof(event), (const void *)arguments->args[0]))
		return 0;
	if (!__sync_fetch_and_add(&events, 1))
		keep(&event, (const void *)arguments->args[1], arguments->args[2]);
	level = event.level;
	count = bpf_map_lookup_elem(&levels, &level);
	if (count)
		__sync_fetch_and_add(count, 1);
	else
		bpf_map_update_elem(&levels, &level, &one, BPF_NOEXIST);
	return 0;
}

char program_license[] SEC("license") = "GPL";
