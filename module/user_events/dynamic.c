// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines in dynamic_events: see dynamic.h.
 */
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

#include "core/user.h"
#include "user_events/abi.h"
#include "user_events/dynamic.h"
#include "user_events/event.h"
#include "user_events/tracefs.h"

/* Longer writes go to the kernel. */
#define UE_LINES_MAX 4096

static const struct file_operations *ue_original;
static struct file_operations ue_operations;
static struct inode *ue_inode;

/* Makes a persistent event, as nothing else would keep it. */
static int ue_line_create(char *command)
{
	struct eventlog_event_use use = {};
	struct eventlog_watch *watch;

	if (strlen(command) >= UE_COMMAND_MAX)
		return -E2BIG;
	use.user = eventlog_user_open(current_cred());
	if (IS_ERR(use.user))
		return PTR_ERR(use.user);
	watch = ue_event_get(skip_spaces(command), UE_PERSIST, &use);
	if (!IS_ERR(watch))
		ue_event_put(watch, &use);
	eventlog_user_put(use.user);
	return PTR_ERR_OR_ZERO(watch);
}

/* Returns -ENOENT if it is none of this front end's events. */
static int ue_line_delete(char *name)
{
	char *slash = strchr(name, '/');

	if (slash) {
		*slash = '\0';
		if (strcmp(name, UE_PROVIDER) && strcmp(name, UE_PROVIDER_MULTI))
			return -ENOENT;
		name = slash + 1;
	}
	name[strcspn(name, " ")] = '\0';
	return ue_event_delete(name);
}

/* Returns -ECANCELED if the line is for the kernel. */
static int ue_line_run(char *line)
{
	int ret;

	line[strcspn(line, "\n#")] = '\0';
	line = strim(line);
	if (str_has_prefix(line, "u:"))
		return ue_line_create(line + 2);
	if (!str_has_prefix(line, "-:"))
		return -ECANCELED;
	ret = ue_line_delete(line + 2);
	return ret == -ENOENT ? -ECANCELED : ret;
}

static ssize_t ue_dynamic_write(struct file *filp, const char __user *user, size_t bytes,
				loff_t *position)
{
	char *lines, *line, *end;
	ssize_t ret = 0;

	if (bytes > UE_LINES_MAX)
		return ue_original->write(filp, user, bytes, position);
	lines = memdup_user_nul(user, bytes);
	if (IS_ERR(lines))
		return PTR_ERR(lines);
	for (line = lines; line < lines + bytes && ret >= 0; line = end) {
		end = line + strcspn(line, "\n") + 1;
		end = min(end, lines + bytes);
		ret = ue_line_run(line);
		if (ret == -ECANCELED)
			ret = ue_original->write(filp, user + (line - lines), end - line, position);
	}
	kfree(lines);
	return ret < 0 ? ret : bytes;
}

void ue_dynamic_take(void)
{
	struct dentry *dentry = ue_tracefs_find("dynamic_events");

	if (IS_ERR(dentry))
		return;
	if (d_inode(dentry) && d_inode(dentry)->i_fop->write) {
		ue_inode = d_inode(dentry);
		ihold(ue_inode);
		ue_original = ue_inode->i_fop;
		ue_operations = *ue_original;
		ue_operations.owner = THIS_MODULE;
		ue_operations.write = ue_dynamic_write;
		/* Complete before a task can find it. */
		smp_store_release(&ue_inode->i_fop, &ue_operations);
	}
	dput(dentry);
}

void ue_dynamic_restore(void)
{
	if (ue_inode)
		WRITE_ONCE(ue_inode->i_fop, ue_original);
}

void ue_dynamic_put(void)
{
	if (ue_inode)
		iput(ue_inode);
	ue_inode = NULL;
}

#endif /* EVENTLOG_TRACE_EVENTS */
