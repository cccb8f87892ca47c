/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wishes: what markers of programs are to do beside tracing, which the kernel keeps
 * for programs that run and those that start later. Belong to their caller.
 */
#ifndef MARKER_WISH_H
#define MARKER_WISH_H

#include "marker/marker_predicate.h"
#include "util/tool.h"

/* What can be wished for. */
#define WISH_HANDLERS	(EVENTLOG_MARKER_PRINT | EVENTLOG_MARKER_PROBE)

/**
 * struct wish - one of them
 * @program: glob over names of programs
 * @marker: glob over names of events
 * @predicate: with which hits, as it is written; NULL: with all
 * @operation: EVENTLOG_MARKER_ADD or EVENTLOG_MARKER_REMOVE
 * @handlers: EVENTLOG_MARKER_*
 */
struct wish {
	char *program;
	char *marker;
	char *predicate;
	uint32_t operation;
	uint32_t handlers;
};

/**
 * struct wish_list - wishes
 * @count: of @wishes
 * @wishes: the earliest first
 */
struct wish_list {
	size_t count;
	struct wish *wishes;
};

/**
 * wishes_add() - append a wish
 * @list: to be freed in any case
 * @wish: copied, with its strings
 *
 * Return: 0 or -ENOMEM.
 */
int wishes_add(struct wish_list *list, const struct wish *wish);

/**
 * wishes_read() - ask for all wishes there are
 * @fd: the device
 * @list: empty; to be freed in any case
 *
 * Return: 0, also when the kernel module is older than wishes; or a negative errno.
 */
int wishes_read(int fd, struct wish_list *list);

/** wishes_free() - free what a list has */
void wishes_free(struct wish_list *list);

/**
 * wishes_switch() - elog marker enable and disable, of programs
 * @options: with --program, and patterns
 * @fd: the device
 * @operation: EVENTLOG_MARKER_ADD or EVENTLOG_MARKER_REMOVE
 * @predicate: --if, with the first of the two
 *
 * Return: the exit status.
 */
int wishes_switch(const struct options *options, int fd, uint32_t operation,
		  const struct marker_predicate *predicate);

/**
 * wish_put_handlers() - append what a wish does: "+print", "-print,probe"
 * @text: the text
 * @wish: the wish
 */
void wish_put_handlers(struct elog_text *text, const struct wish *wish);

/**
 * wish_take_handlers() - understand what wish_put_handlers() writes
 * @text: the word
 * @wish: its operation and handlers are set
 *
 * Return: false: it is something else.
 */
bool wish_take_handlers(const char *text, struct wish *wish);

/**
 * wish_is_possible() - may something be matched by such globs, and be in a set
 * @program: glob over names of programs
 * @marker: glob over names of events
 */
bool wish_is_possible(const char *program, const char *marker);

/**
 * wishes_restore() - wish for all of a list, and nothing else
 * @list: the list
 * @fd: the device
 *
 * Return: 0 or a negative errno, as for the first one that fails.
 */
int wishes_restore(const struct wish_list *list, int fd);

/**
 * wishes_print() - elog marker wishes
 * @options: --format, -q
 * @list: the list
 *
 * Return: the exit status.
 */
int wishes_print(const struct options *options, const struct wish_list *list);

#endif /* MARKER_WISH_H */
