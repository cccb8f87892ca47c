/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The engine of this user, which captures use where there is no device.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/**
 * engine_use() - let this elog, and its COMMAND, use an engine if the device cannot be opened
 * @quiet: do not say so
 *
 * Starts it unless there is one. If the user has named a device, that is the one to use. Prints
 * why there is no engine.
 *
 * Return: false: there is no device, and no engine either.
 */
bool engine_use(bool quiet);

/** engine_used() - has engine_use() found or started one? */
bool engine_used(void);

/**
 * engine_of() - the process of an engine
 * @fd: a file of the device
 *
 * Return: 0: it is a device.
 */
pid_t engine_of(int fd);

/** engine_path() - get the path of the socket of the engine that a file is a connection to */
void engine_path(int fd, char *path, size_t size);

/**
 * engine_lacks() - say that an engine has no such thing
 * @fd: a file of the device
 * @what: in the plural
 *
 * Return: false: the file is that of a device.
 */
bool engine_lacks(int fd, const char *what);

#endif /* ENGINE_H */
