// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine: serves the device on a socket, see util/call.h. One thread: a call runs to its end;
 * then what is due runs, the drain of rings among others; then those who wait are woken up.
 *
 * A connection is an open file of the module. Its end is that of the file and of its mappings,
 * whatever the cause: so the rings of a program that was killed are drained to their end. A
 * process that ends while another one has its connection has no mappings any more. Before each
 * call the engine looks for ends, so calls that follow close(2) and wait(2) find their effect.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "kernel/klinux.h"
#include "user/file.h"
#include "caller.h"
#include "glue.h"
#include "processes.h"
#include "server.h"
#include "util/call.h"

/**
 * struct mapping - a mapping of a program
 * @node: in the connection's list
 * @vma: as the module knows it
 * @number: for CALL_UNMAP
 */
struct mapping {
	struct list_head node;
	struct vm_area_struct vma;
	u32 number;
};

/**
 * struct connection - an open file
 * @node: in the list of all
 * @fd: the socket
 * @event: eventfd, on which the client waits
 * @waits: the last CALL_POLL has found nothing of this: count @event up when there is something
 * @file: as the module knows it
 * @cred: of the process that has connected
 * @mappings: struct mapping
 * @mapping_number: of the newest one
 * @subscribes: it has subscribed
 * @keeps: the engine does not end while it is there: it subscribes, or has not registered an event
 */
struct connection {
	struct list_head node;
	int fd;
	int event;
	unsigned int waits;
	struct file file;
	struct cred cred;
	struct list_head mappings;
	u32 mapping_number;
	bool subscribes;
	bool keeps;
};

/* What @ends tells of: a connection or, with this bit, a process. */
#define IS_PROCESS 1UL

static LIST_HEAD(connections);
/* Tells of connections that can be served, of the listener (NULL), and of @ends (&ends). */
static int ready;
/* Tells of connections and processes that have ended. */
static int ends;
/* Whose message is served next; NULL: it has ended meanwhile. */
static struct connection *served;
static bool woken;
/* Signals come only while the engine waits, with this mask. */
static sigset_t open_signals;
static int listening = -1;
static int spare = -1;	/* closed to take a connection when there are no more files */
/* How many connections keep the engine, and since when none does. */
static unsigned int keepers;
static u64 unused_since;
static volatile sig_atomic_t over;

static struct inode inode;

void klinux_wake(void)
{
	woken = true;
}

static bool watch(int epoll, int fd, unsigned int events, void *what)
{
	struct epoll_event event = { .events = events, .data.ptr = what };

	return !epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static bool watch_process(int fd, struct process *process)
{
	return watch(ends, fd, EPOLLIN, (void *)((uintptr_t)process | IS_PROCESS));
}

/* ---- mappings ---- */

static void unmap(struct mapping *mapping)
{
	if (mapping->vma.vm_ops && mapping->vma.vm_ops->close)
		mapping->vma.vm_ops->close(&mapping->vma);
	list_del(&mapping->node);
	free(mapping);
}

/* Of one process, or of all that have the connection. */
static void unmap_all(struct connection *connection, const struct mm_struct *mm)
{
	struct mapping *mapping, *following;

	list_for_each_entry_safe(mapping, following, &connection->mappings, node)
		if (!mm || mapping->vma.vm_mm == mm)
			unmap(mapping);
}

static void unmap_process(const struct mm_struct *mm)
{
	struct connection *connection;

	list_for_each_entry(connection, &connections, node)
		unmap_all(connection, mm);
}

static unsigned long map_flags(const struct call *call)
{
	const u64 protection = call->arguments[2];

	return (protection & PROT_READ ? VM_READ : 0) | (protection & PROT_WRITE ? VM_WRITE : 0) |
	       (protection & PROT_EXEC ? VM_EXEC : 0) | (call->arguments[3] ? VM_SHARED : 0) |
	       VM_MAYWRITE | VM_MAYEXEC;
}

static s64 do_map(struct connection *connection, const struct call *call, struct reply *reply,
		  int *fd)
{
	const u64 offset = call->arguments[0], bytes = PAGE_ALIGN(call->arguments[1]);
	struct mapping *mapping;
	int ret;

	if (offset % PAGE_SIZE || !bytes || bytes > S64_MAX)
		return -EINVAL;
	mapping = calloc(1, sizeof(*mapping));
	if (!mapping)
		return -ENOMEM;
	mapping->vma = (struct vm_area_struct){
		.vm_end = bytes,
		.vm_pgoff = offset >> PAGE_SHIFT,
		.vm_flags = map_flags(call),
		.vm_mm = current->mm,
		.fd = -1,
	};
	ret = eventlog_file_operations.mmap(&connection->file, &mapping->vma);
	if (ret) {
		free(mapping);
		return ret;
	}
	mapping->number = ++connection->mapping_number;
	list_add(&mapping->node, &connection->mappings);
	*fd = mapping->vma.fd;
	reply->value = mapping->vma.fd_offset;
	reply->number = mapping->number;
	return 0;
}

static s64 do_unmap(struct connection *connection, const struct call *call)
{
	struct mapping *mapping;

	list_for_each_entry(mapping, &connection->mappings, node) {
		if (call->arguments[0] ? mapping->number == call->arguments[0] :
		    mapping->vma.vm_mm == current->mm &&
		    mapping->vma.vm_pgoff == call->arguments[1] >> PAGE_SHIFT) {
			unmap(mapping);
			return 0;
		}
	}
	return -EINVAL;
}

/* ---- the end of the engine ---- */

static void set_keeps(struct connection *connection, bool keeps)
{
	keepers += (unsigned int)keeps - (unsigned int)connection->keeps;
	connection->keeps = keeps;
	if (!keepers)
		unused_since = ktime_get_ns();
}

/* ---- calls ---- */

/* The rights of a file are those of the process that has connected. */
static bool set_rights(struct connection *connection)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	if (getsockopt(connection->fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes))
		return false;
	connection->cred = (struct cred){
		.euid = { peer.uid },
		.user_ns = &init_user_ns,
		.cap_effective = processes_capabilities(peer.pid, peer.uid),
	};
	return true;
}

static s64 do_open(struct connection *connection, const struct call *call)
{
	const u64 access = call->arguments[0] & O_ACCMODE;

	if (connection->file.private_data)
		return -EBUSY;
	if (!set_rights(connection))
		return -EPERM;
	connection->file.f_cred = &connection->cred;
	connection->file.f_mode = (access != O_WRONLY ? FMODE_READ : 0) |
				  (access != O_RDONLY ? FMODE_WRITE : 0);
	return eventlog_file_operations.open(&inode, &connection->file);
}

static s64 do_write(struct connection *connection, const struct call *call)
{
	const struct caller_piece *message = caller_first();
	struct kiocb kiocb = { .ki_filp = &connection->file };
	struct iov_iter iter = { .size = call->arguments[0] };

	if (!(connection->file.f_mode & FMODE_WRITE))
		return -EBADF;
	if (iter.size > MAX_RW_COUNT)
		return -EINVAL;
	if (message) {
		iter.data = message->data;
		iter.readable = min(iter.size, (size_t)message->head.bytes);
	}
	return eventlog_file_operations.write_iter(&kiocb, &iter);
}

static s64 do_read(struct connection *connection, const struct call *call)
{
	loff_t offset = (loff_t)call->arguments[3];

	if (!(connection->file.f_mode & FMODE_READ))
		return -EBADF;
	return eventlog_file_operations.read(&connection->file,
					     u64_to_user_ptr(call->arguments[0]),
					     call->arguments[1], call->arguments[2] ?
					     &offset : &connection->file.f_pos);
}

static s64 do_seek(struct connection *connection, const struct call *call, struct reply *reply)
{
	const loff_t ret = eventlog_file_operations.llseek(&connection->file,
							   (loff_t)call->arguments[0],
							   (int)call->arguments[1]);

	reply->value = ret < 0 ? 0 : (u64)ret;
	return ret < 0 ? ret : 0;
}

static unsigned int poll_file(struct connection *connection)
{
	struct poll_table_struct table;

	return eventlog_file_operations.poll(&connection->file, &table);
}

/* The event stays up until a call finds nothing: all who wait for it wake up, and ask. */
static unsigned int do_poll(struct connection *connection, const struct call *call, int *fd)
{
	const unsigned int wanted = (unsigned int)call->arguments[0] | EPOLLERR | EPOLLHUP;
	const unsigned int found = poll_file(connection) & wanted;
	u64 count;

	if (found || call->arguments[1])
		return found;
	*fd = connection->event;
	while (read(connection->event, &count, sizeof(count)) > 0)
		;
	connection->waits |= wanted;
	return 0;
}

static s64 do_ioctl(struct connection *connection, const struct call *call)
{
	const unsigned int request = (unsigned int)call->arguments[0];
	const s64 ret = eventlog_file_operations.unlocked_ioctl(&connection->file, request,
								call->arguments[1]);

	if (!ret && request == EVENTLOG_IOC_SUBSCRIBE)
		connection->subscribes = true;
	if (!ret && (request == EVENTLOG_IOC_SUBSCRIBE || request == EVENTLOG_IOC_REGISTER))
		set_keeps(connection, connection->subscribes);
	return ret;
}

static s64 do_call(struct connection *connection, const struct call *call, struct reply *reply,
		   int *fd)
{
	if (call->kind == CALL_OPEN) {
		*fd = connection->event;
		return do_open(connection, call);
	}
	if (!connection->file.private_data)
		return -EBADF;
	switch (call->kind) {
	case CALL_IOCTL:
		return do_ioctl(connection, call);
	case CALL_WRITE:
		return do_write(connection, call);
	case CALL_READ:
		return do_read(connection, call);
	case CALL_SEEK:
		return do_seek(connection, call, reply);
	case CALL_MAP:
		return do_map(connection, call, reply, fd);
	case CALL_UNMAP:
		return do_unmap(connection, call);
	case CALL_POLL:
		reply->value = do_poll(connection, call, fd);
		return 0;
	default:
		return -EPROTO;
	}
}

loff_t no_seek_end_llseek(struct file *filp, loff_t offset, int whence)
{
	if (whence == SEEK_CUR)
		offset += filp->f_pos;
	else if (whence != SEEK_SET)
		return -EINVAL;
	if (offset < 0)
		return -EINVAL;
	filp->f_pos = offset;
	return offset;
}

/* ---- messages ---- */

/* What comes with a message. */
union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
};

/* Sets the sender; returns the socket for the reply, or -1. */
static int take_control(struct msghdr *message, struct ucred *sender)
{
	struct cmsghdr *item;
	int fd, found = -1;
	size_t i;

	for (item = CMSG_FIRSTHDR(message); item; item = CMSG_NXTHDR(message, item)) {
		if (item->cmsg_level != SOL_SOCKET)
			continue;
		if (item->cmsg_type == SCM_CREDENTIALS)
			memcpy(sender, CMSG_DATA(item), sizeof(*sender));
		if (item->cmsg_type != SCM_RIGHTS)
			continue;
		/* The kernel has closed those for which there is no room. */
		for (i = 0; (i + 1) * sizeof(fd) <= item->cmsg_len - CMSG_LEN(0); i++) {
			memcpy(&fd, CMSG_DATA(item) + i * sizeof(fd), sizeof(fd));
			if (found >= 0)
				close(found);
			found = fd;
		}
	}
	return found;
}

static void answer(int to, struct reply *reply, int fd)
{
	struct piece heads[CALL_PIECES_MAX];
	struct iovec parts[2 + 2 * CALL_PIECES_MAX];
	union control control = { 0 };
	struct msghdr message = { .msg_iov = parts };

	reply->pieces = caller_written(heads, parts + 2);
	parts[0] = (struct iovec){ reply, sizeof(*reply) };
	parts[1] = (struct iovec){ heads, reply->pieces * sizeof(*heads) };
	message.msg_iovlen = 2 + 2 * (size_t)reply->pieces;
	if (fd >= 0 && reply->result >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(sizeof(fd));
		control.head.cmsg_len = CMSG_LEN(sizeof(fd));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	}
	/* Who does not take its reply harms only itself. */
	sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Return: false: there is no message: the connection has ended. */
static bool serve(struct connection *connection)
{
	static u8 bytes[CALL_PIECES_MAX * sizeof(struct piece) + 2 * CALL_BYTES_MAX]
		__attribute__((aligned(8)));
	struct iovec part = { bytes, sizeof(bytes) };
	union control control;
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = control.bytes, .msg_controllen = sizeof(control.bytes),
	};
	struct ucred sender = { 0 };
	struct reply reply = { 0 };
	const struct call *call;
	int to, fd = -1;
	ssize_t size;

	size = recvmsg(connection->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (size <= 0)
		return size < 0 && errno == EINTR;
	to = take_control(&message, &sender);
	call = message.msg_flags & MSG_TRUNC ? NULL : caller_begin(bytes, (size_t)size);
	if (!call) {
		reply.result = -EPROTO;
	} else if (!processes_enter(sender.pid, (pid_t)call->tid, call->comm)) {
		reply.result = -ESRCH;
	} else {
		reply.serial = call->serial;
		reply.result = do_call(connection, call, &reply, &fd);
		processes_leave();
	}
	if (!call || call->kind != CALL_WRITE || !call->arguments[1])
		answer(to >= 0 ? to : connection->fd, &reply, fd);
	if (to >= 0)
		close(to);
	klinux_settle();
	return true;
}

/* ---- connections ---- */

static void end_connection(struct connection *connection)
{
	if (connection == served)
		served = NULL;
	set_keeps(connection, false);
	unmap_all(connection, NULL);
	if (connection->file.private_data)
		eventlog_file_operations.release(&inode, &connection->file);
	list_del(&connection->node);
	close(connection->fd);
	close(connection->event);
	free(connection);
	klinux_settle();
}

/* Return: false: no one has connected. */
static bool welcome(void)
{
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct connection *connection;

	if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
		/* Otherwise the socket would stay ready. */
		close(spare);
		fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0)
			close(fd);
		spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
		return fd >= 0;
	}
	if (fd < 0)
		return false;
	connection = calloc(1, sizeof(*connection));
	if (!connection)
		goto close_socket;
	connection->fd = fd;
	INIT_LIST_HEAD(&connection->mappings);
	connection->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (connection->event < 0)
		goto free_connection;
	if (!watch(ready, fd, EPOLLIN, connection) ||
	    !watch(ends, fd, EPOLLRDHUP, connection))
		goto close_event;
	list_add(&connection->node, &connections);
	set_keeps(connection, true);
	return true;

close_event:
	close(connection->event);
free_connection:
	free(connection);
close_socket:
	close(fd);
	return true;
}

/* Tells those whose CALL_POLL has found nothing. */
static void tell(void)
{
	const u64 one = 1;
	struct connection *connection;

	woken = false;
	list_for_each_entry(connection, &connections, node) {
		if (connection->waits && poll_file(connection) & connection->waits) {
			connection->waits = 0;
			(void)!write(connection->event, &one, sizeof(one));
		}
	}
}

static void look_for_ends(void)
{
	struct epoll_event event;

	while (epoll_wait(ends, &event, 1, 0) > 0) {
		const uintptr_t what = (uintptr_t)event.data.ptr;

		if (what & IS_PROCESS) {
			processes_ended((void *)(what & ~IS_PROCESS), unmap_process);
			klinux_settle();
			continue;
		}
		/* What it has sent before. */
		while (serve(event.data.ptr))
			;
		end_connection(event.data.ptr);
	}
}

static void look(void *what)
{
	if (!what) {
		welcome();
		return;
	}
	served = what == &ends ? NULL : what;
	look_for_ends();
	if (served && !serve(served))
		end_connection(served);
}

/* ---- the process ---- */

static void end(int signal)
{
	over = 1;
}

static void catch_signals(void)
{
	const struct sigaction action = { .sa_handler = end };
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, &open_signals);
	sigdelset(&open_signals, SIGINT);
	sigdelset(&open_signals, SIGTERM);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static void allow_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

int server_listen(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int on = 1;
	int fd, error;

	if (strscpy(address.sun_path, path, sizeof(address.sun_path)) < 0)
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* Connections inherit it: no message comes without the sender's credentials. */
	if (!setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) &&
	    !bind(fd, (struct sockaddr *)&address, sizeof(address)) && !listen(fd, SOMAXCONN) &&
	    watch(ready, fd, EPOLLIN, NULL)) {
		listening = fd;
		return 0;
	}
	error = errno;
	close(fd);
	return -error;
}

bool server_stop_listening(void)
{
	while (welcome())
		;
	close(listening);
	listening = -1;
	return !keepers;
}

/* Return: milliseconds until the engine has been unused for so long; 0: it has. */
static int unused_left(unsigned int unused_ms)
{
	const u64 unused = (ktime_get_ns() - unused_since) / 1000000;

	return unused < unused_ms ? (int)(unused_ms - unused) : 0;
}

void server_run(unsigned int unused_ms, bool (*may_end)(void))
{
	struct epoll_event event;
	int wait, left;

	unused_since = ktime_get_ns();
	while (!over) {
		wait = klinux_run();
		if (woken)
			tell();
		if (may_end && !keepers) {
			left = unused_left(unused_ms);
			if (!left && may_end())
				break;
			if (!left)
				unused_since = ktime_get_ns();
			wait = min_t(unsigned int, wait, left ? left : unused_ms);
		}
		if (epoll_pwait(ready, &event, 1, wait, &open_signals) > 0)
			look(event.data.ptr);
	}
}

int server_load(void)
{
	catch_signals();
	allow_files();
	ready = epoll_create1(EPOLL_CLOEXEC);
	ends = epoll_create1(EPOLL_CLOEXEC);
	spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (!watch(ready, ends, EPOLLIN, &ends))
		return -errno;
	processes_init(watch_process);
	return engine_load();
}

bool server_unload(void)
{
	struct connection *connection, *following;
	bool well;

	if (listening >= 0)
		close(listening);
	list_for_each_entry_safe(connection, following, &connections, node)
		end_connection(connection);
	well = engine_unload();
	processes_exit();
	return well;
}
