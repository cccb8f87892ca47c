/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device: /dev/eventlog, its files and their ioctls.
 */
#ifndef EVENTLOG_DEVICE_H
#define EVENTLOG_DEVICE_H

#include <linux/types.h>

struct eventlog_domain;

/**
 * eventlog_device_init() - make /dev/eventlog appear
 * @domain: what it opens
 * @mode: the device node's permissions
 * @rules_max: told by VERSION
 * @registrations_max: registrations one file may have
 *
 * Return: 0 or an error of misc_register().
 */
int eventlog_device_init(struct eventlog_domain *domain, umode_t mode, unsigned int rules_max,
			 unsigned int registrations_max);

/**
 * eventlog_device_exit() - make /dev/eventlog disappear
 *
 * No file is open: each pins the module.
 */
void eventlog_device_exit(void);

#endif /* EVENTLOG_DEVICE_H */
