// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-only
/*
 * Checks of the terms of filters: see filter.h.
 */
#include "common/filter.h"
#include "common/word.h"

#define EVENTLOG_TERM_FLAGS							\
	(EVENTLOG_TERM_COMMON | EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_NEGATIVE |	\
	 EVENTLOG_TERM_BOOL | EVENTLOG_TERM_STRING | EVENTLOG_TERM_IPV4 |	\
	 EVENTLOG_TERM_IPV6)

static bool eventlog_target_valid(u16 target, unsigned int i, unsigned int count)
{
	return target == EVENTLOG_FILTER_ACCEPT || target == EVENTLOG_FILTER_REJECT ||
	       (target > i && target < count);
}

/* Checks that an offset is the start of a NUL-terminated string in the pool. */
static bool eventlog_pool_string(const struct eventlog_terms *terms, u32 offset)
{
	return offset < terms->pool_size &&
	       memchr(terms->pool + offset, '\0', terms->pool_size - offset);
}

/* Checks that address and mask are in the pool, and that bits outside the mask are 0. */
static bool eventlog_term_address_valid(const struct eventlog_terms *terms,
					const struct eventlog_term *term)
{
	unsigned int bytes = eventlog_term_address_bytes(term), i;
	const char *address;

	if (term->flags & EVENTLOG_TERM_IPV4 && term->flags & EVENTLOG_TERM_IPV6)
		return false;
	if (term->address > terms->pool_size || 2 * bytes > terms->pool_size - term->address)
		return false;
	address = terms->pool + term->address;
	for (i = 0; i < bytes; i++)
		if (address[i] & ~address[bytes + i])
			return false;
	return true;
}

/* Checks the values named by flags, and that all others are 0. */
static bool eventlog_term_values_valid(const struct eventlog_terms *terms,
				       const struct eventlog_term *term)
{
	u32 flags = term->flags;

	if (flags & EVENTLOG_TERM_NEGATIVE &&
	    (!(flags & EVENTLOG_TERM_NUMBER) || flags & EVENTLOG_TERM_BOOL ||
	     !term->number || term->number > EVENTLOG_SIGN))
		return false;
	if (flags & EVENTLOG_TERM_BOOL && term->number > 1)
		return false;
	if (!(flags & (EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_BOOL)) && term->number)
		return false;
	if (flags & EVENTLOG_TERM_STRING ? !eventlog_pool_string(terms, term->string) :
					   term->string)
		return false;
	if (flags & (EVENTLOG_TERM_IPV4 | EVENTLOG_TERM_IPV6))
		return eventlog_term_address_valid(terms, term);
	return !term->address;
}

/* Does the term carry values that its operation can use, and only these? */
static bool eventlog_term_operands_valid(const struct eventlog_term *term)
{
	u32 values = term->flags & ~EVENTLOG_TERM_COMMON;

	switch (term->operation) {
	case EVENTLOG_TERM_OP_SET:
		return !values;
	case EVENTLOG_TERM_OP_EQUAL:
	case EVENTLOG_TERM_OP_NOT_EQUAL:
		return values;
	case EVENTLOG_TERM_OP_BITS:
		return values && !(values & ~(EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_STRING)) &&
		       !term->number == !(values & EVENTLOG_TERM_NUMBER);
	case EVENTLOG_TERM_OP_BEGINS:
	case EVENTLOG_TERM_OP_BEGINS_NOT:
		return values == EVENTLOG_TERM_STRING;
	default:
		return values && !(values & ~(EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_NEGATIVE |
					      EVENTLOG_TERM_STRING));
	}
}

static int eventlog_term_check(const struct eventlog_terms *terms, unsigned int i)
{
	const struct eventlog_term *term = &terms->array[i];
	const char *name;

	if (term->operation > EVENTLOG_TERM_OP_BEGINS_NOT ||
	    term->flags & ~EVENTLOG_TERM_FLAGS || term->reserved || term->reserved2)
		return -EINVAL;
	if (!eventlog_pool_string(terms, term->name))
		return -EINVAL;
	name = eventlog_term_name(terms, term);
	if (!eventlog_identifier_valid(name, strlen(name), ""))
		return -EINVAL;
	if (term->flags & EVENTLOG_TERM_COMMON && !eventlog_common_value_find(name))
		return -EINVAL;
	if (!eventlog_term_values_valid(terms, term) || !eventlog_term_operands_valid(term))
		return -EINVAL;
	if (!eventlog_target_valid(term->on_true, i, terms->count) ||
	    !eventlog_target_valid(term->on_false, i, terms->count))
		return -EINVAL;
	if (term->flags & EVENTLOG_TERM_STRING &&
	    strlen(eventlog_term_string(terms, term)) >= EVENTLOG_TERM_STRING_MAX)
		return -E2BIG;
	return 0;
}

int eventlog_terms_check(const struct eventlog_terms *terms)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < terms->count && !ret; i++)
		ret = eventlog_term_check(terms, i);
	return ret;
}
