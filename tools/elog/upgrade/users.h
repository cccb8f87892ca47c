/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processes that use the device, in the root and in all instances.
 */
#ifndef USERS_H
#define USERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/**
 * struct user - a process
 * @pid: its id
 * @registers: it has registered events
 * @holds: it has an open file, or a mapping, of the device, and @left is false
 * @left: an earlier look has not found it with one
 * @by_user_events: it has an open file of user_events, which eventlog_user_events.ko provides
 * @has_library: it has mapped libelog.so; a program may also be linked with libelog.a
 * @name: its name, printable
 */
struct user {
	pid_t pid;
	bool registers;
	bool holds;
	bool left;
	bool by_user_events;
	bool has_library;
	char name[16];
};

struct users {
	struct user *users;
	size_t count;
};

/**
 * users_of_events() - find the processes that have registered events
 * @users: zeroed; free with users_free()
 * @fd: a file of the root
 *
 * Return: 0 or a negative errno.
 */
int users_of_events(struct users *users, int fd);

/**
 * users_of_device() - find the processes that keep the device open, but for this one
 * @users: zeroed, or of users_of_events(), to which it adds; or of the last look
 *
 * Who was asked for the device and has given it up opens it for a moment from time to time, to see
 * whether it may come back. It cannot keep it: so a later look no longer says that it holds it.
 *
 * Return: 0 or a negative errno.
 */
int users_of_device(struct users *users);

/** users_free() - free what was found */
void users_free(struct users *users);

#endif /* USERS_H */
