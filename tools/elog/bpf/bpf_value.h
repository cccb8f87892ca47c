/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values in the memory of BPF programs, as their types (BTF) describe them. Where
 * elog was built without libbpf there is nothing of it.
 */
#ifndef BPF_VALUE_H
#define BPF_VALUE_H

#include "util/tool.h"

struct btf;

/**
 * struct value_style - how to print a value
 * @btf: its types; NULL: it has none
 * @json: as JSON; otherwise much like it, with names bare
 */
struct value_style {
	const struct btf *btf;
	bool json;
};

/**
 * put_value() - append a value
 * @style: how
 * @type: its type's number; 0: none
 * @data: its bytes, in this machine's order
 * @size: of them; what the type says is beyond is not printed
 * @text: where
 *
 * Without a type it is bytes, in hexadecimal.
 */
void put_value(const struct value_style *style, uint32_t type, const void *data,
	       size_t size, struct elog_text *text);

#endif /* BPF_VALUE_H */
