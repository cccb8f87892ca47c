// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values as their types describe them: see bpf_value.h.
 *
 * The types come with the object that a user loads. Nothing is read beyond the
 * value, whatever they say, and types in types end at some depth.
 */
#ifdef ELOG_BPF

#include <inttypes.h>
#include <string.h>

#include <bpf/btf.h>

#include "bpf/bpf_value.h"

#define DEPTH_MAX	16

/* A place in a value; @bits: of a bit-field, which begins at bit @bit; 0: none. */
struct place {
	const unsigned char *data;
	size_t size;
	unsigned int bit;
	unsigned int bits;
};

static void put_typed(const struct value_style *style, uint32_t id,
		      struct place place, unsigned int depth, struct elog_text *text);

static void put_string(const struct value_style *style, const char *data,
		       size_t size, struct elog_text *text)
{
	if (style->json)
		elog_text_json_string(text, data, size);
	else
		elog_text_quoted(text, data, size);
}

static void put_hex(const struct value_style *style, const unsigned char *data,
		    size_t size, struct elog_text *text)
{
	size_t i;

	if (style->json)
		elog_text_put(text, "\"", 1);
	for (i = 0; i < size; i++)
		elog_text_hex(text, data[i], 2);
	if (style->json)
		elog_text_put(text, "\"", 1);
}

static void put_nothing(const struct value_style *style, struct elog_text *text)
{
	elog_text_string(text, style->json ? "null" : "?");
}

static void put_name(const struct value_style *style, const char *name,
		     struct elog_text *text)
{
	if (style->json) {
		elog_text_json_string(text, name, strlen(name));
		elog_text_put(text, ":", 1);
	} else {
		elog_text_string(text, name);
		elog_text_put(text, "=", 1);
	}
}

static const char *name_of(const struct value_style *style, uint32_t offset)
{
	const char *name = btf__name_by_offset(style->btf, offset);

	return name ? name : "";
}

/* Bytes, or bits, as a number; false when they are not all there, or too many. */
static bool get_bits(struct place place, size_t size, uint64_t *value)
{
	unsigned int bits = place.bits ? place.bits : 8 * (unsigned int)size, i;

	if (size > sizeof(*value) || bits > 64 ||
	    (place.bit + bits + 7) / 8 > place.size)
		return false;
	*value = 0;
	if (!place.bits) {
		union {
			uint8_t one;
			uint16_t two;
			uint32_t four;
			uint64_t eight;
		} all;

		memcpy(&all, place.data, size);
		*value = size == 1 ? all.one : size == 2 ? all.two :
			 size == 4 ? all.four : size == 8 ? all.eight : 0;
		return size == 1 || size == 2 || size == 4 || size == 8;
	}
	for (i = 0; i < bits; i++) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		unsigned int at = place.bit + i;

		*value |= (uint64_t)(place.data[at / 8] >> at % 8 & 1) << i;
#else
		unsigned int at = place.bit + bits - 1 - i;

		*value |= (uint64_t)(place.data[at / 8] >> (7 - at % 8) & 1) << i;
#endif
	}
	return true;
}

static int64_t sign_extend(uint64_t value, unsigned int bits)
{
	return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static void put_integer(const struct value_style *style, const struct btf_type *type,
			struct place place, struct elog_text *text)
{
	unsigned int bits = place.bits ? place.bits : 8 * type->size;
	uint64_t value;

	if (!get_bits(place, type->size, &value)) {
		/* Those of 16 bytes. */
		if (!place.bits && type->size <= place.size)
			put_hex(style, place.data, type->size, text);
		else
			put_nothing(style, text);
	} else if (btf_int_encoding(type) & BTF_INT_BOOL) {
		elog_text_string(text, value ? "true" : "false");
	} else if (btf_int_encoding(type) & BTF_INT_SIGNED) {
		elog_text_printf(text, "%" PRId64, sign_extend(value, bits));
	} else {
		elog_text_unsigned(text, value, 1, ' ');
	}
}

static void put_enum(const struct value_style *style, const struct btf_type *type,
		     struct place place, struct elog_text *text)
{
	const uint64_t mask = type->size >= 8 ? UINT64_MAX :
			      (1ULL << 8 * type->size) - 1;
	const char *name = NULL;
	uint64_t value, one;
	unsigned int i;

	if (!get_bits(place, type->size, &value)) {
		put_nothing(style, text);
		return;
	}
	for (i = 0; i < btf_vlen(type) && !name; i++) {
		if (btf_is_enum64(type))
			one = btf_enum64_value(&btf_enum64(type)[i]);
		else
			one = (uint64_t)(int64_t)btf_enum(type)[i].val;
		if ((one & mask) != value)
			continue;
		name = name_of(style, btf_is_enum64(type) ?
			       btf_enum64(type)[i].name_off :
			       btf_enum(type)[i].name_off);
	}
	if (name && style->json)
		elog_text_json_string(text, name, strlen(name));
	else if (name)
		elog_text_string(text, name);
	else
		elog_text_unsigned(text, value, 1, ' ');
}

static void put_float(const struct value_style *style, const struct btf_type *type,
		      struct place place, struct elog_text *text)
{
	double eight = 0;
	float four;

	if (type->size == sizeof(four) && place.size >= sizeof(four)) {
		memcpy(&four, place.data, sizeof(four));
		eight = (double)four;
	} else if (type->size == sizeof(eight) && place.size >= sizeof(eight)) {
		memcpy(&eight, place.data, sizeof(eight));
	} else {
		put_nothing(style, text);
		return;
	}
	/* JSON has no other numbers. */
	if (eight - eight == 0)
		elog_text_printf(text, "%.17g", eight);
	else
		put_nothing(style, text);
}

/* Is it an array of the type char? Then it is text. */
static bool is_text(const struct value_style *style, const struct btf_array *array)
{
	const struct btf_type *element;
	int id = btf__resolve_type(style->btf, array->type);

	element = id < 0 ? NULL : btf__type_by_id(style->btf, (uint32_t)id);
	return element && btf_is_int(element) && element->size == 1 &&
	       !strcmp(name_of(style, element->name_off), "char");
}

static void put_array(const struct value_style *style, const struct btf_type *type,
		      struct place place, unsigned int depth, struct elog_text *text)
{
	const struct btf_array *array = btf_array(type);
	const long long element = btf__resolve_size(style->btf, array->type);
	size_t count = array->nelems, i;

	if (element <= 0) {
		put_nothing(style, text);
		return;
	}
	if (count > place.size / (size_t)element)
		count = place.size / (size_t)element;
	if (is_text(style, array)) {
		put_string(style, (const char *)place.data,
			   strnlen((const char *)place.data, count), text);
		return;
	}
	elog_text_put(text, "[", 1);
	for (i = 0; i < count; i++) {
		const struct place one = {
			.data = place.data + i * (size_t)element,
			.size = (size_t)element,
		};

		if (i)
			elog_text_put(text, ",", 1);
		put_typed(style, array->type, one, depth + 1, text);
	}
	elog_text_put(text, "]", 1);
}

/* Members without a name are structs whose members are this one's. */
static bool put_members(const struct value_style *style, const struct btf_type *type,
			struct place place, unsigned int depth, bool first,
			struct elog_text *text)
{
	const struct btf_member *member = btf_members(type);
	const struct btf_type *inner;
	unsigned int i, bit, bits;
	struct place at;
	int id;

	for (i = 0; i < btf_vlen(type); i++, member++) {
		bit = btf_member_bit_offset(type, i);
		bits = btf_member_bitfield_size(type, i);
		if (bit / 8 > place.size)
			continue;
		at = (struct place){
			.data = place.data + bit / 8, .size = place.size - bit / 8,
			.bit = bit % 8, .bits = bits,
		};
		id = btf__resolve_type(style->btf, member->type);
		inner = id < 0 ? NULL : btf__type_by_id(style->btf, (uint32_t)id);
		if (!*name_of(style, member->name_off)) {
			if (inner && btf_is_composite(inner) && depth < DEPTH_MAX)
				first = put_members(style, inner, at, depth + 1,
						    first, text);
			continue;
		}
		if (!first)
			elog_text_string(text, style->json ? "," : ", ");
		first = false;
		put_name(style, name_of(style, member->name_off), text);
		put_typed(style, member->type, at, depth + 1, text);
	}
	return first;
}

/* A section of global variables. */
static void put_variables(const struct value_style *style,
			  const struct btf_type *type, struct place place,
			  unsigned int depth, struct elog_text *text)
{
	const struct btf_var_secinfo *variable = btf_var_secinfos(type);
	const struct btf_type *declared;
	unsigned int i;

	elog_text_put(text, "{", 1);
	for (i = 0; i < btf_vlen(type); i++, variable++) {
		declared = btf__type_by_id(style->btf, variable->type);
		if (!declared || variable->offset > place.size)
			continue;
		if (text->data[text->size - 1] != '{')
			elog_text_string(text, style->json ? "," : ", ");
		put_name(style, name_of(style, declared->name_off), text);
		put_typed(style, declared->type, (struct place){
			.data = place.data + variable->offset,
			.size = place.size - variable->offset }, depth + 1, text);
	}
	elog_text_put(text, "}", 1);
}

static void put_pointer(const struct value_style *style, struct place place,
			struct elog_text *text)
{
	uint64_t value;

	/* A number beyond 2^53 is not what every reader of JSON reads. */
	if (!get_bits(place, sizeof(value), &value)) {
		put_nothing(style, text);
		return;
	}
	elog_text_string(text, style->json ? "\"0x" : "0x");
	elog_text_hex(text, value, 1);
	if (style->json)
		elog_text_put(text, "\"", 1);
}

static void put_typed(const struct value_style *style, uint32_t id,
		      struct place place, unsigned int depth, struct elog_text *text)
{
	int resolved = btf__resolve_type(style->btf, id);
	const struct btf_type *type;

	type = resolved < 0 ? NULL : btf__type_by_id(style->btf, (uint32_t)resolved);
	switch (type && depth < DEPTH_MAX ? btf_kind(type) : BTF_KIND_UNKN) {
	case BTF_KIND_INT:
		put_integer(style, type, place, text);
		break;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		put_enum(style, type, place, text);
		break;
	case BTF_KIND_FLOAT:
		put_float(style, type, place, text);
		break;
	case BTF_KIND_PTR:
		put_pointer(style, place, text);
		break;
	case BTF_KIND_ARRAY:
		put_array(style, type, place, depth, text);
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		elog_text_put(text, "{", 1);
		put_members(style, type, place, depth, true, text);
		elog_text_put(text, "}", 1);
		break;
	case BTF_KIND_DATASEC:
		put_variables(style, type, place, depth, text);
		break;
	default:
		put_nothing(style, text);
		break;
	}
}

void put_value(const struct value_style *style, uint32_t type, const void *data,
	       size_t size, struct elog_text *text)
{
	const struct place place = { .data = data, .size = size };

	if (style->btf && type)
		put_typed(style, type, place, 0, text);
	else
		put_hex(style, data, size, text);
}

#endif /* ELOG_BPF */
