/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BPF programs as producers: the kfunc bpf_eventlog_emit().
 *
 *	extern int bpf_eventlog_emit(u32 descriptor, u64 session, const void *payload,
 *				     u32 payload__sz) __ksym __weak;
 *
 * The kfunc requires that the module has BTF.  If the kernel headers come without the
 * tools to generate BTF, use scripts/module-btf.
 */
#ifndef EVENTLOG_KFUNC_H
#define EVENTLOG_KFUNC_H

#include <linux/types.h>

/**
 * bpf_eventlog_emit() - emit an event of processes
 * @descriptor: id of a live event: "elog create" creates one, "elog list" shows its id
 * @session: 0: none
 * @payload: payload that matches the layout of the event
 * @payload__sz: size of @payload
 *
 * Context: any that a BPF program runs in.
 *
 * Return: 0; -ENOENT: there is no such event; -EPERM: it belongs to a kernel provider;
 * -EBADF: it is disabled; -EINVAL, -EBADMSG: the payload is invalid, as for write().
 */
int bpf_eventlog_emit(u32 descriptor, u64 session, const void *payload, u32 payload__sz);

/**
 * eventlog_kfunc_init() - register the kfunc at module load
 *
 * Return: 0, also if the module has no BTF; otherwise the error of
 * register_btf_kfunc_id_set().
 */
int eventlog_kfunc_init(void);

#endif /* EVENTLOG_KFUNC_H */
