// SPDX-License-Identifier: GPL-2.0
/* What all sessions share. */
#include <linux/slab.h>
#include "server.h"

struct rtrs_geometry rtrs_server_geo __ro_after_init;
bool rtrs_server_new_rkey __ro_after_init;
unsigned int rtrs_server_eager_bytes __ro_after_init = 4096;
unsigned int rtrs_server_hb_interval_ms = RTRS_HB_INTERVAL_MS;
unsigned int rtrs_server_hb_misses = RTRS_HB_MISSED_MAX;
struct workqueue_struct *rtrs_server_wq;
struct workqueue_struct *rtrs_server_close_wq;
struct kmem_cache *rtrs_server_session_cache;
struct kmem_cache *rtrs_server_path_cache;
struct kmem_cache *rtrs_server_con_cache;

void rtrs_server_caches_destroy(void)
{
	kmem_cache_destroy(rtrs_server_con_cache);
	kmem_cache_destroy(rtrs_server_path_cache);
	kmem_cache_destroy(rtrs_server_session_cache);
}

int __init rtrs_server_caches_create(void)
{
	rtrs_server_session_cache = KMEM_CACHE(rtrs_server_session, 0);
	rtrs_server_path_cache = KMEM_CACHE(rtrs_server_path, 0);
	rtrs_server_con_cache = KMEM_CACHE(rtrs_server_con, 0);
	if (rtrs_server_session_cache && rtrs_server_path_cache && rtrs_server_con_cache)
		return 0;
	rtrs_server_caches_destroy();
	return -ENOMEM;
}

void rtrs_server_queues_destroy(void)
{
	if (rtrs_server_close_wq)
		destroy_workqueue(rtrs_server_close_wq);
	destroy_workqueue(rtrs_server_wq);
}

/*
 * Closes, and what tells a client of one, have a queue of their own: clients that connect slowly
 * hold up only each other. No work of either waits for a disk or for a peer.
 *
 * None is for memory reclaim, though another host may swap to a device of ours: it waits
 * until this host has memory for a worker, which it gets without us. A rescuer would be of no
 * use anyway. They wait for work of others that has none: the CM's, the block device's close.
 */
int __init rtrs_server_queues_create(void)
{
	rtrs_server_wq = alloc_workqueue("rtrs_server", WQ_UNBOUND, 0);
	if (!rtrs_server_wq)
		return -ENOMEM;
	rtrs_server_close_wq = alloc_workqueue("rtrs_server_close", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (rtrs_server_close_wq)
		return 0;
	rtrs_server_queues_destroy();
	return -ENOMEM;
}
