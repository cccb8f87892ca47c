// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wishes for markers of programs: see marker_wish.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "array.h"
#include "marker.h"
#include "marker_wish.h"
#include "elog_marker_names.h"

int wishes_add(struct wish_list *list, const struct wish *wish)
{
	struct wish *larger = array_grow(list->wishes, list->count, sizeof(*larger));
	struct wish *added;

	if (!larger)
		return -ENOMEM;
	list->wishes = larger;
	added = &list->wishes[list->count++];
	*added = *wish;
	added->program = strdup(wish->program);
	added->marker = strdup(wish->marker);
	if (wish->predicate)
		added->predicate = strdup(wish->predicate);
	return added->program && added->marker && !added->predicate == !wish->predicate ?
	       0 : -ENOMEM;
}

void wishes_free(struct wish_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		free(list->wishes[i].program);
		free(list->wishes[i].marker);
		free(list->wishes[i].predicate);
	}
	free(list->wishes);
	memset(list, 0, sizeof(*list));
}

int wishes_read(int fd, struct wish_list *list)
{
	char text[2 * EVENTLOG_GLOB_MAX + EVENTLOG_PREDICATE_MAX] = "";
	int ret = 0;

	while (!ret) {
		struct eventlog_marker_wish_next next = {
			.size = sizeof(next),
			.index = (uint32_t)list->count,
			.text = (uintptr_t)text,
			.text_size = sizeof(text),
		};
		struct wish wish = { .program = text };

		if (ioctl(fd, EVENTLOG_IOC_MARKER_WISH_NEXT, &next))
			return errno == ENOENT || errno == ENOTTY ? 0 : -errno;
		wish.operation = next.operation;
		wish.handlers = next.handlers;
		wish.marker = text + strlen(text) + 1;
		wish.predicate = wish.marker + strlen(wish.marker) + 1;
		/* An older module knows none. */
		if (wish.predicate >= text + next.text_size || !*wish.predicate)
			wish.predicate = NULL;
		ret = wishes_add(list, &wish);
	}
	return ret;
}

static int make_wish(int fd, const struct wish *wish, const struct marker_predicate *predicate,
		     struct eventlog_marker_wish *request)
{
	*request = (struct eventlog_marker_wish){
		.size = sizeof(*request),
		.program = (uintptr_t)wish->program,
		.marker = (uintptr_t)wish->marker,
		.handlers = wish->handlers,
		.operation = wish->operation,
	};
	marker_predicate_put(predicate, &request->terms, &request->term_count,
			     &request->predicate);
	return ioctl(fd, EVENTLOG_IOC_MARKER_WISH, request) ? -errno : 0;
}

static void explain(const char *what, int error)
{
	if (error == -ENOTTY || error == -E2BIG || error == -EINVAL)
		complain("the kernel module is too old to keep such wishes for programs");
	else if (error == -ENOSPC)
		complain("%s: there are %u wishes for programs already: elog marker wishes",
			 what, EVENTLOG_WISHES_MAX);
	else
		complain("%s: %s", what, strerror(-error));
}

/* The end of a class of characters, or NULL: it is none. */
static const char *class_end(const char *glob)
{
	glob += glob[1] == '!' ? 2 : 1;
	return *glob ? strchr(glob + 1, ']') : NULL;
}

/*
 * A glob over what providers are called: there what is neither a letter nor a digit
 * has become '_'.  NULL: out of memory.
 */
static char *program_glob(const char *program)
{
	char *glob = strdup(program), *to = glob;
	const char *end;

	for (; glob && *program; program++) {
		end = *program == '[' ? class_end(program) : NULL;
		if (end) {
			to = mempcpy(to, program, (size_t)(end - program));
			program = end;
			*to++ = ']';
		} else if (*program == '*' || *program == '?') {
			*to++ = *program;
		} else {
			program += *program == '\\' && program[1];
			*to++ = elog_marker_is_word(*program) ? *program : '_';
		}
	}
	if (glob)
		*to = '\0';
	return glob;
}

bool wish_is_possible(const char *program, const char *marker)
{
	return *program && *marker && strlen(program) < EVENTLOG_GLOB_MAX &&
	       strlen(marker) < EVENTLOG_GLOB_MAX && !strpbrk(program, "\t\n") &&
	       !strpbrk(marker, "\t\n:/");
}

static bool parse_handlers(const char *text, uint32_t *handlers)
{
	return markers_handlers_parse(text, handlers) && *handlers &&
	       !(*handlers & ~WISH_HANDLERS);
}

/* What is to be switched, by default: all that can be off, and what is of use on. */
static bool take_handlers(const struct options *options, struct wish *wish)
{
	wish->handlers = wish->operation == EVENTLOG_MARKER_ADD ? EVENTLOG_MARKER_PRINT :
								  WISH_HANDLERS;
	if (!options->handlers || parse_handlers(options->handlers, &wish->handlers))
		return true;
	complain("'%s': of programs print and probe can be switched; "
		 "they are traced whenever somebody subscribes", options->handlers);
	return false;
}

int wishes_switch(const struct options *options, int fd, uint32_t operation,
		  const struct marker_predicate *predicate)
{
	struct wish wish = { .operation = operation };
	uint32_t matched = 0, changed = 0, unfit = 0;
	struct eventlog_marker_wish request;
	int i, ret, status = STATUS_OK;

	if (!take_handlers(options, &wish))
		return STATUS_ERROR;
	wish.program = program_glob(options->program);
	if (!wish.program) {
		explain("--program", -ENOMEM);
		return STATUS_ERROR;
	}
	for (i = 1; i < options->argument_count; i++) {
		wish.marker = options->arguments[i];
		if (!wish_is_possible(wish.program, wish.marker)) {
			complain("'%s' '%s': no program has an event of such a name",
				 options->program, wish.marker);
			status = STATUS_ERROR;
			continue;
		}
		ret = make_wish(fd, &wish, predicate, &request);
		if (ret) {
			explain(wish.marker, ret);
			status = STATUS_ERROR;
			continue;
		}
		matched += request.matched;
		changed += request.changed;
		unfit += request.unfit;
	}
	if (!options->quiet && unfit)
		fprintf(stderr, "elog: %u markers do not have the fields of the predicate, "
			"of such types: they stay as they are\n", unfit);
	if (!options->quiet)
		fprintf(stderr, "elog: %u markers, %u changed\n", matched, changed);
	free(wish.program);
	return status;
}

int wishes_restore(const struct wish_list *list, int fd)
{
	static char all[] = "*";
	const struct wish nothing = {
		.program = all,
		.marker = all,
		.operation = EVENTLOG_MARKER_REMOVE,
		.handlers = WISH_HANDLERS,
	};
	struct marker_predicate predicate = { 0 };
	struct elog_expression_error error;
	struct eventlog_marker_wish request;
	const char *text;
	size_t i;
	int ret;

	ret = make_wish(fd, &nothing, &predicate, &request);
	/* An old module has none, which is what is wanted of it. */
	if (ret == -ENOTTY && !list->count)
		return 0;
	for (i = 0; i < list->count && !ret; i++) {
		text = list->wishes[i].predicate;
		predicate.count = 0;
		if (text)
			ret = marker_predicate_parse(text, &predicate, &error);
		if (!ret)
			ret = make_wish(fd, &list->wishes[i], &predicate, &request);
	}
	if (ret)
		explain("wishes", ret);
	return ret;
}

void wish_put_handlers(struct elog_text *text, const struct wish *wish)
{
	elog_text_string(text, wish->operation == EVENTLOG_MARKER_ADD ? "+" : "-");
	markers_handlers_put(text, wish->handlers);
}

bool wish_take_handlers(const char *text, struct wish *wish)
{
	if (*text != '+' && *text != '-')
		return false;
	wish->operation = *text == '+' ? EVENTLOG_MARKER_ADD : EVENTLOG_MARKER_REMOVE;
	return parse_handlers(text + 1, &wish->handlers);
}

static void put_wish(struct elog_text *text, const struct wish *wish, bool is_json)
{
	struct elog_text handlers = { 0 };

	wish_put_handlers(&handlers, wish);
	if (is_json) {
		elog_text_string(text, "{");
		json_member(text, "program", wish->program);
		elog_text_string(text, ",");
		json_member(text, "marker", wish->marker);
		elog_text_string(text, ",");
		json_member(text, "operation",
			    wish->operation == EVENTLOG_MARKER_ADD ? "enable" : "disable");
		markers_handlers_put_json(text, "handlers", wish->handlers);
		if (wish->predicate) {
			elog_text_string(text, ",");
			json_member(text, "predicate", wish->predicate);
		}
		elog_text_string(text, "}\n");
	} else {
		elog_text_printf(text, "%-17.*s %s/%s", (int)handlers.size,
				 handlers.data ? handlers.data : "", wish->program,
				 wish->marker);
		if (wish->predicate)
			elog_text_printf(text, " if %s", wish->predicate);
		elog_text_string(text, "\n");
	}
	elog_text_free(&handlers);
}

int wishes_print(const struct options *options, const struct wish_list *list)
{
	bool is_json = options->format == FORMAT_JSON;
	struct elog_text text = { 0 };
	int status = STATUS_OK;
	size_t i;

	if (!is_json && !options->quiet)
		elog_text_printf(&text, "%-17s %s\n", "HANDLERS", "PROGRAM/MARKER");
	for (i = 0; i < list->count; i++)
		put_wish(&text, &list->wishes[i], is_json);
	if (text.error) {
		complain("out of memory");
		status = STATUS_ERROR;
	} else if (text.size) {
		fwrite(text.data, 1, text.size, stdout);
	}
	elog_text_free(&text);
	return status;
}
