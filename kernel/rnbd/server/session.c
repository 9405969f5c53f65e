// SPDX-License-Identifier: GPL-2.0
/* Sessions: they come and go as the transport says. */
#include <linux/random.h>
#include <linux/slab.h>
#include "server.h"

#define FIRST_ID_MASK	0xffffff	/* small ids keep the tree of ids flat */

static struct kmem_cache *session_cache;

/* What is queued on the first goes on in the second. */
static void destroy_queues(struct rnbd_server_session *session)
{
	if (session->wq)
		destroy_workqueue(session->wq);
	if (session->open_wq)
		destroy_workqueue(session->open_wq);
}

int rnbd_server_session_up(struct rtrs_server_session *transport, const char *name, void **priv)
{
	struct rnbd_server_session *session = kmem_cache_zalloc(session_cache, GFP_KERNEL);

	if (!session)
		return -ENOMEM;
	/* No part of I/O, and block devices that come and go wait for work of all kinds. */
	session->wq = alloc_ordered_workqueue("rnbd-server-ctl", 0);
	session->open_wq = alloc_workqueue("rnbd-server-open", WQ_UNBOUND, RNBD_SERVER_OPENS);
	if (!session->wq || !session->open_wq) {
		destroy_queues(session);
		kmem_cache_free(session_cache, session);
		return -ENOMEM;
	}
	kref_init(&session->ref);
	xa_init_flags(&session->ids, XA_FLAGS_ALLOC);
	mutex_init(&session->lock);
	INIT_LIST_HEAD(&session->devs);
	INIT_LIST_HEAD(&session->draining);
	INIT_LIST_HEAD(&session->opening);
	session->next_id = get_random_u32() & FIRST_ID_MASK;
	session->transport = transport;
	session->name = name;
	session->id = rtrs_server_session_id(transport);
	rtrs_server_session_client(transport, &session->client);
	rtrs_census_created(RTRS_CENSUS_RNBD_SERVER_SESSION);
	rnbd_server_access_add(session);
	*priv = session;
	return 0;
}

static void release(struct kref *ref)
{
	struct rnbd_server_session *session = container_of(ref, struct rnbd_server_session, ref);
	struct rtrs_server_session *transport = session->transport;

	rnbd_server_access_del(session);
	xa_destroy(&session->ids);
	kmem_cache_free(session_cache, session);
	rtrs_census_destroyed(RTRS_CENSUS_RNBD_SERVER_SESSION);
	rtrs_server_session_closed(transport);
}

void rnbd_server_session_put(struct rnbd_server_session *session)
{
	kref_put(&session->ref, release);
}

/*
 * Every operation is answered; a work item may still be on its way out after its
 * answer, so the queues go first. The last device that is released ends the session.
 */
void rnbd_server_session_down(void *priv)
{
	struct rnbd_server_session *session = priv;

	destroy_queues(session);
	rnbd_server_session_put(session);
}

u32 rnbd_server_session_opens(void *priv)
{
	struct rnbd_server_session *session = priv;

	return READ_ONCE(session->dev_count);
}

int __init rnbd_server_session_init(void)
{
	session_cache = KMEM_CACHE(rnbd_server_session, 0);
	return session_cache ? 0 : -ENOMEM;
}

void rnbd_server_session_exit(void)
{
	kmem_cache_destroy(session_cache);
}
