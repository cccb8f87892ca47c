/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a file cannot be read, in the same words everywhere. Inline, as session_number.h.
 */
#ifndef FILE_ERROR_H
#define FILE_ERROR_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <elog.h>

#define FILE_ERROR_BYTES	160

/**
 * file_error() - get the reason
 * @reader: the reader of the file, for its version; NULL: there is none
 * @error: a negative errno
 * @buffer: FILE_ERROR_BYTES, which the reason may use
 *
 * Return: the reason.
 */
static inline const char *file_error(const struct elog_reader *reader, int error, char *buffer)
{
	const char *version = reader ? elog_reader_info(reader, "version") : NULL;
	const char *flags = reader ? elog_reader_info(reader, "flags") : NULL;
	const char *program = reader ? elog_reader_info(reader, "elog") : NULL;

	switch (error) {
	case -EBADMSG:
		return "not a file of elog capture -o, or its start is damaged";
	case -EOPNOTSUPP:
		return "this build of elog cannot read the compression";
	case -EPROTONOSUPPORT:
		if (version && atoi(version) == ELOG_FILE_VERSION)
			snprintf(buffer, FILE_ERROR_BYTES, "a file with features that this elog "
				 "does not know: flags %.40s", flags ? flags : "?");
		else if (program)
			snprintf(buffer, FILE_ERROR_BYTES, "a file of version %.20s, which "
				 "elog %.60s wrote and reads; this elog reads version %d",
				 version ? version : "?", program, ELOG_FILE_VERSION);
		else
			snprintf(buffer, FILE_ERROR_BYTES, "a file of version %.20s, but this elog "
				 "reads version %d", version ? version : "?", ELOG_FILE_VERSION);
		return buffer;
	default:
		return strerror(-error);
	}
}

#endif /* FILE_ERROR_H */
