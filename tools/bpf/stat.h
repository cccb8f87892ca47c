/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts of the BPF program of elog stat --bpf, for the program and for elog.
 */
#ifndef BPF_STAT_H
#define BPF_STAT_H

#include <linux/types.h>

/* Payloads of 0 bytes, 1, 2 to 3, 4 to 7, ..., up to 65536, the maximum. */
#define STAT_SIZES	18

/**
 * struct stat_counts - counts of one definition on one CPU
 * @events: number of events
 * @bytes: bytes of payloads, each rounded up to a multiple of 8 as in records
 * @last: time of the last event, CLOCK_MONOTONIC ns
 * @sizes: numbers of events by the size of their payloads
 */
struct stat_counts {
	__u64 events;
	__u64 bytes;
	__u64 last;
	__u64 sizes[STAT_SIZES];
};

#endif /* BPF_STAT_H */
