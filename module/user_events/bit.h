/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes a bit in the memory of a process.  No state, no locks of its own.
 */
#ifndef EVENTLOG_USER_EVENTS_BIT_H
#define EVENTLOG_USER_EVENTS_BIT_H

#include <linux/types.h>

struct ue_bit;
struct mm_struct;

/**
 * ue_bit_write() - set or clear a bit, without a page fault
 * @mm: the address space; its mmap_lock is held
 * @bit: which one
 * @set: set it
 * @look: do not write to the page if the bit has that value already, because it may be
 *	shared with another process
 *
 * Return: 0; -EFAULT: the page is missing or shared; -EAGAIN: the page is locked.
 */
int ue_bit_write(struct mm_struct *mm, const struct ue_bit *bit, bool set, bool look);

/**
 * ue_bit_fault_in() - make the page of a bit writable
 * @mm: the address space; its mmap_lock is held
 * @bit: which one
 *
 * Return: 0 or -EFAULT.
 */
int ue_bit_fault_in(struct mm_struct *mm, const struct ue_bit *bit);

#endif /* EVENTLOG_USER_EVENTS_BIT_H */
