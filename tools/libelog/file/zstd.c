// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Compression of blocks in .elog files with zstd. A body is one frame or several,
 * independent of other blocks. A library built without zstd compresses nothing, and
 * cannot read compressed blocks.
 *
 * A body is at most ELOG_ZSTD_RATIO times as large as its stored form, so the file's
 * size limits the memory that a hostile file can use. If a body compresses better, a
 * frame that decoders skip is appended.
 *
 * No locks and nothing global: the state belongs to one writer or reader.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elog.h"
#include "file/blocks.h"
#include "file/zstd.h"

#ifdef ELOG_ZSTD

#include <zstd.h>
#include <zstd_errors.h>

#define SKIPPED_MAGIC	0x184d2a50U	/* RFC 8878, 3.1.2 */

struct elog_compressor {
	ZSTD_CCtx *context;
	unsigned char *stored;
	size_t room;
};

struct elog_decompressor {
	ZSTD_DCtx *context;
	unsigned char *body;
	size_t room;
};

static int make_room(unsigned char **buffer, size_t *room, size_t size)
{
	if (size <= *room)
		return 0;
	/* The old contents are not needed. */
	free(*buffer);
	*room = 0;
	*buffer = malloc(size);
	if (!*buffer)
		return -ENOMEM;
	*room = size;
	return 0;
}

int elog_compressor_new(struct elog_compressor **result, unsigned int level)
{
	struct elog_compressor *compressor = calloc(1, sizeof(*compressor));

	if (!compressor)
		return -ENOMEM;
	compressor->context = ZSTD_createCCtx();
	if (!compressor->context) {
		free(compressor);
		return -ENOMEM;
	}
	ZSTD_CCtx_setParameter(compressor->context, ZSTD_c_compressionLevel,
			       (int)level);
	*result = compressor;
	return 0;
}

void elog_compressor_free(struct elog_compressor *compressor)
{
	if (!compressor)
		return;
	ZSTD_freeCCtx(compressor->context);
	free(compressor->stored);
	free(compressor);
}

/* Append a frame that decoders skip. Return: the new size; 0: no room. */
static size_t pad_frame(unsigned char *stored, size_t size, size_t least,
		      size_t room)
{
	const uint32_t header[2] = {
		htole32(SKIPPED_MAGIC),
		htole32((uint32_t)(least - size)),
	};

	if (least + sizeof(header) > room)
		return 0;
	memcpy(stored + size, header, sizeof(header));
	memset(stored + size + sizeof(header), 0, least - size);
	return least + sizeof(header);
}

size_t elog_compress(struct elog_compressor *compressor,
		     const struct iovec *iov, int count, const void **stored)
{
	size_t size = 0, least, left = 1;
	ZSTD_outBuffer output = { 0 };
	ZSTD_inBuffer input;
	int i;

	for (i = 0; i < count; i++)
		size += iov[i].iov_len;
	if (!size || make_room(&compressor->stored, &compressor->room, size))
		return 0;
	output.dst = compressor->stored;
	output.size = size - 1;
	ZSTD_CCtx_reset(compressor->context, ZSTD_reset_session_only);
	ZSTD_CCtx_setPledgedSrcSize(compressor->context, size);
	for (i = 0; i < count; i++) {
		input.src = iov[i].iov_base;
		input.size = iov[i].iov_len;
		input.pos = 0;
		left = ZSTD_compressStream2(compressor->context, &output, &input,
					    i + 1 == count ? ZSTD_e_end :
							     ZSTD_e_continue);
		/* If the output is full, not all input is taken: the result is too large. */
		if (ZSTD_isError(left) || input.pos != input.size)
			return 0;
	}
	if (left)
		return 0;
	*stored = compressor->stored;
	least = (size + ELOG_ZSTD_RATIO - 1) / ELOG_ZSTD_RATIO;
	return output.pos >= least ? output.pos :
	       pad_frame(compressor->stored, output.pos, least, size - 1);
}

int elog_decompress(struct elog_decompressor **state, const void *stored,
		    size_t size, size_t body_size, const unsigned char **body)
{
	struct elog_decompressor *decompressor = *state;
	size_t got;

	if (body_size > ELOG_BLOCK_MAX ||
	    body_size / ELOG_ZSTD_RATIO > size)
		return -EBADMSG;
	if (!decompressor) {
		decompressor = calloc(1, sizeof(*decompressor));
		if (!decompressor)
			return -ENOMEM;
		decompressor->context = ZSTD_createDCtx();
		if (!decompressor->context) {
			free(decompressor);
			return -ENOMEM;
		}
		*state = decompressor;
	}
	/* One byte more, because malloc(0) may return NULL. */
	if (make_room(&decompressor->body, &decompressor->room, body_size + 1))
		return -ENOMEM;
	got = ZSTD_decompressDCtx(decompressor->context, decompressor->body,
				  body_size, stored, size);
	if (ZSTD_isError(got))
		return ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation ?
		       -ENOMEM : -EBADMSG;
	*body = decompressor->body;
	return got == body_size ? 0 : -EBADMSG;
}

void elog_decompressor_free(struct elog_decompressor *decompressor)
{
	if (!decompressor)
		return;
	ZSTD_freeDCtx(decompressor->context);
	free(decompressor->body);
	free(decompressor);
}

#else /* !ELOG_ZSTD */

int elog_compressor_new(struct elog_compressor **compressor, unsigned int level)
{
	(void)compressor;
	(void)level;
	return -EOPNOTSUPP;
}

void elog_compressor_free(struct elog_compressor *compressor)
{
	(void)compressor;
}

size_t elog_compress(struct elog_compressor *compressor,
		     const struct iovec *iov, int count, const void **stored)
{
	(void)compressor;
	(void)iov;
	(void)count;
	(void)stored;
	return 0;
}

int elog_decompress(struct elog_decompressor **state, const void *stored,
		    size_t size, size_t body_size, const unsigned char **body)
{
	(void)state;
	(void)stored;
	(void)size;
	(void)body_size;
	(void)body;
	return -EOPNOTSUPP;
}

void elog_decompressor_free(struct elog_decompressor *decompressor)
{
	(void)decompressor;
}

#endif /* !ELOG_ZSTD */
