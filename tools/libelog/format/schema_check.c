// SPDX-License-Identifier: LGPL-2.1-only
/*
 * schema_check FILE - parses a schema and prints what it says, in a form that
 * two texts share when they mean the same; or the error as FILE:LINE: MESSAGE.
 * For selftests/schema, which compares libelog with eventlog_gen.awk.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elog.h"

static int read_file(const char *name, char **text, size_t *size)
{
	FILE *file = fopen(name, "r");
	size_t capacity = 0, got;
	char *larger;
	int ret = 0;

	*text = NULL;
	*size = 0;
	if (!file)
		return -errno;
	do {
		capacity = capacity ? capacity * 2 : 4096;
		larger = realloc(*text, capacity);
		if (!larger) {
			ret = -ENOMEM;
			break;
		}
		*text = larger;
		got = fread(*text + *size, 1, capacity - *size, file);
		*size += got;
	} while (*size == capacity);
	if (ferror(file))
		ret = -EIO;
	fclose(file);
	return ret;
}

static void print_name(const char *what, const struct elog_schema_name *name)
{
	printf("%s %s %#llx [%s]\n", what, name->name,
	       (unsigned long long)name->value, name->description);
}

static void print_event(const struct elog_schema_event *event)
{
	const struct elog_schema_field *field;
	size_t i;

	printf("event %u %s level %u keywords %#llx bytes %zu attribute %u [%s]\n", event->id,
	       event->name, event->level, (unsigned long long)event->keywords,
	       event->fixed_size, event->attribute, event->description);
	for (i = 0; i < event->field_count; i++) {
		field = event->fields[i];
		printf("field %s type %u display %u at %zu bytes %zu%s%s%s [%s]\n",
		       field->name, field->type, field->display, field->offset,
		       field->size, field->is_signed ? " signed" : "",
		       field->set ? " set " : "",
		       field->set ? field->set->name : "", field->description);
	}
}

static void print_provider(const struct elog_schema_provider *provider)
{
	const struct elog_schema_set *set;
	size_t i, k;

	printf("provider %s [%s]\n", provider->name, provider->description);
	for (i = 0; i < provider->keyword_count; i++)
		print_name("keyword", provider->keywords[i]);
	for (i = 0; i < provider->set_count; i++) {
		set = provider->sets[i];
		printf("%s %s [%s]\n", set->flags ? "flags" : "enum", set->name,
		       set->description);
		for (k = 0; k < set->count; k++)
			print_name("value", set->names[k]);
	}
	for (i = 0; i < provider->event_count; i++)
		print_event(provider->events[i]);
}

int main(int argc, char **argv)
{
	struct elog_schema_error error;
	struct elog_schema *schema;
	size_t size, i;
	char *text;
	int ret;

	if (argc != 2) {
		fprintf(stderr, "usage: schema_check FILE\n");
		return 2;
	}
	ret = read_file(argv[1], &text, &size);
	if (!ret)
		ret = elog_schema_parse(text, size, &schema, &error);
	free(text);
	if (ret == -EINVAL || ret == -EPROTONOSUPPORT) {
		fprintf(stderr, "%s:%u: %s\n", argv[1], error.line, error.message);
		return 1;
	}
	if (ret) {
		fprintf(stderr, "schema_check: %s: %s\n", argv[1], strerror(-ret));
		return 2;
	}
	for (i = 0; i < schema->provider_count; i++)
		print_provider(schema->providers[i]);
	elog_schema_free(schema);
	return 0;
}
