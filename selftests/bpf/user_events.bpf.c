// SPDX-License-Identifier: GPL-2.0-only
/*
 * For bpf.bats: a program on a trace event of user_events that has an eventheader.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

/* The fields, behind the header that every trace event has. */
struct eventheader_record {
	__u64 common;
	__u8 flags;
	__u8 version;
	__u16 id;
	__u16 tag;
	__u8 opcode;
	__u8 level;
};

unsigned int records;
unsigned int ids;
unsigned int levels;

SEC("tp")
int sum(const struct eventheader_record *record)
{
	__sync_fetch_and_add(&records, 1);
	__sync_fetch_and_add(&ids, record->id);
	__sync_fetch_and_add(&levels, record->level);
	/* After 0, perf does not get the event. */
	return 1;
}

char program_license[] SEC("license") = "GPL";
