/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The system, for tests: memory, CPUs, threads, capabilities, files, tracefs, perf and the
 * modules of module/ktest/.
 *
 * A function fails the test when something goes wrong, unless it says otherwise.  There are
 * no locks.
 */
#ifndef SYSTEM_COMMON_H
#define SYSTEM_COMMON_H

#include <sys/types.h>
#include <linux/types.h>

#include "eventlog_test.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define ALIGN_UP(value, to) (((value) + ((to) - 1)) / (to) * (to))

/** page_size() - size of a page in bytes */
size_t page_size(void);

/** pages_map() - map zeroed pages */
void *pages_map(size_t bytes);

/** pages_unmapped() - address of an inaccessible page */
void *pages_unmapped(void);

/** edge_buffer() - memory of this size right before an inaccessible page */
void *edge_buffer(size_t bytes);

/** clock_now() - CLOCK_MONOTONIC in nanoseconds */
__u64 clock_now(void);

/** cpus_allowed() - list up to max CPUs that this thread may run on; returns their number */
unsigned int cpus_allowed(unsigned int *cpus, unsigned int max);

/** cpu_pin() - restrict the calling thread to this CPU */
void cpu_pin(unsigned int cpu);

/** thread_id() - id of the calling thread */
pid_t thread_id(void);

/** thread_state() - the state of a thread of any process, as in proc(5) */
char thread_state(pid_t thread);

/** thread_sleeps() - whether a thread of any process sleeps, and has left its CPU */
bool thread_sleeps(pid_t thread);

/** capabilities_keep() - drop every capability that is not in this mask */
void capabilities_keep(__u64 mask);

#define CAPABILITY_SYS_ADMIN (1ULL << 21)
#define CAPABILITY_SYS_RESOURCE (1ULL << 24)
#define CAPABILITY_PERFMON (1ULL << 38)
#define CAPABILITY_ALL ((1ULL << 41) - 1)

/** descriptor_send() - pass an open file over a socket */
void descriptor_send(int socket, int fd);

/** descriptor_receive() - receive an open file from a socket */
int descriptor_receive(int socket);

/** kernel_before() - whether the kernel is older than this version */
bool kernel_before(int major, int minor);

/** user_mode_linux() - whether the kernel is User Mode Linux: no jump labels, NMIs or perf */
bool user_mode_linux(void);

/**
 * trace_events_stay() - whether trace events stay in tracefs when their events have ended
 *
 * Before Linux 6.13 they do, except those of user_events.
 */
static inline bool trace_events_stay(void)
{
	return kernel_before(6, 13);
}

/* The directory of trace events. */
#define TRACEFS "/sys/kernel/tracing"
#define TRACE_EVENTS TRACEFS "/events"

/**
 * trace_events_exist() - mount tracefs if necessary and prepare it for tests
 *
 * Return: whether the loaded module creates trace events.
 */
bool trace_events_exist(void);

/**
 * perf_open_id() - count a trace event with perf
 * @id: of the event
 * @pid: as for perf_event_open(2)
 * @cpu: the same
 *
 * Return: a file; -1 with errno on failure.
 */
int perf_open_id(long id, pid_t pid, int cpu);

#define SETUID_NAME "setuid_copy"

/**
 * setuid_copy() - copy the test program so that it runs as root
 *
 * Only root's group can execute it.  Who executes it gives it the name SETUID_NAME.  It writes an
 * empty line and "uids REAL EFFECTIVE SAVED", and runs until the end of its input.  Skips the
 * test if the copy does not run as its owner.
 *
 * Return: the path of the copy, until the next call.
 */
const char *setuid_copy(void);

/** setuid_copy_remove() - remove the copy, as soon as it was executed */
void setuid_copy_remove(void);

/** file_number() - read a number from a file of /proc or /sys; -1 on failure */
long file_number(const char *path);

/** file_write() - write a text to a file of /proc or /sys; returns as write(2) */
ssize_t file_write(const char *path, const char *text);

/** module_path() - the file of eventlog.ko, or NULL */
const char *module_path(void);

/** module_insert() - load a module from an open file and close that; returns as init_module(2) */
int module_insert(int fd, const char *parameters);

/**
 * module_built() - open a file of the build
 * @file: its path from the directory of eventlog.ko
 *
 * Return: as open(2).  Skips the test if it is not known where eventlog.ko is.
 */
int module_built(const char *file);

/** module_insert_built() - load such a file, which must succeed */
void module_insert_built(const char *file, const char *parameters);

/** module_open() - open the file of a module of module/ktest/; skips the test without it */
int module_open(const char *name);

/** module_load() - load such a module; returns as init_module(2) */
int module_load(const char *name);

/** module_unload() - unload a module; returns as delete_module(2) */
int module_unload(const char *name);

#endif /* SYSTEM_COMMON_H */
