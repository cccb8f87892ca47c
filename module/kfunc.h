/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BPF programs as producers: the kfunc bpf_eventlog_emit().
 *
 *	extern int bpf_eventlog_emit(u32 descriptor, u64 session, const void *payload,
 *				     u32 payload__sz) __ksym __weak;
 *
 * The module needs BTF for it, which it gets where the kernel's headers come
 * with what makes it: 6.12 and later.
 */
#ifndef EVENTLOG_KFUNC_H
#define EVENTLOG_KFUNC_H

/**
 * eventlog_kfunc_init() - offer the kfunc, once, at load
 *
 * Return: 0, also if the module has no BTF; or the kernel's error.
 */
int eventlog_kfunc_init(void);

#endif /* EVENTLOG_KFUNC_H */
