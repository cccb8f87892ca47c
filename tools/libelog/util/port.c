// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Calls on a connection to an engine, which are messages: see port.h and call.h.
 *
 * Each call makes a socket for its reply, so threads and children use a connection at the same
 * time without a lock. Signals are blocked meanwhile: a handler that does not return would leave
 * the socket open. Only system calls, and none that is a cancellation point.
 *
 * The kernel marks no end of a mapping here: who unmaps a ring that goes on must say so, and
 * children of fork() do not inherit mappings.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "util/call.h"
#include "util/own_file.h"
#include "util/port.h"
#include "util/util.h"

#define FILES_MAX	(8 * sizeof(elog_port_engines))
/* An engine answers at once, unless it was stopped or has no CPU. A program goes on soon. */
#define ANSWER_S	1
#define PATIENT_S	60
/* The limit of a connection that has no use any more, because an answer did not come. */
#define GIVEN_UP_S	7
/* A thread that waits asks again so often: another one may have taken what woke both. */
#define ASK_MS		100
#define POLLS_MAX	16

unsigned char elog_port_engines[8192];		/* atomic */

/**
 * struct message - a call
 * @call: its head
 * @pieces: the memory that it may read or write
 * @parts: what is sent, from where it is; the first two are for the heads
 * @count: elements of @parts
 * @own: what @parts is, mostly
 * @padding: gets what is between the pieces of a reply
 */
struct message {
	struct call call;
	struct piece pieces[CALL_PIECES_MAX];
	struct iovec *parts;
	unsigned int count;
	struct iovec own[2 + 2 * CALL_PIECES_MAX];
	char padding[8];
};

/* What a file takes in a message. */
union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static const char zeros[8];

/* ------------------------------------------------------------------------
 * Building a message
 */

static size_t peek(void *to, uint64_t address, size_t bytes)
{
	memcpy(to, (const void *)(uintptr_t)address, bytes);
	return bytes;
}

static void message_begin(struct message *message, enum call_kind kind)
{
	message->call = (struct call){ .kind = kind, .tid = (uint32_t)syscall(SYS_gettid) };
	prctl(PR_GET_NAME, message->call.comm);
	message->parts = message->own;
	message->count = 2;
}

static void put_part(struct message *message, const void *data, size_t bytes)
{
	message->parts[message->count++] = (struct iovec){ (void *)data, bytes };
}

static void message_add(struct message *message, uint64_t address, size_t bytes, uint32_t flags)
{
	if (!address || !bytes || message->call.pieces == CALL_PIECES_MAX)
		return;
	if (flags & PIECE_IN) {
		put_part(message, (const void *)(uintptr_t)address, bytes);
		put_part(message, zeros, call_padded(bytes) - bytes);
	}
	message->pieces[message->call.pieces++] = (struct piece){ address, (uint32_t)bytes, flags };
}

static void message_add_string(struct message *message, uint64_t address, size_t most)
{
	const size_t length = address ? strnlen((const char *)(uintptr_t)address, most) : 0;

	message_add(message, address, length < most ? length + 1 : most, PIECE_IN);
}

#include "util/call_request.h"

/* ------------------------------------------------------------------------
 * Sending it
 */

/* The connection keeps the limit for answers, which come on other sockets. */
static void set_limit(int fd, int seconds)
{
	const struct timeval limit = { .tv_sec = seconds };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

static struct timeval limit_of(int fd)
{
	struct timeval limit = { .tv_sec = ANSWER_S };
	socklen_t size = sizeof(limit);

	getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, &size);
	return limit;
}

/*
 * @answer: the socket for the reply; -1: there is none, and who sends does not wait for room
 *
 * Return: 0 or a negative errno: -EAGAIN: the engine does not answer.
 */
static int send_message(int fd, struct message *message, int answer)
{
	union control control = { .head = {
		.cmsg_len = CMSG_LEN(sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	} };
	struct msghdr head = {
		.msg_iov = message->parts, .msg_iovlen = message->count,
		.msg_control = control.bytes,
		.msg_controllen = answer < 0 ? 0 : sizeof(control.bytes),
	};
	const int flags = MSG_NOSIGNAL | (answer < 0 ? MSG_DONTWAIT : 0);
	long ret;

	message->parts[0] = (struct iovec){ &message->call, sizeof(message->call) };
	message->parts[1] = (struct iovec){
		message->pieces, message->call.pieces * sizeof(*message->pieces),
	};
	memcpy(CMSG_DATA(&control.head), &answer, sizeof(answer));
	do
		ret = syscall(SYS_sendmsg, fd, &head, flags);
	while (ret < 0 && errno == EINTR);
	if (ret >= 0)
		return 0;
	if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN)
		return elog_engine_stopped(fd) ? -EAGAIN : -ENODEV;
	return -errno;
}

/*
 * Where the bytes of the reply go: to pieces that the caller has given for them.
 *
 * Return: false: the engine names others.
 */
static bool place_pieces(struct message *message, const struct piece *heads, uint32_t count)
{
	uint32_t i, j;

	message->count = 2;
	for (i = 0; i < count; i++) {
		const struct piece *given = message->pieces;

		for (j = 0; j < message->call.pieces; j++, given++)
			if (given->flags & PIECE_OUT && given->address == heads[i].address &&
			    heads[i].bytes <= given->bytes)
				break;
		if (j == message->call.pieces)
			return false;
		put_part(message, (void *)(uintptr_t)heads[i].address, heads[i].bytes);
		put_part(message, message->padding, call_padded(heads[i].bytes) - heads[i].bytes);
	}
	return true;
}

/* Return: bytes, or a negative errno. */
static ssize_t receive(int from, struct msghdr *head, int flags)
{
	ssize_t bytes;

	/* Signals are blocked, but a debugger, or SIGSTOP, interrupts it as well. */
	do
		bytes = syscall(SYS_recvmsg, from, head, flags | MSG_CMSG_CLOEXEC);
	while (bytes < 0 && errno == EINTR);
	if (bytes > 0)
		return bytes;
	return bytes < 0 && errno == EAGAIN ? -ETIMEDOUT : -ENODEV;
}

/* First the heads, which say where the rest goes. Return: 0 or a negative errno. */
static int receive_reply(int from, struct message *message, struct reply *reply, int *file)
{
	struct piece heads[CALL_PIECES_MAX];
	union control control = { 0 };
	struct msghdr head = { .msg_iov = message->parts, .msg_iovlen = 2 };
	ssize_t bytes;

	message->parts[0] = (struct iovec){ reply, sizeof(*reply) };
	message->parts[1] = (struct iovec){ heads, sizeof(heads) };
	bytes = receive(from, &head, MSG_PEEK);
	if (bytes < 0)
		return (int)bytes;
	if (bytes < (ssize_t)sizeof(*reply) || reply->pieces > message->call.pieces ||
	    bytes < (ssize_t)(sizeof(*reply) + reply->pieces * sizeof(*heads)) ||
	    !place_pieces(message, heads, reply->pieces))
		return -EPROTO;
	message->parts[1].iov_len = reply->pieces * sizeof(*heads);
	head = (struct msghdr){
		.msg_iov = message->parts, .msg_iovlen = message->count,
		.msg_control = control.bytes, .msg_controllen = sizeof(control.bytes),
	};
	bytes = receive(from, &head, 0);
	if (bytes < 0)
		return (int)bytes;
	if (head.msg_controllen >= sizeof(control.head))
		memcpy(file, CMSG_DATA(&control.head), sizeof(*file));
	return 0;
}

static int exchange(int fd, struct message *message, struct reply *reply, int *file)
{
	const struct timeval limit = limit_of(fd);
	int pair[2], ret;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	/* What the program writes to its standard streams must not come here. */
	pair[0] = elog_file_raise(pair[0]);
	pair[1] = elog_file_raise(pair[1]);
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	ret = send_message(fd, message, pair[1]);
	/* If the engine ends, the last copy is gone. */
	syscall(SYS_close, pair[1]);
	if (!ret)
		ret = receive_reply(pair[0], message, reply, file);
	syscall(SYS_close, pair[0]);
	/* The next calls do not wait for it again. It finds what was sent when it goes on. */
	if (ret == -ETIMEDOUT || ret == -EAGAIN) {
		set_limit(fd, GIVEN_UP_S);
		shutdown(fd, SHUT_RDWR);
	}
	return ret;
}

/*
 * @reply: set, if it is not NULL
 * @file: set to the file that came with it, or -1; NULL: it is closed
 *
 * Return: the result of the call, or a negative errno: -ENODEV: the engine has ended, -ETIMEDOUT:
 * it has the message, but does not answer; -EAGAIN: it does not answer, and has no message.
 */
static int64_t make_call(int fd, struct message *message, struct reply *reply, int *file)
{
	struct reply own = { 0 };
	sigset_t all, before;
	int passed = -1, ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = exchange(fd, message, &own, &passed);
	if (file)
		*file = elog_file_raise(passed);
	else if (passed >= 0)
		syscall(SYS_close, passed);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (reply)
		*reply = own;
	return ret ? ret : own.result;
}

/* Return: as a system call. */
static ssize_t finish(int64_t result)
{
	if (result >= 0)
		return (ssize_t)result;
	errno = (int)-result;
	return -1;
}

/* ------------------------------------------------------------------------
 * Calls
 */

bool elog_engine_is(int fd)
{
	socklen_t size = sizeof(int);
	int type;

	/* The program may have closed it, and use the number for another file. */
	return elog_port_maybe(fd) && !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) &&
	       type == SOCK_SEQPACKET;
}

void elog_engine_forget(int fd)
{
	__atomic_fetch_and(&elog_port_engines[fd / 8], (unsigned char)~(1U << fd % 8),
			   __ATOMIC_RELAXED);
}

bool elog_engine_remember(int fd)
{
	if (fd >= (int)FILES_MAX)
		return false;
	__atomic_fetch_or(&elog_port_engines[fd / 8], (unsigned char)(1U << fd % 8),
			  __ATOMIC_RELAXED);
	return true;
}

int elog_engine_take(int fd)
{
	struct message message;

	if (!elog_engine_remember(fd))
		return -EMFILE;
	set_limit(fd, ANSWER_S);
	message_begin(&message, CALL_OPEN);
	message.call.arguments[0] = O_RDWR;
	return (int)make_call(fd, &message, NULL, NULL);
}

void elog_engine_patient(int fd)
{
	set_limit(fd, PATIENT_S);
}

int elog_engine_call(int fd, unsigned int request, void *argument)
{
	struct message message;

	message_begin(&message, CALL_IOCTL);
	message.call.arguments[0] = request;
	message.call.arguments[1] = (uintptr_t)argument;
	call_add_request(&message, request, (uintptr_t)argument);
	return (int)make_call(fd, &message, NULL, NULL);
}

ssize_t elog_engine_writev(int fd, const struct iovec *parts, unsigned int count)
{
	const size_t room = (count + 3) * sizeof(*parts);
	const bool many = room > sizeof(((struct message *)NULL)->own);
	struct message message;
	size_t bytes = 0;
	unsigned int i;
	ssize_t ret;

	message_begin(&message, CALL_WRITE);
	if (many)
		message.parts = mmap(NULL, room, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (message.parts == MAP_FAILED)
		return -1;
	for (i = 0; i < count; i++) {
		put_part(&message, parts[i].iov_base, parts[i].iov_len);
		bytes += parts[i].iov_len;
	}
	/* All parts are one piece; where it would be does not matter. */
	put_part(&message, zeros, call_padded(bytes) - bytes);
	message.pieces[0] = (struct piece){ 0, (uint32_t)bytes, PIECE_IN };
	message.call.pieces = 1;
	message.call.arguments[0] = bytes;
	ret = finish(bytes > CALL_BYTES_MAX ? -EMSGSIZE :
		     make_call(fd, &message, NULL, NULL));
	if (many)
		munmap(message.parts, room);
	return ret;
}

void elog_engine_send(int fd, const void *data, size_t size)
{
	struct message message;

	message_begin(&message, CALL_WRITE);
	message_add(&message, (uintptr_t)data, size, PIECE_IN);
	message.call.arguments[0] = size;
	message.call.arguments[1] = true;
	send_message(fd, &message, -1);
}

ssize_t elog_engine_read(int fd, void *to, size_t bytes)
{
	struct message message;

	bytes = call_at_most(bytes, CALL_BUFFER_MAX);
	message_begin(&message, CALL_READ);
	message.call.arguments[0] = (uintptr_t)to;
	message.call.arguments[1] = bytes;
	message_add(&message, (uintptr_t)to, bytes, PIECE_OUT);
	return finish(make_call(fd, &message, NULL, NULL));
}

void *elog_engine_map(void *at, size_t length, int protection, int fd, uint64_t offset)
{
	struct message message;
	struct reply reply;
	int64_t ret;
	void *address;
	int file;

	message_begin(&message, CALL_MAP);
	message.call.arguments[0] = offset;
	message.call.arguments[1] = length;
	message.call.arguments[2] = (uint64_t)protection;
	message.call.arguments[3] = true;
	ret = make_call(fd, &message, &reply, &file);
	if (ret || file < 0) {
		errno = ret ? (int)-ret : EIO;
		return MAP_FAILED;
	}
	address = mmap(at, length, protection, MAP_SHARED | (at ? MAP_FIXED : 0), file,
		       (off_t)reply.value);
	syscall(SYS_close, file);
	if (address == MAP_FAILED)
		return address;
	madvise(address, length, MADV_DONTFORK);
	madvise(address, length, MADV_DONTDUMP);
	return address;
}

void elog_engine_unmapped(int fd, uint64_t offset)
{
	struct message message;

	message_begin(&message, CALL_UNMAP);
	message.call.arguments[1] = offset;
	make_call(fd, &message, NULL, NULL);
}

/* ------------------------------------------------------------------------
 * Waiting
 */

/* Not poll(), which is a cancellation point. */
bool elog_engine_gone(int fd)
{
	const struct timespec none = { 0 };
	struct pollfd file = { .fd = fd };

	return syscall(SYS_ppoll, &file, 1, &none, NULL, 0) > 0;
}

bool elog_engine_stopped(int fd)
{
	return limit_of(fd).tv_sec == GIVEN_UP_S;
}

/*
 * Asks the engine what it finds for a file, and has it tell on another file if that is nothing.
 *
 * @wait: set to that file; -1: do not wait
 */
static short ask(const struct pollfd *file, bool waits, int *wait)
{
	struct message message;
	struct reply reply;

	message_begin(&message, CALL_POLL);
	message.call.arguments[0] = (unsigned short)file->events;
	message.call.arguments[1] = !waits;
	switch (make_call(file->fd, &message, &reply, wait)) {
	case 0:
		return (short)reply.value;
	case -EMFILE:
	case -ENFILE:
	case -ENOBUFS:
	case -ENOMEM:
		/* Ask again. */
		return 0;
	default:
		return POLLHUP;
	}
}

/* One round. Return: as poll(2); what the program's own files have is in the last of @waits. */
static int wait_once(struct pollfd *files, nfds_t count, const struct timespec *limit,
		     const sigset_t *mask, bool waits)
{
	struct pollfd polls[2 * POLLS_MAX];
	nfds_t i, all = count;
	int found = 0, ret;

	for (i = 0; i < count; i++) {
		polls[i] = files[i];
		files[i].revents = 0;
		if (!elog_engine_is(files[i].fd))
			continue;
		/* Its end, and what the engine tells. */
		polls[all++] = (struct pollfd){ .fd = files[i].fd };
		polls[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
		files[i].revents = ask(&files[i], waits, &polls[i].fd);
		found += files[i].revents != 0;
	}
	ret = ppoll(polls, all, found ? &(struct timespec){ 0 } : limit, mask);
	for (i = 0; i < count; i++) {
		if (elog_engine_is(files[i].fd)) {
			if (polls[i].fd >= 0)
				close(polls[i].fd);
		} else if (ret > 0) {
			files[i].revents = polls[i].revents;
			found += polls[i].revents != 0;
		}
	}
	return ret < 0 ? ret : found;
}

int elog_engine_poll(struct pollfd *files, nfds_t count, int milliseconds, const sigset_t *mask)
{
	const uint64_t begin = elog_clock_read(CLOCK_MONOTONIC) / 1000000;
	struct timespec limit;
	int64_t left;
	int ret;

	if (count > POLLS_MAX) {
		errno = EINVAL;
		return -1;
	}
	for (;;) {
		left = ASK_MS;
		if (milliseconds >= 0)
			left = milliseconds - (int64_t)(elog_clock_read(CLOCK_MONOTONIC) / 1000000 -
							begin);
		left = left < 0 ? 0 : left > ASK_MS ? ASK_MS : left;
		limit = (struct timespec){ .tv_nsec = left * 1000000 };
		ret = wait_once(files, count, &limit, mask, milliseconds != 0);
		if (ret || !left)
			return ret;
	}
}
