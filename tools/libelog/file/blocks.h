/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The blocks of .elog files: see elog(5). All numbers are little-endian, except those in
 * records.
 */
#ifndef LIBELOG_BLOCKS_H
#define LIBELOG_BLOCKS_H

#include "elog.h"

#define ELOG_FILE_MAGIC		"\x89" "ELOG\r\n\x1a"
#define ELOG_BLOCK_ALIGN	8
#define ELOG_BLOCK_MAX		(64U << 20)	/* bytes of a block's body */
/* Limits of this library, not of the format. */
#define ELOG_FILE_CPUS_MAX	4096
#define ELOG_FILE_STREAMS_MAX	8192

#define ELOG_ZSTD_RATIO		1024	/* body to stored bytes, at most */

#define ELOG_BLOCK_ZSTD		(1U << 0)	/* the body is compressed */
#define ELOG_BLOCK_BIG_ENDIAN	(1U << 1)	/* the records of a DATA block are */

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define ELOG_BLOCK_NATIVE	ELOG_BLOCK_BIG_ENDIAN
#else
#define ELOG_BLOCK_NATIVE	0
#endif

enum elog_block_type {
	ELOG_BLOCK_FILE		= 1,
	ELOG_BLOCK_SCHEMA	= 2,
	ELOG_BLOCK_PROCESSES	= 3,
	ELOG_BLOCK_DATA		= 4,
	ELOG_BLOCK_SYNC		= 5,
	ELOG_BLOCK_INDEX	= 6,
	ELOG_BLOCK_END		= 7,
	ELOG_BLOCK_INSTANCE	= 8,
};

struct elog_block_header {
	uint8_t  magic[8];
	uint32_t type;
	uint32_t flags;
	uint32_t size;		/* of the stored form of the body, without padding */
	uint32_t raw_size;	/* of the body when it is decompressed */
	uint32_t body_crc;
	uint32_t header_crc;	/* of the members above */
};

struct elog_block_schema {
	uint32_t descriptor;
	uint32_t provider_id;
	uint32_t instance;	/* 0: the root */
	uint32_t offset;	/* of the text, in the body */
	/* the text */
};

struct elog_block_processes {
	uint32_t offset;	/* of the first entry, in the body */
	uint32_t entry_size;
	/* struct elog_block_process */
};

struct elog_block_process {
	uint32_t pid;
	uint32_t tid;
	char name[16];
};

struct elog_block_data {
	uint32_t cpu;		/* EVENTLOG_CPU_UNKNOWN: not known */
	uint32_t stream;
	uint64_t position;
	uint32_t instance;	/* of the stream; 0: the root */
	uint32_t offset;	/* of the records, in the body */
	/* the records */
};

struct elog_block_loss {
	uint32_t cpu;		/* EVENTLOG_CPU_UNKNOWN: not known */
	uint32_t stream;	/* ELOG_STREAM_NONE: CPUs that have no ring */
	/* An entry may end here, before its lost. */
	uint32_t instance;	/* of the stream; 0: the root */
	uint32_t reserved;	/* 0 */
	uint64_t lost[];	/* as many as the block says */
};

/* Bytes of the members of a loss that every entry has. */
#define ELOG_BLOCK_LOSS_MIN	8

struct elog_block_instance {
	uint32_t id;		/* not 0 */
	uint32_t offset;	/* of the name, in the body */
	/* the name */
};

struct elog_block_sync {
	uint64_t time;
	uint64_t monotonic;
	uint64_t boottime;
	uint64_t realtime;
	uint32_t count;		/* of struct elog_block_loss, which follow */
	uint32_t causes;	/* elements of their lost */
	uint32_t offset;	/* of the first entry, in the body */
	uint32_t fixed_size;	/* bytes of an entry before its lost */
};

struct elog_block_end {
	uint64_t records;
	uint64_t lost;
	/* The rest may be missing. Offsets are from the FILE block of the part. */
	uint64_t part;		/* of this block */
	uint64_t index;		/* of the last INDEX block; 0: there is none */
	uint64_t latest;	/* CLOCK_REALTIME ns: nothing in the part is later */
};

struct elog_block_index {
	uint64_t part;		/* offset of this block; offsets are from FILE */
	uint64_t previous;	/* of the previous INDEX block; 0: there is none */
	uint64_t position;	/* where to continue */
	uint64_t sync;		/* of the SYNC block right before @position */
	uint64_t time;		/* of that */
	uint64_t latest;	/* CLOCK_REALTIME ns of the latest record before @position */
	uint32_t blocks;	/* offsets, which follow, in ascending order */
	uint32_t streams;	/* struct elog_block_stream, which follow those */
	uint32_t causes;	/* elements of their lost */
	uint32_t fixed_size;	/* bytes of a stream before its lost */
	uint32_t offset;	/* of the offsets, in the body */
	uint32_t reserved;	/* 0 */
};

struct elog_block_stream {
	uint32_t cpu;		/* EVENTLOG_CPU_UNKNOWN: not known */
	uint32_t stream;	/* ELOG_STREAM_NONE: losses on CPUs that have no ring */
	uint64_t position;	/* behind its last DATA block; ~0: none */
	uint64_t lost[];	/* as many as the block says */
};

/** elog_block_entry_size() - bytes of an entry that ends with its losses */
static inline size_t elog_block_entry_size(size_t fixed_size, uint32_t causes)
{
	return fixed_size + causes * sizeof(uint64_t);
}

/* Larger offsets and entries are damage. */
#define ELOG_BLOCK_HEAD_MAX	4096

/** elog_block_is_head() - is this the size of a known struct, or of one that has grown? */
static inline bool elog_block_is_head(uint32_t size, size_t known)
{
	return size >= known && size <= ELOG_BLOCK_HEAD_MAX && !(size % 8);
}

#define ELOG_INDEX_BLOCKS_MAX	65536

#define HEADER_BYTES	sizeof(struct elog_block_header)

/** elog_block_decode() - verify a header, and convert it; false: it is not valid */
bool elog_block_decode(struct elog_block_header *header);

#endif /* LIBELOG_BLOCKS_H */
