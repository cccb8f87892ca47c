// SPDX-License-Identifier: GPL-2.0-only
/*
 * fleet_drain URL DIR - gets what elog ship has sent, for tests: writes each file to
 * DIR/SUBJECT/FILE, where FILE is its id, and prints the counts. Prints each file that has
 * a gap, and fails then. Uses nothing of elog, but the same variables.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <nats/nats.h>

#define FILES_MAX	1024
#define BATCH		64
#define WAIT_MS		3000

struct part {
	unsigned long offset;
	unsigned long end;
};

struct drained {
	char path[512];
	int fd;
	struct part *parts;
	size_t count;
};

static struct drained files[FILES_MAX];
static size_t file_count;
static unsigned long duplicates, late;

static struct drained *find_file(const char *directory, const char *subject, const char *id)
{
	char path[512];
	size_t i;

	snprintf(path, sizeof(path), "%s/%s", directory, subject);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/%s/%s", directory, subject, id);
	for (i = 0; i < file_count; i++)
		if (!strcmp(files[i].path, path))
			return &files[i];
	if (file_count == FILES_MAX)
		return NULL;
	snprintf(files[i].path, sizeof(files[i].path), "%s", path);
	files[i].fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	file_count++;
	return &files[i];
}

/* Return: false if the message is wrong. */
static bool take(const char *directory, natsMsg *msg)
{
	const unsigned long size = (unsigned long)natsMsg_GetDataLength(msg);
	const char *id, *offset_text;
	struct drained *file;
	unsigned long offset;
	struct part *parts;

	if (natsMsgHeader_Get(msg, "Elog-File", &id) ||
	    natsMsgHeader_Get(msg, "Elog-Offset", &offset_text))
		return false;
	file = find_file(directory, natsMsg_GetSubject(msg), id);
	offset = strtoul(offset_text, NULL, 10);
	if (!file || file->fd < 0 ||
	    pwrite(file->fd, natsMsg_GetData(msg), size, (off_t)offset) != (ssize_t)size)
		return false;
	parts = realloc(file->parts, (file->count + 1) * sizeof(*parts));
	if (!parts)
		return false;
	late += file->count && parts[file->count - 1].offset > offset;
	parts[file->count++] = (struct part){ offset, offset + size };
	file->parts = parts;
	return true;
}

static int compare(const void *one, const void *other)
{
	const struct part *first = one, *second = other;

	return first->offset < second->offset ? -1 : first->offset > second->offset;
}

/* Print what is missing. Return: false if something is. */
static bool check_file(struct drained *file)
{
	unsigned long end = 0;
	bool whole = true;
	size_t i;

	qsort(file->parts, file->count, sizeof(*file->parts), compare);
	for (i = 0; i < file->count; i++) {
		if (file->parts[i].offset > end) {
			printf("%s: gap at %lu, %lu bytes\n", file->path, end,
			       file->parts[i].offset - end);
			whole = false;
		}
		duplicates += file->parts[i].offset < end;
		if (file->parts[i].end > end)
			end = file->parts[i].end;
	}
	return whole;
}

/* Get this number of messages. */
static int drain(natsSubscription *subscription, const char *directory, unsigned long expected,
		 unsigned long *got)
{
	jsErrCode error = 0;
	natsMsgList list;
	natsStatus status = NATS_OK;
	bool valid = true;
	int i;

	while (*got < expected) {
		status = natsSubscription_Fetch(&list, subscription, BATCH, WAIT_MS, &error);
		if (status)
			break;
		for (i = 0; i < list.Count; i++) {
			if (!take(directory, list.Msgs[i])) {
				fprintf(stderr, "fleet_drain: cannot store a message: %s\n",
					strerror(errno));
				valid = false;
			}
			natsMsg_Ack(list.Msgs[i], NULL);
			++*got;
		}
		natsMsgList_Destroy(&list);
	}
	if (!status)
		return valid ? 0 : -1;
	fprintf(stderr, "fleet_drain: %s, error %d\n", natsStatus_GetText(status), error);
	return -1;
}

/* All servers of the URL get the scheme. */
static natsStatus set_servers(natsOptions *options, char *url)
{
	static char servers[8][64];
	const char *list[8];
	char *name;
	int count = 0;

	for (name = strtok(url + strlen("nats://"), ","); name && count < 8;
	     name = strtok(NULL, ",")) {
		snprintf(servers[count], sizeof(servers[count]), "nats://%s", name);
		list[count] = servers[count];
		count++;
	}
	return natsOptions_SetServers(options, list, count);
}

static natsStatus connect_to(natsConnection **connection, char *url)
{
	const char *user = getenv("NATS_USER"), *ca = getenv("NATS_CA");
	const char *cert = getenv("NATS_CERT");
	natsOptions *options = NULL;
	natsStatus status;

	status = natsOptions_Create(&options);
	if (!status)
		status = set_servers(options, url);
	if (!status && user)
		status = natsOptions_SetUserInfo(options, user, getenv("NATS_PASSWORD"));
	if (!status && ca)
		status = natsOptions_SetSecure(options, true);
	if (!status && ca)
		status = natsOptions_LoadCATrustedCertificates(options, ca);
	if (!status && cert)
		status = natsOptions_LoadCertificatesChain(options, cert, getenv("NATS_KEY"));
	if (!status)
		status = natsOptions_SetCustomInboxPrefix(options, getenv("NATS_INBOX_PREFIX"));
	if (!status)
		status = natsConnection_Connect(connection, options);
	natsOptions_Destroy(options);
	return status;
}

int main(int count, char **arguments)
{
	natsSubscription *subscription = NULL;
	natsConnection *connection = NULL;
	unsigned long got = 0;
	jsSubOptions options;
	natsStatus status;
	jsStreamInfo *info = NULL;
	jsErrCode error = 0;
	jsCtx *js = NULL;
	bool whole = true;
	size_t i;

	if (count != 3) {
		fputs("usage: fleet_drain URL DIR\n", stderr);
		return 1;
	}
	status = connect_to(&connection, arguments[1]);
	if (!status)
		status = natsConnection_JetStream(&js, connection, NULL);
	if (!status)
		status = js_GetStreamInfo(&info, js, "ELOG", NULL, &error);
	jsSubOptions_Init(&options);
	options.Stream = "ELOG";
	options.Config.AckPolicy = js_AckExplicit;
	if (!status)
		status = js_PullSubscribe(&subscription, js, "elog.>", NULL, NULL, &options, &error);
	if (status) {
		fprintf(stderr, "fleet_drain: %s, error %d\n", natsStatus_GetText(status), error);
		return 1;
	}
	mkdir(arguments[2], 0755);
	if (drain(subscription, arguments[2], info->State.Msgs, &got))
		return 1;
	for (i = 0; i < file_count; i++) {
		whole &= check_file(&files[i]);
		close(files[i].fd);
		free(files[i].parts);
	}
	printf("%lu messages, %zu files, %lu duplicates, %lu late\n", got, file_count, duplicates,
	       late);
	jsStreamInfo_Destroy(info);
	natsSubscription_Destroy(subscription);
	jsCtx_Destroy(js);
	natsConnection_Destroy(connection);
	return whole ? 0 : 1;
}
