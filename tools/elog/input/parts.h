/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files that elog capture --writers writes at the same time. No state.
 */
#ifndef PARTS_H
#define PARTS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct file_list - names of files
 * @names: the names
 * @count: number of names
 * @incomplete: a file is missing; it was reported
 */
struct file_list {
	char **names;
	size_t count;
	bool incomplete;
};

/**
 * parts_name() - get the name of one of the files
 * @name: the first file
 * @part: its number; 0: the first file
 *
 * Return: the name, which the caller frees; NULL: no memory.
 */
char *parts_name(const char *name, unsigned int part);

/**
 * parts_find() - find the other files of captures with several writers
 * @list: all zeros before; filled in with @names, each followed by its other files
 * @names: files; "-" is the standard input, which is not read
 * @count: number of files
 *
 * A file that is in @names, and also one of the other files, is listed once.
 *
 * Return: 0 or -ENOMEM.
 */
int parts_find(struct file_list *list, char *const *names, int count);

/**
 * parts_remove() - remove the other files of a capture whose first file is replaced
 * @name: the first file; nothing is done if it is no file of elog, or cannot be
 *	written
 * @first: the number of the first one to remove, at least 1; the new capture has the others
 *
 * Otherwise a user would take them for files of the new capture, for example with FILE*.
 */
void parts_remove(const char *name, unsigned int first);

/**
 * parts_rename() - rename the other files of a capture whose first file was renamed
 * @first_name: the first file, by its new name; nothing is done if it is no file of elog
 * @name: its name before
 * @first: as for parts_remove()
 */
void parts_rename(const char *first_name, const char *name, unsigned int first);

/** parts_free() - free the names */
void parts_free(struct file_list *list);

#endif /* PARTS_H */
