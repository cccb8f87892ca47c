/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the generated part of typed_test calls, see check.c.
 */
#ifndef TYPED_CHECK_H
#define TYPED_CHECK_H

#include <elog.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A generated function of the header of -d. */
typedef size_t (*text_function)(char *buffer, size_t room, const void *payload, size_t bytes);

/* Random arguments for the functions of the header of -u. */
uint64_t next_number(void);
const char *next_string(void);
const void *next_bytes(void);

/* Room for any payload. */
extern struct elog_payload expected;

/** begin_schema() - use the schema in a file as the reference */
void begin_schema(const char *file);

/** begin_event() - expect that the next event is emitted, with a payload that follows */
void begin_event(void);

/**
 * end_event() - check the event that was emitted
 * @name: its name
 * @result: of the emitting function
 * @text: its text function
 *
 * Compares its payload with the expected one, and its text, and that of random payloads,
 * with libelog's.
 */
void end_event(const char *name, int result, text_function text);

#ifdef __cplusplus
}
#endif

#endif /* TYPED_CHECK_H */
