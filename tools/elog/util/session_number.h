/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sessions as users write them. Inline, because the extension of SQLite, which is loaded into
 * other programs, must not bring further symbols.
 */
#ifndef SESSION_NUMBER_H
#define SESSION_NUMBER_H

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define SESSION_TEXT_BYTES	24	/* of a session as text, with the NUL */

/**
 * session_parse() - parse a session
 * @text: as elog prints it, "0x8000000000000001"; or a decimal number; or a negative one, as
 *	programs print the same 64 bits if their numbers are signed
 * @session: set
 *
 * Return: false if it is none.
 */
static inline bool session_parse(const char *text, uint64_t *session)
{
	const bool negative = *text == '-';
	const char *digits = text + negative;
	const bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
	char *end;

	if (!isdigit((unsigned char)*digits) || (negative && hex))
		return false;
	errno = 0;
	*session = strtoull(digits, &end, hex ? 16 : 10);
	if (errno || *end || (negative && *session > (uint64_t)INT64_MAX + 1))
		return false;
	if (negative)
		*session = 0 - *session;
	return true;
}

#endif /* SESSION_NUMBER_H */
