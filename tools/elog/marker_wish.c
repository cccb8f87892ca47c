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
#include "markers.h"

int wishes_add(struct wish_list *list, const char *program, const char *marker,
	       uint32_t handlers)
{
	struct wish *larger = array_grow(list->wishes, list->count, sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	list->wishes = larger;
	list->wishes[list->count] = (struct wish){
		.program = strdup(program),
		.marker = strdup(marker),
		.handlers = handlers,
	};
	list->count++;
	return list->wishes[list->count - 1].program && list->wishes[list->count - 1].marker ?
	       0 : -ENOMEM;
}

void wishes_free(struct wish_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		free(list->wishes[i].program);
		free(list->wishes[i].marker);
	}
	free(list->wishes);
	memset(list, 0, sizeof(*list));
}

int wishes_read(int fd, struct wish_list *list)
{
	char text[2 * EVENTLOG_GLOB_MAX];
	int ret = 0;

	while (!ret) {
		struct eventlog_marker_wish_next next = {
			.size = sizeof(next),
			.index = (uint32_t)list->count,
			.text = (uintptr_t)text,
			.text_size = sizeof(text),
		};

		if (ioctl(fd, EVENTLOG_IOC_MARKER_WISH_NEXT, &next))
			return errno == ENOENT || errno == ENOTTY ? 0 : -errno;
		ret = wishes_add(list, text, text + strlen(text) + 1, next.handlers);
	}
	return ret;
}

static int wish(int fd, const char *program, const char *marker, uint32_t handlers,
		struct eventlog_marker_wish *request)
{
	*request = (struct eventlog_marker_wish){
		.size = sizeof(*request),
		.program = (uintptr_t)program,
		.marker = (uintptr_t)marker,
		.handlers = handlers,
	};
	return ioctl(fd, EVENTLOG_IOC_MARKER_WISH, request) ? -errno : 0;
}

static void explain(const char *what, int error)
{
	if (error == -ENOTTY)
		complain("the kernel module is too old to keep wishes for programs");
	else if (error == -ENOSPC)
		complain("%s: there are %u wishes for programs already: elog marker wishes",
			 what, EVENTLOG_WISHES_MAX);
	else
		complain("%s: %s", what, strerror(-error));
}

/* What is wished for these globs already. */
static uint32_t wished(const struct wish_list *list, const char *program, const char *marker)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (!strcmp(list->wishes[i].program, program) &&
		    !strcmp(list->wishes[i].marker, marker))
			return list->wishes[i].handlers;
	return 0;
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
	return *program && *marker && !strpbrk(program, "\t\n") && !strpbrk(marker, "\t\n:/");
}

int wishes_switch(const struct options *options, int fd, bool enable)
{
	uint32_t handlers = enable ? EVENTLOG_MARKER_PRINT : WISH_HANDLERS;
	uint32_t matched = 0, changed = 0;
	struct eventlog_marker_wish request;
	struct wish_list list = { 0 };
	int i, ret, status = STATUS_OK;
	char *program;

	if (options->handlers && (!markers_handlers_parse(options->handlers, &handlers) ||
				  handlers & ~WISH_HANDLERS)) {
		complain("'%s': of programs print and probe can be switched; "
			 "they are traced whenever somebody subscribes", options->handlers);
		return STATUS_ERROR;
	}
	ret = wishes_read(fd, &list);
	program = ret ? NULL : program_glob(options->program);
	if (!program) {
		explain("--program", ret ? ret : -ENOMEM);
		wishes_free(&list);
		return STATUS_ERROR;
	}
	for (i = 1; i < options->argument_count; i++) {
		const char *marker = options->arguments[i];
		uint32_t before = wished(&list, program, marker);

		if (!wish_is_possible(program, marker)) {
			complain("'%s' '%s': no program has an event of such a name",
				 options->program, marker);
			status = STATUS_ERROR;
			continue;
		}
		ret = wish(fd, program, marker,
			   enable ? before | handlers : before & ~handlers, &request);
		if (ret) {
			explain(marker, ret);
			status = STATUS_ERROR;
			continue;
		}
		matched += request.matched;
		changed += request.changed;
	}
	if (!options->quiet)
		fprintf(stderr, "elog: %u markers, %u changed\n", matched, changed);
	wishes_free(&list);
	free(program);
	return status;
}

int wishes_restore(const struct wish_list *list, int fd)
{
	struct eventlog_marker_wish request;
	size_t i;
	int ret = 0;

	for (i = 0; i < list->count && !ret; i++)
		ret = wish(fd, list->wishes[i].program, list->wishes[i].marker,
			   list->wishes[i].handlers, &request);
	if (ret)
		explain("wishes", ret);
	return ret;
}

static void put_wish(struct elog_text *text, const struct wish *wish, bool is_json)
{
	struct elog_text handlers = { 0 };

	markers_handlers_put(&handlers, wish->handlers);
	if (is_json) {
		elog_text_string(text, "{");
		json_member(text, "program", wish->program);
		elog_text_string(text, ",");
		json_member(text, "marker", wish->marker);
		markers_handlers_put_json(text, "handlers", wish->handlers);
		elog_text_string(text, "}\n");
	} else {
		elog_text_printf(text, "%-17.*s %s/%s\n", (int)handlers.size,
				 handlers.data ? handlers.data : "", wish->program,
				 wish->marker);
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
