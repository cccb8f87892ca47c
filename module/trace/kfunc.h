/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BPF programs as producers: the kfunc bpf_eventlog_emit().
 *
 *	extern int bpf_eventlog_emit(u32 descriptor, u64 session, const void *payload,
 *				     u32 payload__sz) __ksym __weak;
 *
 * The module needs BTF for it: see scripts/module-btf for headers that come without
 * what makes that.
 */
#ifndef EVENTLOG_KFUNC_H
#define EVENTLOG_KFUNC_H

#include <linux/types.h>

/**
 * bpf_eventlog_emit() - emit an event of processes
 * @descriptor: of a living event, such as elog create makes and elog list shows
 * @session: 0: none
 * @payload: valid for the event
 * @payload__sz: its size
 *
 * Any context a program runs in.
 *
 * Return: 0; -ENOENT: there is no such event; -EPERM: it is a kernel provider's;
 * -EBADF: nobody wants it; -EINVAL, -EBADMSG: as write() says.
 */
int bpf_eventlog_emit(u32 descriptor, u64 session, const void *payload, u32 payload__sz);

/**
 * eventlog_kfunc_init() - offer the kfunc, once, at load
 *
 * Return: 0, also if the module has no BTF; or the kernel's error.
 */
int eventlog_kfunc_init(void);

#endif /* EVENTLOG_KFUNC_H */
