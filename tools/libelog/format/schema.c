// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The parser of schema texts. eventlog_gen.awk parses the same language when it makes
 * headers; selftests/schema verifies that both agree.
 *
 * Texts come from the kernel, from unknown files and from people, so nothing in them is
 * trusted: each name, number and size is checked. Memory usage and run time are linear
 * in the length of the text. Errors have a line number and a reason.
 *
 * A text consists of lines:
 *	eventlog 1
 *	provider NAME ["DESCRIPTION"]
 *	keyword NAME MASK ["DESCRIPTION"]
 *	enum NAME ["DESCRIPTION"]
 *		VALUE NAME ["DESCRIPTION"]
 *	flags NAME ["DESCRIPTION"]
 *		MASK NAME ["DESCRIPTION"]
 *	event ID NAME LEVEL KEYWORDS [start|end] ["DESCRIPTION"]
 *		TYPE NAME [as dec|hex] ["DESCRIPTION"]
 *
 * An indented line belongs to the enum, flags or event above it. "#" starts a comment.
 * The NAME of a provider or an event may be a quoted string of up to 255 printable ASCII
 * characters. In a string, \" and \\ stand for " and \. KEYWORDS is "-", or a list of names of
 * keywords and masks ("0x3"), separated by commas. A name must be defined before it is
 * used, in the same provider. Numbers are decimal without leading zeros, or hexadecimal
 * with "0x", up to 64 bits; a VALUE may have a "-" before decimal digits. An ID is from
 * 1 to 4294967295. The text is UTF-8 without NUL and control characters; a line may end
 * in CR LF.
 *
 * A parsed schema is immutable; any number of threads may read it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/field_type.h"
#include "common/word.h"
#include "elog.h"
#include "format/text.h"
#include "format/uses.h"

#define TOKENS_MAX	8
#define SHOWN_MAX	64	/* characters of a bad name in a message */
#define SCHEMA_VERSION	1

/*
 * The memory of a schema is in blocks that are freed together. A typical text needs one.
 * A sanitizer sees the bounds of objects only if each has its own block, and each may then lack
 * memory.
 */
#ifdef ELOG_SANITIZE
#define BLOCK_BYTES(size)	((size) * 0)
#else
#define BLOCK_BYTES(size)	((size) < 4096 ? 512 + 4 * (size) : 16384)
#endif

struct block {
	struct block *next;
	max_align_t data[];
};

struct owned_schema {
	struct elog_schema schema;
	struct block *blocks;
};

struct token {
	const char *text;	/* NUL-terminated, in the schema's memory */
	bool quoted;
};

/* A set, and the members that determine which integer types can hold all of them. */
struct owned_set {
	struct elog_schema_set set;
	const struct elog_schema_name *largest;	/* written without a sign */
	const struct elog_schema_name *lowest;	/* written with one */
};

struct parser {
	struct owned_schema *owner;
	unsigned char *room;	/* of the latest block, zeroed */
	size_t left;		/* bytes there */
	size_t block_bytes;	/* of the next block, at least */
	struct elog_schema_error *error;
	unsigned int line;
	bool started;		/* saw "eventlog 1" */
	bool is_text;		/* all lines; else each line is checked, for the error's line */

	/* Indented lines belong to one of these; at most one is set. */
	struct owned_set *set;
	struct elog_schema_event *event;
	struct elog_schema_provider *provider;

	struct token tokens[TOKENS_MAX];
	unsigned int token_count;

	struct elog_uses used;
};

static int __attribute__((format(printf, 2, 3)))
wrong(struct parser *parser, const char *format, ...)
{
	va_list arguments;

	if (parser->error) {
		memset(parser->error, 0, sizeof(*parser->error));
		parser->error->line = parser->line;
		va_start(arguments, format);
		vsnprintf(parser->error->message,
			  sizeof(parser->error->message), format, arguments);
		va_end(arguments);
	}
	return -EINVAL;
}

static void *allocate(struct parser *parser, size_t size)
{
	const size_t align = _Alignof(max_align_t);
	struct block *block;
	void *room;

	size = (size + align - 1) / align * align;
	if (size > parser->left) {
		parser->left = size > parser->block_bytes ? size : parser->block_bytes;
		block = calloc(1, sizeof(*block) + parser->left);
		if (!block) {
			parser->left = 0;
			return NULL;
		}
		block->next = parser->owner->blocks;
		parser->owner->blocks = block;
		parser->room = (unsigned char *)block->data;
	}
	room = parser->room;
	parser->room += size;
	parser->left -= size;
	return room;
}

/*
 * Get an array with room for one more element than @count: the same one, or a larger
 * copy. Its capacity is the smallest power of two, from 4, that holds @count. Outgrown
 * arrays are freed with the schema.
 */
static void *grow(struct parser *parser, void *array, size_t count)
{
	void *larger;

	if (count && (count < 4 || (count & (count - 1))))
		return array;
	larger = allocate(parser, sizeof(void *) * (count ? count * 2 : 4));
	if (larger && count)
		memcpy(larger, array, sizeof(void *) * count);
	return larger;
}

/* Append to an array of pointers; 0 or -ENOMEM. */
#define append(parser, array, count, element) ({			\
	typeof(array) append_grown = grow(parser, array, count);	\
									\
	if (append_grown) {						\
		(array) = append_grown;					\
		(array)[(count)++] = (element);				\
	}								\
	append_grown ? 0 : -ENOMEM;					\
})

/* Find the object with a name in a scope, or NULL. */
static void *find_used(const struct parser *parser, const void *scope,
		       const char *name)
{
	return elog_uses_find(&parser->used, &(const struct elog_use){
		.scope = scope, .name = name,
	});
}

static int use_name(struct parser *parser, const void *scope, const char *name,
		    void *object, const char *what)
{
	int ret = elog_uses_add(&parser->used, &(const struct elog_use){
		.scope = scope, .name = name, .object = object,
	});

	return ret > 0 ? wrong(parser, "%s %s is defined twice", what, name) : ret;
}

/* Return: 1 if the value is used already, 0 if it is new, -ENOMEM. */
static int use_value(struct parser *parser, const void *scope, uint64_t value, void *object)
{
	return elog_uses_add(&parser->used, &(const struct elog_use){
		.scope = scope, .value = value, .object = object,
	});
}

static bool is_name(const char *text, const char *more)
{
	return eventlog_identifier_valid(text, strlen(text), more);
}

static int wrong_name(struct parser *parser, const char *text, const char *what)
{
	return wrong(parser, "'%.*s%s' is not a name for a %s", SHOWN_MAX, text,
		     strlen(text) > SHOWN_MAX ? "..." : "", what);
}

/* Get the name in token @index, or an error that says what was expected. */
static int take_name(struct parser *parser, unsigned int index,
		     const char *what, const char **name)
{
	const struct token *token = &parser->tokens[index];

	if (index >= parser->token_count || token->quoted)
		return wrong(parser, "the %s's name is missing", what);
	if (!is_name(token->text, ""))
		return wrong_name(parser, token->text, what);
	*name = token->text;
	return 0;
}

/* The same for the name of a provider or an event, which may be quoted. */
static int take_quotable_name(struct parser *parser, unsigned int index, const char *what,
			      const char *more, const char **name)
{
	const struct token *token = &parser->tokens[index];

	if (index >= parser->token_count)
		return wrong(parser, "the %s's name is missing", what);
	if (token->quoted ? !eventlog_printable_valid(token->text) : !is_name(token->text, more))
		return wrong_name(parser, token->text, what);
	*name = token->text;
	return 0;
}

static bool parse_number(const char *text, uint64_t *value)
{
	return eventlog_number_parse(text, strlen(text), value);
}

/* Parse a number that may be negative, for example an enum's value; two's complement. */
static bool parse_signed(const char *text, uint64_t *value)
{
	if (*text != '-')
		return parse_number(text, value);
	if (text[1] < '1' || text[1] > '9' || !parse_number(text + 1, value) ||
	    *value > (uint64_t)INT64_MAX + 1)
		return false;
	*value = 0 - *value;
	return true;
}

static int take_number(struct parser *parser, unsigned int index,
		       const char *what, uint64_t *value)
{
	const struct token *token = &parser->tokens[index];

	if (index >= parser->token_count || token->quoted)
		return wrong(parser, "the %s is missing", what);
	if (!parse_number(token->text, value))
		return wrong(parser, "'%s' is not a number for the %s",
			     token->text, what);
	return 0;
}

/* Get the description in token @index, if there is one. Nothing may follow it. */
static int take_description(struct parser *parser, unsigned int index,
			    const char **description)
{
	*description = "";
	if (index < parser->token_count && parser->tokens[index].quoted)
		*description = parser->tokens[index++].text;
	if (index < parser->token_count)
		return wrong(parser, "'%s' is not expected here",
			     parser->tokens[index].text);
	return 0;
}

static int parse_provider(struct parser *parser)
{
	struct elog_schema *schema = &parser->owner->schema;
	struct elog_schema_provider *provider;
	int ret;

	provider = allocate(parser, sizeof(*provider));
	if (!provider)
		return -ENOMEM;
	ret = take_quotable_name(parser, 1, "provider", ".-", &provider->name);
	if (!ret)
		ret = take_description(parser, 2, &provider->description);
	if (!ret)
		ret = append(parser, schema->providers,
			     schema->provider_count, provider);
	if (!ret)
		parser->provider = provider;
	return ret;
}

static int parse_keyword(struct parser *parser)
{
	struct elog_schema_provider *provider = parser->provider;
	struct elog_schema_name *keyword;
	int ret;

	keyword = allocate(parser, sizeof(*keyword));
	if (!keyword)
		return -ENOMEM;
	ret = take_name(parser, 1, "keyword", &keyword->name);
	if (!ret)
		ret = take_number(parser, 2, "keyword's mask", &keyword->value);
	if (!ret && !keyword->value)
		ret = wrong(parser, "a keyword needs a bit");
	if (!ret)
		ret = take_description(parser, 3, &keyword->description);
	if (!ret)
		ret = use_name(parser, &provider->keywords, keyword->name,
			       keyword, "keyword");
	if (!ret)
		ret = append(parser, provider->keywords,
			     provider->keyword_count, keyword);
	return ret;
}

static int parse_set(struct parser *parser, bool flags)
{
	struct elog_schema_provider *provider = parser->provider;
	const char *what = flags ? "flags type" : "enum";
	struct owned_set *owned;
	struct elog_schema_set *set;
	int ret;

	owned = allocate(parser, sizeof(*owned));
	if (!owned)
		return -ENOMEM;
	set = &owned->set;
	set->flags = flags;
	ret = take_name(parser, 1, what, &set->name);
	if (!ret)
		ret = take_description(parser, 2, &set->description);
	if (!ret)
		ret = use_name(parser, &provider->sets, set->name, owned, what);
	if (!ret)
		ret = append(parser, provider->sets,
			     provider->set_count, set);
	if (!ret)
		parser->set = owned;
	return ret;
}

/* Get a flag's mask, or an enum's value. */
static int take_value(struct parser *parser, const struct elog_schema_set *set,
		      uint64_t *value)
{
	const struct token *token = &parser->tokens[0];

	if (set->flags)
		return take_number(parser, 0, "flag's mask", value);
	if (token->quoted)
		return wrong(parser, "the value is missing");
	if (!parse_signed(token->text, value))
		return wrong(parser, "'%s' is not a number for the value",
			     token->text);
	return 0;
}

/* Remember a member if it determines which types can hold the set. */
static void note_extreme(struct owned_set *owned, bool negative,
			 const struct elog_schema_name *member)
{
	if (negative) {
		if (!owned->lowest ||
		    (int64_t)member->value < (int64_t)owned->lowest->value)
			owned->lowest = member;
	} else if (!owned->largest || member->value > owned->largest->value) {
		owned->largest = member;
	}
}

static int parse_set_member(struct parser *parser)
{
	struct elog_schema_set *set = &parser->set->set;
	struct elog_schema_name *member;
	int ret;

	member = allocate(parser, sizeof(*member));
	if (!member)
		return -ENOMEM;
	ret = take_value(parser, set, &member->value);
	if (!ret)
		ret = take_name(parser, 1, "value", &member->name);
	if (!ret)
		ret = take_description(parser, 2, &member->description);
	if (!ret)
		ret = use_name(parser, set, member->name, member, "value");
	if (!ret) {
		ret = use_value(parser, set, member->value, member);
		if (ret > 0)
			ret = wrong(parser, "value %s has two names",
				    parser->tokens[0].text);
	}
	if (!ret)
		ret = append(parser, set->names, set->count, member);
	if (!ret)
		note_extreme(parser->set, parser->tokens[0].text[0] == '-',
			     member);
	return ret;
}

static int take_keywords(struct parser *parser, unsigned int index,
			 uint64_t *keywords)
{
	const struct elog_schema_name *keyword;
	const char *text, *comma;
	char word[EVENTLOG_FIELD_NAME_MAX];
	uint64_t mask;

	if (index >= parser->token_count || parser->tokens[index].quoted)
		return wrong(parser, "the event's keywords are missing (- for none)");
	text = parser->tokens[index].text;
	if (!strcmp(text, "-"))
		return 0;
	for (;;) {
		comma = strchrnul(text, ',');
		if ((size_t)(comma - text) >= sizeof(word))
			return wrong(parser, "'%.*s...' is not a keyword",
				     20, text);
		memcpy(word, text, (size_t)(comma - text));
		word[comma - text] = '\0';
		if (parse_number(word, &mask)) {
			*keywords |= mask;
		} else {
			keyword = find_used(parser, &parser->provider->keywords,
					    word);
			if (!keyword)
				return wrong(parser, "there is no keyword '%s'",
					     word);
			*keywords |= keyword->value;
		}
		if (!*comma)
			return 0;
		text = comma + 1;
	}
}

/* Get the attribute in token *@index, if there is a word, and count the token. */
static int take_attribute(struct parser *parser, unsigned int *index, unsigned int *attribute)
{
	const struct token *token = &parser->tokens[*index];

	if (*index >= parser->token_count || token->quoted)
		return 0;
	*attribute = eventlog_attribute_find(token->text);
	if (!*attribute)
		return wrong(parser, "'%s' is not start or end", token->text);
	++*index;
	return 0;
}

static int parse_event(struct parser *parser)
{
	struct elog_schema_provider *provider = parser->provider;
	struct elog_schema_event *event;
	unsigned int next = 5;
	uint64_t id = 0;
	int ret;

	event = allocate(parser, sizeof(*event));
	if (!event)
		return -ENOMEM;
	event->provider = provider;
	ret = take_number(parser, 1, "event's id", &id);
	if (!ret && (!id || id > UINT32_MAX))
		ret = wrong(parser, "the event's id %s is not from 1 to 4294967295",
			    parser->tokens[1].text);
	if (ret)
		return ret;
	event->id = (uint32_t)id;
	ret = take_quotable_name(parser, 2, "event", "", &event->name);
	if (ret)
		return ret;
	if (parser->token_count <= 3 || parser->tokens[3].quoted)
		return wrong(parser, "the event's level is missing");
	/* A schema has only the full names. */
	event->level = eventlog_level_find(parser->tokens[3].text);
	if (!event->level)
		return wrong(parser, "'%s' is not a level",
			     parser->tokens[3].text);
	ret = take_keywords(parser, 4, &event->keywords);
	if (!ret)
		ret = take_attribute(parser, &next, &event->attribute);
	if (!ret)
		ret = take_description(parser, next, &event->description);
	if (!ret)
		ret = use_name(parser, &provider->events, event->name, event,
			       "event");
	if (!ret) {
		ret = use_value(parser, &provider->events, event->id, event);
		if (ret > 0)
			ret = wrong(parser, "two events have the id %u",
				    event->id);
	}
	if (!ret)
		ret = append(parser, provider->events,
			     provider->event_count, event);
	if (!ret)
		parser->event = event;
	return ret;
}

/* Find a member that the field cannot hold, or NULL. */
static const struct elog_schema_name *misfit(const struct owned_set *owned,
					     const struct eventlog_field_shape *shape)
{
	if (owned->largest && owned->largest->value > eventlog_shape_largest(shape))
		return owned->largest;
	if (owned->lowest && 0 - owned->lowest->value > eventlog_shape_lowest(shape))
		return owned->lowest;
	return NULL;
}

/* Find the set of a field whose type is enum:NAME:INT or flags:NAME:INT. */
static int find_set(struct parser *parser, const struct eventlog_field_shape *shape,
		    struct elog_schema_field *field)
{
	const bool flags = shape->kind == EVENTLOG_KIND_FLAGS;
	const char *what = flags ? "flags type" : "enum";
	const struct elog_schema_name *member;
	const struct owned_set *owned;
	char *name;

	name = allocate(parser, shape->name_bytes + 1);
	if (!name)
		return -ENOMEM;
	memcpy(name, shape->name, shape->name_bytes);
	owned = find_used(parser, &parser->provider->sets, name);
	if (!owned || owned->set.flags != flags)
		return wrong(parser, "there is no %s '%s'", what, name);
	field->set = &owned->set;
	member = misfit(owned, shape);
	if (member)
		return wrong(parser, "%s of %s %s does not fit '%s'", member->name, what, name,
			     eventlog_field_types[shape->type].name);
	return 0;
}

_Static_assert((int)ELOG_TYPE_SIGNED == EVENTLOG_KIND_SIGNED &&
	       (int)ELOG_TYPE_BYTES == EVENTLOG_KIND_BYTES &&
	       (int)ELOG_TYPE_MAC == EVENTLOG_KIND_MAC &&
	       (int)ELOG_TYPE_STRUCT == EVENTLOG_KIND_STRUCT, "types have the same numbers");

static int parse_type(struct parser *parser, struct elog_schema_field *field)
{
	const char *type = field->type_name;
	struct eventlog_field_shape shape;

	switch (eventlog_field_shape_parse(type, strlen(type), &shape)) {
	case EVENTLOG_TYPE_VALID:
		break;
	case EVENTLOG_TYPE_ELEMENT:
		return wrong(parser, "arrays are of char or u8, not '%.*s'",
			     (int)shape.name_bytes, shape.name);
	case EVENTLOG_TYPE_NO_SIZE:
		return wrong(parser, "'%s' needs a size, as in struct:NAME:16", type);
	case EVENTLOG_TYPE_SIZE:
		return wrong(parser, "'%.*s' is not a size from 1 to %u", (int)shape.rest_bytes,
			     shape.rest, EVENTLOG_PAYLOAD_MAX);
	case EVENTLOG_TYPE_TAG:
		return wrong(parser, "'%.*s' is not a name for a struct", (int)shape.name_bytes,
			     shape.name);
	case EVENTLOG_TYPE_NO_INTEGER:
		return wrong(parser, "'%s' needs an integer type, as in %s:NAME:u32", type,
			     *type == 'f' ? "flags" : "enum");
	case EVENTLOG_TYPE_INTEGER:
		return wrong(parser, "'%.*s' is not an integer type for %s", (int)shape.rest_bytes,
			     shape.rest, *type == 'f' ? "flags" : "an enum");
	default:
		return wrong(parser, "there is no type '%s'", type);
	}
	field->type = (enum elog_type)shape.kind;
	field->size = shape.bytes;
	field->relative = shape.relative;
	field->is_signed = shape.is_signed;
	return eventlog_shape_has_set(&shape) ? find_set(parser, &shape, field) : 0;
}

static int parse_field(struct parser *parser)
{
	struct elog_schema_event *event = parser->event;
	struct elog_schema_field *field;
	unsigned int next = 2;
	const char *display;
	int ret;

	if (event->field_count == EVENTLOG_FIELDS_MAX)
		return wrong(parser, "event %s has more than %u fields",
			     event->name, EVENTLOG_FIELDS_MAX);
	field = allocate(parser, sizeof(*field));
	if (!field)
		return -ENOMEM;
	if (parser->tokens[0].quoted)
		return wrong(parser, "the field's type is missing");
	field->type_name = parser->tokens[0].text;
	ret = parse_type(parser, field);
	if (!ret)
		ret = take_name(parser, 1, "field", &field->name);
	if (ret)
		return ret;
	if (next < parser->token_count && !parser->tokens[next].quoted) {
		if (strcmp(parser->tokens[next].text, "as"))
			return wrong(parser, "'%s' is not expected here",
				     parser->tokens[next].text);
		display = next + 1 < parser->token_count &&
			  !parser->tokens[next + 1].quoted ?
			  parser->tokens[next + 1].text : "";
		if (!strcmp(display, "dec"))
			field->display = ELOG_DISPLAY_DEC;
		else if (!strcmp(display, "hex"))
			field->display = ELOG_DISPLAY_HEX;
		else
			return wrong(parser, "'as' needs dec or hex");
		next += 2;
	}
	ret = take_description(parser, next, &field->description);
	if (!ret)
		ret = use_name(parser, event, field->name, field, "field");
	if (ret)
		return ret;
	field->offset = event->fixed_size;
	event->fixed_size += field->size;
	if (event->fixed_size > EVENTLOG_PAYLOAD_MAX)
		return wrong(parser, "event %s is larger than %u bytes",
			     event->name, EVENTLOG_PAYLOAD_MAX);
	return append(parser, event->fields, event->field_count, field);
}

static int parse_version(struct parser *parser)
{
	uint64_t version;

	if (parser->tokens[0].quoted ||
	    strcmp(parser->tokens[0].text, "eventlog"))
		return wrong(parser, "a schema begins with 'eventlog %u'",
			     SCHEMA_VERSION);
	if (take_number(parser, 1, "version", &version))
		return -EINVAL;
	if (version != SCHEMA_VERSION) {
		wrong(parser, "version %s of the language is not known",
		      parser->tokens[1].text);
		return -EPROTONOSUPPORT;
	}
	if (parser->token_count > 2)
		return wrong(parser, "'%s' is not expected here",
			     parser->tokens[2].text);
	parser->started = true;
	return 0;
}

static int parse_statement(struct parser *parser, bool indented)
{
	const char *keyword = parser->tokens[0].text;

	if (!parser->started)
		return parse_version(parser);
	if (indented) {
		if (parser->set)
			return parse_set_member(parser);
		if (parser->event)
			return parse_field(parser);
		return wrong(parser, "an indented line belongs below an enum, flags or event");
	}
	parser->set = NULL;
	parser->event = NULL;
	if (parser->tokens[0].quoted)
		return wrong(parser, "a string is not expected here");
	if (!strcmp(keyword, "provider"))
		return parse_provider(parser);
	if (strcmp(keyword, "keyword") && strcmp(keyword, "enum") &&
	    strcmp(keyword, "flags") && strcmp(keyword, "event"))
		return wrong(parser, "'%s' is not a statement", keyword);
	if (!parser->provider)
		return wrong(parser, "'%s' needs a provider above it", keyword);
	if (!strcmp(keyword, "keyword"))
		return parse_keyword(parser);
	if (!strcmp(keyword, "enum"))
		return parse_set(parser, false);
	if (!strcmp(keyword, "flags"))
		return parse_set(parser, true);
	return parse_event(parser);
}

/* Parse a quoted string. *@text is behind the opening quote; *@room receives the string. */
static int split_string(struct parser *parser, const char **text,
			const char *end, char **room)
{
	const char *from = *text;
	char *copy = *room;

	for (; from < end && *from != '"'; from++) {
		if (*from == '\\') {
			from++;
			if (from == end || (*from != '"' && *from != '\\'))
				return wrong(parser, "only \\\" and \\\\ may follow a backslash");
		} else if (((unsigned char)*from < ' ' && *from != '\t') ||
			   *from == '\x7f') {
			return wrong(parser, "a control character in a string");
		}
		*copy++ = *from;
	}
	if (from == end)
		return wrong(parser, "the string does not end");
	*room = copy + 1;
	*text = from + 1;
	return 0;
}

/* Printable ASCII except blanks, quotes and "#". In ASCII, only "!" is before these. */
static bool is_plain(char c)
{
	return (unsigned char)(c - '$') <= '~' - '$' || c == '!';
}

/*
 * Tokens are separated by a blank or a quote, so all of them and their NULs need one byte
 * more than the line.
 */
static int split_line(struct parser *parser, const char *text, const char *end)
{
	struct token *token;
	char *room = NULL;
	const char *from;
	int ret;

	parser->token_count = 0;
	/* Comments must be text, too. */
	if (!parser->is_text && !elog_is_text(text, end))
		return wrong(parser, "bytes that are not UTF-8");
	for (;;) {
		while (text < end && (*text == ' ' || *text == '\t'))
			text++;
		if (text == end || *text == '#')
			return 0;
		if (parser->token_count == TOKENS_MAX)
			return wrong(parser, "the line is too long");
		if (!room)
			room = allocate(parser, (size_t)(end - text) + 1);
		if (!room)
			return -ENOMEM;
		token = &parser->tokens[parser->token_count++];
		token->text = room;
		token->quoted = *text == '"';
		if (token->quoted) {
			text++;
			ret = split_string(parser, &text, end, &room);
			if (ret)
				return ret;
			continue;
		}
		for (from = text; text < end && is_plain(*text); text++)
			;
		if (text < end && *text != ' ' && *text != '\t' && *text != '#' && *text != '"')
			return wrong(parser, "a character that is not expected here");
		room = elog_copy(room, from, (size_t)(text - from)) + 1;
	}
}

int elog_schema_parse(const char *text, size_t size,
		      struct elog_schema **schema,
		      struct elog_schema_error *error)
{
	struct parser parser;
	const char *end = text + size, *line_end;
	int ret = 0;

	memset(&parser, 0, offsetof(struct parser, used));
	parser.error = error;
	parser.block_bytes = BLOCK_BYTES(size);
	parser.is_text = elog_is_text(text, end);

	parser.owner = calloc(1, sizeof(*parser.owner));
	if (!parser.owner)
		return -ENOMEM;
	elog_uses_init(&parser.used);
	while (!ret && text < end) {
		parser.line++;
		line_end = memchr(text, '\n', (size_t)(end - text));
		if (!line_end)
			line_end = end;
		if (line_end > text && line_end[-1] == '\r')
			ret = split_line(&parser, text, line_end - 1);
		else
			ret = split_line(&parser, text, line_end);
		if (!ret && parser.token_count)
			ret = parse_statement(&parser, *text == ' ' ||
					      *text == '\t');
		text = line_end < end ? line_end + 1 : end;
	}
	if (!ret && !parser.started) {
		parser.line++;
		ret = wrong(&parser, "a schema begins with 'eventlog %u'",
			    SCHEMA_VERSION);
	}
	elog_uses_free(&parser.used);
	if (ret) {
		elog_schema_free(&parser.owner->schema);
		return ret;
	}
	*schema = &parser.owner->schema;
	return 0;
}

void elog_schema_free(struct elog_schema *schema)
{
	struct owned_schema *owner = (struct owned_schema *)schema;
	struct block *block, *next;

	if (!schema)
		return;
	for (block = owner->blocks; block; block = next) {
		next = block->next;
		free(block);
	}
	free(owner);
}
