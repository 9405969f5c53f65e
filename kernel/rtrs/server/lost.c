// SPDX-License-Identifier: GPL-2.0
/*
 * A client has lost a path, and is about to send its requests over another one. Here the lost path
 * may look well, and have requests coming that are in a queue of the network still. It is closed,
 * and the client told so when its queue pairs take nothing any more. What they have taken is
 * fence.c's.
 */
#include <linux/wait_bit.h>
#include "server.h"

/* The client has lost the path of this tag, and says so over another, once at a time. */
void rtrs_server_lost_ask(struct rtrs_server_path *path, u32 tag)
{
	WRITE_ONCE(path->lost_tag, tag);
	queue_work(rtrs_server_lost_wq, &path->lost_work);
}

/* Another path of this name that may still take something, closed; with a reference. */
static struct rtrs_server_path *close_tagged(struct rtrs_server_path *asked, u32 tag)
{
	struct rtrs_server_session *session = asked->session;
	struct rtrs_server_path *path, *found = NULL;

	mutex_lock(&session->lock);
	list_for_each_entry(path, &session->paths, entry) {
		if (path == asked || READ_ONCE(path->stopped) || rtrs_fence_tag(path->uuid) != tag)
			continue;
		rtrs_server_path_close(path, -ECONNABORTED);
		kref_get(&path->ref);
		found = path;
		break;
	}
	mutex_unlock(&session->lock);
	return found;
}

void rtrs_server_lost_work(struct work_struct *work)
{
	struct rtrs_server_path *path = container_of(work, struct rtrs_server_path, lost_work);
	u32 tag = READ_ONCE(path->lost_tag);
	struct rtrs_server_path *lost;
	int err;

	while ((lost = close_tagged(path, tag))) {
		wait_var_event(&lost->stopped, READ_ONCE(lost->stopped));
		rtrs_server_path_put(lost);
	}
	err = rtrs_server_con_send_imm(path->con[0], RTRS_IMM_FENCED, tag);
	/* It would wait for an answer that is not on its way: it is to ask over another one. */
	if (err)
		rtrs_server_path_close(path, err);
}
