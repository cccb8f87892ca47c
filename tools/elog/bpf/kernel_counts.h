/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events counted in the kernel by a BPF program, for elog stat --bpf.
 */
#ifndef KERNEL_COUNTS_H
#define KERNEL_COUNTS_H

#include "input/live.h"
#include "input/counters.h"

struct kernel_counts;

/**
 * kernel_counts_open() - start counting
 * @counts: set to the new counts
 * @live: its rules keep events enabled; outlives @counts
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int kernel_counts_open(struct kernel_counts **counts, struct live *live);

/** kernel_counts_close() - end counting, free; NULL is allowed */
void kernel_counts_close(struct kernel_counts *counts);

/**
 * kernel_counts_read() - fill counters with all there is so far
 * @counts: of -e, -k, -l and -C
 * @counters: by event, provider or cpu
 *
 * An event that an interrupt emits while another one is being counted on the same CPU
 * is lost; the cause is "nested".
 *
 * Return: 0 or a negative errno.
 */
int kernel_counts_read(struct kernel_counts *counts, struct counters *counters);

#endif /* KERNEL_COUNTS_H */
