// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Parsing of expressions over the fields of events.
 *
 *	or		and { "||" and }
 *	and		unary { "&&" unary }
 *	unary		"!" unary | "(" or ")" | comparison
 *	comparison	NAME [ operator value ]
 *
 * An expression is an array of comparisons. Each has two targets, for true and for
 * false: a later comparison, ACCEPT or REJECT. "!" exchanges the targets. The postfix
 * notation of the expression is only for printing parts of it, see compile.c.
 * bind.c turns each comparison into a test with known operands, and drops tests whose
 * result is known or irrelevant. The remaining tests are the predicate.
 *
 * A test whose field does not exist is false, even with "!=".
 *
 * Texts come from people, and payloads from anywhere. So the depth, the size and the
 * number of everything are limited, and regular expressions by their expanded size, see
 * pattern.c. Expressions and predicates are immutable, except for what regular
 * expressions have cached, which a lock protects; any number of threads may use them.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "elog.h"
#include "format/expression.h"
#include "util/util.h"

const char *const elog_operator_names[] = {
	"", "==", "!=", "<", "<=", ">", ">=", "~", "!~", "&",
};

static const char *const metadata_names[] = {
	"cpu", "pid", "tid", "comm", "session", "time", "level", "keywords",
	"provider", "event", "instance",
};

int elog_wrong(struct elog_expression_error *error, unsigned int column,
	       const char *format, ...)
{
	va_list arguments;

	if (error) {
		memset(error, 0, sizeof(*error));
		error->column = column;
		va_start(arguments, format);
		vsnprintf(error->message, sizeof(error->message), format,
			  arguments);
		va_end(arguments);
	}
	return -EINVAL;
}

/* ------------------------------------------------------------------------
 * Words
 */

enum token_type {
	TOKEN_END,
	TOKEN_WORD,
	TOKEN_STRING,
	TOKEN_OPERATOR,		/* the enum operator is in struct token */
	TOKEN_NOT,
	TOKEN_AND,
	TOKEN_OR,
	TOKEN_OPEN,
	TOKEN_CLOSE,
};

struct token {
	enum token_type type;
	enum operator operator;
	unsigned int column;
	const char *text;	/* words and strings: in the expression's memory */
	size_t size;
};

struct parser {
	struct elog_expression *expression;
	struct elog_expression_error *error;
	const char *text;
	size_t position;
	char *free;		/* free memory for strings, owned by the expression */
	struct token token;	/* the next token */
	unsigned int depth;
	bool negated;		/* below an odd number of "!" */

	/*
	 * While the target of a comparison is not known, it is the number of a label. A
	 * label is the index of a comparison or, with ALIAS, another label with a
	 * smaller number.
	 */
	uint32_t *labels;
	uint32_t label_count;
	uint32_t label_capacity;
};

#define LABEL_ACCEPT	0
#define LABEL_REJECT	1
#define ALIAS		(1U << 31)

/* Characters of addresses, numbers and names, and "|" between names of flags. */
static bool word_character(const char *text)
{
	if (*text == '|')
		return text[1] != '|' && text[-1] != '|';
	return isascii((unsigned char)*text) && *text &&
	       (isalnum((unsigned char)*text) || strchr("_.:/@-", *text));
}

static int put_escape(struct parser *parser, const char *text, size_t *used)
{
	unsigned int column = (unsigned int)(text - parser->text) + 1;
	int high, low;

	*used = 2;
	switch (text[1]) {
	case '"':
	case '\\':
		*parser->free++ = text[1];
		return 0;
	case 'n':
		*parser->free++ = '\n';
		return 0;
	case 't':
		*parser->free++ = '\t';
		return 0;
	case 'x':
		high = eventlog_hex_digit(text[2]);
		low = high < 0 ? -1 : eventlog_hex_digit(text[3]);
		if (low < 0)
			return elog_wrong(parser->error, column,
					  "\\x needs two hexadecimal digits");
		if (!high && !low)
			return elog_wrong(parser->error, column,
					  "strings cannot contain a NUL");
		*parser->free++ = (char)(high << 4 | low);
		*used = 4;
		return 0;
	default:
		return elog_wrong(parser->error, column,
				  "only \\\", \\\\, \\n, \\t and \\xNN may follow a backslash");
	}
}

static int take_string(struct parser *parser, const char *text)
{
	struct token *token = &parser->token;
	const char *from = text + 1;
	size_t used;
	int ret;

	token->type = TOKEN_STRING;
	token->text = parser->free;
	while (*from != '"') {
		if (!*from)
			return elog_wrong(parser->error, token->column,
					  "the string is not terminated");
		if (*from == '\\') {
			ret = put_escape(parser, from, &used);
			if (ret)
				return ret;
			from += used;
		} else {
			*parser->free++ = *from++;
		}
	}
	token->size = (size_t)(parser->free - token->text);
	*parser->free++ = '\0';
	parser->position = (size_t)(from + 1 - parser->text);
	return 0;
}

static void take_word(struct parser *parser, const char *text)
{
	struct token *token = &parser->token;

	token->type = TOKEN_WORD;
	token->text = parser->free;
	for (; word_character(text); text++)
		*parser->free++ = *text;
	token->size = (size_t)(parser->free - token->text);
	*parser->free++ = '\0';
	parser->position = (size_t)(text - parser->text);
}

/* Read the next token. */
static int step(struct parser *parser)
{
	static const struct {
		char text[3];
		enum token_type type;
		enum operator operator;
	} signs[] = {
		/* The longer operators come first. */
		{ "||", TOKEN_OR, 0 },
		{ "&&", TOKEN_AND, 0 },
		{ "==", TOKEN_OPERATOR, OPERATOR_EQUAL },
		{ "!=", TOKEN_OPERATOR, OPERATOR_NOT_EQUAL },
		{ "<=", TOKEN_OPERATOR, OPERATOR_LESS_EQUAL },
		{ ">=", TOKEN_OPERATOR, OPERATOR_GREATER_EQUAL },
		{ "!~", TOKEN_OPERATOR, OPERATOR_NO_MATCH },
		{ "<", TOKEN_OPERATOR, OPERATOR_LESS },
		{ ">", TOKEN_OPERATOR, OPERATOR_GREATER },
		{ "~", TOKEN_OPERATOR, OPERATOR_MATCH },
		{ "&", TOKEN_OPERATOR, OPERATOR_BITS },
		{ "!", TOKEN_NOT, 0 },
		{ "(", TOKEN_OPEN, 0 },
		{ ")", TOKEN_CLOSE, 0 },
	};
	struct token *token = &parser->token;
	const char *text = parser->text + parser->position;
	size_t i;

	text += strspn(text, " \t\r\n");
	memset(token, 0, sizeof(*token));
	token->column = (unsigned int)(text - parser->text) + 1;
	if (!*text) {
		token->type = TOKEN_END;
		return 0;
	}
	if (*text == '"')
		return take_string(parser, text);
	for (i = 0; i < ELOG_ARRAY_SIZE(signs); i++) {
		if (strncmp(text, signs[i].text, strlen(signs[i].text)))
			continue;
		token->type = signs[i].type;
		token->operator = signs[i].operator;
		parser->position = (size_t)(text - parser->text) +
				   strlen(signs[i].text);
		return 0;
	}
	if (*text != '|' && word_character(text)) {
		take_word(parser, text);
		return 0;
	}
	if (*text == '=')
		return elog_wrong(parser->error, token->column,
				  "'=' is not an operator, use '=='");
	if (*text == '|')
		return elog_wrong(parser->error, token->column,
				  "'|' is not an operator, use '||'");
	if (*text > ' ' && *text <= '~')
		return elog_wrong(parser->error, token->column,
				  "'%c' is unexpected", *text);
	return elog_wrong(parser->error, token->column,
			  "the byte 0x%02x is unexpected",
			  (unsigned char)*text);
}

/* ------------------------------------------------------------------------
 * Parsing
 */

static int new_label(struct parser *parser, uint32_t *label)
{
	uint32_t capacity, *larger;

	if (parser->label_count == parser->label_capacity) {
		capacity = parser->label_capacity ? parser->label_capacity * 2 : 64;
		larger = realloc(parser->labels, capacity * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		parser->labels = larger;
		parser->label_capacity = capacity;
	}
	*label = parser->label_count++;
	return 0;
}

static int put_postfix(struct elog_expression *expression, uint32_t element)
{
	uint32_t capacity, *larger;

	if (expression->postfix_count == expression->postfix_capacity) {
		capacity = expression->postfix_capacity ? expression->postfix_capacity * 2 : 16;
		larger = realloc(expression->postfix, capacity * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		expression->postfix = larger;
		expression->postfix_capacity = capacity;
	}
	expression->postfix[expression->postfix_count++] = element;
	return 0;
}

static struct comparison *new_comparison(struct elog_expression *expression)
{
	struct comparison *larger;
	uint32_t capacity;

	if (expression->count == expression->capacity) {
		capacity = expression->capacity ? expression->capacity * 2 : 16;
		larger = realloc(expression->comparisons,
				 capacity * sizeof(*larger));
		if (!larger)
			return NULL;
		expression->comparisons = larger;
		expression->capacity = capacity;
	}
	return memset(&expression->comparisons[expression->count++], 0,
		      sizeof(struct comparison));
}

/* Describe a token for a message. */
static const char *spell(const struct parser *parser, char *buffer, size_t size)
{
	const struct token *token = &parser->token;

	switch (token->type) {
	case TOKEN_END:
		return "the end";
	case TOKEN_STRING:
		return "a string";
	case TOKEN_WORD:
		snprintf(buffer, size, "'%.40s%s'", token->text,
			 token->size > 40 ? "..." : "");
		return buffer;
	default:
		snprintf(buffer, size, "'%.*s'",
			 (int)(parser->position - (token->column - 1)),
			 parser->text + token->column - 1);
		return buffer;
	}
}

static int __attribute__((format(printf, 2, 3)))
unexpected(const struct parser *parser, const char *format, ...)
{
	char buffer[64], expected[64];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(expected, sizeof(expected), format, arguments);
	va_end(arguments);
	return elog_wrong(parser->error, parser->token.column, "%s, expected %s",
			  spell(parser, buffer, sizeof(buffer)), expected);
}

enum metadata elog_metadata_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ELOG_ARRAY_SIZE(metadata_names); i++)
		if (!strcmp(name, metadata_names[i]))
			break;
	return (enum metadata)i;
}

static bool is_name(const char *text)
{
	/* A field of a struct in a decoded record has a point. */
	if (eventlog_is_digit(*text) || *text == '.')
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && *text != '_' && *text != '.')
			return false;
	return true;
}

static int parse_value(struct parser *parser, struct comparison *comparison)
{
	const struct token *token = &parser->token;
	struct number number;
	bool ordered;
	double real;
	int ret = 0;

	if (token->type != TOKEN_WORD && token->type != TOKEN_STRING)
		return unexpected(parser, "a value behind %s",
				  elog_operator_names[comparison->operator]);
	comparison->value = token->text;
	comparison->value_size = token->size;
	comparison->value_column = token->column;
	comparison->quoted = token->type == TOKEN_STRING;
	comparison->end = (unsigned int)parser->position;
	ordered = comparison->operator >= OPERATOR_LESS &&
		  comparison->operator <= OPERATOR_GREATER_EQUAL;
	if ((ordered || comparison->operator == OPERATOR_BITS) &&
	    comparison->quoted)
		return elog_wrong(parser->error, token->column,
				  "%s is not for strings",
				  elog_operator_names[comparison->operator]);
	/* A fraction without unit may be compared with a float. */
	if (ordered && (eventlog_is_digit(*token->text) || *token->text == '-') &&
	    elog_number_parse(token->text, &number) &&
	    !(strpbrk(token->text, ".eE") && elog_float_parse(token->text, &real)))
		return elog_wrong(parser->error, token->column,
				  "'%.40s' is not a number", token->text);
	if (is_match(comparison->operator))
		ret = elog_pattern_compile(parser->expression, token->text,
					   token->size, token->column,
					   parser->error, &comparison->pattern);
	return ret ? ret : step(parser);
}

static int parse_comparison(struct parser *parser, bool inverted,
			    uint32_t on_true, uint32_t on_false)
{
	const struct token *token = &parser->token;
	struct comparison *comparison;
	const char *name = token->text;
	int ret;

	if (token->type == TOKEN_END && !parser->expression->count &&
	    token->column == strlen(parser->text) + 1 && !parser->depth)
		return elog_wrong(parser->error, 1, "the expression is empty");
	if (token->type != TOKEN_WORD)
		return unexpected(parser, "a field's name");
	if (*name == '@') {
		if (elog_metadata_find(name + 1) == METADATA_NONE)
			return unexpected(parser, "the name of metadata");
	} else if (!is_name(name)) {
		return unexpected(parser, "a field's name");
	}
	comparison = new_comparison(parser->expression);
	if (!comparison || put_postfix(parser->expression, parser->expression->count - 1))
		return -ENOMEM;
	comparison->only_metadata = *name == '@';
	comparison->name = name + comparison->only_metadata;
	comparison->column = token->column;
	comparison->on_true = on_true;
	comparison->on_false = on_false;
	comparison->negated = parser->negated;
	comparison->end = (unsigned int)parser->position;
	ret = step(parser);
	if (ret || token->type != TOKEN_OPERATOR)
		return ret;
	/* In C, "!" would apply to the name only. */
	if (inverted)
		return elog_wrong(parser->error, token->column,
				  "'!' before a comparison needs parentheses: !(... %s ...)",
				  elog_operator_names[token->operator]);
	comparison->operator = token->operator;
	ret = step(parser);
	return ret ? ret : parse_value(parser, comparison);
}

static int parse_or(struct parser *parser, uint32_t on_true, uint32_t on_false);

static int parse_unary(struct parser *parser, bool inverted, uint32_t on_true,
		       uint32_t on_false)
{
	enum token_type type = parser->token.type;
	int ret;

	if (type != TOKEN_NOT && type != TOKEN_OPEN)
		return parse_comparison(parser, inverted, on_true, on_false);
	if (parser->depth == ELOG_EXPRESSION_DEPTH)
		return elog_wrong(parser->error, parser->token.column,
				  "more than %u '(' and '!' nested",
				  ELOG_EXPRESSION_DEPTH);
	parser->depth++;
	ret = step(parser);
	if (ret)
		return ret;
	if (type == TOKEN_NOT) {
		parser->negated = !parser->negated;
		ret = parse_unary(parser, true, on_false, on_true);
		parser->negated = !parser->negated;
		if (!ret)
			ret = put_postfix(parser->expression, POSTFIX_NOT);
	} else {
		ret = parse_or(parser, on_true, on_false);
		if (!ret && parser->token.type != TOKEN_CLOSE)
			ret = unexpected(parser, "an operator or ')'");
		if (!ret)
			ret = step(parser);
	}
	parser->depth--;
	return ret;
}

static int parse_and(struct parser *parser, uint32_t on_true, uint32_t on_false)
{
	bool more = false;
	uint32_t next;
	int ret;

	do {
		ret = new_label(parser, &next);
		if (!ret)
			ret = parse_unary(parser, false, next, on_false);
		if (!ret && more)
			ret = put_postfix(parser->expression, POSTFIX_AND);
		if (ret)
			return ret;
		more = parser->token.type == TOKEN_AND;
		parser->labels[next] = more ? parser->expression->count :
					      ALIAS | on_true;
		if (more)
			ret = step(parser);
	} while (more && !ret);
	return ret;
}

static int parse_or(struct parser *parser, uint32_t on_true, uint32_t on_false)
{
	bool more = false;
	uint32_t next;
	int ret;

	do {
		ret = new_label(parser, &next);
		if (!ret)
			ret = parse_and(parser, on_true, next);
		if (!ret && more)
			ret = put_postfix(parser->expression, POSTFIX_OR);
		if (ret)
			return ret;
		more = parser->token.type == TOKEN_OR;
		parser->labels[next] = more ? parser->expression->count :
					      ALIAS | on_false;
		if (more)
			ret = step(parser);
	} while (more && !ret);
	return ret;
}

static void resolve_labels(struct parser *parser)
{
	struct comparison *comparison = parser->expression->comparisons;
	const struct comparison *end = comparison + parser->expression->count;
	uint32_t i;

	parser->labels[LABEL_ACCEPT] = ACCEPT;
	parser->labels[LABEL_REJECT] = REJECT;
	/* An alias refers to a smaller number. */
	for (i = LABEL_REJECT + 1; i < parser->label_count; i++)
		if (parser->labels[i] & ALIAS)
			parser->labels[i] = parser->labels[parser->labels[i] & ~ALIAS];
	for (; comparison < end; comparison++) {
		comparison->on_true = parser->labels[comparison->on_true];
		comparison->on_false = parser->labels[comparison->on_false];
	}
}

int elog_expression_parse(const char *text, struct elog_expression **expression,
			  struct elog_expression_error *error)
{
	struct parser parser = { .error = error, .text = text };
	size_t size = strnlen(text, ELOG_EXPRESSION_MAX + 1);
	uint32_t label;
	int ret;

	*expression = NULL;
	if (size > ELOG_EXPRESSION_MAX)
		return elog_wrong(error, ELOG_EXPRESSION_MAX + 1,
				  "the expression is longer than %u bytes",
				  ELOG_EXPRESSION_MAX);
	parser.expression = calloc(1, sizeof(*parser.expression));
	if (!parser.expression)
		return -ENOMEM;
	/* A token has at least one character, and needs a NUL. */
	parser.expression->strings = malloc(size * 2 + 1);
	parser.free = parser.expression->strings;
	parser.expression->source = strdup(text);
	ret = parser.free && parser.expression->source ? 0 : -ENOMEM;
	for (label = 0; !ret && label < LABEL_REJECT;)
		ret = new_label(&parser, &label);
	if (!ret)
		ret = step(&parser);
	if (!ret)
		ret = parse_or(&parser, LABEL_ACCEPT, LABEL_REJECT);
	if (!ret && parser.token.type != TOKEN_END)
		ret = unexpected(&parser, "an operator or the end");
	if (!ret)
		resolve_labels(&parser);
	free(parser.labels);
	if (ret) {
		elog_expression_free(parser.expression);
		return ret;
	}
	*expression = parser.expression;
	return 0;
}

void elog_expression_free(struct elog_expression *expression)
{
	if (!expression)
		return;
	while (expression->pattern_count)
		elog_pattern_free(expression->patterns[--expression->pattern_count]);
	free(expression->comparisons);
	free(expression->postfix);
	free(expression->source);
	free(expression->strings);
	free(expression);
}
