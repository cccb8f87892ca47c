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
 * @data: the characters; NUL-terminated once there are any
 * @size: bytes of them, without the NUL
 * @capacity: bytes allocated
 * @error: 0; -ENOMEM an allocation failed, and @data is incomplete
 * @reserved: 0
 *
 * Initialize it with zeros, and free it with elog_text_free(). To start over, set
 * @size to 0.
 */
struct elog_text {
	char *data;
	size_t size;
	size_t capacity;
	int error;
	uint64_t reserved[2];
};

/** elog_text_free() - free the memory; @text is empty then */
void elog_text_free(struct elog_text *text);

/** elog_text_put() - append @size bytes of @data unchanged */
void elog_text_put(struct elog_text *text, const void *data, size_t size);

/** elog_text_string() - append a string unchanged */
void elog_text_string(struct elog_text *text, const char *string);

/** elog_text_unsigned() - append @value in decimal, padded with @fill to @width */
void elog_text_unsigned(struct elog_text *text, uint64_t value,
			unsigned int width, char fill);

/** elog_text_hex() - append @value in hexadecimal, with at least @width digits */
void elog_text_hex(struct elog_text *text, uint64_t value, unsigned int width);

/** elog_text_printf() - append what printf() would print */
void elog_text_printf(struct elog_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * elog_text_quoted() - append a string in double quotes
 * @text: the text
 * @data: the string
 * @size: bytes of it; it may contain NULs
 *
 * Quotes, backslashes, control characters and bytes that are not UTF-8 become
 * backslash sequences. So the string cannot contain its own end, and cannot control
 * the terminal.
 */
void elog_text_quoted(struct elog_text *text, const char *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* ELOG_TEXT_H */
