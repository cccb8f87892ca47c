/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Compressed bodies of blocks: see zstd.c.
 */
#ifndef LIBELOG_ZSTD_H
#define LIBELOG_ZSTD_H

#include "elog.h"

struct elog_compressor;

/**
 * elog_compressor_new() - what a writer compresses with
 * @compressor: set
 * @level: 1 to 19
 *
 * Return: 0; -ENOMEM; -EOPNOTSUPP the library was built without zstd.
 */
int elog_compressor_new(struct elog_compressor **compressor, unsigned int level);

/** elog_compressor_free() - NULL is fine */
void elog_compressor_free(struct elog_compressor *compressor);

/**
 * elog_compress() - compress a body
 * @compressor: the state
 * @parts: of the body
 * @count: of @parts
 * @stored: set to what is to be stored, valid until the next call
 *
 * Return: bytes of it; 0: it would not be less, or memory is short.
 */
size_t elog_compress(struct elog_compressor *compressor,
		     const struct iovec *parts, int count, const void **stored);

struct elog_decompressor;

/**
 * elog_decompress() - get a body back
 * @state: made when first needed; start with NULL
 * @stored: what is stored, trusted in nothing
 * @size: bytes of it
 * @body_size: what the body has to have
 * @body: set, valid until the next call
 *
 * Return: 0; -EBADMSG; -ENOMEM; -EOPNOTSUPP built without zstd.
 */
int elog_decompress(struct elog_decompressor **state, const void *stored,
		    size_t size, size_t body_size, const unsigned char **body);

/** elog_decompressor_free() - NULL is fine */
void elog_decompressor_free(struct elog_decompressor *decompressor);

#endif /* LIBELOG_ZSTD_H */
