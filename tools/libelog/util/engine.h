/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Where engines are, for programs that find no device. A socket that connects is one; nothing else
 * says so. May be called from signal handlers.
 */
#ifndef LIBELOG_ENGINE_H
#define LIBELOG_ENGINE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "port.h"

/* As of an address of a socket. */
#define ELOG_ENGINE_PATH_BYTES 108

/* The socket in the directory of an engine. */
#define ELOG_ENGINE_SOCKET "engine"

/** enum elog_engine_place - where the directory of an engine can be, in the order of looking */
enum elog_engine_place {
	ELOG_ENGINE_RUNTIME,	/* $XDG_RUNTIME_DIR/eventlog */
	ELOG_ENGINE_USER,	/* /run/user/UID/eventlog */
	ELOG_ENGINE_SYSTEM,	/* /run/eventlog: of root */
	ELOG_ENGINE_MEMORY,	/* /dev/shm/eventlog-UID */
	ELOG_ENGINE_PLACES,
};

/**
 * elog_engine_directory() - get the path of a directory
 * @place: which one
 * @path: set
 *
 * Return: false: this program does not look there.
 */
bool elog_engine_directory(enum elog_engine_place place,
			   char path[ELOG_ENGINE_PATH_BYTES]) ELOG_HIDDEN;

/** elog_is_own_directory() - is it a directory which only this user may write to? */
static inline bool elog_is_own_directory(const char *path)
{
	struct stat found;

	return !lstat(path, &found) && S_ISDIR(found.st_mode) && found.st_uid == geteuid() &&
	       !(found.st_mode & 022);
}

/**
 * elog_engine_find() - open a connection to the engine of this user
 * @path: set to that of its socket
 *
 * Return: a file of the device or a negative errno; -ETIMEDOUT: it does not answer.
 */
int elog_engine_find(char path[ELOG_ENGINE_PATH_BYTES]) ELOG_HIDDEN;

#endif /* LIBELOG_ENGINE_H */
