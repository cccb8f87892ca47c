/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: questions to the device.
 */
#ifndef ELOG_DEVICE_H
#define ELOG_DEVICE_H

#include <stdint.h>

#include <linux/eventlog.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * elog_device_open() - open the device for questions
 * @device: path, or NULL for EVENTLOG_DEVICE
 *
 * The file has no role and wants none: it is for elog_device_version(),
 * elog_device_describe() and for reading the status listing. While it is open
 * the kernel module cannot be removed.
 *
 * Return: a file descriptor (close-on-exec), or what open(2) fails with;
 * -ENOENT, -ENXIO and -ENODEV mean that the module is not loaded.
 */
int elog_device_open(const char *device);

/**
 * elog_device_version() - ask what the kernel module is and can do
 * @fd: the device
 * @version: filled in
 *
 * Return: 0, or -ENOTTY when @fd is something else.
 */
int elog_device_version(int fd, struct eventlog_version *version);

/**
 * elog_device_describe() - get a definition's schema text
 * @fd: the device, in any role
 * @request: flags and descriptor as for EVENTLOG_IOC_DESCRIBE; on success all
 *	other members but text are filled in
 * @text: set to the text, NUL-terminated, which the caller frees
 *
 * To walk all definitions start with descriptor 0 and EVENTLOG_DESCRIBE_NEXT,
 * and call again with what came back until -ENOENT.
 *
 * Return: 0; -ENOENT when there is no (further) definition; -ENOMEM.
 */
int elog_device_describe(int fd, struct eventlog_describe *request,
			 char **text);

/**
 * elog_device_delete() - delete persistent events
 * @fd: the device, in any role
 * @provider: the provider's name, or NULL for EVENTLOG_DEFAULT_PROVIDER
 * @event: the event's name: all definitions of it are deleted, or none
 *
 * Return: 0; -ENOENT there is no such persistent event; -EBUSY a process has it
 * registered, or a tracer is attached to it; -EPERM CAP_PERFMON or CAP_SYS_ADMIN
 * is needed; -EINVAL these are no names.
 */
int elog_device_delete(int fd, const char *provider, const char *event);

/**
 * elog_time_offset() - what our CLOCK_MONOTONIC is ahead of that of records, ns
 *
 * Records have the one of the initial time namespace. In another namespace, as a
 * container may be in, clock_gettime(2) tells another time. Asks /proc; callable by
 * any thread.
 *
 * Return: 0 but in a time namespace.
 */
int64_t elog_time_offset(void);

#ifdef __cplusplus
}
#endif

#endif /* ELOG_DEVICE_H */
