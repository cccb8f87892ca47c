// SPDX-License-Identifier: GPL-2.0-only
/*
 * BPF programs as producers: see kfunc.h.
 */
#include "compat.h"
#include "trace/kfunc.h"

#if EVENTLOG_KFUNCS

#include <linux/module.h>
#include <linux/rcupdate.h>

#include "core/domain.h"
#include "core/emit.h"
#include "core/event.h"
#include "core/fields.h"

__bpf_kfunc int bpf_eventlog_emit(u32 descriptor, u64 session, const void *payload,
				  u32 payload__sz)
{
	const struct eventlog_event *event;
	int ret;

	preempt_disable_notrace();
	ret = -ENOENT;
	event = eventlog_watched() ? xa_load(&eventlog_root_domain.definitions, descriptor) : NULL;
	if (!event)
		goto out;
	ret = -EPERM;
	/* Processes' providers have none. */
	if (event->provider->preamble)
		goto out;
	ret = -EBADF;
	if (!rcu_access_pointer(event->wanted))
		goto out;
	ret = eventlog_layout_validate(event->layout, payload, payload__sz);
	if (!ret)
		eventlog_emit(event, session, payload, payload__sz);
out:
	preempt_enable_notrace();
	return ret;
}

BTF_KFUNCS_START(eventlog_kfuncs)
BTF_ID_FLAGS(func, bpf_eventlog_emit)
BTF_KFUNCS_END(eventlog_kfuncs)

static const struct btf_kfunc_id_set eventlog_kfunc_set = {
	.owner = THIS_MODULE,
	.set = &eventlog_kfuncs,
};

int eventlog_kfunc_init(void)
{
	int ret;

	/* Not an error, but the kernel would say so. */
	if (!THIS_MODULE->btf_data_size)
		return 0;
	/* Each stands for several types, of tracing and of kprobes; one twice is refused. */
	ret = register_btf_kfunc_id_set(BPF_PROG_TYPE_TRACING, &eventlog_kfunc_set);
	if (!ret && EVENTLOG_KFUNCS_KPROBE)
		ret = register_btf_kfunc_id_set(BPF_PROG_TYPE_KPROBE, &eventlog_kfunc_set);
	/* The kernel could not read the types, as it said: older ones fail then. */
	return ret == -ENOENT ? 0 : ret;
}

#else /* !EVENTLOG_KFUNCS */

int eventlog_kfunc_init(void)
{
	return 0;
}

#endif /* EVENTLOG_KFUNCS */
