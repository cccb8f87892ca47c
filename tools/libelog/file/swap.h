/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Payloads in the other byte order.
 */
#ifndef LIBELOG_SWAP_H
#define LIBELOG_SWAP_H

#include "elog.h"

/**
 * elog_swap_payload() - give a payload the other byte order
 * @event: its schema
 * @payload: changed in place
 * @size: bytes of it; fields that are not inside stay as they are
 */
void elog_swap_payload(const struct elog_schema_event *event,
		       unsigned char *payload, size_t size);

#endif /* LIBELOG_SWAP_H */
