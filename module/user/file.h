/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device /dev/eventlog, and open files of the root and of instances.
 *
 * A file becomes a producer with its first REGISTER, or a subscriber with
 * SUBSCRIBE.  Its role is set once, under eventlog_file.lock, and read with an
 * acquire load: whatever belongs to the role is complete before that and stays
 * until the file is released.
 *
 * Registrations are an xarray, changed under the lock and read by writers under
 * RCU.  No call holds the lock while it accesses user memory.
 *
 * The locks of user/, and the longest thing that is done with each:
 *	eventlog_file.lock	REGISTER makes a definition, or read() passes all definitions
 *				that its opener may not see; only who shares the file waits
 *	the lock of a shard	look at 4096 producer rings, or deliver as many records; with
 *				mmap_lock, note where a ring ends; see shard.h
 *	the lock of instances	compare a new name with those of all instances, which root
 *				makes; see instance.h
 *	the lock of LEAVE	change the bytes of all status maps, which only root asks for; see
 *				leave.h
 *	registrants_lock	find one of the users that have registered a definition, in a
 *				balanced tree; see visible.h
 */
#ifndef EVENTLOG_FILE_H
#define EVENTLOG_FILE_H

#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/xarray.h>

#include "core/ioctl.h"
#include "user/status.h"

struct cred;
struct eventlog_domain;
struct eventlog_ioctls;
struct eventlog_subscriber;
struct eventlog_user;
struct pid;

/* Writers find registrations with a lower index without a look into the xarray. */
#define EVENTLOG_FIRST_INDICES 32

enum eventlog_role {
	EVENTLOG_ROLE_NONE,
	EVENTLOG_ROLE_PRODUCER,
	EVENTLOG_ROLE_SUBSCRIBER,
};

/**
 * struct eventlog_file - an open file
 * @opener: what core/ knows of the opener; constant
 * @of_owner: it counts in the instance, see eventlog_owner_enter(); constant
 * @by_root: INSTANCE_OPEN by a file of the root has made it; constant
 * @domain: the root, or an instance, with a reference
 * @lock: see the top of the file
 * @user: its opener; NULL: one without limits; constant
 * @uid: effective uid of the opener; constant
 * @process: the process that made the first registration; see registrations.h
 * @producer_id: number among the producers of its domain; 0: not a producer
 * @role: enum eventlog_role
 * @registrations: of a producer, struct eventlog_registration by write_index
 * @first: targets of the lowest indices, 0: none; RCU.  Most producers have no others
 * @registration_count: their number
 * @mapped: of a producer, struct eventlog_mapped by number; read under RCU
 * @ending: number of those that have ended and are not drained yet
 * @threads: of a producer, struct eventlog_thread of those that have written a session
 * @subscriber: of a subscriber
 * @status: the status listing, for read()
 */
struct eventlog_file {
	struct eventlog_opener opener;
	bool of_owner;
	bool by_root;
	struct eventlog_domain *domain;
	struct mutex lock;
	struct eventlog_user *user;
	kuid_t uid;
	struct pid *process;
	u32 producer_id;
	int role;
	struct xarray registrations;
	unsigned long first[EVENTLOG_FIRST_INDICES];
	unsigned int registration_count;
	struct xarray mapped;
	atomic_t ending;
	struct list_head threads;
	struct eventlog_subscriber *subscriber;
	struct eventlog_status status;
};

static inline enum eventlog_role eventlog_file_role(const struct eventlog_file *file)
{
	return smp_load_acquire(&file->role);
}

/**
 * eventlog_file_role_set() - give a file its role, the last step of REGISTER and SUBSCRIBE
 * @file: locked; everything that belongs to the role is complete
 * @role: the role
 *
 * Nothing may fail after this.
 *
 * Return: 0, or -EBUSY: it has another role, or is a subscriber already.
 */
static inline int eventlog_file_role_set(struct eventlog_file *file, enum eventlog_role role)
{
	if (file->role != EVENTLOG_ROLE_NONE &&
	    (file->role != role || role == EVENTLOG_ROLE_SUBSCRIBER))
		return -EBUSY;
	smp_store_release(&file->role, role);
	return 0;
}

/* A file's subscriber, or NULL. */
static inline struct eventlog_subscriber *eventlog_file_subscriber(const struct eventlog_file *file)
{
	return eventlog_file_role(file) == EVENTLOG_ROLE_SUBSCRIBER ? file->subscriber : NULL;
}

static inline bool eventlog_file_read_write(const struct file *filp)
{
	return (filp->f_mode & (FMODE_READ | FMODE_WRITE)) == (FMODE_READ | FMODE_WRITE);
}

/**
 * eventlog_name_get() - copy in a provider's name
 * @user: its address; 0 stands for the default provider
 *
 * Return: the name, not checked yet, for kfree(); or ERR_PTR: -EINVAL: it is too
 * long; -EFAULT; -ENOMEM.
 */
char *eventlog_name_get(u64 user);

/* Also of the device nodes of instances. */
extern const struct file_operations eventlog_file_operations;

/**
 * eventlog_file_new() - make what an open file refers to
 * @domain: the domain; the file takes over the caller's reference
 * @cred: of the opener
 *
 * Return: the file, or ERR_PTR(-ENOMEM): the reference is still the caller's.
 */
struct eventlog_file *eventlog_file_new(struct eventlog_domain *domain, const struct cred *cred);

/**
 * eventlog_file_free() - free it, with all that belongs to the file
 * @file: to which there is no other reference
 */
void eventlog_file_free(struct eventlog_file *file);

/**
 * eventlog_device_init() - create /dev/eventlog
 * @mode: permissions of the device node
 * @rules_max: what INFO reports
 * @registrations_max: limit of one file's registrations
 * @marker_ioctls: the ioctls of markers
 *
 * Return: 0 or an error of misc_register().
 */
int eventlog_device_init(umode_t mode, unsigned int rules_max, unsigned int registrations_max,
			 const struct eventlog_ioctls *marker_ioctls);

/**
 * eventlog_device_exit() - remove /dev/eventlog
 *
 * No file is open, since each pins the module.
 */
void eventlog_device_exit(void);

#endif /* EVENTLOG_FILE_H */
