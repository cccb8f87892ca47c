// SPDX-License-Identifier: GPL-2.0-only
/*
 * For bpf.bats: a program that loads only if the kernel module has BTF.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

__u64 events;

SEC("tp_btf/eventlog_emit")
int typed(__u64 *arguments)
{
	__sync_fetch_and_add(&events, 1);
	return 0;
}

char program_license[] SEC("license") = "GPL";
