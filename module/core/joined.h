/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buffers that payloads of several parts are assembled in: for BPF programs, which get
 * the payload as one piece, and for filters, which decide on what is copied.
 *
 * There is one per CPU and context, so that an emission that interrupts another one has
 * a buffer of its own.  They are allocated when they are first needed, and freed when the
 * module is unloaded.
 */
#ifndef EVENTLOG_JOINED_H
#define EVENTLOG_JOINED_H

#include <linux/types.h>
#include <uapi/linux/eventlog.h>

/* Size of a buffer; documented in eventlog(4). */
#define EVENTLOG_JOINED_MAX 4096

/**
 * eventlog_joined_prepare() - allocate the buffers unless they exist
 *
 * Context: process context.
 *
 * Return: 0 or -ENOMEM.
 */
int eventlog_joined_prepare(void);

/**
 * eventlog_joined_exit() - once, at unload, when nothing can emit any more
 */
void eventlog_joined_exit(void);

/**
 * eventlog_joined_get() - take the buffer of this CPU and a context
 * @context: the context that is running
 *
 * Context: any, preemption off until eventlog_joined_put().
 *
 * Return: EVENTLOG_JOINED_MAX bytes; NULL: the buffers were not prepared, or this one is
 * in use, because code that reads it has emitted an event.
 */
u8 *eventlog_joined_get(enum eventlog_context context);

/**
 * eventlog_joined_put() - give the buffer back
 * @context: as for eventlog_joined_get(), which has returned the buffer
 */
void eventlog_joined_put(enum eventlog_context context);

#endif /* EVENTLOG_JOINED_H */
