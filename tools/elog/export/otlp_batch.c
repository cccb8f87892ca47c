// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records for a receiver of OpenTelemetry: see otlp_batch.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "export/export.h"
#include "export/otlp_batch.h"

#define BATCH_NS	1000000000ULL
#define WARN_NS		10000000000ULL	/* from one warning to the next */
#define GROUPS_MAX	64

/* Numbers of fields in opentelemetry/proto/, of what is around records. */
enum {
	REQUEST_RESOURCE = 1,
	RESOURCE_RESOURCE = 1,
	RESOURCE_SCOPE = 2,
	RESOURCE_ATTRIBUTE = 1,
	SCOPE_SCOPE = 1,
	SCOPE_NAME = 1,
	SCOPE_VERSION = 2,
};

/* ------------------------------------------------------------------------
 * Attributes
 */

void otlp_put_text(struct otlp_batch *batch, struct elog_text *text, unsigned int field,
		   const char *data, size_t size)
{
	batch->value.size = 0;
	elog_text_utf8(&batch->value, data, size);
	pb_bytes(text, field, batch->value.data, batch->value.size);
}

size_t otlp_open_attribute(struct elog_text *text, unsigned int field, const char *key,
			   size_t *value)
{
	size_t attribute = pb_open(text, field);

	pb_string(text, ATTRIBUTE_KEY, key);
	*value = pb_open(text, ATTRIBUTE_VALUE);
	return attribute;
}

void otlp_put_string(struct otlp_batch *batch, struct elog_text *text, unsigned int field,
		     const char *key, const char *string)
{
	size_t value, attribute = otlp_open_attribute(text, field, key, &value);

	otlp_put_text(batch, text, VALUE_STRING, string, strlen(string));
	pb_close(text, value);
	pb_close(text, attribute);
}

void otlp_put_number(struct elog_text *text, unsigned int field, const char *key,
		     uint64_t number)
{
	size_t value, attribute = otlp_open_attribute(text, field, key, &value);

	pb_uint(text, VALUE_INT, number);
	pb_close(text, value);
	pb_close(text, attribute);
}

struct otlp_provider *otlp_batch_provider(struct otlp_batch *batch, const char *name)
{
	struct otlp_provider *provider;

	for (provider = batch->providers; provider; provider = provider->next)
		if (!strcmp(provider->name, name))
			return provider;
	provider = calloc(1, sizeof(*provider) + strlen(name) + 1);
	if (!provider)
		return NULL;
	strcpy(provider->name, name);
	provider->next = batch->providers;
	batch->providers = provider;
	return provider;
}

/* ------------------------------------------------------------------------
 * Groups
 */

/* What is known of the machine of an event. */
static const char *info(const struct otlp_batch *batch, const struct entry *entry,
			const char *key)
{
	const char *value;

	if (entry && entry->reader) {
		value = elog_reader_info(entry->reader, key);
		return value ? value : "";
	}
	return !strcmp(key, "host") ? batch->host : !strcmp(key, "boot_id") ? batch->boot : "";
}

static void put_resource(struct otlp_batch *batch, struct elog_text *text, const char *key,
			 const char *value)
{
	if (*value && !otlp_settings_has(batch->settings, key))
		otlp_put_string(batch, text, RESOURCE_ATTRIBUTE, key, value);
}

static void describe_group(struct otlp_batch *batch, struct otlp_group *group,
			   const struct entry *entry, const struct otlp_provider *provider,
			   uint32_t pid, const char *process)
{
	static const struct elog_siphash key = { { 0x6576656e746c6f67, 0x6f746c705f696473 } };
	const struct otlp_settings *settings = batch->settings;
	struct elog_text *text = &group->resource;
	const char *machine = info(batch, entry, "machine_id");
	const char *boot = info(batch, entry, "boot_id");
	size_t i;

	put_resource(batch, text, "service.name", provider->name);
	put_resource(batch, text, "host.name", info(batch, entry, "host"));
	if (strspn(machine, "0") != strlen(machine))
		put_resource(batch, text, "host.id", machine);
	put_resource(batch, text, "os.type", "linux");
	put_resource(batch, text, "eventlog.boot_id", boot);
	if (pid && !otlp_settings_has(settings, "process.pid"))
		otlp_put_number(text, RESOURCE_ATTRIBUTE, "process.pid", pid);
	if (*process != ':')
		put_resource(batch, text, "process.executable.name", process);
	for (i = 0; i < settings->attribute_count; i++)
		otlp_put_string(batch, text, RESOURCE_ATTRIBUTE, settings->attributes[i].name,
				settings->attributes[i].value);
	batch->value.size = 0;
	elog_text_printf(&batch->value, "%s/%s", boot, provider->name);
	group->trace_key = elog_siphash(&key, batch->value.data, batch->value.size);
	group->boot = elog_map_bytes(boot, strlen(boot)).words[0];
}

struct otlp_group *otlp_batch_group(struct otlp_batch *batch, const struct entry *entry,
				    const struct otlp_provider *provider, uint32_t pid,
				    const char *process)
{
	/* A number that is used again, or a process that executes another program: another name. */
	struct { const void *reader, *provider; uint64_t pid, name; } id = {
		.reader = entry ? entry->reader : NULL, .provider = provider, .pid = pid,
		.name = elog_map_bytes(process, strlen(process)).words[0],
	};
	struct elog_map_key key = elog_map_bytes(&id, sizeof(id));
	struct otlp_group *group = elog_map_find(&batch->groups, key);

	if (group)
		return group;
	group = elog_map_insert(&batch->groups, key);
	if (group)
		describe_group(batch, group, entry, provider, pid, process);
	return group && !group->resource.error && !batch->value.error ? group : NULL;
}

static void clear_groups(struct otlp_batch *batch)
{
	struct otlp_group *group;
	size_t i;

	elog_map_for_each(&batch->groups, group) {
		elog_text_free(&group->resource);
		for (i = 0; i < OTLP_SIGNALS; i++)
			elog_text_free(&group->records[i]);
	}
	elog_map_clear(&batch->groups);
}

/* ------------------------------------------------------------------------
 * Batches
 */

static void put_group(const struct otlp_group *group, enum otlp_signal signal,
		      struct elog_text *text)
{
	const struct elog_text *records = &group->records[signal];
	size_t outer, inner, scope;

	if (!records->size)
		return;
	outer = pb_open(text, REQUEST_RESOURCE);
	pb_bytes(text, RESOURCE_RESOURCE, group->resource.data, group->resource.size);
	inner = pb_open(text, RESOURCE_SCOPE);
	scope = pb_open(text, SCOPE_SCOPE);
	pb_string(text, SCOPE_NAME, EXPORT_PROVIDER);
	pb_string(text, SCOPE_VERSION, tool_version());
	pb_close(text, scope);
	elog_text_put(text, records->data, records->size);
	pb_close(text, inner);
	pb_close(text, outer);
}

static int send_signal(struct otlp_batch *batch, enum otlp_signal signal)
{
	struct elog_text text = { 0 };
	struct otlp_group *group;
	int ret;

	elog_map_for_each(&batch->groups, group)
		put_group(group, signal, &text);
	if (!text.size)
		return text.error;
	ret = text.error ? : otlp_queue_put(batch->queue, signal, &text, batch->records[signal]);
	elog_text_free(&text);
	return ret;
}

/* For readers of logs, while the capture runs. */
static void report_full(struct otlp_batch *batch)
{
	const uint64_t now = monotonic();

	if (batch->quiet || (batch->warned && now - batch->warned < WARN_NS))
		return;
	batch->warned = now;
	fputs("elog: the receiver is too slow: the newest events are dropped\n", stderr);
}

int otlp_batch_send(struct otlp_batch *batch)
{
	int ret = batch->complete ? batch->complete(batch->context) : 0, spans_ret;

	if (ret)
		return ret;
	ret = send_signal(batch, OTLP_LOGS);
	spans_ret = send_signal(batch, OTLP_SPANS);
	if (ret == -ENOBUFS || spans_ret == -ENOBUFS)
		report_full(batch);
	/* With the logs, the record of a loss is dropped: a later one reports it. */
	if (ret == -ENOBUFS)
		memcpy(batch->reported, batch->queued, sizeof(batch->reported));
	else
		memcpy(batch->queued, batch->reported, sizeof(batch->reported));
	clear_groups(batch);
	memset(batch->records, 0, sizeof(batch->records));
	batch->bytes = 0;
	ret = ret == -ENOBUFS ? 0 : ret;
	return ret ? : spans_ret == -ENOBUFS ? 0 : spans_ret;
}

int otlp_batch_send_late(struct otlp_batch *batch)
{
	return batch->bytes && monotonic() - batch->begun >= BATCH_NS ? otlp_batch_send(batch) : 0;
}

int otlp_batch_end(struct otlp_batch *batch, struct otlp_group *group, enum otlp_signal signal,
		   size_t from)
{
	struct elog_text *records = &group->records[signal];

	if (records->error || batch->value.error)
		return -ENOMEM;
	batch->bytes += records->size - from;
	batch->records[signal]++;
	return 0;
}

struct elog_text *otlp_batch_open_loss(struct otlp_group *group, const char *name, int64_t wall,
				       size_t *record)
{
	struct elog_text *text = &group->records[OTLP_LOGS];
	size_t body;

	*record = pb_open(text, OTLP_RECORD);
	pb_fixed64(text, LOG_TIME, otlp_time(wall));
	pb_uint(text, LOG_SEVERITY, SEVERITY_WARNING);
	pb_string(text, LOG_SEVERITY_TEXT, elog_level_name(EVENTLOG_LEVEL_WARNING));
	body = pb_open(text, LOG_BODY);
	pb_string(text, VALUE_STRING, name);
	pb_close(text, body);
	pb_fixed64(text, LOG_OBSERVED, otlp_time(wall));
	pb_string(text, LOG_EVENT_NAME, name);
	return text;
}

int otlp_batch_put_unsent(struct otlp_batch *batch)
{
	struct otlp_counts counts;
	struct otlp_provider *provider;
	struct elog_text *text;
	struct otlp_group *group;
	size_t record, from;

	otlp_queue_counts(batch->queue, &counts);
	if (!memcmp(batch->reported, counts.unsent, sizeof(counts.unsent)))
		return 0;
	provider = otlp_batch_provider(batch, EXPORT_PROVIDER);
	group = provider ? otlp_batch_group(batch, NULL, provider, 0, "") : NULL;
	if (!group)
		return -ENOMEM;
	from = group->records[OTLP_LOGS].size;
	text = otlp_batch_open_loss(group, "lost", realtime_now(), &record);
	otlp_put_number(text, LOG_ATTRIBUTE, "count",
			counts.unsent[OTLP_LOGS] - batch->reported[OTLP_LOGS]);
	otlp_put_number(text, LOG_ATTRIBUTE, "unsent",
			counts.unsent[OTLP_LOGS] - batch->reported[OTLP_LOGS]);
	otlp_put_number(text, LOG_ATTRIBUTE, "unsent_spans",
			counts.unsent[OTLP_SPANS] - batch->reported[OTLP_SPANS]);
	pb_close(text, record);
	memcpy(batch->reported, counts.unsent, sizeof(counts.unsent));
	batch->bytes += text->size - from;
	return text->error;
}

int otlp_batch_begin(struct otlp_batch *batch)
{
	int ret = 0;

	if (batch->bytes >= OTLP_BATCH_BYTES || batch->groups.count >= GROUPS_MAX)
		ret = otlp_batch_send(batch);
	if (!ret && !batch->bytes) {
		batch->begun = monotonic();
		ret = batch->live ? otlp_batch_put_unsent(batch) : 0;
	}
	return ret;
}

/* ------------------------------------------------------------------------
 * The beginning and the end
 */

static void read_boot_id(struct otlp_batch *batch)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (file && fgets(batch->boot, sizeof(batch->boot), file))
		batch->boot[strcspn(batch->boot, "\n")] = '\0';
	if (file)
		fclose(file);
}

int otlp_batch_open(struct otlp_batch *batch, const char *url, bool live, bool quiet)
{
	struct otlp_settings settings;
	struct utsname system;
	int ret;

	elog_map_init(&batch->groups, sizeof(struct otlp_group));
	batch->live = live;
	batch->quiet = quiet;
	if (!uname(&system))
		snprintf(batch->host, sizeof(batch->host), "%s", system.nodename);
	read_boot_id(batch);
	ret = otlp_settings_read(&settings, url);
	if (ret) {
		otlp_settings_free(&settings);
		return ret;
	}
	ret = otlp_queue_open(&batch->queue, &settings, live, quiet);
	if (!ret)
		batch->settings = otlp_queue_settings(batch->queue);
	return ret;
}

void otlp_batch_close(struct otlp_batch *batch)
{
	struct otlp_provider *provider, *next;

	clear_groups(batch);
	elog_map_free(&batch->groups);
	otlp_queue_close(batch->queue);
	for (provider = batch->providers; provider; provider = next) {
		next = provider->next;
		free(provider);
	}
	elog_text_free(&batch->value);
}
