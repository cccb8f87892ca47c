/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the verbs that load BPF programs share. Where elog was built without libbpf
 * there is nothing of it.
 */
#ifndef BPF_LOAD_H
#define BPF_LOAD_H

#include "util/tool.h"

#define BPF_TRACEPOINT	"eventlog_emit"

/** bpf_say() - let libbpf's warnings be seen, with @verbose what else it says */
void bpf_say(bool verbose);

/** bpf_hush() - let nothing be seen that libbpf says */
void bpf_hush(void);

/** bpf_explain() - print "WHAT: why" and a hint */
void bpf_explain(const char *what, int error);

#endif /* BPF_LOAD_H */
