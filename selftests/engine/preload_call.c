// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages to the engine: see preload.h and util/call.h of tools/libelog.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/eventlog.h>

#include "preload.h"
#include "util/call_request.h"

/* ---- building a message ---- */

size_t peek(void *to, uint64_t address, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		const size_t page = 4096 - (address + done) % 4096;
		struct iovec local = {
			(char *)to + done, page < bytes - done ? page : bytes - done,
		};
		struct iovec remote = { (void *)(uintptr_t)(address + done), local.iov_len };

		if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != (ssize_t)local.iov_len)
			break;
		done += local.iov_len;
	}
	return done;
}

void message_begin(struct message *message, enum call_kind kind)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &message->mask);
	message->call = (struct call){ .kind = kind, .tid = (uint32_t)syscall(SYS_gettid) };
	prctl(PR_GET_NAME, message->call.comm);
	message->part_count = 2;
}

void message_add(struct message *message, uint64_t address, size_t bytes, uint32_t flags)
{
	static const char zeros[8];
	const unsigned int i = message->call.pieces;
	char *copy = NULL;

	if (!address || !bytes || i == CALL_PIECES_MAX)
		return;
	copy = malloc(bytes);
	bytes = copy ? peek(copy, address, bytes) : 0;
	if (!bytes) {
		free(copy);
		return;
	}
	if (flags & PIECE_IN) {
		message->parts[message->part_count++] = (struct iovec){ copy, bytes };
		message->parts[message->part_count++] =
			(struct iovec){ (void *)zeros, call_padded(bytes) - bytes };
	}
	message->copies[i] = copy;
	message->pieces[i] = (struct piece){ address, (uint32_t)bytes, flags };
	message->call.pieces++;
}

void message_add_string(struct message *message, uint64_t address, size_t most)
{
	size_t length = 0, some, end;
	char text[256];

	while (address && length < most) {
		some = peek(text, address + length, sizeof(text));
		end = strnlen(text, some);
		length += end;
		if (end < some || some < sizeof(text)) {
			length += end < some;
			break;
		}
	}
	message_add(message, address, length < most ? length : most, PIECE_IN);
}

void message_add_request(struct message *message, unsigned int number, uint64_t address)
{
	const uint32_t most = CALL_BUFFER_MAX;
	const struct eventlog_list *list = NULL;

	call_add_request(message, number, address);
	if (number == EVENTLOG_IOC_LIST && message->call.pieces)
		list = (const void *)message->copies[0];
	/* The caller gets less, as if it had said so. */
	if (list && list->size >= sizeof(*list) && list->buffer_size > most)
		memcpy(message->copies[0] + offsetof(struct eventlog_list, buffer_size), &most,
		       sizeof(most));
}

/* ---- the socket for replies ---- */

#define REPLY_BYTES (2 * CALL_BYTES_MAX)

/**
 * struct channel - what a thread gets replies with
 * @process: its process; 0: there is none
 * @ours: the socket that it reads
 * @theirs: the one that it sends to the engine
 * @reply: room for a reply, REPLY_BYTES
 */
struct channel {
	pid_t process;
	int ours, theirs;
	unsigned char *reply;
};

static __thread struct channel channel;
static pthread_key_t channel_key;
static pthread_once_t channel_once = PTHREAD_ONCE_INIT;

static void close_channel(void *of_thread)
{
	const struct channel *ended = of_thread;

	if (ended->process != getpid())
		return;
	REAL(close)(ended->ours);
	REAL(close)(ended->theirs);
	REAL(munmap)(ended->reply, REPLY_BYTES);
}

static void make_channel_key(void)
{
	pthread_key_create(&channel_key, close_channel);
}

/* A child has the socket of its parent, and needs another one. */
static bool open_channel(void)
{
	unsigned char *reply = channel.reply;
	int pair[2];

	if (channel.process == getpid())
		return true;
	if (!reply)
		reply = REAL(mmap)(NULL, REPLY_BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (reply == MAP_FAILED || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return false;
	if (channel.process) {
		REAL(close)(channel.ours);
		REAL(close)(channel.theirs);
	}
	channel = (struct channel){ getpid(), file_move(pair[0]), file_move(pair[1]), reply };
	pthread_once(&channel_once, make_channel_key);
	pthread_setspecific(channel_key, &channel);
	return true;
}

/* ---- sending ---- */

/* Return: 0 or a negative errno. */
static long send_to(int fd, struct message *message)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr head = {
		.msg_iov = message->parts, .msg_iovlen = message->part_count,
		.msg_control = control.bytes, .msg_controllen = sizeof(control.bytes),
	};
	ssize_t sent;

	message->parts[0] = (struct iovec){ &message->call, sizeof(message->call) };
	message->parts[1] = (struct iovec){
		message->pieces, message->call.pieces * sizeof(*message->pieces),
	};
	control.head.cmsg_len = CMSG_LEN(sizeof(int));
	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	memcpy(CMSG_DATA(&control.head), &channel.theirs, sizeof(int));
	do
		sent = sendmsg(fd, &head, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	if (sent >= 0)
		return 0;
	/* Another thread has closed it. */
	return errno == EBADF || errno == ENOTSOCK ? -EBADF : -ENODEV;
}

/* Return: bytes, or -1: the engine has ended. */
static ssize_t receive(int fd, int *file)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec part = { channel.reply, REPLY_BYTES };
	struct msghdr head = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = control.bytes, .msg_controllen = sizeof(control.bytes),
	};
	struct pollfd files[] = {
		{ .fd = channel.ours, .events = POLLIN },
		{ .fd = fd },
	};
	ssize_t received;

	while (REAL(poll)(files, 2, -1) < 0 && errno == EINTR)
		;
	if (!(files[0].revents & POLLIN))
		return -1;
	received = recvmsg(channel.ours, &head, MSG_CMSG_CLOEXEC);
	if (received >= 0 && CMSG_FIRSTHDR(&head))
		memcpy(file, CMSG_DATA(&control.head), sizeof(int));
	return received;
}

/* Stores what the call has written. Return: false: a piece of memory is not writable. */
static bool store_pieces(const struct reply *reply)
{
	const struct piece *piece = (const void *)(channel.reply + sizeof(*reply));
	const unsigned char *data = (const void *)(piece + reply->pieces);
	bool stored = true;
	uint32_t i;

	for (i = 0; i < reply->pieces; i++, piece++) {
		struct iovec local = { (void *)data, piece->bytes };
		struct iovec remote = { (void *)(uintptr_t)piece->address, piece->bytes };

		if (process_vm_writev(getpid(), &local, 1, &remote, 1, 0) != (ssize_t)piece->bytes)
			stored = false;
		data += call_padded(piece->bytes);
	}
	return stored;
}

static long exchange(struct message *message, int fd, struct reply *reply, int *file)
{
	struct reply head;
	ssize_t received = -1;
	int passed = -1;
	long ret = -ENODEV;
	uint32_t i;

	if (open_channel())
		ret = send_to(fd, message);
	if (!ret)
		received = receive(fd, &passed);
	for (i = 0; i < message->call.pieces; i++)
		free(message->copies[i]);
	if (file)
		*file = passed;
	else if (passed >= 0)
		REAL(close)(passed);
	if (received < (ssize_t)sizeof(head))
		return ret ? ret : -ENODEV;
	memcpy(&head, channel.reply, sizeof(head));
	if (reply)
		*reply = head;
	return store_pieces(&head) ? (long)head.result : -EFAULT;
}

long message_send(struct message *message, int fd, struct reply *reply, int *file)
{
	const long ret = exchange(message, fd, reply, file);

	sigprocmask(SIG_SETMASK, &message->mask, NULL);
	return ret;
}

long finish(long result)
{
	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
}
