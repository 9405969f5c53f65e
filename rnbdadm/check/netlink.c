// SPDX-License-Identifier: GPL-2.0
/* The netlink family, and what this user may do with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "host/sysfs-file.h"

#define FAMILY_VERSION	1	/* that this tool was made for */

static bool have_family(struct checkup *k)
{
	if (check_family(k))
		return true;
	check_tell(k, CHECK_SKIP, "", "no netlink family");
	return false;
}

static void netlink_family(struct checkup *k)
{
	if (check_family(k)) {
		check_tell(k, CHECK_PASS, "rnbd", "the kernel has the family");
		return;
	}
	if (k->ctx->kernel) {
		check_tell(k, CHECK_FAIL, "rnbd", "absent, though drivers are loaded; sysfs is in its place");
		check_hint(k, "load the modules of this project");
		return;
	}
	check_tell(k, CHECK_FAIL, "rnbd", "%s", k->no_nl.message ? k->no_nl.message : "absent");
	check_hint(k, "%s", k->no_nl.hint ? k->no_nl.hint : "modprobe rnbd_client");
}

static void netlink_version(struct checkup *k)
{
	unsigned int v;

	if (!have_family(k))
		return;
	v = k->ctx->kernel->version;
	if (v == FAMILY_VERSION) {
		check_tell(k, CHECK_PASS, "rnbd", "version %u", v);
	} else {
		check_tell(k, CHECK_WARN, "rnbd", "version %u, this tool knows %d", v, FAMILY_VERSION);
		check_hint(k, "install rnbdadm and the modules of the same release");
	}
	check_data(k, "version", json_integer(v));
}

static void netlink_ops(struct checkup *k)
{
	struct strlist missing = { 0 };
	unsigned int n;
	char *list;

	if (!have_family(k))
		return;
	n = netlink_missing_ops(k->ctx->kernel, &missing);
	list = strlist_join(&missing, ", ");
	if (!missing.n) {
		check_tell(k, CHECK_PASS, "rnbd", "all %u operations", n);
	} else {
		check_tell(k, CHECK_WARN, "rnbd", "these modules lack %s", list);
		check_hint(k, "load newer modules; commands that need them exit 9");
	}
	check_data(k, "missing", js_list(&missing));
	free(list);
	strlist_free(&missing);
}

static void netlink_mcast(struct checkup *k)
{
	static const char *const groups[] = { "session", "path", "device", "export", "access" };
	struct strlist missing = { 0 };
	char *list;

	if (!have_family(k))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		if (!k->ctx->kernel->ops->has_group(k->ctx->kernel, groups[i]))
			strlist_add(&missing, groups[i]);
	list = strlist_join(&missing, ", ");
	if (!missing.n) {
		check_tell(k, CHECK_PASS, "rnbd", "%zu groups of events", ARRAY_SIZE(groups));
	} else {
		check_tell(k, CHECK_WARN, "rnbd", "no events of: %s", list);
		check_hint(k, "load newer modules; monitor and wait need them");
	}
	free(list);
	strlist_free(&missing);
}

#define CAP_NET_ADMIN	12
#define CAP_SYS_ADMIN	21

static void netlink_permission(struct checkup *k)
{
	char *text = sys_text(k->root, "/proc/self/status");
	const char *eff = text ? strstr(text, "\nCapEff:") : NULL;
	const struct fail *why = &k->client_why;
	unsigned long long caps;

	if (check_family(k) && why->code == XC_PERMISSION && why->extack && why->hint) {
		/* dumps are open to every user, but not from everywhere */
		check_tell(k, CHECK_FAIL, "", "%s", why->extack);
		check_hint(k, "%s", why->hint);
	} else if (!eff) {
		check_tell(k, CHECK_SKIP, "", "/proc/self/status does not tell");
	} else {
		caps = strtoull(eff + strlen("\nCapEff:"), NULL, 16);
		if (caps >> CAP_NET_ADMIN & caps >> CAP_SYS_ADMIN & 1) {
			check_tell(k, CHECK_PASS, "", "CAP_NET_ADMIN and CAP_SYS_ADMIN");
		} else {
			check_tell(k, CHECK_WARN, "", "this user may look, but not change anything");
			check_hint(k, "be root, or have CAP_NET_ADMIN and CAP_SYS_ADMIN");
		}
	}
	free(text);
}

const struct check netlink_checks[] = {
	{ "netlink.family", "the modules offer their netlink family", netlink_family,
	  .cause = "no module of this project is loaded",
	  .cure = "modprobe rnbd_client, or rnbd_server" },
	{ "netlink.version", "its version is that of the tool", netlink_version,
	  .cause = "tool and modules are of different releases",
	  .cure = "install both from the same release" },
	{ "netlink.ops", "it has every operation that the tool uses", netlink_ops,
	  .cause = "the loaded modules are older than the tool",
	  .cure = "install and load the newer modules" },
	{ "netlink.mcast", "it tells of events", netlink_mcast,
	  .cause = "the loaded modules are older than the tool",
	  .cure = "install and load the newer modules; monitor and wait need their events" },
	{ "netlink.permission", "this user may change things", netlink_permission,
	  .cause = "the user lacks CAP_NET_ADMIN or CAP_SYS_ADMIN, or is in another network namespace",
	  .cure = "run it as root, or with sudo; on the host, not in a container" },
	{ 0 }
};
