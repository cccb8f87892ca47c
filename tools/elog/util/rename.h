/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Renaming files. No state.
 */
#ifndef RENAME_H
#define RENAME_H

/**
 * rename_new() - rename a file, but replace none
 * @from: its name
 * @to: the new one
 *
 * A file system may be unable to do this at once: then a file that gets the name at the same time
 * is replaced.
 *
 * Return: 0; -EEXIST: @to is there; or another negative errno.
 */
int rename_new(const char *from, const char *to);

#endif /* RENAME_H */
