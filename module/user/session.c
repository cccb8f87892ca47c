// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions of threads that have no producer ring: see session.h.
 */
#include <linux/errno.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "core/domain.h"
#include "core/thread.h"
#include "user/file.h"
#include "user/session.h"
#include "user/watch.h"

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
	ret = eventlog_watch();
	return ret ?: eventlog_thread_enlist(&file->threads, file->user, &session);
}
