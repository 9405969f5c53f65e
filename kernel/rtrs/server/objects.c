// SPDX-License-Identifier: GPL-2.0
/* Sessions and paths as objects, and how many of them there are. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include "server.h"

/* Sessions whose memory is not freed yet, connect requests, one for the server itself. */
static atomic_t live;
static DECLARE_WAIT_QUEUE_HEAD(gone_wq);

void rtrs_server_live_get(void)
{
	atomic_inc(&live);
}

void rtrs_server_live_put(void)
{
	if (atomic_dec_and_test(&live))
		wake_up_all(&gone_wq);
}

void rtrs_server_live_await(void)
{
	while (!wait_event_timeout(gone_wq, !atomic_read(&live), 30 * HZ))
		pr_warn("waiting for %d sessions and connections to go\n", atomic_read(&live));
}

static void session_release(struct kref *ref)
{
	struct rtrs_server_session *session = container_of(ref, struct rtrs_server_session, ref);

	rtrs_server_chunks_put(session);
	kvfree(session->slots);
	rtrs_server_mem_give(session, atomic64_read(&session->pinned));
	mutex_destroy(&session->lock);
	mutex_destroy(&session->devs.lock);
	kmem_cache_free(rtrs_server_session_cache, session);
	rtrs_census_destroyed(RTRS_CENSUS_SERVER_SESSION);
	rtrs_server_live_put();
}

void rtrs_server_session_put(struct rtrs_server_session *session)
{
	kref_put(&session->ref, session_release);
}

static void path_release(struct kref *ref)
{
	struct rtrs_server_path *path = container_of(ref, struct rtrs_server_path, ref);

	percpu_ref_exit(&path->inflight);
	free_percpu(path->counts);
	kvfree(path->con);
	rtrs_server_session_put(path->session);
	kmem_cache_free(rtrs_server_path_cache, path);
	rtrs_census_destroyed(RTRS_CENSUS_SERVER_PATH);
}

void rtrs_server_path_put(struct rtrs_server_path *path)
{
	kref_put(&path->ref, path_release);
}
