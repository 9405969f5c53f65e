// SPDX-License-Identifier: GPL-2.0
/* rtrs-server: parameters, init and exit. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/log2.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "notify.h"
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

module_param_cb(heartbeat_interval_ms, &hb_interval_ops, &rtrs_server_hb_interval_ms, 0644);
__MODULE_PARM_TYPE(heartbeat_interval_ms, "uint");
MODULE_PARM_DESC(heartbeat_interval_ms,
		 "Time between heartbeats of new paths, 200 to 60000 (default: 5000)");

module_param_cb(heartbeat_misses, &hb_misses_ops, &rtrs_server_hb_misses, 0644);
__MODULE_PARM_TYPE(heartbeat_misses, "uint");
MODULE_PARM_DESC(heartbeat_misses,
		 "Intervals of silence after which a new path is closed, 2 to 100 (default: 5)");

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
	rtrs_server_mem_init(max_memory, rtrs_server_chunks_drop);
	return 0;
}

static int __init rtrs_server_init(void)
{
	int err;

	rtrs_server_events = &rtrs_server_nl_events;
	rtrs_server_files = &rtrs_server_sysfs_files;
	err = params_check();
	if (err)
		return err;
	err = rtrs_server_listen_init(listen);
	if (err)
		return err;
	err = rtrs_server_caches_create();
	if (err)
		goto places;
	err = rtrs_server_queues_create();
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
	rtrs_server_queues_destroy();
caches:
	rtrs_server_caches_destroy();
places:
	rtrs_server_listen_exit();
	return err;
}

/* The user of rtrs_server_open() pins us: no session is left. */
static void __exit rtrs_server_exit(void)
{
	rtrs_server_nl_exit();
	rtrs_server_sysfs_exit();
	rtrs_server_queues_destroy();
	rcu_barrier();
	rtrs_server_caches_destroy();
	rtrs_server_listen_exit();
}

module_init(rtrs_server_init);
module_exit(rtrs_server_exit);

MODULE_DESCRIPTION("RDMA transport: server");
MODULE_VERSION(RNBD_VERSION);
MODULE_LICENSE("GPL");
