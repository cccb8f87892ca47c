/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes a bit in the memory of a process.  No state, no locks of its own.
 */
#ifndef EVENTLOG_USER_EVENTS_BIT_H
#define EVENTLOG_USER_EVENTS_BIT_H

#include <linux/types.h>

struct eventlog_ue_bit;
struct mm_struct;

/**
 * eventlog_ue_bit_write() - set or clear a bit, without a page fault
 * @mm: the memory; its lock is held
 * @bit: which one
 * @set: set it
 * @look: do not write to the page if the bit has that value already, because it may be
 *	shared with another process
 *
 * Return: 0; -EFAULT: the page is missing or shared; -EAGAIN: the page is locked.
 */
int eventlog_ue_bit_write(struct mm_struct *mm, const struct eventlog_ue_bit *bit, bool set,
			  bool look);

/**
 * eventlog_ue_bit_fault_in() - make the page of a bit writable
 * @mm: the memory; its lock is held
 * @bit: which one
 *
 * Return: 0 or -EFAULT.
 */
int eventlog_ue_bit_fault_in(struct mm_struct *mm, const struct eventlog_ue_bit *bit);

#endif /* EVENTLOG_USER_EVENTS_BIT_H */
