// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which markers are meant: see marker.h.
 */
#include <fnmatch.h>
#include <string.h>

#include "marker/marker.h"
#include "util/nearest.h"

bool marker_is_file(const char *argument)
{
	return strchr(argument, '/') && !strpbrk(argument, ":*?[");
}

static bool owner_chosen(const struct marker_choice *choice, const struct marker *marker)
{
	if (choice->module && fnmatch(choice->module, marker->module, 0))
		return false;
	return !choice->program || (marker->owner == MARKER_OF_PROGRAM &&
				     !fnmatch(choice->program, marker->module, 0));
}

bool marker_is_chosen(const struct marker_choice *choice, const struct marker *marker)
{
	bool any = false;
	int i;

	if (!owner_chosen(choice, marker))
		return false;
	for (i = 0; i < choice->pattern_count; i++) {
		if (marker_is_file(choice->patterns[i]))
			continue;
		if (!fnmatch(choice->patterns[i], marker->tag, 0) ||
		    !fnmatch(choice->patterns[i], marker->place, 0))
			return true;
		any = true;
	}
	return !any;
}

/* Report a pattern that no marker matches. Return: true if it was reported. */
static bool is_unknown(const struct marker_choice *choice, const struct marker_list *list,
		       const char *pattern)
{
	struct nearest nearest = { .sought = pattern };
	size_t i;

	for (i = 0; i < list->count; i++) {
		const struct marker *marker = &list->markers[i];

		if (!owner_chosen(choice, marker))
			continue;
		if (!fnmatch(pattern, marker->tag, 0) || !fnmatch(pattern, marker->place, 0)) {
			nearest_free(&nearest);
			return false;
		}
		nearest_offer(&nearest, marker->tag);
		nearest_offer(&nearest, marker->place);
	}
	nearest_error(&nearest, "no marker '%s'", pattern);
	nearest_free(&nearest);
	return true;
}

/* The same for --module and --program. */
static bool is_unknown_owner(const struct marker_choice *choice, const struct marker_list *list)
{
	const char *glob = choice->program ? choice->program : choice->module;
	struct nearest nearest = { .sought = glob };
	size_t i;

	for (i = 0; i < list->count; i++) {
		if (!glob || owner_chosen(choice, &list->markers[i])) {
			nearest_free(&nearest);
			return false;
		}
		if (!choice->program || list->markers[i].owner == MARKER_OF_PROGRAM)
			nearest_offer(&nearest, list->markers[i].module);
	}
	if (glob)
		nearest_error(&nearest, "no %s '%s' with markers",
			      choice->program ? "program" : "module", glob);
	else
		elog_error("there are no markers: no loaded module or running program has any");
	nearest_free(&nearest);
	return true;
}

bool marker_choice_explain(const struct marker_choice *choice, const struct marker_list *list,
			   bool of_files)
{
	bool any = false;
	int i;

	if (of_files && !list->count) {
		elog_error("there are no markers");
		return true;
	}
	if (is_unknown_owner(choice, list))
		return true;
	for (i = 0; i < choice->pattern_count; i++)
		if (!marker_is_file(choice->patterns[i]))
			any |= is_unknown(choice, list, choice->patterns[i]);
	return any;
}
