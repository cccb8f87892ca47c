/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Markers of ELF files of any architecture: executables, libraries, object files and
 * kernel modules, which need not run or be loaded. Files are not trusted.
 */
#ifndef MARKER_FILE_H
#define MARKER_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct file_marker - a marker of a file
 * @tag: its tag
 * @event: name of its event, unless another loaded object has the same tag
 * @path: its source file
 * @function: its function
 * @place: path:function:ordinal
 * @fields: types and names, separated by "; "
 * @id: hash of @place
 * @line: in the source file
 * @ordinal: number of markers before it in the function
 * @handlers: ELOG_MARKER_*: initially enabled
 * @allowed: ELOG_MARKER_*: may be enabled
 * @has_session: its events have sessions
 */
struct file_marker {
	char *tag;
	char *event;
	char *path;
	char *function;
	char *place;
	char *fields;
	uint64_t id;
	uint32_t line;
	uint32_t ordinal;
	uint32_t handlers;
	uint32_t allowed;
	bool has_session;
};

/**
 * struct file_markers - the markers of a file
 * @count: of @markers
 * @markers: by place, those of C before those of C++
 */
struct file_markers {
	size_t count;
	struct file_marker *markers;
};

/**
 * file_markers_read() - find the markers of a file
 * @fd: the file; its position is changed
 * @markers: filled in; call file_markers_free() also after an error
 *
 * Ignores notes with invalid addresses. Needs memory only for the notes, whatever the
 * size of the file. A file without section headers has no markers.
 *
 * Return: 0; -ENOEXEC: not an ELF file, or truncated; -E2BIG: too many notes or
 * headers, or more than 16 GiB; -EOPNOTSUPP: built without libelf; or another negative
 * errno.
 */
int file_markers_read(int fd, struct file_markers *markers);

/** file_markers_free() - free the markers */
void file_markers_free(struct file_markers *markers);

#endif /* MARKER_FILE_H */
