// SPDX-License-Identifier: GPL-2.0
/*
 * An access list, and what it answers. Input: how much room there is, then lines: a letter says
 * what is added, the rest is its text.
 */
#include <errno.h>
#include "shim.h"
#include "kernel/rnbd/server/access-list.h"
#include "fuzz.h"

static int add(struct rnbd_access_list *list, const char *line, size_t len)
{
	struct rnbd_access_prefix prefix = { .is_gid = len & 1 };
	const char *eq = memchr(line, '=', len);

	switch (line[0]) {
	case 'p':
		return rnbd_server_list_add_peer(list, line + 1, len - 1);
	case 's':
		return rnbd_server_list_add_pattern(list, line + 1, len - 1);
	case 'f':
		prefix.bits = len > 1 ? line[1] : 0;
		memcpy(prefix.addr, line, len < 16 ? len : 16);
		return rnbd_server_list_add_prefix(list, &prefix);
	case 'e':
		return eq ? rnbd_server_list_add_export(list, line + 1, eq - line - 1, eq + 1, line + len - eq - 1) : 0;
	case 'a':
		return len > 1 ? rnbd_server_list_add_allow(list, line + 2, len - 2, line[1] & 3) : 0;
	}
	return 0;
}

static void ask(const struct rnbd_access_list *list, const char *name)
{
	struct rnbd_access_addr addr = { .has_ip = true };
	struct rnbd_access_answer answer;
	u32 who = rnbd_server_list_find_peer(list, &addr, name), i;
	int err;

	MUST(who == RNBD_ACCESS_NOBODY || rnbd_server_list_is_peer(list, who, &addr, name));
	if (strlen(name) >= RNBD_ACCESS_NAME_LEN)
		return;
	for (i = 0; i < list->has.peers + 1; i++) {
		err = rnbd_server_list_judge(list, i, name, RNBD_ACCESS_MODE_RW, &answer);
		MUST(err == 0 || err == -ENOENT || err == -EACCES);
		MUST(err == -ENOENT || (answer.export && answer.export->allows && answer.mode >= 0));
		MUST(err || answer.mode >= RNBD_ACCESS_MODE_RW);
		if (err)
			continue;
		accepted++;
		MUST(i < list->has.peers && strstr(name, *answer.rest ? answer.rest : answer.name));
		MUST(answer.export->is_dir ? *answer.rest : !strcmp(answer.export->name, answer.name));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rnbd_access_list *list;
	struct rnbd_access_size room;
	const char *at, *end, *nl, *culprit;
	uint8_t n[6];
	char *text;

	if (!take(&data, &size, n, sizeof(n)))
		return 0;
	room = (struct rnbd_access_size){ n[0], n[1], n[2], n[3], n[4], n[5] * 16 };
	list = calloc(1, rnbd_server_list_bytes(&room));
	rnbd_server_list_init(list, &room);
	text = exact(data, size);
	for (at = text, end = text + size; at < end; at = nl + 1) {
		nl = memchr(at, '\n', end - at) ?: end;
		if (nl > at)
			add(list, at, nl - at);
	}
	if (!rnbd_server_list_end(list, &culprit)) {
		for (n[0] = 0; n[0] < list->has.exports; n[0]++)
			ask(list, list->export[n[0]].name);
		ask(list, "vms/disk17");
		ask(list, "//vol0");
	} else {
		MUST(culprit);
	}
	free(text);
	free(list);
	return 0;
}
