/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Conversion of payloads from the other byte order: see swap.c.
 */
#ifndef LIBELOG_SWAP_H
#define LIBELOG_SWAP_H

#include "elog.h"

/**
 * elog_swap_payload() - convert a payload to the other byte order
 * @event: its schema
 * @payload: changed in place
 * @size: bytes of it; fields that reach outside are not changed
 */
void elog_swap_payload(const struct elog_schema_event *event,
		       unsigned char *payload, size_t size);

#endif /* LIBELOG_SWAP_H */
