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
 * @device: path, or NULL for $ELOG_DEVICE, else EVENTLOG_DEVICE or an engine
 *
 * The file is for elog_device_info(), elog_device_describe(), elog_device_delete()
 * and, if it is not an engine, for reading the status text. The kernel module cannot be
 * removed while the file is open.
 *
 * Return: a file descriptor (close-on-exec), or a negative errno of open(2);
 * -ENOENT, -ENXIO and -ENODEV mean that the module is not loaded, -EPROTONOSUPPORT that
 * it has another ABI version than this library.
 */
int elog_device_open(const char *device);

/**
 * elog_device_info() - get the version and limits of the module, what exists, and quotas
 * @fd: the device, in any role; the opener of the file is the user of the quotas
 * @info: the caller sets its size; filled in up to there
 *
 * Return: 0; -EINVAL @info->size is too small; or -ENOTTY if @fd is not the device.
 */
int elog_device_info(int fd, struct eventlog_info *info);

/**
 * elog_device_describe() - get the schema text of a definition
 * @fd: the device, in any role
 * @request: size, flags and descriptor as for EVENTLOG_IOC_DESCRIBE; on success, all
 *	other members except text are filled in, up to size
 * @text: set to the text, NUL-terminated; the caller frees it
 *
 * To list all definitions, use elog_list_open().
 *
 * Return: 0; -EINVAL @request->size is too small; -E2BIG members are set that this
 * library does not know; -ENOENT there is no such definition, or no further one, or the
 * opener of the file may not see it; -ENOMEM.
 */
int elog_device_describe(int fd, struct eventlog_describe *request,
			 char **text);

/* A list of what the module has, see elog_list_open(). */
struct elog_list;

/**
 * elog_list_open() - begin to list definitions, instances and the like
 * @fd: the device, in any role; it must stay open
 * @kind: enum eventlog_list_kind, except EVENTLOG_LIST_NAMES
 * @cursor: list elements whose key is greater than this; 0: all
 * @list: set to the list, for one thread
 *
 * Return: 0 or -ENOMEM.
 */
int elog_list_open(int fd, uint32_t kind, uint64_t cursor, struct elog_list **list);

/**
 * elog_list_next() - get the next element
 * @list: the list
 * @element: a struct that the kind has, see linux/eventlog.h; the caller sets its size, and it is
 *	filled in up to there, except text_offset
 * @text: set to the strings of the element, each with its NUL, which are valid until the next
 *	call; may be NULL
 *
 * Elements are in the order of their keys. One that is made or ends meanwhile may be missing.
 *
 * Return: 0; -ENOENT there are no more; -EINVAL the size of @element is too small, or the module
 * does not know the kind; -EPERM the opener of the file had no CAP_PERFMON; -ENOTTY the file is
 * not the device; -ENOMEM.
 */
int elog_list_next(struct elog_list *list, void *element, const char **text);

/**
 * elog_list_close() - end a list
 * @list: the list, or NULL
 */
void elog_list_close(struct elog_list *list);

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
 * elog_instance_create() - create an instance
 * @fd: the device, not that of an instance
 * @name: its name; the device node is /dev/eventlog-NAME
 * @request: the caller sets all members except name, id and fd, as for
 *	EVENTLOG_IOC_INSTANCE_CREATE; id is set
 *
 * The instance stays until elog_instance_delete().
 *
 * Return: a file descriptor of the instance (close-on-exec); -EINVAL @request->size is too
 * small, or the name or another member is not valid; -E2BIG members are set that this library
 * does not know; -EEXIST there is an instance of this name; -ENOSPC there are too many;
 * -EPERM @fd is that of an instance, or its opener had no CAP_SYS_ADMIN; -ENOTTY the module
 * has no instances; -EMFILE; -ENOMEM.
 */
int elog_instance_create(int fd, const char *name, struct eventlog_instance_create *request);

/**
 * elog_instance_delete() - delete an instance
 * @fd: as for elog_instance_create()
 * @id: its id
 *
 * Its subscribers get what was emitted before, and elog_consumer_wait() returns -ENODEV.
 *
 * Return: 0; -ENOENT there is no such instance; -EPERM and -ENOTTY as above.
 */
int elog_instance_delete(int fd, uint32_t id);

/**
 * elog_instance_open() - open a file of an instance
 * @fd: the device
 * @id: the id of the instance; 0: another file of what @fd belongs to, the root or an instance
 *
 * Return: a file descriptor (close-on-exec); -ENOENT there is no such instance; -ENODEV @fd
 * is that of an instance, which was deleted; -EBADF @fd is not open for reading and writing;
 * -EPERM the opener of @fd had no CAP_PERFMON; -ESHUTDOWN the module is being replaced; -ENOTTY as
 * above; -EMFILE; -ENOMEM.
 */
int elog_instance_open(int fd, uint32_t id);

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
