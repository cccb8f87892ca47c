// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Decoding of eventheader records: names of events, headers of records, and the cache of
 * plans. See eventheader.h.
 *
 * A record begins with eight bytes: flags, version, id, tag, opcode and level. With a flag,
 * extensions follow, each a size, a kind and data: the metadata, and ids of activities. Then
 * comes the data.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elog.h"
#include "format/eventheader.h"
#include "util/map.h"
#include "util/util.h"

#define HEADER_SIZE		8
#define EXTENSION_SIZE		4
#define CACHE_BYTES		(8U << 20)

#define FLAG_LITTLE_ENDIAN	0x02
#define FLAG_EXTENSION		0x04
#define KIND_MASK		0x7fff
#define KIND_METADATA		1
#define KIND_ACTIVITY		2
#define KIND_MORE		0x8000

#define ID_SIZE			16

struct elog_eventheader {
	struct elog_map plans;		/* struct elog_eh_plan * */
	size_t bytes;			/* of all plans */
	uint64_t generation;
	struct elog_text key;
	struct elog_text payload;
	struct elog_text scratch;
	struct elog_schema_set *errors;
	struct elog_schema_set *opcodes;
};

/* What the name of an event says. */
struct suffix {
	size_t provider_size;
	unsigned int name_level;	/* as it is in the name */
	unsigned int level;
	uint64_t keywords;
};

/* The parts of a record. */
struct parts {
	const unsigned char *metadata;	/* NULL: there is none */
	size_t metadata_size;
	const unsigned char *activity;	/* NULL: there is none */
	size_t activity_size;
	size_t data;			/* offset of the data, or of what cannot be read */
	bool torn;			/* the extensions are damaged */
};

/* ------------------------------------------------------------------------
 * Names of events
 */

/* Read lower-case hexadecimal digits. Return: behind them; NULL: there are none, or too many. */
static const char *take_hex(const char *text, size_t most, uint64_t *value)
{
	size_t i;

	*value = 0;
	for (i = 0; i <= most; i++) {
		if (text[i] >= '0' && text[i] <= '9')
			*value = *value << 4 | (uint64_t)(text[i] - '0');
		else if (text[i] >= 'a' && text[i] <= 'f')
			*value = *value << 4 | (uint64_t)(text[i] - 'a' + 10);
		else
			return i ? text + i : NULL;
	}
	return NULL;
}

static bool parse_suffix(const struct elog_schema_event *event, struct suffix *suffix)
{
	static const unsigned int levels[] = {
		0, EVENTLOG_LEVEL_CRITICAL, EVENTLOG_LEVEL_ERROR, EVENTLOG_LEVEL_WARNING,
		EVENTLOG_LEVEL_INFO, EVENTLOG_LEVEL_VERBOSE,
	};
	const char *text = strrchr(event->name, '_');
	uint64_t level;

	if (!text || text[1] != 'L')
		return false;
	suffix->provider_size = (size_t)(text - event->name);
	text = take_hex(text + 2, 2, &level);
	if (!text || !level || *text != 'K')
		return false;
	text = take_hex(text + 1, 16, &suffix->keywords);
	if (!text || (*text && (*text < 'A' || *text > 'Z')))
		return false;
	suffix->name_level = (unsigned int)level;
	/* Levels above 5 have no meaning. */
	suffix->level = level < ELOG_ARRAY_SIZE(levels) ? levels[level] : event->level;
	return true;
}

static bool is_eventheader(const struct elog_schema_event *event, struct suffix *suffix)
{
	return event && event->field_count && event->fields[0]->size == 1 &&
	       !strcmp(event->fields[0]->name, "eventheader_flags") &&
	       parse_suffix(event, suffix);
}

bool elog_is_eventheader(const struct elog_schema_event *event)
{
	struct suffix suffix;

	return is_eventheader(event, &suffix);
}

/* ------------------------------------------------------------------------
 * Decoders
 */

struct name {
	int value;
	const char *name;
};

#define NAME(value) { value, #value }

static const struct name error_names[] = {
	NAME(EPERM), NAME(ENOENT), NAME(ESRCH), NAME(EINTR), NAME(EIO), NAME(ENXIO), NAME(E2BIG),
	NAME(ENOEXEC), NAME(EBADF), NAME(ECHILD), NAME(EAGAIN), NAME(ENOMEM), NAME(EACCES),
	NAME(EFAULT), NAME(ENOTBLK), NAME(EBUSY), NAME(EEXIST), NAME(EXDEV), NAME(ENODEV),
	NAME(ENOTDIR), NAME(EISDIR), NAME(EINVAL), NAME(ENFILE), NAME(EMFILE), NAME(ENOTTY),
	NAME(ETXTBSY), NAME(EFBIG), NAME(ENOSPC), NAME(ESPIPE), NAME(EROFS), NAME(EMLINK),
	NAME(EPIPE), NAME(EDOM), NAME(ERANGE), NAME(EDEADLK), NAME(ENAMETOOLONG), NAME(ENOLCK),
	NAME(ENOSYS), NAME(ENOTEMPTY), NAME(ELOOP), NAME(ENOMSG), NAME(EIDRM), NAME(ENOSTR),
	NAME(ENODATA), NAME(ETIME), NAME(ENOSR), NAME(ENONET), NAME(ENOLINK), NAME(EPROTO),
	NAME(EMULTIHOP), NAME(EBADMSG), NAME(EOVERFLOW), NAME(ENOTUNIQ), NAME(EBADFD),
	NAME(EREMCHG), NAME(EILSEQ), NAME(ERESTART), NAME(EUSERS), NAME(ENOTSOCK),
	NAME(EDESTADDRREQ), NAME(EMSGSIZE), NAME(EPROTOTYPE), NAME(ENOPROTOOPT),
	NAME(EPROTONOSUPPORT), NAME(ESOCKTNOSUPPORT), NAME(EOPNOTSUPP), NAME(EPFNOSUPPORT),
	NAME(EAFNOSUPPORT), NAME(EADDRINUSE), NAME(EADDRNOTAVAIL), NAME(ENETDOWN),
	NAME(ENETUNREACH), NAME(ENETRESET), NAME(ECONNABORTED), NAME(ECONNRESET), NAME(ENOBUFS),
	NAME(EISCONN), NAME(ENOTCONN), NAME(ESHUTDOWN), NAME(ETOOMANYREFS), NAME(ETIMEDOUT),
	NAME(ECONNREFUSED), NAME(EHOSTDOWN), NAME(EHOSTUNREACH), NAME(EALREADY),
	NAME(EINPROGRESS), NAME(ESTALE), NAME(EUCLEAN), NAME(EREMOTEIO), NAME(EDQUOT),
	NAME(ENOMEDIUM), NAME(EMEDIUMTYPE), NAME(ECANCELED), NAME(ENOKEY), NAME(EKEYEXPIRED),
	NAME(EKEYREVOKED), NAME(EKEYREJECTED), NAME(EOWNERDEAD), NAME(ENOTRECOVERABLE),
	NAME(ERFKILL), NAME(EHWPOISON),
};

static const struct name opcode_names[] = {
	{ 1, "activity_start" }, { 2, "activity_stop" }, { 3, "collection_start" },
	{ 4, "collection_stop" }, { 5, "extension" }, { 6, "reply" }, { 7, "resume" },
	{ 8, "suspend" }, { 9, "send" }, { 0xf0, "receive" },
};

/* The set, the list and the names are in one allocation. */
static struct elog_schema_set *new_set(const struct name *names, size_t count)
{
	struct elog_schema_set *set;
	struct elog_schema_name *member;
	size_t i;

	set = calloc(1, sizeof(*set) + count * (sizeof(*member) + sizeof(member)));
	if (!set)
		return NULL;
	set->name = "";
	set->description = "";
	set->count = count;
	set->names = (struct elog_schema_name **)(set + 1);
	member = (struct elog_schema_name *)&set->names[count];
	for (i = 0; i < count; i++, member++) {
		member->value = (uint64_t)names[i].value;
		member->name = names[i].name;
		member->description = "";
		set->names[i] = member;
	}
	return set;
}

int elog_eventheader_open(struct elog_eventheader **result)
{
	struct elog_eventheader *decoder = calloc(1, sizeof(*decoder));

	*result = NULL;
	if (!decoder)
		return -ENOMEM;
	elog_map_init(&decoder->plans, sizeof(struct elog_eh_plan *));
	decoder->errors = new_set(error_names, ELOG_ARRAY_SIZE(error_names));
	decoder->opcodes = new_set(opcode_names, ELOG_ARRAY_SIZE(opcode_names));
	if (!decoder->errors || !decoder->opcodes) {
		elog_eventheader_close(decoder);
		return -ENOMEM;
	}
	*result = decoder;
	return 0;
}

static void free_plans(struct elog_eventheader *decoder)
{
	struct elog_eh_plan **plan;

	elog_map_for_each(&decoder->plans, plan)
		elog_eh_plan_free(*plan);
	elog_map_free(&decoder->plans);
	decoder->bytes = 0;
	decoder->generation++;
}

void elog_eventheader_close(struct elog_eventheader *decoder)
{
	if (!decoder)
		return;
	free_plans(decoder);
	elog_text_free(&decoder->key);
	elog_text_free(&decoder->payload);
	elog_text_free(&decoder->scratch);
	free(decoder->errors);
	free(decoder->opcodes);
	free(decoder);
}

/* ------------------------------------------------------------------------
 * Records
 */

static void split(const unsigned char *data, size_t size, bool swap, struct parts *parts)
{
	size_t at = HEADER_SIZE, bytes;
	unsigned int kind = KIND_MORE;

	memset(parts, 0, sizeof(*parts));
	while (data[0] & FLAG_EXTENSION && kind & KIND_MORE) {
		parts->data = at;
		parts->torn = true;
		if (size - at < EXTENSION_SIZE)
			return;
		bytes = elog_eh_load16(data + at, swap);
		kind = elog_eh_load16(data + at + 2, swap);
		if (bytes > size - at - EXTENSION_SIZE)
			return;
		at += EXTENSION_SIZE;
		if ((kind & KIND_MASK) == KIND_METADATA && !parts->metadata) {
			parts->metadata = data + at;
			parts->metadata_size = bytes;
		} else if ((kind & KIND_MASK) == KIND_ACTIVITY && !parts->activity) {
			parts->activity = data + at;
			parts->activity_size = bytes;
		}
		at += bytes;
	}
	parts->data = at;
	parts->torn = false;
}

/* Find the plan of a record, or make it. Return: NULL: no memory. */
static struct elog_eh_plan *find_plan(struct elog_eventheader *decoder,
				      const struct elog_eh_metadata *metadata)
{
	struct elog_text *text = &decoder->key;
	struct elog_eh_plan *plan, **place;
	struct elog_map_key key;

	text->size = 0;
	elog_text_put(text, metadata->event->provider->name,
		      strlen(metadata->event->provider->name) + 1);
	elog_text_put(text, metadata->event->name, strlen(metadata->event->name) + 1);
	elog_text_put(text, &metadata->level, sizeof(metadata->level));
	elog_text_character(text, (char)(2 * metadata->swap + !metadata->data));
	if (metadata->size)
		elog_text_put(text, metadata->data, metadata->size);
	if (text->error)
		return NULL;
	key = elog_map_bytes(text->data, text->size);
	place = elog_map_find(&decoder->plans, key);
	if (place)
		return *place;
	plan = elog_eh_plan_new(metadata);
	if (!plan)
		return NULL;
	place = elog_map_insert(&decoder->plans, key);
	if (!place) {
		elog_eh_plan_free(plan);
		return NULL;
	}
	*place = plan;
	decoder->bytes += plan->bytes;
	return plan;
}

/* Set a slot that has a number. */
static uint32_t put_number(struct elog_eh_run *run, enum elog_eh_extra extra, const void *number,
			   size_t size)
{
	if (!run->payload->error)
		memcpy(run->payload->data + elog_eh_extra_slot(extra), number, size);
	return 1U << extra;
}

static uint32_t put_id(struct elog_eh_run *run, enum elog_eh_extra extra,
		       const unsigned char *id, size_t size)
{
	run->scratch->size = 0;
	if (size == ID_SIZE)
		elog_eh_put_uuid(run->scratch, id);
	else
		elog_eh_put_hex(run->scratch, id, size);
	elog_eh_put_bytes(run, elog_eh_extra_slot(extra),
			  run->scratch->size ? run->scratch->data : "", run->scratch->size);
	return 1U << extra;
}

/* Properties that are 0 are not shown, nor is a level that the name of the event has. */
static uint32_t put_header(struct elog_eh_run *run, const struct parts *parts,
			   unsigned int name_level)
{
	const unsigned char *data = run->data;
	const uint16_t id = elog_eh_load16(data + 2, run->swap);
	const uint16_t tag = elog_eh_load16(data + 4, run->swap);
	uint32_t mask = 0;

	if (id)
		mask |= put_number(run, ELOG_EH_ID, &id, sizeof(id));
	if (data[1])
		mask |= put_number(run, ELOG_EH_VERSION, &data[1], 1);
	if (tag)
		mask |= put_number(run, ELOG_EH_TAG, &tag, sizeof(tag));
	if (data[6])
		mask |= put_number(run, ELOG_EH_OPCODE, &data[6], 1);
	if (data[7] != name_level)
		mask |= put_number(run, ELOG_EH_LEVEL, &data[7], 1);
	if (!parts->activity)
		return mask;
	if (parts->activity_size != 2 * ID_SIZE)
		return mask | put_id(run, ELOG_EH_ACTIVITY, parts->activity,
				     parts->activity_size);
	mask |= put_id(run, ELOG_EH_ACTIVITY, parts->activity, ID_SIZE);
	return mask | put_id(run, ELOG_EH_RELATED, parts->activity + ID_SIZE, ID_SIZE);
}

/* Put bytes of the record, and their position in it. */
static uint32_t put_rest(struct elog_eh_run *run, enum elog_eh_extra at_extra,
			 enum elog_eh_extra extra, size_t at, size_t size)
{
	const uint32_t position = (uint32_t)at;

	elog_eh_put_bytes(run, elog_eh_extra_slot(extra), run->data + at, size);
	return put_number(run, at_extra, &position, sizeof(position)) | 1U << extra;
}

/* Room for the slots, which are 0 at first. Return: false: no memory. */
static bool begin_payload(struct elog_text *payload, size_t size)
{
	char *room;

	payload->size = 0;
	room = elog_text_room(payload, size);
	if (!room)
		return false;
	memset(room, 0, size);
	elog_text_advance(payload, room + size);
	return true;
}

/* Decode a record with a whole header, and say what it has besides its fields. */
static uint32_t decode_parts(struct elog_eh_run *run, const struct elog_eh_plan *plan,
			     const struct parts *parts, unsigned int name_level,
			     uint32_t *stop)
{
	uint32_t mask = put_header(run, parts, name_level);
	size_t torn_at;

	run->at = parts->data;
	if (!parts->torn)
		*stop = elog_eh_run_fields(run, plan);
	if (plan->torn) {
		torn_at = (size_t)(parts->metadata - run->data) + plan->torn_at;
		mask |= put_rest(run, ELOG_EH_METADATA_AT, ELOG_EH_METADATA, torn_at,
				 parts->metadata_size - plan->torn_at);
	}
	return mask;
}

/* In a ring and in a file, zeroes follow a payload up to a multiple of 8 bytes. */
static bool is_padding(const struct elog_eh_run *run)
{
	size_t at;

	if (run->size % 8 || run->size - run->at >= 8)
		return false;
	for (at = run->at; at < run->size; at++)
		if (run->data[at])
			return false;
	return true;
}

int elog_eventheader_decode(struct elog_eventheader *decoder,
			    const struct elog_schema_event *event,
			    const void *payload, size_t size,
			    struct elog_eventheader_record *record)
{
	const bool is_little_host = __BYTE_ORDER == __LITTLE_ENDIAN;
	struct elog_eh_run run = {
		.data = payload, .size = size,
		.payload = &decoder->payload, .scratch = &decoder->scratch,
	};
	struct elog_eh_metadata metadata = { .event = event, .errors = decoder->errors };
	struct parts parts = { 0 };
	struct elog_eh_plan *plan;
	struct suffix suffix;
	uint32_t mask = 0, stop = 0;
	size_t bytes;

	memset(record, 0, sizeof(*record));
	if (!is_eventheader(event, &suffix))
		return -EINVAL;
	if (decoder->bytes > CACHE_BYTES)
		free_plans(decoder);
	if (size >= HEADER_SIZE) {
		run.swap = !(run.data[0] & FLAG_LITTLE_ENDIAN) == is_little_host;
		split(run.data, size, run.swap, &parts);
	}
	metadata.provider_size = suffix.provider_size;
	metadata.level = suffix.level;
	metadata.keywords = suffix.keywords;
	metadata.data = parts.metadata;
	metadata.size = parts.metadata_size;
	metadata.swap = run.swap;
	plan = find_plan(decoder, &metadata);
	if (!plan || !begin_payload(run.payload, plan->fixed_size))
		goto no_memory;
	bytes = plan->bytes;
	if (size >= HEADER_SIZE)
		mask = decode_parts(&run, plan, &parts, suffix.name_level, &stop);
	if (parts.torn || (run.at < size && !is_padding(&run)))
		mask |= put_rest(&run, ELOG_EH_UNDECODED_AT, ELOG_EH_UNDECODED, run.at,
				 size - run.at);
	if (run.payload->error || run.scratch->error)
		goto no_memory;
	record->event = elog_eh_plan_variant(plan, stop, mask, decoder->opcodes);
	if (!record->event)
		goto no_memory;
	decoder->bytes += plan->bytes - bytes;
	record->payload = run.payload->data;
	record->payload_size = run.payload->size;
	record->generation = decoder->generation;
	return 0;

no_memory:
	elog_text_free(&decoder->key);
	elog_text_free(&decoder->payload);
	elog_text_free(&decoder->scratch);
	return -ENOMEM;
}
