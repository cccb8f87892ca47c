/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module's parsers, between kernel.h and the C library: parser.c.
 */
#ifndef FUZZ_PARSER_H
#define FUZZ_PARSER_H

#include <stdbool.h>
#include <stddef.h>

/**
 * parser_schema() - register a schema, as with EVENTLOG_REGISTER_SCHEMA
 * @text: the schema
 * @payload: a payload of its event
 * @bytes: of @payload
 * @accepted: set: would write() accept the payload?
 *
 * Return: the listing, for free(); NULL: the module does not accept the schema.
 */
char *parser_schema(const char *text, const void *payload, size_t bytes, bool *accepted);

/** parser_command() - the same for a command, which is modified */
char *parser_command(char *command, const void *payload, size_t bytes, bool *accepted);

#endif /* FUZZ_PARSER_H */
