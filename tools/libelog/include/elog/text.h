/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: the text that functions append to.
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

#ifdef __cplusplus
}
#endif

#endif /* ELOG_TEXT_H */
