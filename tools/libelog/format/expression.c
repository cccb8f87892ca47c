// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Expressions over the fields of events, and predicates: expressions bound to
 * one event's schema.
 *
 *	or		and { "||" and }
 *	and		unary { "&&" unary }
 *	unary		"!" unary | "(" or ")" | comparison
 *	comparison	NAME [ operator value ]
 *
 * There is no tree. An expression is an array of comparisons, and each says
 * where to go on when it is true and when it is not: always forward, in the end
 * to ACCEPT or REJECT. "!" swaps the two. To bind is to turn each comparison
 * into a test whose operands are known, to drop those whose result is known or
 * of no consequence, and what remains is the predicate.
 *
 * A test whose field is not there is false, also that of "!=".
 *
 * Texts come from people and payloads from anywhere: depth, size and number of
 * everything are limited, and regular expressions by what they expand to, for
 * the C library's compiler takes memory by the square of that. Expressions and
 * predicates are immutable but for what regular expressions have learnt, which
 * each has a lock for; any number of threads may use them.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define PATTERNS_MAX		64	/* regular expressions in an expression */
#define PATTERN_BYTES_MAX	1024
#define PATTERN_DEPTH_MAX	32
#define PATTERN_COST_MAX	1000	/* what one expands to */
#define PATTERN_COSTS_MAX	4096	/* what all expand to */
#define PATTERN_LEARNT_MAX	8192	/* bytes one has looked at since compiled */

/* Where comparisons and tests go on, apart from others of them. */
#define ACCEPT	(UINT32_MAX - 1)
#define REJECT	UINT32_MAX

enum operator {
	OPERATOR_NONE,		/* a name alone */
	OPERATOR_EQUAL,
	OPERATOR_NOT_EQUAL,
	OPERATOR_LESS,
	OPERATOR_LESS_EQUAL,
	OPERATOR_GREATER,
	OPERATOR_GREATER_EQUAL,
	OPERATOR_MATCH,
	OPERATOR_NO_MATCH,
	OPERATOR_BITS,
};

static const char *const operator_names[] = {
	"", "==", "!=", "<", "<=", ">", ">=", "~", "!~", "&",
};

/* What a record has besides fields. */
enum metadata {
	METADATA_CPU,
	METADATA_PID,
	METADATA_TID,
	METADATA_COMM,
	METADATA_SESSION,
	METADATA_TIME,
	METADATA_LEVEL,
	METADATA_KEYWORDS,
	METADATA_PROVIDER,
	METADATA_EVENT,
	METADATA_NONE,
};

static const char *const metadata_names[] = {
	"cpu", "pid", "tid", "comm", "session", "time", "level", "keywords",
	"provider", "event",
};

enum pattern_type {
	PATTERN_REGEX,
	PATTERN_PART,		/* plain text, found anywhere */
	PATTERN_BEGIN,
	PATTERN_END,
	PATTERN_WHOLE,
};

/*
 * The C library remembers each state that a text has led it to, up to one for
 * every byte and some KiB each: from time to time it has to forget.
 */
struct pattern {
	enum pattern_type type;
	const char *text;
	size_t size;

	/* The rest is of PATTERN_REGEX. The lock is for what follows it. */
	pthread_mutex_t lock;
	regex_t regex;
	bool compiled;
	size_t learnt;
};

struct comparison {
	const char *name;
	enum operator operator;
	bool only_metadata;	/* the name had an "@" */
	bool quoted;		/* the value was */
	unsigned int column;		/* of the name */
	unsigned int value_column;
	const char *value;	/* NUL-terminated */
	size_t value_size;
	struct pattern *pattern;	/* of ~ and !~ */
	uint32_t on_true;
	uint32_t on_false;
};

struct elog_expression {
	struct comparison *comparisons;
	uint32_t count;
	uint32_t capacity;
	char *strings;
	struct pattern *patterns[PATTERNS_MAX];
	unsigned int pattern_count;
	unsigned int pattern_costs;
};

/* Return: -EINVAL. */
static int __attribute__((format(printf, 3, 4)))
wrong(struct elog_expression_error *error, unsigned int column,
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
 * Numbers
 */

struct number {
	bool negative;
	uint64_t magnitude;
};

static int hex_digit(char character)
{
	if (character >= '0' && character <= '9')
		return character - '0';
	if (character >= 'a' && character <= 'f')
		return character - 'a' + 10;
	if (character >= 'A' && character <= 'F')
		return character - 'A' + 10;
	return -1;
}

static bool digit(char character)
{
	return character >= '0' && character <= '9';
}

/* The factor of a unit, or 0. */
static uint64_t unit_factor(const char *unit)
{
	static const struct {
		const char *name;
		uint64_t factor;
	} units[] = {
		{ "", 1 }, { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 },
		{ "s", 1000000000 }, { "K", 1 << 10 }, { "M", 1 << 20 },
		{ "G", 1 << 30 },
	};
	size_t i;

	for (i = 0; i < ELOG_ARRAY_SIZE(units); i++)
		if (!strcmp(unit, units[i].name))
			return units[i].factor;
	return 0;
}

/*
 * The digits behind a point, times a unit: 5 of "1.5ms" is 500000. Nine digits
 * of which the last is not 0 are as fine as any unit.
 */
static bool parse_fraction(const char *digits, size_t count, uint64_t factor,
			   uint64_t *value)
{
	uint64_t numerator = 0, denominator = 1;

	while (count && digits[count - 1] == '0')
		count--;
	if (count > 9)
		return false;
	for (; count; count--) {
		numerator = numerator * 10 + (uint64_t)(*digits++ - '0');
		denominator *= 10;
	}
	if (numerator * factor % denominator)
		return false;
	*value = numerator * factor / denominator;
	return true;
}

/*
 * Return: 0; -EINVAL this is not a number; -ERANGE no 64 bits hold it, or the
 * unit has no such fraction.
 */
static int parse_number(const char *text, struct number *number)
{
	const char *digits, *end, *point = NULL;
	uint64_t value = 0, factor, fraction = 0;
	bool overflow = false;
	int base = 10;

	number->negative = *text == '-';
	if (number->negative)
		text++;
	if (text[0] == '0' && text[1] == 'x' && hex_digit(text[2]) >= 0) {
		base = 16;
		text += 2;
	}
	for (digits = text; base == 16 ? hex_digit(*text) >= 0 : digit(*text); text++) {
		overflow |= __builtin_mul_overflow(value, (uint64_t)base, &value);
		overflow |= __builtin_add_overflow(value, (uint64_t)hex_digit(*text),
						   &value);
	}
	if (text == digits)
		return -EINVAL;
	end = text;
	if (base == 10 && *text == '.' && digit(text[1])) {
		point = text++;
		while (digit(*text))
			text++;
		end = text;
	}
	factor = unit_factor(text);
	if (!factor || (*text && base == 16) || (point && !*text))
		return -EINVAL;
	overflow |= __builtin_mul_overflow(value, factor, &value);
	if (point && !parse_fraction(point + 1, (size_t)(end - point - 1), factor,
				     &fraction))
		return -ERANGE;
	overflow |= __builtin_add_overflow(value, fraction, &value);
	if (overflow || (number->negative && value > (uint64_t)INT64_MAX + 1))
		return -ERANGE;
	number->negative &= value != 0;
	number->magnitude = value;
	return 0;
}

/* ------------------------------------------------------------------------
 * Words
 */

enum token_type {
	TOKEN_END,
	TOKEN_WORD,
	TOKEN_STRING,
	TOKEN_OPERATOR,		/* enum operator is in struct token */
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
	const char *text;	/* of words and strings: in the expression's memory */
	size_t size;
};

struct parser {
	struct elog_expression *expression;
	struct elog_expression_error *error;
	const char *text;
	size_t position;
	char *free;		/* the expression's memory for strings from here on */
	struct token token;	/* the next one */
	unsigned int depth;

	/*
	 * Where comparisons go before that is known: to the label of that
	 * number. A label is the index of a comparison or, with ALIAS, another
	 * label, with a smaller number.
	 */
	uint32_t *labels;
	uint32_t label_count;
	uint32_t label_capacity;
};

#define LABEL_ACCEPT	0
#define LABEL_REJECT	1
#define ALIAS		(1U << 31)

/* Of addresses, numbers and names, and "|" between names of flags. */
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
		high = hex_digit(text[2]);
		low = high < 0 ? -1 : hex_digit(text[3]);
		if (low < 0)
			return wrong(parser->error, column,
				     "\\x needs two hexadecimal digits");
		if (!high && !low)
			return wrong(parser->error, column,
				     "strings hold no NUL");
		*parser->free++ = (char)(high << 4 | low);
		*used = 4;
		return 0;
	default:
		return wrong(parser->error, column,
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
			return wrong(parser->error, token->column,
				     "the string does not end");
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

/* Step to the next token. */
static int step(struct parser *parser)
{
	static const struct {
		char text[3];
		enum token_type type;
		enum operator operator;
	} signs[] = {
		/* The longer ones first. */
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
		return wrong(parser->error, token->column,
			     "'=' is no operator: '==' is");
	if (*text == '|')
		return wrong(parser->error, token->column,
			     "'|' is no operator: '||' is");
	if (*text > ' ' && *text <= '~')
		return wrong(parser->error, token->column,
			     "'%c' is not expected here", *text);
	return wrong(parser->error, token->column,
		     "the byte 0x%02x is not expected here", (unsigned char)*text);
}

/* ------------------------------------------------------------------------
 * Regular expressions
 */

/* The position behind a bracket expression, which begins at @text. */
static const char *skip_bracket(const char *text)
{
	char class;

	text++;
	if (*text == '^')
		text++;
	if (*text == ']')
		text++;
	for (; *text && *text != ']'; text++) {
		if (*text != '[' || !text[1] || !strchr(":.=", text[1]))
			continue;
		class = text[1];
		for (text += 2; *text && (*text != class || text[1] != ']'); text++)
			;
		if (!*text)
			return text;
		text++;
	}
	return *text ? text + 1 : text;
}

/* How often an interval repeats, or 0: it is none. @text is set behind it. */
static unsigned int interval(const char **text)
{
	unsigned int bounds[2] = { 0, 0 }, which = 0, i;
	const char *from = *text + 1;
	bool digits = false;

	for (; digit(*from) || *from == ','; from++) {
		if (*from == ',') {
			if (which++)
				return 0;
			continue;
		}
		digits = true;
		i = bounds[which] * 10 + (unsigned int)(*from - '0');
		bounds[which] = i < PATTERN_COST_MAX ? i : PATTERN_COST_MAX;
	}
	if (*from != '}' || (!digits && !which))
		return 0;
	*text = from + 1;
	return (bounds[0] > bounds[1] ? bounds[0] : bounds[1]) + 1;
}

/*
 * How many states a regular expression has when what it repeats is written out,
 * as the C library does, or why there is no telling.
 */
static const char *pattern_cost(const char *text, unsigned int *cost)
{
	unsigned int totals[PATTERN_DEPTH_MAX + 1] = { 0 };
	unsigned int total = 0, atom = 0, depth = 0, times;

	while (*text) {
		times = 0;
		switch (*text) {
		case '*':
		case '?':
			text++;
			continue;
		case '+':
			times = 2;
			text++;
			break;
		case '{':
			times = interval(&text);
			break;
		default:
			break;
		}
		if (times) {
			atom *= times;
			if (total + atom > PATTERN_COST_MAX)
				return "the regular expression repeats too much";
			continue;
		}
		total += atom;
		atom = 1;
		if (*text == '(') {
			if (depth == PATTERN_DEPTH_MAX)
				return "the regular expression is nested too deep";
			totals[depth++] = total;
			total = 0;
			atom = 0;
		} else if (*text == ')' && depth) {
			atom = total + 1;
			total = totals[--depth];
		} else if (*text == '[') {
			text = skip_bracket(text);
			continue;
		} else if (*text == '\\') {
			if (digit(text[1]))
				return "back-references are not supported";
			if (!*++text)
				break;
		}
		text++;
	}
	total += atom;
	while (depth)
		total += totals[--depth];
	*cost = total;
	return total > PATTERN_COST_MAX ? "the regular expression is too large" : NULL;
}

/* Many are plain text: those are found without the C library's automata. */
static bool plain_pattern(struct pattern *pattern, const char *text, size_t size)
{
	bool begin = size && text[0] == '^';
	bool end = size > (size_t)begin && text[size - 1] == '$';

	text += begin;
	size -= (size_t)begin + end;
	if (strcspn(text, ".[]()*+?{}|^$\\") < size)
		return false;
	if (begin)
		pattern->type = end ? PATTERN_WHOLE : PATTERN_BEGIN;
	else
		pattern->type = end ? PATTERN_END : PATTERN_PART;
	pattern->text = text;
	pattern->size = size;
	return true;
}

static int compile_pattern(struct parser *parser, const struct token *token,
			   struct pattern **result)
{
	struct elog_expression *expression = parser->expression;
	struct pattern *pattern;
	unsigned int cost = 0;
	const char *reason;
	char buffer[120];
	int ret;

	if (expression->pattern_count == PATTERNS_MAX)
		return wrong(parser->error, token->column,
			     "more than %u regular expressions", PATTERNS_MAX);
	if (token->size > PATTERN_BYTES_MAX)
		return wrong(parser->error, token->column,
			     "the regular expression is longer than %u bytes",
			     PATTERN_BYTES_MAX);
	pattern = calloc(1, sizeof(*pattern));
	if (!pattern)
		return -ENOMEM;
	if (!plain_pattern(pattern, token->text, token->size)) {
		reason = pattern_cost(token->text, &cost);
		expression->pattern_costs += cost;
		if (!reason && expression->pattern_costs > PATTERN_COSTS_MAX)
			reason = "the regular expressions are too large together";
		if (reason) {
			free(pattern);
			return wrong(parser->error, token->column, "%s", reason);
		}
		pattern->text = token->text;
		ret = regcomp(&pattern->regex, pattern->text,
			      REG_EXTENDED | REG_NOSUB);
		if (ret) {
			regerror(ret, &pattern->regex, buffer, sizeof(buffer));
			free(pattern);
			if (ret == REG_ESPACE)
				return -ENOMEM;
			return wrong(parser->error, token->column,
				     "the regular expression is wrong: %s",
				     buffer);
		}
		pattern->compiled = true;
		pthread_mutex_init(&pattern->lock, NULL);
	}
	expression->patterns[expression->pattern_count++] = pattern;
	*result = pattern;
	return 0;
}

static void forget(struct pattern *pattern)
{
	if (pattern->compiled)
		regfree(&pattern->regex);
	pattern->compiled = !regcomp(&pattern->regex, pattern->text,
				     REG_EXTENDED | REG_NOSUB);
	pattern->learnt = 0;
}

/* Return: 1, 0, or -1: that could not be found out. */
static int regex_matches(struct pattern *pattern, const char *text, size_t size)
{
	regmatch_t range = { .rm_so = 0, .rm_eo = (regoff_t)size };
	int ret = REG_ESPACE;

	/* The C library has a lock for the same. */
	pthread_mutex_lock(&pattern->lock);
	if (!pattern->compiled ||
	    (pattern->learnt && pattern->learnt + size > PATTERN_LEARNT_MAX))
		forget(pattern);
	if (pattern->compiled) {
		ret = regexec(&pattern->regex, text, 1, &range, REG_STARTEND);
		pattern->learnt += size;
	}
	pthread_mutex_unlock(&pattern->lock);
	return ret == REG_NOMATCH ? 0 : ret ? -1 : 1;
}

/* Return: 1, 0, or -1: that could not be found out. */
static int pattern_matches(struct pattern *pattern, const char *text, size_t size)
{
	if (pattern->type != PATTERN_REGEX && pattern->size > size)
		return 0;
	switch (pattern->type) {
	case PATTERN_PART:
		return memmem(text, size, pattern->text, pattern->size) != NULL;
	case PATTERN_BEGIN:
		return !memcmp(text, pattern->text, pattern->size);
	case PATTERN_END:
		return !memcmp(text + size - pattern->size, pattern->text,
			       pattern->size);
	case PATTERN_WHOLE:
		return size == pattern->size && !memcmp(text, pattern->text, size);
	default:
		return regex_matches(pattern, text, size);
	}
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

/* How a token is called in a message. */
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
	return wrong(parser->error, parser->token.column, "%s, expected %s",
		     spell(parser, buffer, sizeof(buffer)), expected);
}

static enum metadata find_metadata(const char *name)
{
	unsigned int i;

	for (i = 0; i < ELOG_ARRAY_SIZE(metadata_names); i++)
		if (!strcmp(name, metadata_names[i]))
			break;
	return (enum metadata)i;
}

static bool is_name(const char *text)
{
	if (digit(*text))
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && *text != '_')
			return false;
	return true;
}

static int parse_value(struct parser *parser, struct comparison *comparison)
{
	const struct token *token = &parser->token;
	struct number number;
	bool ordered;
	int ret = 0;

	if (token->type != TOKEN_WORD && token->type != TOKEN_STRING)
		return unexpected(parser, "a value behind %s",
				  operator_names[comparison->operator]);
	comparison->value = token->text;
	comparison->value_size = token->size;
	comparison->value_column = token->column;
	comparison->quoted = token->type == TOKEN_STRING;
	ordered = comparison->operator >= OPERATOR_LESS &&
		  comparison->operator <= OPERATOR_GREATER_EQUAL;
	if ((ordered || comparison->operator == OPERATOR_BITS) &&
	    comparison->quoted)
		return wrong(parser->error, token->column, "%s is not for strings",
			     operator_names[comparison->operator]);
	if (ordered && (digit(*token->text) || *token->text == '-') &&
	    parse_number(token->text, &number))
		return wrong(parser->error, token->column, "'%.40s' is not a number",
			     token->text);
	if (comparison->operator == OPERATOR_MATCH ||
	    comparison->operator == OPERATOR_NO_MATCH)
		ret = compile_pattern(parser, token, &comparison->pattern);
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
		return wrong(parser->error, 1, "the expression is empty");
	if (token->type != TOKEN_WORD)
		return unexpected(parser, "a field's name");
	if (*name == '@') {
		if (find_metadata(name + 1) == METADATA_NONE)
			return unexpected(parser, "the name of metadata");
	} else if (!is_name(name)) {
		return unexpected(parser, "a field's name");
	}
	comparison = new_comparison(parser->expression);
	if (!comparison)
		return -ENOMEM;
	comparison->only_metadata = *name == '@';
	comparison->name = name + comparison->only_metadata;
	comparison->column = token->column;
	comparison->on_true = on_true;
	comparison->on_false = on_false;
	ret = step(parser);
	if (ret || token->type != TOKEN_OPERATOR)
		return ret;
	/* In C it would be for the name alone. */
	if (inverted)
		return wrong(parser->error, token->column,
			     "'!' before a comparison needs parentheses: !(... %s ...)",
			     operator_names[token->operator]);
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
		return wrong(parser->error, parser->token.column,
			     "more than %u '(' and '!' within each other",
			     ELOG_EXPRESSION_DEPTH);
	parser->depth++;
	ret = step(parser);
	if (ret)
		return ret;
	if (type == TOKEN_NOT) {
		ret = parse_unary(parser, true, on_false, on_true);
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
	uint32_t next;
	bool more;
	int ret;

	do {
		ret = new_label(parser, &next);
		if (!ret)
			ret = parse_unary(parser, false, next, on_false);
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
	uint32_t next;
	bool more;
	int ret;

	do {
		ret = new_label(parser, &next);
		if (!ret)
			ret = parse_and(parser, on_true, next);
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
	/* What an alias stands for has a smaller number. */
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
		return wrong(error, ELOG_EXPRESSION_MAX + 1,
			     "the expression is longer than %u bytes",
			     ELOG_EXPRESSION_MAX);
	parser.expression = calloc(1, sizeof(*parser.expression));
	if (!parser.expression)
		return -ENOMEM;
	/* A token is a character at least, and gets a NUL. */
	parser.expression->strings = malloc(size * 2 + 1);
	parser.free = parser.expression->strings;
	ret = parser.free ? 0 : -ENOMEM;
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
	struct pattern *pattern;

	if (!expression)
		return;
	while (expression->pattern_count) {
		pattern = expression->patterns[--expression->pattern_count];
		if (pattern->type == PATTERN_REGEX)
			pthread_mutex_destroy(&pattern->lock);
		if (pattern->compiled)
			regfree(&pattern->regex);
		free(pattern);
	}
	free(expression->comparisons);
	free(expression->strings);
	free(expression);
}

/* ------------------------------------------------------------------------
 * Binding
 */

/* Where a test finds its operand. */
enum source {
	SOURCE_FIELD,
	SOURCE_CPU,
	SOURCE_PID,
	SOURCE_TID,
	SOURCE_SESSION,
	SOURCE_TIME,
	SOURCE_COMM,
	SOURCE_CONSTANT,	/* only while binding */
};

enum test_type {
	TEST_RANGE,		/* (integer ^ flip) is in a range */
	TEST_BITS,		/* integer & mask */
	TEST_ADDRESS,
	TEST_MAC,
	TEST_TEXT,		/* equal to */
	TEST_PATTERN,
	TEST_HEX,		/* bytes equal to digits */
	TEST_SIZE,		/* there are bytes */
	TEST_NONZERO,		/* a byte is not 0 */
};

struct test {
	uint32_t on_true;
	uint32_t on_false;
	enum test_type type;
	enum source source;
	bool inverted;
	/* A copy without pointers: the schema may go. */
	struct elog_schema_field field;
	union {
		struct {
			/* A sign bit that is flipped makes signed unsigned. */
			uint64_t flip;
			uint64_t low;
			uint64_t span;
		} range;
		uint64_t mask;
		struct {
			uint64_t network[2];
			uint64_t mask[2];
		} address;
		unsigned char mac[6];
		struct {
			const char *text;
			size_t size;
		} text;
		struct pattern *pattern;
	};
};

struct elog_predicate {
	bool needs_comm;
	uint32_t count;
	struct test tests[];
};

/* What is known of a comparison before there is a record. */
enum outcome {
	OUTCOME_FALSE,
	OUTCOME_TRUE,
	OUTCOME_TEST,
	OUTCOME_WRONG,
};

struct binder {
	const struct comparison *comparison;
	const struct elog_schema_event *event;
	struct elog_expression_error *error;
	struct test *test;
	const char *type;	/* of the operand, for messages */
};

static enum outcome __attribute__((format(printf, 2, 3)))
misfit(const struct binder *binder, const char *format, ...)
{
	const struct comparison *comparison = binder->comparison;
	char reason[120];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	wrong(binder->error, comparison->value_column, "%.40s is %.24s: %s",
	      comparison->name, binder->type, reason);
	return OUTCOME_WRONG;
}

static enum outcome wrong_operator(const struct binder *binder)
{
	return misfit(binder, "%s is not for that",
		      operator_names[binder->comparison->operator]);
}

/* A value in a message: a string may hold anything. */
static enum outcome wrong_value(const struct binder *binder, const char *what)
{
	const struct comparison *comparison = binder->comparison;

	if (comparison->quoted)
		return misfit(binder, "the string is not %s", what);
	return misfit(binder, "'%.40s' is not %s", comparison->value, what);
}

static enum outcome set_range(struct test *test, uint64_t low, uint64_t high)
{
	test->type = TEST_RANGE;
	test->range.low = low;
	test->range.span = high - low;
	return OUTCOME_TEST;
}

static bool range_holds(const struct test *test, uint64_t value)
{
	return (((value ^ test->range.flip) - test->range.low) <=
		test->range.span) != test->inverted;
}

/* True for each value of the field, but not when it has none. */
static enum outcome set_any(struct test *test)
{
	return set_range(test, 0, UINT64_MAX);
}

/* An integer that is compared with a number that it may be unable to hold. */
static enum outcome bind_number(const struct binder *binder, bool is_signed,
				const struct number *number)
{
	enum operator operator = binder->comparison->operator;
	struct test *test = binder->test;
	uint64_t value = number->magnitude;
	bool above, below;

	test->range.flip = is_signed ? 1ULL << 63 : 0;
	above = is_signed && !number->negative && value > INT64_MAX;
	below = !is_signed && number->negative;
	if (above || below) {
		if (operator == OPERATOR_NOT_EQUAL ||
		    (above && (operator == OPERATOR_LESS ||
			       operator == OPERATOR_LESS_EQUAL)) ||
		    (below && (operator == OPERATOR_GREATER ||
			       operator == OPERATOR_GREATER_EQUAL)))
			return set_any(test);
		return OUTCOME_FALSE;
	}
	if (number->negative)
		value = 0 - value;
	value ^= test->range.flip;
	switch (operator) {
	case OPERATOR_LESS:
		return value ? set_range(test, 0, value - 1) : OUTCOME_FALSE;
	case OPERATOR_LESS_EQUAL:
		return set_range(test, 0, value);
	case OPERATOR_GREATER:
		return value != UINT64_MAX ?
		       set_range(test, value + 1, UINT64_MAX) : OUTCOME_FALSE;
	case OPERATOR_GREATER_EQUAL:
		return set_range(test, value, UINT64_MAX);
	default:
		test->inverted = operator == OPERATOR_NOT_EQUAL;
		return set_range(test, value, value);
	}
}

static const struct elog_schema_name *
find_name(struct elog_schema_name *const *names, size_t count, const char *text,
	  size_t size)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strncmp(names[i]->name, text, size) && !names[i]->name[size])
			return names[i];
	return NULL;
}

/* One of the words with "|" between: a name or a number. */
static int parse_flag(const struct binder *binder, const char *text, size_t size,
		      struct elog_schema_name *const *names, size_t count,
		      uint64_t *mask)
{
	const struct elog_schema_name *name = find_name(names, count, text, size);
	char copy[ELOG_DECIMAL_MAX * 2];
	struct number number;

	if (name) {
		*mask |= name->value;
		return 0;
	}
	if (binder->comparison->quoted || !size || size >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, text, size);
	copy[size] = '\0';
	if (parse_number(copy, &number) || number.negative)
		return -EINVAL;
	*mask |= number.magnitude;
	return 0;
}

/* What no name is and no number is why *@rest is not NULL. */
static uint64_t parse_flags(const struct binder *binder,
			    struct elog_schema_name *const *names, size_t count,
			    const char **rest, size_t *rest_size)
{
	const char *text = binder->comparison->value, *end;
	uint64_t mask = 0;

	*rest = NULL;
	for (;;) {
		end = strchrnul(text, '|');
		if (parse_flag(binder, text, (size_t)(end - text), names, count,
			       &mask)) {
			*rest = text;
			*rest_size = (size_t)(end - text);
			return 0;
		}
		if (!*end)
			return mask;
		text = end + 1;
	}
}

static enum outcome bind_bits(const struct binder *binder, uint64_t mask)
{
	if (!mask)
		return misfit(binder, "'%.40s' has no bit", binder->comparison->value);
	binder->test->type = TEST_BITS;
	binder->test->mask = mask;
	return OUTCOME_TEST;
}

static bool is_match(enum operator operator)
{
	return operator == OPERATOR_MATCH || operator == OPERATOR_NO_MATCH;
}

static bool is_equality(enum operator operator)
{
	return operator == OPERATOR_EQUAL || operator == OPERATOR_NOT_EQUAL;
}

/* The number that the value is, or an error's outcome. */
static enum outcome take_number(const struct binder *binder, struct number *number)
{
	int ret = -EINVAL;

	if (!binder->comparison->quoted)
		ret = parse_number(binder->comparison->value, number);
	if (ret == -ERANGE)
		return wrong_value(binder, "a number that 64 bits hold");
	return ret ? wrong_value(binder, "a number") : OUTCOME_TEST;
}

static enum outcome bind_integer(const struct binder *binder, bool is_signed)
{
	const struct comparison *comparison = binder->comparison;
	struct number number = { 0 };
	enum outcome outcome;
	const char *rest;
	size_t rest_size;
	uint64_t mask;

	if (comparison->operator == OPERATOR_NONE) {
		binder->test->inverted = true;
		return set_range(binder->test, 0, 0);
	}
	if (is_match(comparison->operator))
		return wrong_operator(binder);
	if (comparison->operator == OPERATOR_BITS) {
		mask = parse_flags(binder, NULL, 0, &rest, &rest_size);
		if (rest)
			return wrong_value(binder, "a mask");
		return bind_bits(binder, mask);
	}
	outcome = take_number(binder, &number);
	if (outcome != OUTCOME_TEST)
		return outcome;
	return bind_number(binder, is_signed, &number);
}

static enum outcome bind_bool(const struct binder *binder)
{
	const struct comparison *comparison = binder->comparison;
	bool is_true, wanted;

	if (comparison->operator == OPERATOR_NONE)
		return bind_integer(binder, false);
	if (!is_equality(comparison->operator))
		return wrong_operator(binder);
	is_true = !strcmp(comparison->value, "true") ||
		  !strcmp(comparison->value, "1");
	if (!is_true && strcmp(comparison->value, "false") &&
	    strcmp(comparison->value, "0"))
		return wrong_value(binder, "true or false");
	wanted = is_true == (comparison->operator == OPERATOR_EQUAL);
	binder->test->inverted = wanted;
	return set_range(binder->test, 0, 0);
}

static enum outcome bind_enum(const struct binder *binder,
			      const struct elog_schema_field *field)
{
	const struct comparison *comparison = binder->comparison;
	const struct elog_schema_name *name;
	struct number number = { 0 };

	if (comparison->operator == OPERATOR_NONE ||
	    is_match(comparison->operator))
		return bind_integer(binder, field->is_signed);
	name = find_name(field->set->names, field->set->count, comparison->value,
			 comparison->value_size);
	if (!name && !comparison->quoted && !strchr(comparison->value, '|') &&
	    (digit(*comparison->value) || *comparison->value == '-'))
		return bind_integer(binder, field->is_signed);
	if (!name)
		return wrong_value(binder, "a name that it has");
	if (comparison->operator == OPERATOR_BITS)
		return bind_bits(binder, name->value);
	number.negative = field->is_signed && (int64_t)name->value < 0;
	number.magnitude = number.negative ? 0 - name->value : name->value;
	return bind_number(binder, field->is_signed, &number);
}

static enum outcome bind_flags(const struct binder *binder,
			       const struct elog_schema_field *field)
{
	const struct comparison *comparison = binder->comparison;
	struct number number = { 0 };
	const char *rest;
	size_t rest_size;

	if (comparison->operator == OPERATOR_NONE ||
	    is_match(comparison->operator))
		return bind_integer(binder, false);
	number.magnitude = parse_flags(binder, field->set->names,
				       field->set->count, &rest, &rest_size);
	if (rest && (digit(*rest) || *rest == '-'))
		return bind_integer(binder, false);
	if (rest && comparison->quoted)
		return wrong_value(binder, "names that it has");
	if (rest)
		return misfit(binder, "'%.*s' is not a name that it has",
			      (int)(rest_size < 40 ? rest_size : 40), rest);
	if (comparison->operator == OPERATOR_BITS)
		return bind_bits(binder, number.magnitude);
	return bind_number(binder, false, &number);
}

static enum outcome bind_text(const struct binder *binder)
{
	const struct comparison *comparison = binder->comparison;
	struct test *test = binder->test;

	test->inverted = comparison->operator == OPERATOR_NOT_EQUAL ||
			 comparison->operator == OPERATOR_NO_MATCH;
	if (comparison->operator == OPERATOR_NONE) {
		test->type = TEST_SIZE;
	} else if (is_equality(comparison->operator)) {
		test->type = TEST_TEXT;
		test->text.text = comparison->value;
		test->text.size = comparison->value_size;
	} else if (is_match(comparison->operator)) {
		test->type = TEST_PATTERN;
		test->pattern = comparison->pattern;
	} else {
		return wrong_operator(binder);
	}
	return OUTCOME_TEST;
}

static enum outcome bind_octets(const struct binder *binder, bool fixed)
{
	const struct comparison *comparison = binder->comparison;
	struct test *test = binder->test;
	size_t i;

	if (comparison->operator == OPERATOR_NONE) {
		test->type = fixed ? TEST_NONZERO : TEST_SIZE;
		return OUTCOME_TEST;
	}
	if (!is_equality(comparison->operator))
		return wrong_operator(binder);
	for (i = 0; hex_digit(comparison->value[i]) >= 0; i++)
		;
	if (i < comparison->value_size || i % 2)
		return wrong_value(binder, "pairs of hexadecimal digits");
	test->type = TEST_HEX;
	test->inverted = comparison->operator == OPERATOR_NOT_EQUAL;
	test->text.text = comparison->value;
	test->text.size = comparison->value_size;
	return OUTCOME_TEST;
}

static enum outcome bind_mac(const struct binder *binder)
{
	const struct comparison *comparison = binder->comparison;
	const char *text = comparison->value;
	struct test *test = binder->test;
	size_t i;
	int high, low;

	if (comparison->operator == OPERATOR_NONE)
		return bind_octets(binder, true);
	if (!is_equality(comparison->operator))
		return wrong_operator(binder);
	for (i = 0; i < sizeof(test->mac); i++, text += 3) {
		high = hex_digit(text[0]);
		low = high < 0 ? -1 : hex_digit(text[1]);
		if (low < 0 || text[2] != (i < 5 ? ':' : '\0'))
			return wrong_value(binder, "an address like 00:11:22:aa:bb:cc");
		test->mac[i] = (unsigned char)(high << 4 | low);
	}
	test->type = TEST_MAC;
	test->inverted = comparison->operator == OPERATOR_NOT_EQUAL;
	return OUTCOME_TEST;
}

/* As IPv6 has it: ::ffff:a.b.c.d. */
static void map_address(const unsigned char *bytes, uint64_t *words)
{
	unsigned char mapped[16] = { [10] = 0xff, [11] = 0xff };

	memcpy(mapped + 12, bytes, 4);
	memcpy(words, mapped, sizeof(mapped));
}

/* An address, or one with "/" and how many of its bits count. */
static bool parse_address(const char *text, size_t size, struct test *test)
{
	char copy[INET6_ADDRSTRLEN + 4];
	unsigned char bytes[16], mask[16];
	struct number length;
	unsigned int i, bits = 128, left;
	char *slash;

	if (size >= sizeof(copy))
		return false;
	memcpy(copy, text, size + 1);
	slash = strchr(copy, '/');
	if (slash)
		*slash++ = '\0';
	if (inet_pton(AF_INET, copy, bytes) == 1) {
		map_address(bytes, test->address.network);
		bits = 32;
	} else if (inet_pton(AF_INET6, copy, bytes) == 1) {
		memcpy(test->address.network, bytes, sizeof(bytes));
	} else {
		return false;
	}
	left = 128;
	if (slash) {
		if (slash[strspn(slash, "0123456789")] ||
		    parse_number(slash, &length) || length.magnitude > bits)
			return false;
		left = (unsigned int)length.magnitude + 128 - bits;
	}
	for (i = 0; i < 16; i++) {
		mask[i] = left >= 8 ? 0xff : (unsigned char)(0xff00 >> left);
		left -= left < 8 ? left : 8;
	}
	memcpy(test->address.mask, mask, sizeof(mask));
	for (i = 0; i < 2; i++)
		test->address.network[i] &= test->address.mask[i];
	return true;
}

static enum outcome bind_address(const struct binder *binder)
{
	const struct comparison *comparison = binder->comparison;
	struct test *test = binder->test;

	if (comparison->operator == OPERATOR_NONE)
		return bind_octets(binder, true);
	if (!is_equality(comparison->operator))
		return wrong_operator(binder);
	if (!parse_address(comparison->value, comparison->value_size, test))
		return wrong_value(binder, "an address or a prefix");
	test->type = TEST_ADDRESS;
	test->inverted = comparison->operator == OPERATOR_NOT_EQUAL;
	return OUTCOME_TEST;
}

static enum outcome bind_field(struct binder *binder,
			       const struct elog_schema_field *field)
{
	struct test *test = binder->test;

	test->source = SOURCE_FIELD;
	test->field = *field;
	test->field.name = NULL;
	test->field.type_name = NULL;
	test->field.description = NULL;
	test->field.set = NULL;
	binder->type = field->type_name;
	switch (field->type) {
	case ELOG_TYPE_BOOL:
		return bind_bool(binder);
	case ELOG_TYPE_CHARS:
	case ELOG_TYPE_STRING:
		return bind_text(binder);
	case ELOG_TYPE_OCTETS:
	case ELOG_TYPE_STRUCT:
		return bind_octets(binder, true);
	case ELOG_TYPE_BYTES:
		return bind_octets(binder, false);
	case ELOG_TYPE_IPV4:
	case ELOG_TYPE_IPV6:
		return bind_address(binder);
	case ELOG_TYPE_MAC:
		return bind_mac(binder);
	case ELOG_TYPE_ENUM:
		return bind_enum(binder, field);
	case ELOG_TYPE_FLAGS:
		return bind_flags(binder, field);
	default:
		return bind_integer(binder, field->is_signed);
	}
}

/* The outcome of a test of an integer that is known already. */
static enum outcome known_integer(const struct test *test, enum outcome outcome,
				  uint64_t value)
{
	if (outcome != OUTCOME_TEST)
		return outcome;
	if (test->type == TEST_BITS)
		return value & test->mask ? OUTCOME_TRUE : OUTCOME_FALSE;
	return range_holds(test, value) ? OUTCOME_TRUE : OUTCOME_FALSE;
}

static enum outcome bind_level(struct binder *binder)
{
	const struct comparison *comparison = binder->comparison;
	struct number number = { 0 };
	enum outcome outcome;

	binder->type = "a level";
	if (comparison->operator == OPERATOR_NONE ||
	    comparison->operator == OPERATOR_BITS ||
	    is_match(comparison->operator) || digit(*comparison->value)) {
		outcome = bind_integer(binder, false);
	} else {
		number.magnitude = elog_level_parse(comparison->value);
		if (!number.magnitude)
			return wrong_value(binder, "a level");
		outcome = bind_number(binder, false, &number);
	}
	return known_integer(binder->test, outcome, binder->event->level);
}

/* Other providers have other keywords: one without it lacks it like a field. */
static enum outcome bind_keywords(struct binder *binder)
{
	const struct elog_schema_provider *provider = binder->event->provider;
	const struct comparison *comparison = binder->comparison;
	struct number number = { 0 };
	enum outcome outcome;
	const char *rest;
	size_t rest_size;

	binder->type = "a mask of keywords";
	if (comparison->operator == OPERATOR_NONE ||
	    is_match(comparison->operator)) {
		outcome = bind_integer(binder, false);
	} else {
		number.magnitude = parse_flags(binder, provider->keywords,
					       provider->keyword_count, &rest,
					       &rest_size);
		if (rest && (digit(*rest) || *rest == '-'))
			return wrong_value(binder, "a mask");
		if (rest)
			return OUTCOME_FALSE;
		outcome = comparison->operator == OPERATOR_BITS ?
			  bind_bits(binder, number.magnitude) :
			  bind_number(binder, false, &number);
	}
	return known_integer(binder->test, outcome, binder->event->keywords);
}

static bool text_holds(const struct test *test, const char *text, size_t size)
{
	int matches;

	if (test->type == TEST_SIZE)
		return size;
	if (test->type == TEST_PATTERN) {
		matches = pattern_matches(test->pattern, text, size);
		return matches >= 0 && matches != (int)test->inverted;
	}
	return (size == test->text.size &&
		!memcmp(text, test->text.text, size)) != test->inverted;
}

static enum outcome bind_known_text(struct binder *binder, const char *text)
{
	enum outcome outcome;

	binder->type = "a name";
	outcome = bind_text(binder);
	if (outcome != OUTCOME_TEST)
		return outcome;
	return text_holds(binder->test, text, strlen(text)) ? OUTCOME_TRUE :
							      OUTCOME_FALSE;
}

static enum outcome bind_comparison(struct binder *binder)
{
	const struct comparison *comparison = binder->comparison;
	const struct elog_schema_event *event = binder->event;
	struct test *test = binder->test;
	size_t i;

	memset(test, 0, sizeof(*test));
	for (i = 0; i < event->field_count && !comparison->only_metadata; i++)
		if (!strcmp(event->fields[i]->name, comparison->name))
			return bind_field(binder, event->fields[i]);
	binder->type = "a number";
	switch (find_metadata(comparison->name)) {
	case METADATA_CPU:
		test->source = SOURCE_CPU;
		return bind_integer(binder, false);
	case METADATA_PID:
		test->source = SOURCE_PID;
		return bind_integer(binder, false);
	case METADATA_TID:
		test->source = SOURCE_TID;
		return bind_integer(binder, false);
	case METADATA_SESSION:
		test->source = SOURCE_SESSION;
		return bind_integer(binder, false);
	case METADATA_TIME:
		test->source = SOURCE_TIME;
		binder->type = "a time";
		return bind_integer(binder, false);
	case METADATA_COMM:
		test->source = SOURCE_COMM;
		binder->type = "a name";
		return bind_text(binder);
	case METADATA_LEVEL:
		return bind_level(binder);
	case METADATA_KEYWORDS:
		return bind_keywords(binder);
	case METADATA_PROVIDER:
		return bind_known_text(binder, event->provider->name);
	case METADATA_EVENT:
		return bind_known_text(binder, event->name);
	default:
		return OUTCOME_FALSE;
	}
}

/* Tests, outcomes and where to go instead, for each of the comparisons. */
struct plan {
	enum outcome outcome;
	uint32_t instead;
	bool reached;
};

static uint32_t follow(const struct plan *plans, uint32_t index)
{
	return index >= ACCEPT ? index : plans[index].instead;
}

/*
 * Go around tests whose result is known or does not matter, from the last to the
 * first, for what they lead to must be known.
 */
static void shorten(struct elog_predicate *predicate, struct plan *plans)
{
	struct test *test;
	uint32_t i;

	for (i = predicate->count; i-- > 0;) {
		test = &predicate->tests[i];
		test->on_true = follow(plans, test->on_true);
		test->on_false = follow(plans, test->on_false);
		if (plans[i].outcome == OUTCOME_FALSE)
			plans[i].instead = test->on_false;
		else if (plans[i].outcome == OUTCOME_TRUE ||
			 test->on_true == test->on_false)
			plans[i].instead = test->on_true;
		else
			plans[i].instead = i;
	}
}

/* Keep what can be reached; the first one that is wrong is returned, or count. */
static uint32_t compact(struct elog_predicate *predicate, struct plan *plans)
{
	uint32_t first = plans[0].instead, count = 0, i;
	struct test *test;

	if (first < predicate->count)
		plans[first].reached = true;
	for (i = 0; i < predicate->count; i++) {
		test = &predicate->tests[i];
		if (!plans[i].reached)
			continue;
		if (plans[i].outcome == OUTCOME_WRONG)
			return i;
		if (test->on_true < predicate->count)
			plans[test->on_true].reached = true;
		if (test->on_false < predicate->count)
			plans[test->on_false].reached = true;
		plans[i].instead = count++;
	}
	count = 0;
	for (i = 0; i < predicate->count; i++) {
		if (!plans[i].reached)
			continue;
		test = &predicate->tests[count++];
		*test = predicate->tests[i];
		test->on_true = follow(plans, test->on_true);
		test->on_false = follow(plans, test->on_false);
		predicate->needs_comm |= test->source == SOURCE_COMM;
	}
	i = predicate->count;
	predicate->count = count;
	return i;
}

int elog_expression_bind(const struct elog_expression *expression,
			 const struct elog_schema_event *event,
			 struct elog_predicate **predicate,
			 struct elog_expression_error *error)
{
	struct binder binder = { .event = event };
	struct elog_predicate *bound, *smaller;
	struct test scratch;
	struct plan *plans;
	uint32_t i, first;
	int ret = 0;

	*predicate = NULL;
	bound = calloc(1, sizeof(*bound) + expression->count * sizeof(bound->tests[0]));
	plans = calloc(expression->count, sizeof(*plans));
	if (!bound || !plans) {
		ret = -ENOMEM;
		goto out;
	}
	bound->count = expression->count;
	for (i = 0; i < bound->count; i++) {
		binder.comparison = &expression->comparisons[i];
		binder.test = &bound->tests[i];
		plans[i].outcome = bind_comparison(&binder);
		bound->tests[i].on_true = binder.comparison->on_true;
		bound->tests[i].on_false = binder.comparison->on_false;
	}
	shorten(bound, plans);
	if (plans[0].instead == REJECT) {
		ret = -ENOENT;
		goto out;
	}
	first = compact(bound, plans);
	if (first < expression->count) {
		binder.comparison = &expression->comparisons[first];
		binder.test = &scratch;
		binder.error = error;
		bind_comparison(&binder);
		ret = -EINVAL;
		goto out;
	}
	smaller = realloc(bound, sizeof(*bound) + bound->count * sizeof(bound->tests[0]));
	*predicate = smaller ? smaller : bound;
	bound = NULL;
out:
	free(plans);
	free(bound);
	return ret;
}

void elog_predicate_free(struct elog_predicate *predicate)
{
	free(predicate);
}

bool elog_predicate_needs_comm(const struct elog_predicate *predicate)
{
	return predicate->needs_comm;
}

/* ------------------------------------------------------------------------
 * Terms, for the kernel
 */

/* Where a comparison goes on, as a term has it. */
static __u8 term_target(uint32_t target)
{
	return target == ACCEPT ? EVENTLOG_TERM_ACCEPT :
	       target == REJECT ? EVENTLOG_TERM_REJECT : (__u8)target;
}

static void term_number(struct eventlog_term *term, const struct number *number)
{
	term->number = number->magnitude;
	term->flags |= EVENTLOG_TERM_NUMBER;
	if (number->negative)
		term->flags |= EVENTLOG_TERM_NEGATIVE;
}

/* IPv4, or IPv6 that says the same. */
static void term_address(struct eventlog_term *term, const struct comparison *comparison)
{
	static const unsigned char none[4];
	uint32_t network[4], mask[4], mapped[4];
	uint64_t words[2];
	struct test test;
	unsigned int i;

	if (!parse_address(comparison->value, comparison->value_size, &test))
		return;
	memcpy(network, test.address.network, sizeof(network));
	memcpy(mask, test.address.mask, sizeof(mask));
	map_address(none, words);
	memcpy(mapped, words, sizeof(mapped));
	for (i = 0; i < 3; i++)
		if ((mapped[i] & mask[i]) != network[i])
			return;
	term->address = network[3];
	term->mask = mask[3];
	term->flags |= EVENTLOG_TERM_ADDRESS;
}

static int term_text(struct eventlog_term *term, const struct comparison *comparison,
		     const char *text, size_t size, struct elog_expression_error *error)
{
	if (size >= sizeof(term->text))
		return wrong(error, comparison->value_column,
			     "the kernel compares no more than %zu bytes of a text",
			     sizeof(term->text) - 1);
	memcpy(term->text, text, size);
	term->flags |= EVENTLOG_TERM_TEXT;
	return 0;
}

/* All that a value may be. */
static int term_values(struct eventlog_term *term, const struct comparison *comparison,
		       struct elog_expression_error *error)
{
	const char *value = comparison->value;
	struct number number;
	bool is_true;
	int ret;

	ret = term_text(term, comparison, value, comparison->value_size, error);
	if (ret)
		return ret;
	term_address(term, comparison);
	is_true = !strcmp(value, "true") || !strcmp(value, "1");
	if (is_true || !strcmp(value, "false") || !strcmp(value, "0")) {
		term->number = is_true;
		term->flags |= EVENTLOG_TERM_BOOL;
	}
	if (!comparison->quoted && !parse_number(value, &number))
		term_number(term, &number);
	return 0;
}

static int term_pattern(struct eventlog_term *term, const struct comparison *comparison,
			struct elog_expression_error *error)
{
	const struct pattern *pattern = comparison->pattern;
	bool inverted = comparison->operator == OPERATOR_NO_MATCH;

	if (pattern->type == PATTERN_BEGIN)
		term->operation = inverted ? EVENTLOG_TERM_BEGINS_NOT : EVENTLOG_TERM_BEGINS;
	else if (pattern->type == PATTERN_WHOLE)
		term->operation = inverted ? EVENTLOG_TERM_NOT_EQUAL : EVENTLOG_TERM_EQUAL;
	else
		return wrong(error, comparison->value_column,
			     "the kernel has no regular expressions, but plain text behind '^'");
	return term_text(term, comparison, pattern->text, pattern->size, error);
}

static int term_value(struct eventlog_term *term, const struct comparison *comparison,
		      struct elog_expression_error *error)
{
	static const __u8 operations[] = {
		[OPERATOR_NONE] = EVENTLOG_TERM_SET,
		[OPERATOR_EQUAL] = EVENTLOG_TERM_EQUAL,
		[OPERATOR_NOT_EQUAL] = EVENTLOG_TERM_NOT_EQUAL,
		[OPERATOR_LESS] = EVENTLOG_TERM_LESS,
		[OPERATOR_LESS_EQUAL] = EVENTLOG_TERM_LESS_EQUAL,
		[OPERATOR_GREATER] = EVENTLOG_TERM_GREATER,
		[OPERATOR_GREATER_EQUAL] = EVENTLOG_TERM_GREATER_EQUAL,
		[OPERATOR_BITS] = EVENTLOG_TERM_BITS,
	};
	const struct binder binder = { .comparison = comparison };
	struct number number = { 0 };
	const char *rest;
	size_t rest_size;

	if (is_match(comparison->operator))
		return term_pattern(term, comparison, error);
	term->operation = operations[comparison->operator];
	if (comparison->operator == OPERATOR_NONE)
		return 0;
	if (is_equality(comparison->operator))
		return term_values(term, comparison, error);
	if (comparison->operator == OPERATOR_BITS) {
		number.magnitude = parse_flags(&binder, NULL, 0, &rest, &rest_size);
		if (rest || !number.magnitude)
			return wrong(error, comparison->value_column,
				     "'%.40s' is not a mask of bits", comparison->value);
	} else if (parse_number(comparison->value, &number)) {
		return wrong(error, comparison->value_column, "'%.40s' is not a number",
			     comparison->value);
	}
	term_number(term, &number);
	return 0;
}

int elog_expression_terms(const struct elog_expression *expression,
			  struct eventlog_term *terms, uint32_t *count,
			  struct elog_expression_error *error)
{
	uint32_t i;
	int ret;

	if (expression->count > EVENTLOG_TERMS_MAX)
		return wrong(error, expression->comparisons[EVENTLOG_TERMS_MAX].column,
			     "the kernel makes no more than %u comparisons",
			     EVENTLOG_TERMS_MAX);
	memset(terms, 0, EVENTLOG_TERMS_MAX * sizeof(*terms));
	for (i = 0; i < expression->count; i++) {
		const struct comparison *comparison = &expression->comparisons[i];
		struct eventlog_term *term = &terms[i];

		if (strlen(comparison->name) >= sizeof(term->name))
			return wrong(error, comparison->column, "no field has so long a name");
		strcpy(term->name, comparison->name);
		if (comparison->only_metadata) {
			term->flags = EVENTLOG_TERM_COMMON;
			if (strcmp(term->name, "cpu") && strcmp(term->name, "pid") &&
			    strcmp(term->name, "tid") && strcmp(term->name, "comm"))
				return wrong(error, comparison->column,
					     "the kernel compares @cpu, @pid, @tid and @comm, not @%s",
					     term->name);
		}
		term->on_true = term_target(comparison->on_true);
		term->on_false = term_target(comparison->on_false);
		ret = term_value(term, comparison, error);
		if (ret)
			return ret;
	}
	*count = expression->count;
	return 0;
}

/* ------------------------------------------------------------------------
 * Matching
 */

static bool integer_holds(const struct test *test, uint64_t value)
{
	return test->type == TEST_BITS ? (value & test->mask) != 0 :
					 range_holds(test, value);
}

static bool address_holds(const struct test *test, const void *data, size_t size)
{
	uint64_t words[2];

	if (size == sizeof(words))
		memcpy(words, data, sizeof(words));
	else
		map_address(data, words);
	return ((words[0] & test->address.mask[0]) == test->address.network[0] &&
		(words[1] & test->address.mask[1]) == test->address.network[1]) !=
	       test->inverted;
}

static bool hex_holds(const struct test *test, const unsigned char *data,
		      size_t size)
{
	const char *digits = test->text.text;
	bool same = size == test->text.size / 2;
	size_t i;

	for (i = 0; same && i < size; i++, digits += 2)
		same = data[i] == (hex_digit(digits[0]) << 4 | hex_digit(digits[1]));
	return same != test->inverted;
}

static bool any_byte(const unsigned char *data, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		if (data[i])
			return true;
	return false;
}

static bool field_holds(const struct test *test, const struct elog_item *item)
{
	struct elog_value value;

	if (elog_decode(&test->field, item->payload, item->payload_size, &value))
		return false;
	switch (test->type) {
	case TEST_ADDRESS:
		return address_holds(test, value.data, value.size);
	case TEST_MAC:
		return !memcmp(value.data, test->mac, sizeof(test->mac)) !=
		       test->inverted;
	case TEST_TEXT:
	case TEST_PATTERN:
	case TEST_SIZE:
		return text_holds(test, value.data, value.size);
	case TEST_HEX:
		return hex_holds(test, value.data, value.size);
	case TEST_NONZERO:
		return any_byte(value.data, value.size);
	default:
		return integer_holds(test, value.integer);
	}
}

static bool test_holds(const struct test *test, const struct elog_item *item,
		       const char *comm)
{
	switch (test->source) {
	case SOURCE_FIELD:
		return field_holds(test, item);
	case SOURCE_CPU:
		return integer_holds(test, item->cpu);
	case SOURCE_PID:
		return integer_holds(test, item->pid);
	case SOURCE_TID:
		return integer_holds(test, item->tid);
	case SOURCE_SESSION:
		return integer_holds(test, item->session);
	case SOURCE_TIME:
		return integer_holds(test, item->time);
	default:
		return comm && text_holds(test, comm, strlen(comm));
	}
}

bool elog_predicate_match(const struct elog_predicate *predicate,
			  const struct elog_item *item, const char *comm)
{
	const struct test *test;
	uint32_t index = predicate->count ? 0 : ACCEPT;

	while (index < predicate->count) {
		test = &predicate->tests[index];
		index = test_holds(test, item, comm) ? test->on_true :
						       test->on_false;
	}
	return index == ACCEPT;
}
