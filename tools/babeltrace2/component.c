// SPDX-License-Identifier: GPL-2.0-only
/*
 * Components: their parameters and ports, and the query by which babeltrace2 finds the
 * class for a file. Called by babeltrace2.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "babeltrace2/plugin.h"

void component_warn(const struct input_file *file, const char *format, ...)
{
	const bt_component *component = bt_self_component_as_component(file->component->self);
	va_list arguments;

	if (bt_component_get_logging_level(component) > BT_LOGGING_LEVEL_WARNING)
		return;
	/* One line, whatever other threads print. */
	flockfile(stderr);
	fprintf(stderr, "source.elog.file: %s: ", file->path);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	funlockfile(stderr);
}

/* ------------------------------------------------------------------------
 * Parameters
 */

/* Return: -EINVAL; babeltrace2 prints the reason. */
#define refuse(component, ...) \
	(BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT((component)->self, __VA_ARGS__), \
	 -EINVAL)

static int read_inputs(struct component *component, const bt_value *inputs)
{
	const bt_value *input;
	uint64_t i, count;

	if (!inputs || !bt_value_is_array(inputs) || bt_value_array_is_empty(inputs))
		return refuse(component, "inputs: must be an array of names of files");
	count = bt_value_array_get_length(inputs);
	component->files = calloc(count, sizeof(*component->files));
	if (!component->files)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		input = bt_value_array_borrow_element_by_index_const(inputs, i);
		if (!bt_value_is_string(input))
			return refuse(component, "inputs: must be an array of names of files");
		component->files[i].component = component;
		component->files[i].path = strdup(bt_value_string_get(input));
		if (!component->files[i].path)
			return -ENOMEM;
		component->file_count++;
	}
	return 0;
}

static int read_filter(struct component *component, const bt_value *filter)
{
	struct elog_expression_error error;
	int ret;

	if (!bt_value_is_string(filter))
		return refuse(component, "filter: must be a string");
	ret = elog_expression_parse(bt_value_string_get(filter), &component->expression, &error);
	if (ret == -EINVAL)
		return refuse(component, "filter: column %u: %s", error.column, error.message);
	return ret;
}

static int read_since(struct component *component, const bt_value *since)
{
	if (bt_value_is_unsigned_integer(since))
		component->since = bt_value_integer_unsigned_get(since);
	else if (bt_value_is_signed_integer(since) && bt_value_integer_signed_get(since) >= 0)
		component->since = (uint64_t)bt_value_integer_signed_get(since);
	else
		return refuse(component, "since: must be nanoseconds since 1970");
	return 0;
}

static int read_parameters(struct component *component, const bt_value *parameters)
{
	const bt_value *filter, *since;
	int ret;

	filter = bt_value_map_borrow_entry_value_const(parameters, "filter");
	since = bt_value_map_borrow_entry_value_const(parameters, "since");
	ret = read_inputs(component, bt_value_map_borrow_entry_value_const(parameters, "inputs"));
	if (!ret && bt_value_map_get_size(parameters) != 1U + !!filter + !!since)
		ret = refuse(component, "the parameters are inputs, filter and since");
	if (!ret && filter)
		ret = read_filter(component, filter);
	if (!ret && since)
		ret = read_since(component, since);
	return ret;
}

/* ------------------------------------------------------------------------
 * The methods
 */

static void free_component(struct component *component)
{
	size_t i;

	for (i = 0; i < component->file_count; i++)
		free(component->files[i].path);
	elog_expression_free(component->expression);
	clocks_free(component);
	free(component->files);
	free(component);
}

/* A port for each file: out0, out1 ... */
static int add_ports(struct component *component, bt_self_component_source *source)
{
	char name[32];
	size_t i;

	for (i = 0; i < component->file_count; i++) {
		snprintf(name, sizeof(name), "out%zu", i);
		if (bt_self_component_source_add_output_port(source, name, &component->files[i],
							     NULL))
			return -ENOMEM;
	}
	return 0;
}

static bt_component_class_initialize_method_status
component_initialize(bt_self_component_source *source,
		     bt_self_component_source_configuration *configuration,
		     const bt_value *parameters, void *data)
{
	struct component *component = calloc(1, sizeof(*component));
	int ret;

	(void)configuration;
	(void)data;
	if (!component)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	component->self = bt_self_component_source_as_self_component(source);
	ret = read_parameters(component, parameters);
	if (!ret)
		ret = add_ports(component, source);
	if (!ret) {
		bt_self_component_set_data(component->self, component);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
	}
	free_component(component);
	return ret == -ENOMEM ? BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR :
				BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
}

static void component_finalize(bt_self_component_source *source)
{
	free_component(bt_self_component_get_data(
		bt_self_component_source_as_self_component(source)));
}

/* Is this a file of elog? One that this plugin cannot read is: the iterator says why. */
static bool is_elog_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret = -EBADMSG;
	struct elog_reader *reader;
	struct elog_item item;
	struct stat info;

	if (fd < 0)
		return false;
	if (!fstat(fd, &info) && S_ISREG(info.st_mode) && !elog_reader_open(&reader, fd)) {
		ret = elog_reader_next(reader, &item);
		elog_reader_close(reader);
	}
	close(fd);
	return ret > 0 || ret == -EPROTONOSUPPORT || ret == -EOPNOTSUPP;
}

/* All files of a group are inputs of one component. */
static bt_component_class_query_method_status
query_support(bt_self_component_class_source *class, const bt_value *parameters,
	      const bt_value **result)
{
	const bt_value *type, *input;
	bt_value *map;

	type = bt_value_is_map(parameters) ?
	       bt_value_map_borrow_entry_value_const(parameters, "type") : NULL;
	input = type ? bt_value_map_borrow_entry_value_const(parameters, "input") : NULL;
	if (!input || !bt_value_is_string(type) || !bt_value_is_string(input)) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT_CLASS(
			bt_self_component_class_source_as_self_component_class(class),
			"type and input: must be strings");
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_ERROR;
	}
	if (strcmp(bt_value_string_get(type), "file") ||
	    !is_elog_file(bt_value_string_get(input))) {
		*result = bt_value_real_create_init(0);
		return *result ? BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_OK :
				 BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_MEMORY_ERROR;
	}
	map = bt_value_map_create();
	if (!map || bt_value_map_insert_real_entry(map, "weight", 1) ||
	    bt_value_map_insert_string_entry(map, "group", "elog")) {
		bt_value_put_ref(map);
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_MEMORY_ERROR;
	}
	*result = map;
	return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_OK;
}

static bt_component_class_query_method_status
component_query(bt_self_component_class_source *class, bt_private_query_executor *executor,
		const char *object, const bt_value *parameters, void *data,
		const bt_value **result)
{
	(void)executor;
	(void)data;
	if (strcmp(object, "babeltrace.support-info"))
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_UNKNOWN_OBJECT;
	return query_support(class, parameters, result);
}

/* All else is hidden: a program may have functions with the same names. */
#pragma GCC visibility push(default)
BT_PLUGIN_MODULE();
#pragma GCC visibility pop
BT_PLUGIN(elog);
BT_PLUGIN_DESCRIPTION("Read files of eventlog");
BT_PLUGIN_LICENSE("GPL-2.0-only");
BT_PLUGIN_SOURCE_COMPONENT_CLASS(file, iterator_next);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_DESCRIPTION(file, "Read the files that elog capture -o writes");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_HELP(file,
	"See the babeltrace2-source.elog.file(7) manual page.");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_INITIALIZE_METHOD(file, component_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_FINALIZE_METHOD(file, component_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_QUERY_METHOD(file, component_query);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(file,
	iterator_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(file,
	iterator_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHODS(file,
	iterator_seek_beginning, iterator_can_seek_beginning);
