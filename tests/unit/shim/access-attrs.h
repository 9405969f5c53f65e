/* SPDX-License-Identifier: GPL-2.0 */
/* Lists as requests bring them: peers and exports are put, and then list_of() makes a list of them. */
#ifndef SHIM_ACCESS_ATTRS_H
#define SHIM_ACCESS_ATTRS_H

#include "shim.h"
#include "attrs.h"
#include "kernel/rnbd/server/access-list.h"
#include "../tap.h"

static struct attrs request;
static size_t open_nest;

int rtrs_addr_scope_index(const char *name, size_t len)
{
	return name && len ? -EINVAL : 0;
}

static inline void begin(int type, const char *name)
{
	open_nest = attrs_begin(&request, type);
	attrs_text(&request, RNBD_A_ACL_PEER_NAME, name, strlen(name));
}

static inline void end(void)
{
	attrs_end(&request, open_nest);
}

static inline void session(const char *pattern)
{
	size_t at = attrs_begin(&request, RNBD_A_ACL_PEER_SESSION);

	attrs_text(&request, RNBD_A_ACL_SESSION_PATTERN, pattern, strlen(pattern));
	attrs_end(&request, at);
}

static inline void from(const void *addr, size_t len, int bits)
{
	size_t at = attrs_begin(&request, RNBD_A_ACL_PEER_FROM);

	attrs_put(&request, RNBD_A_ACL_PREFIX_ADDR, addr, len);
	if (bits >= 0)
		attrs_number(&request, RNBD_A_ACL_PREFIX_BITS, bits);
	attrs_end(&request, at);
}

static inline void from_ip(const char *text, int bits)
{
	struct sockaddr_in in = { .sin_family = AF_INET };

	inet_pton(AF_INET, text, &in.sin_addr);
	from(&in, sizeof(in), bits);
}

static inline void allow(const char *name, int mode)
{
	size_t at = attrs_begin(&request, RNBD_A_ACL_EXPORT_ALLOW);

	attrs_text(&request, RNBD_A_ACL_ALLOW_PEER, name, strlen(name));
	if (mode >= 0)
		attrs_number(&request, RNBD_A_ACL_ALLOW_ACCESS_MODE, mode);
	attrs_end(&request, at);
}

static inline void begin_peer(const char *name)
{
	begin(RNBD_A_ACCESS_PEER, name);
	attrs_number(&request, RNBD_A_ACL_PEER_AUTH, RNBD_ACCESS_AUTH_NONE);
}

static inline void peer(const char *name)
{
	begin_peer(name);
	session("*");
	from_ip("0.0.0.0", 0);
	end();
}

static inline void begin_export(const char *name, const char *path)
{
	begin(RNBD_A_ACCESS_EXPORT, name);
	attrs_text(&request, RNBD_A_ACL_EXPORT_PATH, path, strlen(path));
}

static inline void export(const char *name, const char *path)
{
	begin_export(name, path);
	end();
}

/* Of what was put, which a list outlives; NULL where shim_msg says why not. */
static inline struct rnbd_access_list *list_of(void)
{
	static void *sent;
	struct rnbd_access_list *list;

	free(sent);
	sent = shim_memdup(request.data, request.len);
	shim_msg[0] = '\0';
	list = rnbd_server_list_new(sent, request.len, NULL);
	request.len = 0;
	if (IS_ERR(list)) {
		EQ(PTR_ERR(list), strstr(shim_msg, "keys") ? -EOPNOTSUPP : -EINVAL);
		return NULL;
	}
	free(sent);
	sent = NULL;
	return list;
}

#endif /* SHIM_ACCESS_ATTRS_H */
