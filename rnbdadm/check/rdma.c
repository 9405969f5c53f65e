// SPDX-License-Identifier: GPL-2.0
/* RDMA devices: their ports, GIDs, rates and errors. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "host/disks.h"
#include "host/sysfs-file.h"

#define CLASS	"/sys/class/infiniband/%s"
#define PORT	CLASS "/ports/%s/"

static void fill_port(const struct checkup *k, struct check_port *p)
{
	char *s = sys_read(k->root, PORT "link_layer", p->hca, p->port);

	snprintf(p->name, sizeof(p->name), "%s/%s", p->hca, p->port);
	snprintf(p->link_layer, sizeof(p->link_layer), "%s", s ? s : "");
	free(s);
	p->soft = !sys_exists(k->root, CLASS "/device", p->hca);
	for (unsigned int i = 0; !*p->netdev && (s = sys_gid(k->root, p->hca, p->port, &i)); i++) {
		free(s);
		s = sys_read(k->root, PORT "gid_attrs/ndevs/%u", p->hca, p->port, i);
		snprintf(p->netdev, sizeof(p->netdev), "%s", s ? s : "");
		free(s);
	}
}

static bool each_port(struct checkup *k, void (*each)(struct checkup *k, const struct check_port *p))
{
	bool any = false;

	for (size_t i = 0; i < k->hcas.n; i++) {
		struct strlist ports = { 0 };

		sys_list(k->root, &ports, CLASS "/ports", k->hcas.v[i]);
		for (size_t j = 0; j < ports.n; j++) {
			struct check_port p = { .hca = k->hcas.v[i], .port = ports.v[j] };

			fill_port(k, &p);
			each(k, &p);
			any = true;
		}
		strlist_free(&ports);
	}
	return any;
}

void check_ports(struct checkup *k, void (*each)(struct checkup *k, const struct check_port *p))
{
	if (!each_port(k, each))
		check_tell(k, CHECK_SKIP, "", "no RDMA device");
}

/* A port has GIDs of its interface, and of the VLANs on that. */
static bool has_gid_of(const struct checkup *k, const char *hca, const char *port, const char *dev)
{
	bool found = false;
	char *s;

	for (unsigned int i = 0; !found && (s = sys_gid(k->root, hca, port, &i)); i++) {
		free(s);
		s = sys_read(k->root, PORT "gid_attrs/ndevs/%u", hca, port, i);
		found = s && !strcmp(s, dev);
		free(s);
	}
	return found;
}

char *check_rdma_of(const struct checkup *k, const char *dev)
{
	/* IPoIB: an interface of type InfiniBand */
	if (sys_number(k->root, "/sys/class/net/%s/type", dev) == 32)
		return xstrdup("InfiniBand");
	for (size_t i = 0; i < k->hcas.n; i++) {
		struct strlist ports = { 0 };
		bool found = false;

		sys_list(k->root, &ports, CLASS "/ports", k->hcas.v[i]);
		for (size_t j = 0; j < ports.n && !found; j++)
			found = has_gid_of(k, k->hcas.v[i], ports.v[j], dev);
		strlist_free(&ports);
		if (found)
			return xstrdup(k->hcas.v[i]);
	}
	return NULL;
}

static void rdma_devices(struct checkup *k)
{
	char *list = strlist_join(&k->hcas, ", ");

	if (k->hcas.n) {
		check_tell(k, CHECK_PASS, "", "%s", list);
	} else {
		check_tell(k, CHECK_FAIL, "", "this host has no RDMA device");
		check_hint(k, "load the driver of the adapter; 'rdma link add rxe0 type rxe netdev IFACE' "
			   "makes one of software");
	}
	check_data(k, "devices", js_list(&k->hcas));
	free(list);
}

/* "4: ACTIVE" without its number. */
static char *port_word(struct checkup *k, const struct check_port *p, const char *file)
{
	char *s = sys_read(k->root, PORT "%s", p->hca, p->port, file), *colon = s ? strchr(s, ':') : NULL;
	char *word = xstrdup(!s ? "unknown" : colon ? colon + 1 + strspn(colon + 1, " ") : s);

	free(s);
	return word;
}

static void port_state(struct checkup *k, const struct check_port *p)
{
	char *state = port_word(k, p, "state"), *phys = port_word(k, p, "phys_state");

	if (!strcmp(state, "ACTIVE")) {
		check_tell(k, CHECK_PASS, p->name, "ACTIVE");
	} else if (!strcmp(state, "unknown")) {
		check_tell(k, CHECK_SKIP, p->name, "the driver does not tell");
	} else {
		check_tell(k, CHECK_FAIL, p->name, "port is %s (%s)", state, phys);
		if (!strcmp(p->link_layer, "Ethernet") && *p->netdev)
			check_hint(k, "ip link set %s up; else cable or switch port", p->netdev);
		else
			check_hint(k, "cable, switch port or subnet manager; 'rdma link show %s'", p->name);
	}
	check_data(k, "state", js_str(state));
	check_data(k, "phys_state", js_str(phys));
	free(phys);
	free(state);
}

static void rdma_port_state(struct checkup *k)
{
	check_ports(k, port_state);
}

static void port_phys(struct checkup *k, const struct check_port *p)
{
	char *phys = port_word(k, p, "phys_state");

	if (!strcmp(phys, "LinkUp")) {
		check_tell(k, CHECK_PASS, p->name, "LinkUp");
	} else if (!strcmp(phys, "unknown")) {
		check_tell(k, CHECK_SKIP, p->name, "the driver does not tell");
	} else {
		check_tell(k, CHECK_FAIL, p->name, "the link is %s", phys);
		check_hint(k, "is the cable in, and the other end up?");
	}
	free(phys);
}

static void rdma_phys_state(struct checkup *k)
{
	check_ports(k, port_phys);
}

/*
 * "100 Gb/sec (4X EDR)". Neither sysfs nor netlink tells how many lanes an InfiniBand port could
 * have, or how fast: only that one lane is too few can be known.
 */
static void port_rate(struct checkup *k, const struct check_port *p)
{
	char *rate = sys_read(k->root, PORT "rate", p->hca, p->port);
	double gbit = rate ? atof(rate) : 0;
	uint64_t mbit = *p->netdev ? sys_number(k->root, "/sys/class/net/%s/speed", p->netdev) : UINT64_MAX;

	if (!rate) {
		check_tell(k, CHECK_SKIP, p->name, "the driver tells no rate");
	} else if (p->soft) {
		check_tell(k, CHECK_PASS, p->name, "in software");
	} else if (!strcmp(p->link_layer, "InfiniBand") && strstr(rate, "(1X")) {
		check_tell(k, CHECK_WARN, p->name, "%s: one lane only", rate);
		check_hint(k, "a broken lane? cable and connector; the port has more lanes");
	} else if (mbit != UINT64_MAX && gbit * 1000 < (double)mbit) {
		check_tell(k, CHECK_WARN, p->name, "%s, but %s has %" PRIu64 " Gb/s", rate, p->netdev,
			   mbit / 1000);
		check_hint(k, "speed or width is degraded; compare with 'ethtool %s'", p->netdev);
	} else {
		check_tell(k, CHECK_PASS, p->name, "%s", rate);
	}
	if (rate)
		check_data(k, "rate", js_str(rate));
	free(rate);
}

static void rdma_rate(struct checkup *k)
{
	check_ports(k, port_rate);
}

/* Ethernet ports need a GID of RoCE v2, which is routable and what peers speak. */
static void port_roce(struct checkup *k, const struct check_port *p)
{
	bool v2 = false, usable;
	char *s;

	if (strcmp(p->link_layer, "Ethernet")) {
		check_tell(k, CHECK_SKIP, p->name, "no Ethernet");
		return;
	}
	for (unsigned int i = 0; !v2 && (s = sys_gid(k->root, p->hca, p->port, &i)); i++) {
		usable = strncmp(s, "fe80:", 5);
		free(s);
		s = usable ? sys_read(k->root, PORT "gid_attrs/types/%u", p->hca, p->port, i) : NULL;
		v2 = s && strstr(s, "v2");
		free(s);
	}
	if (v2) {
		check_tell(k, CHECK_PASS, p->name, "has a GID of RoCE v2");
		return;
	}
	check_tell(k, CHECK_FAIL, p->name, "no address of %s has a GID of RoCE v2",
		   *p->netdev ? p->netdev : "the port");
	check_hint(k, "ip addr add ADDRESS/PREFIX dev %s", *p->netdev ? p->netdev : "IFACE");
}

static void rdma_roce(struct checkup *k)
{
	check_ports(k, port_roce);
}

static void path_gid(struct checkup *k, const struct path *p)
{
	const struct addr *own = p->role == M_SERVER ? &p->server : &p->client;
	char text[ADDR_TEXT_MAX];

	addr_format(own, text);
	if (p->gid_index != M_UNKNOWN_INT) {
		check_tell(k, CHECK_PASS, text, "GID %lld of %s:%lld", (long long)p->gid_index, p->hca,
			   (long long)p->hca_port);
	} else if (!strcmp(p->link_layer, "infiniband")) {
		check_tell(k, CHECK_PASS, text, "address of an IPoIB interface");
	} else {
		check_tell(k, CHECK_FAIL, text, "no GID of %s is this address of a path of %s",
			   *p->hca ? p->hca : "an RDMA device", p->session);
		check_hint(k, "was the address moved or removed? 'ip addr' and 'rdma link' show it");
	}
}

/* Tells of the own address of a path that was asked for, if nothing has yet. */
static bool new_address(struct checkup *k, const struct path *p, struct strlist *seen)
{
	char text[ADDR_TEXT_MAX];

	addr_format(p->role == M_SERVER ? &p->server : &p->client, text);
	if (!*text || !check_wants(k, p) || strlist_has(seen, text))
		return false;
	strlist_add(seen, text);
	path_gid(k, p);
	return true;
}

static void rdma_gid(struct checkup *k)
{
	const struct path_list *lists[] = { &k->client.paths, &k->exports.paths };
	struct strlist seen = { 0 };

	for (size_t l = 0; l < ARRAY_SIZE(lists); l++)
		for (size_t i = 0; i < lists[l]->n; i++)
			new_address(k, &lists[l]->v[i], &seen);
	check_planned(k);
	for (size_t i = 0; i < k->nplanned; i++)
		if (new_address(k, &k->planned[i].path, &seen))
			check_source(k, &k->planned[i]);
	if (!seen.n)
		check_tell(k, CHECK_SKIP, "", "no path with an address of its own");
	strlist_free(&seen);
}

static const char *const error_counters[] = {
	"counters/symbol_error", "counters/port_rcv_errors", "counters/link_downed",
	"hw_counters/out_of_sequence", "hw_counters/packet_seq_err", "hw_counters/rnr_nak_retry_err",
	"hw_counters/local_ack_timeout_err", "hw_counters/out_of_seq_request",
	/* Soft-RoCE */
	"hw_counters/rcvd_seq_err", "hw_counters/completer_retry_err",
};

#define ERROR_COUNTERS	ARRAY_SIZE(error_counters)

/* The first look at a port */
struct check_errors {
	char name[M_HCA_MAX * 2];
	uint64_t v[ERROR_COUNTERS];
};

static void read_errors(struct checkup *k, const struct check_port *p, uint64_t v[ERROR_COUNTERS])
{
	for (size_t i = 0; i < ERROR_COUNTERS; i++)
		v[i] = sys_number(k->root, PORT "%s", p->hca, p->port, error_counters[i]);
}

static void first_look(struct checkup *k, const struct check_port *p)
{
	struct check_errors *e;

	k->errors = xrealloc(k->errors, (k->nerrors + 1) * sizeof(*k->errors));
	e = &k->errors[k->nerrors++];
	memcpy(e->name, p->name, sizeof(e->name));
	read_errors(k, p, e->v);
}

static const struct check_errors *looked_at(const struct checkup *k, const struct check_port *p)
{
	static const struct check_errors none;

	for (size_t i = 0; i < k->nerrors; i++)
		if (!strcmp(k->errors[i].name, p->name))
			return &k->errors[i];
	return &none;
}

static void port_counters(struct checkup *k, const struct check_port *p)
{
	const struct check_errors *before = looked_at(k, p);
	struct strlist rising = { 0 };
	uint64_t now[ERROR_COUNTERS];
	bool any = false;
	char *list;

	read_errors(k, p, now);
	for (size_t i = 0; i < ERROR_COUNTERS; i++) {
		any |= now[i] != UINT64_MAX;
		if (*before->name && now[i] != UINT64_MAX && now[i] > before->v[i])
			strlist_add(&rising, strchr(error_counters[i], '/') + 1);
	}
	if (!any) {
		check_tell(k, CHECK_SKIP, p->name, "the driver counts no errors");
		return;
	}
	if (rising.n) {
		list = strlist_join(&rising, ", ");
		check_tell(k, CHECK_WARN, p->name, "errors are rising: %s", list);
		check_hint(k, "cable, or a network that drops packets: PFC and ECN at both ends and the "
			   "switch");
		free(list);
	} else {
		check_tell(k, CHECK_PASS, p->name, "no errors are rising");
	}
	strlist_free(&rising);
	for (size_t i = 0; i < ERROR_COUNTERS; i++)
		if (now[i] != UINT64_MAX)
			check_data(k, strchr(error_counters[i], '/') + 1, js_u64(now[i]));
}

static void rdma_counters(struct checkup *k)
{
	if (each_port(k, first_look))
		sleep_ms(CHECK_LOOK_MS);
	check_ports(k, port_counters);
	free(k->errors);
	k->errors = NULL;
	k->nerrors = 0;
}

const struct check rdma_checks[] = {
	{ "rdma.devices", "there is an RDMA device", rdma_devices,
	  .cause = "no adapter, its driver is not loaded, or no Soft-RoCE was set up",
	  .cure = "modprobe the driver; 'rdma link add rxe0 type rxe netdev IFACE' makes one of software" },
	{ "rdma.port_state", "its ports are ACTIVE", rdma_port_state,
	  .cause = "cable, switch port, interface down, or no subnet manager (InfiniBand)",
	  .cure = "ip link set IFACE up; 'rdma link'; cable and switch port" },
	{ "rdma.phys_state", "their links are up", rdma_phys_state,
	  .cause = "no signal on the cable",
	  .cure = "cable, transceiver, switch port" },
	{ "rdma.rate", "they have the speed that they could have", rdma_rate,
	  .cause = "the link came up with fewer lanes or a lower speed than the adapter has; of "
		   "InfiniBand a single lane alone is seen, as nothing tells more",
	  .cure = "another cable or switch port; 'ethtool IFACE'" },
	{ "rdma.roce", "Ethernet ports have a GID of RoCE v2", rdma_roce,
	  .cause = "the interface has no IP address, or the adapter is set to RoCE v1",
	  .cure = "an IP address on the interface; cma_roce_mode" },
	{ "rdma.gid", "each own address of a path has a GID", rdma_gid,
	  .cause = "the address is on an interface without RDMA, or on none",
	  .cure = "ip addr add ADDRESS dev IFACE, on an interface of an RDMA port" },
	{ "rdma.counters", "no errors of the link are rising", rdma_counters,
	  .cause = "a bad cable, congestion without flow control, a slow receiver",
	  .cure = "the counter's name says which; cable, PFC and ECN of the switch" },
	{ 0 }
};
