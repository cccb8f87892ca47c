// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The definitions of events in a file. All texts are kept, and the parsed form of some.
 *
 * Memory: the texts have a limit, see apply.c, and so have the parsed forms. Time: the
 * texts are parsed at most a few times per byte of the file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elog.h"
#include "file/reader.h"
#include "format/definition.h"

#define PARSED_BYTES_MAX (4U << 20)	/* texts whose parsed form is kept */

struct definition *elog_definition_find(struct elog_reader *reader, uint32_t descriptor)
{
	return elog_map_find_integer(&reader->definitions, descriptor);
}

void elog_definitions_forget(struct elog_reader *reader)
{
	struct definition *definition;

	reader->generation++;
	elog_map_for_each(&reader->definitions, definition) {
		elog_schema_free(definition->schema);
		free(definition->text);
	}
	elog_map_free(&reader->definitions);
	reader->definition_bytes = 0;
	reader->parsed_bytes = 0;
}

int elog_definition_add(struct elog_reader *reader, uint32_t descriptor,
			const void *text, size_t size)
{
	struct definition *definition;
	char *copy = malloc(size + 1);

	if (!copy)
		return -ENOMEM;
	definition = elog_map_insert(&reader->definitions, elog_map_integer(descriptor));
	if (!definition) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, text, size);
	copy[size] = '\0';
	definition->size = (uint32_t)size;
	definition->text = copy;
	reader->definition_bytes += size + ELOG_DEFINITION_OVERHEAD;
	return 0;
}

static void forget_parsed(struct elog_reader *reader)
{
	struct definition *definition;

	reader->generation++;
	elog_map_for_each(&reader->definitions, definition) {
		elog_schema_free(definition->schema);
		definition->schema = NULL;
	}
	reader->parsed_bytes = 0;
}

int elog_reader_describe(struct elog_reader *reader, uint32_t descriptor,
		       const struct elog_schema_event **event)
{
	struct definition *definition = elog_definition_find(reader, descriptor);
	int ret;

	if (!definition)
		return -ENOENT;
	if (!definition->schema && !definition->wrong) {
		if (reader->parsed_bytes >= PARSED_BYTES_MAX)
			forget_parsed(reader);
		/* Only malicious files have texts that are parsed again and again. */
		if (reader->parsed + definition->size >
		    elog_input_allowance(&reader->input))
			return -EINVAL;
		reader->parsed += definition->size;
		ret = elog_schema_parse(definition->text, definition->size,
					&definition->schema, NULL);
		if (ret == -ENOMEM)
			return ret;
		if (ret)
			definition->schema = NULL;
		definition->wrong = ret != 0;
		reader->parsed_bytes += definition->size + ELOG_DEFINITION_OVERHEAD;
	}
	return elog_definition_event(definition->schema, event);
}

int elog_reader_definition(struct elog_reader *reader, uint32_t descriptor, const char **text)
{
	const struct definition *definition = elog_definition_find(reader, descriptor);

	if (!definition)
		return -ENOENT;
	*text = definition->text;
	return 0;
}

uint64_t elog_reader_generation(const struct elog_reader *reader)
{
	return reader->generation;
}
