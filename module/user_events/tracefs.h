/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files in the top directory of tracefs, like those that tracefs makes itself: with its
 * owner, its group and the modes of its other files.
 *
 * They are made at load and removed at unload only; there are no locks.
 */
#ifndef EVENTLOG_USER_EVENTS_TRACEFS_H
#define EVENTLOG_USER_EVENTS_TRACEFS_H

#include <linux/types.h>

struct dentry;
struct file_operations;

/**
 * ue_tracefs_pin() - keep tracefs from going away
 *
 * Return: 0, or an errno: the kernel has no tracefs.
 */
int ue_tracefs_pin(void);

/**
 * ue_tracefs_unpin() - end ue_tracefs_pin()
 */
void ue_tracefs_unpin(void);

/**
 * ue_tracefs_find() - look up a file
 * @name: its name
 *
 * Return: the dentry, which may have no inode, for dput(); or ERR_PTR.
 */
struct dentry *ue_tracefs_find(const char *name);

/**
 * ue_tracefs_make() - make a file
 * @name: its name
 * @mode: its permissions
 * @operations: of this module, if the load cannot fail any more: a file that is open does not
 *	keep a module whose load fails; or simple_dir_operations, until ue_tracefs_open()
 *
 * Return: the dentry, for ue_tracefs_remove(); or ERR_PTR: -EEXIST, -ENOMEM.
 */
struct dentry *ue_tracefs_make(const char *name, umode_t mode,
			       const struct file_operations *operations);

/**
 * ue_tracefs_open() - change what those get who open a file from now on
 * @dentry: of ue_tracefs_make()
 * @operations: of the file
 */
void ue_tracefs_open(struct dentry *dentry, const struct file_operations *operations);

/**
 * ue_tracefs_remove() - remove a file that is not open
 * @dentry: of ue_tracefs_make(), or NULL
 *
 * Afterwards call ue_tracefs_settle() once.
 */
void ue_tracefs_remove(struct dentry *dentry);

/**
 * ue_tracefs_settle() - wait for tasks that are opening a file
 *
 * A task that has just found the operations of an inode has not pinned the module yet.
 * It does not sleep in between.
 */
void ue_tracefs_settle(void);

#endif /* EVENTLOG_USER_EVENTS_TRACEFS_H */
