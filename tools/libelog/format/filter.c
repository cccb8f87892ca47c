// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Evaluation of struct eventlog_filter: see filter.h.
 */
#include <errno.h>
#include <string.h>

#include "elog.h"
#include "format/filter.h"

#define TERM_FLAGS								\
	(EVENTLOG_TERM_COMMON | EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_NEGATIVE |	\
	 EVENTLOG_TERM_BOOL | EVENTLOG_TERM_STRING | EVENTLOG_TERM_IPV4 |	\
	 EVENTLOG_TERM_IPV6)
#define SIGN	(1ULL << 63)

/* The result of a term. */
enum verdict {
	VERDICT_FALSE,
	VERDICT_TRUE,
	VERDICT_INCOMPATIBLE,
};

static enum verdict verdict(bool holds)
{
	return holds ? VERDICT_TRUE : VERDICT_FALSE;
}

static const struct eventlog_term *term_at(const struct eventlog_filter *filter, uint32_t index)
{
	return (const void *)(uintptr_t)(filter->terms + (uint64_t)index * filter->term_size);
}

static const char *pool_at(const struct eventlog_filter *filter, uint32_t offset)
{
	return (const char *)(uintptr_t)filter->pool + offset;
}

static bool is_equality_term(const struct eventlog_term *term)
{
	return term->operation == EVENTLOG_TERM_OP_EQUAL ||
	       term->operation == EVENTLOG_TERM_OP_NOT_EQUAL;
}

static bool is_prefix_term(const struct eventlog_term *term)
{
	return term->operation == EVENTLOG_TERM_OP_BEGINS ||
	       term->operation == EVENTLOG_TERM_OP_BEGINS_NOT;
}

static bool is_inverted(const struct eventlog_term *term)
{
	return term->operation == EVENTLOG_TERM_OP_NOT_EQUAL ||
	       term->operation == EVENTLOG_TERM_OP_BEGINS_NOT;
}

/* ------------------------------------------------------------------------
 * Checking
 */

static bool target_valid(const struct eventlog_filter *filter, uint32_t target, uint32_t index)
{
	return target == EVENTLOG_FILTER_ACCEPT || target == EVENTLOG_FILTER_REJECT ||
	       (target > index && target < filter->term_count);
}

static bool string_valid(const struct eventlog_filter *filter, uint32_t offset)
{
	return offset < filter->pool_size &&
	       memchr(pool_at(filter, offset), '\0', filter->pool_size - offset);
}

static size_t address_size(const struct eventlog_term *term)
{
	return term->flags & EVENTLOG_TERM_IPV4 ? 4 : 16;
}

static bool address_valid(const struct eventlog_filter *filter, const struct eventlog_term *term)
{
	size_t size = address_size(term), i;
	const char *bytes;

	if (term->flags & EVENTLOG_TERM_IPV4 && term->flags & EVENTLOG_TERM_IPV6)
		return false;
	if (term->address > filter->pool_size ||
	    2 * size > filter->pool_size - term->address)
		return false;
	bytes = pool_at(filter, term->address);
	for (i = 0; i < size; i++)
		if (bytes[i] & ~bytes[size + i])
			return false;
	return true;
}

static bool values_valid(const struct eventlog_filter *filter, const struct eventlog_term *term)
{
	uint32_t flags = term->flags;

	if (flags & EVENTLOG_TERM_NEGATIVE &&
	    (!(flags & EVENTLOG_TERM_NUMBER) || flags & EVENTLOG_TERM_BOOL ||
	     !term->number || term->number > SIGN))
		return false;
	if (flags & EVENTLOG_TERM_BOOL && term->number > 1)
		return false;
	if (!(flags & (EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_BOOL)) && term->number)
		return false;
	if (flags & EVENTLOG_TERM_STRING ? !string_valid(filter, term->string) : term->string)
		return false;
	if (flags & (EVENTLOG_TERM_IPV4 | EVENTLOG_TERM_IPV6))
		return address_valid(filter, term);
	return !term->address;
}

/* Does the term carry values that its operation can use, and only these? */
static bool operands_valid(const struct eventlog_term *term)
{
	uint32_t values = term->flags & ~EVENTLOG_TERM_COMMON;

	if (term->operation == EVENTLOG_TERM_OP_SET)
		return !values;
	if (is_equality_term(term))
		return values;
	if (is_prefix_term(term))
		return values == EVENTLOG_TERM_STRING;
	if (term->operation == EVENTLOG_TERM_OP_BITS)
		return values && !(values & ~(EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_STRING)) &&
		       !term->number == !(values & EVENTLOG_TERM_NUMBER);
	return values && !(values & ~(EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_NEGATIVE |
				      EVENTLOG_TERM_STRING));
}

static int check_term(const struct eventlog_filter *filter, uint32_t index)
{
	const struct eventlog_term *term = term_at(filter, index);
	const unsigned char *rest = (const unsigned char *)(term + 1);
	uint32_t i;

	for (i = sizeof(*term); i < filter->term_size; i++)
		if (*rest++)
			return -E2BIG;
	if (term->operation > EVENTLOG_TERM_OP_BEGINS_NOT || term->flags & ~TERM_FLAGS ||
	    term->reserved || term->reserved2)
		return -EINVAL;
	if (!string_valid(filter, term->name) || !*pool_at(filter, term->name))
		return -EINVAL;
	if (term->flags & EVENTLOG_TERM_COMMON &&
	    elog_metadata_find(pool_at(filter, term->name)) > METADATA_SESSION)
		return -EINVAL;
	if (!values_valid(filter, term) || !operands_valid(term) ||
	    !target_valid(filter, term->on_true, index) ||
	    !target_valid(filter, term->on_false, index))
		return -EINVAL;
	if (term->flags & EVENTLOG_TERM_STRING &&
	    strlen(pool_at(filter, term->string)) >= EVENTLOG_TERM_STRING_MAX)
		return -E2BIG;
	return 0;
}

int elog_filter_check(const struct eventlog_filter *filter)
{
	uint32_t i;
	int ret = 0;

	if (filter->flags || !filter->term_count || !filter->pool_size ||
	    filter->term_size < sizeof(struct eventlog_term))
		return -EINVAL;
	if (filter->term_count > EVENTLOG_TERMS_MAX ||
	    filter->pool_size > EVENTLOG_FILTER_POOL_MAX)
		return -E2BIG;
	for (i = 0; i < filter->term_count && !ret; i++)
		ret = check_term(filter, i);
	return ret;
}

/* ------------------------------------------------------------------------
 * Subjects
 */

static void set_integer(struct elog_filter_value *value, uint64_t integer)
{
	value->type = ELOG_TYPE_UNSIGNED;
	value->integer = integer;
}

int elog_filter_record_field(const void *of, const char *name,
			     struct elog_filter_value *value)
{
	const struct elog_filter_record *record = of;
	const struct elog_schema_field *field = NULL;
	struct elog_value decoded;
	size_t i;

	for (i = 0; i < record->event->field_count; i++) {
		field = record->event->fields[i];
		if (!strcmp(field->name, name))
			break;
	}
	if (i == record->event->field_count)
		return -ENOENT;
	value->type = field->type;
	value->is_signed = field->is_signed;
	value->set = field->set;
	elog_decode(field, record->item->payload, record->item->payload_size, &decoded);
	value->integer = decoded.integer;
	value->data = decoded.data;
	value->size = decoded.size;
	return decoded.error == -ENOENT ? -EBADMSG : decoded.error;
}

int elog_filter_record_common(const void *of, enum metadata metadata,
			      struct elog_filter_value *value)
{
	const struct elog_filter_record *record = of;

	switch (metadata) {
	case METADATA_CPU:
		set_integer(value, record->item->cpu);
		return 0;
	case METADATA_PID:
		set_integer(value, record->item->pid);
		return 0;
	case METADATA_TID:
		set_integer(value, record->item->tid);
		return 0;
	case METADATA_SESSION:
		set_integer(value, record->item->session);
		return 0;
	default:
		value->type = ELOG_TYPE_STRING;
		value->data = record->comm;
		value->size = record->comm ? strlen(record->comm) : 0;
		return record->comm ? 0 : -ENODATA;
	}
}

/* ------------------------------------------------------------------------
 * Comparing
 */

static bool any_byte(const struct elog_filter_value *value)
{
	const unsigned char *bytes = value->data;
	size_t i;

	for (i = 0; i < value->size; i++)
		if (bytes[i])
			return true;
	return false;
}

/* Compare a value with the number of a term: less than, equal to, or greater than 0. */
static int compare(uint64_t value, bool is_signed, uint64_t number, bool negative)
{
	bool value_negative = is_signed && value & SIGN;

	if (negative)
		number = 0 - number;
	if (value_negative != negative)
		return value_negative ? -1 : 1;
	return value < number ? -1 : value > number;
}

static enum verdict integer_holds(const struct eventlog_term *term, uint64_t value,
				  bool is_signed, uint64_t number, bool negative)
{
	int order;

	if (term->operation == EVENTLOG_TERM_OP_BITS)
		return number ? verdict(value & number) : VERDICT_INCOMPATIBLE;
	order = compare(value, is_signed, number, negative);
	switch (term->operation) {
	case EVENTLOG_TERM_OP_EQUAL:
		return verdict(!order);
	case EVENTLOG_TERM_OP_NOT_EQUAL:
		return verdict(order);
	case EVENTLOG_TERM_OP_LESS:
		return verdict(order < 0);
	case EVENTLOG_TERM_OP_LESS_EQUAL:
		return verdict(order <= 0);
	case EVENTLOG_TERM_OP_GREATER:
		return verdict(order > 0);
	case EVENTLOG_TERM_OP_GREATER_EQUAL:
		return verdict(order >= 0);
	default:
		return VERDICT_INCOMPATIBLE;
	}
}

static enum verdict compare_integer(const struct eventlog_term *term,
				    const struct elog_filter_value *value)
{
	if (term->operation == EVENTLOG_TERM_OP_SET)
		return verdict(value->integer);
	if (!(term->flags & EVENTLOG_TERM_NUMBER))
		return VERDICT_INCOMPATIBLE;
	return integer_holds(term, value->integer, value->is_signed, term->number,
			     term->flags & EVENTLOG_TERM_NEGATIVE);
}

static enum verdict compare_bool(const struct eventlog_term *term,
				 const struct elog_filter_value *value)
{
	if (term->operation == EVENTLOG_TERM_OP_SET)
		return verdict(value->integer);
	if (!is_equality_term(term) || !(term->flags & EVENTLOG_TERM_BOOL))
		return VERDICT_INCOMPATIBLE;
	return verdict((!value->integer == !term->number) != is_inverted(term));
}

static enum verdict compare_text(const struct eventlog_term *term,
				 const struct elog_filter_value *value, const char *string)
{
	size_t size;
	bool same;

	if (term->operation == EVENTLOG_TERM_OP_SET)
		return verdict(value->size);
	if (!string || !(is_equality_term(term) || is_prefix_term(term)))
		return VERDICT_INCOMPATIBLE;
	size = strlen(string);
	same = is_equality_term(term) ? value->size == size : value->size >= size;
	if (same && size)
		same = !memcmp(value->data, string, size);
	return verdict(same != is_inverted(term));
}

/* Are two hexadecimal digits the byte? -1: they are no such digits. */
static int same_byte(const char *digits, unsigned char byte)
{
	int high = elog_hex_digit(digits[0]);
	int low = high < 0 ? -1 : elog_hex_digit(digits[1]);

	return low < 0 ? -1 : (high << 4 | low) == byte;
}

/* The string has two digits for each byte. */
static enum verdict compare_hex(const struct eventlog_term *term,
				const struct elog_filter_value *value, const char *string)
{
	const unsigned char *bytes = value->data;
	bool same = true;
	size_t count;
	int ret;

	if (!string || !is_equality_term(term))
		return VERDICT_INCOMPATIBLE;
	for (count = 0; *string; string += 2, count++) {
		ret = same_byte(string, count < value->size ? bytes[count] : 0);
		if (ret < 0)
			return VERDICT_INCOMPATIBLE;
		same = same && ret;
	}
	same = same && count == value->size;
	return verdict(same != is_inverted(term));
}

static enum verdict compare_mac(const struct eventlog_term *term,
				const struct elog_filter_value *value, const char *string)
{
	const unsigned char *bytes = value->data;
	bool same = true;
	unsigned int i;
	int ret;

	if (term->operation == EVENTLOG_TERM_OP_SET)
		return verdict(any_byte(value));
	if (!string || !is_equality_term(term))
		return VERDICT_INCOMPATIBLE;
	for (i = 0; i < 6; i++, string += 3) {
		ret = same_byte(string, bytes ? bytes[i] : 0);
		if (ret < 0 || string[2] != (i < 5 ? ':' : '\0'))
			return VERDICT_INCOMPATIBLE;
		same = same && ret;
	}
	return verdict(same != is_inverted(term));
}

/* Map an IPv4 address to IPv6; an IPv4 mask applies to the last bytes, and all of the others. */
static void map_bytes(unsigned char *to, const void *from, size_t size, bool mask)
{
	memset(to, mask ? 0xff : 0, 16);
	if (!mask && size == 4)
		memset(to + 10, 0xff, 2);
	memcpy(to + 16 - size, from, size);
}

static enum verdict compare_address(const struct eventlog_filter *filter,
				    const struct eventlog_term *term,
				    const struct elog_filter_value *value)
{
	unsigned char bytes[16], address[16], mask[16];
	bool same = true;
	size_t size, i;
	const char *from;

	if (term->operation == EVENTLOG_TERM_OP_SET)
		return verdict(any_byte(value));
	if (!is_equality_term(term) ||
	    !(term->flags & (EVENTLOG_TERM_IPV4 | EVENTLOG_TERM_IPV6)))
		return VERDICT_INCOMPATIBLE;
	if (!value->data)
		return VERDICT_FALSE;
	size = address_size(term);
	from = pool_at(filter, term->address);
	map_bytes(address, from, size, false);
	map_bytes(mask, from + size, size, true);
	map_bytes(bytes, value->data, value->size, false);
	for (i = 0; i < sizeof(bytes); i++)
		same = same && (bytes[i] & mask[i]) == address[i];
	return verdict(same != is_inverted(term));
}

static const struct elog_schema_name *find_name(const struct elog_schema_set *set,
						const char *text, size_t size)
{
	size_t i;

	for (i = 0; set && i < set->count; i++)
		if (!strncmp(set->names[i]->name, text, size) && !set->names[i]->name[size])
			return set->names[i];
	return NULL;
}

/* The string may be a name of the enum. */
static enum verdict compare_enum(const struct eventlog_term *term,
				 const struct elog_filter_value *value, const char *string)
{
	const struct elog_schema_name *name;
	bool negative;

	name = string ? find_name(value->set, string, strlen(string)) : NULL;
	if (!name || is_prefix_term(term))
		return compare_integer(term, value);
	negative = value->is_signed && term->operation != EVENTLOG_TERM_OP_BITS &&
		   name->value & SIGN;
	return integer_holds(term, value->integer, value->is_signed,
			     negative ? 0 - name->value : name->value, negative);
}

/* Parse a number in a list of flags: only digits, decimal or hexadecimal with 0x. */
static bool parse_flag_number(const char *word, size_t size, uint64_t *value)
{
	unsigned int base = size > 2 && word[0] == '0' && word[1] == 'x' ? 16 : 10;
	size_t i;
	int digit;

	*value = 0;
	if (!size || size >= ELOG_FLAG_NUMBER_BYTES)
		return false;
	for (i = base == 16 ? 2 : 0; i < size; i++) {
		digit = elog_hex_digit(word[i]);
		if (digit < 0 || digit >= (int)base ||
		    __builtin_mul_overflow(*value, (uint64_t)base, value) ||
		    __builtin_add_overflow(*value, (uint64_t)digit, value))
			return false;
	}
	return true;
}

/* The string may be names and numbers of flags, with "|". */
static enum verdict compare_flags(const struct eventlog_term *term,
				  const struct elog_filter_value *value, const char *string)
{
	struct elog_filter_value plain = *value;
	const struct elog_schema_name *name;
	uint64_t mask = 0, number;
	const char *end;

	plain.is_signed = false;
	if (!string || is_prefix_term(term))
		return compare_integer(term, &plain);
	for (;; string = end + 1) {
		end = strchrnul(string, '|');
		name = find_name(value->set, string, (size_t)(end - string));
		if (name)
			mask |= name->value;
		else if (parse_flag_number(string, (size_t)(end - string), &number))
			mask |= number;
		else
			return compare_integer(term, &plain);
		if (!*end)
			return integer_holds(term, value->integer, false, mask, false);
	}
}

static enum verdict compare_value(const struct eventlog_filter *filter,
				  const struct eventlog_term *term,
				  const struct elog_filter_value *value)
{
	const char *string = NULL;

	if (term->flags & EVENTLOG_TERM_STRING)
		string = pool_at(filter, term->string);
	switch (value->type) {
	case ELOG_TYPE_BOOL:
		return compare_bool(term, value);
	case ELOG_TYPE_CHARS:
	case ELOG_TYPE_STRING:
		return compare_text(term, value, string);
	case ELOG_TYPE_OCTETS:
	case ELOG_TYPE_STRUCT:
		if (term->operation == EVENTLOG_TERM_OP_SET)
			return verdict(any_byte(value));
		return compare_hex(term, value, string);
	case ELOG_TYPE_BYTES:
		if (term->operation == EVENTLOG_TERM_OP_SET)
			return verdict(value->size);
		return compare_hex(term, value, string);
	case ELOG_TYPE_MAC:
		return compare_mac(term, value, string);
	case ELOG_TYPE_IPV4:
	case ELOG_TYPE_IPV6:
		return compare_address(filter, term, value);
	case ELOG_TYPE_ENUM:
		return compare_enum(term, value, string);
	case ELOG_TYPE_FLAGS:
		return compare_flags(term, value, string);
	default:
		return compare_integer(term, value);
	}
}

/* Without a value, the result only tells whether the type is compatible. */
static enum verdict evaluate(const struct eventlog_filter *filter,
			     const struct eventlog_term *term,
			     const struct elog_filter_subject *subject)
{
	const char *name = pool_at(filter, term->name);
	struct elog_filter_value value = { 0 };
	enum verdict result;
	enum metadata metadata;
	int ret = -ENOENT;

	if (!(term->flags & EVENTLOG_TERM_COMMON))
		ret = subject->field(subject->of, name, &value);
	if (ret == -ENOENT) {
		metadata = elog_metadata_find(name);
		if (metadata > METADATA_SESSION)
			return VERDICT_INCOMPATIBLE;
		ret = subject->common(subject->of, metadata, &value);
	}
	if (ret)
		value.size = 0;
	result = compare_value(filter, term, &value);
	return ret && result == VERDICT_TRUE ? VERDICT_FALSE : result;
}

bool elog_filter_fits(const struct eventlog_filter *filter,
		      const struct elog_filter_subject *subject)
{
	uint32_t i;

	for (i = 0; i < filter->term_count; i++)
		if (evaluate(filter, term_at(filter, i), subject) == VERDICT_INCOMPATIBLE)
			return false;
	return true;
}

bool elog_filter_holds(const struct eventlog_filter *filter,
		       const struct elog_filter_subject *subject, bool *incompatible)
{
	const struct eventlog_term *term;
	enum verdict result;
	uint32_t i = 0;

	while (i < filter->term_count) {
		term = term_at(filter, i);
		result = evaluate(filter, term, subject);
		if (result == VERDICT_INCOMPATIBLE && incompatible)
			*incompatible = true;
		i = result == VERDICT_TRUE ? term->on_true : term->on_false;
	}
	return i == EVENTLOG_FILTER_ACCEPT;
}
