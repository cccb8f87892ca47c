// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog marker: list markers, switch their handlers, and save and restore their state.
 */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/verb.h"
#include "marker/marker.h"
#include "marker/marker_filter.h"
#include "util/nearest.h"

/* Is it a path? A pattern is not: places have colons, and tags have no slashes. */
static bool is_file(const char *argument)
{
	return strchr(argument, '/') && !strpbrk(argument, ":*?[");
}

static bool owner_chosen(const struct marker_settings *settings, const struct marker *marker)
{
	if (settings->module && fnmatch(settings->module, marker->module, 0))
		return false;
	return !settings->program || (marker->owner == MARKER_OF_PROGRAM &&
				     !fnmatch(settings->program, marker->module, 0));
}

static bool marker_chosen(const struct marker_settings *settings, const struct marker *marker)
{
	bool any = false;
	int i;

	if (!owner_chosen(settings, marker))
		return false;
	for (i = 1; i < settings->argument_count; i++) {
		if (is_file(settings->arguments[i]))
			continue;
		if (!fnmatch(settings->arguments[i], marker->tag, 0) ||
		    !fnmatch(settings->arguments[i], marker->place, 0))
			return true;
		any = true;
	}
	return !any;
}

/* Report a pattern that no marker matches. Return: true if it was reported. */
static bool is_unknown(const struct marker_settings *settings, const struct marker_list *list,
		       const char *pattern)
{
	struct nearest nearest = { .sought = pattern };
	size_t i;

	for (i = 0; i < list->count; i++) {
		const struct marker *marker = &list->markers[i];

		if (!owner_chosen(settings, marker))
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
static bool is_unknown_owner(const struct marker_settings *settings, const struct marker_list *list)
{
	const char *glob = settings->program ? settings->program : settings->module;
	struct nearest nearest = { .sought = glob };
	size_t i;

	for (i = 0; i < list->count; i++) {
		if (!glob || owner_chosen(settings, &list->markers[i])) {
			nearest_free(&nearest);
			return false;
		}
		if (!settings->program || list->markers[i].owner == MARKER_OF_PROGRAM)
			nearest_offer(&nearest, list->markers[i].module);
	}
	if (glob)
		nearest_error(&nearest, "no %s '%s' with markers",
			      settings->program ? "program" : "module", glob);
	else
		elog_error("there are no markers: no loaded module or running program has any");
	nearest_free(&nearest);
	return true;
}

/* Report all names that no marker has. Return: true if there were any. */
static bool has_unknown_names(const struct marker_settings *settings,
			      const struct marker_list *list, bool of_files)
{
	bool any = false;
	int i;

	if (of_files && !list->count) {
		elog_error("there are no markers");
		return true;
	}
	if (is_unknown_owner(settings, list))
		return true;
	for (i = 1; i < settings->argument_count; i++)
		if (!is_file(settings->arguments[i]))
			any |= is_unknown(settings, list, settings->arguments[i]);
	return any;
}

/* ------------------------------------------------------------------------
 * list
 */

/* Put "u32 number; string name" as objects. */
static void put_fields_json(struct elog_text *text, const char *fields)
{
	const char *comma = "", *name;
	size_t length;

	elog_text_string(text, ",\"fields\":[");
	for (; *fields; fields += length, fields += strspn(fields, "; ")) {
		length = strcspn(fields, ";");
		name = fields + strcspn(fields, " ;");
		elog_text_printf(text, "%s{\"type\":\"%.*s\",\"name\":\"%.*s\"}", comma,
				 (int)(name - fields), fields,
				 (int)(fields + length - name - (*name == ' ')),
				 name + (*name == ' '));
		comma = ",";
	}
	elog_text_string(text, "]");
}

static void put_guard_json(struct elog_text *text, const struct marker *marker)
{
	if (marker->predicate) {
		elog_text_string(text, ",");
		json_member(text, "predicate", marker->predicate);
		elog_text_printf(text, ",\"rejected\":%" PRIu64, (uint64_t)marker->next.rejected);
	}
	elog_text_printf(text, ",\"suppressed\":%" PRIu64, (uint64_t)marker->next.suppressed);
}

/* Put the predicate, and what it rejected. */
static void put_guard(struct elog_text *text, const struct marker *marker)
{
	if (marker->predicate)
		elog_text_printf(text, " if %s (%" PRIu64 " rejected)", marker->predicate,
				 (uint64_t)marker->next.rejected);
	if (marker->next.suppressed)
		elog_text_printf(text, " (%" PRIu64 " line%s dropped)",
				 (uint64_t)marker->next.suppressed,
				 plural(marker->next.suppressed));
}

static void put_json(struct elog_text *text, const struct marker *marker)
{
	static const char *const owners[] = { "module", "program", "file" };

	elog_text_string(text, "{");
	json_member(text, owners[marker->owner], marker->module);
	elog_text_string(text, ",");
	json_member(text, "tag", marker->tag);
	elog_text_string(text, ",");
	json_member(text, "path", marker->path);
	elog_text_string(text, ",");
	json_member(text, "function", marker->function);
	elog_text_printf(text, ",\"ordinal\":%u,\"line\":%u,\"id\":\"%016" PRIx64 "\"",
			 marker->next.ordinal, marker->next.line, (uint64_t)marker->next.id);
	if (marker->owner != MARKER_OF_FILE)
		elog_text_printf(text, ",\"descriptor\":%u", marker->next.descriptor);
	markers_handlers_put_json(text, "handlers", marker->next.handlers);
	if (marker->owner != MARKER_OF_FILE)
		markers_handlers_put_json(text, "active", marker->next.active);
	markers_handlers_put_json(text, "allowed", marker->next.allowed);
	markers_handlers_put_json(text, "defaults", marker->next.defaults);
	if (marker->event) {
		elog_text_string(text, ",");
		json_member(text, "event", marker->event);
	}
	if (marker->fields)
		put_fields_json(text, marker->fields);
	if (marker->has_session)
		elog_text_string(text, ",\"session\":true");
	if (marker->pids)
		elog_text_printf(text, ",\"pids\":[%s]", marker->pids);
	if (marker->incompatible)
		elog_text_string(text, ",\"incompatible\":true");
	if (marker->owner == MARKER_OF_MODULE)
		put_guard_json(text, marker);
	elog_text_string(text, "}\n");
}

#define HANDLERS_WIDTH	17	/* of all handlers */
#define OWNER_WIDTH_MAX	48

/* Names of programs and files may contain any characters. */
static void put_visible(struct elog_text *text, const char *name)
{
	elog_text_visible(text, name, strlen(name));
}

/* The width of the column OWNER/TAG: that of the longest entry. */
static size_t owner_width(const struct marker_settings *settings, const struct marker_list *list)
{
	size_t width = strlen("OWNER/TAG"), i, size;

	for (i = 0; i < list->count; i++) {
		const struct marker *marker = &list->markers[i];

		size = strlen(marker->module) + strlen("/") + strlen(marker->tag);
		if (size > width && size <= OWNER_WIDTH_MAX && marker_chosen(settings, marker))
			width = size;
	}
	return width;
}

static void put_line(struct elog_text *text, const struct marker *marker, size_t width)
{
	size_t from = text->size;

	markers_handlers_put(text, marker->next.handlers);
	fill_column(text, from, HANDLERS_WIDTH);
	elog_text_string(text, " ");
	from = text->size;
	markers_handlers_put(text, marker->next.active);
	fill_column(text, from, HANDLERS_WIDTH);
	elog_text_string(text, " ");
	from = text->size;
	put_visible(text, marker->module);
	elog_text_string(text, "/");
	put_visible(text, marker->tag);
	fill_column(text, from, width);
	elog_text_string(text, " ");
	put_visible(text, marker->place);
	if (marker->fields && *marker->fields) {
		elog_text_string(text, "  ");
		put_visible(text, marker->fields);
	}
	if (marker->has_session)
		elog_text_string(text, "  (session)");
	put_guard(text, marker);
	if (marker->incompatible)
		elog_text_string(text, "  (incompatible)");
	elog_text_string(text, "\n");
}

/* Put a level of the tree, unless the previous line is in the same one. */
static bool put_level(struct elog_text *text, unsigned int depth, const char *name,
		      const char *before)
{
	if (before && !strcmp(name, before))
		return false;
	put_blanks(text, (size_t)2 * depth);
	put_visible(text, name);
	elog_text_string(text, "\n");
	return true;
}

static void put_tree(struct elog_text *text, const struct marker *marker,
		     const struct marker *before)
{
	if (put_level(text, 0, marker->module, before ? before->module : NULL))
		before = NULL;
	if (*marker->path && put_level(text, 1, marker->path, before ? before->path : NULL))
		before = NULL;
	if (*marker->function)
		put_level(text, 2, marker->function, before ? before->function : NULL);
	/* A marker without a place has no levels. */
	if (!*marker->function)
		elog_text_printf(text, "  %s (", marker->tag);
	else
		elog_text_printf(text, "      %s (%u, ", marker->tag, marker->next.ordinal);
	if (marker->next.handlers)
		markers_handlers_put(text, marker->next.handlers);
	else
		elog_text_string(text, "off");
	elog_text_string(text, marker->incompatible ? ", incompatible)" : ")");
	put_guard(text, marker);
	elog_text_string(text, "\n");
}

static int print_list(const struct marker_settings *settings, const struct marker_list *list,
		      bool of_files)
{
	const struct marker *before = NULL;
	struct elog_text text = { 0 };
	const size_t width = owner_width(settings, list);
	size_t i;
	bool failed;

	if (settings->format == FORMAT_TEXT && !settings->tree && !settings->quiet)
		elog_text_printf(&text, "%-*s %-*s %-*s %s\n", HANDLERS_WIDTH, "HANDLERS",
				 HANDLERS_WIDTH, "ACTIVE", (int)width, "OWNER/TAG",
				 "LOCATION  FIELDS");
	for (i = 0; i < list->count; i++) {
		const struct marker *marker = &list->markers[i];

		if (!marker_chosen(settings, marker))
			continue;
		if (settings->format == FORMAT_JSON)
			put_json(&text, marker);
		else if (settings->tree)
			put_tree(&text, marker, before);
		else
			put_line(&text, marker, width);
		before = marker;
	}
	failed = text.error;
	if (failed)
		elog_error("out of memory");
	else if (before)
		fwrite(text.data, 1, text.size, stdout);
	elog_text_free(&text);
	if (!failed)
		failed = has_unknown_names(settings, list, of_files);
	return failed ? STATUS_ERROR : STATUS_OK;
}

static int marker_list(const struct marker_settings *settings, int fd, struct marker_list *list)
{
	size_t hidden;
	int ret;

	ret = markers_read_programs(fd, list, &hidden);
	if (ret) {
		explain_device_error(ret, PURPOSE_MARKERS);
		return STATUS_ERROR;
	}
	if (hidden && !settings->quiet)
		fprintf(stderr, "elog: no permission to inspect %zu process%s: "
			"the locations of their markers are unknown\n", hidden,
			hidden == 1 ? "" : "es");
	return print_list(settings, list, false);
}

static void explain_file(const char *name, int error)
{
	switch (error) {
	case -ENOEXEC:
		elog_error("%s: not an ELF file, or truncated", name);
		break;
	case -E2BIG:
		elog_error("%s: too many markers, or file too large", name);
		break;
	case -EOPNOTSUPP:
		elog_error("%s: elog was built without libelf, which reads files", name);
		break;
	default:
		elog_error("%s: %s", name, strerror(-error));
		break;
	}
}

/* List the markers of files. This needs no kernel module. */
static int list_files(const struct marker_settings *settings)
{
	struct marker_list list = { 0 };
	int i, ret, status = STATUS_OK;

	for (i = 1; i < settings->argument_count; i++) {
		if (!is_file(settings->arguments[i]))
			continue;
		ret = markers_read_file(settings->arguments[i], &list);
		if (!ret)
			continue;
		explain_file(settings->arguments[i], ret);
		status = STATUS_ERROR;
		/* The list is incomplete. */
		if (ret == -ENOMEM)
			goto out;
	}
	if (status == STATUS_OK || list.count)
		status |= print_list(settings, &list, true);
out:
	markers_free(&list);
	return status;
}

static bool has_files(const struct marker_settings *settings)
{
	int i;

	for (i = 1; i < settings->argument_count; i++)
		if (is_file(settings->arguments[i]))
			return true;
	return false;
}

/* ------------------------------------------------------------------------
 * enable, disable
 */

static int try_set(int fd, struct eventlog_marker_set *request)
{
	request->size = sizeof(*request);
	return ioctl(fd, EVENTLOG_IOC_MARKER_SET, request) ? -errno : 0;
}

/* Compile --if; without it there is no filter. */
static bool parse_if(const struct marker_settings *settings, struct elog_filter **filter)
{
	struct elog_expression_error error;
	int ret;

	ret = marker_filter_compile(settings->predicate, filter, &error);
	if (ret == -EINVAL) {
		elog_error("--if '%s': column %u: %s", settings->predicate, error.column,
			   error.message);
		elog_hint("man 7 elog_filter, man 1 elog-marker");
	} else if (ret) {
		elog_error("out of memory");
	}
	return !ret;
}

static void explain_set(const struct marker_settings *settings, int fd, const char *pattern,
			int error)
{
	struct marker_list list = { 0 };

	/* Without the list, the message has no near names. */
	if (error == -ENOENT && markers_read(fd, &list))
		markers_free(&list);
	if (error != -ENOENT)
		elog_error("%s: %s", pattern, strerror(-error));
	else if (!settings->module || !is_unknown_owner(settings, &list))
		is_unknown(settings, &list, pattern);
	markers_free(&list);
}

static int marker_switch(const struct marker_settings *settings, int fd, uint32_t operation,
			 uint32_t handlers)
{
	uint32_t matched = 0, changed = 0, denied = 0, incompatible = 0;
	struct elog_filter *filter;
	int i, ret, status = STATUS_OK;

	if (settings->argument_count < 2) {
		elog_error("a pattern is missing: '*' matches all markers");
		return STATUS_ERROR;
	}
	if (settings->program && settings->module) {
		elog_error("--program and --module do not go together");
		return STATUS_ERROR;
	}
	if (settings->handlers && !settings->program &&
	    !markers_handlers_parse(settings->handlers, &handlers)) {
		markers_handlers_error(settings->handlers);
		return STATUS_ERROR;
	}
	if (!parse_if(settings, &filter))
		return STATUS_ERROR;
	if (settings->program) {
		status = policies_switch(settings, fd, operation, filter);
		elog_filter_free(filter);
		return status;
	}
	for (i = 1; i < settings->argument_count; i++) {
		struct eventlog_marker_set request = {
			.module = (uintptr_t)settings->module,
			.marker = (uintptr_t)settings->arguments[i],
			.handlers = handlers,
			.operation = operation,
			.filter = marker_filter_pointer(filter),
		};

		ret = try_set(fd, &request);
		if (ret) {
			explain_set(settings, fd, settings->arguments[i], ret);
			status = STATUS_ERROR;
			continue;
		}
		matched += request.matched;
		changed += request.changed;
		denied += request.denied;
		incompatible += request.incompatible;
	}
	elog_filter_free(filter);
	/* A glob may match some incompatible markers on purpose. */
	if (incompatible && incompatible + denied == matched) {
		marker_filter_explain(settings, fd, marker_chosen);
		elog_error("the predicate is incompatible with the fields of all these markers");
		status = STATUS_ERROR;
	} else if (incompatible && !settings->quiet) {
		fprintf(stderr, "elog: the predicate is incompatible with the fields of %u "
			"marker%s unchanged\n", incompatible,
			incompatible == 1 ? ": it is" : "s: they are");
	}
	if (denied) {
		elog_error("%u marker%s not allow it", denied, denied == 1 ? " does" : "s do");
		status = STATUS_ERROR;
	}
	if (!settings->quiet && matched)
		fprintf(stderr, "elog: %u marker%s, %u changed\n", matched, plural(matched),
			changed);
	return status;
}

/* ------------------------------------------------------------------------
 * save, restore
 */

static int compare_places(const struct marker *a, const struct marker *b)
{
	int ret = strcmp(a->module, b->module);

	return ret ? ret : (a->next.id > b->next.id) - (a->next.id < b->next.id);
}

static int compare_markers(const void *left, const void *right)
{
	const struct marker *a = left, *b = right;
	int ret = compare_places(a, b);

	if (!ret)
		ret = (a->next.descriptor > b->next.descriptor) -
		      (a->next.descriptor < b->next.descriptor);
	return ret;
}

/*
 * A marker in a header exists once for each file that includes it, all with one place:
 * match them in the order in which they were saved.
 */
static struct marker *find_marker(const struct marker_list *list, const struct marker *saved)
{
	size_t low = 0, high = list->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare_places(&list->markers[middle], saved) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < list->count && !compare_places(&list->markers[low], saved); low++)
		if (!list->markers[low].taken)
			return &list->markers[low];
	return NULL;
}

static bool one_argument(const struct marker_settings *settings)
{
	if (settings->argument_count == 2)
		return true;
	elog_error("exactly one FILE is needed");
	return false;
}

/* Other programs may set predicates that elog cannot parse. */
static bool may_be_restored(const char *predicate, const char *place)
{
	struct elog_expression_error error;
	struct elog_filter *filter;

	if (!marker_filter_compile(predicate, &filter, &error)) {
		elog_filter_free(filter);
		return true;
	}
	elog_error("%s: the predicate '%s' could not be restored", place, predicate);
	return false;
}

static bool all_may_be_restored(const struct marker_list *list, const struct policy_list *policies)
{
	bool all = true;
	size_t i;

	for (i = 0; i < list->count; i++)
		all &= may_be_restored(list->markers[i].predicate, list->markers[i].place);
	for (i = 0; i < policies->count; i++)
		all &= may_be_restored(policies->policies[i].predicate,
				       policies->policies[i].marker);
	return all;
}

static void print_saved(size_t markers, size_t policies)
{
	fprintf(stderr, "elog: %zu marker%s", markers, plural(markers));
	if (policies)
		fprintf(stderr, ", %zu polic%s for programs", policies,
			policies == 1 ? "y" : "ies");
	fputs(" saved\n", stderr);
}

static int marker_save(const struct marker_settings *settings, int fd,
		       const struct marker_list *list)
{
	struct policy_list policies = { 0 };
	int ret, status = STATUS_ERROR;

	if (!one_argument(settings))
		return STATUS_ERROR;
	ret = policies_read(fd, &policies);
	if (!ret && !all_may_be_restored(list, &policies))
		goto out;
	if (!ret)
		ret = markers_save(list, &policies, settings->arguments[1]);
	if (ret) {
		elog_error("%s: %s", settings->arguments[1], strerror(-ret));
		goto out;
	}
	if (!settings->quiet)
		print_saved(list->count, policies.count);
	status = STATUS_OK;
out:
	policies_free(&policies);
	return status;
}

static bool same_state(const struct marker *a, const struct marker *b)
{
	if (a->next.handlers != b->next.handlers || !a->predicate != !b->predicate)
		return false;
	return !a->predicate || !strcmp(a->predicate, b->predicate);
}

static int restore_one(int fd, const struct marker *saved, struct marker *current,
		       size_t *denied, size_t *incompatible)
{
	struct eventlog_marker_set request = {
		.descriptor = current->next.descriptor,
		.handlers = saved->next.handlers,
		.operation = EVENTLOG_MARKER_OP_REPLACE,
	};
	struct elog_expression_error error;
	struct elog_filter *filter;
	int ret;

	current->taken = true;
	if (same_state(current, saved))
		return 0;
	ret = marker_filter_compile(saved->predicate, &filter, &error);
	if (ret)
		return ret;
	request.filter = marker_filter_pointer(filter);
	ret = try_set(fd, &request);
	elog_filter_free(filter);
	if (!ret) {
		*denied += request.denied;
		*incompatible += request.incompatible;
	}
	return ret;
}

static int restore_all(const struct marker_settings *settings, int fd, struct marker_list *saved,
		       struct marker_list *current)
{
	size_t i, missing = 0, denied = 0, incompatible = 0;
	struct marker *found;
	int ret;

	if (current->count)
		qsort(current->markers, current->count, sizeof(*current->markers),
		      compare_markers);
	for (i = 0; i < saved->count; i++) {
		const struct marker *marker = &saved->markers[i];

		found = find_marker(current, marker);
		ret = found ? restore_one(fd, marker, found, &denied, &incompatible) : -ENOENT;
		/* Its module may have been unloaded since. */
		if (ret == -ENOENT) {
			missing++;
		} else if (ret) {
			elog_error("%s: %s", marker->place, strerror(-ret));
			return STATUS_ERROR;
		}
	}
	if (!settings->quiet && missing)
		fprintf(stderr, "elog: %zu marker%s, %zu %s not exist\n", saved->count,
			plural(saved->count), missing, missing == 1 ? "does" : "do");
	if (denied)
		elog_error("%zu marker%s not allow it", denied, denied == 1 ? " does" : "s do");
	if (incompatible == 1)
		elog_error("the predicate of 1 marker is incompatible with its fields: "
			   "it is unchanged");
	else if (incompatible)
		elog_error("the predicates of %zu markers are incompatible with their fields: "
			   "they are unchanged", incompatible);
	return denied || incompatible ? STATUS_ERROR : STATUS_OK;
}

static int marker_restore(const struct marker_settings *settings, int fd,
			  struct marker_list *current)
{
	struct marker_list saved = { 0 };
	struct policy_list policies = { 0 };
	unsigned int line;
	int ret, status;

	if (!one_argument(settings))
		return STATUS_ERROR;
	ret = markers_load(&saved, &policies, settings->arguments[1], &line);
	if (ret == -EINVAL)
		elog_error("%s: line %u: not a set of markers, or truncated",
			   settings->arguments[1], line);
	else if (ret)
		elog_error("%s: %s", settings->arguments[1], strerror(-ret));
	status = ret ? STATUS_ERROR : restore_all(settings, fd, &saved, current);
	if (!ret && policies_restore(&policies, fd))
		status = STATUS_ERROR;
	policies_free(&policies);
	markers_free(&saved);
	return status;
}

/* ------------------------------------------------------------------------
 * The verb
 */

static int marker_policies(const struct marker_settings *settings, int fd)
{
	struct policy_list policies = { 0 };
	int ret, status = STATUS_ERROR;

	ret = policies_read(fd, &policies);
	if (ret)
		explain_device_error(ret, PURPOSE_MARKERS);
	else
		status = policies_print(settings, &policies);
	policies_free(&policies);
	return status;
}

enum action { LIST, ENABLE, DISABLE, POLICIES, SAVE, RESTORE, ACTIONS };

static const char *const action_names[] = { "list", "enable", "disable", "policies",
					    "save", "restore" };

static int run_action(const struct marker_settings *settings, enum action action, int fd,
		      struct marker_list *list)
{
	switch (action) {
	case LIST:
		return marker_list(settings, fd, list);
	case ENABLE:
		return marker_switch(settings, fd, EVENTLOG_MARKER_OP_ADD, EVENTLOG_MARKER_TRACE);
	case DISABLE:
		return marker_switch(settings, fd, EVENTLOG_MARKER_OP_REMOVE, MARKER_HANDLERS);
	case POLICIES:
		return marker_policies(settings, fd);
	case SAVE:
		return marker_save(settings, fd, list);
	default:
		return marker_restore(settings, fd, list);
	}
}

static bool are_patterns(const struct marker_settings *settings)
{
	const char *error;
	int i;

	for (i = 1; i < settings->argument_count; i++) {
		error = glob_error(settings->arguments[i]);
		if (!error || is_file(settings->arguments[i]))
			continue;
		elog_error("invalid PATTERN '%s': %s", settings->arguments[i], error);
		return false;
	}
	return true;
}

static int run_marker(const struct options *options)
{
	const struct marker_settings *settings = &options->marker;
	struct marker_list list = { 0 };
	int fd, found, ret = 0, status;
	enum action action;

	if (!settings->argument_count) {
		elog_error("missing: list, enable, disable, policies, save or restore");
		return STATUS_ERROR;
	}
	found = choice_abbreviated(action_names, ACTIONS, settings->arguments[0], "action");
	if (found < 0)
		return STATUS_ERROR;
	action = (enum action)found;
	if (action <= DISABLE && !are_patterns(settings))
		return STATUS_ERROR;
	if (settings->predicate && action != ENABLE) {
		elog_error("--if needs enable");
		return STATUS_ERROR;
	}
	if (action == LIST && has_files(settings))
		return list_files(settings);
	fd = elog_device_open(NULL);
	if (fd < 0) {
		explain_device_error(fd, PURPOSE_MARKERS);
		return STATUS_ERROR;
	}
	if (action != ENABLE && action != DISABLE && action != POLICIES)
		ret = markers_read(fd, &list);
	if (ret == -ENOTTY || ret == -E2BIG) {
		elog_error("the kernel module is too old for %s",
			   ret == -ENOTTY ? "markers" : "predicates of markers");
		status = STATUS_ERROR;
	} else if (ret == -ENOMEM) {
		elog_error("out of memory");
		status = STATUS_ERROR;
	} else if (ret) {
		explain_device_error(ret, PURPOSE_MARKERS);
		status = STATUS_ERROR;
	} else {
		status = run_action(settings, action, fd, &list);
	}
	markers_free(&list);
	close(fd);
	return status;
}

static const struct verb_option marker_options[] = {
	{ OPTION_MODULE, NULL },
	{ OPTION_PROGRAM, NULL },
	{ OPTION_HANDLER, NULL },
	{ OPTION_IF, NULL },
	{ OPTION_TREE, "list: a tree of modules, programs or files, source files,\n"
	  "functions and markers" },
	{ OPTION_FORMAT, "list, policies: text (default), or json: one object per line" },
	{ 'D', NULL },
	{ 'q', "no header, no counts" },
	{ 0, NULL },
};

const struct verb verb_marker = {
	.name = "marker",
	.summary = "list and switch markers of kernel modules and programs",
	.usage = "list|enable|disable|policies|save|restore [OPTION...] [PATTERN...] [FILE...]",
	.description =
	"Markers are lines of code that can be switched on: eventlog_marker(9),\n"
	"elog_marker(3).\n"
	"\n"
	"  list [PATTERN...]     print markers of loaded modules and running programs: the\n"
	"                        handlers that are on, those that are active, module or\n"
	"                        program and tag, path:function:ordinal, fields\n"
	"  list FILE...          print markers of programs, libraries and modules in files\n"
	"  enable PATTERN...     switch handlers on\n"
	"  disable PATTERN...    switch handlers off\n"
	"  policies              print the policies for programs\n"
	"  save FILE             save the handlers that are on, predicates and policies\n"
	"  restore FILE          restore them, for markers that exist\n"
	"\n"
	"PATTERN is a glob that is matched with tags and with path:function:ordinal. An\n"
	"argument with a slash but without a colon or wildcard is a FILE.\n"
	"\n"
	"With --if, handlers run only when the predicate is true for the fields. Programs\n"
	"evaluate it without a system call. Enabling handlers without --if removes the\n"
	"predicate, and so does disabling all handlers.\n"
	"\n"
	"Exit status: 0 success, 1 an error, or no marker matches.\n",
	.options = marker_options,
	.formats = 1U << FORMAT_TEXT | 1U << FORMAT_JSON,
	.run = run_marker,
};
