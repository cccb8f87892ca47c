// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module in the engine: see glue.h. There are no instances, no modules with markers, no BPF
 * programs and no probes on the scheduler. processes.c says that a thread has exited.
 */
#include "kernel/klinux.h"
#include "core/domain.h"
#include "core/ioctl.h"
#include "core/ops.h"
#include "marker/marker.h"
#include "trace/kfunc.h"
#include "user/instance.h"
#include "user/watch.h"
#include "glue.h"

int engine_load(void)
{
	klinux_clock_init();
	return klinux_load();
}

bool engine_unload(void)
{
	klinux_unload();
	return !klinux_warnings;
}

/* ---- user/instance.h ---- */

const struct eventlog_ioctls eventlog_instance_ioctls;

int eventlog_instances_init(struct eventlog_domain *root, unsigned int instances_max,
			    void (*empty)(struct eventlog_domain *domain))
{
	return 0;
}

void eventlog_instances_exit(void)
{
}

bool eventlog_instances_await(void)
{
	return false;
}

bool eventlog_instances_possible(const struct eventlog_domain *domain)
{
	return false;
}

void eventlog_instances_sessions(void)
{
}

void eventlog_instances_leave(u32 flags)
{
}

struct eventlog_domain *eventlog_domain_open(const struct inode *inode, struct file *filp)
{
	return &eventlog_root_domain;
}

bool eventlog_owner_enter(struct eventlog_domain *domain, const struct cred *cred, bool *foreign)
{
	return false;
}

void eventlog_owner_leave(struct eventlog_domain *domain)
{
}

void eventlog_domain_put(struct eventlog_domain *domain)
{
}

/* ---- user/watch.h ---- */

void eventlog_watch_init(void)
{
}

void eventlog_watch_exit(void)
{
}

int eventlog_watch(void)
{
	return 0;
}

/* ---- marker/marker.h: what is not of programs ---- */

int eventlog_markers_init(void)
{
	return 0;
}

void eventlog_markers_exit(void)
{
}

bool eventlog_marker_update(struct eventlog_provider_event *source, bool enabled)
{
	return false;
}

int eventlog_markers_switch(const char *module, const char *marker,
			    struct eventlog_expression *expression,
			    struct eventlog_marker_set *request)
{
	return -ENOENT;
}

struct eventlog_expression *eventlog_marker_filter(const struct eventlog_marker *marker,
						   u64 *rejected)
{
	return NULL;
}

/* ---- trace/kfunc.h ---- */

int eventlog_kfunc_init(void)
{
	return 0;
}
