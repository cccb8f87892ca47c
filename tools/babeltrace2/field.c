// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fields of events: each type of the schema language as a type of babeltrace2.
 * Called by trace.c for classes and by iterator.c for values.
 */
#include <errno.h>
#include <string.h>

#include "babeltrace2/plugin.h"
#include "libelog/util/text.h"

/* ------------------------------------------------------------------------
 * Classes
 */

bt_field_class *make_integer(bt_trace_class *trace_class, unsigned int bits, bool hex)
{
	bt_field_class *class = bt_field_class_integer_unsigned_create(trace_class);

	if (!class)
		return NULL;
	bt_field_class_integer_set_field_value_range(class, bits);
	if (hex)
		bt_field_class_integer_set_preferred_display_base(class,
			BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
	return class;
}

static bt_field_class *make_signed(bt_trace_class *trace_class, unsigned int bits)
{
	bt_field_class *class = bt_field_class_integer_signed_create(trace_class);

	if (class)
		bt_field_class_integer_set_field_value_range(class, bits);
	return class;
}

int add_member(bt_field_class *structure, const char *name, bt_field_class *member)
{
	bt_field_class_structure_append_member_status status;

	if (!member)
		return -ENOMEM;
	status = bt_field_class_structure_append_member(structure, name, member);
	bt_field_class_put_ref(member);
	return status == BT_FIELD_CLASS_STRUCTURE_APPEND_MEMBER_STATUS_OK ? 0 : -ENOMEM;
}

static int add_signed_name(bt_field_class *class, const struct elog_schema_name *name)
{
	bt_integer_range_set_signed *range = bt_integer_range_set_signed_create();
	int ret = -ENOMEM;

	if (range &&
	    !bt_integer_range_set_signed_add_range(range, (int64_t)name->value,
						   (int64_t)name->value) &&
	    !bt_field_class_enumeration_signed_add_mapping(class, name->name, range))
		ret = 0;
	bt_integer_range_set_signed_put_ref(range);
	return ret;
}

static int add_unsigned_name(bt_field_class *class, const struct elog_schema_name *name)
{
	bt_integer_range_set_unsigned *range = bt_integer_range_set_unsigned_create();
	int ret = -ENOMEM;

	if (range &&
	    !bt_integer_range_set_unsigned_add_range(range, name->value, name->value) &&
	    !bt_field_class_enumeration_unsigned_add_mapping(class, name->name, range))
		ret = 0;
	bt_integer_range_set_unsigned_put_ref(range);
	return ret;
}

/* An integer with names. A name that the integer cannot have is left out. */
static bt_field_class *make_enum(bt_trace_class *trace_class, const struct elog_schema_field *field)
{
	const unsigned int unused = 64 - (unsigned int)field->size * 8;
	const struct elog_schema_name *name;
	bt_field_class *class;
	int64_t number;
	int ret = 0;
	size_t i;

	class = field->is_signed ? bt_field_class_enumeration_signed_create(trace_class) :
				   bt_field_class_enumeration_unsigned_create(trace_class);
	if (!class)
		return NULL;
	bt_field_class_integer_set_field_value_range(class, field->size * 8);
	if (field->type == ELOG_TYPE_FLAGS || field->display == ELOG_DISPLAY_HEX)
		bt_field_class_integer_set_preferred_display_base(class,
			BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
	for (i = 0; i < field->set->count && !ret; i++) {
		name = field->set->names[i];
		number = (int64_t)(name->value << unused) >> unused;
		if (field->is_signed && number == (int64_t)name->value)
			ret = add_signed_name(class, name);
		else if (!field->is_signed && !(name->value >> 1 >> (63 - unused)))
			ret = add_unsigned_name(class, name);
	}
	if (!ret)
		return class;
	bt_field_class_put_ref(class);
	return NULL;
}

/* Bytes: of a number that is fixed, or @size is 0. */
static bt_field_class *make_array(bt_trace_class *trace_class, size_t size)
{
	bt_field_class *byte = make_integer(trace_class, 8, true), *class;

	if (!byte)
		return NULL;
	class = size ? bt_field_class_array_static_create(trace_class, byte, size) :
		       bt_field_class_array_dynamic_create(trace_class, byte, NULL);
	bt_field_class_put_ref(byte);
	return class;
}

/* In decoded records, bools may have other numbers. */
static bt_field_class *make_bool(bt_trace_class *trace_class)
{
	static const struct elog_schema_name names[] = { { 0, "false", "" }, { 1, "true", "" } };
	bt_field_class *class = bt_field_class_enumeration_signed_create(trace_class);

	if (!class || (!add_signed_name(class, &names[0]) && !add_signed_name(class, &names[1])))
		return class;
	bt_field_class_put_ref(class);
	return NULL;
}

static bt_field_class *make_field(bt_trace_class *trace_class,
				  const struct elog_schema_field *field, bool decoded)
{
	const unsigned int bits = (unsigned int)field->size * 8;

	switch (field->type) {
	case ELOG_TYPE_SIGNED:
		return make_signed(trace_class, bits);
	case ELOG_TYPE_BOOL:
		return decoded ? make_bool(trace_class) : bt_field_class_bool_create(trace_class);
	case ELOG_TYPE_FLOAT:
		return field->size == sizeof(float) ?
		       bt_field_class_real_single_precision_create(trace_class) :
		       bt_field_class_real_double_precision_create(trace_class);
	case ELOG_TYPE_UNSIGNED:
	case ELOG_TYPE_PORT:
	case ELOG_TYPE_TIME:
	case ELOG_TYPE_DURATION:
		return make_integer(trace_class, bits, field->display == ELOG_DISPLAY_HEX);
	case ELOG_TYPE_PTR:
		return make_integer(trace_class, bits, field->display != ELOG_DISPLAY_DEC);
	case ELOG_TYPE_ENUM:
	case ELOG_TYPE_FLAGS:
		/* The syntax of CTF 1.8 has no enumeration without names. */
		if (field->set->count)
			return make_enum(trace_class, field);
		return field->is_signed ? make_signed(trace_class, bits) :
					  make_integer(trace_class, bits, true);
	case ELOG_TYPE_OCTETS:
	case ELOG_TYPE_STRUCT:
		return make_array(trace_class, field->size);
	case ELOG_TYPE_BYTES:
		return make_array(trace_class, 0);
	default: /* text, and addresses as elog show prints them */
		return bt_field_class_string_create(trace_class);
	}
}

static bt_field_class *make_optional(bt_trace_class *trace_class,
				     const struct elog_schema_field *field)
{
	bt_field_class *content = make_field(trace_class, field, true), *class;

	if (!content)
		return NULL;
	class = bt_field_class_option_without_selector_create(trace_class, content);
	bt_field_class_put_ref(content);
	return class;
}

/* CTF has no points in names, and names must differ. */
static int add_decoded(bt_trace_class *trace_class, bt_field_class *structure,
		       const struct elog_schema_field *field)
{
	struct elog_text name = { 0 };
	size_t i;
	int ret;

	elog_text_string(&name, field->name);
	for (i = 0; i < name.size; i++)
		if (name.data[i] == '.')
			name.data[i] = '_';
	while (!name.error &&
	       bt_field_class_structure_borrow_member_by_name_const(structure, name.data))
		elog_text_character(&name, '_');
	ret = name.error ? : add_member(structure, name.data,
					field->optional ? make_optional(trace_class, field) :
							  make_field(trace_class, field, true));
	elog_text_free(&name);
	return ret;
}

bt_field_class *make_payload(bt_trace_class *trace_class,
			     const struct elog_schema_event *schema, bool decoded)
{
	bt_field_class *class = bt_field_class_structure_create(trace_class);
	int ret = 0;
	size_t i;

	if (!class)
		return NULL;
	if (!schema)
		ret = add_member(class, "payload", make_array(trace_class, 0));
	for (i = 0; schema && i < schema->field_count && !ret; i++)
		ret = decoded ? add_decoded(trace_class, class, schema->fields[i]) :
		      add_member(class, schema->fields[i]->name,
				 make_field(trace_class, schema->fields[i], false));
	if (!ret)
		return class;
	bt_field_class_put_ref(class);
	return NULL;
}

/* ------------------------------------------------------------------------
 * Values
 */

int set_string(bt_field *field, const char *data, size_t size, struct elog_text *text)
{
	bt_field_string_clear(field);
	size = strnlen(data, size);
	if (!elog_is_text(data, data + size)) {
		text->size = 0;
		elog_text_utf8(text, data, size);
		if (text->error)
			return text->error;
		data = text->data;
		size = text->size;
	}
	return bt_field_string_append_with_length(field, data, size) ? -ENOMEM : 0;
}

static int set_array(bt_field *field, const unsigned char *bytes, size_t size)
{
	bt_field *element;
	uint64_t i, length;

	if (bt_field_get_class_type(field) != BT_FIELD_CLASS_TYPE_STATIC_ARRAY &&
	    bt_field_array_dynamic_set_length(field, size))
		return -ENOMEM;
	length = bt_field_array_get_length(field);
	for (i = 0; i < length; i++) {
		element = bt_field_array_borrow_element_field_by_index(field, i);
		bt_field_integer_unsigned_set_value(element, i < size ? bytes[i] : 0);
	}
	return 0;
}

static int set_other(bt_field *out, const struct elog_schema_field *field,
		     const struct elog_value *value, struct elog_text *text)
{
	const bool is_string = field->type == ELOG_TYPE_STRING || field->type == ELOG_TYPE_CHARS;

	if (!value->error && is_string && !memchr(value->data, '\0', value->size))
		return set_string(out, value->data, value->size, text);
	text->size = 0;
	if (!value->error && is_string)
		elog_text_visible(text, value->data, value->size);
	else
		elog_format_value(text, field, value);
	bt_field_string_clear(out);
	if (text->error || bt_field_string_append_with_length(out, text->data, text->size))
		return -ENOMEM;
	return 0;
}

static int set_field(bt_field *out, const struct elog_schema_field *field,
		     const struct elog_item *item, struct elog_text *text)
{
	struct elog_value value;
	int error, ret = 0;
	double number;

	error = elog_decode(field, item->payload, item->payload_size, &value);
	if (error)
		value.integer = value.size = 0;
	if (field->optional) {
		bt_field_option_set_has_field(out, !error);
		out = bt_field_option_borrow_field(out);
	}
	if (!out)
		return error == -ENOENT ? 0 : -EBADMSG;
	memcpy(&number, &value.integer, sizeof(number));
	switch (bt_field_get_class_type(out)) {
	case BT_FIELD_CLASS_TYPE_BOOL:
		bt_field_bool_set_value(out, value.integer != 0);
		break;
	case BT_FIELD_CLASS_TYPE_SIGNED_INTEGER:
	case BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION:
		bt_field_integer_signed_set_value(out, (int64_t)value.integer);
		break;
	case BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER:
	case BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION:
		bt_field_integer_unsigned_set_value(out, value.integer);
		break;
	case BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL:
		bt_field_real_single_precision_set_value(out, (float)number);
		break;
	case BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL:
		bt_field_real_double_precision_set_value(out, number);
		break;
	case BT_FIELD_CLASS_TYPE_STRING:
		ret = set_other(out, field, &value, text);
		break;
	default:
		ret = set_array(out, value.data, value.size);
		break;
	}
	return ret ? : error ? -EBADMSG : 0;
}

int set_payload(bt_field *payload, const struct elog_schema_event *schema,
		const struct elog_item *item, struct elog_text *text)
{
	int ret, result = 0;
	size_t i;

	if (!schema)
		return set_array(member_at(payload, 0), item->payload, item->payload_size);
	for (i = 0; i < schema->field_count; i++) {
		ret = set_field(member_at(payload, i), schema->fields[i], item, text);
		if (ret == -ENOMEM)
			return ret;
		result = ret ? : result;
	}
	return result;
}
