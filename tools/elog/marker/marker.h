/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Markers of kernel modules, of running programs and of files. A list of markers belongs to
 * its caller.
 */
#ifndef MARKER_H
#define MARKER_H

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
 * @next: from EVENTLOG_LIST_MARKERS; of a program or a file, members that are known
 * @owner: the kind of object that contains it
 * @module: the name of the module, program or file
 * @tag: its tag
 * @event: name of its event, of programs and files; NULL: unknown
 * @fields: types and names, separated by "; "; NULL: unknown
 * @pids: of a program: ids of all processes that have it with these handlers, separated by
 *	commas
 * @path: its source file
 * @function: its function
 * @place: path:function:ordinal
 * @predicate: its handlers run if this is true; NULL: always
 * @has_session: its events have sessions, as known from the program or the file
 * @incompatible: a policy's filter applies that the program cannot evaluate
 */
struct marker {
	struct eventlog_marker_info next;
	enum marker_owner owner;
	char *module;
	char *tag;
	char *event;
	char *fields;
	char *pids;
	char *path;
	char *function;
	char *place;
	char *predicate;
	bool has_session;
	bool incompatible;
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
 * struct marker_choice - which markers are meant
 * @module: glob over names of modules, programs or files; NULL: all
 * @program: glob over names of programs as their providers have them; NULL: markers of modules
 *	and files, too
 * @patterns: globs over tags and places; those of which marker_is_file() is true do not count
 * @pattern_count: of @patterns; none: all
 */
struct marker_choice {
	const char *module;
	const char *program;
	char *const *patterns;
	int pattern_count;
};

/** markers_free() - free the markers of a list */
void markers_free(struct marker_list *list);

/** markers_add() - append a zeroed marker for the caller to fill in; NULL: no memory */
struct marker *markers_add(struct marker_list *list);

/**
 * markers_read() - read all markers of modules
 * @fd: the device
 * @list: empty; filled in; call markers_free() also after an error
 *
 * Return: 0 or a negative errno.
 */
int markers_read(int fd, struct marker_list *list);

/**
 * markers_read_file() - append the markers of a file
 * @name: of the file
 * @list: call markers_free() also after an error
 *
 * Return: 0; an error of file_markers_read(); or another negative errno.
 */
int markers_read_file(const char *name, struct marker_list *list);

/**
 * markers_read_programs() - append the markers that running programs have registered
 * @fd: the device
 * @list: call markers_free() also after an error
 *
 * Path and function of a marker that was registered without a place are empty, and its place
 * is "-".
 *
 * Return: 0 or a negative errno.
 */
int markers_read_programs(int fd, struct marker_list *list);

/** marker_is_file() - is it a path? A pattern is not: places have colons, tags no slashes. */
bool marker_is_file(const char *argument);

/** marker_is_chosen() - is a marker meant? */
bool marker_is_chosen(const struct marker_choice *choice, const struct marker *marker);

/**
 * marker_choice_explain() - print names in a choice that no marker of a list has
 * @choice: the choice
 * @list: all markers
 * @of_files: the list has markers of files
 *
 * Return: true: there were any, or there are no markers.
 */
bool marker_choice_explain(const struct marker_choice *choice, const struct marker_list *list,
			   bool of_files);

/**
 * markers_print() - print the chosen markers of a list
 * @list: the list
 * @choice: which markers to print
 * @format: FORMAT_TEXT or FORMAT_JSON
 * @tree: as a tree, with FORMAT_TEXT
 * @header: with a header, if it is no tree
 *
 * Return: the exit status.
 */
int markers_print(const struct marker_list *list, const struct marker_choice *choice,
		  enum output_format format, bool tree, bool header);

/** markers_handlers_put() - append "print,trace", or "-" */
void markers_handlers_put(struct elog_text *text, uint32_t handlers);

/** markers_handlers_put_json() - append a comma and a member that is a list */
void markers_handlers_put_json(struct elog_text *text, const char *name, uint32_t handlers);

/** markers_handlers_parse() - parse "print,trace", or "-"; false if it is not valid */
bool markers_handlers_parse(const char *text, uint32_t *handlers);

/** markers_handlers_error() - print which word of the argument of --handler is invalid */
void markers_handlers_error(const char *text);

#endif /* MARKER_H */
