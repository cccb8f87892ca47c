/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Markers of kernel modules, as the device tells of them; and sets of them, as
 * elog marker save writes them. Belongs to its caller.
 */
#ifndef MARKER_H
#define MARKER_H

#include "tool.h"

#define MARKER_HANDLERS	(EVENTLOG_MARKER_PRINT | EVENTLOG_MARKER_TRACE | EVENTLOG_MARKER_PROBE)

/**
 * struct marker - a marker, as it was when asked for
 * @next: what MARKER_NEXT said
 * @module: its module
 * @tag: its tag
 * @path: its source file
 * @function: where it is
 * @place: path:function:ordinal
 * @taken: something has been found to belong to it
 */
struct marker {
	struct eventlog_marker_next next;
	char *module;
	char *tag;
	char *path;
	char *function;
	char *place;
	bool taken;
};

/**
 * struct marker_list - markers
 * @count: of @markers
 * @markers: in the order of their modules' coming
 */
struct marker_list {
	size_t count;
	struct marker *markers;
};

/**
 * markers_read() - ask for all markers there are
 * @fd: the device
 * @list: empty; filled in, to be freed with markers_free() in any case
 *
 * Return: 0 or a negative errno.
 */
int markers_read(int fd, struct marker_list *list);

/** markers_free() - free what a list has */
void markers_free(struct marker_list *list);

/** markers_handlers_put() - append "print,trace", or "-" */
void markers_handlers_put(struct elog_text *text, uint32_t handlers);

/** markers_handlers_parse() - understand that; false if it is nothing of the kind */
bool markers_handlers_parse(const char *text, uint32_t *handlers);

/**
 * markers_save() - write a set to a file, that of this name being replaced by it
 * @list: the set
 * @name: of the file
 *
 * Return: 0 or a negative errno.
 */
int markers_save(const struct marker_list *list, const char *name);

/**
 * markers_load() - read a set from a file
 * @list: empty; of each marker module, tag, place, id and handlers are filled in
 * @name: of the file
 * @line: set to the line that is wrong
 *
 * Return: 0; -EINVAL: it is no such file, or not all of it is there; or another
 * negative errno.
 */
int markers_load(struct marker_list *list, const char *name, unsigned int *line);

#endif /* MARKER_H */
