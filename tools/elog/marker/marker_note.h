/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ELF notes of markers in a file. Only for marker_file.c.
 *
 * elog_marker.h and eventlog_marker.h describe the notes, which have the addresses of the
 * marker and of its strings. Files are not trusted.
 */
#ifndef MARKER_NOTE_H
#define MARKER_NOTE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The addresses in a note. A program's note has offsets in struct elog_marker instead of
 * the tag and the module.
 */
enum { SELF, TAG, TEXT, PATH, MODULE, FUNCTION, UNIT, SLOTS };
#define TEXT_OFFSET	TAG
/* The numbers after them, 32 bits each. */
enum { LINE, SEQUENCE, TYPES_LOW, TYPES_HIGH, OTHERS, NUMBERS };

/* A place in the file. In a linked file, the section is 0 and the address is virtual. */
struct target {
	uint64_t address;
	uint32_t section;
	bool known;
};

struct note {
	uint64_t address;	/* of the slots */
	uint32_t section;
	bool of_module;
	struct target slots[SLOTS];
	uint32_t numbers[NUMBERS];
};

struct stored;

/* A range of addresses and its place in the file. */
struct area {
	uint64_t address;
	uint64_t offset;
	uint64_t size;
	uint32_t section;
};

struct image {
	int fd;
	Elf *elf;
	GElf_Ehdr header;
	uint64_t size;
	unsigned int word;	/* bytes of a pointer */
	bool is_big;
	bool is_linked;
	struct area *areas;
	size_t area_count;
	struct note *notes;	/* by section and address */
	size_t count;
	struct stored *stored;	/* by section and address */
	size_t stored_count;
};

/**
 * image_read() - read the notes of a file, one for each marker
 * @fd: the file; its position is changed
 * @image: filled in; call image_free() also after an error
 *
 * Return: 0 or a negative errno, as for file_markers_read().
 */
int image_read(int fd, struct image *image);

/** image_free() - free what image_read() has allocated */
void image_free(struct image *image);

/** image_contains() - is this address known, and does the file have data there? */
bool image_contains(const struct image *image, const struct target *target);

/**
 * image_string() - read a string
 * @image: the file
 * @target: its address
 * @max: maximum size, NUL included
 * @string: set to the string, which the caller frees, or to NULL if there is none
 *
 * Return: 0 or a negative errno.
 */
int image_string(const struct image *image, const struct target *target, size_t max,
		 char **string);

#endif /* MARKER_NOTE_H */
