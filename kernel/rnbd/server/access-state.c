// SPDX-License-Identifier: GPL-2.0
/* What is in force: open, closed, or a list. */
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include "access.h"

DEFINE_MUTEX(rnbd_server_access_lock);	/* of all here, see access.h */
struct rnbd_access rnbd_server_access = { .number = 1 };
LIST_HEAD(rnbd_server_access_sessions);

void rnbd_server_access_list_free(struct rnbd_access_list *list)
{
	if (!list)
		return;
	kvfree(list);
	rtrs_census_destroyed(RTRS_CENSUS_RNBD_SERVER_LIST);
}

int rnbd_server_access_errno(enum rnbd_access_reason reason)
{
	static const int errnos[RNBD_ACCESS_REASON_OTHER + 1] = {
		[RNBD_ACCESS_REASON_NO_KEY] = -ENOKEY,
		[RNBD_ACCESS_REASON_NAME_TAKEN] = -EPERM,
		[RNBD_ACCESS_REASON_NO_EXPORT] = -ENOENT,
		[RNBD_ACCESS_REASON_LIMIT_SESSIONS] = -EUSERS,
		[RNBD_ACCESS_REASON_LIMIT_MEMORY] = -ENOMEM,
	};

	return reason ? errnos[reason] ?: -EACCES : 0;
}

static int state_set(const char *val, const struct kernel_param *kp)
{
	if (sysfs_streq(val, "closed"))
		rnbd_server_access.state = RNBD_ACCESS_STATE_CLOSED;
	else if (!sysfs_streq(val, "open"))
		return -EINVAL;
	return 0;
}

static int state_get(char *page, const struct kernel_param *kp)
{
	static const char *const names[] = { "open", "closed", "listed" };

	return sysfs_emit(page, "%s\n", names[READ_ONCE(rnbd_server_access.state)]);
}

static const struct kernel_param_ops state_ops = {
	.set = state_set,
	.get = state_get,
};

module_param_cb(access, &state_ops, NULL, 0444);
MODULE_PARM_DESC(access,
		 "Who may use the server before it gets an access list: open or closed (default: open)");

void rnbd_server_access_exit(void)
{
	rnbd_server_access_list_free(rnbd_server_access.list);
}
