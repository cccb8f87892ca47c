// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of trace events in tracefs: see files.h.
 *
 * The files trigger and format find ftrace's struct in the inode, under event_mutex, each time
 * they are used.  They fail if it is not there, so it is taken away.
 *
 * A task opens one of the other files in these steps: it gets a reference to the dentry, reads
 * the inode's operations and calls open(), which reads the pointer to ftrace's struct from the
 * inode, waits for event_mutex, and gets a reference to the struct.  If the event is removed
 * before the last step, that step uses freed memory.  So the operations are replaced first.
 * Then those who refer to a dentry are counted, under event_mutex.  All of them must have a
 * reference to the struct as well.  A task that comes later finds the new operations.
 *
 * A file that is open with O_PATH looks like one that is being opened.  Kernels without
 * eventlog_trace_file_opens() do not count open files at all.
 */
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/trace_events.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS && EVENTLOG_TRACE_FILES

#include "trace/files.h"

/* Files that are counted.  @operations: the file's in every event, once it was closed */
static struct eventlog_counted_file {
	const char *name;
	const struct file_operations *operations;
} eventlog_counted_files[] = {
	{ "enable" }, { "filter" }, { "hist" }, { "hist_debug" }, { "inject" },
};

static struct dentry *eventlog_tracefs;
/* The operations of an inode that cannot be opened: the kernel does not export them. */
static const struct file_operations *eventlog_no_open;

/*
 * Finds a file or directory.  Without a reference: event_mutex and the directory keep it.
 * Returns NULL if there is none.
 */
static struct dentry *eventlog_files_lookup(struct dentry *directory, const char *name)
{
	struct qstr string = QSTR_INIT(name, strlen(name));
	struct dentry *dentry = d_hash_and_lookup(directory, &string);
	bool exists;

	if (IS_ERR_OR_NULL(dentry))
		return NULL;
	exists = d_really_is_positive(dentry);
	dput(dentry);
	return exists ? dentry : NULL;
}

/* The event's directory in an instance of ftrace, or NULL. */
static struct dentry *eventlog_files_directory(struct dentry *instance,
					       struct trace_event_call *call)
{
	const char *const path[] = { "events", call->class->system, trace_event_name(call) };
	struct dentry *dentry = instance;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(path) && dentry; i++)
		dentry = eventlog_files_lookup(dentry, path[i]);
	return dentry;
}

/* The directory after @previous in that of the instances, or the first one, or NULL. */
static struct dentry *eventlog_files_instance_next(struct dentry *instances,
						   struct dentry *previous)
{
	struct dentry *dentry, *found = NULL;

	spin_lock(&instances->d_lock);
	dentry = list_prepare_entry(previous, &instances->d_subdirs, d_child);
	list_for_each_entry_continue(dentry, &instances->d_subdirs, d_child) {
		if (simple_positive(dentry)) {
			found = dentry;
			break;
		}
	}
	spin_unlock(&instances->d_lock);
	return found;
}

/* Sets the struct that a file finds, or takes it away (NULL). */
static void eventlog_files_set(struct dentry *directory, const char *name, void *found)
{
	struct dentry *dentry = eventlog_files_lookup(directory, name);

	if (dentry)
		WRITE_ONCE(d_inode(dentry)->i_private, found);
}

/* Closes the files in a directory; returns whether one is in use without a reference. */
static bool eventlog_files_shut(struct dentry *directory, struct trace_event_call *call)
{
	struct eventlog_counted_file *file = eventlog_counted_files;
	struct trace_event_file *owner = NULL;
	struct dentry *dentry;
	int users = 0;

	eventlog_files_set(directory, "format", NULL);
	eventlog_files_set(directory, "trigger", NULL);
	for (; file < eventlog_counted_files + ARRAY_SIZE(eventlog_counted_files); file++) {
		dentry = eventlog_files_lookup(directory, file->name);
		if (!dentry)
			continue;
		owner = d_inode(dentry)->i_private;
		if (d_inode(dentry)->i_fop != eventlog_no_open) {
			file->operations = d_inode(dentry)->i_fop;
			WRITE_ONCE(d_inode(dentry)->i_fop, eventlog_no_open);
		}
		/* A task that opens it gets its reference before it reads the operations. */
		smp_mb();
		/* tracefs has one reference. */
		users += d_count(dentry) - 1;
	}
	/* A task that closes a file drops the reference to the dentry last. */
	smp_rmb();
	return owner && users > eventlog_trace_file_opens(owner);
}

static bool eventlog_files_reopen(struct dentry *directory, struct trace_event_call *call)
{
	struct eventlog_counted_file *file = eventlog_counted_files;
	struct trace_event_file *owner = NULL;
	struct dentry *dentry;

	for (; file < eventlog_counted_files + ARRAY_SIZE(eventlog_counted_files); file++) {
		dentry = eventlog_files_lookup(directory, file->name);
		if (!dentry)
			continue;
		owner = d_inode(dentry)->i_private;
		if (d_inode(dentry)->i_fop == eventlog_no_open)
			WRITE_ONCE(d_inode(dentry)->i_fop, file->operations);
	}
	eventlog_files_set(directory, "format", call);
	eventlog_files_set(directory, "trigger", owner);
	return false;
}

/* Calls a function for the event's directories; returns whether one call returned true. */
static bool eventlog_files_each(struct trace_event_call *call,
				bool (*function)(struct dentry *directory,
						 struct trace_event_call *call))
{
	struct dentry *instances = eventlog_files_lookup(eventlog_tracefs, "instances");
	struct dentry *instance = eventlog_tracefs, *directory;
	bool result = false;

	while (instance) {
		directory = eventlog_files_directory(instance, call);
		if (directory)
			result |= function(directory, call);
		if (!instances)
			break;
		instance = eventlog_files_instance_next(instances, instance == eventlog_tracefs ?
								   NULL : instance);
	}
	return result;
}

bool eventlog_trace_files_close(struct trace_event_call *call)
{
	return !eventlog_tracefs || !eventlog_files_each(call, eventlog_files_shut);
}

void eventlog_trace_files_open(struct trace_event_call *call)
{
	if (eventlog_tracefs)
		eventlog_files_each(call, eventlog_files_reopen);
}

/*
 * A static event of this module leads to tracefs, which exists as long as the kernel runs.  There
 * is none if the module was loaded by force: ftrace refuses its events.
 */
int eventlog_trace_files_init(void)
{
	struct trace_event_file *file = trace_get_event_file(NULL, "eventlog", "eventlog_marker");
	struct inode *inode;

	if (IS_ERR(file))
		return 0;
	if (file->dir)
		eventlog_tracefs = file->dir->d_sb->s_root;
	trace_put_event_file(file);
	/* Without directories there are no files. */
	if (!eventlog_tracefs)
		return 0;
	inode = new_inode(eventlog_tracefs->d_sb);
	if (!inode)
		return -ENOMEM;
	eventlog_no_open = inode->i_fop;
	iput(inode);
	return 0;
}

#endif /* EVENTLOG_TRACE_EVENTS && EVENTLOG_TRACE_FILES */
