// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog_test.ko: tests of the ring buffer with concurrent writers in every context.
 *
 * Loading the module runs the tests and prints KTAP to the kernel log.  Loading fails
 * with -EIO if a test fails.  The module includes ring.c, so that it tests the code of
 * eventlog.ko without a device, a file or a consumer process.
 *
 * Each CPU has one ring.  It is written by a kthread (task), a soft hrtimer (softirq), a
 * hard hrtimer and an irq_work (hardirq), and by every NMI; in an emulated guest, NMIs
 * are injected from outside.  A reader kthread checks all rings while they are written.
 *
 * Each writer numbers its attempts.  A record contains the writer, the number and a
 * checksum; its size varies from zero to more than a sub-buffer.  In discard mode, for
 * each writer, attempts = records read + events lost.  In overwrite mode, the reader
 * must not see records that are torn, duplicate, out of order or were never written.
 */
#define pr_fmt(format) format

#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#ifdef CONFIG_X86
#include <asm/nmi.h>
#endif

#include "compat.h"
#include "ring/ring.c"

static uint events = 100000;
module_param(events, uint, 0444);
MODULE_PARM_DESC(events, "number of events that each task writes in each test (100000)");

enum ring_test_writer_kind {
	WRITER_TASK,
	WRITER_SOFTIRQ,
	WRITER_HARDIRQ,
	WRITER_IRQ_WORK,
	WRITER_NMI,
	WRITER_KINDS,
};

static const char *const ring_test_writer_names[] = {
	"task", "softirq", "hardirq", "irq_work", "NMI",
};

/* Payload of a record.  The checksum covers the other members and the bytes behind them. */
struct ring_test_payload {
	u32 checksum;
	u32 kind;
	u64 number;
	u32 bytes;
	u32 fill;
};

struct ring_test_writer {
	u64 attempts;
	u64 refused;
	/* Owned by the reader. */
	u64 seen;
	u64 next;
};

struct ring_test_cpu {
	struct eventlog_ring ring;
	void *pages;
	unsigned int cpu;
	bool writing;
	struct ring_test *test;
	struct task_struct *task;
	struct hrtimer softirq;
	struct hrtimer hardirq;
	struct irq_work irq_work;
	struct completion done;
	struct ring_test_writer writers[WRITER_KINDS];
	u32 random;
	/* Owned by the reader. */
	u64 position;
	u64 time;
	u64 lost_reported;
};

struct ring_test {
	const char *name;
	u32 data_bytes;
	u32 sub_buffers;
	bool overwrite;
	bool locked;
	/* The reader sleeps between reads, so that the ring becomes full. */
	bool slow_reader;
	u64 start;

	struct ring_test_cpu *cpus;
	bool reader_stop;
	u8 *copy;
	char failure[160];
};

/* The running test, for the NMI handler. */
static struct ring_test *ring_test_running;

static const struct ring_test ring_tests[] = {
	{ .name = "discard, smallest ring", .data_bytes = 2 * PAGE_SIZE, .sub_buffers = 2 },
	{ .name = "discard, smallest ring, slow reader", .data_bytes = 2 * PAGE_SIZE,
	  .sub_buffers = 2, .slow_reader = true },
	{ .name = "discard, positions passing 2^32", .data_bytes = 4 * PAGE_SIZE,
	  .sub_buffers = 2, .start = (1ULL << 32) - 16 * PAGE_SIZE },
	{ .name = "discard, positions passing 2^64", .data_bytes = 4 * PAGE_SIZE,
	  .sub_buffers = 4, .start = -16ULL * PAGE_SIZE },
	{ .name = "discard, 256 sub-buffers", .data_bytes = 256 * PAGE_SIZE, .sub_buffers = 256 },
	{ .name = "overwrite, smallest ring", .data_bytes = 2 * PAGE_SIZE, .sub_buffers = 2,
	  .overwrite = true },
	{ .name = "overwrite, smallest ring, slow reader", .data_bytes = 2 * PAGE_SIZE,
	  .sub_buffers = 2, .overwrite = true, .slow_reader = true },
	{ .name = "overwrite, 16 sub-buffers, positions passing 2^32",
	  .data_bytes = 32 * PAGE_SIZE, .sub_buffers = 16, .overwrite = true,
	  .start = (1ULL << 32) - 64 * PAGE_SIZE },
	{ .name = "locked, discard, smallest ring", .data_bytes = 2 * PAGE_SIZE,
	  .sub_buffers = 2, .locked = true },
	{ .name = "locked, discard, positions passing 2^64", .data_bytes = 16 * PAGE_SIZE,
	  .sub_buffers = 4, .locked = true, .start = -64ULL * PAGE_SIZE },
	{ .name = "locked, overwrite, smallest ring", .data_bytes = 2 * PAGE_SIZE,
	  .sub_buffers = 2, .overwrite = true, .locked = true },
};

/* A checksum similar to Adler-32, cheap enough for NMI context in an emulated guest. */
static u32 ring_test_checksum(const void *data, u32 bytes)
{
	const u8 *byte = data;
	u32 a = 1, b = 0;

	while (bytes--) {
		a += *byte++;
		b += a;
	}
	return b << 16 ^ a;
}

__printf(2, 3)
static void ring_test_fail(struct ring_test *test, const char *format, ...)
{
	va_list args;

	if (*test->failure)
		return;
	va_start(args, format);
	vsnprintf(test->failure, sizeof(test->failure), format, args);
	va_end(args);
}

/* ---- writers ---- */

static u32 ring_test_random(u32 *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Writes one record of @kind, with preemption disabled or in interrupt context. */
static void ring_test_write(struct ring_test_cpu *cpu, enum ring_test_writer_kind kind, u32 random)
{
	struct ring_test_writer *writer = &cpu->writers[kind];
	struct ring_test_payload *payload;
	struct eventlog_ring_slot slot;
	u32 extra = random % 64;

	/* Tasks sometimes write a record of maximum size or larger; interrupts stay short. */
	if (kind == WRITER_TASK && !(random & 0x3f00))
		extra = random % (cpu->ring.sub_buffer_bytes + 64);
	writer->attempts++;
	if (!eventlog_ring_reserve(&cpu->ring, sizeof(*payload) + extra, 0, 0, &slot)) {
		writer->refused++;
		return;
	}
	slot.record->descriptor = kind + 1;
	slot.record->session = writer->attempts;
	slot.record->pid = cpu->cpu;
	slot.record->tid = ~cpu->cpu;
	payload = (void *)(slot.record + 1);
	payload->kind = kind;
	payload->number = writer->attempts;
	payload->bytes = extra;
	payload->fill = random;
	memset(payload + 1, random, extra);
	payload->checksum = ring_test_checksum(&payload->kind, sizeof(*payload) - sizeof(u32) +
					       extra);
	eventlog_ring_commit(&cpu->ring, &slot);
}

static enum hrtimer_restart ring_test_softirq(struct hrtimer *timer)
{
	struct ring_test_cpu *cpu = container_of(timer, struct ring_test_cpu, softirq);

	ring_test_write(cpu, WRITER_SOFTIRQ, cpu->writers[WRITER_SOFTIRQ].attempts);
	hrtimer_forward_now(timer, ns_to_ktime(150 * NSEC_PER_USEC));
	return READ_ONCE(cpu->writing) ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

static enum hrtimer_restart ring_test_hardirq(struct hrtimer *timer)
{
	struct ring_test_cpu *cpu = container_of(timer, struct ring_test_cpu, hardirq);

	ring_test_write(cpu, WRITER_HARDIRQ, cpu->writers[WRITER_HARDIRQ].attempts);
	hrtimer_forward_now(timer, ns_to_ktime(100 * NSEC_PER_USEC));
	return READ_ONCE(cpu->writing) ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

static void ring_test_irq_work(struct irq_work *work)
{
	struct ring_test_cpu *cpu = container_of(work, struct ring_test_cpu, irq_work);

	ring_test_write(cpu, WRITER_IRQ_WORK, cpu->writers[WRITER_IRQ_WORK].attempts);
}

#ifdef CONFIG_X86
static int ring_test_nmi(unsigned int type, struct pt_regs *registers)
{
	struct ring_test *test = READ_ONCE(ring_test_running);
	struct ring_test_cpu *cpu;
	unsigned int i;

	/* NMIs between two tests are injected for the tests, too. */
	if (!test)
		return NMI_HANDLED;
	cpu = &test->cpus[smp_processor_id()];
	/* NMIs are rare: write several records. */
	for (i = 0; READ_ONCE(cpu->writing) && i < 8; i++)
		ring_test_write(cpu, WRITER_NMI, cpu->writers[WRITER_NMI].attempts);
	return NMI_HANDLED;
}
#endif

static int ring_test_task(void *argument)
{
	struct ring_test_cpu *cpu = argument;
	unsigned int i;

	hrtimer_start(&cpu->softirq, ns_to_ktime(NSEC_PER_USEC), HRTIMER_MODE_REL_PINNED_SOFT);
	hrtimer_start(&cpu->hardirq, ns_to_ktime(NSEC_PER_USEC), HRTIMER_MODE_REL_PINNED_HARD);
	for (i = 0; i < events; i++) {
		u32 random = ring_test_random(&cpu->random);

		preempt_disable();
		if (!(random & 0x70))
			irq_work_queue(&cpu->irq_work);
		ring_test_write(cpu, WRITER_TASK, random);
		preempt_enable();
		if (!(i & 15))
			cond_resched();
	}
	WRITE_ONCE(cpu->writing, false);
	hrtimer_cancel(&cpu->softirq);
	hrtimer_cancel(&cpu->hardirq);
	irq_work_sync(&cpu->irq_work);
	complete(&cpu->done);
	return 0;
}

/* ---- reader ---- */

/* Checks a record that is not padding.  Returns false if the test has failed. */
static bool ring_test_check(struct ring_test *test, struct ring_test_cpu *cpu,
			    const struct eventlog_record *record, u32 bytes)
{
	const struct ring_test_payload *payload = (const void *)(record + 1);
	u32 type = (record->size_flags & EVENTLOG_RECORD_TYPE_MASK) >> EVENTLOG_RECORD_TYPE_SHIFT;
	struct ring_test_writer *writer;
	u32 used, i;

	if (record->time < cpu->time) {
		ring_test_fail(test, "CPU %u: time went backwards", cpu->cpu);
		return false;
	}
	cpu->time = record->time;
	if (type == EVENTLOG_RECORD_LOST) {
		const struct eventlog_lost_counts *counts = (const void *)(record + 1);
		u64 reported = 0;

		for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
			reported += counts->lost[i];
		cpu->lost_reported = max(cpu->lost_reported, reported);
		return true;
	}
	used = sizeof(*record) + sizeof(*payload) + payload->bytes;
	if (type != EVENTLOG_RECORD_EVENT || payload->kind >= WRITER_KINDS ||
	    bytes < sizeof(*record) + sizeof(*payload) || payload->bytes > bytes ||
	    ALIGN(used, EVENTLOG_RECORD_ALIGN) != bytes ||
	    ring_test_checksum(&payload->kind, sizeof(*payload) - sizeof(u32) + payload->bytes) !=
		    payload->checksum) {
		ring_test_fail(test, "CPU %u: torn record of %u bytes at %llu", cpu->cpu, bytes,
			       cpu->position);
		return false;
	}
	for (i = used; i < bytes; i++) {
		if (((const u8 *)record)[i]) {
			ring_test_fail(test, "CPU %u: stale bytes behind a record", cpu->cpu);
			return false;
		}
	}
	writer = &cpu->writers[payload->kind];
	if (payload->number < writer->next || record->session != payload->number ||
	    record->descriptor != payload->kind + 1 || record->pid != cpu->cpu) {
		ring_test_fail(test, "CPU %u: %s record %llu after %llu", cpu->cpu,
			       ring_test_writer_names[payload->kind], payload->number,
			       writer->next);
		return false;
	}
	writer->next = payload->number + 1;
	writer->seen++;
	return true;
}

/* Where a lapped reader continues: the start of a sub-buffer, half a ring behind head. */
static u64 ring_test_resume(const struct ring_test_cpu *cpu, u64 head)
{
	const struct eventlog_ring *ring = &cpu->ring;

	return (head - ring->data_bytes / 2 + ring->sub_buffer_bytes - 1) &
	       ~((u64)ring->sub_buffer_bytes - 1);
}

/* Reads all records up to committed.  Returns false if the test has failed. */
static bool ring_test_read(struct ring_test *test, struct ring_test_cpu *cpu)
{
	struct eventlog_ring *ring = &cpu->ring;
	struct eventlog_ring_consumer *consumer = (void *)ring->consumer;
	u64 committed = eventlog_word_read(&ring->header->committed,
					   &ring->header->committed_upper);

	if ((s64)(committed - cpu->position) < 0)
		return true;
	while (cpu->position != committed) {
		u32 offset = (u32)cpu->position & (ring->data_bytes - 1);
		u32 left = ring->sub_buffer_bytes - (offset & (ring->sub_buffer_bytes - 1));
		const struct eventlog_record *record = (const void *)(ring->data + offset);
		u32 flags = READ_ONCE(record->size_flags);
		u32 bytes = flags & EVENTLOG_RECORD_SIZE_MASK;
		bool padding = (flags & EVENTLOG_RECORD_TYPE_MASK) ==
			       EVENTLOG_RECORD_PADDING << EVENTLOG_RECORD_TYPE_SHIFT;
		u64 head;

		bytes = min(bytes, left);
		if (!padding)
			memcpy(test->copy, record, bytes);
		if (test->overwrite) {
			smp_rmb();
			head = eventlog_word_read(&ring->header->head, &ring->header->head_upper);
			if (head - cpu->position > ring->data_bytes) {
				cpu->position = ring_test_resume(cpu, head);
				committed = eventlog_word_read(&ring->header->committed,
							       &ring->header->committed_upper);
				if ((s64)(committed - cpu->position) < 0)
					return true;
				continue;
			}
		}
		if (bytes < 8 || bytes % 8 || (!padding && bytes < sizeof(*record))) {
			ring_test_fail(test, "CPU %u: invalid record size %u at %llu", cpu->cpu,
				       bytes, cpu->position);
			return false;
		}
		if (!padding && !ring_test_check(test, cpu, (void *)test->copy, bytes))
			return false;
		cpu->position += bytes;
	}
	smp_store_release(&consumer->position, (u32)cpu->position);
	return true;
}

static int ring_test_reader(void *argument)
{
	struct ring_test *test = argument;
	unsigned int cpu;
	bool good = true;

	while (!kthread_should_stop()) {
		for_each_online_cpu(cpu) {
			if (good)
				good = ring_test_read(test, &test->cpus[cpu]);
		}
		if (test->slow_reader)
			schedule_timeout_idle(1);
		else
			cond_resched();
	}
	return 0;
}

/* ---- running ---- */

static void ring_test_account(struct ring_test *test, struct ring_test_cpu *cpu, u64 *nmis)
{
	const struct eventlog_ring_header *header = cpu->ring.header;
	u64 lost = 0, refused = 0, placed = 0;
	unsigned int i;

	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		lost += header->lost[i];
	for (i = 0; i < WRITER_KINDS; i++) {
		const struct ring_test_writer *writer = &cpu->writers[i];

		refused += writer->refused;
		placed += writer->attempts - writer->refused;
		if (test->overwrite ? writer->seen + writer->refused > writer->attempts :
				      writer->seen + writer->refused != writer->attempts)
			ring_test_fail(test, "CPU %u, %s: %llu attempts, %llu read, %llu lost",
				       cpu->cpu, ring_test_writer_names[i], writer->attempts,
				       writer->seen, writer->refused);
		if (i != WRITER_NMI && !writer->attempts)
			ring_test_fail(test, "CPU %u: no event from %s", cpu->cpu,
				       ring_test_writer_names[i]);
	}
	*nmis += cpu->writers[WRITER_NMI].attempts;
	if (lost != refused || lost != header->lost_total || header->records != placed)
		ring_test_fail(test, "CPU %u: %llu lost, counted %llu, total %llu; records %llu",
			       cpu->cpu, refused, lost, header->lost_total, header->records);
	if (cpu->lost_reported > lost)
		ring_test_fail(test, "CPU %u: lost record says %llu, %llu counted", cpu->cpu,
			       cpu->lost_reported, lost);
	if (header->committed != header->head || cpu->ring.nest)
		ring_test_fail(test, "CPU %u: committed %llu, head %llu, nest %u at the end",
			       cpu->cpu, header->committed, header->head, cpu->ring.nest);
}

static int ring_test_cpu_new(struct ring_test *test, struct ring_test_cpu *cpu, unsigned int number)
{
	struct eventlog_ring_header *header;

	cpu->test = test;
	cpu->cpu = number;
	cpu->random = number + 1;
	init_completion(&cpu->done);
	cpu->pages = vzalloc(2 * PAGE_SIZE + test->data_bytes);
	if (!cpu->pages)
		return -ENOMEM;
	eventlog_ring_init(&cpu->ring, cpu->pages, PAGE_SIZE, test->data_bytes,
			   test->data_bytes / test->sub_buffers, number, test->overwrite,
			   test->locked);
	header = cpu->ring.header;
	eventlog_word_write(&header->head, &header->head_upper, test->start);
	eventlog_word_write(&header->committed, &header->committed_upper, test->start);
	cpu->ring.consumer_position = test->start;
	*(u32 *)cpu->ring.consumer = test->start;
	cpu->position = test->start;
	hrtimer_setup(&cpu->softirq, ring_test_softirq, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_SOFT);
	hrtimer_setup(&cpu->hardirq, ring_test_hardirq, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
	init_irq_work(&cpu->irq_work, ring_test_irq_work);
	cpu->task = kthread_create(ring_test_task, cpu, "eventlog_test/%u", number);
	if (IS_ERR(cpu->task))
		return PTR_ERR(cpu->task);
	kthread_bind(cpu->task, number);
	return 0;
}

/* Runs a test and returns whether it passed.  The caller holds cpus_read_lock(). */
static bool ring_test_run(const struct ring_test *plan, u64 *nmis)
{
	struct ring_test test = *plan;
	struct task_struct *reader;
	unsigned int cpu;

	test.cpus = kvcalloc(nr_cpu_ids, sizeof(*test.cpus), GFP_KERNEL);
	test.copy = vmalloc(test.data_bytes / test.sub_buffers);
	if (!test.cpus || !test.copy) {
		ring_test_fail(&test, "out of memory");
		goto out;
	}
	for_each_online_cpu(cpu) {
		if (ring_test_cpu_new(&test, &test.cpus[cpu], cpu)) {
			ring_test_fail(&test, "cannot set up CPU %u", cpu);
			goto out_cpus;
		}
	}
	reader = kthread_run(ring_test_reader, &test, "eventlog_test/reader");
	if (IS_ERR(reader)) {
		ring_test_fail(&test, "cannot start the reader");
		goto out_cpus;
	}

	for_each_online_cpu(cpu)
		WRITE_ONCE(test.cpus[cpu].writing, true);
	smp_store_release(&ring_test_running, &test);
	for_each_online_cpu(cpu)
		wake_up_process(test.cpus[cpu].task);
	for_each_online_cpu(cpu) {
		wait_for_completion(&test.cpus[cpu].done);
		test.cpus[cpu].task = NULL;
	}
	WRITE_ONCE(ring_test_running, NULL);
	/* Wait for NMI handlers that still use the test. */
	synchronize_rcu();
	kthread_stop(reader);

	for_each_online_cpu(cpu) {
		if (!*test.failure)
			ring_test_read(&test, &test.cpus[cpu]);
		ring_test_account(&test, &test.cpus[cpu], nmis);
	}
out_cpus:
	for_each_online_cpu(cpu) {
		if (!IS_ERR_OR_NULL(test.cpus[cpu].task))
			kthread_stop(test.cpus[cpu].task);
		vfree(test.cpus[cpu].pages);
	}
out:
	vfree(test.copy);
	kvfree(test.cpus);
	if (*test.failure)
		pr_info("# %s\n", test.failure);
	return !*test.failure;
}

static int __init eventlog_test_init(void)
{
	unsigned int i, failed = 0;
	u64 nmis = 0;
#ifdef CONFIG_X86
	int ret = register_nmi_handler(NMI_LOCAL, ring_test_nmi, 0, "eventlog_test");

	if (ret)
		return ret;
#endif
	pr_info("KTAP version 1\n");
	pr_info("1..%zu\n", ARRAY_SIZE(ring_tests));
	cpus_read_lock();
	for (i = 0; i < ARRAY_SIZE(ring_tests); i++) {
		bool passed = ring_test_run(&ring_tests[i], &nmis);

		failed += !passed;
		pr_info("%s %u ring: %s\n", passed ? "ok" : "not ok", i + 1, ring_tests[i].name);
	}
	cpus_read_unlock();
	pr_info("# %llu events were written in NMI context\n", nmis);
#ifdef CONFIG_X86
	unregister_nmi_handler(NMI_LOCAL, "eventlog_test");
#endif
	return failed ? -EIO : 0;
}

static void __exit eventlog_test_exit(void)
{
}

module_init(eventlog_test_init);
module_exit(eventlog_test_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The eventlog developers");
MODULE_DESCRIPTION("Self-tests of eventlog's ring buffer");
