/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Compression of blocks: see zstd.c.
 */
#ifndef LIBELOG_ZSTD_H
#define LIBELOG_ZSTD_H

#include "elog.h"

struct elog_compressor;

/**
 * elog_compressor_new() - make the state of a writer
 * @compressor: set
 * @level: 1 to 19
 *
 * Return: 0; -ENOMEM; -EOPNOTSUPP the library was built without zstd.
 */
int elog_compressor_new(struct elog_compressor **compressor, unsigned int level);

/** elog_compressor_free() - free the state; may be NULL */
void elog_compressor_free(struct elog_compressor *compressor);

/**
 * elog_compress() - compress a body
 * @compressor: the state
 * @iov: the body
 * @count: elements of @iov
 * @stored: set to the result, valid until the next call
 *
 * Return: bytes of the result; 0: it is not smaller, or memory is short.
 */
size_t elog_compress(struct elog_compressor *compressor,
		     const struct iovec *iov, int count, const void **stored);

struct elog_decompressor;

/**
 * elog_decompress() - decompress a body
 * @state: allocated by the first call; start with NULL
 * @stored: the stored form, which need not be valid
 * @size: bytes of it
 * @body_size: the expected size of the body
 * @body: set, valid until the next call
 *
 * Return: 0; -EBADMSG; -ENOMEM; -EOPNOTSUPP built without zstd.
 */
int elog_decompress(struct elog_decompressor **state, const void *stored,
		    size_t size, size_t body_size, const unsigned char **body);

/** elog_decompressor_free() - free the state; may be NULL */
void elog_decompressor_free(struct elog_decompressor *decompressor);

#endif /* LIBELOG_ZSTD_H */
