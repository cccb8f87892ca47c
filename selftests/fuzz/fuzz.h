/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs for kernel_fuzz.c: sequences of calls, whose arguments are numbers.  What a number
 * means depends on the field, see abi.grammar and enum fuzz_kind: so each program can be run,
 * printed, and changed in any way.  0 is the plainest valid value.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "numbers.h"

#define FUZZ_ARGS_MAX	64
#define FUZZ_CALLS_MAX	32
#define FUZZ_BLOCKS_MAX	3
/* Thread 0 runs before all others; 1 and 2 are root's, 3 and 4 another user's. */
#define FUZZ_THREADS	5

/*
 * enum fuzz_kind - what an argument means
 *
 * With pointers, the highest 4 bits say that something is wrong, see run.c.  The next number in a
 * resource's list is arg & 15; arg >> 8, if it is not 0, is a number in place of it, plus 1.
 */
enum fuzz_kind {
	FUZZ_SIZE,		/* 0: of the struct; or the size */
	FUZZ_FLAGS,
	FUZZ_NUMBER,
	FUZZ_BITS,
	FUZZ_STRING,		/* number of a string, and in bits 8 to 39 how it is changed */
	FUZZ_STRING_OR_0,	/* the same; 0: no string, so 1 is the first one */
	FUZZ_ROOM,
	FUZZ_POINTER,
	FUZZ_POINTER_OR_0,	/* 0: NULL, 1: a pointer */
	FUZZ_POOL,
	FUZZ_PLACE,		/* number of a string; or arg >> 8, as with resources */
	FUZZ_USE,
	FUZZ_MAKE,		/* a reserved number before the call */
	FUZZ_MAKE_USE,
	FUZZ_SLOT,
	FUZZ_MAKE_SLOT,		/* where the new file goes */
	FUZZ_DIRECTORY,		/* 0: none, 1: a cgroup, 2: a file of the device */
	FUZZ_PID,		/* 0: none, 1: one's own, 2: of the other process, or a number */
	FUZZ_BIT,		/* number of a word */
	FUZZ_ZERO,
};

/* struct fuzz_string - a string; @bytes with its NUL */
struct fuzz_string {
	const char *text;
	size_t bytes;
};

struct fuzz_alphabet {
	const struct fuzz_string *strings;
	unsigned int count;
};

/*
 * struct fuzz_field - an argument of a call
 * @block: in which of the structs of the call it is; -1: in none
 * @extra: size of the struct, legal flags, alphabet, resource, or the struct that is pointed to
 * @more: a second alphabet; -1: none
 * @values: that are worth trying
 */
struct fuzz_field {
	const char *name;
	__u8 kind;
	__s8 block;
	__u16 offset;
	__u16 size;
	__u32 extra;
	__s8 more;
	const __u64 *values;
	unsigned int value_count;
};

/* struct fuzz_op - a call; @request: of ioctl(), 0: another call */
struct fuzz_op {
	const char *name;
	__u32 request;
	unsigned int block_count;
	__u16 block_bytes[FUZZ_BLOCKS_MAX];
	const struct fuzz_field *fields;
	unsigned int field_count;
};

extern const struct fuzz_alphabet fuzz_alphabets[];
extern const char *const fuzz_resources[];
extern const struct fuzz_op fuzz_ops[];
extern const unsigned int fuzz_op_count;

/* struct fuzz_call - a call; @fail: number of the allocation in it that fails; 0: none */
struct fuzz_call {
	__u8 op;
	__u8 thread;
	__u8 fail;
	__u64 args[FUZZ_ARGS_MAX];
};

#define FUZZ_RACE	1U	/* threads do not wait for each other's calls */
#define FUZZ_NAMESPACE	2U	/* the other user is root in namespaces of its own */

struct fuzz_program {
	unsigned int flags;
	unsigned int count;
	struct fuzz_call calls[FUZZ_CALLS_MAX];
};

/* ---- program.c ---- */

/** fuzz_random() - the next random number below @limit; 0: of 64 bits */
__u64 fuzz_random(__u64 *seed, __u64 limit);

/** fuzz_mutate() - change a program; @other is another one, to take calls from */
void fuzz_mutate(struct fuzz_program *program, const struct fuzz_program *other, __u64 *seed);

/** fuzz_print() - write a program as text */
void fuzz_print(const struct fuzz_program *program, FILE *file);

/** fuzz_parse() - read a program; false: it is not valid, and the reason was printed */
bool fuzz_parse(struct fuzz_program *program, FILE *file, const char *name);

/* ---- run.c ---- */

/**
 * struct fuzz_coverage - the instructions that a thread has reached: memory of KCOV
 * @fd: /sys/kernel/debug/kcov; -1: the kernel has none
 * @area: number of addresses, then the addresses; not mapped in the program's processes
 */
struct fuzz_coverage {
	int fd;
	unsigned long *area;
};

/* Print calls that fail. */
extern bool fuzz_verbose;

#define FUZZ_AREA_WORDS	(64 * 1024)

/**
 * fuzz_run() - run a program
 * @program: the program
 * @coverage: FUZZ_THREADS of them
 *
 * Its processes have ended when this returns.
 *
 * Return: false: a process does not end.
 */
bool fuzz_run(const struct fuzz_program *program, const struct fuzz_coverage *coverage);

#endif /* FUZZ_H */
