// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the mappings: enable bits and rings can be mapped only whole and shared,
 * cannot be changed afterwards, and are read-only except for the consumer's page.
 */
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "eventlog_common.h"

#define RING_BYTES (8 * page_size())

/* One of the three mappings and its parameters. */
struct mapping {
	const char *name;
	int fd;
	off_t offset;
	size_t length;
	bool writable;
};

struct fixture {
	int producer;
	struct eventlog_register event;
	struct consumer consumer;	/* has mappings of its own too */
	struct mapping mappings[3];
};

static void set_up(struct fixture *fixture)
{
	const struct eventlog_subscribe *setup = &fixture->consumer.setup;
	unsigned int cpus[1];
	off_t ring;

	CHECK(cpus_allowed(cpus, 1));
	fixture->producer = device_open();
	fixture->event = register_event(fixture->producer, "event u64 value");
	consumer_open(&fixture->consumer, RING_BYTES);
	ring = setup->ring_offset + cpus[0] * setup->ring_stride;
	fixture->mappings[0] = (struct mapping){
		"status map", fixture->producer, fixture->event.map_offset,
		fixture->event.map_size, false,
	};
	fixture->mappings[1] = (struct mapping){
		"ring", fixture->consumer.fd, ring, setup->ring_stride, false,
	};
	fixture->mappings[2] = (struct mapping){
		"consumer page", fixture->consumer.fd, ring + page_size(), page_size(), true,
	};
}

static void tear_down(struct fixture *fixture)
{
	consumer_close(&fixture->consumer);
	close(fixture->producer);
}

#define FOR_EACH_MAPPING(fixture, mapping)					\
	for ((mapping) = (fixture)->mappings;					\
	     (mapping) < (fixture)->mappings + ARRAY_SIZE((fixture)->mappings) &&	\
	     (test_note("%s", (mapping)->name), true);				\
	     (mapping)++)

static void *map_with(const struct mapping *mapping, int protection, int flags)
{
	return mmap(NULL, mapping->length, protection, flags, mapping->fd, mapping->offset);
}

static unsigned char *map(const struct mapping *mapping)
{
	void *address = map_with(mapping, mapping->writable ? PROT_READ | PROT_WRITE : PROT_READ,
				 MAP_SHARED);

	if (address == MAP_FAILED)
		test_fail(__FILE__, __LINE__, "mmap: %s", test_errno_name(errno));
	return address;
}

static void unmap(const struct mapping *mapping, void *address)
{
	CHECK_OK(munmap(address, mapping->length));
}

/* ------------------------------------------------------------------------
 * Accesses that may raise a signal
 */
static sigjmp_buf access_failed;

static void on_access_failed(int number)
{
	siglongjmp(access_failed, number);
}

static void catch_access(void)
{
	const struct sigaction action = { .sa_handler = on_access_failed, .sa_flags = SA_NODEFER };

	CHECK_OK(sigaction(SIGSEGV, &action, NULL));
	CHECK_OK(sigaction(SIGBUS, &action, NULL));
}

/* Reads the byte; returns 0, or the signal that this raises. */
static int try_read(const volatile unsigned char *address)
{
	int number = sigsetjmp(access_failed, 1);

	if (!number)
		(void)*address;
	return number;
}

static int try_write(volatile unsigned char *address)
{
	int number = sigsetjmp(access_failed, 1);

	if (!number)
		*address = *address;
	return number;
}

/* ------------------------------------------------------------------------
 * Rejected mappings
 */
TEST(mmap_needs_a_role)
{
	int fd = device_open(), other = device_open();
	struct eventlog_register event = register_event(other, "event");

	CHECK_ERRNO(mmap(NULL, event.map_size, PROT_READ, MAP_SHARED, fd, event.map_offset),
		    EINVAL);
	CHECK_ERRNO(mmap(NULL, page_size(), PROT_READ, MAP_SHARED, fd, 0), EINVAL);
	close(fd);
	close(other);
}

TEST(mmap_rejects_wrong_lengths)
{
	struct fixture fixture;
	struct mapping *mapping;
	unsigned int i;

	set_up(&fixture);
	FOR_EACH_MAPPING(&fixture, mapping) {
		const size_t page = page_size();
		const size_t lengths[] = {
			page, 2 * page, 3 * page, mapping->length - page,
			mapping->length + page, 2 * mapping->length, mapping->length + 2 * page,
			1UL << 30,
		};

		for (i = 0; i < ARRAY_SIZE(lengths); i++) {
			if (lengths[i] == mapping->length || !lengths[i])
				continue;
			test_note("%s, %zu bytes", mapping->name, lengths[i]);
			CHECK_ERRNO(mmap(NULL, lengths[i], PROT_READ, MAP_SHARED, mapping->fd,
					 mapping->offset), EINVAL);
		}
		/* The kernel rounds lengths up to pages. */
		CHECK_ERRNO(mmap(NULL, mapping->length + 1, PROT_READ, MAP_SHARED, mapping->fd,
				 mapping->offset), EINVAL);
	}
	tear_down(&fixture);
}

TEST(mmap_rejects_wrong_offsets)
{
	struct fixture fixture;
	struct mapping *mapping;
	const size_t page = page_size();
	unsigned int i, j;

	set_up(&fixture);
	FOR_EACH_MAPPING(&fixture, mapping) {
		const off_t offsets[] = {
			0, page, mapping->offset - page, mapping->offset + page,
			mapping->offset + 2 * page, mapping->offset - mapping->length,
			mapping->offset + mapping->length, mapping->offset + mapping->length / 2,
			mapping->offset ^ 1LL << 31, mapping->offset ^ 1LL << 32,
			mapping->offset ^ 1LL << 40, mapping->offset ^ 1LL << 44,
			mapping->offset ^ 1LL << 62, mapping->offset | LLONG_MIN,
			LLONG_MAX & -page, LLONG_MIN, -(off_t)page, -(off_t)mapping->length,
			-(off_t)mapping->offset,
			fixture.consumer.setup.ring_offset + 0x100000000LL *
				fixture.consumer.setup.ring_stride,
			fixture.consumer.setup.ring_offset +
				(1ULL << 63) / fixture.consumer.setup.ring_stride *
				fixture.consumer.setup.ring_stride * 2,
		};

		for (i = 0; i < ARRAY_SIZE(offsets); i++) {
			void *address;

			/* Skip offsets that belong to another ring. */
			for (j = 0; j <= fixture.consumer.setup.rings; j++) {
				const off_t ring = fixture.consumer.setup.ring_offset +
					j * fixture.consumer.setup.ring_stride;

				if (offsets[i] == ring || offsets[i] == ring + (off_t)page)
					break;
			}
			if (j <= fixture.consumer.setup.rings || offsets[i] == mapping->offset)
				continue;
			test_note("%s, offset 0x%llx", mapping->name, (long long)offsets[i]);
			address = mmap(NULL, mapping->length, PROT_READ, MAP_SHARED, mapping->fd,
				       offsets[i]);
			CHECK(address == MAP_FAILED);
			CHECK(errno == EINVAL || errno == EOVERFLOW || errno == ENXIO);
		}
	}
	/* Nothing can be mapped after the last ring. */
	mapping = &fixture.mappings[1];
	CHECK_ERRNO2(mmap(NULL, mapping->length, PROT_READ, MAP_SHARED, mapping->fd,
			  fixture.consumer.setup.ring_offset +
			  fixture.consumer.setup.rings * fixture.consumer.setup.ring_stride),
		     EINVAL, ENXIO);
	tear_down(&fixture);
}

/* A file can map only what belongs to its role. */
TEST(mmap_needs_the_right_role)
{
	struct fixture fixture;

	set_up(&fixture);
	CHECK_ERRNO(mmap(NULL, fixture.event.map_size, PROT_READ, MAP_SHARED,
			 fixture.consumer.fd, fixture.event.map_offset + (1LL << 31)), EINVAL);
	CHECK_ERRNO(mmap(NULL, fixture.consumer.setup.ring_stride, PROT_READ, MAP_SHARED,
			 fixture.producer, fixture.consumer.setup.ring_offset), EINVAL);
	tear_down(&fixture);
}

TEST(mmap_needs_rings)
{
	struct consumer consumer;
	off_t offset;

	consumer_open(&consumer, 0);
	for (offset = 0; offset < (off_t)(8 * page_size()); offset += page_size())
		CHECK_ERRNO(mmap(NULL, page_size(), PROT_READ, MAP_SHARED, consumer.fd, offset),
			    EINVAL);
	consumer_close(&consumer);
}

TEST(mmap_checks_protections)
{
	struct fixture fixture;
	struct mapping *mapping;
	int fd;

	set_up(&fixture);
	FOR_EACH_MAPPING(&fixture, mapping) {
		CHECK_ERRNO(map_with(mapping, PROT_READ | PROT_EXEC, MAP_SHARED), EPERM);
		CHECK_ERRNO(map_with(mapping, PROT_EXEC, MAP_SHARED), EPERM);
		CHECK_ERRNO(map_with(mapping, PROT_READ, MAP_PRIVATE), EINVAL);
		CHECK_ERRNO2(map_with(mapping, PROT_READ | PROT_WRITE, MAP_PRIVATE), EINVAL, EPERM);
		if (mapping->writable)
			continue;
		CHECK_ERRNO(map_with(mapping, PROT_READ | PROT_WRITE, MAP_SHARED), EPERM);
		CHECK_ERRNO(map_with(mapping, PROT_WRITE, MAP_SHARED), EPERM);
	}
	tear_down(&fixture);

	fd = device_open_for(O_RDONLY);
	CHECK_ERRNO(mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), EACCES);
	close(fd);
	fd = device_open_for(O_WRONLY);
	CHECK_ERRNO(mmap(NULL, page_size(), PROT_READ, MAP_SHARED, fd, 0), EACCES);
	close(fd);
}

TEST(mprotect_cannot_add_rights)
{
	struct fixture fixture;
	struct mapping *mapping;
	unsigned char *address;

	set_up(&fixture);
	FOR_EACH_MAPPING(&fixture, mapping) {
		address = map(mapping);
		CHECK_ERRNO(mprotect(address, mapping->length, PROT_READ | PROT_EXEC), EACCES);
		CHECK_ERRNO(mprotect(address, mapping->length, PROT_EXEC), EACCES);
		if (!mapping->writable) {
			CHECK_ERRNO(mprotect(address, mapping->length, PROT_READ | PROT_WRITE),
				    EACCES);
			CHECK_ERRNO(mprotect(address, mapping->length, PROT_WRITE), EACCES);
			CHECK_ERRNO2(mprotect(address, page_size(), PROT_READ | PROT_WRITE),
				     EACCES, EINVAL);
			/* Changing a part would split the mapping. */
			CHECK_ERRNO(mprotect(address, page_size(), PROT_NONE), EINVAL);
			CHECK_ERRNO(mprotect(address + mapping->length - page_size(), page_size(),
					     PROT_NONE), EINVAL);
		}
		CHECK_EQ(try_read(address), 0);
		CHECK_OK(mprotect(address, mapping->length, PROT_NONE));
		CHECK_OK(mprotect(address, mapping->length, PROT_READ));
		CHECK_EQ(try_read(address), 0);
		unmap(mapping, address);

		/* A read-only mapping of the consumer's page may become writable. */
		if (!mapping->writable)
			continue;
		address = map_with(mapping, PROT_READ, MAP_SHARED);
		CHECK(address != MAP_FAILED);
		CHECK_OK(mprotect(address, mapping->length, PROT_READ | PROT_WRITE));
		unmap(mapping, address);
	}
	tear_down(&fixture);
}

TEST(read_only_mappings_stay_so)
{
	struct fixture fixture;
	struct mapping *mapping;
	unsigned char *address;
	int memory = CHECK_OK(open("/proc/self/mem", O_RDWR));

	catch_access();
	set_up(&fixture);
	FOR_EACH_MAPPING(&fixture, mapping) {
		address = map(mapping);
		if (mapping->writable) {
			CHECK_EQ(try_write(address), 0);
			CHECK_EQ(try_write(address + mapping->length - 1), 0);
		} else {
			/* Neither by a store nor through /proc/self/mem. */
			CHECK_EQ(try_write(address), SIGSEGV);
			CHECK_EQ(try_write(address + mapping->length - 1), SIGSEGV);
			CHECK_ERRNO(pwrite(memory, "x", 1, (off_t)(unsigned long)address), EIO);
			/* Nor by a system call. */
			CHECK_ERRNO(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, address), EFAULT);
		}
		unmap(mapping, address);
	}
	tear_down(&fixture);
	close(memory);
}

TEST(mremap_is_rejected)
{
	struct fixture fixture;
	struct mapping *mapping;
	unsigned char *address, *place;

	set_up(&fixture);
	place = pages_map(4 * fixture.consumer.setup.ring_stride);
	FOR_EACH_MAPPING(&fixture, mapping) {
		const size_t length = mapping->length, page = page_size();

		address = map(mapping);
		CHECK_ERRNO2(mremap(address, length, 2 * length, MREMAP_MAYMOVE), EINVAL, EFAULT);
		CHECK_ERRNO2(mremap(address, length, length + page, 0), EINVAL, EFAULT);
		CHECK_ERRNO2(mremap(address, length, length + page, MREMAP_MAYMOVE),
			     EINVAL, EFAULT);
		CHECK_ERRNO2(mremap(address, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, place),
			     EINVAL, EFAULT);
		place = pages_map(4 * fixture.consumer.setup.ring_stride);
		CHECK_ERRNO2(mremap(address, 0, length, MREMAP_MAYMOVE), EINVAL, EFAULT);
		CHECK_ERRNO2(mremap(address, 0, page, MREMAP_MAYMOVE), EINVAL, EFAULT);
		CHECK_ERRNO2(mremap(address, 0, length, MREMAP_MAYMOVE | MREMAP_FIXED, place),
			     EINVAL, EFAULT);
		place = pages_map(4 * fixture.consumer.setup.ring_stride);
#ifdef MREMAP_DONTUNMAP
		CHECK_ERRNO2(mremap(address, length, length, MREMAP_MAYMOVE | MREMAP_DONTUNMAP),
			     EINVAL, EFAULT);
#endif
		if (length > page) {
			CHECK_ERRNO2(mremap(address, length, page, 0), EINVAL, EFAULT);
			CHECK_ERRNO2(mremap(address + page, page, page,
					    MREMAP_MAYMOVE | MREMAP_FIXED, place), EINVAL, EFAULT);
			CHECK_ERRNO2(mremap(address + length - page, page, 2 * page,
					    MREMAP_MAYMOVE), EINVAL, EFAULT);
			place = pages_map(4 * fixture.consumer.setup.ring_stride);
		}
		CHECK_EQ(try_read(address), 0);
		CHECK_EQ(try_read(address + length - 1), 0);
		unmap(mapping, address);
	}
	tear_down(&fixture);
}

TEST(partial_munmap_is_rejected)
{
	struct fixture fixture;
	struct mapping *mapping;
	unsigned char *address;

	set_up(&fixture);
	FOR_EACH_MAPPING(&fixture, mapping) {
		const size_t page = page_size(), pages = mapping->length / page;

		address = map(mapping);
		if (pages >= 2) {
			CHECK_ERRNO(munmap(address, page), EINVAL);
			CHECK_ERRNO(munmap(address + mapping->length - page, page), EINVAL);
			CHECK_ERRNO(munmap(address, mapping->length - page), EINVAL);
		}
		if (pages >= 3)
			CHECK_ERRNO(munmap(address + page, page), EINVAL);
		/* A part cannot be replaced by another mapping either. */
		if (pages >= 2)
			CHECK_ERRNO2(mmap(address, page, PROT_READ,
					  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
				     EINVAL, ENOMEM);
		CHECK_EQ(try_read(address), 0);
		CHECK_EQ(try_read(address + mapping->length - 1), 0);

		/* Mapping over all of it acts as munmap(). */
		CHECK(mmap(address, mapping->length, PROT_READ,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == address);
		CHECK_OK(munmap(address, mapping->length));
	}
	tear_down(&fixture);
}

/* ------------------------------------------------------------------------
 * Lifetimes
 */
TEST(fork_does_not_inherit)
{
	struct fixture fixture;
	struct mapping *mapping;
	unsigned char *address;
	pid_t child;

	set_up(&fixture);
	FOR_EACH_MAPPING(&fixture, mapping) {
		address = map(mapping);
		child = test_fork();
		if (!child) {
			(void)*(volatile unsigned char *)address;
			_exit(0);
		}
		test_join_signal(child, SIGSEGV);

		/* The child can map the inherited file. */
		child = test_fork();
		if (!child) {
			address = map(mapping);
			(void)*(volatile unsigned char *)address;
			_exit(0);
		}
		test_join(child);
		CHECK_EQ(try_read(address), 0);
		unmap(mapping, address);
	}
	tear_down(&fixture);
}

/* No advice of madvise() breaks a mapping or leaks it. */
TEST(madvise_breaks_nothing)
{
	static const int advice[] = {
		MADV_DOFORK, MADV_DONTFORK, MADV_DONTNEED, MADV_WILLNEED, MADV_RANDOM,
		MADV_SEQUENTIAL, MADV_NORMAL, MADV_FREE, MADV_REMOVE, MADV_MERGEABLE,
		MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_DONTDUMP, MADV_DODUMP, MADV_WIPEONFORK,
		MADV_KEEPONFORK, MADV_COLD, MADV_PAGEOUT,
#ifdef MADV_POPULATE_READ
		MADV_POPULATE_READ, MADV_POPULATE_WRITE,
#endif
		MADV_DONTNEED, MADV_DOFORK,
	};
	struct fixture fixture;
	struct mapping *mapping;
	unsigned char *address;
	unsigned int i;
	pid_t child;

	catch_access();
	set_up(&fixture);
	FOR_EACH_MAPPING(&fixture, mapping) {
		address = map(mapping);
		for (i = 0; i < ARRAY_SIZE(advice); i++) {
			test_note("%s, advice %d", mapping->name, advice[i]);
			madvise(address, mapping->length, advice[i]);
			try_read(address);
			try_read(address + mapping->length - 1);
			if (!mapping->writable)
				CHECK(try_write(address));
			child = test_fork();
			if (!child) {
				try_read(address);
				if (!mapping->writable)
					CHECK(try_write(address));
				munmap(address, mapping->length);
				_exit(0);
			}
			test_join(child);
		}
		mlock(address, mapping->length);
		unmap(mapping, address);
	}
	tear_down(&fixture);
	WAIT_FOR(!status_now("Active: "));
}

TEST(mapping_outlives_close)
{
	struct fixture fixture;
	unsigned char *addresses[3];
	const struct eventlog_ring_header *header;
	struct status_map status;
	unsigned int i, cpus[1];
	int other = device_open();
	struct eventlog_register event;

	CHECK(cpus_allowed(cpus, 1));
	cpu_pin(cpus[0]);
	event = register_event(other, "event u64 value");
	set_up(&fixture);
	for (i = 0; i < 3; i++)
		addresses[i] = map(&fixture.mappings[i]);
	rule_add(fixture.consumer.fd, NULL, "event");
	CHECK_OK(emit(other, event.write_index, "12345678", 8));
	consumer_close(&fixture.consumer);
	close(fixture.producer);

	/* The enable bits, the ring's data and the consumer's page are still valid. */
	status = (struct status_map){ addresses[0], fixture.event.map_size };
	status_enabled(&status, &fixture.event);
	header = (const void *)addresses[1];
	CHECK_EQ(header->magic, EVENTLOG_RING_MAGIC);
	CHECK_EQ(header->records, 1);
	CHECK(!memcmp(addresses[1] + header->data_offset + sizeof(struct eventlog_record),
		      "12345678", 8));
	for (i = 0; i < fixture.mappings[1].length; i++)
		(void)*(volatile unsigned char *)(addresses[1] + i);
	((struct eventlog_ring_consumer *)addresses[2])->position = 1;
	for (i = 0; i < 3; i++)
		unmap(&fixture.mappings[i], addresses[i]);
	WAIT_FOR(!status_now("Busy: "));
	CHECK_ERRNO(emit(other, event.write_index, "12345678", 8), EBADF);
	close(other);
}

/* ------------------------------------------------------------------------
 * Contents
 */
TEST(mappings_share_their_pages)
{
	struct fixture fixture;
	struct mapping *mapping;
	unsigned char *first, *second, *writable;
	struct status_map one, two;

	set_up(&fixture);
	FOR_EACH_MAPPING(&fixture, mapping) {
		first = map(mapping);
		second = map(mapping);
		CHECK(first != second);
		CHECK(!memcmp(first, second, mapping->length));
		unmap(mapping, first);
		CHECK_EQ(try_read(second), 0);
		unmap(mapping, second);
	}

	/* Two files map the same enable bits. */
	first = map(&fixture.mappings[0]);
	second = map(&fixture.mappings[0]);
	one = (struct status_map){ first, fixture.mappings[0].length };
	two = (struct status_map){ second, fixture.mappings[0].length };
	CHECK(!status_enabled(&one, &fixture.event));
	rule_add(fixture.consumer.fd, NULL, "event");
	CHECK(status_enabled(&one, &fixture.event));
	CHECK(status_enabled(&two, &fixture.event));
	unmap(&fixture.mappings[0], first);
	unmap(&fixture.mappings[0], second);

	/* The consumer's page is also the second page of the ring. */
	first = map(&fixture.mappings[1]);
	writable = map(&fixture.mappings[2]);
	writable[8] = 0x5a;
	writable[page_size() - 1] = 0xa5;
	CHECK_EQ(first[page_size() + 8], 0x5a);
	CHECK_EQ(first[2 * page_size() - 1], 0xa5);
	unmap(&fixture.mappings[1], first);
	unmap(&fixture.mappings[2], writable);
	tear_down(&fixture);
}

/* Fresh pages of a ring do not expose old contents. */
TEST(fresh_pages_are_zero)
{
	struct consumer consumer;
	unsigned int round, cpu;
	struct eventlog_register event;
	unsigned char *payload = pages_map(page_size());
	int fd = device_open();
	__u64 i, at;

	memset(payload, 0xff, page_size());
	event = register_event(fd, "secret");
	for (round = 0; round < 10; round++) {
		consumer_open(&consumer, 64 * page_size());
		for (cpu = 0; cpu < consumer.setup.rings; cpu++) {
			const struct ring *ring = &consumer.rings[cpu];
			const unsigned char *bytes = (const unsigned char *)ring->header;

			if (!bytes)
				continue;
			for (at = sizeof(*ring->header); at < consumer.setup.ring_stride; at += 8)
				CHECK_EQ(*(const __u64 *)(bytes + at), 0);
			CHECK_EQ(ring->header->head, 0);
			CHECK_EQ(ring->header->committed, 0);
			CHECK_EQ(ring->header->records, 0);
		}
		/* Leave data behind that the next round could find. */
		rule_add(consumer.fd, NULL, NULL);
		for (i = 0; i < 200; i++) {
			CHECK_OK(emit(fd, event.write_index, payload, page_size() / 2));
			consumer_skip(&consumer);
		}
		consumer_close(&consumer);
	}
	close(fd);
}

/* ------------------------------------------------------------------------
 * CPU hotplug
 */
static unsigned int cpu_to_toggle;

static void cpu_switch(bool online)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu_to_toggle);
	CHECK_EQ(file_write(path, online ? "1" : "0"), 1);
	CHECK_EQ(file_number(path), online);
}

TEST(rings_belong_to_cpus)
{
	struct consumer consumer;
	unsigned int cpus[256], count, cpu, i;
	struct eventlog_stat counts;
	void *address;

	count = cpus_allowed(cpus, ARRAY_SIZE(cpus));
	consumer_open(&consumer, RING_BYTES);
	for (i = 0; i < count; i++)
		CHECK(consumer.rings[cpus[i]].header);
	for (cpu = 0; cpu < consumer.setup.rings; cpu++) {
		counts = (struct eventlog_stat){ .size = sizeof(counts), .ring = cpu };
		test_note("cpu %u", cpu);
		if (consumer.rings[cpu].header) {
			CHECK_OK(ioctl(consumer.fd, EVENTLOG_IOC_STAT, &counts));
			continue;
		}
		CHECK_ERRNO(ioctl(consumer.fd, EVENTLOG_IOC_STAT, &counts), ENXIO);
		address = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, consumer.fd,
			       consumer.setup.ring_offset + cpu * consumer.setup.ring_stride +
			       page_size());
		CHECK_ERRNO(address, ENXIO);
	}
	consumer_close(&consumer);
}

static __u32 generation_of(int fd)
{
	struct eventlog_flush request = { .size = sizeof(request) };
	struct eventlog_stat counts = stat_all(fd);

	CHECK_OK(ioctl(fd, EVENTLOG_IOC_FLUSH, &request));
	CHECK_EQ(request.generation, counts.generation);
	return request.generation;
}

TEST(cpu_hotplug)
{
	struct consumer early, late;
	struct eventlog_register event;
	struct eventlog_stat counts;
	unsigned int cpus[256], count, generation, round;
	struct record record;
	pid_t child;
	int fd = device_open();
	char path[64];

	count = cpus_allowed(cpus, ARRAY_SIZE(cpus));
	if (count < 2)
		SKIP("needs two CPUs");
	cpu_to_toggle = cpus[count - 1];
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu_to_toggle);
	if (file_number(path) != 1)
		SKIP("CPU %u cannot be taken offline", cpu_to_toggle);
	cpu_pin(cpus[0]);

	event = register_event(fd, "event u64 value");
	consumer_open(&early, RING_BYTES);
	rule_add(early.fd, NULL, "event");
	generation = generation_of(early.fd);
	CHECK_EQ(generation, early.setup.generation);
	cpu_pin(cpu_to_toggle);
	CHECK_OK(emit(fd, event.write_index, "before", 8));
	cpu_pin(cpus[0]);
	cpu_switch(false);

	/* The CPU's ring stays readable; a subscriber that came later has none. */
	CHECK_EQ(generation_of(early.fd), generation);
	consumer_open(&late, RING_BYTES);
	rule_add(late.fd, NULL, "event");
	CHECK(!late.rings[cpu_to_toggle].header);
	counts = (struct eventlog_stat){ .size = sizeof(counts), .ring = cpu_to_toggle };
	CHECK_OK(ioctl(early.fd, EVENTLOG_IOC_STAT, &counts));
	CHECK_EQ(counts.records, 1);
	CHECK_ERRNO(ioctl(late.fd, EVENTLOG_IOC_STAT, &counts), ENXIO);
	CHECK_OK(emit(fd, event.write_index, "meanwhile", 9));
	CHECK(consumer_next(&late, &record));
	CHECK_EQ(record.cpu, cpus[0]);
	CHECK_EQ(consumer_skip(&late), 0);
	CHECK_EQ(consumer_skip(&early), 2);

	/* Online again: the later subscriber gets a ring, the early one keeps its ring. */
	for (round = 0; round < 3; round++) {
		cpu_switch(true);
		CHECK_EQ(generation_of(early.fd), generation);
		/* A work item makes the ring. */
		WAIT_FOR(generation_of(late.fd) != late.setup.generation);
		CHECK(consumer_map(&late, cpu_to_toggle));
		child = test_fork();
		if (!child) {
			cpu_pin(cpu_to_toggle);
			CHECK_OK(emit(fd, event.write_index, "after", 8));
			_exit(0);
		}
		test_join(child);
		consumer_one(&early, &record);
		CHECK_EQ(record.cpu, cpu_to_toggle);
		consumer_one(&late, &record);
		CHECK_EQ(record.cpu, cpu_to_toggle);
		cpu_switch(false);
	}
	cpu_switch(true);
	CHECK_EQ(lost_sum(stat_all(early.fd).lost), 0);
	CHECK_EQ(lost_sum(stat_all(late.fd).lost), 0);
	consumer_close(&early);
	consumer_close(&late);
	close(fd);
}
