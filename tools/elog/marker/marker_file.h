/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Markers of a file that need not run: executables, libraries, kernel modules and
 * what else the linker makes, of any architecture. The file may be a hostile one.
 */
#ifndef MARKER_FILE_H
#define MARKER_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct file_marker - a marker, as it is before its program or module is loaded
 * @tag: its tag
 * @event: what its event is called, if nothing else is loaded that has such a tag
 * @path: its source file
 * @function: where it is
 * @place: path:function:ordinal
 * @fields: types and names, "; " between
 * @id: hash of @place
 * @address: in the program, of the byte that says which handlers are on; 0: of a module
 * @line: in the source file
 * @ordinal: how many there are before it in the function
 * @handlers: ELOG_MARKER_*: on from the start
 * @allowed: likewise: that may be switched on
 * @of_module: it is of the kernel's kind
 */
struct file_marker {
	char *tag;
	char *event;
	char *path;
	char *function;
	char *place;
	char *fields;
	uint64_t id;
	uint64_t address;
	uint32_t line;
	uint32_t ordinal;
	uint32_t handlers;
	uint32_t allowed;
	bool of_module;
};

/**
 * struct file_segment - a part of a file that is mapped
 * @offset: in the file
 * @address: as linked
 * @size: bytes of the file
 */
struct file_segment {
	uint64_t offset;
	uint64_t address;
	uint64_t size;
};

/**
 * struct file_markers - the markers of a file
 * @count: of @markers
 * @markers: by place, those of C before those of C++
 * @segment_count: of @segments
 * @segments: of a file that is linked
 */
struct file_markers {
	size_t count;
	struct file_marker *markers;
	size_t segment_count;
	struct file_segment *segments;
};

/**
 * file_markers_read() - find the markers of a file
 * @fd: the file; its position is changed
 * @markers: filled in, to be freed with file_markers_free() in any case
 *
 * What looks like a marker but leads nowhere is left out. Memory does not grow with
 * the file, but for that of what is found.
 *
 * Return: 0; -ENOEXEC: no ELF file, or not all of it; -E2BIG: more markers, or
 * headers, than there can be, or more than 16 GiB; -EOPNOTSUPP: built without libelf;
 * or another negative errno.
 */
int file_markers_read(int fd, struct file_markers *markers);

/** file_markers_free() - free what it has */
void file_markers_free(struct file_markers *markers);

#endif /* MARKER_FILE_H */
