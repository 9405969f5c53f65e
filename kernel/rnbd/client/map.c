// SPDX-License-Identifier: GPL-2.0
/* The steps of a mapping. */
#include "client.h"
#include "notify.h"

static int map_bring_up(struct rnbd_client_dev *dev, struct netlink_ext_ack *extack)
{
	int err;

	err = rnbd_client_dev_open(dev, extack);
	if (err)
		return err;
	err = rnbd_client_disk_create(dev, extack);
	if (err)
		return err;
	err = rnbd_client_dev_mapped(dev, extack);
	if (err)
		return err;
	err = rnbd_client_disk_add(dev, extack);
	if (err)
		return err;
	err = rnbd_client_files->add_dev(dev, extack);
	if (err)
		return err;
	/* rnbd_client_dev_ready() lets others unmap the device. */
	rnbd_client_scan_begin(dev);
	err = rnbd_client_dev_ready(dev, extack);
	if (!err)
		rnbd_client_scan_wait(dev);
	return err;
}

static struct rnbd_client_dev *map_create(const struct rnbd_client_map_args *args,
					  struct netlink_ext_ack *extack)
{
	struct rnbd_client_session *session;
	struct rnbd_client_dev *dev;
	int err;

	session = rnbd_client_session_join(args, extack);
	if (IS_ERR(session))
		return ERR_CAST(session);
	dev = rnbd_client_dev_create(session, args, extack);
	if (IS_ERR(dev)) {
		rnbd_client_session_leave(session);
		return dev;
	}
	/* For our caller: once the device is ready, others may unmap it. */
	rnbd_client_dev_get(dev);
	err = map_bring_up(dev, extack);
	if (err) {
		rnbd_client_dev_abort(dev);
		rnbd_client_dev_put(dev);
		return ERR_PTR(err);
	}
	return dev;
}

int rnbd_client_map(const struct rnbd_client_map_args *args, struct netlink_ext_ack *extack,
		    struct rnbd_client_dev **out)
{
	struct rnbd_client_dev *dev;

	if (!args->device_path[0])
		return rtrs_fail(extack, -EINVAL, "the path of the device is empty");
	dev = map_create(args, extack);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	*out = dev;
	return 0;
}
