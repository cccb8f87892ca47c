/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A quick look, at load, whether the ring as compiled for this kernel works.
 */
#ifndef EVENTLOG_SELFTEST_H
#define EVENTLOG_SELFTEST_H

/**
 * eventlog_ring_selftest() - write, nest, fill, lose, wrap and read back a small ring
 *
 * Process context, some tens of microseconds.
 *
 * Return: 0, -ENOMEM, or -EIO when the ring misbehaves: then a line in the
 * kernel log says how, and the module must not be used.
 */
int eventlog_ring_selftest(void);

#endif /* EVENTLOG_SELFTEST_H */
