/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attaching the programs of a BPF object, to events among others. Where elog was
 * built without libbpf there is nothing of it.
 */
#ifndef BPF_ATTACH_H
#define BPF_ATTACH_H

#include "util/tool.h"

struct bpf_object;
struct bpf_attached;

/**
 * bpf_attach() - attach all programs of an object
 * @attached: set to what was; to be detached in any case
 * @object: loaded; outlives it
 * @options: -e: what programs for tracepoints that name none get attached to
 *
 * Return: 0, or a negative errno, the reason being told.
 */
int bpf_attach(struct bpf_attached **attached, struct bpf_object *object,
	       const struct options *options);

/** bpf_detach() - detach them; NULL is fine */
void bpf_detach(struct bpf_attached *attached);

/** bpf_wants_events() - has it programs that make no event wanted by themselves? */
bool bpf_wants_events(const struct bpf_attached *attached);

#endif /* BPF_ATTACH_H */
