// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of the caller: see caller.h.
 */
#include <sys/uio.h>

#include "kernel/klinux.h"
#include "caller.h"

static struct caller_piece pieces[CALL_PIECES_MAX];
static unsigned int piece_count;

/* Room for pieces that the caller does not send. */
static u8 room[CALL_PIECES_MAX][CALL_BYTES_MAX];

const struct call *caller_begin(u8 *message, size_t bytes)
{
	const struct call *call = (const void *)message;
	const struct piece *head = (const void *)(call + 1);
	size_t at;
	u32 i;

	piece_count = 0;
	if (bytes < sizeof(*call) || call->pieces > CALL_PIECES_MAX)
		return NULL;
	at = sizeof(*call) + call->pieces * sizeof(*head);
	if (at > bytes)
		return NULL;
	for (i = 0; i < call->pieces; i++, head++) {
		if (head->bytes > CALL_BYTES_MAX)
			return NULL;
		pieces[i] = (struct caller_piece){ .head = *head, .data = room[i] };
		if (!(head->flags & PIECE_IN))
			continue;
		if (call_padded(head->bytes) > bytes - at)
			return NULL;
		pieces[i].data = message + at;
		at += call_padded(head->bytes);
	}
	piece_count = call->pieces;
	return call;
}

const struct caller_piece *caller_first(void)
{
	return piece_count && pieces[0].head.flags & PIECE_IN ? &pieces[0] : NULL;
}

unsigned int caller_written(struct piece *heads, struct iovec *parts)
{
	static const u8 zeros[8];
	unsigned int i, count = 0;

	for (i = 0; i < piece_count; i++) {
		const u32 bytes = pieces[i].written;

		if (!bytes)
			continue;
		heads[count++] = (struct piece){ pieces[i].head.address, bytes, PIECE_OUT };
		*parts++ = (struct iovec){ pieces[i].data, bytes };
		*parts++ = (struct iovec){ (void *)zeros, call_padded(bytes) - bytes };
	}
	return count;
}

/* The piece that contains all of these bytes, or NULL. */
static struct caller_piece *find_piece(const void *address, size_t bytes, u32 flag)
{
	const u64 at = (uintptr_t)address;
	unsigned int i;

	for (i = 0; i < piece_count; i++) {
		const struct piece *head = &pieces[i].head;

		if (head->flags & flag && at >= head->address &&
		    at - head->address <= head->bytes &&
		    bytes <= head->bytes - (at - head->address))
			return &pieces[i];
	}
	return NULL;
}

static u8 *data_at(const struct caller_piece *piece, const void *address)
{
	return piece->data + ((uintptr_t)address - piece->head.address);
}

unsigned long copy_from_user(void *to, const void *from, size_t bytes)
{
	const struct caller_piece *piece = find_piece(from, bytes, PIECE_IN);

	if (!piece)
		return bytes;
	memcpy(to, data_at(piece, from), bytes);
	return 0;
}

/* Room for bytes to be written; NULL: the caller has none there. */
static u8 *write_at(void *to, size_t bytes)
{
	struct caller_piece *piece = find_piece(to, bytes, PIECE_OUT);
	u32 begin;

	if (!piece)
		return NULL;
	begin = (u32)((uintptr_t)to - piece->head.address);
	/* What was skipped is not what another caller had there. */
	if (!(piece->head.flags & PIECE_IN) && begin > piece->written)
		memset(piece->data + piece->written, 0, begin - piece->written);
	piece->written = max(piece->written, begin + (u32)bytes);
	return piece->data + begin;
}

unsigned long copy_to_user(void *to, const void *from, size_t bytes)
{
	u8 *data = write_at(to, bytes);

	if (!data)
		return bytes;
	memcpy(data, from, bytes);
	return 0;
}

unsigned long clear_user(void *to, size_t bytes)
{
	u8 *data = bytes ? write_at(to, bytes) : NULL;

	if (!data)
		return bytes;
	memset(data, 0, bytes);
	return 0;
}

int copy_struct_from_user(void *to, size_t size, const void *from, size_t bytes)
{
	const struct caller_piece *piece = find_piece(from, bytes, PIECE_IN);
	const size_t known = min(size, bytes);

	if (!piece)
		return -EFAULT;
	if (memchr_inv(data_at(piece, from) + known, 0, bytes - known))
		return -E2BIG;
	memcpy(to, data_at(piece, from), known);
	memset((u8 *)to + known, 0, size - known);
	return 0;
}

char *strndup_user(const char *from, long most)
{
	const struct caller_piece *piece = find_piece(from, 1, PIECE_IN);
	size_t left, length;
	char *text;

	if (!piece)
		return ERR_PTR(-EFAULT);
	text = (char *)data_at(piece, from);
	left = piece->head.bytes - (size_t)((u8 *)text - piece->data);
	length = strnlen(text, left);
	if (length >= (size_t)most)
		return ERR_PTR(-EINVAL);
	if (length == left)
		return ERR_PTR(-EFAULT);
	text = strdup(text);
	return text ? text : ERR_PTR(-ENOMEM);
}
