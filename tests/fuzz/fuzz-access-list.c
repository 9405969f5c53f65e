// SPDX-License-Identifier: GPL-2.0
/*
 * An access list, and what it answers. Input: lines: a letter says what is added, the rest is its
 * text.
 */
#include <errno.h>
#include "attrs.h"
#include "fuzz.h"
#include "kernel/rnbd/server/access-list.h"
#include "shim.h"

#define LINE_MAX_	200
#define ROOM		(sizeof(request.data) - 2 * LINE_MAX_)

static struct attrs request;

int rtrs_addr_scope_index(const char *name, size_t len)
{
	return name && len ? -EINVAL : 0;
}

static size_t begin(int type, const char *name, size_t len)
{
	size_t at = attrs_begin(&request, type);

	attrs_text(&request, RNBD_A_ACL_PEER_NAME, name, len);
	return at;
}

/* An item of the one that is open. */
static void add_item(const char *line, size_t len)
{
	const unsigned char types[256] = {
		['s'] = RNBD_A_ACL_PEER_SESSION, ['f'] = RNBD_A_ACL_PEER_FROM, ['a'] = RNBD_A_ACL_EXPORT_ALLOW,
	};
	size_t at = attrs_begin(&request, types[(unsigned char)line[0]]);

	switch (line[0]) {
	case 's':
		attrs_text(&request, RNBD_A_ACL_SESSION_PATTERN, line + 1, len - 1);
		break;
	case 'f':
		if (len > 1)
			attrs_number(&request, RNBD_A_ACL_PREFIX_BITS, line[1] & 0x7f);
		if (len > 2)
			attrs_put(&request, RNBD_A_ACL_PREFIX_ADDR, line + 2, len - 2);
		break;
	case 'a':
		if (len > 1)
			attrs_number(&request, RNBD_A_ACL_ALLOW_ACCESS_MODE, (line[1] & 3) % 3);
		if (len > 2)
			attrs_text(&request, RNBD_A_ACL_ALLOW_PEER, line + 2, len - 2);
	}
	attrs_end(&request, at);
}

static void add_lines(const char *at, const char *end)
{
	size_t nest = 0, len;
	const char *items = "";	/* that the open one may have; its policy has no others */
	const char *eq;

	for (; at < end && request.len < ROOM; at += len + 1) {
		eq = memchr(at, '\n', end - at);
		len = (eq ? eq : end) - at;
		if (!len || len > LINE_MAX_)
			continue;
		eq = memchr(at, '=', len);
		if (*items && (at[0] == 'p' || at[0] == 'e'))
			attrs_end(&request, nest);
		if (at[0] == 'p') {
			nest = begin(RNBD_A_ACCESS_PEER, at + 1, len - 1);
			attrs_number(&request, RNBD_A_ACL_PEER_AUTH, RNBD_ACCESS_AUTH_NONE);
			items = "sf";
		} else if (at[0] == 'e') {
			nest = begin(RNBD_A_ACCESS_EXPORT, at + 1, (eq ? eq - at : (long)len) - 1);
			if (eq)
				attrs_text(&request, RNBD_A_ACL_EXPORT_PATH, eq + 1, at + len - eq - 1);
			items = "a";
		} else if (at[0] && strchr(items, at[0])) {
			add_item(at, len);
		}
	}
	if (*items)
		attrs_end(&request, nest);
}

static void ask(const struct rnbd_access_list *list, const char *name)
{
	const struct sockaddr_storage addr = { .ss_family = AF_INET };
	const struct rnbd_access_entry *who = rnbd_server_list_find_peer(list, &addr, NULL, name);
	struct rnbd_access_answer answer;
	u32 i;
	enum rnbd_access_reason err;

	MUST(!who || rnbd_server_list_is_peer(who, &addr, NULL, name));
	MUST(rnbd_server_list_judge(list, "", name, RNBD_ACCESS_MODE_RO, &answer) == RNBD_ACCESS_REASON_NO_EXPORT);
	for (i = 0; i < list->peers; i++) {
		err = rnbd_server_list_judge(list, list->entry[i].name, name, RNBD_ACCESS_MODE_RW, &answer);
		MUST(!err || err == RNBD_ACCESS_REASON_NO_EXPORT || err == RNBD_ACCESS_REASON_ACCESS_MODE);
		MUST(err == RNBD_ACCESS_REASON_NO_EXPORT || (answer.export && answer.mode >= 0));
		MUST(err || answer.mode >= RNBD_ACCESS_MODE_RW);
		if (err)
			continue;
		accepted++;
		MUST(strstr(name, *answer.rest ? answer.rest : answer.name));
		MUST(rnbd_access_is_dir(answer.export) ? !!*answer.rest : !strcmp(answer.export->name, answer.name));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rnbd_access_list *list;
	void *attrs;
	u32 i;

	request.len = 0;
	add_lines((const char *)data, (const char *)data + size);
	attrs = exact(request.data, request.len);
	list = rnbd_server_list_new(attrs, request.len, NULL);
	free(attrs);
	if (IS_ERR(list))
		return 0;
	for (i = 0; i < list->exports; i++)
		ask(list, list->by_name[list->peers + i]->name);
	ask(list, "vms/disk17");
	ask(list, "//vol0");
	free(list);
	return 0;
}
