// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instances: see instance.h.
 */
#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/instance.h"
#include "libelog/util/port.h"
#include "output/output.h"
#include "output/row.h"
#include "util/engine.h"
#include "util/nearest.h"

const char *const quota_names[EVENTLOG_QUOTAS] = {
	"events", "definitions", "registrations", "trace_bytes", "retained_bytes", "ring_bytes",
	"rings",
};

/* ------------------------------------------------------------------------
 * Creation
 */

/* Set @id to that of a user or, if @group, of a group, by name or number. */
static bool parse_id(const char *text, bool group, uint32_t *id)
{
	const struct passwd *user = NULL;
	struct group *found = NULL;
	uint64_t number;

	if (parse_unsigned(text, UINT32_MAX - 1, &number)) {
		*id = (uint32_t)number;
		return true;
	}
	if (group)
		found = getgrnam(text);
	else
		user = getpwnam(text);
	if (found)
		*id = found->gr_gid;
	if (user)
		*id = user->pw_uid;
	return found || user;
}

/* USER[:GROUP]. Return: 0, or a negative errno; the reason was printed. */
static int read_owner(const char *text, struct eventlog_instance_create *request)
{
	char *copy = strdup(text), *colon;
	int ret = 0;

	if (!copy) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	colon = strchr(copy, ':');
	if (colon)
		*colon++ = '\0';
	if (!parse_id(copy, false, &request->owner)) {
		elog_error("--owner: no user '%s'", copy);
		ret = -EINVAL;
	} else if (colon && !parse_id(colon, true, &request->group)) {
		elog_error("--owner: no group '%s'", colon);
		ret = -EINVAL;
	} else if (colon) {
		request->mode = 0660;
	}
	free(copy);
	return ret;
}

static int read_mode(const char *text, struct eventlog_instance_create *request)
{
	unsigned long mode;
	char *end;

	mode = strtoul(text, &end, 8);
	if (*text < '0' || *text > '7' || *end || !mode || mode > 0777) {
		elog_error("--mode: invalid mode '%s': must be octal, from 1 to 777", text);
		return -EINVAL;
	}
	request->mode = (uint32_t)mode;
	return 0;
}

/* One NAME=N of --quota; @trace: the instance has trace events. */
static int read_quota(char *text, bool trace, struct eventlog_instance_create *request)
{
	char *value = strchr(text, '=');
	const char *names[EVENTLOG_QUOTAS];
	uint64_t number;
	int quota;

	memcpy(names, quota_names, sizeof(names));
	if (!trace)
		names[EVENTLOG_QUOTA_TRACE_BYTES] = NULL;
	if (value)
		*value++ = '\0';
	quota = choice_find(names, EVENTLOG_QUOTAS, text);
	if (quota < 0) {
		choice_error(names, EVENTLOG_QUOTAS, text, NULL, "--quota: '%s'", text);
		return -EINVAL;
	}
	if (!value || !parse_size(value, &number) || !number) {
		elog_error("--quota: invalid value of %s: must be a number from 1", text);
		return -EINVAL;
	}
	request->limits[quota] = number;
	request->limits_set |= 1U << quota;
	return 0;
}

static int read_quotas(const char *text, bool trace, struct eventlog_instance_create *request)
{
	char *copy = strdup(text), *rest = copy;
	int ret = 0;

	if (!copy) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	while (!ret && rest)
		ret = read_quota(strsep(&rest, ","), trace, request);
	free(copy);
	return ret;
}

static int read_request(const struct options *options, struct eventlog_instance_create *request)
{
	int ret = 0;

	if (options->trace)
		request->flags |= EVENTLOG_INSTANCE_TRACE;
	if (options->owner)
		ret = read_owner(options->owner, request);
	if (!ret && options->mode)
		ret = read_mode(options->mode, request);
	if (!ret && options->quota)
		ret = read_quotas(options->quota, options->trace, request);
	return ret;
}

static bool is_name(const char *name)
{
	const char *c = name;

	while (isascii(*c) && (isalnum(*c) || (*c && c != name && strchr("_.-", *c))))
		c++;
	return c != name && !*c && c - name < EVENTLOG_INSTANCE_NAME_MAX;
}

/* Return: a file of a device that has instances, or a negative errno; the reason was printed. */
static int open_device(void)
{
	int fd = elog_device_open(NULL);

	if (fd < 0) {
		explain_device_error(fd, PURPOSE_INSTANCES);
	} else if (engine_lacks(fd, "instances")) {
		elog_port_close(fd);
		fd = -EOPNOTSUPP;
	}
	return fd;
}

static void explain_manage(int error)
{
	if (error == -ENOTTY)
		elog_error("the kernel module has no instances: update it");
	else if (error == -EPERM)
		elog_error("creating and deleting instances needs the capability CAP_SYS_ADMIN, "
			   "and the device of the host, not that of an instance");
	else
		explain_device_error(error, PURPOSE_INSTANCES);
}

static void explain_create(const char *name, bool trace, int error)
{
	switch (error) {
	case -EEXIST:
		elog_error("there is an instance '%s' already", name);
		if (trace)
			elog_hint("or one with --trace whose trace events would be in the same "
				  "groups, see elog-create(1)");
		break;
	case -EOPNOTSUPP:
		elog_error("the kernel module has no trace events: no --trace");
		break;
	case -ENOSPC:
		elog_error("there are as many instances as the module allows");
		break;
	case -EINVAL:
		if (!is_name(name)) {
			elog_error("invalid name of an instance '%s'", name);
			elog_hint("use letters, digits, '_', '.' and '-'; start with a letter or a "
				  "digit; at most %d characters", EVENTLOG_INSTANCE_NAME_MAX - 1);
		} else {
			elog_error("the owner or a quota is not valid for the kernel");
			elog_hint("elog info prints the limits of the module");
		}
		break;
	default:
		explain_manage(error);
		break;
	}
}

int instance_create(const struct options *options)
{
	struct eventlog_instance_create request = { .size = sizeof(request), .mode = 0600 };
	int fd, instance;

	if (read_request(options, &request))
		return STATUS_ERROR;
	fd = open_device();
	if (fd < 0)
		return STATUS_ERROR;
	instance = elog_instance_create(fd, options->instance, &request);
	elog_port_close(fd);
	if (instance < 0) {
		explain_create(options->instance, options->trace, instance);
		return STATUS_ERROR;
	}
	close(instance);
	if (options->verbose)
		elog_hint("%s-%s is instance #%u", EVENTLOG_DEVICE, options->instance, request.id);
	return STATUS_OK;
}

/* ------------------------------------------------------------------------
 * Deletion
 */

/* Set @id to that of an instance. Return: 0, or a negative errno; the reason was printed. */
static int find_instance(int fd, const char *sought, uint32_t *id)
{
	struct eventlog_instance_info next = { .size = sizeof(next) };
	struct nearest nearest = { .sought = sought };
	struct elog_list *list = NULL;
	const char *name;
	int ret = elog_list_open(fd, EVENTLOG_LIST_INSTANCES, 0, &list);

	while (!ret && !(ret = elog_list_next(list, &next, &name))) {
		if (!strcmp(name, sought)) {
			*id = next.id;
			break;
		}
		nearest_offer(&nearest, name);
	}
	elog_list_close(list);
	if (ret == -ENOENT)
		nearest_error(&nearest, "no instance '%s'", sought);
	else if (ret)
		explain_manage(ret);
	nearest_free(&nearest);
	return ret;
}

int instance_delete(const struct options *options)
{
	uint32_t id;
	int fd, ret;

	fd = open_device();
	if (fd < 0)
		return STATUS_ERROR;
	ret = find_instance(fd, options->instance, &id);
	if (!ret) {
		ret = elog_instance_delete(fd, id);
		if (ret == -ENOENT)
			elog_error("no instance '%s'", options->instance);
		else if (ret)
			explain_manage(ret);
	}
	elog_port_close(fd);
	return ret ? STATUS_ERROR : STATUS_OK;
}

/* ------------------------------------------------------------------------
 * Listing
 */

static void put_instance(struct row *row, const struct eventlog_instance_info *instance,
			 const char *name)
{
	struct elog_text *text;
	char mode[8];

	snprintf(mode, sizeof(mode), "%04o", instance->mode);
	row_begin(row);
	row_number(row, "id", "ID", 5, instance->id);
	row_string(row, "name", NULL, 0, name);
	row_number(row, "owner", "OWNER", 10, instance->owner);
	row_number(row, "group", "GROUP", 10, instance->group);
	row_string(row, "mode", " MODE", 5, mode);
	row_number(row, "events", "EVENTS", 8, instance->events);
	row_number(row, "subscribers", "SUBSCRIBERS", 11, instance->subscribers);
	row_number(row, "files", "FILES", 6, instance->files);
	text = row_cell(row, NULL, " NAME", 0);
	if (text)
		elog_text_printf(text, " %s", name);
	row_end(row);
}

int instance_list(const struct options *options)
{
	struct eventlog_instance_info next = { .size = sizeof(next) };
	struct elog_list *list = NULL;
	struct output output;
	struct row row = { .format = options->print.format, .text = &output.text };
	int fd, ret, written;
	const char *name;

	fd = open_device();
	if (fd < 0)
		return STATUS_ERROR;
	output_open(&output, options->color, options->separated);
	row.heading = !options->quiet && row.format == FORMAT_TEXT;
	if (row.heading)
		put_instance(&row, &next, NULL);
	row.heading = false;
	ret = elog_list_open(fd, EVENTLOG_LIST_INSTANCES, 0, &list);
	while (!ret && !(ret = elog_list_next(list, &next, &name))) {
		put_instance(&row, &next, name);
		output_check(&output);
	}
	elog_list_close(list);
	elog_port_close(fd);
	written = output_close(&output);
	if (ret == -ENOTTY)
		explain_manage(ret);
	else if (ret != -ENOENT)
		explain_device_error(ret, PURPOSE_INSTANCES);
	if (written)
		elog_error("cannot write to stdout: %s", strerror(-written));
	return ret != -ENOENT || written ? STATUS_ERROR : STATUS_OK;
}
