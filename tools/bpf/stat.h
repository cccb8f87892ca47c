/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the BPF program of elog stat --bpf counts, as both sides see it.
 */
#ifndef BPF_STAT_H
#define BPF_STAT_H

#include <linux/types.h>

/* Payloads of 0 bytes, of 1, 2 to 3, 4 to 7, ...; 65536, the most, is the last. */
#define STAT_SIZES	18

/**
 * struct stat_counts - counts of one definition on one CPU
 * @events: how many
 * @bytes: of payloads, each rounded up to a multiple of 8, as records have them
 * @last: time of the last one, CLOCK_MONOTONIC ns
 * @sizes: events by the size of their payloads
 */
struct stat_counts {
	__u64 events;
	__u64 bytes;
	__u64 last;
	__u64 sizes[STAT_SIZES];
};

#endif /* BPF_STAT_H */
