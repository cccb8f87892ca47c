// SPDX-License-Identifier: GPL-2.0-only
/*
 * For bpf.bats: a program on the tracepoint eventlog_emit that writes each event to a
 * ring buffer and counts events in maps of several types.
 */
#include <linux/bpf.h>
#include <linux/eventlog.h>

#include <bpf/bpf_helpers.h>

enum size_class {
	SMALL,
	LARGE,
};

struct record {
	__u64 session;
	__u64 keywords;
	__u32 pid;
	__u32 bytes;
	__u32 read;
	__s16 negative;
	__u8 level;
	_Bool is_task;
	enum size_class size;
	union {
		__u32 first;
		__u8 octets[4];
	};
	unsigned int low : 4;
	unsigned int high : 4;
	char text[12];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
	__type(value, struct record);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 12);
} untyped SEC(".maps");

struct place {
	__u32 pid;
	__u8 level;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, struct place);
	__type(value, __u64);
} places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u64);
} levels SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, 3);
} untold SEC(".maps");

__u64 events;
double share = 0.5;
const volatile __u32 constant = 7;

SEC("raw_tp/eventlog_emit")
int emitted(struct bpf_raw_tracepoint_args *arguments)
{
	const void *payload = (const void *)arguments->args[1];
	const __u64 one = 1;
	struct eventlog_emitted event;
	struct record *record;
	struct place place = {};
	__u64 *count;
	__u32 index;

	if (bpf_probe_read_kernel(&event, sizeof(event), (const void *)arguments->args[0]))
		return 0;
	__sync_fetch_and_add(&events, 1);

	place.pid = constant;
	place.level = event.level;
	count = bpf_map_lookup_elem(&places, &place);
	if (count)
		__sync_fetch_and_add(count, 1);
	else
		bpf_map_update_elem(&places, &place, &one, BPF_NOEXIST);

	index = event.level;
	count = bpf_map_lookup_elem(&levels, &index);
	if (count)
		*count += 1;

	bpf_ringbuf_output(&untyped, &event.bytes, sizeof(event.bytes), 0);

	record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
	if (!record)
		return 0;
	__builtin_memset(record, 0, sizeof(*record));
	record->session = event.session;
	record->keywords = event.keywords;
	record->pid = event.pid;
	record->bytes = event.bytes;
	record->read = (__u32)arguments->args[2];
	record->negative = -2;
	record->level = event.level;
	record->is_task = event.context == EVENTLOG_CONTEXT_TASK;
	record->size = event.bytes < 16 ? SMALL : LARGE;
	record->low = 3;
	record->high = 12;
	if (event.bytes >= 4)
		bpf_probe_read_kernel(&record->first, 4, payload);
	if (event.bytes >= 16)
		bpf_probe_read_kernel(record->text, sizeof(record->text), payload + 4);
	bpf_ringbuf_submit(record, 0);
	return 0;
}

char program_license[] SEC("license") = "GPL";
