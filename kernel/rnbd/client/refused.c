// SPDX-License-Identifier: GPL-2.0
/* Why a server has not opened a device. */
#include "client.h"

static int explain_refused_open(const struct rnbd_client_dev *dev, int err,
				struct netlink_ext_ack *extack)
{
	const char *path = dev->path;

	switch (err) {
	case -ENOENT:
		return rtrs_fail(extack, err,
				 "server has no device '%.24s' in dev_search_path or exports",
				 path);
	case -ENOTBLK:
		return rtrs_fail(extack, err, "on the server '%.40s' is no block device", path);
	case -EPERM:
		return rtrs_fail(extack, err, "another client has it open for writing");
	case -EACCES:
		return rtrs_fail(extack, err,
				 "the server refuses '%.24s' to this client, its log says why",
				 path);
	case -EROFS:
		return rtrs_fail(extack, err, "the server may not write to '%.40s'", path);
	case -EBUSY:
		return rtrs_fail(extack, err, "on the server '%.28s' is in use, its log says how",
				 path);
	case -ENXIO:
	case -ENODEV:
		return rtrs_fail(extack, err, "on the server '%.40s' has no driver", path);
	case -EXDEV:
		return rtrs_fail(extack, err, "on the server '%.40s' leads out of its search path",
				 path);
	case -EMFILE:
		return rtrs_fail(extack, err, "the server allows this client no more devices");
	case -EOPNOTSUPP:
		return rtrs_fail(extack, err, "server knows no fileio: leave io_mode out");
	case -EINVAL:
		if (dev->io_mode != RNBD_IO_ANY)
			return rtrs_fail(extack, err,
					 "the server has not '%.24s' in this io_mode, or not at all",
					 path);
		return rtrs_fail(extack, err, "the server does not accept '%.40s'", path);
	default:
		return rtrs_fail(extack, err, "the server cannot open '%.30s': error %d", path,
				 err);
	}
}

/* Tells why an OPEN failed. @err is the errno of the server or of the transport. */
int rnbd_client_dev_open_failed(const struct rnbd_client_dev *dev, int err,
				unsigned int timeout_ms, struct netlink_ext_ack *extack)
{
	if (rnbd_client_msg_failed(err, timeout_ms, extack))
		return err;
	explain_refused_open(dev, err, extack);
	rtrs_refused_by(extack, RNBD_REFUSAL_SERVER);
	return err;
}
