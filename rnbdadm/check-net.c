// SPDX-License-Identifier: GPL-2.0
/* The network below: addresses, routes, neighbours, MTU. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "sysfile.h"

/* What a RoCE v2 packet has beside its payload, as the kernel reckons it. */
#define ROCE_HEADERS	96

/* One line of a file of /proc/net at a time; true ends it. */
static bool each_line(const char *root, const char *file,
		      bool (*line)(char *s, void *arg), void *arg)
{
	char *text = sys_text(root, file), *save = NULL;
	bool found = false;

	for (char *s = text ? strtok_r(text, "\n", &save) : NULL; s && !found;
	     s = strtok_r(NULL, "\n", &save))
		found = line(s, arg);
	free(text);
	return found;
}

/* fib_trie: "|-- 10.0.0.1", then "/32 host LOCAL" */
struct local {
	char want[INET_ADDRSTRLEN];
	bool at;
};

static bool local_line(char *s, void *arg)
{
	struct local *l = arg;
	char *leaf = strstr(s, "|-- ");

	if (leaf)
		l->at = !strcmp(leaf + 4, l->want);
	return l->at && strstr(s, "host LOCAL");
}

static bool local6_line(char *s, void *arg)
{
	const char *want = arg;

	return !strncmp(s, want, 32);
}

static void hex32(const uint8_t raw[16], char text[33])
{
	for (int i = 0; i < 16; i++)
		snprintf(text + 2 * i, 3, "%02x", raw[i]);
}

bool check_own_address(const char *root, const struct addr *a)
{
	struct local l = { .at = false };
	char hex[33];

	if (a->family == ADDR_IPV4) {
		inet_ntop(AF_INET, a->raw, l.want, sizeof(l.want));
		return each_line(root, "/proc/net/fib_trie", local_line, &l);
	}
	hex32(a->raw, hex);
	return each_line(root, "/proc/net/if_inet6", local6_line, hex);
}

struct route {
	const struct addr *dst;
	int best;
	char dev[M_HCA_MAX];
};

/* Iface Destination Gateway Flags RefCnt Use Metric Mask ... */
static bool route_line(char *s, void *arg)
{
	struct route *r = arg;
	char dev[32];
	unsigned int dst, flags, mask, want;
	int bits;

	if (sscanf(s, "%31s %x %*x %x %*d %*d %*d %x", dev, &dst, &flags, &mask) != 4)
		return false;
	memcpy(&want, r->dst->raw, 4);
	bits = __builtin_popcount(mask);
	/* up, and no reject */
	if ((flags & 1) && !(flags & 0x200) && (want & mask) == dst && bits > r->best) {
		r->best = bits;
		snprintf(r->dev, sizeof(r->dev), "%s", dev);
	}
	return false;
}

static bool under(const uint8_t *a, const char *hex, unsigned int bits)
{
	for (unsigned int i = 0; i < bits; i++) {
		char digit[2] = { hex[i / 4], '\0' };
		unsigned int nibble = (unsigned int)strtoul(digit, NULL, 16);

		if ((a[i / 8] >> (7 - i % 8) & 1) != (nibble >> (3 - i % 4) & 1))
			return false;
	}
	return true;
}

/* DESTINATION LENGTH SOURCE LENGTH NEXT METRIC REFCNT USE FLAGS DEV */
static bool route6_line(char *s, void *arg)
{
	struct route *r = arg;
	char hex[33], dev[32];
	unsigned int bits, flags;

	if (sscanf(s, "%32s %x %*s %*s %*s %*s %*s %*s %x %31s", hex, &bits, &flags, dev) != 4 ||
	    bits > 128 || strlen(hex) != 32)
		return false;
	if ((flags & 1) && !(flags & 0x200) && (int)bits > r->best && under(r->dst->raw, hex, bits)) {
		r->best = (int)bits;
		snprintf(r->dev, sizeof(r->dev), "%s", dev);
	}
	return false;
}

char *check_route(const char *root, const struct addr *dst)
{
	struct route r = { .dst = dst, .best = -1 };

	if (check_own_address(root, dst))
		return xstrdup("lo");
	if (dst->family == ADDR_IPV4)
		each_line(root, "/proc/net/route", route_line, &r);
	else
		each_line(root, "/proc/net/ipv6_route", route6_line, &r);
	return *r.dev ? xstrdup(r.dev) : NULL;
}

static bool is_ip(const struct addr *a)
{
	return a->family == ADDR_IPV4 || a->family == ADDR_IPV6;
}

/* Each path of the client that has IP addresses and was asked for. */
static void each_path(struct checkup *k, void (*each)(struct checkup *k, const struct path *p))
{
	bool any = false;

	if (!check_client(k))
		return;
	for (size_t i = 0; i < k->client.paths.n; i++) {
		const struct path *p = &k->client.paths.v[i];

		if (!check_wants(k, p) || !is_ip(&p->server))
			continue;
		any = true;
		each(k, p);
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
	} else if (!check_own_address(k->root, &p->client)) {
		check_tell(k, CHECK_FAIL, p->name, "%s is not an address of this host any more", text);
		check_hint(k, "ip addr add %s/PREFIX dev %s", text, *p->netdev ? p->netdev : "IFACE");
	} else {
		check_tell(k, CHECK_PASS, p->name, "%s is here", text);
	}
}

static void net_address(struct checkup *k)
{
	each_path(k, path_address);
}

static void path_route(struct checkup *k, const struct path *p)
{
	char *dev = check_route(k->root, &p->server), text[ADDR_TEXT_MAX];

	addr_format_bare(&p->server, text);
	if (!dev) {
		check_tell(k, CHECK_FAIL, p->name, "no route to %s", text);
		check_hint(k, "ip route add %s dev %s", text, *p->netdev ? p->netdev : "IFACE");
	} else if (!strcmp(dev, "lo") || !*p->netdev || !strcmp(dev, p->netdev)) {
		check_tell(k, CHECK_PASS, p->name, "%s through %s", text, dev);
	} else {
		check_tell(k, CHECK_WARN, p->name, "the route to %s leaves through %s, the path uses %s", text,
			   dev, p->netdev);
		check_hint(k, "ip route add %s dev %s, or a rule for the source address", text, p->netdev);
	}
	if (dev)
		check_data(k, "netdev", js_str(dev));
	free(dev);
}

static void net_route(struct checkup *k)
{
	each_path(k, path_route);
}

/* ADDRESS TYPE FLAGS HWADDR MASK DEVICE */
struct neighbour {
	char want[INET_ADDRSTRLEN];
	unsigned int flags;
};

static bool arp_line(char *s, void *arg)
{
	struct neighbour *n = arg;
	char ip[INET_ADDRSTRLEN];

	return sscanf(s, "%15s %*x %x", ip, &n->flags) == 2 && !strcmp(ip, n->want);
}

int check_neighbour(const char *root, const struct addr *a)
{
	struct neighbour n = { .flags = 0 };

	if (a->family != ADDR_IPV4)
		return -1;
	inet_ntop(AF_INET, a->raw, n.want, sizeof(n.want));
	if (!each_line(root, "/proc/net/arp", arp_line, &n))
		return -1;
	return (n.flags & 2) != 0;
}

static void path_neigh(struct checkup *k, const struct path *p)
{
	char text[ADDR_TEXT_MAX];
	int answers = check_neighbour(k->root, &p->server);

	addr_format_bare(&p->server, text);
	if (p->server.family != ADDR_IPV4) {
		check_tell(k, CHECK_SKIP, p->name, "known of IPv4 only");
		return;
	}
	if (!sys_exists(k->root, "/proc/net/arp")) {
		check_tell(k, CHECK_SKIP, p->name, "/proc/net/arp does not tell");
	} else if (answers < 0) {
		check_tell(k, CHECK_PASS, p->name, "behind a router, on this host, or not asked for lately");
	} else if (answers) {
		check_tell(k, CHECK_PASS, p->name, "%s answers ARP", text);
	} else {
		check_tell(k, CHECK_FAIL, p->name, "%s does not answer ARP", text);
		check_hint(k, "is the server up and in the same network (VLAN, switch port)? 'ip neigh'");
	}
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

static void port_pause(struct checkup *k, const struct check_port *p)
{
	struct strlist on = { 0 };
	uint64_t any = 0;

	if (strcmp(p->link_layer, "Ethernet") || p->soft) {
		check_tell(k, CHECK_SKIP, p->name, p->soft ? "in software" : "no Ethernet");
		return;
	}
	sys_list(k->root, &on, "/sys/class/net/%s/ecn/roce_np/enable", p->netdev);
	for (size_t i = 0; i < on.n; i++)
		any |= sys_number(k->root, "/sys/class/net/%s/ecn/roce_np/enable/%s", p->netdev, on.v[i]) == 1;
	if (!on.n) {
		check_tell(k, CHECK_SKIP, p->name, "the driver does not tell of flow control");
	} else if (any) {
		check_tell(k, CHECK_PASS, p->name, "ECN is on");
	} else {
		check_tell(k, CHECK_WARN, p->name, "ECN is off on %s", p->netdev);
		check_hint(k, "RoCE wants a network that drops nothing: 'dcb', 'mlnx_qos'");
	}
	strlist_free(&on);
}

static void net_pause(struct checkup *k)
{
	check_ports(k, port_pause);
}

const struct check net_checks[] = {
	{ "net.address", "the own address of each path is still there", net_address,
	  .cause = "the address was removed or its interface went down",
	  .cure = "ip addr add ADDRESS/PREFIX dev IFACE" },
	{ "net.route", "the route to each server leaves through the path's interface", net_route,
	  .cause = "another route is preferred, or there is none",
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
	{ "net.pause", "flow control of hardware RoCE", net_pause,
	  .cause = "ECN is off: RoCE loses packets where the network is full",
	  .cure = "ECN or PFC on adapter and switch: 'dcb', 'mlnx_qos'" },
	{ 0 }
};
