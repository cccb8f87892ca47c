// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions of threads that have no producer ring: see session.h.
 */
#include <linux/errno.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <trace/events/sched.h>

#include "core/domain.h"
#include "core/thread.h"
#include "providers/hook.h"
#include "user/file.h"
#include "user/session.h"

static void eventlog_session_on_exec(void *unused, struct task_struct *task, pid_t old,
				     struct linux_binprm *program)
{
	eventlog_thread_delist();
}

static void __maybe_unused eventlog_session_on_exit(void *unused, struct task_struct *task)
{
	eventlog_thread_delist();
}

static void __maybe_unused eventlog_session_on_exit_group(void *unused, struct task_struct *task,
							  bool group_dead)
{
	eventlog_thread_delist();
}

/* Protects the hooks while the module can be used. */
static DEFINE_MUTEX(eventlog_session_lock);

static struct eventlog_hook eventlog_session_hooks[] = {
	EVENTLOG_HOOK(sched_process_exec, eventlog_session_on_exec),
	EVENTLOG_HOOK_EITHER(sched_process_exit, eventlog_session_on_exit,
			     eventlog_session_on_exit_group),
	{},
};

/* All hooks are registered; set once. */
static bool eventlog_session_watched;

void eventlog_session_init(void)
{
	eventlog_hooks_find(eventlog_session_hooks);
}

void eventlog_session_exit(void)
{
	struct eventlog_hook *hook;

	for (hook = eventlog_session_hooks; hook->name; hook++)
		eventlog_hook_set(hook, false);
	tracepoint_synchronize_unregister();
}

/* Before the first thread has an entry. */
static int eventlog_session_watch(void)
{
	struct eventlog_hook *hook;
	int ret = 0;

	if (smp_load_acquire(&eventlog_session_watched))
		return 0;
	mutex_lock(&eventlog_session_lock);
	for (hook = eventlog_session_hooks; hook->name; hook++) {
		eventlog_hook_set(hook, true);
		if (!hook->hooked)
			ret = hook->point ? -ENOMEM : -EOPNOTSUPP;
	}
	if (!ret)
		smp_store_release(&eventlog_session_watched, true);
	mutex_unlock(&eventlog_session_lock);
	return ret;
}

int eventlog_session_write(struct eventlog_file *file, const u8 *message, size_t bytes)
{
	struct eventlog_write_session request;
	struct eventlog_session session;
	int ret;

	if (bytes != sizeof(request))
		return -EINVAL;
	memcpy(&request, message, sizeof(request));
	session = (struct eventlog_session){
		.number = request.session, .of = request.session_of,
	};
	if (file->domain != &eventlog_root_domain || current->flags & (PF_KTHREAD | PF_IO_WORKER))
		return -EOPNOTSUPP;
	ret = eventlog_thread_state(&file->threads, &session);
	if (ret != -ENOENT)
		return ret;
	ret = eventlog_session_watch();
	return ret ?: eventlog_thread_enlist(&file->threads, file->user, &session);
}
