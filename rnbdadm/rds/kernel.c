// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/rds.h>

#include "host/disks.h"
#include "host/sysfs-file.h"
#include "rds/info.h"
#include "rds/kernel.h"

static const struct { const char *name, *transport, *kernel_version; } modules[RDS_MODULES] = {
	{ "rds", NULL, "4.0" },
	{ "rds_tcp", "tcp", NULL },
	{ "rds_rdma", "infiniband", NULL },
};

/* The kernel's own rds has said 4.0 since 2009, its transports say no version. */
static bool is_kernels(size_t i, const char *version)
{
	const char *kernels = modules[i].kernel_version;

	return kernels ? version && !strcmp(version, kernels) : !version;
}

void rds_modules(const char *root, struct rds_module m[RDS_MODULES])
{
	for (size_t i = 0; i < RDS_MODULES; i++) {
		m[i] = (struct rds_module){ .name = modules[i].name, .transport = modules[i].transport };
		m[i].loaded = sys_module(root, m[i].name, &m[i].version);
		if (m[i].loaded)
			m[i].origin = is_kernels(i, m[i].version) ? "kernel" : "rnbd";
	}
}

void rds_modules_free(struct rds_module m[RDS_MODULES])
{
	for (size_t i = 0; i < RDS_MODULES; i++)
		free(m[i].version);
}

static bool open_failed(struct ctx *ctx, int err)
{
	struct fail *f = &ctx->fail;

	if (err == EAFNOSUPPORT) {
		fail_set(f, XC_UNAVAILABLE, "this kernel has no RDS: the module rds is not loaded");
		fail_hint(f, "modprobe rds_tcp (RDS over TCP), or modprobe rds_rdma (over RDMA)");
	} else {
		fail_set(f, errno_exit_code(err), "cannot open an RDS socket: %s (%s)", strerror(err), errno_name(err));
		f->err = err;
	}
	return false;
}

bool rds_open(struct ctx *ctx, struct rds *r)
{
	struct stat st;

	*r = (struct rds){ .root = ctx->test_root, .fd = -1 };
	/* without the module, socket() would make the kernel look for one that nobody has asked for */
	if (!sys_exists(r->root, "/sys/module/rds"))
		return open_failed(ctx, EAFNOSUPPORT);
	if (*r->root)
		return true;
	r->fd = socket(AF_RDS, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (r->fd < 0)
		return open_failed(ctx, errno);
	if (!fstat(r->fd, &st))
		r->inode = st.st_ino;
	return true;
}

void rds_close(struct rds *r)
{
	if (r->fd >= 0)
		close(r->fd);
}

static int ask_socket(void *arg, int list, void *buf, uint32_t *len)
{
	const struct rds *r = arg;
	socklen_t n = *len;
	int size = getsockopt(r->fd, SOL_RDS, list, buf, &n);

	*len = n;
	return size < 0 ? -errno : size;
}

/* The file of a list: the size of a record, 4 bytes in the order of the host, and the records. */
static int ask_file(void *arg, int list, void *buf, uint32_t *len)
{
	const struct rds *r = arg;
	char *path = xasprintf("%s/rds/%d", r->root, list);
	FILE *f = fopen(path, "re");
	uint32_t size = 0, cap = *len;
	struct stat st;
	int rc = -ENOPROTOOPT;

	free(path);
	if (!f)
		return rc;
	if (!fstat(fileno(f), &st) && fread(&size, sizeof(size), 1, f) == 1) {
		*len = (uint32_t)st.st_size - (uint32_t)sizeof(size);
		rc = *len > cap || fread(buf, 1, *len, f) != *len ? -ENOSPC : (int)size;
	}
	fclose(f);
	return rc;
}

static const char *info_name(int list)
{
	static const char *const names[] = {
		[RDS_INFO_COUNTERS - RDS_INFO_FIRST] = "RDS_INFO_COUNTERS",
		[RDS_INFO_CONNECTIONS - RDS_INFO_FIRST] = "RDS_INFO_CONNECTIONS",
		[RDS_INFO_SEND_MESSAGES - RDS_INFO_FIRST] = "RDS_INFO_SEND_MESSAGES",
		[RDS_INFO_RETRANS_MESSAGES - RDS_INFO_FIRST] = "RDS_INFO_RETRANS_MESSAGES",
		[RDS_INFO_RECV_MESSAGES - RDS_INFO_FIRST] = "RDS_INFO_RECV_MESSAGES",
		[RDS_INFO_SOCKETS - RDS_INFO_FIRST] = "RDS_INFO_SOCKETS",
		[RDS_INFO_TCP_SOCKETS - RDS_INFO_FIRST] = "RDS_INFO_TCP_SOCKETS",
		[RDS6_INFO_CONNECTIONS - RDS_INFO_FIRST] = "RDS6_INFO_CONNECTIONS",
		[RDS6_INFO_SEND_MESSAGES - RDS_INFO_FIRST] = "RDS6_INFO_SEND_MESSAGES",
		[RDS6_INFO_RETRANS_MESSAGES - RDS_INFO_FIRST] = "RDS6_INFO_RETRANS_MESSAGES",
		[RDS6_INFO_RECV_MESSAGES - RDS_INFO_FIRST] = "RDS6_INFO_RECV_MESSAGES",
		[RDS6_INFO_SOCKETS - RDS_INFO_FIRST] = "RDS6_INFO_SOCKETS",
		[RDS6_INFO_TCP_SOCKETS - RDS_INFO_FIRST] = "RDS6_INFO_TCP_SOCKETS",
		[RDS_INFO_LAST - RDS_INFO_FIRST] = NULL,
	};

	return names[list - RDS_INFO_FIRST];
}

bool rds_read(struct ctx *ctx, const struct rds *r, int list, struct rds_list *l)
{
	struct fail *f = &ctx->fail;
	int rc = rds_info(*r->root ? ask_file : ask_socket, (void *)r, list, l);

	if (!rc)
		return true;
	if (rc == -EBADMSG) {
		fail_set(f, XC_UNSUPPORTED, "%s: this version does not know the module's records", info_name(list));
		fail_hint(f, "rnbdadm rds check shows the modules; a newer rnbdadm may know them");
	} else {
		fail_set(f, errno_exit_code(-rc), "%s: %s (%s)", info_name(list),
			 rc == -EOVERFLOW ? "the list grows faster than it can be read" : strerror(-rc), errno_name(-rc));
	}
	f->err = -rc;
	return false;
}
