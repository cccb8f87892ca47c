/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rings that producers map: ATTACH, DETACH, mmap() and KICK.  For the rings and
 * their locks see shard.h.
 */
#ifndef EVENTLOG_MAPPED_H
#define EVENTLOG_MAPPED_H

#include <linux/types.h>
#include <uapi/linux/eventlog.h>

struct eventlog_domain;
struct eventlog_file;
struct eventlog_ioctls;
struct vm_area_struct;

/* Bytes from the offset of one ring to that of the next one.  The first is the status map. */
#define EVENTLOG_MAPPED_STRIDE (2UL * EVENTLOG_MAPPED_BYTES_MAX)

/* Bytes of the longest message of KICK. */
#define EVENTLOG_KICK_MAX (3 * sizeof(u32) + sizeof(u64) + EVENTLOG_PAYLOAD_MAX)

/* ATTACH and DETACH. */
extern const struct eventlog_ioctls eventlog_mapped_ioctls;

/**
 * eventlog_mapped_init() - once, at load, before a file is opened
 * @domain: the domain that producers emit to
 *
 * Return: 0 or -ENOMEM.
 */
int eventlog_mapped_init(struct eventlog_domain *domain);

/**
 * eventlog_mapped_exit() - once, at unload; also after eventlog_mapped_init() failed
 * @domain: without open files
 */
void eventlog_mapped_exit(struct eventlog_domain *domain);

/**
 * eventlog_mapped_mmap() - map a producer ring
 * @file: a producer
 * @vma: a shared mapping, at an offset of at least EVENTLOG_MAPPED_STRIDE
 *
 * Return: 0; -ENXIO: no such ring; -EINVAL: not exactly a ring; -EPERM: the ring belongs to
 * another process; -EBUSY: it is mapped; -ENOMEM.
 */
int eventlog_mapped_mmap(struct eventlog_file *file, struct vm_area_struct *vma);

/**
 * eventlog_mapped_kick() - write() of EVENTLOG_WRITE_KICK
 * @file: a producer
 * @message: a copy in kernel memory
 * @bytes: its size, at least that of an index
 *
 * Return: 0; -EINVAL: too short; -ENOENT: no such ring; or the errno of the event.
 */
int eventlog_mapped_kick(struct eventlog_file *file, const u8 *message, size_t bytes);

/**
 * eventlog_mapped_drain() - deliver what was emitted to the rings of a file so far
 * @file: a producer
 *
 * Looks at no sleeping ring of another file, and leaves alone the shards in which the file has no
 * ring: a process may call it often, and threads of other users wait for a shard meanwhile.
 *
 * Return: 0, or -EINTR: a fatal signal arrived.
 */
int eventlog_mapped_drain(struct eventlog_file *file);

/**
 * eventlog_mapped_release() - end all rings of a file
 * @file: to which there is no other reference
 */
void eventlog_mapped_release(struct eventlog_file *file);

#endif /* EVENTLOG_MAPPED_H */
