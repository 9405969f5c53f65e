// SPDX-License-Identifier: GPL-2.0
/* The access list: pure, built once and then only read. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "access-list.h"

/* Pointers first: each part begins where it may. */
size_t rnbd_server_list_bytes(const struct rnbd_access_size *room)
{
	return sizeof(struct rnbd_access_list) +
	       (size_t)room->peers * sizeof(struct rnbd_access_peer) +
	       (size_t)room->exports * sizeof(struct rnbd_access_export) +
	       (size_t)room->allows * sizeof(struct rnbd_access_allow) +
	       (size_t)room->patterns * sizeof(char *) +
	       (size_t)room->peers * sizeof(struct rnbd_access_named) +
	       (size_t)room->prefixes * sizeof(struct rnbd_access_prefix) + room->text;
}

void rnbd_server_list_init(struct rnbd_access_list *list, const struct rnbd_access_size *room)
{
	list->room = *room;
	list->peer = (void *)(list + 1);
	list->export = (void *)(list->peer + room->peers);
	list->allow = (void *)(list->export + room->exports);
	list->pattern = (void *)(list->allow + room->allows);
	list->by_name = (void *)(list->pattern + room->patterns);
	list->prefix = (void *)(list->by_name + room->peers);
	list->text = (void *)(list->prefix + room->prefixes);
}

static const char *put_text(struct rnbd_access_list *list, const char *s, size_t len)
{
	char *at = list->text + list->has.text;

	if (list->room.text - list->has.text <= len)
		return NULL;
	memcpy(at, s, len);
	at[len] = '\0';
	list->has.text += len + 1;
	return at;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '-';
}

static bool is_peer_name(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!is_word(name[i]))
			return false;
	return len && len < RNBD_ACCESS_PEER_LEN;
}

static bool is_printed(const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if ((unsigned char)s[i] < ' ' || s[i] == 0x7f)
			return false;
	return len;
}

/* As an OPEN may have it: no '/' in front, none twice, no "..". "/" is all there is. */
static bool is_export_name(const char *name, size_t len)
{
	size_t i, start = 0;

	if (!is_printed(name, len) || len >= RNBD_ACCESS_NAME_LEN)
		return false;
	if (len == 1 && name[0] == '/')
		return true;
	for (i = 0; i <= len; i++) {
		if (i < len && name[i] != '/')
			continue;
		if (i == start && i < len)
			return false;
		if (i - start == 2 && !memcmp(name + start, "..", 2))
			return false;
		start = i + 1;
	}
	return true;
}

int rnbd_server_list_add_peer(struct rnbd_access_list *list, const char *name, size_t len)
{
	struct rnbd_access_peer *peer = &list->peer[list->has.peers];

	if (!is_peer_name(name, len))
		return -EINVAL;
	if (list->has.peers == list->room.peers)
		return -ENOSPC;
	peer->name = put_text(list, name, len);
	if (!peer->name)
		return -ENOSPC;
	peer->pattern = list->has.patterns;
	peer->prefix = list->has.prefixes;
	list->by_name[list->has.peers].name = peer->name;
	list->by_name[list->has.peers].number = list->has.peers;
	list->has.peers++;
	return 0;
}

int rnbd_server_list_add_pattern(struct rnbd_access_list *list, const char *pattern, size_t len)
{
	const char *text;

	if (!is_printed(pattern, len) || len >= RNBD_ACCESS_NAME_LEN)
		return -EINVAL;
	if (!list->has.peers || list->has.patterns == list->room.patterns)
		return -ENOSPC;
	text = put_text(list, pattern, len);
	if (!text)
		return -ENOSPC;
	list->pattern[list->has.patterns++] = text;
	list->peer[list->has.peers - 1].patterns++;
	return 0;
}

int rnbd_server_list_add_prefix(struct rnbd_access_list *list,
				const struct rnbd_access_prefix *prefix)
{
	if (prefix->bits > 128)
		return -EINVAL;
	if (!list->has.peers || list->has.prefixes == list->room.prefixes)
		return -ENOSPC;
	list->prefix[list->has.prefixes++] = *prefix;
	list->peer[list->has.peers - 1].prefixes++;
	return 0;
}

int rnbd_server_list_add_export(struct rnbd_access_list *list, const char *name, size_t len,
				const char *path, size_t path_len)
{
	struct rnbd_access_export *export = &list->export[list->has.exports];

	if (!is_export_name(name, len) || !is_printed(path, path_len) || path[0] != '/' ||
	    path_len >= RNBD_ACCESS_PATH_LEN)
		return -EINVAL;
	if (list->has.exports == list->room.exports)
		return -ENOSPC;
	export->is_dir = name[len - 1] == '/';
	if (!export->is_dir && path[path_len - 1] == '/')
		return -EINVAL;
	export->name = put_text(list, name, len);
	export->path = put_text(list, path, path_len);
	if (!export->name || !export->path)
		return -ENOSPC;
	export->allow = list->has.allows;
	list->has.exports++;
	return 0;
}

int rnbd_server_list_add_allow(struct rnbd_access_list *list, const char *peer, size_t len, u8 mode)
{
	struct rnbd_access_allow *allow = &list->allow[list->has.allows];

	if ((!is_peer_name(peer, len) && !(len == 1 && peer[0] == '*')) ||
	    mode > RNBD_ACCESS_MODE_MIGRATION)
		return -EINVAL;
	if (!list->has.exports || list->has.allows == list->room.allows)
		return -ENOSPC;
	allow->name = put_text(list, peer, len);
	if (!allow->name)
		return -ENOSPC;
	allow->mode = mode;
	list->has.allows++;
	list->export[list->has.exports - 1].allows++;
	return 0;
}

/* Of what begins with a name. */
static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static_assert(!offsetof(struct rnbd_access_export, name), "as compare() has it");
static_assert(!offsetof(struct rnbd_access_named, name), "as compare() has it");

/* Of @count things of @size bytes that begin with a name, the one with that of @len bytes. */
static const void *find(const void *base, u32 count, size_t size, const char *name, size_t len)
{
	u32 low = 0, high = count, mid;
	const void *at;
	const char *s;
	int diff;

	while (low < high) {
		mid = low + (high - low) / 2;
		at = (const char *)base + mid * size;
		s = *(const char *const *)at;
		diff = strncmp(s, name, len);
		if (!diff)
			diff = s[len] != '\0';	/* the longer one comes later */
		if (!diff)
			return at;
		if (diff < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

u32 rnbd_server_list_peer_by_name(const struct rnbd_access_list *list, const char *name)
{
	const struct rnbd_access_named *named;

	named = find(list->by_name, list->has.peers, sizeof(*named), name, strlen(name));
	return named ? named->number : RNBD_ACCESS_NOBODY;
}

static struct rnbd_access_export *find_export(const struct rnbd_access_list *list,
					      const char *name, size_t len)
{
	return (void *)find(list->export, list->has.exports, sizeof(*list->export), name, len);
}

struct rnbd_access_export *rnbd_server_list_export_by_name(const struct rnbd_access_list *list,
							   const char *name)
{
	return find_export(list, name, strlen(name));
}

static const char *twice(const void *base, u32 count, size_t size)
{
	const char *at = base;
	u32 i;

	for (i = 1; i < count; i++, at += size)
		if (!compare(at, at + size))
			return *(const char *const *)at;
	return NULL;
}

int rnbd_server_list_end(struct rnbd_access_list *list, const char **culprit)
{
	struct rnbd_access_allow *allow;
	u32 i;

	*culprit = "";
	if (!list->has.peers && !list->has.exports)
		return -ENODATA;
	sort(list->by_name, list->has.peers, sizeof(*list->by_name), compare, NULL);
	sort(list->export, list->has.exports, sizeof(*list->export), compare, NULL);
	*culprit = twice(list->by_name, list->has.peers, sizeof(*list->by_name)) ?:
		   twice(list->export, list->has.exports, sizeof(*list->export));
	if (*culprit)
		return -EEXIST;
	for (i = 0; i < list->has.allows; i++) {
		allow = &list->allow[i];
		allow->peer = rnbd_server_list_peer_by_name(list, allow->name);
		if (allow->peer == RNBD_ACCESS_NOBODY && allow->name[0] != '*') {
			*culprit = allow->name;
			return -ENOENT;
		}
	}
	return 0;
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

static bool has_name(const struct rnbd_access_list *list, const struct rnbd_access_peer *peer,
		     const char *name)
{
	size_t len = strlen(peer->name);
	u32 i;

	for (i = 0; i < peer->patterns; i++)
		if (rnbd_server_list_match(list->pattern[peer->pattern + i], name))
			return true;
	/* What map --server makes of the name of a host */
	return !peer->patterns && !strncmp(name, peer->name, len) &&
	       (!name[len] || name[len] == '@');
}

static bool begins(const u8 *addr, const u8 *prefix, unsigned int bits)
{
	unsigned int bytes = bits / 8;

	if (memcmp(addr, prefix, bytes))
		return false;
	return !(bits % 8) || !((addr[bytes] ^ prefix[bytes]) >> (8 - bits % 8));
}

static bool is_from(const struct rnbd_access_list *list, const struct rnbd_access_peer *peer,
		    const struct rnbd_access_addr *addr)
{
	const struct rnbd_access_prefix *prefix;
	u32 i;

	for (i = 0; i < peer->prefixes; i++) {
		prefix = &list->prefix[peer->prefix + i];
		if (prefix->is_gid ? begins(addr->gid, prefix->addr, prefix->bits) :
		    addr->has_ip && begins(addr->ip, prefix->addr, prefix->bits))
			return true;
	}
	return !peer->prefixes;
}

bool rnbd_server_list_is_peer(const struct rnbd_access_list *list, u32 peer,
			      const struct rnbd_access_addr *addr, const char *name)
{
	return peer < list->has.peers && is_from(list, &list->peer[peer], addr) &&
	       (!name || has_name(list, &list->peer[peer], name));
}

u32 rnbd_server_list_find_peer(const struct rnbd_access_list *list,
			       const struct rnbd_access_addr *addr, const char *name)
{
	u32 i;

	for (i = 0; i < list->has.peers; i++)
		if (rnbd_server_list_is_peer(list, i, addr, name))
			return i;
	return RNBD_ACCESS_NOBODY;
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
static const struct rnbd_access_export *decides(const struct rnbd_access_list *list,
						struct rnbd_access_answer *answer)
{
	const struct rnbd_access_export *export;
	const char *name = answer->name;
	size_t len = squeeze(answer->name);

	answer->rest = name + len;
	export = find_export(list, name, len);
	if (export && !export->is_dir)
		return export;
	while (len && name[len - 1] == '/')
		len--;	/* a directory itself is no device */
	for (; len; len--) {
		if (name[len - 1] != '/')
			continue;
		export = find_export(list, name, len);
		if (export) {
			answer->rest = name + len;
			return export;
		}
	}
	answer->rest = name;
	return *name ? find_export(list, "/", 1) : NULL;
}

int rnbd_server_list_judge(const struct rnbd_access_list *list, u32 peer, const char *name, u8 mode,
			   struct rnbd_access_answer *answer)
{
	const struct rnbd_access_allow *allow;
	u32 i;

	strscpy(answer->name, name, sizeof(answer->name));
	answer->mode = -1;
	answer->export = decides(list, answer);
	if (!answer->export || peer >= list->has.peers)
		return -ENOENT;
	for (i = 0; i < answer->export->allows; i++) {
		allow = &list->allow[answer->export->allow + i];
		if (allow->peer == peer || allow->peer == RNBD_ACCESS_NOBODY)
			answer->mode = max_t(int, answer->mode, allow->mode);
	}
	if (answer->mode < 0)
		return -ENOENT;
	return mode > answer->mode ? -EACCES : 0;
}
