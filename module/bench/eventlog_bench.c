// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog_bench.ko: measures writes to open files from inside the kernel, without the
 * cost of the system call.  For benchmark kernels only: it trusts requests by root.
 *
 * An ioctl of /dev/eventlog_bench runs a batch.  Writing to that device does nothing;
 * writing to /dev/eventlog_bench_copy copies and discards the message.  These two are
 * the lower bounds.  There is no shared state, and therefore no lock.
 */
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "eventlog_bench.h"

/* A write, prepared once per batch, so that the loop contains little else. */
struct bench_write {
	struct file *file;
	void *kernel_message;
	void __user *user_message;
	size_t bytes;
	struct kvec kvec;
	struct kiocb kiocb;
	struct iov_iter from;
};

static __always_inline ssize_t bench_write_iter(const struct bench_write *write)
{
	struct kiocb kiocb = write->kiocb;
	struct iov_iter from = write->from;

	return write->file->f_op->write_iter(&kiocb, &from);
}

static __always_inline ssize_t bench_write(const struct bench_write *write)
{
	loff_t position = 0;

	return write->file->f_op->write(write->file, write->user_message, write->bytes, &position);
}

static __always_inline ssize_t bench_clock(const struct bench_write *write)
{
	u64 time = ktime_get_mono_fast_ns();

	/* Keep the compiler from removing the call. */
	OPTIMIZER_HIDE_VAR(time);
	return write->bytes;
}

/* Inlined for each function: an indirect call would be part of the measurement. */
static __always_inline int bench_loop(const struct eventlog_bench_batch *batch,
				      const struct bench_write *write,
				      ssize_t (*function)(const struct bench_write *write),
				      u64 *nanoseconds)
{
	u64 begin = ktime_get_ns();
	u32 wrong = 0, i;

	for (i = 0; i < batch->count; i++)
		wrong += function(write) != batch->result;
	*nanoseconds = ktime_get_ns() - begin;
	return wrong ? -EIO : 0;
}

static int bench_run_kvec(const struct eventlog_bench_batch *batch, struct bench_write *write,
			  u64 *nanoseconds)
{
	if (!write->file->f_op->write_iter)
		return -EOPNOTSUPP;
	write->kvec.iov_base = write->kernel_message;
	write->kvec.iov_len = write->bytes;
	init_sync_kiocb(&write->kiocb, write->file);
	iov_iter_kvec(&write->from, ITER_SOURCE, &write->kvec, 1, write->bytes);
	return bench_loop(batch, write, bench_write_iter, nanoseconds);
}

static int bench_run_ubuf(const struct eventlog_bench_batch *batch, struct bench_write *write,
			  u64 *nanoseconds)
{
	int ret;

	if (!write->file->f_op->write_iter)
		return -EOPNOTSUPP;
	init_sync_kiocb(&write->kiocb, write->file);
	ret = import_ubuf(ITER_SOURCE, write->user_message, write->bytes, &write->from);
	return ret ?: bench_loop(batch, write, bench_write_iter, nanoseconds);
}

static int bench_run_write(const struct eventlog_bench_batch *batch, struct bench_write *write,
			   u64 *nanoseconds)
{
	if (!write->file->f_op->write)
		return -EOPNOTSUPP;
	return bench_loop(batch, write, bench_write, nanoseconds);
}

static int bench_run_clock(const struct eventlog_bench_batch *batch, struct bench_write *write,
			   u64 *nanoseconds)
{
	return bench_loop(batch, write, bench_clock, nanoseconds);
}

static int (*const bench_methods[EVENTLOG_BENCH_METHODS])(const struct eventlog_bench_batch *batch,
							   struct bench_write *write,
							   u64 *nanoseconds) = {
	[EVENTLOG_BENCH_KVEC] = bench_run_kvec,
	[EVENTLOG_BENCH_UBUF] = bench_run_ubuf,
	[EVENTLOG_BENCH_WRITE] = bench_run_write,
	[EVENTLOG_BENCH_CLOCK] = bench_run_clock,
};

static int bench_batch(struct eventlog_bench_batch *batch)
{
	struct bench_write write = {
		.user_message = u64_to_user_ptr(batch->message),
		.bytes = batch->bytes,
	};
	int ret;

	if (batch->method >= EVENTLOG_BENCH_METHODS || !batch->bytes ||
	    batch->bytes > EVENTLOG_BENCH_MESSAGE_MAX ||
	    batch->count > EVENTLOG_BENCH_COUNT_MAX)
		return -EINVAL;
	write.kernel_message = memdup_user(write.user_message, batch->bytes);
	if (IS_ERR(write.kernel_message))
		return PTR_ERR(write.kernel_message);
	ret = -EBADF;
	write.file = fget(batch->fd);
	if (!write.file)
		goto out_message;
	if (!(write.file->f_mode & FMODE_WRITE))
		goto out_file;
	ret = bench_methods[batch->method](batch, &write, &batch->nanoseconds);
out_file:
	fput(write.file);
out_message:
	kfree(write.kernel_message);
	return ret;
}

static long bench_ioctl(struct file *filp, unsigned int command, unsigned long user)
{
	struct eventlog_bench_batch batch;
	int ret;

	if (command != EVENTLOG_BENCH_IOC_BATCH)
		return -ENOTTY;
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (copy_from_user(&batch, (void __user *)user, sizeof(batch)))
		return -EFAULT;
	ret = bench_batch(&batch);
	if (!ret && copy_to_user((void __user *)user, &batch, sizeof(batch)))
		ret = -EFAULT;
	return ret;
}

static ssize_t bench_nothing(struct kiocb *kiocb, struct iov_iter *from)
{
	return iov_iter_count(from);
}

/* Copies a small message in the same way as eventlog_write_iter(). */
static ssize_t bench_copy(struct kiocb *kiocb, struct iov_iter *from)
{
	size_t bytes = iov_iter_count(from);
	u8 small[512] __uninitialized;

	if (bytes > sizeof(small) || !copy_from_iter_full(small, bytes, from))
		return -EFAULT;
	/* Keep the compiler from removing the copy. */
	barrier_data(small);
	return bytes;
}

static const struct file_operations bench_operations = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = bench_ioctl,
	.write_iter = bench_nothing,
};

static const struct file_operations bench_copy_operations = {
	.owner = THIS_MODULE,
	.write_iter = bench_copy,
};

static struct miscdevice bench_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "eventlog_bench",
	.fops = &bench_operations,
};

static struct miscdevice bench_copy_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "eventlog_bench_copy",
	.fops = &bench_copy_operations,
};

static int __init bench_init(void)
{
	int ret = misc_register(&bench_device);

	if (ret)
		return ret;
	ret = misc_register(&bench_copy_device);
	if (ret)
		misc_deregister(&bench_device);
	return ret;
}

static void __exit bench_exit(void)
{
	misc_deregister(&bench_copy_device);
	misc_deregister(&bench_device);
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("eventlog benchmark: writes inside the kernel");
