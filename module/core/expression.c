// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters from user space: see expression.h.
 *
 * The caller may change its memory at any time: everything is copied once, and only
 * the copy is checked.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "core/expression.h"
#include "core/fields.h"
#include "core/filter.h"
#include "core/ioctl.h"
#include "memory.h"

#define EVENTLOG_TERM_FLAGS							\
	(EVENTLOG_TERM_COMMON | EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_NEGATIVE |	\
	 EVENTLOG_TERM_BOOL | EVENTLOG_TERM_STRING | EVENTLOG_TERM_IPV4 |	\
	 EVENTLOG_TERM_IPV6)

void eventlog_expression_put(struct eventlog_expression *expression)
{
	if (!expression || !refcount_dec_and_test(&expression->users))
		return;
	put_pid_ns(expression->pids);
	eventlog_free(expression);
}

/* ---- checking ---- */

static bool eventlog_target_valid(u16 target, unsigned int i, unsigned int count)
{
	return target == EVENTLOG_FILTER_ACCEPT || target == EVENTLOG_FILTER_REJECT ||
	       (target > i && target < count);
}

/* Checks that an offset is the start of a NUL-terminated string in the pool. */
static bool eventlog_pool_string(const struct eventlog_expression *expression, u32 offset)
{
	return offset < expression->pool_size &&
	       memchr(expression->pool + offset, '\0', expression->pool_size - offset);
}

/* Checks that address and mask are in the pool, and that bits outside the mask are 0. */
static bool eventlog_term_address_valid(const struct eventlog_expression *expression,
					const struct eventlog_term *term)
{
	unsigned int bytes = eventlog_term_address_bytes(term), i;
	const char *address = expression->pool + term->address;

	if (term->flags & EVENTLOG_TERM_IPV4 && term->flags & EVENTLOG_TERM_IPV6)
		return false;
	if (term->address > expression->pool_size ||
	    2 * bytes > expression->pool_size - term->address)
		return false;
	for (i = 0; i < bytes; i++)
		if (address[i] & ~address[bytes + i])
			return false;
	return true;
}

/* Checks the values named by flags, and that all others are 0. */
static bool eventlog_term_values_valid(const struct eventlog_expression *expression,
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
	if (flags & EVENTLOG_TERM_STRING ? !eventlog_pool_string(expression, term->string) :
					   term->string)
		return false;
	if (flags & (EVENTLOG_TERM_IPV4 | EVENTLOG_TERM_IPV6))
		return eventlog_term_address_valid(expression, term);
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

static int eventlog_term_check(const struct eventlog_expression *expression, unsigned int i)
{
	const struct eventlog_term *term = &expression->terms[i];
	const char *name = expression->pool + term->name;

	if (term->operation > EVENTLOG_TERM_OP_BEGINS_NOT ||
	    term->flags & ~EVENTLOG_TERM_FLAGS || term->reserved || term->reserved2)
		return -EINVAL;
	if (!eventlog_pool_string(expression, term->name) || !eventlog_fields_name_valid(name))
		return -EINVAL;
	if (term->flags & EVENTLOG_TERM_COMMON && !eventlog_filter_common_valid(name))
		return -EINVAL;
	if (!eventlog_term_values_valid(expression, term) || !eventlog_term_operands_valid(term))
		return -EINVAL;
	if (!eventlog_target_valid(term->on_true, i, expression->count) ||
	    !eventlog_target_valid(term->on_false, i, expression->count))
		return -EINVAL;
	if (term->flags & EVENTLOG_TERM_STRING &&
	    strlen(eventlog_term_string(expression, term)) >= EVENTLOG_TERM_STRING_MAX)
		return -E2BIG;
	return 0;
}

static int eventlog_expression_check(const struct eventlog_expression *expression, u32 text_size)
{
	const char *text;
	unsigned int i;
	int ret = 0;

	/* Reject control characters: the text is printed as part of a line. */
	for (text = expression->text; *text; text++)
		if ((u8)*text < ' ' || *text == 0x7f)
			return -EINVAL;
	if (text_size && (text == expression->text || text + 1 != expression->text + text_size))
		return -EINVAL;
	for (i = 0; i < expression->count && !ret; i++)
		ret = eventlog_term_check(expression, i);
	return ret;
}

/* ---- copying ---- */

static int eventlog_filter_check(const struct eventlog_filter *filter)
{
	if (filter->flags || !filter->term_count || !filter->pool_size ||
	    filter->term_size < EVENTLOG_TERM_SIZE_MIN || !filter->text != !filter->text_size)
		return -EINVAL;
	if (filter->term_count > EVENTLOG_TERMS_MAX || filter->term_size > PAGE_SIZE ||
	    filter->pool_size > EVENTLOG_FILTER_POOL_MAX ||
	    filter->text_size > EVENTLOG_FILTER_TEXT_MAX)
		return -E2BIG;
	return 0;
}

static int eventlog_terms_get(struct eventlog_term *terms, const struct eventlog_filter *filter)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < filter->term_count && !ret; i++) {
		u64 user = filter->terms + (u64)i * filter->term_size;

		if (user != (unsigned long)user)
			return -EFAULT;
		ret = copy_struct_from_user(&terms[i], sizeof(terms[i]), u64_to_user_ptr(user),
					    filter->term_size);
	}
	return ret;
}

static struct eventlog_expression *eventlog_expression_copy(const struct eventlog_filter *filter)
{
	struct eventlog_expression *expression;
	char *pool, *text;
	size_t bytes;
	int ret;

	bytes = struct_size(expression, terms, filter->term_count);
	expression = eventlog_alloc(bytes + filter->pool_size + filter->text_size + 1);
	if (!expression)
		return ERR_PTR(-ENOMEM);
	pool = (char *)expression + bytes;
	text = pool + filter->pool_size;
	refcount_set(&expression->users, 1);
	expression->count = filter->term_count;
	expression->pool = pool;
	expression->pool_size = filter->pool_size;
	expression->text = text;
	expression->pids = get_pid_ns(task_active_pid_ns(current));
	/* The byte behind the text is 0. */
	ret = eventlog_terms_get(expression->terms, filter) ?:
	      eventlog_array_get(pool, filter->pool, filter->pool_size) ?:
	      eventlog_array_get(text, filter->text, filter->text_size) ?:
	      eventlog_expression_check(expression, filter->text_size);
	if (!ret)
		return expression;
	eventlog_expression_put(expression);
	return ERR_PTR(ret);
}

struct eventlog_expression *eventlog_expression_get(u64 user)
{
	struct eventlog_filter filter;
	int ret;

	if (!user)
		return NULL;
	if (user != (unsigned long)user)
		return ERR_PTR(-EFAULT);
	ret = eventlog_argument_get(&filter, sizeof(filter),
				    offsetofend(struct eventlog_filter, text),
				    u64_to_user_ptr(user)) ?:
	      eventlog_filter_check(&filter);
	return ret ? ERR_PTR(ret) : eventlog_expression_copy(&filter);
}

/* ---- comparing ---- */

/* Only these decide whether a term is compatible with a marker's field, not the value. */
static bool eventlog_terms_alike(const struct eventlog_expression *expression,
				 const struct eventlog_term *term,
				 const struct eventlog_expression *other,
				 const struct eventlog_term *with)
{
	return term->operation == with->operation && term->flags == with->flags &&
	       !strcmp(eventlog_term_name(expression, term), eventlog_term_name(other, with));
}

bool eventlog_expression_fits_where(const struct eventlog_expression *expression,
				    const struct eventlog_expression *other)
{
	unsigned int i, j;

	for (i = 0; i < expression->count; i++) {
		for (j = 0; j < other->count; j++)
			if (eventlog_terms_alike(expression, &expression->terms[i], other,
						 &other->terms[j]))
				break;
		if (j == other->count)
			return false;
	}
	return true;
}

bool eventlog_expression_names(const struct eventlog_expression *expression, const char *name)
{
	unsigned int i;

	for (i = 0; i < expression->count; i++) {
		if (!strcmp(eventlog_term_name(expression, &expression->terms[i]), name))
			return true;
	}
	return false;
}
