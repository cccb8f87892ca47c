// SPDX-License-Identifier: GPL-2.0-only
/*
 * faults.so - makes the nth call of a kind fail, in elog that LD_PRELOAD names it to.
 *
 *	FAULT_KIND	which calls are counted: a name of kinds[]
 *	FAULT_AT	which of them fails: 1 is the first one; 0: none
 *	FAULT_SEEN	instead: a file of places, to which each run adds one. The first call fails
 *			that comes from another place
 *	FAULT_ERRNO	how: a number, or 0: it moves half of the bytes. Calls for eight bytes and
 *			less do not count then: a timer gives all or nothing
 *	FAULT_LOG	gets a line when it has failed: the name of the call, and who has called it
 *
 * Calls of libraries that are not ours do not count, except for those of the network. Calls that
 * the C library makes itself, as fwrite() does, and those by syscall(2) do not come here: of what
 * elog runs, only the messages on stderr and libelog's producers do that. Programs that elog
 * starts are spared.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { NONE, MEMORY, MAP, WRITE, READ, POLL, OPEN, SYNC, TRUNCATE, RENAME, CONNECT, THREAD,
	    IOCTL, SEND, RECEIVE };

static const char *const kinds[] = {
	[MEMORY] = "memory", [MAP] = "map", [WRITE] = "write", [READ] = "read", [POLL] = "poll",
	[OPEN] = "open", [SYNC] = "sync", [TRUNCATE] = "truncate", [RENAME] = "rename",
	[CONNECT] = "connect", [THREAD] = "thread", [IOCTL] = "ioctl", [SEND] = "send",
	[RECEIVE] = "receive",
};

static enum kind counted_kind;
static unsigned long fail_at, calls;	/* calls: atomic */
static bool failed;			/* atomic */
static uint64_t seen[4096];		/* places: hashes of frames */
static size_t seen_count;
static int fault_errno;
static char log_path[256], seen_path[256];

#define FRAMES	12
#define OWN	3		/* the first frames are of this file */
#define DEPTH	3		/* how many callers make a place */

/* The file that an address is in, without its directory. */
static const char *file_of(const void *address, unsigned long *offset)
{
	Dl_info place;
	const char *slash;

	if (!dladdr(address, &place) || !place.dli_fname)
		return "?";
	*offset = (unsigned long)((const char *)address - (const char *)place.dli_fbase);
	slash = strrchr(place.dli_fname, '/');
	return slash ? slash + 1 : place.dli_fname;
}

static bool is_in(const void *address, const char *prefix)
{
	unsigned long offset;

	return !strncmp(file_of(address, &offset), prefix, strlen(prefix));
}

/*
 * Has elog made the call, perhaps by a function of the C library? Otherwise a library has, or the
 * compiler's code that stores at the end what has run: see scripts/coverage.
 */
static bool is_of_elog(void *const *frames, int count)
{
	unsigned long offset;
	int i = OWN;

	while (i < count && (is_in(frames[i], "libc.so") || is_in(frames[i], "ld-linux")))
		i++;
	if (i == count || !strstr(file_of(frames[i], &offset), "elog"))
		return false;
	while (++i < count)
		if (is_in(frames[i], "ld-linux"))
			return false;
	return true;
}

static void append(const char *path, const void *data, size_t size)
{
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND,
				    0600);

	syscall(SYS_write, fd, data, size);
	syscall(SYS_close, fd);
}

/* Has no call come from this place yet? Then it is one that has. */
static bool is_new_place(void *const *frames, int count)
{
	uint64_t place = 0xcbf29ce484222325;
	unsigned long offset;
	const char *file;
	int i, depth = 0;
	size_t k;

	for (i = OWN; i < count && depth < DEPTH; i++) {
		offset = 0;
		file = file_of(frames[i], &offset);
		place = (place ^ offset) * 0x100000001b3;
		depth += strstr(file, "elog") != NULL;
	}
	for (k = 0; k < seen_count; k++)
		if (seen[k] == place)
			return false;
	if (__atomic_exchange_n(&failed, true, __ATOMIC_RELAXED))
		return false;
	append(seen_path, &place, sizeof(place));
	return true;
}

static void say(const char *call, void *const *frames, int count)
{
	unsigned long offset = 0;
	const char *file;
	char line[2048];
	int i, length;

	length = snprintf(line, sizeof(line), "%s", call);
	for (i = OWN; i < count && length < (int)sizeof(line) - 256; i++) {
		file = file_of(frames[i], &offset);
		length += snprintf(line + length, 256, " %s+0x%lx", file, offset);
	}
	append(log_path, line, length);
}

/* Is the caller a library that is not ours? To look at all callers takes long. */
static bool is_foreign(const void *caller)
{
	static uintptr_t known[4096];	/* address and result, atomic */
	uintptr_t *slot = &known[(uintptr_t)caller % 4096], now, entry = (uintptr_t)caller << 1;
	unsigned long offset;

	now = __atomic_load_n(slot, __ATOMIC_RELAXED);
	if ((now | 1) != (entry | 1)) {
		now = entry | !(is_in(caller, "libc.so") || is_in(caller, "ld-linux") ||
				strstr(file_of(caller, &offset), "elog"));
		__atomic_store_n(slot, now, __ATOMIC_RELAXED);
	}
	return now & 1;
}

static __attribute__((noinline)) bool fails_now(enum kind kind, const char *call)
{
	const bool network = kind == CONNECT || kind == SEND || kind == RECEIVE;
	void *frames[FRAMES];
	const int count = backtrace(frames, FRAMES);

	if (!network && !is_of_elog(frames, count))
		return false;
	if (*seen_path ? !is_new_place(frames, count) :
	    __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) != fail_at)
		return false;
	say(call, frames, count);
	errno = fault_errno;
	return true;
}

/* Is it this call that fails? */
static __attribute__((noinline)) bool fails_for(const void *caller, enum kind kind,
						const char *call)
{
	return kind == counted_kind && !(kind == MEMORY && is_foreign(caller)) &&
	       fails_now(kind, call);
}

#define fails(kind, call)	fails_for(__builtin_return_address(0), kind, call)

__attribute__((constructor)) static void begin(void)
{
	const char *kind = getenv("FAULT_KIND"), *at = getenv("FAULT_AT"),
		   *error = getenv("FAULT_ERRNO"), *path = getenv("FAULT_LOG"),
		   *places = getenv("FAULT_SEEN"), *preload = getenv("LD_PRELOAD");
	void *frame;
	long size;
	int fd;
	size_t i;

	/* Its first call allocates memory. */
	backtrace(&frame, 1);
	/* What follows this library there stays. */
	preload = preload ? strchr(preload, ':') : NULL;
	if (preload)
		setenv("LD_PRELOAD", preload + 1, 1);
	else
		unsetenv("LD_PRELOAD");
	if (!kind || !at || !error || !path)
		return;
	snprintf(log_path, sizeof(log_path), "%s", path);
	fail_at = strtoul(at, NULL, 10);
	fault_errno = atoi(error);
	if (places) {
		snprintf(seen_path, sizeof(seen_path), "%s", places);
		fd = (int)syscall(SYS_openat, AT_FDCWD, places, O_RDONLY);
		size = syscall(SYS_read, fd, seen, sizeof(seen));
		seen_count = size > 0 ? size / sizeof(*seen) : 0;
		/* A further place would look new in each run. */
		if (seen_count == sizeof(seen) / sizeof(*seen))
			abort();
		syscall(SYS_close, fd);
	}
	for (i = 1; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i], kind))
			counted_kind = (enum kind)i;
}

/* Finds the function that this library stands before. */
#define NEXT(name)								\
	static __typeof__(name) *next;						\
	if (!next)								\
		next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

/* ---- memory ---- */

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t size)
{
	return fails(MEMORY, "malloc") ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails(MEMORY, "calloc") ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails(MEMORY, "realloc") ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return fails(MEMORY, "reallocarray") ? NULL : __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t align, size_t size)
{
	return fails(MEMORY, "aligned_alloc") ? NULL : __libc_memalign(align, size);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	NEXT(mmap);
	return fails(MAP, "mmap") ? MAP_FAILED :
	       next(at, size, protection, flags, fd, offset);
}

/* ---- files and sockets ---- */

/* Who loses a connection loses both directions, and so does its peer. */
static int reset(int fd)
{
	const int error = errno;

	if (error == ECONNRESET)
		shutdown(fd, SHUT_RDWR);
	errno = error;
	return -1;
}

/* How many bytes the call may move. */
static __always_inline size_t half_of(enum kind kind, size_t size, const char *call, bool *error)
{
	*error = size > (fault_errno ? 0 : 8) && fails(kind, call);
	if (!*error || fault_errno)
		return size;
	*error = false;
	return size / 2;
}

ssize_t write(int fd, const void *data, size_t size)
{
	bool error;

	NEXT(write);
	/* To an eventfd, which has room. */
	if (size <= 8)
		return next(fd, data, size);
	size = half_of(WRITE, size, "write", &error);
	return error ? -1 : next(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
	bool error;

	NEXT(pwrite);
	size = half_of(WRITE, size, "pwrite", &error);
	return error ? -1 : next(fd, data, size, at);
}

/* Half of the bytes: the first buffers, and a part of the next one. */
static ssize_t write_some(int fd, const struct iovec *parts, size_t size)
{
	struct iovec some[16];
	int i;

	for (i = 0; i < 16 && size; i++) {
		some[i] = parts[i];
		if (some[i].iov_len > size)
			some[i].iov_len = size;
		size -= some[i].iov_len;
	}
	return syscall(SYS_writev, fd, some, i);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	size_t size = 0, some;
	bool error;
	int i;

	NEXT(writev);
	for (i = 0; i < count; i++)
		size += parts[i].iov_len;
	some = half_of(WRITE, size, "writev", &error);
	if (error)
		return -1;
	return some < size ? write_some(fd, parts, some) : next(fd, parts, count);
}

ssize_t read(int fd, void *data, size_t size)
{
	bool error;

	NEXT(read);
	size = half_of(READ, size, "read", &error);
	return error ? -1 : next(fd, data, size);
}

ssize_t pread(int fd, void *data, size_t size, off_t at)
{
	bool error;

	NEXT(pread);
	size = half_of(READ, size, "pread", &error);
	return error ? -1 : next(fd, data, size, at);
}

ssize_t send(int fd, const void *data, size_t size, int flags)
{
	bool error;

	NEXT(send);
	size = half_of(SEND, size, "send", &error);
	return error ? reset(fd) : next(fd, data, size, flags);
}

ssize_t recv(int fd, void *data, size_t size, int flags)
{
	bool error;

	NEXT(recv);
	size = half_of(RECEIVE, size, "recv", &error);
	return error ? reset(fd) : next(fd, data, size, flags);
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	NEXT(poll);
	return fails(POLL, "poll") ? -1 : next(fds, count, timeout);
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	NEXT(ppoll);
	return fails(POLL, "ppoll") ? -1 : next(fds, count, timeout, mask);
}

int open(const char *path, int flags, ...)
{
	unsigned int mode;
	va_list list;

	NEXT(open);
	va_start(list, flags);
	mode = va_arg(list, unsigned int);
	va_end(list);
	return fails(OPEN, "open") ? -1 : next(path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	NEXT(fopen);
	return fails(OPEN, "fopen") ? NULL : next(path, mode);
}

int fsync(int fd)
{
	NEXT(fsync);
	return fails(SYNC, "fsync") ? -1 : next(fd);
}

int ftruncate(int fd, off_t size)
{
	NEXT(ftruncate);
	return fails(TRUNCATE, "ftruncate") ? -1 : next(fd, size);
}

int rename(const char *from, const char *to)
{
	NEXT(rename);
	return fails(RENAME, "rename") ? -1 : next(from, to);
}

int connect(int fd, const struct sockaddr *address, socklen_t size)
{
	NEXT(connect);
	return fails(CONNECT, "connect") ? -1 : next(fd, address, size);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
		   void *argument)
{
	NEXT(pthread_create);
	return fails(THREAD, "pthread_create") ? fault_errno :
	       next(thread, attributes, run, argument);
}

int ioctl(int fd, unsigned long request, ...)
{
	void *argument;
	va_list list;

	NEXT(ioctl);
	va_start(list, request);
	argument = va_arg(list, void *);
	va_end(list);
	return fails(IOCTL, "ioctl") ? -1 : next(fd, request, argument);
}
