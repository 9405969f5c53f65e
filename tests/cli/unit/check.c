// SPDX-License-Identifier: GPL-2.0
/* net.pause: the kernel's answers, which no device of the lab gives, and what is told of them. */
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check/check.h"
#include "host/routes.h"
#include "tap.h"

static int pfc;

int __wrap_rtnl_pfc(const char *root, const char *dev);

int __wrap_rtnl_pfc(const char *root, const char *dev)
{
	return *root && !strcmp(dev, "eth5") ? pfc : -2;
}

/* The kernel's answer: PFC of @len bytes, or none, in DCB_ATTR_IEEE. */
static int answer(int type, int len, uint8_t enabled)
{
	struct ieee_pfc p = { .pfc_cap = 8, .pfc_en = enabled };
	struct dcbmsg d = { .cmd = DCB_CMD_IEEE_GET };
	struct nl_msg *msg = nlmsg_alloc_simple(type, 0);
	struct nlattr *ieee;
	int got;

	nlmsg_append(msg, &d, sizeof(d), NLMSG_ALIGNTO);
	nla_put_string(msg, DCB_ATTR_IFNAME, "eth5");
	ieee = nla_nest_start(msg, DCB_ATTR_IEEE);
	nla_put_u8(msg, DCB_ATTR_DCB_BUFFER, 0xff);
	if (len)
		nla_put(msg, DCB_ATTR_IEEE_PFC, len, &p);
	nla_nest_end(msg, ieee);
	got = rtnl_pfc_of(nlmsg_hdr(msg));
	nlmsg_free(msg);
	return got;
}

static void answers(void)
{
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETDCB, 0);

	ok(answer(RTM_GETDCB, sizeof(struct ieee_pfc), 0x18) == 0x18, "PFC for two priorities");
	ok(answer(RTM_GETDCB, sizeof(struct ieee_pfc), 0) == 0, "PFC for none");
	ok(answer(RTM_GETDCB, 0, 0) == -1, "a device that tells no PFC");
	ok(answer(RTM_GETDCB, 2, 0xff) == -1, "half an answer");
	ok(answer(RTM_SETDCB, sizeof(struct ieee_pfc), 0x18) == -1, "an answer to something else");
	ok(rtnl_pfc_of(nlmsg_hdr(msg)) == -1, "an empty one");
	nlmsg_free(msg);
}

/* What this host says of itself */
static void own(void)
{
	struct addr a = { .family = ADDR_IPV4, .raw = { 127, 0, 0, 1 } }, none = { 0 };
	char *dev = rtnl_route("", &a, &none);
	struct subnet s;

	ok(dev && !strcmp(dev, "lo"), "a route to itself");
	free(dev);
	ok(rtnl_own_address("", &a), "an own address");
	ok(rtnl_subnet("", &a, &s) && !strcmp(s.text, "127.0.0.0/8") && !strcmp(s.dev, "lo"), "its network");
	ok(rtnl_neighbour("", &a, "lo") == -1, "nobody asks for it");
	a = (struct addr){ .family = ADDR_IPV4, .raw = { 192, 0, 2, 1 } };
	ok(!rtnl_own_address("", &a) && !rtnl_subnet("", &a, &s), "one of nobody");
}

static char root[] = "/tmp/rnbdadm-check-XXXXXX";

static void put(const char *file, const char *text)
{
	char *path = xasprintf("%s/%s", root, file);
	FILE *f;

	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		mkdir(path, 0700);
	}
	f = fopen(path, "we");
	fputs(text, f);
	fclose(f);
	free(path);
}

/* net.pause of an adapter says this */
static bool says(int told, const char *status, const char *message)
{
	struct checkup k = { .root = root, .results = json_array(), .id = "net.pause" };
	const struct check *c = net_checks;
	const json_t *r;
	bool good;

	pfc = told;
	strlist_add(&k.hcas, "hca0");
	while (strcmp(c->id, k.id))
		c++;
	c->run(&k);
	r = json_array_get(k.results, 0);
	good = json_array_size(k.results) == 1 &&
	       !strcmp(json_string_value(json_object_get(r, "status")), status) &&
	       !strcmp(json_string_value(json_object_get(r, "message")), message) &&
	       json_is_string(json_object_get(r, "hint")) == !strcmp(status, "warn");
	if (!good)
		printf("# %s: %s\n", json_string_value(json_object_get(r, "status")),
		       json_string_value(json_object_get(r, "message")));
	json_decref(k.results);
	strlist_free(&k.hcas);
	return good;
}

static void results(void)
{
	put("sys/class/infiniband/hca0/ports/1/link_layer", "Ethernet");
	put("sys/class/infiniband/hca0/ports/1/gids/0", "fe80:0000:0000:0000:0000:00ff:fe00:0001");
	put("sys/class/infiniband/hca0/ports/1/gid_attrs/ndevs/0", "eth5");
	ok(says(0x18, "pass", "PFC is on for 3, 4"), "Soft-RoCE with PFC");
	ok(says(0, "skip", "in software; PFC is off"), "Soft-RoCE without: it sends again");
	ok(says(-1, "skip", "in software; eth5 has no DCB, and its driver does not tell of ECN"),
	   "Soft-RoCE on what has no DCB");
	put("sys/class/infiniband/hca0/device/vendor", "0x15b3");
	ok(says(0x08, "pass", "PFC is on for 3"), "PFC");
	ok(says(0, "warn", "eth5: PFC is off"), "PFC is off, nothing is known of ECN");
	ok(says(-1, "skip", "eth5 has no DCB, and its driver does not tell of ECN"), "nothing is known");
	put("sys/class/net/eth5/ecn/roce_np/enable/0", "0");
	put("sys/class/net/eth5/ecn/roce_np/enable/1", "0");
	ok(says(0x08, "pass", "PFC is on for 3; ECN is off"), "PFC without ECN");
	ok(says(0, "warn", "eth5: PFC is off; ECN is off"), "neither");
	ok(says(-1, "warn", "eth5: ECN is off"), "ECN is off, nothing is known of PFC");
	put("sys/class/net/eth5/ecn/roce_np/enable/1", "1");
	ok(says(0, "pass", "PFC is off; ECN is on"), "ECN without PFC");
	put("sys/class/infiniband/hca0/ports/1/link_layer", "InfiniBand");
	ok(says(0, "skip", "no Ethernet"), "InfiniBand has its own");
}

int main(void)
{
	char *clean;

	answers();
	own();
	if (!mkdtemp(root))
		return 1;
	results();
	clean = xasprintf("rm -r %s", root);
	ok(!system(clean), "tidy");
	free(clean);
	return tap_done();
}
