/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Misspelled names: which known names are near, and the messages about names that are
 * not known, so that they have the same wording everywhere.
 */
#ifndef NEAREST_H
#define NEAREST_H

#include "util/tool.h"

#define NEAREST_MAX	3	/* names in a message */
#define NEAREST_FAR	100	/* a distance: the names do not resemble each other */

/**
 * struct nearest - the known names that are nearest to a name
 * @sought: the name
 * @distance: of all @names
 * @count: of @names; 0: none is near
 * @names: copies
 *
 * Set @sought and zero the rest.
 */
struct nearest {
	const char *sought;
	unsigned int distance;
	size_t count;
	char *names[NEAREST_MAX];
};

/**
 * name_distance() - by how many typing errors do two names differ?
 * @sought: the name that was typed
 * @name: a known name
 *
 * A typing error is a character that is missing, is one too many, or is wrong, or two
 * that are swapped. Upper and lower case are equal. Longer names may have more errors.
 *
 * Return: the number; a larger one if @name starts with @sought; or NEAREST_FAR.
 */
unsigned int name_distance(const char *sought, const char *name);

/** nearest_offer() - consider a known name; without memory it is left out */
void nearest_offer(struct nearest *nearest, const char *name);

/** nearest_offer_at() - the same with a known distance; NEAREST_FAR is allowed */
void nearest_offer_at(struct nearest *nearest, const char *name, unsigned int distance);

/** nearest_free() - free the names */
void nearest_free(struct nearest *nearest);

/**
 * nearest_error() - print "elog VERB: ...; did you mean 'a', 'b' or 'c'?"
 * @nearest: the names
 * @format: the text before the semicolon
 */
void nearest_error(struct nearest *nearest, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * choice_find() - find a word in a list
 * @choices: the list; NULL elements are skipped
 * @count: of @choices
 * @word: the word
 *
 * Return: its index, or -1.
 */
int choice_find(const char *const *choices, size_t count, const char *word);

/**
 * choice_error() - print that a word must be one of a list, and the nearest one
 * @choices: the list; NULL elements are skipped
 * @count: of @choices
 * @word: the word; must outlive the call only
 * @more: appended to the list, or NULL
 * @format: the text before "must be one of"
 */
void choice_error(const char *const *choices, size_t count, const char *word, const char *more,
		  const char *format, ...) __attribute__((format(printf, 5, 6)));

/**
 * choice_abbreviated() - find a word, or the only one that starts with it
 * @choices: the list
 * @count: of @choices
 * @word: the word
 * @kind: what the words are, for messages
 *
 * Return: its index; -1: there is none, or more than one, and a message was printed.
 */
int choice_abbreviated(const char *const *choices, size_t count, const char *word,
		       const char *kind);

#endif /* NEAREST_H */
