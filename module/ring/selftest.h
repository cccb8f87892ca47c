/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A short self-test of the ring buffer, run when the module is loaded: it detects a
 * module that does not work on this kernel or was compiled incorrectly.
 */
#ifndef EVENTLOG_SELFTEST_H
#define EVENTLOG_SELFTEST_H

/**
 * eventlog_ring_selftest() - test writing, nesting, losing and reading with a small ring
 *
 * Takes some tens of microseconds.
 *
 * Context: process context.
 *
 * Return: 0; -ENOMEM; -EIO: a test failed, the kernel log says which, and the module
 * must not be used.
 */
int eventlog_ring_selftest(void);

#endif /* EVENTLOG_SELFTEST_H */
