/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: functions on the device in any role.
 */
#ifndef ELOG_DEVICE_H
#define ELOG_DEVICE_H

#include <stdint.h>

#include <linux/eventlog.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * elog_device_open() - open the device without a role
 * @device: path, or NULL for EVENTLOG_DEVICE
 *
 * The file is for elog_device_version(), elog_device_describe(), elog_device_delete()
 * and for reading the status text. The kernel module cannot be removed while the file
 * is open.
 *
 * Return: a file descriptor (close-on-exec), or a negative errno of open(2);
 * -ENOENT, -ENXIO and -ENODEV mean that the module is not loaded, -EPROTONOSUPPORT that
 * it has another ABI version than this library.
 */
int elog_device_open(const char *device);

/**
 * elog_device_version() - get the version and the features of the kernel module
 * @fd: the device
 * @version: the caller sets its size; filled in up to there
 *
 * Return: 0; -EINVAL @version->size is too small; or -ENOTTY if @fd is not the device.
 */
int elog_device_version(int fd, struct eventlog_version *version);

/**
 * elog_device_counts() - get the numbers of events, providers and subscribers
 * @fd: the device, in any role
 * @counts: the caller sets its size; filled in up to there
 *
 * Return: 0; -EINVAL @counts->size is too small; or -ENOTTY if @fd is not the device.
 */
int elog_device_counts(int fd, struct eventlog_counts *counts);

/**
 * elog_device_quota() - get what a user may make the kernel keep
 * @fd: the device, in any role; the opener of the file is the user
 * @quota: the caller sets size and quota, and zeroes the rest, which is filled in
 *
 * Return: 0; -EINVAL @quota->size is too small, or @quota->quota is unknown; -ENOTTY @fd
 * is not the device.
 */
int elog_device_quota(int fd, struct eventlog_user_quota *quota);

/**
 * elog_device_describe() - get the schema text of a definition
 * @fd: the device, in any role
 * @request: size, flags and descriptor as for EVENTLOG_IOC_DESCRIBE; on success, all
 *	other members except text are filled in, up to size
 * @text: set to the text, NUL-terminated; the caller frees it
 *
 * To list all definitions, elog_definitions_next() is faster.
 *
 * Return: 0; -EINVAL @request->size is too small; -E2BIG members are set that this
 * library does not know; -ENOENT there is no such definition, or no further one, or the
 * opener of the file may not see it; -ENOMEM.
 */
int elog_device_describe(int fd, struct eventlog_describe *request,
			 char **text);

/* A list of all definitions, see elog_definitions_open(). */
struct elog_definitions;

/**
 * elog_definitions_open() - begin to list all definitions
 * @fd: the device, in any role; it must stay open
 * @definitions: set to the list, for one thread
 *
 * Return: 0 or -ENOMEM.
 */
int elog_definitions_open(int fd, struct elog_definitions **definitions);

/**
 * elog_definitions_next() - get the next definition
 * @definitions: the list
 * @definition: the caller sets size; filled in up to there, except text
 * @text: set to the schema text, which is valid until the next call
 *
 * Definitions are in the order of their descriptors. One that is made or ends meanwhile may
 * be missing.
 *
 * Return: 0; -ENOENT there are no more; -EINVAL @definition->size is too small; -ENOTTY the
 * file is not the device; -ENOMEM.
 */
int elog_definitions_next(struct elog_definitions *definitions,
			  struct eventlog_describe *definition, const char **text);

/**
 * elog_definitions_close() - end a list
 * @definitions: the list, or NULL
 */
void elog_definitions_close(struct elog_definitions *definitions);

/**
 * elog_device_delete() - delete persistent events
 * @fd: the device, in any role
 * @provider: the provider's name, or NULL for EVENTLOG_DEFAULT_PROVIDER
 * @event: the event's name
 *
 * Deletes all definitions of the event, or none.
 *
 * Return: 0; -ENOENT there is no such persistent event; -EBUSY a process has it
 * registered, or a tracer is attached to it; -EPERM the caller needs CAP_PERFMON or
 * CAP_SYS_ADMIN; -EINVAL these are not names.
 */
int elog_device_delete(int fd, const char *provider, const char *event);

/**
 * elog_time_offset() - how far the caller's CLOCK_MONOTONIC is ahead, ns
 *
 * Records have the time of the initial time namespace. In another time namespace, for
 * example in a container, clock_gettime(2) returns a different time. Reads /proc; any
 * thread may call it.
 *
 * Return: the difference; 0 outside of time namespaces.
 */
int64_t elog_time_offset(void);

#ifdef __cplusplus
}
#endif

#endif /* ELOG_DEVICE_H */
