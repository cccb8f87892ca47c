/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests that load and unload the module, and open the device to every user.
 * $EVENTLOG_KO, else $EVENTLOG_MODULE, is its file; eventlog_user_events.ko is in the same
 * directory.  After the last test the module is loaded again as it was before.
 */
#ifndef MODULE_COMMON_H
#define MODULE_COMMON_H

#include "eventlog_common.h"

#define USER_EVENTS_MODULE "eventlog_user_events"

/**
 * try_load() - load the module with these parameters; -1 with errno on failure
 *
 * Once a test has called user_events_load(), this loads that module, too.
 */
int try_load(const char *parameters);

/** try_unload() - unload the module, first that of user_events; -1 with errno on failure */
int try_unload(void);

/** user_events_try_load() - load eventlog_user_events.ko; -1 with errno on failure */
int user_events_try_load(const char *parameters);

/** user_events_load() - the same, unless it is loaded; skips where it is not needed */
void user_events_load(void);

/** is_loaded() - is the module loaded */
bool is_loaded(void);

/** load() - unload the module and load it with these parameters; skips without a file */
void load(const char *parameters);

/** load_open() - the same, and let every user open the device */
void load_open(const char *parameters);

/* Users without rights. */
#define USER 1000
#define OTHER 1001

/** fork_user() - run a function as a user without rights; for test_join() */
pid_t fork_user(uid_t uid, void (*function)(void));

/** as_user() - the same, and wait for it */
void as_user(uid_t uid, void (*function)(void));

/** quota() - the results of QUOTA */
struct eventlog_user_quota quota(int fd, __u32 number);

/** try_register_number() - REGISTER "PREFIX_NUMBER u32 x"; returns as ioctl(2) */
int try_register_number(int fd, const char *prefix, unsigned int number);

/**
 * register_many() - register such events until that fails
 * @fd: the file
 * @prefix: of the names
 * @error: the errno that it must fail with
 *
 * Return: how many were registered.
 */
unsigned int register_many(int fd, const char *prefix, int error);

#endif /* MODULE_COMMON_H */
