// SPDX-License-Identifier: GPL-2.0
/* The access list: pure, built once and then only read. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <rtrs/types.h>

#include "access-list.h"

#define WORD "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
#define NEST_MAX 65000	/* bytes of what is said of one; a reply adds to it, and has 64 KiB */

static_assert((int)RNBD_A_ACL_PEER_NAME == (int)RNBD_A_ACL_EXPORT_NAME, "one for both");

/* Addresses that begin alike, as struct rnbd_access_addr has them. */
struct prefix {
	bool is_gid;
	u32 bits;
	u8 addr[16];
};

const char *rnbd_server_list_text(const struct nlattr *nest, int type)
{
	const struct nlattr *attr = nla_find_nested(nest, type);

	return attr ? nla_data(attr) : "";
}

u64 rnbd_server_list_number(const struct nlattr *nest, int type, u64 otherwise)
{
	const struct nlattr *attr = nla_find_nested(nest, type);

	if (!attr)
		return otherwise;
	return nla_len(attr) == sizeof(u64) ? nla_get_u64(attr) : nla_get_u32(attr);
}

static bool get_prefix(const struct nlattr *nest, struct prefix *prefix)
{
	const struct nlattr *attr = nla_find_nested(nest, RNBD_A_ACL_PREFIX_ADDR);
	struct sockaddr_storage ss = {};
	u32 all, bits;

	if (attr)
		nla_memcpy(&ss, attr, sizeof(ss));
	if (!rtrs_addr_len(&ss) || nla_len(attr) != rtrs_addr_len(&ss))
		return false;
	all = ss.ss_family == AF_INET ? 32 : 128;
	bits = rnbd_server_list_number(nest, RNBD_A_ACL_PREFIX_BITS, all);
	prefix->is_gid = ss.ss_family == AF_IB;
	prefix->bits = bits + 128 - all;
	rtrs_addr_bytes(&ss, prefix->addr);
	return bits <= all;
}

static bool is_printed(const char *s)
{
	const char *at;

	for (at = s; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			return false;
	return *s;
}

/* As an OPEN may have it: no '/' in front, none twice, no "..". "/" is all there is. */
static bool is_export_name(const char *name)
{
	const char *s;
	size_t n;

	if (!strcmp(name, "/"))
		return true;
	for (s = name; *s; s += n + (s[n] == '/')) {
		n = strcspn(s, "/");
		if (!n || (n == 2 && !memcmp(s, "..", 2)))
			return false;
	}
	return is_printed(name);
}

static int bad(struct netlink_ext_ack *extack, const struct nlattr *attr, const char *name,
	       const char *what)
{
	NL_SET_BAD_ATTR(extack, attr);
	return rtrs_fail(extack, -EINVAL, "'%.32s' %s", name, what);
}

/* Whoever has no key is known by its names and addresses. */
static int check_peer(const struct rnbd_access_entry *peer, struct netlink_ext_ack *extack)
{
	const struct nlattr *nest = peer->nest, *attr;
	struct prefix prefix;
	int rem;

	if (!*peer->name || peer->name[strspn(peer->name, WORD)])
		return bad(extack, nest, peer->name, "is not a name of a peer");
	if (rnbd_server_list_number(nest, RNBD_A_ACL_PEER_AUTH, RNBD_ACCESS_AUTH_KEY) !=
	    RNBD_ACCESS_AUTH_NONE) {
		bad(extack, nest, peer->name, "needs auth none: keys are not supported");
		return -EOPNOTSUPP;
	}
	if (!nla_find_nested(nest, RNBD_A_ACL_PEER_SESSION) ||
	    !nla_find_nested(nest, RNBD_A_ACL_PEER_FROM))
		return bad(extack, nest, peer->name, "has no key: session and from are needed");
	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) == RNBD_A_ACL_PEER_SESSION &&
		    !is_printed(rnbd_server_list_text(attr, RNBD_A_ACL_SESSION_PATTERN)))
			return bad(extack, attr, peer->name, "has a session that is none");
		if (nla_type(attr) == RNBD_A_ACL_PEER_FROM && !get_prefix(attr, &prefix))
			return bad(extack, attr, peer->name, "has an address that is none");
	}
	return 0;
}

static int check_export(const struct rnbd_access_list *list,
			const struct rnbd_access_entry *export, struct netlink_ext_ack *extack)
{
	const char *path = rnbd_server_list_text(export->nest, RNBD_A_ACL_EXPORT_PATH), *peer;
	const struct nlattr *attr;
	int rem;

	if (!*path)
		return bad(extack, export->nest, export->name, "has no path");
	if (!is_export_name(export->name) || !is_printed(path) || path[0] != '/' ||
	    (!rnbd_access_is_dir(export) && path[strlen(path) - 1] == '/'))
		return bad(extack, export->nest, export->name,
			   "has a bad name or path; check the last '/'");
	nla_for_each_nested(attr, export->nest, rem) {
		if (nla_type(attr) != RNBD_A_ACL_EXPORT_ALLOW)
			continue;
		peer = rnbd_server_list_text(attr, RNBD_A_ACL_ALLOW_PEER);
		if (strcmp(peer, "*") && !rnbd_server_list_peer(list, peer))
			return bad(extack, attr, peer, "is allowed an export, but is no peer");
	}
	return 0;
}

static int check(const struct rnbd_access_list *list, struct netlink_ext_ack *extack)
{
	const struct rnbd_access_entry *entry;
	u32 i;
	int err;

	for (i = 0; i < list->peers + list->exports; i++) {
		entry = list->by_name[i];
		if (i && i != list->peers && !strcmp(entry->name, list->by_name[i - 1]->name))
			return bad(extack, entry->nest, entry->name, "is there twice");
		if (nla_len(entry->nest) > NEST_MAX)
			return bad(extack, entry->nest, entry->name, "has more than 65000 bytes");
		err = i < list->peers ? check_peer(entry, extack) :
					check_export(list, entry, extack);
		if (err)
			return err;
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct rnbd_access_entry *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* All of one type, behind what is there. */
static u32 add(struct rnbd_access_list *list, const void *attrs, size_t len, int type)
{
	u32 first = list->peers, n = first;
	const struct nlattr *attr;
	int rem;

	nla_for_each_attr(attr, attrs, len, rem) {
		if (nla_type(attr) != type)
			continue;
		list->entry[n].nest = attr;
		list->entry[n].name = rnbd_server_list_text(attr, RNBD_A_ACL_PEER_NAME);
		list->by_name[n] = &list->entry[n];
		list->longest = max(list->longest, nla_len(attr));
		n++;
	}
	sort(list->by_name + first, n - first, sizeof(*list->by_name), compare, NULL);
	return n - first;
}

/* What was checked is the caller's: a copy stays. */
struct rnbd_access_list *rnbd_server_list_new(const void *attrs, size_t len,
					      struct netlink_ext_ack *extack)
{
	struct rnbd_access_list *list;
	const struct nlattr *attr;
	size_t count = 0;
	void *copy;
	int rem, err;

	nla_for_each_attr(attr, attrs, len, rem)
		count++;
	list = kvzalloc(sizeof(*list) + count * (sizeof(*list->entry) + sizeof(*list->by_name)) +
			NLA_ALIGN(len), GFP_KERNEL);
	if (!list)
		return ERR_PTR(-ENOMEM);
	list->entry = (void *)(list + 1);
	list->by_name = (void *)(list->entry + count);
	list->peers = add(list, attrs, len, RNBD_A_ACCESS_PEER);
	list->exports = add(list, attrs, len, RNBD_A_ACCESS_EXPORT);
	err = check(list, extack);
	if (err) {
		kvfree(list);
		return ERR_PTR(err);
	}
	copy = memcpy(list->by_name + count, attrs, len);
	for (count = 0; count < list->peers + list->exports; count++) {
		list->entry[count].nest = copy + ((void *)list->entry[count].nest - attrs);
		list->entry[count].name = copy + ((void *)list->entry[count].name - attrs);
	}
	return list;
}

static struct rnbd_access_entry *find(struct rnbd_access_entry *const *by_name, u32 count,
				      const char *name, size_t len)
{
	u32 low = 0, mid;
	int diff;

	while (low < count) {
		mid = low + (count - low) / 2;
		diff = strncmp(by_name[mid]->name, name, len) ?:
		       by_name[mid]->name[len] != '\0';	/* the longer one comes later */
		if (!diff)
			return by_name[mid];
		if (diff < 0)
			low = mid + 1;
		else
			count = mid;
	}
	return NULL;
}

struct rnbd_access_entry *rnbd_server_list_peer(const struct rnbd_access_list *list,
						const char *name)
{
	return find(list->by_name, list->peers, name, strlen(name));
}

struct rnbd_access_entry *rnbd_server_list_export(const struct rnbd_access_list *list,
						  const char *name, size_t len)
{
	return find(list->by_name + list->peers, list->exports, name, len);
}

/* The last '*' is as long as it must be: the ones before it need not be tried again. */
bool rnbd_server_list_match(const char *pattern, const char *text)
{
	const char *star = NULL, *from = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (*pattern && (*pattern == '?' || *pattern == *text)) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static bool begins(const u8 *addr, const u8 *prefix, unsigned int bits)
{
	unsigned int bytes = bits / 8;

	if (memcmp(addr, prefix, bytes))
		return false;
	return !(bits % 8) || !((addr[bytes] ^ prefix[bytes]) >> (8 - bits % 8));
}

static bool is_from(const struct nlattr *nest, const struct sockaddr_storage *from, const u8 *gid)
{
	struct prefix prefix;
	u8 addr[16];

	if (!get_prefix(nest, &prefix))
		return false;
	rtrs_addr_bytes(from, addr);
	if (prefix.is_gid)	/* RoCE has the address in it */
		return begins(gid ?: addr, prefix.addr, prefix.bits);
	return from->ss_family != AF_IB && begins(addr, prefix.addr, prefix.bits);
}

bool rnbd_server_list_is_peer(const struct rnbd_access_entry *peer,
			      const struct sockaddr_storage *from, const u8 *gid,
			      const char *session)
{
	const struct nlattr *attr;
	bool named = !session;
	const char *pattern;
	int rem;

	nla_for_each_nested(attr, peer->nest, rem) {
		if (named || nla_type(attr) != RNBD_A_ACL_PEER_SESSION)
			continue;
		pattern = rnbd_server_list_text(attr, RNBD_A_ACL_SESSION_PATTERN);
		named = rnbd_server_list_match(pattern, session);
	}
	nla_for_each_nested(attr, peer->nest, rem)
		if (named && nla_type(attr) == RNBD_A_ACL_PEER_FROM && is_from(attr, from, gid))
			return true;
	return false;
}

const struct rnbd_access_entry *rnbd_server_list_find_peer(const struct rnbd_access_list *list,
							   const struct sockaddr_storage *from,
							   const u8 *gid, const char *session)
{
	u32 i;

	for (i = 0; i < list->peers; i++)
		if (rnbd_server_list_is_peer(&list->entry[i], from, gid, session))
			return &list->entry[i];
	return NULL;
}

/* In place. */
static size_t squeeze(char *name)
{
	const char *s;
	size_t len = 0;

	for (s = name; *s; s++)
		if (*s != '/' || (len && name[len - 1] != '/'))
			name[len++] = *s;
	name[len] = '\0';
	return len;
}

/* The export of exactly this name, else the longest directory that it begins with. */
static const struct rnbd_access_entry *decides(const struct rnbd_access_list *list,
					       struct rnbd_access_answer *answer)
{
	size_t all = squeeze(answer->name), len;
	const struct rnbd_access_entry *export;
	bool below;

	for (len = all; len; len--) {
		if (len < all && answer->name[len - 1] != '/')
			continue;
		export = rnbd_server_list_export(list, answer->name, len);
		answer->rest = answer->name + len;
		below = len < all;	/* a directory itself is no device */
		if (export && rnbd_access_is_dir(export) == below)
			return export;
	}
	answer->rest = answer->name;
	return all ? rnbd_server_list_export(list, "/", 1) : NULL;
}

enum rnbd_access_reason rnbd_server_list_judge(const struct rnbd_access_list *list,
					       const char *peer, const char *name, u8 mode,
					       struct rnbd_access_answer *answer)
{
	const struct nlattr *attr;
	const char *allowed;
	int rem, most;

	strscpy(answer->name, name, sizeof(answer->name));
	answer->mode = -1;
	answer->export = decides(list, answer);
	if (!answer->export || !rnbd_server_list_peer(list, peer))
		return RNBD_ACCESS_REASON_NO_EXPORT;
	nla_for_each_nested(attr, answer->export->nest, rem) {
		if (nla_type(attr) != RNBD_A_ACL_EXPORT_ALLOW)
			continue;
		allowed = rnbd_server_list_text(attr, RNBD_A_ACL_ALLOW_PEER);
		most = rnbd_server_list_number(attr, RNBD_A_ACL_ALLOW_ACCESS_MODE,
					       RNBD_ACCESS_MODE_RW);
		if (!strcmp(allowed, "*") || !strcmp(allowed, peer))
			answer->mode = max(answer->mode, most);
	}
	if (answer->mode < 0)
		return RNBD_ACCESS_REASON_NO_EXPORT;
	return mode > answer->mode ? RNBD_ACCESS_REASON_ACCESS_MODE : RNBD_ACCESS_REASON_NONE;
}
