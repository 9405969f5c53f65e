// SPDX-License-Identifier: GPL-2.0
/* What others look at: parameters, the transport. */
#include <linux/moduleparam.h>
#include "server.h"
#include "path.h"

char rnbd_server_search_path[RNBD_SERVER_PATH_SIZE] = "/";

static int search_path_set(const char *val, const struct kernel_param *kp)
{
	int err = rnbd_server_path_parse_root(val, rnbd_server_search_path);

	if (err)
		pr_err("dev_search_path: must begin with '/' and be shorter than %d bytes\n",
		       RNBD_SERVER_PATH_SIZE);
	return err;
}

static int search_path_get(char *page, const struct kernel_param *kp)
{
	return scnprintf(page, PAGE_SIZE, "%s\n", rnbd_server_search_path);
}

static const struct kernel_param_ops search_path_ops = {
	.set = search_path_set,
	.get = search_path_get,
};

module_param_cb(dev_search_path, &search_path_ops, NULL, 0444);
MODULE_PARM_DESC(dev_search_path,
		 "Directory below which clients may open devices; %SESSNAME% becomes the name of the session (default: /)");

/* What a client opens takes kernel memory that no account has; one disk has many spellings. */
unsigned int rnbd_server_max_devices = 512;

static int max_devices_set(const char *val, const struct kernel_param *kp)
{
	return param_set_uint_minmax(val, kp, 1, 16384);
}

static const struct kernel_param_ops max_devices_ops = {
	.set = max_devices_set,
	.get = param_get_uint,
};

module_param_cb(max_devices, &max_devices_ops, &rnbd_server_max_devices, 0644);
__MODULE_PARM_TYPE(max_devices, "uint");
MODULE_PARM_DESC(max_devices, "Devices that a client may have open, 1 to 16384 (default: 512)");

bool rnbd_server_share_local;
module_param_named(share_local, rnbd_server_share_local, bool, 0644);
MODULE_PARM_DESC(share_local,
		 "Clients may write to what this host itself uses: mounted, swap, held by dm or md (default: N)");

struct rtrs_server *rnbd_server_transport;
