// SPDX-License-Identifier: GPL-2.0
/* Mapped devices: their state, their users, their queues. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "host/disks.h"

static void each_device(struct checkup *k, void (*each)(struct checkup *k, const struct device *d))
{
	if (!check_client(k))
		return;
	for (size_t i = 0; i < k->client.devices.n; i++)
		each(k, &k->client.devices.v[i]);
	if (!k->client.devices.n)
		check_tell(k, CHECK_SKIP, "", "no mapped device");
}

static bool is_mapped(const struct device *d)
{
	return !strcmp(device_state_name(d->state), "mapped");
}

static void state(struct checkup *k, const struct device *d)
{
	if (is_mapped(d)) {
		check_tell(k, CHECK_PASS, d->name, "mapped");
		return;
	}
	check_tell(k, CHECK_FAIL, d->name, "is %s%s%s", device_state_name(d->state),
		   d->last_error ? ": " : "",
		   d->last_error ? errno_name((int)llabs(d->last_error)) : "");
	if (d->last_error == -ESTALE)
		check_hint(k, "others may have written to it, or it is another disk, and waiting "
			      "I/O has failed; rnbdadm remap %s takes it as it is", d->name);
	else
		check_hint(k, "rnbdadm recover %s", d->session);
}

static void device_state(struct checkup *k)
{
	each_device(k, state);
}

static void orphan(struct checkup *k, const struct device *d)
{
	char *users;

	if (is_mapped(d) || !d->users.n) {
		check_tell(k, CHECK_PASS, d->name, is_mapped(d) ? "its users have it" : "nobody uses it");
		return;
	}
	users = strlist_join(&d->users, ", ");
	check_tell(k, CHECK_FAIL, d->name, "is %s and used by %s", device_state_name(d->state), users);
	check_hint(k, "their I/O waits or fails: rnbdadm recover %s", d->session);
	free(users);
}

static void device_orphan_mount(struct checkup *k)
{
	each_device(k, orphan);
}

static void access_mode(struct checkup *k, const struct device *d)
{
	const char *name = access_name(d->access);

	if (name && !strcmp(name, "migration")) {
		check_tell(k, CHECK_WARN, d->name, "mapped for a migration: another client may write to it");
		check_hint(k, "once that is over: rnbdadm device set %s --access rw", d->name);
	} else {
		check_tell(k, CHECK_PASS, d->name, "%s", name ? name : "unknown");
	}
}

static void device_access(struct checkup *k)
{
	each_device(k, access_mode);
}

static void node(struct checkup *k, const struct device *d)
{
	if (sys_node_exists(k->root, d)) {
		check_tell(k, CHECK_PASS, d->name, "/dev/%s is there", d->name);
	} else {
		check_tell(k, CHECK_FAIL, d->name, "there is no /dev/%s", d->name);
		check_hint(k, "is devtmpfs mounted, and udev up? 'udevadm settle'");
	}
}

static void device_node(struct checkup *k)
{
	each_device(k, node);
}

const struct check device_checks[] = {
	{ "device.state", "every device is mapped", device_state,
	  .cause = "all paths are down, the server has closed the device, or others wrote to it meanwhile",
	  .cure = "rnbdadm recover SESSION" },
	{ "device.orphan_mount", "no disconnected device is in use", device_orphan_mount,
	  .cause = "the device went while a file system, swap or another disk used it",
	  .cure = "rnbdadm recover SESSION; its users wait or have failed" },
	{ "device.access", "nobody else writes to it", device_access,
	  .cause = "a migration is under way, or was not ended",
	  .cure = "end it: unmap it there; rnbdadm device set DEVICE --access rw" },
	{ "device.node", "it has its node in /dev", device_node,
	  .cause = "udev does not run, or is late",
	  .cure = "systemctl start systemd-udevd; udevadm trigger" },
	{ 0 }
};
