// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parsing of schemas of processes: see tables.h.
 *
 * The parser fills the same tables that a kernel provider has, so that names in filters,
 * trace events and most checks are common code.  What it checks in addition is what the
 * generator guarantees for kernel providers: text is UTF-8, and values fit their types.
 */
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/overflow.h>
#include <linux/string.h>

#include "common/field_type.h"
#include "common/word.h"
#include "core/fields.h"
#include "core/schema.h"
#include "core/tables.h"
#include "memory.h"

/* Limits the time, because the type of each field is searched among all enums and flags. */
#define EVENTLOG_TABLES_LINES_MAX 2048

/* The members of a set: the largest number, and the absolute value of the lowest. */
struct eventlog_range {
	u64 largest;
	u64 lowest;
};

/* What indented lines belong to. */
enum eventlog_section {
	SECTION_NONE,
	SECTION_SET,
	SECTION_EVENT,
};

/**
 * struct eventlog_tables_parser - state of parsing a schema
 * @tables: the result
 * @text: a copy of the schema, which is cut into the strings of @tables
 * @keywords: room for all keywords, likewise the others
 * @values: members of sets; used ones are counted in @value_count
 * @sets: enum and flags types
 * @ranges: those of @sets
 * @fields: fields of the event
 * @value_count: number of @values
 * @section: what an indented line belongs to
 */
struct eventlog_tables_parser {
	struct eventlog_tables *tables;
	char *text;
	struct eventlog_value *keywords;
	struct eventlog_value *values;
	struct eventlog_set *sets;
	struct eventlog_range *ranges;
	struct eventlog_field *fields;
	unsigned int value_count;
	enum eventlog_section section;
};

/* ---- words ---- */

static bool eventlog_utf8_valid(const char *text)
{
	const u8 *end = (const u8 *)text + strlen(text);
	unsigned int bytes;

	for (; *text; text += bytes) {
		bytes = isascii(*text) ? 1 : eventlog_utf8_bytes((const u8 *)text, end);
		if (!bytes || (iscntrl(*text) && *text != '\t'))
			return false;
	}
	return true;
}

/*
 * Cuts the next word off *@rest.  Words are separated by one space.  Returns NULL at the
 * end of the line, and for a word that is empty, quoted or not printable ASCII; then there
 * are no more words.
 */
static char *eventlog_tables_word(char **rest)
{
	char *word = *rest, *c;

	*rest = NULL;
	if (!word || *word == '"')
		return NULL;
	for (c = word; *c && *c != ' '; c++)
		if (!isascii(*c) || !isgraph(*c) || *c == '"' || *c == '#')
			return NULL;
	/* A space at the end of the line is followed by nothing. */
	if (c == word || (*c && !c[1]))
		return NULL;
	if (*c)
		*rest = c + 1;
	*c = '\0';
	return word;
}

/* Takes a description, which ends the line, or the end of the line. */
static int eventlog_tables_description(char *rest, const char **description)
{
	char *from, *to;

	*description = NULL;
	if (!rest)
		return 0;
	if (*rest != '"')
		return -EINVAL;
	for (from = to = rest + 1; *from && *from != '"'; from++) {
		if (*from == '\\' && *++from != '"' && *from != '\\')
			return -EINVAL;
		*to++ = *from;
	}
	if (*from != '"' || from[1])
		return -EINVAL;
	*to = '\0';
	*description = rest + 1;
	return eventlog_utf8_valid(*description) ? 0 : -EINVAL;
}

static bool eventlog_tables_number(const char *word, u64 *number)
{
	return word && eventlog_number_parse(word, strlen(word), number);
}

/* ---- statements ---- */

/* Parses "NAME MASK ["DESCRIPTION"]" of a keyword. */
static int eventlog_keyword_line(struct eventlog_tables_parser *parser, char *rest)
{
	struct eventlog_value *keyword =
		&parser->keywords[parser->tables->provider.keyword_count++];

	keyword->name = eventlog_tables_word(&rest);
	if (!eventlog_tables_number(eventlog_tables_word(&rest), &keyword->value))
		return -EINVAL;
	parser->section = SECTION_NONE;
	return eventlog_tables_description(rest, &keyword->description);
}

/* Parses "NAME ["DESCRIPTION"]" of an enum or flags type. */
static int eventlog_set_line(struct eventlog_tables_parser *parser, char *rest, bool flags)
{
	struct eventlog_set *set = &parser->sets[parser->tables->provider.set_count++];

	set->name = eventlog_tables_word(&rest);
	set->flags = flags;
	set->values = &parser->values[parser->value_count];
	parser->section = SECTION_SET;
	return set->name ? eventlog_tables_description(rest, &set->description) : -EINVAL;
}

/* Parses "VALUE NAME ["DESCRIPTION"]" of the newest set. */
static int eventlog_member_line(struct eventlog_tables_parser *parser, char *rest)
{
	unsigned int index = parser->tables->provider.set_count - 1;
	struct eventlog_value *value = &parser->values[parser->value_count++];
	struct eventlog_range *range = &parser->ranges[index];
	struct eventlog_set *set = &parser->sets[index];
	const char *word = eventlog_tables_word(&rest);
	bool negative = word && *word == '-' && !set->flags;

	if (!word || !eventlog_tables_number(word + negative, &value->value))
		return -EINVAL;
	if (negative) {
		if (!value->value || value->value > 1ULL << 63 || word[1] == '0')
			return -EINVAL;
		range->lowest = max(range->lowest, value->value);
		value->value = -value->value;
	} else {
		range->largest = max(range->largest, value->value);
	}
	value->name = eventlog_tables_word(&rest);
	set->value_count++;
	return value->name ? eventlog_tables_description(rest, &value->description) : -EINVAL;
}

/* Parses "-", or names of keywords and masks, separated by commas. */
static bool eventlog_event_keywords(const struct eventlog_provider *provider, char *list,
				    u64 *keywords)
{
	unsigned int i;
	char *word;
	u64 mask;

	if (!list)
		return false;
	if (!strcmp(list, "-"))
		return true;
	while ((word = strsep(&list, ","))) {
		for (i = 0; i < provider->keyword_count; i++)
			if (!strcmp(provider->keywords[i].name, word))
				break;
		if (i < provider->keyword_count)
			mask = provider->keywords[i].value;
		else if (!eventlog_tables_number(word, &mask))
			return false;
		*keywords |= mask;
	}
	return true;
}

/* Parses "ID NAME LEVEL KEYWORDS [start|end] ["DESCRIPTION"]". */
static int eventlog_event_line(struct eventlog_tables_parser *parser, char *rest)
{
	struct eventlog_provider_event *event = &parser->tables->event;
	u64 id;

	if (!eventlog_tables_number(eventlog_tables_word(&rest), &id) || !id || id > U32_MAX)
		return -EINVAL;
	event->id = id;
	event->name = eventlog_tables_word(&rest);
	event->level = eventlog_level_find(eventlog_tables_word(&rest));
	if (!event->name || !event->level ||
	    !eventlog_event_keywords(&parser->tables->provider, eventlog_tables_word(&rest),
				     &event->keywords))
		return -EINVAL;
	if (rest && *rest != '"') {
		event->attribute = eventlog_attribute_find(eventlog_tables_word(&rest));
		if (!event->attribute)
			return -EINVAL;
	}
	parser->section = SECTION_EVENT;
	return eventlog_tables_description(rest, &event->description);
}

/* Tests whether all members of the set of an enum or flags field fit its integer. */
static bool eventlog_range_fits(const struct eventlog_tables_parser *parser,
				const struct eventlog_field_shape *shape)
{
	const struct eventlog_set *set = eventlog_set_find(&parser->tables->provider, shape);
	const struct eventlog_range *range = set ? &parser->ranges[set - parser->sets] : NULL;

	return range && range->largest <= eventlog_shape_largest(shape) &&
	       range->lowest <= eventlog_shape_lowest(shape);
}

/* Parses "TYPE NAME [as dec|hex] ["DESCRIPTION"]". */
static int eventlog_field_line(struct eventlog_tables_parser *parser, char *rest)
{
	struct eventlog_provider_event *event = &parser->tables->event;
	struct eventlog_field *field = &parser->fields[event->field_count++];
	struct eventlog_field_shape shape;

	if (event->field_count > EVENTLOG_FIELDS_MAX)
		return -E2BIG;
	field->type = eventlog_tables_word(&rest);
	field->name = eventlog_tables_word(&rest);
	if (!field->name)
		return -EINVAL;
	if (rest && !strncmp(rest, "as ", 3)) {
		rest += 3;
		field->display = eventlog_tables_word(&rest);
		if (!field->display)
			return -EINVAL;
	}
	/* At most 256 times a little more than 64 KiB: no overflow. */
	if (eventlog_field_shape_parse(field->type, strlen(field->type), &shape) ||
	    !eventlog_shape_is_canonical(&shape) ||
	    (eventlog_shape_has_set(&shape) && !eventlog_range_fits(parser, &shape)))
		return -EINVAL;
	event->fixed_bytes += shape.bytes;
	return eventlog_tables_description(rest, &field->description);
}

static int eventlog_tables_line(struct eventlog_tables_parser *parser, char *line)
{
	const char *word;

	if (*line == '\t')
		return parser->section == SECTION_SET ? eventlog_member_line(parser, line + 1) :
		       parser->section == SECTION_EVENT ? eventlog_field_line(parser, line + 1) :
							  -EINVAL;
	/* The event is the last statement. */
	word = eventlog_tables_word(&line);
	if (!word || parser->section == SECTION_EVENT)
		return -EINVAL;
	if (!strcmp(word, "keyword"))
		return eventlog_keyword_line(parser, line);
	if (!strcmp(word, "event"))
		return eventlog_event_line(parser, line);
	if (!strcmp(word, "enum") || !strcmp(word, "flags"))
		return eventlog_set_line(parser, line, *word == 'f');
	return -EINVAL;
}

/* ---- the text ---- */

/* Lines of each kind, which limit the sizes of the tables. */
struct eventlog_line_counts {
	unsigned int keywords;
	unsigned int sets;
	unsigned int indented;
};

static int eventlog_lines_count(const char *text, struct eventlog_line_counts *counts)
{
	unsigned int lines = 0;

	memset(counts, 0, sizeof(*counts));
	for (; *text; text = strchrnul(text, '\n'), text += *text == '\n') {
		if (++lines > EVENTLOG_TABLES_LINES_MAX)
			return -E2BIG;
		counts->keywords += *text == 'k';
		counts->sets += *text == 'e' || *text == 'f';
		counts->indented += *text == '\t';
	}
	return 0;
}

/* Makes empty tables, with room for all lines, a copy of the text and the preamble. */
static struct eventlog_tables *eventlog_tables_new(struct eventlog_tables_parser *parser,
						   const struct eventlog_line_counts *counts,
						   size_t text_bytes)
{
	size_t bytes = sizeof(*parser->tables) +
		       (counts->keywords + counts->indented) * sizeof(*parser->values) +
		       counts->sets * sizeof(*parser->sets) +
		       counts->indented * sizeof(*parser->fields) + 2 * text_bytes;
	struct eventlog_tables *tables = eventlog_alloc(bytes);

	if (!tables)
		return NULL;
	parser->tables = tables;
	tables->bytes = bytes;
	parser->keywords = (struct eventlog_value *)(tables + 1);
	parser->values = parser->keywords + counts->keywords;
	parser->sets = (struct eventlog_set *)(parser->values + counts->indented);
	parser->fields = (struct eventlog_field *)(parser->sets + counts->sets);
	parser->text = (char *)(parser->fields + counts->indented);
	tables->provider.owner = EVENTLOG_OWNER_PROCESS;
	tables->provider.keywords = parser->keywords;
	tables->provider.sets = parser->sets;
	tables->provider.events = tables->events;
	tables->provider.event_count = 1;
	tables->events[0] = &tables->event;
	tables->event.fields = parser->fields;
	return tables;
}

/* Copies the preamble of a valid text to @to.  Returns where the statement begins. */
static const char *eventlog_tables_preamble(struct eventlog_tables *tables, const char *text,
					    char *to)
{
	const char *preamble, *statement;

	/* The second line is "provider NAME". */
	preamble = strchr(text, '\n') + 1 + strlen("provider ") + strlen(tables->provider.name);
	/* A description has no newline. */
	statement = strstr(preamble, "\nevent ") + 1;
	tables->preamble = memcpy(to, preamble, statement - preamble);
	return statement;
}

static int eventlog_tables_lines(struct eventlog_tables_parser *parser)
{
	struct eventlog_provider *provider = &parser->tables->provider;
	char *rest = parser->text, *line;
	int ret;

	line = strsep(&rest, "\n");
	if (strcmp(line, "eventlog 1"))
		return -EINVAL;
	line = strsep(&rest, "\n");
	if (!line || strncmp(line, "provider ", strlen("provider ")))
		return -EINVAL;
	line += strlen("provider ");
	provider->name = eventlog_tables_word(&line);
	if (!provider->name)
		return -EINVAL;
	ret = eventlog_tables_description(line, &provider->description);
	/* Each line ends with a newline. */
	while (!ret && (line = strsep(&rest, "\n")) && rest)
		ret = eventlog_tables_line(parser, line);
	if (ret)
		return ret;
	return line && !*line && parser->section == SECTION_EVENT ? 0 : -EINVAL;
}

int eventlog_tables_parse(const char *text, struct eventlog_fields *fields)
{
	struct eventlog_tables_parser parser = {};
	struct eventlog_line_counts counts;
	size_t text_bytes = strlen(text) + 1;
	struct eventlog_tables *tables;
	const char *statement;
	int ret;

	memset(fields, 0, sizeof(*fields));
	ret = eventlog_lines_count(text, &counts);
	if (ret)
		return ret;
	parser.ranges = eventlog_alloc((counts.sets + 1) * sizeof(*parser.ranges));
	tables = eventlog_tables_new(&parser, &counts, text_bytes);
	ret = -ENOMEM;
	if (!parser.ranges || !tables)
		goto out;
	strcpy(parser.text, text);
	ret = eventlog_tables_lines(&parser) ?: eventlog_schema_check(&tables->provider);
	if (ret)
		goto out;
	statement = eventlog_tables_preamble(tables, text, parser.text + text_bytes);
	ret = -ENOMEM;
	fields->layout = eventlog_schema_layout(&tables->provider, &tables->event);
	fields->text = eventlog_alloc(strlen(statement) + 1);
	if (!fields->layout || !fields->text) {
		eventlog_fields_free(fields);
		goto out;
	}
	strcpy(fields->text, statement);
	fields->name = tables->event.name;
	fields->tables = tables;
	tables = NULL;
	ret = 0;
out:
	eventlog_free(tables);
	eventlog_free(parser.ranges);
	return ret;
}
