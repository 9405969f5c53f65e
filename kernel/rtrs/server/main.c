// SPDX-License-Identifier: GPL-2.0
/* rtrs-server: parameters, what all sessions share, init and exit. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/log2.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "server.h"

#define MIN_CHUNK_SIZE	max_t(int, RTRS_MIN_CHUNK_SIZE, 2 * PAGE_SIZE)
#define MAX_CHUNK_SIZE	KMALLOC_MAX_SIZE	/* what the page allocator gives in one piece */

static bool always_invalidate = true;
module_param(always_invalidate, bool, 0444);
MODULE_PARM_DESC(always_invalidate,
		 "Invalidate the memory of a request before it is looked at (default: Y)");

static int max_chunk_size = 131072;
module_param(max_chunk_size, int, 0444);
MODULE_PARM_DESC(max_chunk_size,
		 "Bytes of a buffer, one page of header included, a power of two (default: 131072)");

static int sess_queue_depth = 512;
module_param(sess_queue_depth, int, 0444);
MODULE_PARM_DESC(sess_queue_depth, "Buffers of a session, 1 to 65535 (default: 512)");

static int eager_bytes_set(const char *val, const struct kernel_param *kp)
{
	return param_set_uint_minmax(val, kp, 0, 65536);
}

static const struct kernel_param_ops eager_bytes_ops = {
	.set = eager_bytes_set,
	.get = param_get_uint,
};

unsigned int rtrs_server_eager_bytes __ro_after_init = 4096;
module_param_cb(eager_bytes, &eager_bytes_ops, &rtrs_server_eager_bytes, 0444);
__MODULE_PARM_TYPE(eager_bytes, "uint");
MODULE_PARM_DESC(eager_bytes,
		 "Copy up to so many bytes of data and register nothing for them; 0 never (default: 4096)");

static uint max_memory;
module_param(max_memory, uint, 0444);
MODULE_PARM_DESC(max_memory,
		 "Memory of all sessions together, in MiB; 0 is three quarters of what the host has (default: 0)");

static char *listen;
module_param(listen, charp, 0444);
MODULE_PARM_DESC(listen,
		 "RDMA devices and addresses (ip:..., gid:...) that take connections, separated by commas (default: all)");

static int hb_interval_set(const char *val, const struct kernel_param *kp)
{
	return param_set_uint_minmax(val, kp, 200, 60000);
}

static int hb_misses_set(const char *val, const struct kernel_param *kp)
{
	return param_set_uint_minmax(val, kp, 2, 100);
}

static const struct kernel_param_ops hb_interval_ops = {
	.set = hb_interval_set,
	.get = param_get_uint,
};

static const struct kernel_param_ops hb_misses_ops = {
	.set = hb_misses_set,
	.get = param_get_uint,
};

unsigned int rtrs_server_hb_interval_ms = RTRS_HB_INTERVAL_MS;
module_param_cb(heartbeat_interval_ms, &hb_interval_ops, &rtrs_server_hb_interval_ms, 0644);
__MODULE_PARM_TYPE(heartbeat_interval_ms, "uint");
MODULE_PARM_DESC(heartbeat_interval_ms,
		 "Time between heartbeats of new paths, 200 to 60000 (default: 5000)");

unsigned int rtrs_server_hb_misses = RTRS_HB_MISSED_MAX;
module_param_cb(heartbeat_misses, &hb_misses_ops, &rtrs_server_hb_misses, 0644);
__MODULE_PARM_TYPE(heartbeat_misses, "uint");
MODULE_PARM_DESC(heartbeat_misses,
		 "Intervals of silence after which a new path is closed, 2 to 100 (default: 5)");

struct rtrs_geometry rtrs_server_geo __ro_after_init;
bool rtrs_server_new_rkey __ro_after_init;
struct workqueue_struct *rtrs_server_wq;
struct workqueue_struct *rtrs_server_close_wq;
struct kmem_cache *rtrs_server_session_cache;
struct kmem_cache *rtrs_server_path_cache;
struct kmem_cache *rtrs_server_con_cache;

static int __init params_check(void)
{
	if (max_chunk_size < MIN_CHUNK_SIZE || max_chunk_size > MAX_CHUNK_SIZE ||
	    !is_power_of_2(max_chunk_size)) {
		pr_err("max_chunk_size=%d: must be a power of two, %ld to %ld\n", max_chunk_size,
		       (long)MIN_CHUNK_SIZE, (long)MAX_CHUNK_SIZE);
		return -EINVAL;
	}
	if (sess_queue_depth < 1 || sess_queue_depth > RTRS_QUEUE_DEPTH_MAX) {
		pr_err("sess_queue_depth=%d: must be 1 to %d\n", sess_queue_depth,
		       RTRS_QUEUE_DEPTH_MAX);
		return -EINVAL;
	}
	rtrs_server_geo = (struct rtrs_geometry) {
		.queue_depth	= sess_queue_depth,
		.chunk_size	= max_chunk_size,
		.max_io_size	= max_chunk_size - PAGE_SIZE,
		.max_hdr_size	= PAGE_SIZE,
	};
	if (rtrs_geometry_check(&rtrs_server_geo)) {
		pr_err("sess_queue_depth=%d with max_chunk_size=%d: at most %d with this size\n",
		       sess_queue_depth, max_chunk_size,
		       1 << (RTRS_IMM_PAYLOAD_BITS - ilog2(max_chunk_size)));
		return -EINVAL;
	}
	rtrs_server_eager_bytes = min(rtrs_server_eager_bytes, rtrs_server_geo.max_io_size);
	rtrs_server_new_rkey = always_invalidate;
	rtrs_server_mem_init(max_memory);
	return 0;
}

static void caches_destroy(void)
{
	kmem_cache_destroy(rtrs_server_con_cache);
	kmem_cache_destroy(rtrs_server_path_cache);
	kmem_cache_destroy(rtrs_server_session_cache);
}

static int __init caches_create(void)
{
	rtrs_server_session_cache = KMEM_CACHE(rtrs_server_session, 0);
	rtrs_server_path_cache = KMEM_CACHE(rtrs_server_path, 0);
	rtrs_server_con_cache = KMEM_CACHE(rtrs_server_con, 0);
	if (rtrs_server_session_cache && rtrs_server_path_cache && rtrs_server_con_cache)
		return 0;
	caches_destroy();
	return -ENOMEM;
}

static void queues_destroy(void)
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
static int __init queues_create(void)
{
	rtrs_server_wq = alloc_workqueue("rtrs_server", WQ_UNBOUND, 0);
	if (!rtrs_server_wq)
		return -ENOMEM;
	rtrs_server_close_wq = alloc_workqueue("rtrs_server_close", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (rtrs_server_close_wq)
		return 0;
	queues_destroy();
	return -ENOMEM;
}

static int __init rtrs_server_init(void)
{
	int err;

	err = params_check();
	if (err)
		return err;
	err = rtrs_server_listen_init(listen);
	if (err)
		return err;
	err = caches_create();
	if (err)
		goto places;
	err = queues_create();
	if (err)
		goto caches;
	err = rtrs_server_sysfs_init();
	if (err)
		goto queues;
	err = rtrs_server_nl_init();
	if (err)
		goto sysfs;
	return 0;
sysfs:
	rtrs_server_sysfs_exit();
queues:
	queues_destroy();
caches:
	caches_destroy();
places:
	rtrs_server_listen_exit();
	return err;
}

/* The user of rtrs_server_open() pins us: no session is left. */
static void __exit rtrs_server_exit(void)
{
	rtrs_server_nl_exit();
	rtrs_server_sysfs_exit();
	queues_destroy();
	rcu_barrier();
	caches_destroy();
	rtrs_server_listen_exit();
}

module_init(rtrs_server_init);
module_exit(rtrs_server_exit);

MODULE_DESCRIPTION("RDMA transport: server");
MODULE_VERSION(RNBD_VERSION);
MODULE_LICENSE("GPL");
