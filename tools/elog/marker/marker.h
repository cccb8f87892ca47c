/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Markers of kernel modules, of running programs and of files, and saved sets of the
 * markers of modules. A list of markers belongs to its caller.
 */
#ifndef MARKER_H
#define MARKER_H

#include "marker/marker_policy.h"
#include "util/tool.h"

#define MARKER_HANDLERS	(EVENTLOG_MARKER_PRINT | EVENTLOG_MARKER_TRACE | EVENTLOG_MARKER_PROBE)

/* The kind of object that contains a marker. */
enum marker_owner {
	MARKER_OF_MODULE,
	MARKER_OF_PROGRAM,
	MARKER_OF_FILE,
};

/**
 * struct marker - a marker and its state at the time of reading
 * @next: the result of MARKER_NEXT; of a program or a file, members that are known
 * @owner: the kind of object that contains it
 * @module: the name of the module, program or file
 * @tag: its tag
 * @event: name of its event, of programs and files; NULL: unknown
 * @fields: types and names, separated by "; "; NULL: unknown
 * @pid: a process of the program
 * @pids: ids of all such processes, separated by commas; NULL: only @pid
 * @path: its source file
 * @function: its function
 * @place: path:function:ordinal
 * @predicate: its handlers run if this is true; NULL: always
 * @has_session: its events have sessions, as known from the file
 * @incompatible: a policy's filter applies that the program cannot evaluate
 * @taken: a saved marker was matched with it
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
	bool has_session;
	bool incompatible;
	bool taken;
};

/**
 * struct marker_list - markers
 * @count: of @markers
 * @markers: in the order in which their modules were loaded
 */
struct marker_list {
	size_t count;
	struct marker *markers;
};

/**
 * markers_read() - read all markers of modules
 * @fd: the device
 * @list: empty; filled in; call markers_free() also after an error
 *
 * Return: 0 or a negative errno.
 */
int markers_read(int fd, struct marker_list *list);

/** marker_free() - free the strings of a marker */
void marker_free(struct marker *marker);

/** markers_free() - free the markers of a list */
void markers_free(struct marker_list *list);

/** markers_add() - append a zeroed marker for the caller to fill in; NULL: no memory */
struct marker *markers_add(struct marker_list *list);

/**
 * markers_read_file() - append the markers of a file
 * @name: of the file
 * @list: call markers_free() also after an error
 *
 * Return: 0; an error of file_markers_read(); or another negative errno.
 */
int markers_read_file(const char *name, struct marker_list *list);

/**
 * markers_read_programs() - append the markers of running programs
 * @fd: the device
 * @list: contains those of modules; call markers_free() also after an error
 * @hidden: set to the number of processes that this process may not inspect, if markers
 *	of unknown place may belong to them
 *
 * If no process that may be inspected has a marker, its path and function are empty and
 * its place is "-".
 *
 * Return: 0 or a negative errno.
 */
int markers_read_programs(int fd, struct marker_list *list, size_t *hidden);

/** markers_handlers_put() - append "print,trace", or "-" */
void markers_handlers_put(struct elog_text *text, uint32_t handlers);

/** markers_handlers_put_json() - append a comma and a member that is a list */
void markers_handlers_put_json(struct elog_text *text, const char *name, uint32_t handlers);

/** markers_handlers_parse() - parse "print,trace", or "-"; false if it is not valid */
bool markers_handlers_parse(const char *text, uint32_t *handlers);

/**
 * markers_save() - replace a file by a set
 * @list: the set
 * @policies: policies for programs
 * @name: of the file
 *
 * Return: 0 or a negative errno.
 */
int markers_save(const struct marker_list *list, const struct policy_list *policies,
		 const char *name);

/**
 * markers_load() - read a set from a file
 * @list: empty; module, tag, place, predicate, id and handlers of each marker are
 *	filled in
 * @policies: empty
 * @name: of the file
 * @line: set to the number of an invalid line
 *
 * Return: 0; -EINVAL: the file is not a set, or truncated; or another negative errno.
 */
int markers_load(struct marker_list *list, struct policy_list *policies, const char *name,
		 unsigned int *line);

#endif /* MARKER_H */
