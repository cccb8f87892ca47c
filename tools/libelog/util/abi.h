/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Whether this library and the kernel module have the same ABI version. No state.
 */
#ifndef ABI_H
#define ABI_H

#include <stdint.h>

/**
 * elog_abi_check() - compare an ABI version with the library's
 * @abi: of VERSION
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
