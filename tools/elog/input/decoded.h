/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events whose records have an eventheader: each record describes its own fields, so the
 * conditions and the rows of verbs belong to the schema of the record.
 */
#ifndef DECODED_H
#define DECODED_H

#include "input/source.h"

struct decoded;
struct names;

/**
 * decoded_event() - decode a record
 * @decoded: the decoder of an input; NULL at first, then set
 * @selection: is bound to new schemas
 * @names: sees new schemas; may be NULL
 * @entry: an event whose definition is elog_is_eventheader(): its item gets the decoded
 *	payload, and its @cached becomes the definition of the record
 *
 * Return: 0, -ENOMEM.
 */
int decoded_event(struct decoded **decoded, struct selection *selection, struct names *names,
		  struct entry *entry);

/** decoded_free() - free a decoder; may be NULL */
void decoded_free(struct decoded *decoded, struct selection *selection);

#endif /* DECODED_H */
