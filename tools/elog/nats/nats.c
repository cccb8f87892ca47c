// SPDX-License-Identifier: GPL-2.0-only
/*
 * The plugin elog_nats.so: NATS JetStream, with libnats. See transport.h.
 *
 * Messages are published with a reply subject, INBOX.NUMBER, and one subscription gets all
 * replies. js_PublishMsgAsync() does not suffice: in libnats 3.4 a message whose server dies
 * never gets a result. While there is no connection nothing is published, so libnats buffers
 * hardly anything.
 *
 * As with the nats command, secrets are in the environment: NATS_USER and
 * NATS_PASSWORD, NATS_TOKEN, or NATS_CREDS, a file; NATS_CA, NATS_CERT and NATS_KEY, files for
 * TLS. NATS_INBOX_PREFIX is for servers that restrict the subjects of replies.
 *
 * libnats calls on_error() in threads of its own: @lock protects @last_error and @has_error.
 */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nats/nats_answer.h"
#include "nats/nats_state.h"

#define SERVERS_MAX	32
#define PING_MS		5000	/* a server that does not answer three of these is gone */
#define WRITE_MS	5000
#define RECONNECT_MS	200
#define BUFFER_BYTES	(1 << 20)	/* libnats keeps while it connects again */
#define DUPLICATES_NS	(600LL * 1000000000)	/* the stream remembers ids */

static const char no_stream[] = "no stream stores the subjects elog.>, or it has no leader";

/* For elog, which loads the plugin. */
extern const struct transport_ops elog_transport;

static void on_error(natsConnection *connection, natsSubscription *subscription,
		     natsStatus status, void *context)
{
	struct transport *transport = context;
	const char *text = NULL;

	(void)subscription;
	natsConnection_GetLastError(connection, &text);
	pthread_mutex_lock(&transport->lock);
	transport->has_error = true;
	snprintf(transport->last_error, sizeof(transport->last_error), "%s",
		 text && *text ? text : natsStatus_GetText(status));
	pthread_mutex_unlock(&transport->lock);
}

static bool nats_take_error(struct transport *transport, char *why)
{
	bool had_error;

	pthread_mutex_lock(&transport->lock);
	had_error = transport->has_error;
	transport->has_error = false;
	if (had_error)
		memcpy(why, transport->last_error, sizeof(transport->last_error));
	pthread_mutex_unlock(&transport->lock);
	return had_error;
}

/* ------------------------------------------------------------------------
 * Connecting
 */

void nats_explain(natsStatus status, const char *what, char *why)
{
	const char *more = nats_GetLastError(NULL);
	const char *place = more && *more == '(' ? strstr(more, "): ") : NULL;

	/* libnats puts the place in its source before what a server says. */
	if (place)
		more = place + 3;
	if (more && *more && status == NATS_ERR)
		snprintf(why, TRANSPORT_WHY_MAX, "%s: %s", what, more);
	else if (more && *more && strcmp(more, natsStatus_GetText(status)))
		snprintf(why, TRANSPORT_WHY_MAX, "%s: %s: %s", what, natsStatus_GetText(status),
			 more);
	else
		snprintf(why, TRANSPORT_WHY_MAX, "%s: %s", what, natsStatus_GetText(status));
}

void nats_explain_silence(struct transport *transport, const char *what, char *why)
{
	char url[256];

	if (natsConnection_GetConnectedUrl(transport->connection, url, sizeof(url)) || !*url)
		snprintf(why, TRANSPORT_WHY_MAX, "%s: no server answers", what);
	else	/* nats-server 2.9 prints and answers nothing then, but keeps the connection. */
		snprintf(why, TRANSPORT_WHY_MAX,
			 "%s: %s does not answer: perhaps the server's disk is full", what, url);
}

/* Add the hosts of the URL that have no address. */
static void explain_hosts(const char *url, char *why)
{
	char *copy = strdup(strstr(url, "://") + 3), *rest = copy, *name;
	struct addrinfo *found;
	size_t size;
	int error;

	while (copy && (name = strsep(&rest, ","))) {
		if (strstr(name, "://"))
			name = strstr(name, "://") + 3;
		if (*name == '[')
			continue;
		name[strcspn(name, ":/")] = '\0';
		error = getaddrinfo(name, NULL, NULL, &found);
		if (!error) {
			freeaddrinfo(found);
			continue;
		}
		size = strlen(why);
		snprintf(why + size, TRANSPORT_WHY_MAX - size, "; the host '%s' is not known: %s",
			 name, gai_strerror(error));
	}
	free(copy);
}

/* Separate the servers in "nats://HOST[:PORT],HOST[:PORT]": each gets the scheme. */
static natsStatus set_servers(natsOptions *options, const char *url)
{
	const size_t scheme = (size_t)(strstr(url, "://") + 3 - url);
	char *copy = strdup(url + scheme), *rest = copy, *name;
	char *servers[SERVERS_MAX];
	natsStatus status = copy ? NATS_OK : NATS_NO_MEMORY;
	int count = 0, i;

	while (!status && (name = strsep(&rest, ","))) {
		if (strstr(name, "://"))
			name = strstr(name, "://") + 3;
		if (count == SERVERS_MAX || !*name)
			status = NATS_INVALID_ARG;
		else if (asprintf(&servers[count], "%.*s%s", (int)scheme, url, name) < 0)
			status = NATS_NO_MEMORY;
		else
			count++;
	}
	if (!status)
		status = natsOptions_SetServers(options, (const char **)servers, count);
	for (i = 0; i < count; i++)
		free(servers[i]);
	free(copy);
	return status;
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static natsStatus set_login(natsOptions *options, const char **what)
{
	const char *user = variable("NATS_USER"), *password = variable("NATS_PASSWORD");
	const char *token = variable("NATS_TOKEN"), *creds = variable("NATS_CREDS");
	natsStatus status = NATS_OK;

	*what = "NATS_USER";
	if (user)
		status = natsOptions_SetUserInfo(options, user, password ? password : "");
	if (!status && token) {
		*what = "NATS_TOKEN";
		status = natsOptions_SetToken(options, token);
	}
	if (!status && creds) {
		*what = "NATS_CREDS";
		status = natsOptions_SetUserCredentialsFromFiles(options, creds, NULL);
	}
	return status;
}

static natsStatus set_tls(natsOptions *options, const char *url, const char **what)
{
	const char *ca = variable("NATS_CA"), *cert = variable("NATS_CERT");
	natsStatus status = NATS_OK;

	*what = "TLS";
	if (ca || cert || !strncmp(url, "tls://", 6))
		status = natsOptions_SetSecure(options, true);
	if (!status && ca) {
		*what = "NATS_CA";
		status = natsOptions_LoadCATrustedCertificates(options, ca);
	}
	if (!status && cert) {
		*what = "NATS_CERT, NATS_KEY";
		status = natsOptions_LoadCertificatesChain(options, cert, variable("NATS_KEY"));
	}
	return status;
}

/* Return: false and set @why if a setting is not valid. */
static bool set_security(natsOptions *options, const char *url, char *why)
{
	const char *what, *prefix = variable("NATS_INBOX_PREFIX");
	natsStatus status;

	status = set_login(options, &what);
	if (!status)
		status = set_tls(options, url, &what);
	if (!status && prefix) {
		what = "NATS_INBOX_PREFIX";
		status = natsOptions_SetCustomInboxPrefix(options, prefix);
	}
	if (status)
		nats_explain(status, what, why);
	return !status;
}

static natsStatus set_options(struct transport *transport)
{
	natsOptions *options = transport->options;
	natsStatus status;

	status = natsOptions_SetName(options, "elog ship");
	if (!status)
		status = natsOptions_SetMaxReconnect(options, -1);
	if (!status)
		status = natsOptions_SetReconnectWait(options, RECONNECT_MS);
	if (!status)
		status = natsOptions_SetReconnectBufSize(options, BUFFER_BYTES);
	if (!status)
		status = natsOptions_SetPingInterval(options, PING_MS);
	if (!status)
		status = natsOptions_SetMaxPingsOut(options, 2);
	if (!status)
		status = natsOptions_SetWriteDeadline(options, WRITE_MS);
	/* Otherwise each request waits for a millisecond. */
	if (!status)
		status = natsOptions_SetSendAsap(options, true);
	if (!status)
		status = natsOptions_SetErrorHandler(options, on_error, transport);
	return status;
}

static void nats_close(struct transport *transport)
{
	if (!transport)
		return;
	/* After this there are no more calls of on_error(). */
	natsConnection_Close(transport->connection);
	natsSubscription_Destroy(transport->replies);
	natsConnection_Destroy(transport->connection);
	natsOptions_Destroy(transport->options);
	free(transport->inbox);
	pthread_mutex_destroy(&transport->lock);
	free(transport);
}

static natsStatus subscribe(struct transport *transport)
{
	const char *prefix = variable("NATS_INBOX_PREFIX");
	char subject[REPLY_MAX];
	natsInbox *name = NULL;
	natsStatus status;
	int length;

	/* This does not know the prefix that was set. */
	status = natsInbox_Create(&name);
	if (status)
		return status;
	length = asprintf(&transport->inbox, "%s%s", prefix ? prefix : "_INBOX", strchr(name, '.'));
	natsInbox_Destroy(name);
	if (length < 0) {
		transport->inbox = NULL;
		return NATS_NO_MEMORY;
	}
	snprintf(subject, sizeof(subject), "%s.*", transport->inbox);
	return natsConnection_SubscribeSync(&transport->replies, transport->connection, subject);
}

static int nats_open(struct transport **result, const char *url, char *why)
{
	struct transport *transport = calloc(1, sizeof(*transport));
	natsStatus status;

	if (!transport) {
		snprintf(why, TRANSPORT_WHY_MAX, "out of memory");
		return -ENOMEM;
	}
	pthread_mutex_init(&transport->lock, NULL);
	transport->wait = WAIT_MS;
	status = natsOptions_Create(&transport->options);
	if (!status)
		status = set_options(transport);
	if (!status)
		status = set_servers(transport->options, url);
	if (status) {
		nats_explain(status, status == NATS_NO_MEMORY || status == NATS_SYS_ERROR ?
			     "cannot use libnats" : "invalid URL", why);
		goto fail;
	}
	if (!set_security(transport->options, url, why)) {
		status = NATS_INVALID_ARG;
		goto fail;
	}
	status = natsConnection_Connect(&transport->connection, transport->options);
	if (!status)
		status = subscribe(transport);
	if (!status) {
		*result = transport;
		return 0;
	}
	nats_explain(status, "cannot connect", why);
	if (status == NATS_NO_SERVER)
		explain_hosts(url, why);
	/* With TLS 1.3, the client's handshake ends before the server verifies it. */
	if ((status == NATS_PROTOCOL_ERROR && strstr(why, "got ''")) ||
	    (status == NATS_IO_ERROR && strstr(why, "SSL_")))
		snprintf(why, TRANSPORT_WHY_MAX, "cannot connect: the server closed the "
			 "connection; perhaps it requires another certificate: NATS_CERT");
fail:
	nats_close(transport);
	return status == NATS_NO_SERVER || status == NATS_TIMEOUT || status == NATS_IO_ERROR ?
	       -EAGAIN : -EACCES;
}

static enum transport_state nats_state(struct transport *transport)
{
	switch (natsConnection_Status(transport->connection)) {
	case NATS_CONN_STATUS_CONNECTED:
		return TRANSPORT_CONNECTED;
	case NATS_CONN_STATUS_CLOSED:
		return TRANSPORT_CLOSED;
	default:
		return TRANSPORT_DISCONNECTED;
	}
}

/* ------------------------------------------------------------------------
 * Messages
 */

void nats_limits(const jsStreamInfo *info, struct transport_limits *limits)
{
	const jsStreamConfig *config = info->Config;

	*limits = (struct transport_limits){ .replicas = 1 };
	if (!config)
		return;
	limits->replicas = (unsigned int)config->Replicas;
	limits->max_age = config->MaxAge > 0 ? config->MaxAge : 0;
	limits->max_bytes = config->MaxBytes > 0 ? (uint64_t)config->MaxBytes : 0;
}

/* Does the server refuse what was asked for, instead of not being ready yet? */
static bool is_final(jsErrCode error)
{
	return error == JSStreamReplicasNotSupportedErr || error == JSStreamSubjectOverlapErr ||
	       error == JSStorageResourcesExceededErr || error == JSStreamInvalidConfig;
}

static int nats_create(struct transport *transport, const char *stream, const char *subject,
		       const struct transport_limits *limits, struct transport_limits *found,
		       char *why)
{
	jsStreamInfo *info = NULL;
	jsStreamConfig config;
	jsErrCode error = 0;
	natsStatus status;
	bool created = false;
	jsCtx *js = NULL;

	jsStreamConfig_Init(&config);
	config.Name = stream;
	config.Subjects = &subject;
	config.SubjectsLen = 1;
	config.Replicas = limits->replicas;
	config.Storage = js_FileStorage;
	config.MaxAge = limits->max_age;
	if (limits->max_bytes)
		config.MaxBytes = (int64_t)limits->max_bytes;
	/* The servers refuse more than the age of the messages. */
	config.Duplicates = limits->max_age && limits->max_age < DUPLICATES_NS ?
			    limits->max_age : DUPLICATES_NS;
	/* Readers ask any of its servers. */
	config.AllowDirect = true;
	status = natsConnection_JetStream(&js, transport->connection, NULL);
	if (!status && js_GetStreamInfo(&info, js, stream, NULL, &error)) {
		status = js_AddStream(&info, js, &config, NULL, &error);
		created = !status;
	}
	if (status == NATS_TIMEOUT)
		nats_explain_silence(transport, "cannot create the stream", why);
	else if (status)
		nats_explain(status, "cannot create the stream", why);
	else
		nats_limits(info, found);
	jsStreamInfo_Destroy(info);
	jsCtx_Destroy(js);
	return !status ? created : is_final(error) ? -EINVAL : -EAGAIN;
}

static int nats_publish(struct transport *transport, const struct transport_message *message,
			char *why)
{
	char reply[REPLY_MAX], offset[24], previous_size[24];
	natsMsg *msg = NULL;
	natsStatus status;

	snprintf(reply, sizeof(reply), "%s.%" PRIu64, transport->inbox, message->number);
	snprintf(offset, sizeof(offset), "%" PRIu64, message->offset);
	status = natsMsg_Create(&msg, message->subject, reply, message->data, (int)message->size);
	if (!status)
		status = natsMsgHeader_Set(msg, "Nats-Msg-Id", message->id);
	if (!status)
		status = natsMsgHeader_Set(msg, "Elog-File", message->file);
	if (!status)
		status = natsMsgHeader_Set(msg, "Elog-Offset", offset);
	/* With an empty value, readers could not parse the headers. */
	if (!status && *message->previous)
		status = natsMsgHeader_Set(msg, "Elog-Previous", message->previous);
	snprintf(previous_size, sizeof(previous_size), "%" PRIu64, message->previous_size);
	if (!status && strlen(message->previous) > 1)
		status = natsMsgHeader_Set(msg, "Elog-Previous-Size", previous_size);
	if (!status)
		status = natsConnection_PublishMsg(transport->connection, msg);
	natsMsg_Destroy(msg);
	if (status == NATS_MAX_PAYLOAD)
		snprintf(why, TRANSPORT_WHY_MAX, "the server's max_payload must be 512KB or more");
	else if (status == NATS_TIMEOUT || status == NATS_INSUFFICIENT_BUFFER)
		nats_explain_silence(transport, "cannot publish", why);
	else if (status)
		nats_explain(status, "cannot publish", why);
	return status ? -EIO : 0;
}

static void parse_reply(natsMsg *msg, struct transport_reply *reply)
{
	const char *number = strrchr(natsMsg_GetSubject(msg), '.');
	const int size = natsMsg_GetDataLength(msg);
	char text[REPLY_MAX];

	reply->number = number ? strtoull(number + 1, NULL, 10) : UINT64_MAX;
	if (size <= 0) {
		snprintf(reply->why, sizeof(reply->why), "%s", no_stream);
		return;
	}
	snprintf(text, sizeof(text), "%.*s", size < REPLY_MAX ? size : REPLY_MAX - 1,
		 natsMsg_GetData(msg));
	nats_read_reply(text, reply);
}

static bool nats_reply(struct transport *transport, int milliseconds,
		       struct transport_reply *reply)
{
	natsMsg *msg = NULL;
	natsStatus status;

	memset(reply, 0, sizeof(*reply));
	status = natsSubscription_NextMsg(&msg, transport->replies, milliseconds);
	if (!status) {
		parse_reply(msg, reply);
		natsMsg_Destroy(msg);
		return true;
	}
	/* libnats does not return this reply, so its subject is not known. */
	if (status == NATS_NO_RESPONDERS) {
		reply->number = UINT64_MAX;
		snprintf(reply->why, sizeof(reply->why), "%s", no_stream);
		return true;
	}
	/* If the connection is closed, libnats does not wait. */
	if (status != NATS_TIMEOUT && milliseconds)
		nats_Sleep(milliseconds);
	return false;
}

const struct transport_ops elog_transport = {
	.version = TRANSPORT_VERSION,
	.open = nats_open,
	.close = nats_close,
	.state = nats_state,
	.take_error = nats_take_error,
	.create = nats_create,
	.publish = nats_publish,
	.reply = nats_reply,
	.info = nats_info,
	.subjects = nats_subjects,
	.headers = nats_headers,
	.get = nats_get,
	.got = nats_got,
	.release = nats_release,
};
