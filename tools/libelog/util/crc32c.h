/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The ways to compute a CRC-32C, for tests and benchmarks. Other code calls elog_crc32c().
 */
#ifndef LIBELOG_CRC32C_H
#define LIBELOG_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct elog_crc32c_variant - a way to compute a CRC-32C
 * @name: for people; NULL: the end of the list
 * @run: as elog_crc32c()
 */
struct elog_crc32c_variant {
	const char *name;
	uint32_t (*run)(uint32_t crc, const void *data, size_t size);
};

/** elog_crc32c_variants() - get what this CPU can do, from slow to fast */
const struct elog_crc32c_variant *elog_crc32c_variants(void);

#endif /* LIBELOG_CRC32C_H */
