// SPDX-License-Identifier: GPL-2.0
/*
 * Ports of RDMA devices. A drained one takes no new path, so that those who have another
 * can be moved away from it; this lasts until it is undrained, or the device goes.
 */
#include <linux/wait_bit.h>
#include <rdma/ib_cache.h>
#include "server.h"

bool rtrs_server_port_drained(const struct rtrs_server_dev *sdev, u32 port)
{
	return port <= sdev->ib_dev->phys_port_cnt && test_bit(port, sdev->drained);
}

static struct rtrs_server_dev *find(struct rtrs_server *srv, const char *hca, u32 port)
{
	struct rtrs_server_dev *sdev;

	list_for_each_entry(sdev, &srv->devs, entry)
		if (!strcmp(dev_name(&sdev->ib_dev->dev), hca))
			return rdma_is_port_valid(sdev->ib_dev, port) ? sdev : NULL;
	return NULL;
}

static bool is_over(const struct rtrs_server_path *path, const struct rtrs_server_dev *sdev,
		    u32 port)
{
	return path->sdev == sdev && path->hca_port == port;
}

static bool is_connected(const struct rtrs_server_path *path)
{
	return READ_ONCE(path->state) == RTRS_SERVER_PATH_CONNECTED;
}

/* A path over the port whose client has no other one, or NULL. */
static struct rtrs_server_path *find_last(struct rtrs_server *srv,
					  const struct rtrs_server_dev *sdev, u32 port)
{
	struct rtrs_server_path *path;

	list_for_each_entry(path, &srv->paths, all_entry)
		path->session->elsewhere = false;
	list_for_each_entry(path, &srv->paths, all_entry)
		if (is_connected(path) && !is_over(path, sdev, port))
			path->session->elsewhere = true;
	list_for_each_entry(path, &srv->paths, all_entry)
		if (is_connected(path) && is_over(path, sdev, port) && !path->session->elsewhere)
			return path;
	return NULL;
}

/* Nothing comes behind it: whoever makes a path looks at the mark under the same lock. */
static int begin_drain(const char *hca, u32 port, bool force, struct netlink_ext_ack *extack)
{
	struct rtrs_server *srv = rtrs_server_lock();
	struct rtrs_server_path *path = NULL;
	struct rtrs_server_dev *sdev;
	int err = -ENOENT;

	if (!srv)
		return err;
	sdev = find(srv, hca, port);
	if (!sdev)
		goto out;
	if (!force)
		path = find_last(srv, sdev, port);
	if (path) {
		err = rtrs_fail(extack, -EBUSY, "session '%.40s' has no path over another port",
				path->session->name);
		goto out;
	}
	set_bit(port, sdev->drained);
	list_for_each_entry(path, &srv->paths, all_entry)
		if (is_over(path, sdev, port))
			rtrs_server_path_close(path, -EHOSTDOWN);
	err = 0;
out:
	rtrs_server_unlock(srv);
	return err;
}

/* One that was there when the port was drained; what comes after it was undrained again stays. */
static struct rtrs_server_path *any_closing(const char *hca, u32 port)
{
	struct rtrs_server *srv = rtrs_server_lock();
	struct rtrs_server_path *path, *found = NULL;

	if (!srv)
		return NULL;
	list_for_each_entry(path, &srv->paths, all_entry) {
		if (path->hca_port == port && !strcmp(path->hca_name, hca) &&
		    READ_ONCE(path->state) == RTRS_SERVER_PATH_CLOSING) {
			found = path;
			kref_get(&found->ref);
			break;
		}
	}
	rtrs_server_unlock(srv);
	return found;
}

int rtrs_server_port_drain(const char *hca, u32 port, bool force, struct netlink_ext_ack *extack)
{
	struct rtrs_server_path *path;
	int err = begin_drain(hca, port, force, extack);

	while (!err && (path = any_closing(hca, port))) {
		err = rtrs_server_path_wait(path);
		rtrs_server_path_put(path);
	}
	return err;
}

int rtrs_server_port_undrain(const char *hca, u32 port)
{
	struct rtrs_server *srv = rtrs_server_lock();
	struct rtrs_server_dev *sdev;

	if (!srv)
		return -ENOENT;
	sdev = find(srv, hca, port);
	if (sdev)
		clear_bit(port, sdev->drained);
	rtrs_server_unlock(srv);
	return sdev ? 0 : -ENOENT;
}

static int tell(const struct rtrs_server *srv, const struct rtrs_server_dev *sdev, u32 number,
		rtrs_server_port_fn fn, void *arg)
{
	struct rtrs_server_port port = {
		.hca		= dev_name(&sdev->ib_dev->dev),
		.number		= number,
		.listens	= srv->port,
		.drained	= rtrs_server_port_drained(sdev, number),
	};

	port.has_gid = !rdma_query_gid(sdev->ib_dev, number, 0, &port.gid);
	return fn(&port, arg);
}

int rtrs_server_port_walk(u32 after, rtrs_server_port_fn fn, void *arg)
{
	struct rtrs_server *srv = rtrs_server_lock();
	struct rtrs_server_dev *sdev;
	u32 number, count = 0;
	int ret = 0;

	if (!srv)
		return 0;
	list_for_each_entry(sdev, &srv->devs, entry) {
		rdma_for_each_port(sdev->ib_dev, number) {
			if (!rtrs_server_listens_on(sdev->ib_dev, number) || count++ < after)
				continue;
			ret = tell(srv, sdev, number, fn, arg);
			if (ret)
				goto out;
		}
	}
out:
	rtrs_server_unlock(srv);
	return ret;
}
