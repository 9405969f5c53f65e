// SPDX-License-Identifier: GPL-2.0
/* Where an OPEN leads to. Input: dev_search_path, session name and name, NUL between them. */
#include <errno.h>
#include <rtrs/proto.h>
#include <rnbd/proto.h>
#include "fuzz.h"
#include "kernel/rnbd/server/path.h"

static bool has_dotdot(const char *s)
{
	size_t n;

	for (; *s; s += n + (s[n] == '/')) {
		n = strcspn(s, "/");
		if (n == 2 && !memcmp(s, "..", 2))
			return true;
	}
	return false;
}

/* Without the '/' at its ends and those that follow another. */
static char *squeezed(const char *s)
{
	char *out = malloc(strlen(s) + 1), *o = out;

	for (; *s; s++)
		if (*s != '/' || (o > out && o[-1] != '/'))
			*o++ = *s;
	*o = '\0';
	return out;
}

static void compose(const char *root, const char *session, const char *name)
{
	static struct rnbd_server_path p;
	int err = rnbd_server_path_compose(&p, root, session, name);
	char *want;

	MUST(err == 0 || err == -EINVAL);
	MUST(!has_dotdot(name) || err);
	if (err) {
		MUST(has_dotdot(name) || strlen(root) + strlen(session) + strlen(name) + 3 > RNBD_SERVER_PATH_SIZE);
		return;
	}
	accepted++;
	MUST(memchr(p.text, 0, sizeof(p.text)));
	MUST(p.rel && p.rel <= strlen(p.text));
	MUST(p.text[0] == '/' && p.text[p.rel - 1] == '/');
	MUST(!strstr(p.text, "//"));
	/* The client's part is what it asked for, and only that. */
	MUST(!has_dotdot(p.text + p.rel));
	want = squeezed(name);
	MUST(!strcmp(p.text + p.rel, want));
	free(want);
	if (!strstr(root, RNBD_SERVER_PATH_TOKEN)) {
		want = squeezed(root);
		MUST(!strncmp(p.text + 1, want, strlen(want)));
		MUST(p.rel >= strlen(want) + 1 && p.rel <= strlen(want) + 2);
		free(want);
	} else {
		MUST(strstr(p.text, session));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char root[RNBD_SERVER_PATH_SIZE];
	char *text = malloc(size + 3), *session, *name;

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	memset(text + size, 0, 3);
	session = text + strlen(text) + 1;
	if (session > text + size)
		session = text + size;
	name = session + strlen(session) + 1;
	if (name > text + size)
		name = text + size;
	/* What the modules take before it comes here */
	if (!rnbd_server_path_parse_root(text, root) && !rtrs_name_check(session, strlen(session)) &&
	    *name && strlen(name) < RNBD_PATH_LEN)
		compose(root, session, name);
	free(text);
	return 0;
}
