/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: strings that grow.
 */
#ifndef ELOG_TEXT_H
#define ELOG_TEXT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct elog_text - a string that grows
 * @data: the characters, always NUL-terminated once there are any
 * @size: how many, without the NUL
 * @capacity: bytes allocated
 * @error: 0, or -ENOMEM once memory was short: then @data is incomplete
 * @reserved: 0
 *
 * Start with all zeroes; free with elog_text_free(); set @size to 0 to start
 * over.
 */
struct elog_text {
	char *data;
	size_t size;
	size_t capacity;
	int error;
	uint64_t reserved[2];
};

/** elog_text_free() - free the memory and make @text empty again */
void elog_text_free(struct elog_text *text);

/** elog_text_put() - append @size bytes of @data as they are */
void elog_text_put(struct elog_text *text, const void *data, size_t size);

/** elog_text_string() - append a string as it is */
void elog_text_string(struct elog_text *text, const char *string);

/** elog_text_unsigned() - append @value in decimal, padded to @width by @fill */
void elog_text_unsigned(struct elog_text *text, uint64_t value,
			unsigned int width, char fill);

/** elog_text_hex() - append @value in hexadecimal, with at least @width digits */
void elog_text_hex(struct elog_text *text, uint64_t value, unsigned int width);

/** elog_text_printf() - append what printf() would print */
void elog_text_printf(struct elog_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * elog_text_quoted() - append a string in double quotes
 * @text: where
 * @data: the string
 * @size: bytes of it, NULs among them allowed
 *
 * Quotes, backslashes, control characters and what is not UTF-8 become
 * backslash sequences, so that the string ends where it seems to end and
 * cannot operate the terminal.
 */
void elog_text_quoted(struct elog_text *text, const char *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* ELOG_TEXT_H */
