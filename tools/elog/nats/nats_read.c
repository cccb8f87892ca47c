// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading a stream: a part of the plugin elog_nats.so. See transport.h.
 *
 * Each message is asked for, by its subject and the number from which to search. So a server
 * keeps nothing for a reader, which needs no permission to create consumers. If the stream
 * allows it, every server that has it answers, with the message as it is. Otherwise, and if the
 * answer must be certain, the leader answers, with a text that has the message in base64.
 *
 * What a server says is not trusted: sizes and numbers are checked.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nats/nats_answer.h"
#include "nats/nats_state.h"

#define SECOND_NS	1000000000LL
#define HEADERS_MS	1000	/* to wait for a message without its data, */
#define HEADERS_TRIES	30	/* so often */
#define HEARTBEAT_NS	(10 * SECOND_NS)

/* ------------------------------------------------------------------------
 * The stream
 */

/*
 * A server that was killed, and a stream whose leader it was, do not answer. There is a new leader
 * soon, so do not wait for long at first. A slow server may need longer.
 */
static natsStatus open_context(struct transport *transport, jsCtx **js)
{
	jsOptions options;

	jsOptions_Init(&options);
	options.Wait = transport->wait;
	return natsConnection_JetStream(js, transport->connection, &options);
}

static void explain_timeout(struct transport *transport, char *why)
{
	transport->wait = transport->wait < WAIT_MAX_MS / 2 ? 2 * transport->wait : WAIT_MAX_MS;
	nats_explain_silence(transport, "cannot read the stream", why);
}

static int get_info(struct transport *transport, const char *stream, jsOptions *options,
		    jsStreamInfo **info, char *why)
{
	natsStatus status;
	jsErrCode error = 0;
	jsCtx *js = NULL;

	status = open_context(transport, &js);
	if (!status)
		status = js_GetStreamInfo(info, js, stream, options, &error);
	jsCtx_Destroy(js);
	if (!status)
		return 0;
	if (error == JSStreamNotFoundErr || status == NATS_NOT_FOUND) {
		snprintf(why, TRANSPORT_WHY_MAX, "there is no stream %s", stream);
		return -ENOENT;
	}
	if (status == NATS_TIMEOUT)
		explain_timeout(transport, why);
	else
		nats_explain(status, "cannot read the stream", why);
	return status == NATS_INVALID_ARG || status == NATS_NOT_PERMITTED ? -EACCES : -EAGAIN;
}

/* The servers of a stream, as many as fit. */
static void put_servers(const jsClusterInfo *cluster, char *text)
{
	const jsPeerInfo *peer;
	int size, i;

	*text = '\0';
	if (!cluster)
		return;
	size = snprintf(text, TRANSPORT_SERVERS_BYTES, "%s%s", cluster->Leader ? : "no leader",
			cluster->Leader ? " leads" : "");
	for (i = 0; i < cluster->ReplicasLen && size < TRANSPORT_SERVERS_BYTES; i++) {
		peer = cluster->Replicas[i];
		size += snprintf(text + size, (size_t)(TRANSPORT_SERVERS_BYTES - size), ", %s%s",
				 peer->Name ? : "?", peer->Offline ? " offline" :
				 peer->Current ? "" : " not current");
	}
}

int nats_info(struct transport *transport, const char *stream, struct transport_info *result,
	      char *why)
{
	jsStreamInfo *info = NULL;
	int ret;

	ret = get_info(transport, stream, NULL, &info, why);
	if (ret)
		return ret;
	transport->direct = info->Config && info->Config->AllowDirect;
	result->first = info->State.FirstSeq;
	result->last = info->State.LastSeq;
	result->messages = info->State.Msgs;
	result->bytes = info->State.Bytes;
	nats_limits(info, &result->limits);
	put_servers(info->Cluster, result->servers);
	jsStreamInfo_Destroy(info);
	return 0;
}

int nats_subjects(struct transport *transport, const char *stream, const char *filter,
		  int (*take)(void *context, const char *subject), void *context, char *why)
{
	jsStreamInfo *info = NULL;
	jsOptions options;
	int ret, i;

	jsOptions_Init(&options);
	options.Stream.Info.SubjectsFilter = filter;
	ret = get_info(transport, stream, &options, &info, why);
	if (ret)
		return ret;
	for (i = 0; !ret && info->State.Subjects && i < info->State.Subjects->Count; i++)
		ret = take(context, info->State.Subjects->List[i].Subject);
	jsStreamInfo_Destroy(info);
	return ret;
}

/* ------------------------------------------------------------------------
 * Requests
 */

int nats_get(struct transport *transport, const struct transport_get *get, char *why)
{
	char reply[REPLY_MAX], subject[128], text[TRANSPORT_SUBJECT_BYTES + 64];
	const bool direct = transport->direct && !get->certain;
	natsStatus status;

	snprintf(reply, sizeof(reply), "%s.%" PRIu64, transport->inbox, get->number);
	snprintf(subject, sizeof(subject), "$JS.API.%s.%s", direct ? "DIRECT.GET" :
		 "STREAM.MSG.GET", get->stream);
	if (get->sequence)
		snprintf(text, sizeof(text), "{\"seq\":%" PRIu64 ",\"next_by_subj\":\"%s\"}",
			 get->sequence, get->subject);
	else
		snprintf(text, sizeof(text), "{\"last_by_subj\":\"%s\"}", get->subject);
	status = natsConnection_PublishRequestString(transport->connection, subject, reply, text);
	if (status)
		nats_explain(status, "cannot ask for a message", why);
	return status ? -EIO : 0;
}

/* The publisher may have used the names of the server's headers, which come last. */
static const char *header(natsMsg *msg, const char *key)
{
	const char **values = NULL, *value = NULL;
	int count = 0;

	if (!natsMsgHeader_Values(msg, key, &values, &count) && count)
		value = values[count - 1];
	free(values);
	return value;
}

/* The leader's replies have none; those of a message may be invalid. */
static bool has_headers(natsMsg *msg)
{
	const char **keys = NULL;
	int count = 0;
	const natsStatus status = natsMsgHeader_Keys(msg, &keys, &count);

	free(keys);
	return status != NATS_NOT_FOUND;
}

/* A reply of any server: the message with further headers. */
static void take_direct(natsMsg *msg, struct transport_stored *stored)
{
	const struct nats_headers headers = {
		.file = header(msg, "Elog-File"),
		.previous = header(msg, "Elog-Previous"),
		.previous_size = header(msg, "Elog-Previous-Size"),
		.offset = header(msg, "Elog-Offset"),
	};
	const char *sequence = header(msg, "Nats-Sequence"), *status = header(msg, "Status");
	const char *more = header(msg, "Description");

	/* With a number it is a message, whose publisher may have used "Status". */
	if (status && !sequence) {
		stored->error = !strcmp(status, "404") ? -ENOENT : -EAGAIN;
		snprintf(stored->why, sizeof(stored->why), "%s %s", status, more ? more : "");
		return;
	}
	if (!nats_parse_number(sequence, &stored->sequence) ||
	    !nats_parse_time(header(msg, "Nats-Time-Stamp"), &stored->time) ||
	    !header(msg, "Nats-Subject") ||
	    !nats_copy_text(stored->subject, sizeof(stored->subject),
			    header(msg, "Nats-Subject")) ||
	    !nats_take_headers(stored, &headers))
		stored->error = -EBADMSG;
	stored->data = (const unsigned char *)natsMsg_GetData(msg);
	stored->size = (size_t)natsMsg_GetDataLength(msg);
}

/* ------------------------------------------------------------------------
 * The headers of all messages: a consumer that the server removes when it is not used
 */

/* Fill in what a message without its data says. */
static void take_header(natsMsg *msg, const jsMsgMetaData *about, struct transport_stored *stored)
{
	const struct nats_headers headers = {
		.file = header(msg, "Elog-File"),
		.previous = header(msg, "Elog-Previous"),
		.previous_size = header(msg, "Elog-Previous-Size"),
		.offset = header(msg, "Elog-Offset"),
	};
	uint64_t size;

	*stored = (struct transport_stored){ .sequence = about->Sequence.Stream,
					     .time = about->Timestamp };
	if (!nats_copy_text(stored->subject, sizeof(stored->subject), natsMsg_GetSubject(msg)) ||
	    !nats_parse_number(header(msg, "Nats-Msg-Size"), &size) ||
	    !nats_take_headers(stored, &headers))
		stored->error = -EBADMSG;
	else
		stored->size = (size_t)size;
}

/*
 * struct walk - going through a stream
 * @last: number of the message that ends it
 * @taken: number of messages so far, as the server counts them
 */
struct walk {
	natsSubscription *subscription;
	uint64_t last;
	uint64_t taken;
	int (*take)(void *context, const struct transport_stored *stored);
	void *context;
};

/*
 * Messages that libnats did not return: their headers are those of a server's answer, or the
 * connection was lost.
 */
static int take_unread(const struct walk *walk, uint64_t count)
{
	const struct transport_stored unread = { .error = -EBADMSG };
	int ret = 0;

	while (!ret && count--)
		ret = walk->take(walk->context, &unread);
	return ret;
}

/* Return: 1 it was the last message; or what @take returns. */
static int take_one(struct walk *walk, natsMsg *msg)
{
	struct transport_stored stored;
	jsMsgMetaData *about = NULL;
	uint64_t number;
	bool is_last;
	int ret;

	if (natsMsg_GetMetaData(&about, msg))
		return 0;
	take_header(msg, about, &stored);
	number = about->Sequence.Consumer;
	is_last = about->Sequence.Stream >= walk->last || !about->NumPending;
	jsMsgMetaData_Destroy(about);
	ret = number > walk->taken + 1 ? take_unread(walk, number - walk->taken - 1) : 0;
	walk->taken = number;
	if (!ret)
		ret = walk->take(walk->context, &stored);
	return ret ? ret : is_last;
}

/* Has the server nothing to send? Otherwise nothing would say so before a timeout. */
static bool is_empty(const struct walk *walk)
{
	jsConsumerInfo *info = NULL;
	bool empty;

	if (natsSubscription_GetConsumerInfo(&info, walk->subscription, NULL, NULL))
		return false;
	empty = !info->NumPending && !info->Delivered.Consumer;
	jsConsumerInfo_Destroy(info);
	return empty;
}

/* Has the server sent everything? Return: 1, 0, or what @take returns. */
static int is_at_end(struct walk *walk)
{
	jsConsumerInfo *info = NULL;
	jsOptions options;
	int ret = 0;

	jsOptions_Init(&options);
	options.Wait = WAIT_MAX_MS;
	if (natsSubscription_GetConsumerInfo(&info, walk->subscription, &options, NULL))
		return 0;
	if (!info->NumPending && info->Delivered.Consumer >= walk->taken)
		ret = take_unread(walk, info->Delivered.Consumer - walk->taken) ? : 1;
	jsConsumerInfo_Destroy(info);
	return ret;
}

static int take_all(struct walk *walk, char *why)
{
	natsMsg *msg = NULL;
	natsStatus status;
	int ret = is_empty(walk), tries = 0;

	while (!ret && tries < HEADERS_TRIES) {
		status = natsSubscription_NextMsg(&msg, walk->subscription, HEADERS_MS);
		if (!status) {
			tries = 0;
			ret = take_one(walk, msg);
			natsMsg_Destroy(msg);
			continue;
		}
		/* Other errors are messages that look like answers of a server. */
		if (status == NATS_TIMEOUT)
			ret = is_at_end(walk);
		else if (status == NATS_CONNECTION_CLOSED || status == NATS_INVALID_SUBSCRIPTION)
			break;
		tries += status == NATS_TIMEOUT || status == NATS_MISSED_HEARTBEAT;
	}
	if (!ret)
		snprintf(why, TRANSPORT_WHY_MAX, "the servers do not send the messages' headers");
	return ret > 0 ? 0 : ret ? ret : -EAGAIN;
}

int nats_headers(struct transport *transport, const char *stream, int64_t since,
		 int (*take)(void *context, const struct transport_stored *stored), void *context,
		 char *why)
{
	struct walk walk = { .take = take, .context = context };
	struct transport_info info;
	jsSubOptions options;
	jsErrCode error = 0;
	natsStatus status;
	jsCtx *js = NULL;
	int ret;

	ret = nats_info(transport, stream, &info, why);
	if (ret || info.last < info.first)
		return ret;
	jsSubOptions_Init(&options);
	options.Stream = stream;
	options.Config.HeadersOnly = true;
	options.Config.AckPolicy = js_AckNone;
	options.Config.FlowControl = true;
	options.Config.Heartbeat = HEARTBEAT_NS;
	options.Config.DeliverPolicy = since ? js_DeliverByStartTime : js_DeliverAll;
	options.Config.OptStartTime = since;
	walk.last = info.last;
	status = open_context(transport, &js);
	if (!status)
		status = js_SubscribeSync(&walk.subscription, js, "elog.>", NULL, &options, &error);
	if (!status) {
		ret = take_all(&walk, why);
	} else if (status == NATS_TIMEOUT) {
		explain_timeout(transport, why);
		ret = -EAGAIN;
	} else {
		nats_explain(status, "cannot read the stream", why);
		ret = -EAGAIN;
	}
	natsSubscription_Unsubscribe(walk.subscription);
	natsSubscription_Destroy(walk.subscription);
	jsCtx_Destroy(js);
	return ret;
}

/* ------------------------------------------------------------------------
 * Replies to a request
 */

static void take_text(natsMsg *msg, struct transport_stored *stored)
{
	const int size = natsMsg_GetDataLength(msg);
	char *text = strndup(natsMsg_GetData(msg), (size_t)size);

	stored->memory = text;
	if (!text) {
		stored->error = -EAGAIN;
		snprintf(stored->why, sizeof(stored->why), "out of memory");
	} else {
		nats_read_message(text, stored);
	}
}

bool nats_got(struct transport *transport, int milliseconds, struct transport_stored *stored)
{
	const char *number;
	natsMsg *msg = NULL;
	natsStatus status;

	memset(stored, 0, sizeof(*stored));
	stored->number = UINT64_MAX;
	status = natsSubscription_NextMsg(&msg, transport->replies, milliseconds);
	if (status == NATS_NO_RESPONDERS) {
		stored->error = -EAGAIN;
		snprintf(stored->why, sizeof(stored->why), "no server has the stream");
		return true;
	}
	if (status) {
		/* While the connection is closed this does not wait. */
		if (status != NATS_TIMEOUT && milliseconds)
			nats_Sleep(milliseconds);
		return false;
	}
	number = strrchr(natsMsg_GetSubject(msg), '.');
	if (number && !nats_parse_number(number + 1, &stored->number))
		stored->number = UINT64_MAX;
	if (has_headers(msg)) {
		take_direct(msg, stored);
		stored->memory = msg;
		stored->is_message = true;
	} else {
		take_text(msg, stored);
		natsMsg_Destroy(msg);
	}
	return true;
}

void nats_release(struct transport_stored *stored)
{
	if (stored->is_message)
		natsMsg_Destroy(stored->memory);
	else
		free(stored->memory);
	stored->memory = NULL;
}
