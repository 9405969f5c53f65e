// SPDX-License-Identifier: GPL-2.0
/* The network below: addresses, routes, neighbours, MTU. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "host/routes.h"
#include "host/sysfs-file.h"

/* What a RoCE v2 packet has beside its payload, as the kernel reckons it. */
#define ROCE_HEADERS	96

static bool is_ip(const struct addr *a)
{
	return a->family == ADDR_IPV4 || a->family == ADDR_IPV6;
}

typedef void path_fn(struct checkup *k, const struct path *p);

static bool looks_at(const struct checkup *k, const struct path *p)
{
	return check_wants(k, p) && is_ip(&p->server);
}

/*
 * Each path of the client that has IP addresses and was asked for; then those that are only
 * configured, and may not run because of what is found.
 */
static void each_path(struct checkup *k, path_fn *each)
{
	bool any = !check_client(k);

	for (size_t i = 0; i < k->client.paths.n; i++) {
		const struct path *p = &k->client.paths.v[i];

		if (!looks_at(k, p))
			continue;
		any = true;
		each(k, p);
	}
	check_planned(k);
	for (size_t i = 0; i < k->nplanned; i++) {
		const struct check_planned *p = &k->planned[i];

		if (!looks_at(k, &p->path))
			continue;
		any = true;
		each(k, &p->path);
		check_source(k, p);
	}
	if (!any)
		check_tell(k, CHECK_SKIP, "", "no path over IP");
}

static void path_address(struct checkup *k, const struct path *p)
{
	char text[ADDR_TEXT_MAX];

	addr_format_bare(&p->client, text);
	if (!is_ip(&p->client)) {
		check_tell(k, CHECK_SKIP, p->name, "has no address of its own");
	} else if (!rtnl_own_address(k->root, &p->client)) {
		check_tell(k, CHECK_FAIL, p->name, "%s is not an address of this host", text);
		check_hint(k, "ip addr add %s/PREFIX dev %s", text, *p->netdev ? p->netdev : "IFACE");
	} else {
		check_tell(k, CHECK_PASS, p->name, "%s is here", text);
	}
}

/* A name in the configuration that has no address is a wrong one, too. */
static void net_address(struct checkup *k)
{
	each_path(k, path_address);
	for (size_t i = 0; i < k->nplanned; i++) {
		const struct check_planned *p = &k->planned[i];

		if (!p->problem || k->only.n)
			continue;
		check_tell(k, CHECK_FAIL, p->path.name, "%s", p->problem);
		check_hint(k, "is the name in DNS or /etc/hosts, and the interface there?");
		check_source(k, p);
	}
}

static void path_route(struct checkup *k, const struct path *p)
{
	char *dev = rtnl_route(k->root, &p->server, &p->client), text[ADDR_TEXT_MAX];
	bool here = dev && (!strcmp(dev, "lo") || !strcmp(dev, p->netdev));
	char *hca = dev && !*p->netdev ? check_rdma_of(k, dev) : NULL;

	addr_format_bare(&p->server, text);
	if (!dev) {
		check_tell(k, CHECK_FAIL, p->name, "no route to %s", text);
		check_hint(k, "ip route add %s dev %s", text, *p->netdev ? p->netdev : "IFACE");
	} else if (here || hca) {
		check_tell(k, CHECK_PASS, p->name, "%s through %s", text, dev);
	} else if (!*p->netdev) {
		check_tell(k, CHECK_FAIL, p->name, "the route to %s leaves through %s, which has "
			   "no RDMA", text, dev);
		check_hint(k, "ip route add %s dev IFACE, one with RDMA; 'rdma link'", text);
	} else {
		check_tell(k, CHECK_WARN, p->name, "the route to %s leaves through %s, the path uses %s", text,
			   dev, p->netdev);
		check_hint(k, "ip route add %s dev %s, or a rule for the source address", text, p->netdev);
	}
	if (dev)
		check_data(k, "netdev", js_str(dev));
	free(hca);
	free(dev);
}

static void net_route(struct checkup *k)
{
	each_path(k, path_route);
}

static void path_neigh(struct checkup *k, const struct path *p)
{
	const char *how = p->server.family == ADDR_IPV4 ? "ARP" : "NDP";
	char text[ADDR_TEXT_MAX], *dev;
	int answers;

	dev = *p->netdev ? xstrdup(p->netdev) : rtnl_route(k->root, &p->server, &p->client);
	answers = dev ? rtnl_neighbour(k->root, &p->server, dev) : -1;
	addr_format_bare(&p->server, text);
	if (answers < 0) {
		check_tell(k, CHECK_PASS, p->name, "behind a router, on this host, or not asked for lately");
	} else if (answers) {
		check_tell(k, CHECK_PASS, p->name, "%s answers %s", text, how);
	} else {
		check_tell(k, CHECK_FAIL, p->name, "%s does not answer %s", text, how);
		check_hint(k, "is the server up and in the same network (VLAN, switch port)? 'ip neigh'");
	}
	free(dev);
}

static void net_neigh(struct checkup *k)
{
	each_path(k, path_neigh);
}

static void port_link(struct checkup *k, const struct check_port *p)
{
	char *state;

	if (!*p->netdev) {
		check_tell(k, CHECK_SKIP, p->name, "no network interface");
		return;
	}
	state = sys_read(k->root, "/sys/class/net/%s/operstate", p->netdev);
	/* dummy and the like have no state */
	if (!state) {
		check_tell(k, CHECK_SKIP, p->netdev, "its state is unknown");
	} else if (!strcmp(state, "up") || !strcmp(state, "unknown")) {
		check_tell(k, CHECK_PASS, p->netdev, "%s", state);
	} else {
		check_tell(k, CHECK_FAIL, p->netdev, "the interface of %s is %s", p->name, state);
		check_hint(k, "ip link set %s up; else cable or switch port", p->netdev);
	}
	free(state);
}

static void net_link(struct checkup *k)
{
	check_ports(k, port_link);
}

static unsigned int roce_mtu(uint64_t mtu)
{
	for (unsigned int v = 4096; v >= 256; v /= 2)
		if (mtu >= v + ROCE_HEADERS)
			return v;
	return 0;
}

static void port_mtu(struct checkup *k, const struct check_port *p)
{
	uint64_t mtu;

	if (strcmp(p->link_layer, "Ethernet") || !*p->netdev) {
		check_tell(k, CHECK_SKIP, p->name, "no Ethernet");
		return;
	}
	mtu = sys_number(k->root, "/sys/class/net/%s/mtu", p->netdev);
	if (mtu == UINT64_MAX) {
		check_tell(k, CHECK_SKIP, p->netdev, "its MTU is unknown");
		return;
	}
	if (roce_mtu(mtu) >= 4096) {
		check_tell(k, CHECK_PASS, p->netdev, "MTU %" PRIu64 ", RoCE MTU 4096", mtu);
	} else {
		check_tell(k, CHECK_WARN, p->netdev, "MTU %" PRIu64 ", RoCE MTU limited to %u", mtu,
			   roce_mtu(mtu));
		check_hint(k, "ip link set %s mtu 4200 (both ends and the switch)", p->netdev);
	}
	check_data(k, "mtu", js_u64(mtu));
	check_data(k, "roce_mtu", json_integer(roce_mtu(mtu)));
}

static void net_mtu(struct checkup *k)
{
	check_ports(k, port_mtu);
}

/* Paths of one session whose interfaces have other MTUs: the failing over is felt. */
static void session_mtu(struct checkup *k, const struct session *s)
{
	const char *first = NULL;
	uint64_t mtu = UINT64_MAX, m;
	size_t n;
	const struct index_entry *e = index_find(&k->client.session_paths, s->id, &n);

	for (size_t i = 0; i < n; i++) {
		const struct path *p = &k->client.paths.v[e[i].pos];

		m = *p->netdev ? sys_number(k->root, "/sys/class/net/%s/mtu", p->netdev) : UINT64_MAX;
		if (m == UINT64_MAX)
			continue;
		if (first && m != mtu) {
			check_tell(k, CHECK_WARN, s->name, "MTU %" PRIu64 " on %s, %" PRIu64 " on %s", mtu,
				   first, m, p->netdev);
			check_hint(k, "give all interfaces of a session the same MTU");
			return;
		}
		first = p->netdev;
		mtu = m;
	}
	if (first)
		check_tell(k, CHECK_PASS, s->name, "the same MTU on all paths");
	else
		check_tell(k, CHECK_SKIP, s->name, "no MTU is known");
}

static void net_mtu_mismatch(struct checkup *k)
{
	if (!check_client(k))
		return;
	for (size_t i = 0; i < k->client.sessions.n; i++)
		session_mtu(k, &k->client.sessions.v[i]);
	if (!k->client.sessions.n)
		check_tell(k, CHECK_SKIP, "", "no session");
}

/* mlx5 alone tells of it in sysfs. -1: nobody does. */
static int ecn_on(struct checkup *k, const char *netdev)
{
	struct strlist priorities = { 0 };
	int on = -1;

	sys_list(k->root, &priorities, "/sys/class/net/%s/ecn/roce_np/enable", netdev);
	for (size_t i = 0; i < priorities.n && on <= 0; i++)
		on = sys_number(k->root, "/sys/class/net/%s/ecn/roce_np/enable/%s", netdev,
				priorities.v[i]) == 1;
	strlist_free(&priorities);
	return on;
}

/* "PFC is on for 3, 4; ECN is off"; without what nobody tells of. */
static char *flow_text(int pfc, int ecn)
{
	struct strlist l = { 0 }, on = { 0 };
	char *text;

	for (int i = 0; i < 8; i++)
		if (pfc > 0 && pfc >> i & 1)
			strlist_addf(&on, "%d", i);
	text = strlist_join(&on, ", ");
	if (pfc >= 0)
		strlist_addf(&l, pfc ? "PFC is on for %s" : "PFC is off", text);
	if (ecn >= 0)
		strlist_add(&l, ecn ? "ECN is on" : "ECN is off");
	free(text);
	text = strlist_join(&l, "; ");
	strlist_free(&on);
	strlist_free(&l);
	return text;
}

static void port_pause(struct checkup *k, const struct check_port *p)
{
	int pfc, ecn;
	char *text;

	if (strcmp(p->link_layer, "Ethernet") || !*p->netdev) {
		check_tell(k, CHECK_SKIP, p->name, "no Ethernet");
		return;
	}
	pfc = rtnl_pfc(k->root, p->netdev);
	ecn = ecn_on(k, p->netdev);
	text = flow_text(pfc, ecn);
	if (pfc > 0 || ecn > 0) {
		check_tell(k, CHECK_PASS, p->name, "%s", text);
	} else if (pfc < 0 && ecn < 0) {
		check_tell(k, CHECK_SKIP, p->name, "%s%s has no DCB, and its driver does not tell of ECN",
			   p->soft ? "in software; " : "", p->netdev);
	} else if (p->soft) {
		check_tell(k, CHECK_SKIP, p->name, "in software; %s", text);
	} else {
		check_tell(k, CHECK_WARN, p->name, "%s: %s", p->netdev, text);
		check_hint(k, "RoCE wants a network that drops nothing: 'dcb', 'mlnx_qos'");
	}
	free(text);
}

static void net_pause(struct checkup *k)
{
	check_ports(k, port_pause);
}

const struct check net_checks[] = {
	{ "net.address", "the own address of each path is there", net_address,
	  .cause = "the address was removed, its interface went down, or a wrong one is configured",
	  .cure = "ip addr add ADDRESS/PREFIX dev IFACE, or correct it in the configuration" },
	{ "net.route", "the route to each server leaves through the path's interface", net_route,
	  .cause = "another route is preferred, perhaps one without RDMA, or there is none",
	  .cure = "ip route add SERVER dev IFACE, or a rule for the source address" },
	{ "net.neigh", "servers in the same network answer", net_neigh,
	  .cause = "the server is down, or in another VLAN",
	  .cure = "is the server up? VLAN and switch port; 'ip neigh'" },
	{ "net.link", "the interfaces of RDMA ports are up", net_link,
	  .cause = "the interface was set down, or has no carrier",
	  .cure = "ip link set IFACE up; cable and switch port" },
	{ "net.mtu", "their MTU does not limit RoCE", net_mtu,
	  .cause = "Ethernet's 1500 bytes leave room for a RoCE MTU of 1024 only",
	  .cure = "ip link set IFACE mtu 4200, at both ends and in the switch" },
	{ "net.mtu_mismatch", "all paths of a session have the same MTU", net_mtu_mismatch,
	  .cause = "one interface of the session was configured otherwise",
	  .cure = "the same MTU on all of them" },
	{ "net.pause", "RoCE in hardware has flow control: PFC or ECN", net_pause,
	  .cause = "PFC and ECN are off: RoCE loses packets where the network is full",
	  .cure = "ECN or PFC on adapter and switch: 'dcb', 'mlnx_qos'" },
	{ 0 }
};
