/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The server of the engine: its socket, and all connections.
 */
#ifndef ENGINE_SERVER_H
#define ENGINE_SERVER_H

#include <stdbool.h>

/** server_load() - load the module; first, and once. Return: 0 or a negative errno */
int server_load(void);

/** server_listen() - make a socket, and serve it. Return: 0 or a negative errno */
int server_listen(const char *path);

/**
 * server_run() - serve until SIGINT or SIGTERM
 * @unused_ms: end if it is not used for so long
 * @may_end: called first; false: go on; NULL: do not end unless there is a signal
 *
 * It is used while there is a connection that subscribes, or that has not registered an event.
 */
void server_run(unsigned int unused_ms, bool (*may_end)(void));

/**
 * server_stop_listening() - close the socket
 *
 * Return: false: someone has just connected, who is served.
 */
bool server_stop_listening(void);

/** server_unload() - end all connections, unload the module; return whether it has not warned */
bool server_unload(void);

#endif /* ENGINE_SERVER_H */
