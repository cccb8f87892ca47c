// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why a live run sees nothing: see missing.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input/missing.h"
#include "input/names.h"
#include "input/select.h"

struct view {
	const struct selection_spec *spec;
	struct names *names;
	uint64_t selected;	/* definitions that match -e, -k and -l */
};

static bool see(void *context, const struct eventlog_definition *describe,
		const struct elog_schema_event *event)
{
	struct view *view = context;

	(void)describe;
	names_see(view->names, event);
	view->selected += spec_matches_definition(view->spec, event);
	return true;
}

/* See all definitions that the subscriptions have now. Return: 0 or -ENOMEM. */
static int see_all(const struct live *live, struct view *view)
{
	const struct member *member;
	size_t i;
	int ret;

	ret = definitions_each(elog_consumer_fd(live->consumer), see, view);
	for (i = 1; !ret && (member = live_member(live, i)); i++)
		if (member->consumer)
			ret = definitions_each(elog_consumer_fd(member->consumer), see, view);
	return ret;
}

int missing_open(struct live *live)
{
	struct view view = { .spec = live->spec };
	int ret;

	ret = names_open(&live->names, live->spec, live->settings->fields,
			 &live->settings->triggers);
	view.names = live->names;
	names_expect_no_records(live->names);
	if (!ret && live->names)
		ret = see_all(live, &view);
	if (ret)
		elog_error("out of memory");
	else if (!live->settings->quiet)
		names_warn(live->names, live->settings->command);
	return ret;
}

/* Are events selected by something that only an emission has? */
static bool selects_emissions(const struct selection_spec *spec)
{
	return spec->sessions.count || spec->pids.count || spec->tids.count ||
	       spec->cpus.count || spec->cgroups.count || spec->units.count;
}

/* @explained: names that no event has were reported. */
static void explain_none(struct live *live, const struct view *view, bool explained)
{
	struct eventlog_stat stat = { .size = sizeof(stat) };

	if (live_stat(live, &stat))
		return;
	if (stat.rejected && !live->settings->verbose)
		print_rejected(&stat, "");
	if (stat.records)
		fprintf(stderr, "elog: %" PRIu64 " event%s came, of which the options select none\n",
			(uint64_t)stat.records, plural(stat.records));
	if (explained || stat.rejected || stat.records || live_lost_sum(&stat))
		return;
	if (!view->selected)
		fputs("elog: no registered event matches\n", stderr);
	else
		fprintf(stderr, "elog: %" PRIu64 " registered event%s match%s; none was emitted%s\n",
			view->selected, plural(view->selected), view->selected == 1 ? "es" : "",
			selects_emissions(live->spec) ?
			" where -s, -p, -t, -C, --cgroup and --unit select it" : "");
}

void missing_report(struct live *live, uint64_t events)
{
	struct view view = { .spec = live->spec, .names = live->names };
	bool explained;

	if (live->settings->quiet || (events && !live->names) || see_all(live, &view))
		return;
	explained = names_warn_end(live->names, !events);
	if (!events)
		explain_none(live, &view, explained);
}
