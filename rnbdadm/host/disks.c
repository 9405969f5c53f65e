// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "host/disks.h"
#include "host/sysfs-file.h"

#define PORT "/sys/class/infiniband/%s/ports/%s/"

/* There is a file for each entry of the table. Those that are not set read as zeros. */
char *sys_gid(const char *root, const char *hca, const char *port, unsigned int *i)
{
	char *s;

	for (; (s = sys_read(root, PORT "gids/%u", hca, port, *i)); ++*i) {
		if (strspn(s, "0:") < strlen(s))
			return s;
		free(s);
	}
	return NULL;
}

/* GID table of one port, which may have a thousand of them: each is read once, and none before it is asked for. */
struct gid_entry {
	uint8_t gid[16];
	unsigned int index;
	bool v2;
	char netdev[M_HCA_MAX];
};

struct gid_table {
	char hca[M_HCA_MAX], port[24], link_layer[M_HCA_MAX];
	unsigned int next;
	struct gid_entry *v;
	size_t n;
};

static void begin_gids(const char *root, const char *hca, const char *port, struct gid_table *t)
{
	char *s = sys_read(root, PORT "link_layer", hca, port);

	*t = (struct gid_table){ 0 };
	snprintf(t->hca, sizeof(t->hca), "%s", hca);
	snprintf(t->port, sizeof(t->port), "%s", port);
	if (s && !strcmp(s, "InfiniBand"))
		strcpy(t->link_layer, "infiniband");
	else if (s && !strcmp(s, "Ethernet"))
		strcpy(t->link_layer, "ethernet");
	free(s);
}

/* Reads one more; false if there is none. */
static bool next_gid(const char *root, struct gid_table *t)
{
	char *gid = sys_gid(root, t->hca, t->port, &t->next), *s;
	struct gid_entry e = { 0 };

	if (!gid)
		return false;
	e.index = t->next++;
	inet_pton(AF_INET6, gid, e.gid);
	free(gid);
	s = sys_read(root, PORT "gid_attrs/types/%u", t->hca, t->port, e.index);
	e.v2 = s && strstr(s, "v2");
	free(s);
	s = sys_read(root, PORT "gid_attrs/ndevs/%u", t->hca, t->port, e.index);
	snprintf(e.netdev, sizeof(e.netdev), "%s", s ? s : "");
	free(s);
	t->v = xrealloc(t->v, (t->n + 1) * sizeof(*t->v));
	t->v[t->n++] = e;
	return true;
}

static void addr_gid(const struct addr *a, uint8_t gid[16])
{
	if (a->family != ADDR_IPV4) {
		memcpy(gid, a->raw, 16);
		return;
	}
	memset(gid, 0, 10);
	gid[10] = gid[11] = 0xff;
	memcpy(gid + 12, a->raw, 4);
}

/* The first GID that is the path's own address; on Ethernet rather that of RoCE v2. */
static void fill_path(const char *root, struct path *p, struct gid_table *t)
{
	const struct addr *local = p->role == M_SERVER ? &p->server : &p->client;
	bool found = false, last = false;
	uint8_t gid[16];

	strcpy(p->link_layer, t->link_layer);
	addr_gid(local, gid);
	for (size_t i = 0; !last && (i < t->n || next_gid(root, t)); i++) {
		const struct gid_entry *e = &t->v[i];

		if (memcmp(e->gid, gid, 16))
			continue;
		last = e->v2 || strcmp(t->link_layer, "ethernet");
		if (found && !last)
			continue;
		found = true;
		p->gid_index = e->index;
		strcpy(p->netdev, e->netdev);
	}
}

void sys_paths(const char *root, struct path_list *l)
{
	struct gid_table *tables = NULL;
	size_t n = 0, j;

	for (size_t i = 0; i < l->n; i++) {
		struct path *p = &l->v[i];
		char port[24];

		/* a name from the kernel, but it becomes part of a file name */
		if (!*p->hca || strchr(p->hca, '/') || p->hca[0] == '.' ||
		    p->hca_port == M_UNKNOWN)
			continue;
		snprintf(port, sizeof(port), "%" PRIu64, p->hca_port);
		for (j = 0; j < n; j++)
			if (!strcmp(tables[j].port, port) && !strcmp(tables[j].hca, p->hca))
				break;
		if (j == n) {
			tables = xrealloc(tables, (n + 1) * sizeof(*tables));
			begin_gids(root, p->hca, port, &tables[n++]);
		}
		fill_path(root, p, &tables[j]);
	}
	for (j = 0; j < n; j++)
		free(tables[j].v);
	free(tables);
}

bool sys_disk_stat(const char *root, const char *disk, uint64_t v[SYS_STAT_N])
{
	char *s = strchr(disk, '/') ? NULL : sys_read(root, "/sys/block/%s/stat", disk), *p = s, *end;
	size_t n = 0;

	for (; p && n < SYS_STAT_N; n++, p = end) {
		v[n] = strtoull(p, &end, 10);
		if (end == p)
			break;
	}
	free(s);
	return n == SYS_STAT_N;
}

static uint64_t sector_bytes(uint64_t n)
{
	return n > INT64_MAX / 512 ? M_UNKNOWN : n * 512;
}

bool sys_disk_counters(const char *root, const char *disk, struct counters *c)
{
	uint64_t v[SYS_STAT_N];

	if (!sys_disk_stat(root, disk, v))
		return false;
	c->read_ios = v[SYS_STAT_READS];
	c->read_bytes = sector_bytes(v[SYS_STAT_READ_SECTORS]);
	c->write_ios = v[SYS_STAT_WRITES];
	c->write_bytes = sector_bytes(v[SYS_STAT_WRITE_SECTORS]);
	c->inflight = v[SYS_STAT_INFLIGHT];
	c->failovers = c->reconnects_ok = c->reconnects_failed = M_UNKNOWN;
	return true;
}

char *sys_disk_word(const char *root, const char *disk, const char *attr)
{
	return strchr(disk, '/') ? NULL : sys_read(root, "/sys/block/%s/%s", disk, attr);
}

uint64_t sys_disk_number(const char *root, const char *disk, const char *attr)
{
	char *s = sys_disk_word(root, disk, attr), *end;
	uint64_t v = M_UNKNOWN;

	if (s && *s >= '0' && *s <= '9') {
		v = strtoull(s, &end, 10);
		if (*end)
			v = M_UNKNOWN;
	}
	free(s);
	return v;
}

uint64_t sys_block_read_only(const char *root, const char *name)
{
	char *s = strchr(name, '/') ? NULL : sys_read(root, "/sys/class/block/%s/ro", name);
	uint64_t v = s && (!strcmp(s, "0") || !strcmp(s, "1")) ? (uint64_t)(*s - '0') : M_UNKNOWN;

	free(s);
	return v;
}

void sys_ports(const char *root, struct strlist *l)
{
	struct strlist hcas = { 0 };

	sys_list(root, &hcas, "/sys/class/infiniband");
	for (size_t i = 0; i < hcas.n; i++) {
		struct strlist n = { 0 };

		sys_list(root, &n, "/sys/class/infiniband/%s/ports", hcas.v[i]);
		for (size_t k = 0; k < n.n; k++)
			strlist_addf(l, "%s:%s", hcas.v[i], n.v[k]);
		strlist_free(&n);
	}
	strlist_free(&hcas);
}

bool sys_has_rdma(const char *root)
{
	struct strlist l = { 0 };
	bool any;

	sys_list(root, &l, "/sys/class/infiniband");
	any = l.n > 0;
	strlist_free(&l);
	return any;
}

/* "0-3,6" */
uint64_t sys_cpus(const char *root)
{
	char *s = sys_read(root, "/sys/devices/system/cpu/online"), *save = NULL;
	unsigned int first, last;
	uint64_t n = 0;

	for (char *t = s ? strtok_r(s, ",", &save) : NULL; t; t = strtok_r(NULL, ",", &save)) {
		int got = sscanf(t, "%u-%u", &first, &last);

		n += got == 2 && last >= first ? last - first + 1 : got > 0;
	}
	free(s);
	return n ? n : M_UNKNOWN;
}

bool sys_udev_busy(const char *root) { return sys_exists(root, "/run/udev/queue"); }

bool sys_module(const char *root, const char *module, char **version)
{
	bool there = sys_exists(root, "/sys/module/%s", module);

	*version = there ? sys_read(root, "/sys/module/%s/version", module) : NULL;
	return there;
}

static char *node_path(const char *root, const struct device *d)
{
	return xasprintf("%s/dev/%s", root, d->name);
}

bool sys_node_exists(const char *root, const struct device *d)
{
	char *node = node_path(root, d);
	struct stat st;
	bool there = !stat(node, &st);

	free(node);
	return there;
}

/*
 * udev has seen the disk when its record is in the database. It leaves none if no
 * rule had anything to store; then an empty queue must do.
 */
static bool udev_settled(const char *root, const struct device *d, int64_t waited_ms)
{
	char *record;
	bool done;

	/* below a moved root there is no udev */
	if (*root || access("/run/udev/control", F_OK))
		return true;
	record = xasprintf("/run/udev/data/b%" PRIu64 ":%" PRIu64, d->major, d->minor);
	done = !access(record, F_OK);
	free(record);
	if (done)
		return true;
	return waited_ms >= 500 && access("/run/udev/queue", F_OK);
}

/* The kernel still reads its partition table: older modules do that before it is mapped. */
static bool is_scanned(const char *root, const struct device *d)
{
	char *scanning = sys_read(root, "/sys/block/%s/rnbd/scanning", d->name);
	bool done = !scanning || *scanning != '1';

	free(scanning);
	return done;
}

bool sys_node_ready(const char *root, const struct device *d, int64_t waited_ms)
{
	char *node;
	struct stat st;
	int fd;

	if (!sys_disk_number(root, d->name, "size") || !is_scanned(root, d) ||
	    !udev_settled(root, d, waited_ms))
		return false;
	node = node_path(root, d);
	fd = open(node, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	free(node);
	if (fd < 0)
		return false;
	/* a moved root holds plain files; elsewhere it must be this very disk */
	if (!*root && (fstat(fd, &st) || !S_ISBLK(st.st_mode) ||
		       (d->major != M_UNKNOWN &&
			st.st_rdev != makedev((unsigned int)d->major, (unsigned int)d->minor)))) {
		close(fd);
		return false;
	}
	close(fd);
	return true;
}
