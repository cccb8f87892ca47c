// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading the files of a capture as bytes: see spool.h.
 *
 * FILE is the newest file and FILE.1 the one before it. elog capture renames them one after
 * the other, from the highest number down, so the names may change at any time. Only the
 * open file is certain. After another file is opened by its number, check that the open file
 * still has the number before: otherwise look again later.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fleet/spool.h"
#include "input/live.h"
#include "input/parts.h"
#include "libelog/file/blocks.h"
#include "libelog/util/siphash.h"
#include "util/output_file.h"

#define NUMBER_MAX	9999	/* of --rotate */
#define INFO_MAX	65536	/* bytes of a FILE block */
#define SEARCH_NS	2000000000ULL	/* for a file that a rotation may be renaming */

/* What the first block says. */
struct identity {
	unsigned char header[HEADER_BYTES];
	char file[SPOOL_ID_BYTES];
	char subject[SPOOL_SUBJECT_BYTES];
};

struct spool {
	char *path;
	char *name;		/* of the newest file */
	unsigned int part;
	struct spool_position resume;
	int64_t since;
	bool started;

	int fd;			/* the open file; -1: none */
	struct identity identity;
	struct spool_chunk next;	/* the next chunk; @size is not used */
	uint64_t solid;		/* up to here there is no block to look at */
	uint64_t seen;		/* its size when there was no chunk */
	bool seen_final;
	bool drained;		/* all of it was read, and no capture writes it */
	bool complete;		/* its last block was END */
	bool searches;		/* it looks for a file that a rotation may be renaming */
	uint64_t search;	/* since this CLOCK_MONOTONIC ns; 0: it has found it */
	uint64_t gaps;
};

int spool_open(struct spool **result, const char *path, unsigned int part)
{
	struct spool *spool = calloc(1, sizeof(*spool));

	if (!spool)
		return -ENOMEM;
	spool->fd = -1;
	spool->part = part;
	spool->since = INT64_MIN;
	spool->path = strdup(path);
	spool->name = parts_name(path, part);
	if (!spool->path || !spool->name) {
		spool_close(spool);
		return -ENOMEM;
	}
	*result = spool;
	return 0;
}

static void close_file(struct spool *spool)
{
	if (spool->fd >= 0)
		close(spool->fd);
	spool->fd = -1;
}

void spool_close(struct spool *spool)
{
	if (!spool)
		return;
	close_file(spool);
	free(spool->path);
	free(spool->name);
	free(spool);
}

const char *spool_name(const struct spool *spool)
{
	return spool->name;
}

void spool_resume(struct spool *spool, const struct spool_position *position)
{
	spool->resume = *position;
}

void spool_since(struct spool *spool, int64_t realtime)
{
	spool->since = realtime;
}

uint64_t spool_gaps(const struct spool *spool)
{
	return spool->gaps;
}

bool spool_searches(const struct spool *spool)
{
	return spool->searches;
}

/* A file was not found: should the search for it end? */
static bool gives_up(struct spool *spool)
{
	if (!spool->search)
		spool->search = monotonic();
	spool->searches = monotonic() - spool->search < SEARCH_NS;
	return !spool->searches;
}

static void end_search(struct spool *spool)
{
	spool->search = 0;
	spool->searches = false;
}

void spool_position(const struct spool *spool, struct spool_position *position)
{
	if (!spool->started) {
		*position = spool->resume;
		return;
	}
	memcpy(position->file, spool->next.file, sizeof(position->file));
	memcpy(position->previous, spool->next.previous, sizeof(position->previous));
	position->previous_size = spool->next.previous_size;
	position->offset = spool->next.offset;
}

/* ------------------------------------------------------------------------
 * Files by their number
 */

/* Return: the name, which the caller frees; NULL: no memory. */
static char *numbered(const struct spool *spool, unsigned int number)
{
	char *first, *name;

	if (!number)
		return strdup(spool->name);
	if (asprintf(&first, "%s.%u", spool->path, number) < 0)
		return NULL;
	name = parts_name(first, spool->part);
	free(first);
	return name;
}

static bool stat_number(const struct spool *spool, unsigned int number, struct stat *found)
{
	char *name = numbered(spool, number);
	bool there = name && !stat(name, found) && S_ISREG(found->st_mode);

	free(name);
	return there;
}

static bool is_same(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

/* Return: the number of the open file; -1: it has no name any more. */
static int find_number(const struct spool *spool)
{
	struct stat open_file, found;
	unsigned int number;

	if (fstat(spool->fd, &open_file))
		return -1;
	for (number = 0; number <= NUMBER_MAX; number++) {
		if (!stat_number(spool, number, &found))
			return -1;
		if (is_same(&found, &open_file))
			return (int)number;
	}
	return -1;
}

/* Return: the highest number without a gap below; -1: there is no file. */
static int find_oldest(const struct spool *spool)
{
	int64_t written;
	struct stat found;
	int number = -1;

	while (number < NUMBER_MAX && stat_number(spool, (unsigned int)number + 1, &found)) {
		written = (int64_t)found.st_mtim.tv_sec * 1000000000 + found.st_mtim.tv_nsec;
		if (written < spool->since)
			break;
		number++;
	}
	/* All are older: what the newest file gets from now on is not. */
	return number < 0 && stat_number(spool, 0, &found) ? 0 : number;
}

/* ------------------------------------------------------------------------
 * Opening a file
 */

/* Copy the value of a line "KEY VALUE" of a FILE block: hexadecimal digits and "-". */
static void copy_id(const char *text, const char *key, char *id, size_t size)
{
	const char *line = text;
	size_t length;

	while (line && (strncmp(line, key, strlen(key)) || line[strlen(key)] != ' ')) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	line = line ? line + strlen(key) + 1 : "";
	length = strspn(line, "0123456789abcdef-");
	if (!length || length >= size)
		snprintf(id, size, "0");
	else
		snprintf(id, size, "%.*s", (int)length, line);
}

static void set_subject(const struct spool *spool, const char *text, struct identity *identity)
{
	const char *name = strrchr(spool->name, '/');
	char machine[40], boot[40], word[64];
	size_t i;

	copy_id(text, "machine_id", machine, sizeof(machine));
	copy_id(text, "boot_id", boot, sizeof(boot));
	snprintf(word, sizeof(word), "%s", name ? name + 1 : spool->name);
	for (i = 0; word[i]; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_",
			    word[i]))
			word[i] = '_';
	snprintf(identity->subject, sizeof(identity->subject), "elog.%s.%s.%s", machine, boot,
		 word);
}

/* Return: the number of bytes, fewer at the end of the file; or a negative errno. */
static ssize_t read_at(int fd, void *data, size_t size, uint64_t offset)
{
	size_t done = 0;
	ssize_t got;

	while (done < size) {
		got = pread(fd, (char *)data + done, size - done, (off_t)(offset + done));
		if (got < 0 && errno != EINTR)
			return -errno;
		if (!got)
			break;
		done += got > 0 ? (size_t)got : 0;
	}
	return (ssize_t)done;
}

/*
 * Identify a file by its first block, which has the machine, the boot and the time, and by
 * its name: the files of --writers may have the same first block.
 *
 * Return: 1; 0 the block is not complete yet; or a negative errno.
 */
static int identify(const struct spool *spool, int fd, struct identity *identity)
{
	static const struct elog_siphash key;	/* not secret: equal on all machines */
	const char *slash = strrchr(spool->name, '/'), *name = slash ? slash + 1 : spool->name;
	const size_t name_size = strlen(name);
	struct elog_block_header header;
	struct elog_siphash hash;
	ssize_t size;
	char *text;

	size = read_at(fd, identity->header, sizeof(identity->header), 0);
	if (size != sizeof(identity->header))
		return size < 0 ? (int)size : 0;
	memcpy(&header, identity->header, sizeof(header));
	if (!elog_block_decode(&header) || header.type != ELOG_BLOCK_FILE ||
	    header.size > INFO_MAX)
		return -EBADMSG;
	text = malloc(header.size + 1 + name_size);
	if (!text)
		return -ENOMEM;
	size = read_at(fd, text, header.size, sizeof(header));
	if (size == (ssize_t)header.size) {
		text[size] = '\0';
		set_subject(spool, text, identity);
		memcpy(text + size + 1, name, name_size);
		hash = elog_siphash(&key, text, (size_t)size + 1 + name_size);
		snprintf(identity->file, sizeof(identity->file), "%016" PRIx64 "%016" PRIx64,
			 hash.words[0], hash.words[1]);
	}
	free(text);
	return size < 0 ? (int)size : size == (ssize_t)header.size;
}

/*
 * Open a file by its number, and identify it.
 *
 * Return: the descriptor; -EAGAIN it is not there, or not complete yet; -EBADMSG it has no
 * valid beginning; or another negative errno.
 */
static int open_number(const struct spool *spool, unsigned int number,
		       struct identity *identity)
{
	char *name = numbered(spool, number);
	struct stat found;
	int fd, ret;

	if (!name)
		return -ENOMEM;
	/* Opening a pipe must not block. */
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	free(name);
	if (fd < 0)
		return errno == ENOENT ? -EAGAIN : -errno;
	ret = fstat(fd, &found) ? -errno : !S_ISREG(found.st_mode) ? -EINVAL :
	      identify(spool, fd, identity);
	if (ret > 0)
		return fd;
	close(fd);
	/* Only the newest file may be without its first block for a moment. */
	return ret ? ret : number ? -EBADMSG : -EAGAIN;
}

/*
 * Open the first file that has a valid beginning, from a number down: after a crash of the
 * machine, a file may be empty or have zeros.
 *
 * Return: as open_number(). @gap: set to true if files were skipped
 */
static int open_from(const struct spool *spool, int number, struct identity *identity, bool *gap)
{
	int fd;

	for (;;) {
		fd = open_number(spool, (unsigned int)number, identity);
		if (fd != -EBADMSG || !number)
			return fd;
		number--;
		*gap = true;
	}
}

/* Start to read a file. @previous: the file before it; may be the id of the open one */
static void use_file(struct spool *spool, int fd, const struct identity *identity,
		     const char *previous)
{
	snprintf(spool->next.previous, sizeof(spool->next.previous), "%s", previous);
	if (!strcmp(previous, SPOOL_GAP))
		spool->gaps++;
	close_file(spool);
	spool->fd = fd;
	spool->identity = *identity;
	spool->next.previous_size = spool->next.offset;
	memcpy(spool->next.file, identity->file, sizeof(spool->next.file));
	memcpy(spool->next.subject, identity->subject, sizeof(spool->next.subject));
	spool->next.offset = 0;
	spool->solid = 0;
	spool->seen = 0;
	spool->seen_final = false;
	spool->drained = false;
	spool->complete = false;
	end_search(spool);
	spool->started = true;
}

/* ------------------------------------------------------------------------
 * Chunks
 */

/* Find the next valid header from an offset on. Return: its offset, or @size: none. */
static uint64_t find_header(int fd, uint64_t offset, uint64_t size, unsigned char *buffer)
{
	struct elog_block_header header;
	const unsigned char *at, *end;
	ssize_t got;

	while (offset + HEADER_BYTES <= size) {
		got = read_at(fd, buffer, SPOOL_CHUNK_MAX, offset);
		if (got < (ssize_t)HEADER_BYTES)
			break;
		end = buffer + got - HEADER_BYTES + 1;
		for (at = buffer; at < end; at++) {
			at = memchr(at, ELOG_FILE_MAGIC[0] & 0xff, (size_t)(end - at));
			if (!at)
				break;
			memcpy(&header, at, sizeof(header));
			if (elog_block_decode(&header))
				return offset + (uint64_t)(at - buffer);
		}
		offset += (uint64_t)(end - buffer);
	}
	return size;
}

/* The bytes of a block with its padding. */
static uint64_t block_bytes(const struct elog_block_header *header)
{
	return (sizeof(*header) + (uint64_t)header->size + ELOG_BLOCK_ALIGN - 1) &
	       ~(uint64_t)(ELOG_BLOCK_ALIGN - 1);
}

/* How far the chunk that begins at @data reaches. */
struct extent {
	size_t size;		/* of its whole blocks */
	bool bounded;		/* nothing that follows can belong to it */
	uint64_t large;		/* bytes of a first block that is too large for a chunk */
	bool damaged;		/* what follows @size is no block */
	bool complete;		/* the last block is END */
};

static void measure(const unsigned char *data, size_t size, uint64_t left, struct extent *extent)
{
	struct elog_block_header header;
	uint64_t bytes;

	*extent = (struct extent){ 0 };
	while (extent->size + HEADER_BYTES <= size) {
		memcpy(&header, data + extent->size, sizeof(header));
		extent->damaged = !elog_block_decode(&header);
		if (extent->damaged)
			return;
		bytes = block_bytes(&header);
		extent->bounded = extent->size && (header.type == ELOG_BLOCK_FILE ||
						   extent->size + bytes > SPOOL_CHUNK_MAX);
		if (extent->bounded)
			return;
		if (bytes > SPOOL_CHUNK_MAX && bytes <= left)
			extent->large = bytes;
		if (extent->size + bytes > size)
			return;
		extent->size += bytes;
		extent->complete = header.type == ELOG_BLOCK_END;
		extent->bounded = extent->complete || header.type == ELOG_BLOCK_SYNC;
		if (extent->bounded)
			return;
	}
	/* The header of another block does not fit. */
	extent->bounded = extent->size && size == SPOOL_CHUNK_MAX;
}

/* Let the rest of a chunk's size be bytes without a block that has to be looked at. */
static size_t solid_size(const struct spool *spool)
{
	uint64_t left = spool->solid - spool->next.offset;

	return left < SPOOL_CHUNK_MAX ? (size_t)left : SPOOL_CHUNK_MAX;
}

/*
 * Find the size of the next chunk of the open file, and read it.
 *
 * Return: the size; 0: there is none yet; or a negative errno.
 */
static ssize_t read_chunk(struct spool *spool, unsigned char *data)
{
	/* Look at the lock first: what is there without it does not become complete. */
	const bool final = !output_is_locked(spool->fd);
	const uint64_t offset = spool->next.offset;
	struct extent extent;
	struct stat now;
	ssize_t size;
	uint64_t end;

	if (fstat(spool->fd, &now))
		return -errno;
	spool->drained = final;
	if ((uint64_t)now.st_size <= offset ||
	    ((uint64_t)now.st_size == spool->seen && final == spool->seen_final))
		return 0;
	size = read_at(spool->fd, data, SPOOL_CHUNK_MAX, offset);
	if (size <= 0)
		return size;
	if (offset < spool->solid)
		return solid_size(spool) <= (size_t)size ? (ssize_t)solid_size(spool) : 0;
	measure(data, (size_t)size, (uint64_t)now.st_size - offset, &extent);
	spool->complete = extent.complete && extent.bounded;
	if (extent.large)
		spool->solid = offset + extent.large;
	else if (extent.size && (extent.bounded || extent.damaged || final))
		return (ssize_t)extent.size;
	else if (extent.damaged || final) {
		end = find_header(spool->fd, offset + 1, (uint64_t)now.st_size, data);
		if (end < (uint64_t)now.st_size || final)
			spool->solid = end;
		size = read_at(spool->fd, data, SPOOL_CHUNK_MAX, offset);
		if (size < 0)
			return size;
	}
	if (spool->solid > offset)
		return solid_size(spool) <= (size_t)size ? (ssize_t)solid_size(spool) : 0;
	spool->seen = (uint64_t)now.st_size;
	spool->seen_final = final;
	return 0;
}

/* Pass over the chunks before a position. */
static void skip_to(struct spool *spool, uint64_t offset, unsigned char *data)
{
	ssize_t size;

	while (spool->next.offset < offset) {
		size = read_chunk(spool, data);
		if (size <= 0 || spool->next.offset + (uint64_t)size > offset)
			return;
		spool->next.offset += (uint64_t)size;
	}
}

/* ------------------------------------------------------------------------
 * From file to file
 */

/* Is a number missing below the other files? A rotation does this for a moment. */
static bool has_hole(const struct spool *spool, int oldest)
{
	const unsigned int number = (unsigned int)(oldest + 1);
	struct stat found;

	return !stat_number(spool, number, &found) && stat_number(spool, number + 1, &found);
}

/* Return: 1 a file is open; 0 not yet; or a negative errno. */
static int open_oldest(struct spool *spool, const char *previous)
{
	const int number = find_oldest(spool);
	const bool hole = has_hole(spool, number);
	struct identity identity;
	bool gap = hole;
	int fd;

	if (hole && !gives_up(spool))
		return 0;
	if (number < 0) {
		spool->searches = false;
		return 0;
	}
	fd = open_from(spool, number, &identity, &gap);
	/* Was it renamed or removed before it was opened? */
	if (find_oldest(spool) != number || has_hole(spool, number) != hole) {
		if (fd >= 0)
			close(fd);
		spool->searches = true;
		return 0;
	}
	if (fd < 0)
		return fd == -EAGAIN ? 0 : fd;
	use_file(spool, fd, &identity, gap ? SPOOL_GAP : previous);
	return 1;
}

/* As open_oldest(). */
static int open_first(struct spool *spool, unsigned char *data)
{
	struct identity identity;
	struct stat found;
	unsigned int number;
	int fd, error = 0;

	if (!*spool->resume.file)
		return open_oldest(spool, "");
	for (number = 0; number <= NUMBER_MAX && stat_number(spool, number, &found); number++) {
		fd = open_number(spool, number, &identity);
		/* This may be the file that is sought, unless another one is. */
		if (fd < 0 && fd != -EAGAIN && fd != -EBADMSG)
			error = fd;
		if (fd < 0)
			continue;
		if (!strcmp(identity.file, spool->resume.file)) {
			use_file(spool, fd, &identity, "");
			/* A gap before it was counted when it was found. */
			memcpy(spool->next.previous, spool->resume.previous,
			       sizeof(spool->next.previous));
			spool->next.previous_size = spool->resume.previous_size;
			skip_to(spool, spool->resume.offset, data);
			return 1;
		}
		close(fd);
	}
	if (error)
		return error;
	/* A rotation may have renamed it meanwhile. */
	return gives_up(spool) ? open_oldest(spool, SPOOL_GAP) : 0;
}

/*
 * Has another capture emptied the file and written a new header? Or has the capture emptied
 * it before it removes it, because the disk is full?
 */
static bool is_replaced(const struct spool *spool)
{
	unsigned char header[HEADER_BYTES];
	struct stat now;

	return (!fstat(spool->fd, &now) && (uint64_t)now.st_size < spool->next.offset) ||
	       (read_at(spool->fd, header, sizeof(header), 0) == sizeof(header) &&
		memcmp(header, spool->identity.header, sizeof(header)));
}

/* The open file has no name: go on with the oldest one that is left. As open_oldest(). */
static int open_remaining(struct spool *spool)
{
	struct stat open_file;
	const bool removed = !fstat(spool->fd, &open_file) && !open_file.st_nlink;

	/* Otherwise a rotation may be renaming it. */
	return removed || gives_up(spool) ? open_oldest(spool, SPOOL_GAP) : 0;
}

/* Go on with the file after the open one, if there is one. As open_oldest(). */
static int open_following(struct spool *spool)
{
	struct identity identity;
	int number = find_number(spool), fd;
	bool gap = false;

	if (number < 0)
		return open_remaining(spool);
	end_search(spool);
	if (!number)
		return 0;
	fd = open_from(spool, number - 1, &identity, &gap);
	if (fd < 0)
		return fd == -EAGAIN ? 0 : fd;
	if (find_number(spool) != number) {
		close(fd);
		return 0;
	}
	use_file(spool, fd, &identity, gap ? SPOOL_GAP : spool->identity.file);
	return 1;
}

/* As open_oldest(). */
static int open_again(struct spool *spool)
{
	const int number = find_number(spool);
	struct identity identity;
	/* What was not read is lost, if there was more. */
	bool gap = !spool->complete;
	int fd;

	/* Then the files after it may be there still. */
	if (number < 0)
		return open_remaining(spool);
	fd = open_from(spool, number, &identity, &gap);
	if (fd < 0)
		return fd == -EAGAIN ? 0 : fd;
	use_file(spool, fd, &identity, gap ? SPOOL_GAP : spool->identity.file);
	return 1;
}

/* Read the next chunk of the open file. As read_chunk(). */
static ssize_t read_file(struct spool *spool, void *data)
{
	ssize_t size = read_chunk(spool, data);
	int ret;

	/* Otherwise the data would be of another file. */
	if (!is_replaced(spool))
		return size;
	ret = open_again(spool);
	return ret > 0 ? read_chunk(spool, data) : ret;
}

int spool_next(struct spool *spool, void *data, struct spool_chunk *chunk)
{
	ssize_t size;
	int ret;

	if (spool->fd < 0) {
		ret = open_first(spool, data);
		if (ret <= 0)
			return ret;
	}
	size = read_file(spool, data);
	if (!size && spool->drained) {
		ret = open_following(spool);
		if (ret <= 0)
			return ret;
		size = read_file(spool, data);
	}
	if (size <= 0)
		return (int)size;
	*chunk = spool->next;
	chunk->size = (size_t)size;
	spool->next.offset += (uint64_t)size;
	return 1;
}

uint64_t spool_lag(const struct spool *spool)
{
	struct stat open_file, found;
	unsigned int number;
	uint64_t lag = 0;

	if (spool->fd < 0 || fstat(spool->fd, &open_file))
		return 0;
	if ((uint64_t)open_file.st_size > spool->next.offset)
		lag = (uint64_t)open_file.st_size - spool->next.offset;
	for (number = 0; number <= NUMBER_MAX && stat_number(spool, number, &found) &&
	     !is_same(&found, &open_file); number++)
		lag += (uint64_t)found.st_size;
	return lag;
}
