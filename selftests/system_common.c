// SPDX-License-Identifier: GPL-2.0-only
/*
 * The system, for tests: see system_common.h.
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "system_common.h"

size_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

void *pages_map(size_t bytes)
{
	void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		test_fail(__FILE__, __LINE__, "mmap: %s", test_errno_name(errno));
	return pages;
}

void *pages_unmapped(void)
{
	void *page = pages_map(page_size());

	CHECK_OK(mprotect(page, page_size(), PROT_NONE));
	return page;
}

void *edge_buffer(size_t bytes)
{
	const size_t whole = ALIGN_UP(bytes, page_size());
	char *pages = pages_map(whole + page_size());

	CHECK_OK(mprotect(pages + whole, page_size(), PROT_NONE));
	return pages + whole - bytes;
}

__u64 clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

unsigned int cpus_allowed(unsigned int *cpus, unsigned int max)
{
	unsigned int cpu, count = 0;
	cpu_set_t set;

	CHECK_OK(sched_getaffinity(0, sizeof(set), &set));
	for (cpu = 0; cpu < CPU_SETSIZE && count < max; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus[count++] = cpu;
	return count;
}

void cpu_pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CHECK_OK(sched_setaffinity(0, sizeof(set), &set));
}

pid_t thread_id(void)
{
	return syscall(SYS_gettid);
}

char thread_state(pid_t thread)
{
	char path[64], text[512];
	const char *state;
	ssize_t bytes;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)thread);
	fd = CHECK_OK(open(path, O_RDONLY | O_CLOEXEC));
	bytes = CHECK_OK(read(fd, text, sizeof(text) - 1));
	close(fd);
	text[bytes] = '\0';
	state = strrchr(text, ')');
	return state && state[1] == ' ' ? state[2] : '?';
}

/*
 * A thread has this state before it looks for the last time at what it is about to wait for, so it
 * may still run.  The kernel prints the call of a thread that does not.
 */
bool thread_sleeps(pid_t thread)
{
	char path[64], text[16];
	ssize_t bytes;
	int fd;

	if (thread_state(thread) != 'S')
		return false;
	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	bytes = read(fd, text, sizeof(text));
	close(fd);
	return bytes <= 0 || text[0] != 'r';
}

void capabilities_keep(__u64 mask)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	unsigned int half;

	CHECK_OK(syscall(SYS_capget, &header, data));
	for (half = 0; half < 2; half++) {
		data[half].permitted &= (__u32)(mask >> 32 * half);
		data[half].effective = data[half].permitted;
		data[half].inheritable = 0;
	}
	CHECK_OK(syscall(SYS_capset, &header, data));
}

void descriptor_send(int socket, int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr header;
	} control = { .bytes = { 0 } };
	char byte = 0;
	struct iovec vector = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &vector, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	CHECK_EQ(sendmsg(socket, &message, 0), 1);
}

int descriptor_receive(int socket)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr header;
	} control;
	char byte;
	struct iovec vector = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &vector, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *header;
	int fd;

	CHECK_EQ(recvmsg(socket, &message, 0), 1);
	header = CMSG_FIRSTHDR(&message);
	CHECK(header && header->cmsg_type == SCM_RIGHTS);
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

bool kernel_before(int major, int minor)
{
	struct utsname name;
	int is_major, is_minor;

	CHECK_OK(uname(&name));
	CHECK_EQ(sscanf(name.release, "%d.%d", &is_major, &is_minor), 2);
	return is_major < major || (is_major == major && is_minor < minor);
}

bool user_mode_linux(void)
{
	char text[512];
	ssize_t length;
	int fd = CHECK_OK(open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC));

	length = CHECK_OK(read(fd, text, sizeof(text) - 1));
	close(fd);
	text[length] = '\0';
	return strstr(text, "User Mode Linux");
}

bool trace_events_exist(void)
{
	if (access(TRACE_EVENTS, F_OK))
		mount("tracefs", TRACEFS, "tracefs", 0, NULL);
	/*
	 * With record-cmd ftrace patches the scheduler each time an event is enabled, to
	 * record the names of processes.  QEMU before 8.1 can hit the breakpoint of a patch
	 * that is already complete.
	 */
	file_write(TRACEFS "/options/record-cmd", "0");
	return !access(TRACE_EVENTS "/eventlog/eventlog_lock", F_OK);
}

int perf_open_id(long id, pid_t pid, int cpu)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attributes),
		.config = id,
		.sample_period = 1,
		.inherit = 1,
	};

	return syscall(SYS_perf_event_open, &attributes, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static char setuid_directory[32], setuid_program[sizeof(setuid_directory) + sizeof("/copy")];

/*
 * The copy is one of the test itself: cat may be a part of busybox, which gives the rights of its
 * owner up.
 */
static void __attribute__((constructor)) setuid_main(int argc, char **argv)
{
	uid_t real, effective, saved;
	char byte;

	if (argc < 1 || strcmp(argv[0], SETUID_NAME))
		return;
	if (!getresuid(&real, &effective, &saved))
		dprintf(STDOUT_FILENO, "\nuids %u %u %u\n", real, effective, saved);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	_exit(0);
}

const char *setuid_copy(void)
{
	int from = CHECK_OK(open("/proc/self/exe", O_RDONLY | O_CLOEXEC)), to;
	struct statvfs place;
	char text[4096];
	ssize_t bytes;

	/* Only the group of root, to which the caller belongs, can reach it. */
	strcpy(setuid_directory, "/tmp/eventlog_setuid.XXXXXX");
	CHECK(mkdtemp(setuid_directory));
	CHECK_OK(chmod(setuid_directory, 0710));
	snprintf(setuid_program, sizeof(setuid_program), "%s/copy", setuid_directory);
	to = CHECK_OK(open(setuid_program, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700));
	while ((bytes = CHECK_OK(read(from, text, sizeof(text)))))
		CHECK_EQ(write(to, text, bytes), bytes);
	CHECK_OK(fchmod(to, 04710));
	CHECK_OK(fstatvfs(to, &place));
	close(from);
	close(to);
	if (place.f_flag & ST_NOSUID) {
		setuid_copy_remove();
		SKIP("programs in /tmp run without the rights of their owner");
	}
	return setuid_program;
}

void setuid_copy_remove(void)
{
	CHECK_OK(unlink(setuid_program));
	CHECK_OK(rmdir(setuid_directory));
}

long file_number(const char *path)
{
	char text[64];
	ssize_t bytes;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	bytes = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (bytes <= 0)
		return -1;
	text[bytes] = '\0';
	return strtol(text, NULL, 10);
}

ssize_t file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t bytes;
	int error;

	if (fd < 0)
		return -1;
	bytes = write(fd, text, strlen(text));
	error = errno;
	close(fd);
	errno = error;
	return bytes;
}

int module_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK);
}

const char *module_path(void)
{
	const char *path = getenv("EVENTLOG_KO");

	return path ? path : getenv("EVENTLOG_MODULE");
}

int module_insert(int fd, const char *parameters)
{
	int result = syscall(SYS_finit_module, fd, parameters, 0), error = errno;

	close(fd);
	errno = error;
	return result;
}

int module_built(const char *file)
{
	const char *eventlog = module_path();
	const char *slash;
	char path[4096];

	if (!eventlog)
		SKIP("EVENTLOG_KO does not name the module's file");
	slash = strrchr(eventlog, '/');
	snprintf(path, sizeof(path), "%.*s%s", slash ? (int)(slash + 1 - eventlog) : 0, eventlog,
		 file);
	return open(path, O_RDONLY | O_CLOEXEC);
}

void module_insert_built(const char *file, const char *parameters)
{
	CHECK_OK(module_insert(CHECK_OK(module_built(file)), parameters));
}

int module_open(const char *name)
{
	char file[128];
	int fd;

	snprintf(file, sizeof(file), "module/ktest/%s.ko", name);
	fd = module_built(file);
	if (fd < 0)
		SKIP("%s does not exist", file);
	return fd;
}

int module_load(const char *name)
{
	return module_insert(module_open(name), "");
}
