// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs of kernel_fuzz.c: changing, printing and reading them.  Depends on nothing else, so the
 * same seed gives the same programs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

__u64 fuzz_random(__u64 *seed, __u64 limit)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return limit ? (*seed * 0x2545f4914f6cdd1dULL >> 11) % limit :
		       *seed * 0x2545f4914f6cdd1dULL;
}

/* ------------------------------------------------------------------------
 * Mutation
 */

static __u64 random_word(__u64 *seed)
{
	switch (fuzz_random(seed, 6)) {
	case 0:
		return fuzz_random(seed, 0);
	case 1:
		return 1ULL << fuzz_random(seed, 64);
	case 2:
		return (1ULL << fuzz_random(seed, 64)) - 1;
	case 3:
		return -fuzz_random(seed, 16);
	default:
		return fuzz_random(seed, 16);
	}
}

static __u64 wrong_pointer(__u64 *seed)
{
	return fuzz_random(seed, 40) ? 0 : (1 + fuzz_random(seed, 6)) << 60;
}

static __u64 random_string(const struct fuzz_field *field, __u64 *seed)
{
	__u64 count = fuzz_alphabets[field->extra].count;
	__u64 arg;

	if (field->more >= 0)
		count += fuzz_alphabets[field->more].count;
	arg = fuzz_random(seed, count) + (field->kind == FUZZ_STRING_OR_0);
	if (!fuzz_random(seed, 8))
		arg |= (1 + fuzz_random(seed, 0xffff)) << 8;
	return arg | wrong_pointer(seed);
}

static __u64 random_size(const struct fuzz_field *field, __u64 *seed)
{
	if (fuzz_random(seed, 24))
		return 0;
	switch (fuzz_random(seed, 4)) {
	case 0:
		return field->extra - 4 * fuzz_random(seed, field->extra / 4);
	case 1:
		return field->extra + fuzz_random(seed, 64);
	case 2:
		return random_word(seed);
	default:
		return 4 + fuzz_random(seed, field->extra);
	}
}

/* A new value, which is legal most of the time. */
static __u64 random_arg(const struct fuzz_field *field, __u64 *seed)
{
	switch (field->kind) {
	case FUZZ_SIZE:
		return random_size(field, seed);
	case FUZZ_FLAGS:
		if (!fuzz_random(seed, 40))
			return random_word(seed);
		return fuzz_random(seed, 2) ? fuzz_random(seed, 0) & field->extra : 0;
	case FUZZ_NUMBER:
		if (!fuzz_random(seed, 30))
			return random_word(seed);
		return field->values[fuzz_random(seed, 2) ? 0 :
				     fuzz_random(seed, field->value_count)];
	case FUZZ_BITS:
		return fuzz_random(seed, 3) ? random_word(seed) : 0;
	case FUZZ_STRING:
		return random_string(field, seed);
	case FUZZ_STRING_OR_0:
		return fuzz_random(seed, 3) ? random_string(field, seed) : 0;
	case FUZZ_ROOM:
	case FUZZ_POINTER:
	case FUZZ_POOL:
		return wrong_pointer(seed);
	case FUZZ_POINTER_OR_0:
		return fuzz_random(seed, 3) ? 0 : 1 | wrong_pointer(seed);
	case FUZZ_PLACE:
		if (!fuzz_random(seed, 40))
			return (1 + fuzz_random(seed, 300)) << 8;
		return fuzz_random(seed, fuzz_alphabets[field->extra].count);
	case FUZZ_USE:
	case FUZZ_MAKE_USE:
		if (!fuzz_random(seed, 24))
			return (1 + (random_word(seed) & 0xffffffff)) << 8;
		return fuzz_random(seed, 3) ? fuzz_random(seed, 3) : fuzz_random(seed, 16);
	case FUZZ_MAKE:
	case FUZZ_ZERO:
		return fuzz_random(seed, 60) ? 0 : random_word(seed);
	case FUZZ_SLOT:
	case FUZZ_MAKE_SLOT:
		return fuzz_random(seed, 3) ? fuzz_random(seed, 3) : fuzz_random(seed, 8);
	case FUZZ_DIRECTORY:
	case FUZZ_PID:
		return fuzz_random(seed, 3);
	case FUZZ_BIT:
		return fuzz_random(seed, 8) | wrong_pointer(seed);
	}
	return 0;
}

/* Calls that others need are more frequent. */
static __u8 random_op(__u64 *seed)
{
	static const __u8 frequent[] = {
		FUZZ_OP_REGISTER, FUZZ_OP_SUBSCRIBE, FUZZ_OP_RULE_ADD, FUZZ_OP_WRITE, FUZZ_OP_OPEN,
		FUZZ_OP_MMAP, FUZZ_OP_ATTACH, FUZZ_OP_PRODUCE, FUZZ_OP_UE_REGISTER,
	};

	return fuzz_random(seed, 3) ? fuzz_random(seed, fuzz_op_count) :
				      frequent[fuzz_random(seed, sizeof(frequent))];
}

static void make_call(struct fuzz_call *call, __u64 *seed)
{
	const struct fuzz_op *op;
	unsigned int i;

	memset(call, 0, sizeof(*call));
	call->op = random_op(seed);
	call->thread = fuzz_random(seed, fuzz_random(seed, 4) ? 2 : FUZZ_THREADS);
	op = &fuzz_ops[call->op];
	for (i = 0; i < op->field_count; i++)
		call->args[i] = random_arg(&op->fields[i], seed);
}

static void insert(struct fuzz_program *program, unsigned int at, const struct fuzz_call *call)
{
	if (program->count == FUZZ_CALLS_MAX)
		return;
	memmove(&program->calls[at + 1], &program->calls[at],
		(program->count - at) * sizeof(*call));
	program->calls[at] = *call;
	program->count++;
}

static void drop(struct fuzz_program *program, unsigned int at)
{
	program->count--;
	memmove(&program->calls[at], &program->calls[at + 1],
		(program->count - at) * sizeof(program->calls[0]));
}

static void change_args(struct fuzz_call *call, __u64 *seed)
{
	const struct fuzz_op *op = &fuzz_ops[call->op];
	unsigned int times = 1 + fuzz_random(seed, 3), i;

	while (times--) {
		i = fuzz_random(seed, op->field_count);
		switch (fuzz_random(seed, 6)) {
		case 0:
			call->args[i] ^= 1ULL << fuzz_random(seed, 16);
			break;
		case 1:
			call->args[i] += fuzz_random(seed, 9) - 4;
			break;
		default:
			call->args[i] = random_arg(&op->fields[i], seed);
		}
	}
}

/* Put the calls of the other program, from one of them on, into this one. */
static void take_calls(struct fuzz_program *program, const struct fuzz_program *other, __u64 *seed)
{
	unsigned int i, at = fuzz_random(seed, program->count + 1);

	for (i = fuzz_random(seed, other->count + 1); i < other->count; i++)
		insert(program, at < program->count ? at++ : program->count, &other->calls[i]);
}

static void mutate_once(struct fuzz_program *program, const struct fuzz_program *other,
			__u64 *seed)
{
	struct fuzz_call call;
	unsigned int at;

	at = program->count ? fuzz_random(seed, program->count) : 0;
	switch (program->count ? fuzz_random(seed, 20) : 0) {
	case 0 ... 6:
		make_call(&call, seed);
		insert(program, fuzz_random(seed, 3) ? program->count : at, &call);
		break;
	case 7:
		drop(program, at);
		break;
	case 8:
		call = program->calls[at];
		insert(program, fuzz_random(seed, program->count + 1), &call);
		break;
	case 9:
		program->calls[at].thread = fuzz_random(seed, FUZZ_THREADS);
		break;
	case 10 ... 12:
		program->calls[at].fail = fuzz_random(seed, 4) ? 1 + fuzz_random(seed, 20) : 0;
		break;
	case 13:
		program->flags ^= 1U << fuzz_random(seed, 2);
		break;
	case 14:
		take_calls(program, other, seed);
		break;
	default:
		change_args(&program->calls[at], seed);
	}
}

void fuzz_mutate(struct fuzz_program *program, const struct fuzz_program *other, __u64 *seed)
{
	unsigned int times = 1 + fuzz_random(seed, 5);

	while (times--)
		mutate_once(program, other, seed);
}

/* ------------------------------------------------------------------------
 * Text: a line for each call: "NAME thread=1 fail=2 FIELD=VALUE ...".  What is 0 is left out
 */

void fuzz_print(const struct fuzz_program *program, FILE *file)
{
	const struct fuzz_call *call;
	const struct fuzz_op *op;
	unsigned int i, j;

	fprintf(file, "program%s%s\n", program->flags & FUZZ_RACE ? " race" : "",
		program->flags & FUZZ_NAMESPACE ? " namespace" : "");
	for (i = 0; i < program->count; i++) {
		call = &program->calls[i];
		op = &fuzz_ops[call->op];
		fprintf(file, "%s", op->name);
		if (call->thread)
			fprintf(file, " thread=%u", call->thread);
		if (call->fail)
			fprintf(file, " fail=%u", call->fail);
		for (j = 0; j < op->field_count; j++)
			if (call->args[j])
				fprintf(file, " %s=0x%llx", op->fields[j].name, call->args[j]);
		fprintf(file, "\n");
	}
}

static bool parse_argument(struct fuzz_call *call, char *word)
{
	const struct fuzz_op *op = &fuzz_ops[call->op];
	char *equal = strchr(word, '='), *end;
	unsigned int i;
	__u64 value;

	if (!equal || !equal[1])
		return false;
	*equal = '\0';
	errno = 0;
	value = strtoull(equal + 1, &end, 0);
	if (errno || *end)
		return false;
	if (!strcmp(word, "thread") && value < FUZZ_THREADS) {
		call->thread = value;
		return true;
	}
	if (!strcmp(word, "fail") && value < 256) {
		call->fail = value;
		return true;
	}
	for (i = 0; i < op->field_count; i++) {
		if (strcmp(op->fields[i].name, word))
			continue;
		call->args[i] = value;
		return true;
	}
	return false;
}

static bool parse_line(struct fuzz_program *program, char *line)
{
	struct fuzz_call *call = &program->calls[program->count];
	char *word = strtok(line, " ");
	unsigned int i;

	for (i = 0; i < fuzz_op_count && strcmp(fuzz_ops[i].name, word); i++)
		;
	if (i == fuzz_op_count || program->count == FUZZ_CALLS_MAX)
		return false;
	memset(call, 0, sizeof(*call));
	call->op = i;
	while ((word = strtok(NULL, " ")))
		if (!parse_argument(call, word))
			return false;
	program->count++;
	return true;
}

bool fuzz_parse(struct fuzz_program *program, FILE *file, const char *name)
{
	unsigned int number = 0;
	char line[8192];

	memset(program, 0, sizeof(*program));
	while (fgets(line, sizeof(line), file)) {
		number++;
		line[strcspn(line, "\n")] = '\0';
		if (!*line || *line == '#')
			continue;
		if (!strncmp(line, "program", 7)) {
			program->flags = (strstr(line, " race") ? FUZZ_RACE : 0) |
					 (strstr(line, " namespace") ? FUZZ_NAMESPACE : 0);
			continue;
		}
		if (!parse_line(program, line)) {
			fprintf(stderr, "%s:%u: not a call of this interface\n", name, number);
			return false;
		}
	}
	return true;
}
