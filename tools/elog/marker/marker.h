/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Markers of kernel modules, as the device tells of them; of programs, and of files;
 * and sets of those of modules, as elog marker save writes them. Belongs to its
 * caller.
 */
#ifndef MARKER_H
#define MARKER_H

#include "marker/marker_policy.h"
#include "util/tool.h"

#define MARKER_HANDLERS	(EVENTLOG_MARKER_PRINT | EVENTLOG_MARKER_TRACE | EVENTLOG_MARKER_PROBE)

/* What a marker is part of. */
enum marker_owner {
	MARKER_OF_MODULE,
	MARKER_OF_PROGRAM,
	MARKER_OF_FILE,
};

/**
 * struct marker - a marker, as it was when asked for
 * @next: what MARKER_NEXT said; of a program or a file, as far as it is known
 * @owner: what it is part of
 * @module: the name of that
 * @tag: its tag
 * @event: what its event is called; NULL: not known; of programs and files
 * @fields: types and names, "; " between, or NULL: likewise
 * @pid: of a program's: a process that has it
 * @pids: numbers of all such processes, with commas between; NULL: @pid only
 * @path: its source file
 * @function: where it is
 * @place: path:function:ordinal
 * @predicate: of which hits its handlers are called, or NULL: of all
 * @taken: something has been found to belong to it
 */
struct marker {
	struct eventlog_marker_next next;
	enum marker_owner owner;
	char *module;
	char *tag;
	char *event;
	char *fields;
	char *pids;
	pid_t pid;
	char *path;
	char *function;
	char *place;
	char *predicate;
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

/** marker_free() - free what a marker has */
void marker_free(struct marker *marker);

/** markers_free() - free what a list has */
void markers_free(struct marker_list *list);

/** markers_add() - append a marker, zeroed, which its caller fills in; NULL: no memory */
struct marker *markers_add(struct marker_list *list);

/**
 * markers_read_file() - append the markers of a file
 * @name: of the file
 * @list: to be freed in any case
 *
 * Return: 0; what file_markers_read() returns; or another negative errno.
 */
int markers_read_file(const char *name, struct marker_list *list);

/**
 * markers_read_programs() - append the markers of programs that run
 * @fd: the device
 * @list: has those of modules; to be freed in any case
 * @hidden: set to how many processes may not be looked into, if some might explain
 *	what no other does
 *
 * Of those that the kernel knows, but that are of no process which may be looked
 * into, path and function are empty and the place is "-".
 *
 * Return: 0 or a negative errno.
 */
int markers_read_programs(int fd, struct marker_list *list, size_t *hidden);

/** markers_handlers_put() - append "print,trace", or "-" */
void markers_handlers_put(struct elog_text *text, uint32_t handlers);

/** markers_handlers_put_json() - append a member of that name, a list, and the comma before */
void markers_handlers_put_json(struct elog_text *text, const char *name, uint32_t handlers);

/** markers_handlers_parse() - understand that; false if it is nothing of the kind */
bool markers_handlers_parse(const char *text, uint32_t *handlers);

/**
 * markers_save() - write a set to a file, that of this name being replaced by it
 * @list: the set
 * @policies: and policies for programs
 * @name: of the file
 *
 * Return: 0 or a negative errno.
 */
int markers_save(const struct marker_list *list, const struct policy_list *policies,
		 const char *name);

/**
 * markers_load() - read a set from a file
 * @list: empty; of each marker module, tag, place, predicate, id and handlers are
 *	filled in
 * @policies: empty
 * @name: of the file
 * @line: set to the line that is wrong
 *
 * Return: 0; -EINVAL: it is no such file, or not all of it is there; or another
 * negative errno.
 */
int markers_load(struct marker_list *list, struct policy_list *policies, const char *name,
		 unsigned int *line);

#endif /* MARKER_H */
