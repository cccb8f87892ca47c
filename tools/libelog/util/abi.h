/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Which device to open, and whether this library and the kernel module have the same ABI
 * version. No state.
 */
#ifndef ABI_H
#define ABI_H

#include <stdint.h>
#include <stdlib.h>

#include <linux/eventlog.h>

/**
 * elog_device_chosen() - the device that a program or its user has chosen
 * @device: path, or NULL for $ELOG_DEVICE
 *
 * A program with additional privileges ignores the environment.
 *
 * Return: its path, or that of an engine's socket; NULL: none was chosen.
 */
static inline const char *elog_device_chosen(const char *device)
{
	if (!device)
		device = secure_getenv("ELOG_DEVICE");
	return device && *device ? device : NULL;
}

/**
 * elog_device_path() - the device that a program means
 * @device: path, or NULL for $ELOG_DEVICE, else EVENTLOG_DEVICE
 */
static inline const char *elog_device_path(const char *device)
{
	device = elog_device_chosen(device);
	return device ? device : EVENTLOG_DEVICE;
}

/**
 * elog_node_open() - open a device node for reading and writing
 * @path: its path, or that of an engine's socket; NULL: EVENTLOG_DEVICE or, if it cannot be opened,
 * the engine of this user
 *
 * Return: a file, or a negative errno; -ENODEV: also the node of an instance that was deleted,
 * where open(2) fails with EACCES.
 */
int elog_node_open(const char *path);

/**
 * elog_abi_check() - compare an ABI version with the library's
 * @abi: of INFO
 *
 * Return: 0, or -EPROTONOSUPPORT.
 */
int elog_abi_check(uint32_t abi);

/**
 * elog_device_check() - refuse a device of another ABI version
 * @fd: the device; makes only a system call
 *
 * Return: 0, also if @fd does not answer; or -EPROTONOSUPPORT.
 */
int elog_device_check(int fd);

#endif /* ABI_H */
