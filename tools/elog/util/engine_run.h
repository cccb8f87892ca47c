/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The engine of a user, in a directory: the function of tools/engine that elog engine calls. elog
 * sees no other name of the engine.
 */
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

#include <stdbool.h>

/**
 * elog_engine_run() - serve until a signal ends it
 * @directory: of the user alone
 * @once: end when no one has subscribed for two seconds
 * @ready: called with the path of the socket: programs can connect
 *
 * Return: 0; -EEXIST: another engine serves the directory; or another negative errno.
 */
int elog_engine_run(const char *directory, bool once, void (*ready)(const char *socket));

#endif /* ENGINE_RUN_H */
