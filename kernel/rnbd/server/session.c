// SPDX-License-Identifier: GPL-2.0
/* Sessions: they come and go as the transport says. */
#include <linux/random.h>
#include <linux/slab.h>
#include "server.h"

#define FIRST_ID_MASK	0xffffff	/* small ids keep the tree of ids flat */

static struct kmem_cache *session_cache;

int rnbd_server_session_up(struct rtrs_server_session *transport, const char *name, void **priv)
{
	struct rnbd_server_session *session = kmem_cache_zalloc(session_cache, GFP_KERNEL);

	if (!session)
		return -ENOMEM;
	/* No part of I/O, and block devices that come and go wait for work of all kinds. */
	session->wq = alloc_ordered_workqueue("rnbd-server-ctl", 0);
	if (!session->wq) {
		kmem_cache_free(session_cache, session);
		return -ENOMEM;
	}
	xa_init_flags(&session->ids, XA_FLAGS_ALLOC);
	mutex_init(&session->lock);
	INIT_LIST_HEAD(&session->devs);
	INIT_LIST_HEAD(&session->draining);
	session->next_id = get_random_u32() & FIRST_ID_MASK;
	session->transport = transport;
	session->name = name;
	session->id = rtrs_server_session_id(transport);
	rtrs_server_session_client(transport, &session->client);
	rtrs_census_created(RTRS_CENSUS_RNBD_SERVER_SESSION);
	*priv = session;
	return 0;
}

/*
 * Every operation is answered; a work item may still be on its way out after its
 * answer, so the queue goes first.
 */
void rnbd_server_session_down(void *priv)
{
	struct rnbd_server_session *session = priv;

	destroy_workqueue(session->wq);
	rnbd_server_dev_close_all(session);
	xa_destroy(&session->ids);
	kmem_cache_free(session_cache, session);
	rtrs_census_destroyed(RTRS_CENSUS_RNBD_SERVER_SESSION);
}

u32 rnbd_server_session_opens(void *priv)
{
	struct rnbd_server_session *session = priv;

	return atomic_read(&session->open_count);
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
