// SPDX-License-Identifier: GPL-2.0
/* The host around it: firewall, udev, systemd, initramfs. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "host/sysfs-file.h"

static bool has_soft(const struct checkup *k)
{
	for (size_t i = 0; i < k->hcas.n; i++)
		if (!sys_exists(k->root, "/sys/class/infiniband/%s/device", k->hcas.v[i]))
			return true;
	return false;
}

/* Adapters bypass the packet filter; RDMA in software does not. */
static void system_firewall(struct checkup *k)
{
	char *tables = sys_text(k->root, "/proc/net/ip_tables_names");
	uint64_t users = sys_number(k->root, "/sys/module/nf_tables/refcnt");
	bool on = (tables && strstr(tables, "filter")) || (users && users != UINT64_MAX);

	free(tables);
	if (!has_soft(k)) {
		check_tell(k, CHECK_SKIP, "", "no RDMA in software, which alone is filtered");
	} else if (on) {
		check_tell(k, CHECK_WARN, "", "a packet filter is in use");
		check_hint(k, "it must let UDP port 4791 pass (RoCE v2): 'nft list ruleset'");
	} else {
		check_tell(k, CHECK_PASS, "", "no packet filter");
	}
}

static bool find_file(const struct checkup *k, const char *const *dirs, const char *name)
{
	for (; *dirs; dirs++)
		if (sys_exists(k->root, "%s/%s", *dirs, name))
			return true;
	return false;
}

static void system_udev(struct checkup *k)
{
	static const char *const dirs[] = {
		"/etc/udev/rules.d", "/run/udev/rules.d", "/usr/local/lib/udev/rules.d",
		"/usr/lib/udev/rules.d", "/lib/udev/rules.d", NULL,
	};

	if (!find_file(k, dirs, "60-rnbd.rules")) {
		check_tell(k, CHECK_WARN, "60-rnbd.rules", "not installed: no links in /dev/rnbd");
		check_hint(k, "install the package, or make install; then 'udevadm control --reload'");
	} else if (!sys_exists(k->root, "/run/udev/control")) {
		check_tell(k, CHECK_WARN, "60-rnbd.rules", "installed, but udev does not run");
		check_hint(k, "systemctl start systemd-udevd");
	} else {
		check_tell(k, CHECK_PASS, "60-rnbd.rules", "installed, and udev runs");
	}
}

static bool has_config(const struct checkup *k)
{
	struct strlist l = { 0 };
	bool any = sys_exists(k->root, "/etc/rnbd/rnbdadm.conf");

	sys_list(k->root, &l, "/etc/rnbd/conf.d");
	for (size_t i = 0; i < l.n; i++)
		any |= strlen(l.v[i]) > 5 && !strcmp(l.v[i] + strlen(l.v[i]) - 5, ".conf");
	strlist_free(&l);
	return any;
}

/*
 * An enabled unit. Its runtime directory, as RuntimeDirectory= of the unit says, is there while it
 * is at work and when it has succeeded, until it is stopped; systemd removes it when it fails.
 */
static void tell_unit(struct checkup *k, const char *unit)
{
	int len = (int)(strlen(unit) - strlen(".service"));

	if (!sys_exists(k->root, "/run/systemd/system")) {
		check_tell(k, CHECK_PASS, unit, "enabled; systemd does not run here");
	} else if (sys_exists(k->root, "/run/%.*s", len, unit)) {
		check_tell(k, CHECK_PASS, unit, "enabled, and it has not failed");
	} else {
		check_tell(k, CHECK_WARN, unit,
			   "enabled, but not active: it failed, or was not started");
		check_hint(k, "systemctl status %s says why; systemctl start %s", unit, unit);
	}
}

static void system_unit(struct checkup *k)
{
	static const char *const dirs[] = {
		"/etc/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
		"/lib/systemd/system", NULL,
	};
	static const char unit[] = "rnbd-restore.service", device[] = "rnbd-device@";
	struct strlist wants = { 0 };
	bool any = false;

	if (!has_config(k)) {
		check_tell(k, CHECK_SKIP, unit, "nothing is configured in /etc/rnbd");
		return;
	}
	if (!find_file(k, dirs, unit)) {
		check_tell(k, CHECK_FAIL, unit, "not installed: nothing is mapped after a reboot");
		check_hint(k, "install the package, or make install");
		return;
	}
	sys_list(k->root, &wants, "/etc/systemd/system/multi-user.target.wants");
	for (size_t i = 0; i < wants.n; i++) {
		if (strcmp(wants.v[i], unit) && strncmp(wants.v[i], device, strlen(device)))
			continue;
		any = true;
		tell_unit(k, wants.v[i]);
	}
	strlist_free(&wants);
	if (any)
		return;
	check_tell(k, CHECK_FAIL, unit, "not enabled: nothing is mapped after a reboot");
	check_hint(k, "systemctl enable %s", unit);
}

/* Is the system itself on a mapped device? */
static void system_initramfs(struct checkup *k)
{
	static const char *const files[] = {
		"/etc/initramfs-tools/modules", "/etc/modules-load.d/rnbd.conf", "/etc/dracut.conf.d/rnbd.conf",
	};
	const struct device *root = NULL;
	bool told = false;

	for (size_t i = 0; i < k->client.devices.n; i++)
		if (strlist_has(&k->client.devices.v[i].mountpoints, "/"))
			root = &k->client.devices.v[i];
	if (!root) {
		check_tell(k, CHECK_SKIP, "", "the system is on no rnbd device");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char *text = sys_text(k->root, files[i]);

		told |= text && strstr(text, "rnbd");
		free(text);
	}
	if (told) {
		check_tell(k, CHECK_PASS, root->name, "the initramfs is told of rnbd");
		return;
	}
	check_tell(k, CHECK_FAIL, root->name, "the system is on it, and the initramfs lacks rnbd_client");
	check_hint(k, "echo rnbd_client >>/etc/initramfs-tools/modules && update-initramfs -u");
}

const struct check system_checks[] = {
	{ "system.firewall", "no packet filter is in the way of RDMA in software", system_firewall,
	  .cause = "Soft-RoCE is UDP, which a packet filter sees",
	  .cure = "let UDP port 4791 pass: 'nft list ruleset'" },
	{ "system.udev", "the udev rules are installed and udev runs", system_udev,
	  .cause = "the rules are not installed, or there is no udev",
	  .cure = "install the package; udevadm control --reload" },
	{ "system.unit", "the configured devices are mapped at boot, and were", system_unit,
	  .cause = "the unit was not enabled, has failed, or waits for its next attempt",
	  .cure = "systemctl enable rnbd-restore.service; systemctl status rnbd-restore.service" },
	{ "system.initramfs", "a system on rnbd can boot", system_initramfs,
	  .cause = "the initramfs was made without the module",
	  .cure = "echo rnbd_client >>/etc/initramfs-tools/modules; update-initramfs -u" },
	{ 0 }
};
