// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files in tracefs: see tracefs.h.
 */
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/fsnotify.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/rcupdate.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

#include "user_events/tracefs.h"

static struct file_system_type *ue_tracefs;
static struct vfsmount *ue_mount;
static int ue_mount_count;

int ue_tracefs_pin(void)
{
	int ret;

	ue_tracefs = get_fs_type("tracefs");
	if (!ue_tracefs)
		return -ENODEV;
	ret = simple_pin_fs(ue_tracefs, &ue_mount, &ue_mount_count);
	if (ret)
		module_put(ue_tracefs->owner);
	return ret;
}

void ue_tracefs_unpin(void)
{
	simple_release_fs(&ue_mount, &ue_mount_count);
	module_put(ue_tracefs->owner);
}

struct dentry *ue_tracefs_find(const char *name)
{
	struct dentry *root = ue_mount->mnt_root, *dentry;

	inode_lock(d_inode(root));
	dentry = eventlog_lookup(name, root);
	inode_unlock(d_inode(root));
	return dentry;
}

#if EVENTLOG_TRACEFS_CREATE

struct dentry *ue_tracefs_make(const char *name, umode_t mode,
			       const struct file_operations *operations)
{
	struct dentry *dentry = tracefs_create_file(name, S_IFREG | mode, NULL, NULL, operations);

	/* It does not say why it fails. */
	return IS_ERR_OR_NULL(dentry) ? ERR_PTR(-EEXIST) : dentry;
}

#else

/* The inode's operations are the default ones: those of tracefs expect data of tracefs. */
static struct inode *ue_inode_new(const struct inode *root, umode_t mode,
				  const struct file_operations *operations)
{
	struct inode *inode = new_inode(root->i_sb);

	if (!inode)
		return NULL;
	inode->i_ino = get_next_ino();
	inode->i_mode = S_IFREG | mode;
	inode->i_fop = operations;
	inode->i_uid = root->i_uid;
	inode->i_gid = root->i_gid;
	simple_inode_init_ts(inode);
	return inode;
}

struct dentry *ue_tracefs_make(const char *name, umode_t mode,
			       const struct file_operations *operations)
{
	struct dentry *root = ue_mount->mnt_root, *dentry;
	struct inode *inode;
	int ret;

	inode_lock(d_inode(root));
	dentry = eventlog_lookup(name, root);
	if (IS_ERR(dentry))
		goto out;
	ret = -EEXIST;
	if (d_inode(dentry))
		goto err_put;
	ret = -ENOMEM;
	inode = ue_inode_new(d_inode(root), mode, operations);
	if (!inode)
		goto err_put;
	/* The file system keeps this reference until the file is removed. */
	d_instantiate(dentry, inode);
	fsnotify_create(d_inode(root), dentry);
	goto out;

err_put:
	dput(dentry);
	dentry = ERR_PTR(ret);
out:
	inode_unlock(d_inode(root));
	return dentry;
}

#endif

void ue_tracefs_open(struct dentry *dentry, const struct file_operations *operations)
{
	WRITE_ONCE(d_inode(dentry)->i_fop, operations);
}

void ue_tracefs_remove(struct dentry *dentry)
{
	if (!dentry)
		return;
	ue_tracefs_open(dentry, &simple_dir_operations);
	simple_recursive_removal(dentry, NULL);
}

void ue_tracefs_settle(void)
{
	synchronize_rcu_tasks();
	synchronize_rcu();
}

#endif /* EVENTLOG_TRACE_EVENTS */
