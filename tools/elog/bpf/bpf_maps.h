/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the maps of a BPF object hold: those with keys at the end, those that are
 * rings as records come. Where elog was built without libbpf there is nothing of it.
 */
#ifndef BPF_MAPS_H
#define BPF_MAPS_H

#include "output/output.h"

struct bpf_object;
struct bpf_maps;

/**
 * bpf_maps_prepare() - learn what the maps are
 * @maps: set to the new maps
 * @object: open, not loaded yet; outlives them
 * @output: where to print
 * @json: a line of JSON for each entry, or record
 *
 * The type that a ring is declared to have is the type of its records; the kernel
 * must not be told.
 *
 * Return: 0 or a negative errno.
 */
int bpf_maps_prepare(struct bpf_maps **maps, struct bpf_object *object,
		     struct output *output, bool json);

/**
 * bpf_maps_open() - begin to read rings
 * @maps: whose object is loaded
 *
 * Return: 0 or a negative errno.
 */
int bpf_maps_open(struct bpf_maps *maps);

/** bpf_maps_close() - free them; NULL is fine */
void bpf_maps_close(struct bpf_maps *maps);

/** bpf_maps_fd() - readable when a ring has records; -1: there are no rings */
int bpf_maps_fd(const struct bpf_maps *maps);

/** bpf_maps_consume() - print the records there are; 0 or a negative errno */
int bpf_maps_consume(struct bpf_maps *maps);

/** bpf_maps_print() - print what the others hold; 0 or a negative errno */
int bpf_maps_print(struct bpf_maps *maps);

#endif /* BPF_MAPS_H */
