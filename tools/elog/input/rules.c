// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules of a subscription: the conditions of the selection that the kernel can check.
 * See live.h.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/cgroups.h"
#include "input/keywords.h"
#include "input/live.h"
#include "input/select.h"
#include "libelog/util/abi.h"
#include "libelog/util/port.h"
#include "util/array.h"

static void error_rule(const char *glob, int error)
{
	elog_error("the kernel rejected '%s': %s", glob, strerror(-error));
}

/* Add a rule, and remember what it is for. */
static int add_rule_of(struct live *live, struct elog_consumer *consumer,
		       const struct elog_rule *rule, const char *glob)
{
	struct live_rule *larger;
	int ret;

	if (consumer != live->consumer)
		return elog_consumer_rule_add(consumer, rule, NULL);
	larger = array_grow(live->rules, live->rule_count, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	live->rules = larger;
	ret = elog_consumer_rule_add(consumer, rule, &larger[live->rule_count].id);
	if (!ret)
		larger[live->rule_count++].glob = glob;
	return ret;
}

/*
 * A filter in the kernel rejects events that lack its fields, and records with an eventheader
 * have theirs inside of the payload: let them pass. The selection decides about them.
 */
static int add_bypass(struct live *live, struct elog_consumer *consumer,
		      const struct elog_rule *filtered)
{
	char glob[EVENTLOG_GLOB_MAX + sizeof(DECODED_GLOB)];
	const char *event = filtered->event ? filtered->event : "*";
	const size_t size = strlen(event), literal = strcspn(event, "*?[\\");
	struct elog_rule rule = *filtered;
	int ret;

	rule.filter = NULL;
	rule.event = glob;
	if (literal == size) {
		if (fnmatch(DECODED_GLOB, event, 0))
			return 0;
		rule.event = event;
	} else if (literal + 1 != size || event[literal] != '*' ||
		   strstr(event, "_L") || size + sizeof(DECODED_GLOB) > EVENTLOG_GLOB_MAX) {
		rule.event = event;
		live->undecided = true;
	} else {
		/* The "_" before the level may be the last character before the "*". */
		snprintf(glob, sizeof(glob), "%.*sL*K*", (int)size - 1, event);
		if (size > 1 && event[size - 2] == '_') {
			ret = elog_consumer_rule_add(consumer, &rule, NULL);
			if (ret)
				return ret;
		}
		snprintf(glob, sizeof(glob), "%.*s%s", (int)size - 1, event, DECODED_GLOB);
	}
	return elog_consumer_rule_add(consumer, &rule, NULL);
}

/*
 * Add the rules for one combination of -e, -s, -p and cgroups: one per provider with keywords of
 * -k. @cgroup: -1: any
 */
static int add_rule(struct live *live, struct elog_consumer *consumer, const char *glob,
		    const uint64_t *session, const uint64_t *pid, int cgroup)
{
	const struct selection_spec *spec = live->spec;
	struct elog_rule rule = {
		.size = sizeof(rule),
		.level = spec->level,
		.sample = spec->sample,
		.filter = live->filter ? live->filter->filter : NULL,
	};
	const char *slash = find_slash(glob);
	struct keyword_rules keywords;
	struct selection_spec all;
	size_t i;
	int ret;

	if (*slash)
		rule.event = slash + 1;
	if (session) {
		rule.flags |= EVENTLOG_RULE_SESSION;
		rule.session = *session;
	}
	if (pid) {
		rule.flags |= EVENTLOG_RULE_PID;
		rule.pid = (uint32_t)*pid;
	}
	if (cgroup >= 0) {
		rule.flags |= EVENTLOG_RULE_CGROUP;
		rule.cgroup = cgroup;
	}
	if (keywords_are_late(spec)) {
		all = *spec;
		all.keywords = 0;
		all.keyword_names = NULL;
		spec = &all;
	}
	ret = keywords_resolve(spec, glob, &keywords);
	for (i = 0; !ret && i < keywords.count; i++) {
		rule.provider = keywords.rules[i].provider;
		rule.keywords_any = keywords.rules[i].mask;
		ret = add_rule_of(live, consumer, &rule, glob);
		if (!ret && rule.filter)
			ret = add_bypass(live, consumer, &rule);
	}
	free(keywords.rules);
	return ret;
}

static const uint64_t *number_at(const struct number_list *list, size_t index)
{
	return list->count ? &list->values[index % list->count] : NULL;
}

/* A limit of the root or of an instance. */
static void explain_quota(struct elog_consumer *consumer, const char *glob)
{
	struct eventlog_info info = { .size = sizeof(info) };

	if (!elog_device_info(elog_consumer_fd(consumer), &info) && info.instance) {
		elog_error("the memory for rules of the instance does not suffice for '%s'", glob);
		elog_hint("use fewer and narrower rules, or end other captures of the instance");
	} else {
		elog_error("the limit of %d terms that rules have for an event of sched is reached",
			   EVENTLOG_LOCKED_TERMS_MAX);
		elog_hint("'%s' matches sched: name other providers with -e, use a shorter filter, "
			  "or end other captures", glob);
	}
}

static void explain_rule(const struct selection_spec *spec, struct elog_consumer *consumer,
			 const char *glob, size_t added, int error)
{
	if (error == -EMFILE) {
		elog_error("the limit of %zu rules is reached", added);
		elog_hint("use fewer combinations of -e, -s, -p, --cgroup and --unit");
	} else if (error == -ENOENT) {
		elog_error("-k: no provider that '%s' matches has a keyword of '%s'", glob,
			   spec->keyword_names);
		elog_hint("elog list shows the keywords");
	} else if (error == -EDQUOT) {
		explain_quota(consumer, glob);
	} else {
		error_rule(glob, error);
	}
}

/* Return: 0 or a negative errno; unless that is -ENODEV, the reason was printed. */
static int add_rules_of(struct live *live, struct elog_consumer *consumer, int cgroup)
{
	const struct selection_spec *spec = live->spec;
	size_t globs = spec->globs.count ? spec->globs.count : 1;
	size_t sessions = spec->sessions.count ? spec->sessions.count : 1;
	size_t pids = spec->pids.count ? spec->pids.count : 1;
	const char *glob;
	size_t i;
	int ret;

	for (i = 0; i < globs * sessions * pids; i++) {
		glob = spec->globs.count ?
		       spec->globs.strings[i / pids / sessions] : "*";
		ret = add_rule(live, consumer, glob,
			       number_at(&spec->sessions, i / pids),
			       number_at(&spec->pids, i), cgroup);
		if (!ret)
			continue;
		/* The instance was deleted: that is no error of a rule. */
		if (ret != -ENODEV)
			explain_rule(spec, consumer, glob, i, ret);
		return ret;
	}
	return 0;
}

static int check_cgroups(struct elog_consumer *consumer)
{
	struct eventlog_info info = { .size = sizeof(info) };

	if (!elog_device_info(elog_consumer_fd(consumer), &info) &&
	    info.features & EVENTLOG_FEATURE_CGROUP)
		return 0;
	elog_error("--cgroup and --unit: the module is too old, or the kernel has no cgroups");
	return -EOPNOTSUPP;
}

/*
 * After the module was replaced, or was to be: have the kernel count a loss if programs did not
 * wait for these rules. A subscription to an instance that is newer has missed nothing.
 */
static void count_missed(const struct live *live, struct elog_consumer *consumer)
{
	struct eventlog_missed request = { .size = sizeof(request) };

	/* An older module refuses it. */
	if (live->settings->await && !live->started)
		elog_port_call(elog_consumer_fd(consumer), EVENTLOG_IOC_MISSED, &request);
}

static int add_all_rules(struct live *live, struct elog_consumer *consumer)
{
	const struct selection_spec *spec = live->spec;
	const size_t cgroups = spec->cgroups.count + spec->units.count;
	size_t i;
	int ret, fd;

	if (!cgroups)
		return add_rules_of(live, consumer, -1);
	ret = check_cgroups(consumer);
	for (i = 0; !ret && i < cgroups; i++) {
		fd = cgroup_open(spec, i);
		ret = fd < 0 ? fd : add_rules_of(live, consumer, fd);
		if (fd >= 0)
			close(fd);
	}
	return ret;
}

int rules_add(struct live *live, struct elog_consumer *consumer)
{
	int ret = add_all_rules(live, consumer);

	if (!ret)
		count_missed(live, consumer);
	return ret;
}

int rules_add_globs(struct elog_consumer *consumer, const struct string_list *globs)
{
	char provider[EVENTLOG_GLOB_MAX];
	const char *glob, *slash;
	size_t i;
	int ret;

	for (i = 0; i < globs->count; i++) {
		struct elog_rule rule = { .size = sizeof(rule) };

		glob = globs->strings[i];
		slash = strchrnul(glob, '/');
		memcpy(provider, glob, (size_t)(slash - glob));
		provider[slash - glob] = '\0';
		rule.provider = provider;
		if (*slash)
			rule.event = slash + 1;
		ret = elog_consumer_rule_add(consumer, &rule, NULL);
		if (ret) {
			error_rule(glob, ret);
			return ret;
		}
	}
	return 0;
}
