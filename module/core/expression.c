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
#include "core/ioctl.h"
#include "memory.h"

void eventlog_expression_put(struct eventlog_expression *expression)
{
	if (!expression || !refcount_dec_and_test(&expression->users))
		return;
	put_pid_ns(expression->pids);
	eventlog_free(expression);
}

/* ---- checking ---- */

static int eventlog_expression_check(const struct eventlog_expression *expression, u32 text_size)
{
	const char *text;

	/* Reject control characters: the text is printed as part of a line. */
	for (text = expression->text; *text; text++)
		if ((u8)*text < ' ' || *text == 0x7f)
			return -EINVAL;
	if (text_size && (text == expression->text || text + 1 != expression->text + text_size))
		return -EINVAL;
	return eventlog_terms_check(&expression->terms);
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

	bytes = struct_size(expression, array, filter->term_count);
	expression = eventlog_alloc(bytes + filter->pool_size + filter->text_size + 1);
	if (!expression)
		return ERR_PTR(-ENOMEM);
	pool = (char *)expression + bytes;
	text = pool + filter->pool_size;
	refcount_set(&expression->users, 1);
	expression->terms = (struct eventlog_terms){
		.array = expression->array, .count = filter->term_count,
		.pool = pool, .pool_size = filter->pool_size,
	};
	expression->text = text;
	expression->pids = get_pid_ns(task_active_pid_ns(current));
	/* The byte behind the text is 0. */
	ret = eventlog_terms_get(expression->array, filter) ?:
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
static bool eventlog_terms_alike(const struct eventlog_terms *terms,
				 const struct eventlog_term *term,
				 const struct eventlog_terms *other,
				 const struct eventlog_term *with)
{
	return term->operation == with->operation && term->flags == with->flags &&
	       !strcmp(eventlog_term_name(terms, term), eventlog_term_name(other, with));
}

bool eventlog_expression_fits_where(const struct eventlog_expression *expression,
				    const struct eventlog_expression *other)
{
	unsigned int i, j;

	for (i = 0; i < expression->terms.count; i++) {
		for (j = 0; j < other->terms.count; j++)
			if (eventlog_terms_alike(&expression->terms, &expression->array[i],
						 &other->terms, &other->array[j]))
				break;
		if (j == other->terms.count)
			return false;
	}
	return true;
}

bool eventlog_expression_names(const struct eventlog_expression *expression, const char *name)
{
	unsigned int i;

	for (i = 0; i < expression->terms.count; i++) {
		if (!strcmp(eventlog_term_name(&expression->terms, &expression->array[i]), name))
			return true;
	}
	return false;
}
