// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ioctls of subscribers: see subscribe.h.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/uidgid.h>

#include "core/comms.h"
#include "core/expression.h"
#include "core/ioctl.h"
#include "core/list.h"
#include "core/ops.h"
#include "core/subscriber.h"
#include "core/user.h"
#include "user/file.h"
#include "user/subscribe.h"

/*
 * Whom the rings of a subscriber count for, with a reference.  Who captures an instance from
 * outside must not take the room of its programs: only the owner uses the instance's quota, and who
 * has the file of INSTANCE_CREATE, whose opener is someone else.
 */
static struct eventlog_user *eventlog_subscribe_user(const struct eventlog_domain *domain,
						     const struct file *filp)
{
	const struct eventlog_file *file = filp->private_data;

	if (domain->user && !file->opener.hands_on && (file->by_root || file->opener.foreign ||
			     !uid_eq(filp->f_cred->euid, domain->owner)))
		return eventlog_user_open(filp->f_cred);
	return eventlog_user_get(file->user);
}

static int eventlog_ioctl_subscribe(struct eventlog_domain *domain, struct file *filp,
				    void *argument, void __user *user)
{
	struct eventlog_file *file = filp->private_data;
	struct eventlog_subscriber *subscriber;
	struct eventlog_subscribe *request = argument;
	struct eventlog_user *of;
	int ret;

	if (!eventlog_file_read_write(filp))
		return -EBADF;
	if (!eventlog_capable(domain, filp))
		return -EPERM;
	if (eventlog_file_role(file) != EVENTLOG_ROLE_NONE)
		return -EBUSY;
	of = eventlog_subscribe_user(domain, filp);
	if (IS_ERR(of))
		return PTR_ERR(of);
	subscriber = eventlog_subscriber_new(domain, of, request);
	eventlog_user_put(of);
	if (IS_ERR(subscriber))
		return PTR_ERR(subscriber);

	/* Copy results out before the role is set, which cannot be undone. */
	ret = eventlog_argument_put(user, request, sizeof(*request));
	if (ret)
		goto err_free;
	mutex_lock(&file->lock);
	/* A REGISTER in progress may have made the file a producer meanwhile. */
	if (file->role == EVENTLOG_ROLE_NONE)
		file->subscriber = subscriber;
	ret = eventlog_file_role_set(file, EVENTLOG_ROLE_SUBSCRIBER);
	mutex_unlock(&file->lock);
	if (!ret)
		return 0;

err_free:
	eventlog_subscriber_free(subscriber);
	return ret;
}

static int eventlog_ioctl_rule_add(struct eventlog_domain *domain, struct file *filp,
				   void *argument, void __user *user)
{
	struct eventlog_subscriber *subscriber = eventlog_file_subscriber(filp->private_data);
	struct eventlog_rule *request = argument;
	struct eventlog_expression *expression;
	char *provider, *event;
	int ret;

	if (!subscriber)
		return -EINVAL;
	provider = eventlog_string_get_or(request->provider, EVENTLOG_GLOB_MAX, "*");
	if (IS_ERR(provider))
		return PTR_ERR(provider);
	event = eventlog_string_get_or(request->event, EVENTLOG_GLOB_MAX, "*");
	if (IS_ERR(event)) {
		ret = PTR_ERR(event);
		goto out_provider;
	}
	expression = eventlog_expression_get(request->filter);
	if (IS_ERR(expression)) {
		ret = PTR_ERR(expression);
		goto out_event;
	}
	ret = eventlog_subscriber_rule_add(subscriber, request, expression, provider, event);
	if (ret)
		goto out_expression;
	ret = eventlog_argument_put(user, request, sizeof(*request));
	if (ret)
		eventlog_subscriber_rule_delete(subscriber, request->rule_id, false);
out_expression:
	eventlog_expression_put(expression);
out_event:
	kfree(event);
out_provider:
	kfree(provider);
	return ret;
}

static int eventlog_ioctl_rule_delete(struct eventlog_domain *domain, struct file *filp,
				      void *argument, void __user *user)
{
	struct eventlog_subscriber *subscriber = eventlog_file_subscriber(filp->private_data);
	struct eventlog_rule_delete *request = argument;
	int ret;

	if (!subscriber)
		return -EINVAL;
	/* What was emitted so far is still delivered. */
	ret = eventlog_mapped_ops->drain(domain);
	return ret ?: eventlog_subscriber_rule_delete(subscriber, request->rule_id, true);
}

static int eventlog_ioctl_flush(struct eventlog_domain *domain, struct file *filp,
				void *argument, void __user *user)
{
	struct eventlog_subscriber *subscriber = eventlog_file_subscriber(filp->private_data);
	struct eventlog_flush *request = argument;
	u64 time;
	int ret;

	if (!subscriber || request->flags || request->reserved)
		return -EINVAL;
	ret = eventlog_subscriber_flush(subscriber, &time);
	if (ret)
		return ret;
	request->time = time;
	request->generation = READ_ONCE(subscriber->generation);
	return eventlog_argument_put(user, request, sizeof(*request));
}

static int eventlog_ioctl_pause(struct eventlog_domain *domain, struct file *filp,
				void *argument, void __user *user)
{
	struct eventlog_subscriber *subscriber = eventlog_file_subscriber(filp->private_data);
	struct eventlog_pause *request = argument;

	if (!subscriber || request->paused > 1)
		return -EINVAL;
	return eventlog_subscriber_pause(subscriber, request->paused);
}

static int eventlog_ioctl_stat(struct eventlog_domain *domain, struct file *filp,
			       void *argument, void __user *user)
{
	struct eventlog_subscriber *subscriber = eventlog_file_subscriber(filp->private_data);
	struct eventlog_stat *request = argument, stat = {};
	int ret;

	if (!subscriber || request->flags || request->reserved)
		return -EINVAL;
	stat.size = request->size;
	stat.ring = request->ring;
	stat.descriptor = request->descriptor;
	stat.rule_id = request->rule_id;
	ret = eventlog_subscriber_stat(subscriber, &stat);
	if (ret)
		return ret;
	return eventlog_argument_put(user, &stat, sizeof(stat));
}

/* The key of a name is its index + 1. */
static int eventlog_names_fill(struct eventlog_batch *batch, struct eventlog_domain *domain,
			       struct file *filp, const struct eventlog_list *request)
{
	struct eventlog_subscriber *subscriber = eventlog_file_subscriber(filp->private_data);
	const struct eventlog_cpu_ring *cpu_ring;
	struct eventlog_name name;

	if (!subscriber)
		return -EINVAL;
	cpu_ring = eventlog_subscriber_ring(subscriber, request->ring);
	if (!cpu_ring)
		return -ENXIO;
	for (; batch->cursor < EVENTLOG_NAMES_MAX; batch->cursor++)
		if (eventlog_comms_read(&cpu_ring->comms,
					array_index_nospec((u32)batch->cursor,
							   EVENTLOG_NAMES_MAX),
					&name) &&
		    name.time >= request->since &&
		    !eventlog_batch_put(batch, &name, sizeof(name), NULL))
			return 1;
	return 0;
}

static const struct eventlog_list_ops eventlog_names_list = { .fill = eventlog_names_fill };

static const struct eventlog_ioctl eventlog_subscribe_table[] = {
	EVENTLOG_IOCTL(SUBSCRIBE, eventlog_subscribe, shards, eventlog_ioctl_subscribe),
	EVENTLOG_IOCTL(RULE_ADD, eventlog_rule, filter, eventlog_ioctl_rule_add),
	EVENTLOG_IOCTL(RULE_DEL, eventlog_rule_delete, rule_id, eventlog_ioctl_rule_delete),
	EVENTLOG_IOCTL(FLUSH, eventlog_flush, generation, eventlog_ioctl_flush),
	EVENTLOG_IOCTL(STAT, eventlog_stat, lost, eventlog_ioctl_stat),
	EVENTLOG_IOCTL(PAUSE, eventlog_pause, paused, eventlog_ioctl_pause),
};

const struct eventlog_ioctls eventlog_subscribe_ioctls = {
	.ioctls = eventlog_subscribe_table,
	.count = ARRAY_SIZE(eventlog_subscribe_table),
	.kinds = { [EVENTLOG_LIST_NAMES] = &eventlog_names_list },
};
