// SPDX-License-Identifier: GPL-2.0
/* The access list of this server, and what it offers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check/check.h"
#include "config/access-list.h"
#include "host/disks.h"
#include "host/sysfs-file.h"

/* False with a result where there is none. */
static bool read_list(struct checkup *k, struct access_list *l)
{
	bool loaded = check_loaded(k, "rnbd_server");
	int rc;

	*l = (struct access_list){ 0 };
	if (loaded && check_family(k) && access_load_if(k->ctx, l, &rc))
		return true;
	fail_clear(&k->ctx->fail);
	check_tell(k, CHECK_SKIP, "", loaded ? "the module keeps no access list" : "server module not loaded");
	return false;
}

static bool has_infiniband(const struct checkup *k)
{
	struct strlist ports = { 0 };
	bool any = false;

	sys_ports(k->root, &ports);
	for (size_t i = 0; i < ports.n && !any; i++) {
		char *colon = strrchr(ports.v[i], ':');
		char *link = sys_read(k->root, "/sys/class/infiniband/%.*s/ports/%s/link_layer",
				      (int)(colon - ports.v[i]), ports.v[i], colon + 1);

		any = link && !strcmp(link, "InfiniBand");
		free(link);
	}
	strlist_free(&ports);
	return any;
}

/* The first peer with an IP address, or NULL */
static const char *by_ip(const struct access_items *peers)
{
	for (size_t i = 0; i < peers->n; i++)
		for (size_t n = 0; n < peers->v[i].of[AK_FROM].n; n++)
			if (peers->v[i].of[AK_FROM].v[n].addr.family != ADDR_GID)
				return peers->v[i].name;
	return NULL;
}

static void tell_list(struct checkup *k, const struct access_list *l)
{
	size_t peers = l->of[ACCESS_PEER].n, exports = l->of[ACCESS_EXPORT].n;
	const char *ip = by_ip(&l->of[ACCESS_PEER]);

	if (access_state(l) == ACCESS_OPEN) {
		check_tell(k, CHECK_WARN, "", "open: every client that reaches this server can "
					      "map every device below dev_search_path, under any "
					      "name");
		check_hint(k, "write [peer] and [export] sections, see rnbdadm-access(8), then rnbdadm server access "
			   "apply");
	} else if (access_state(l) == ACCESS_CLOSED) {
		check_tell(k, CHECK_WARN, "", "closed: nobody can map anything");
		check_hint(k, "rnbdadm server access apply");
	} else if (ip && has_infiniband(k)) {
		check_tell(k, CHECK_WARN, ip, "is known by an IP address, which nothing proves on InfiniBand");
		check_hint(k, "from = gid:GID; the subnet manager gives out GIDs");
	} else {
		check_tell(k, CHECK_PASS, "", "%zu peer%s, %zu export%s", peers, peers == 1 ? "" : "s", exports,
			   exports == 1 ? "" : "s");
	}
}

void server_access(struct checkup *k)
{
	struct access_list l;

	if (read_list(k, &l))
		tell_list(k, &l);
	access_free(&l);
}

/*
 * Who else could change where a link in @dir leads: the directory, or one above it in its file system,
 * which may be sticky. To be freed; NULL where that is root alone. Owners of a test's tree are anybody.
 */
static char *not_roots_alone(const struct checkup *k, const char *dir)
{
	char *at = xstrdup(dir), *slash;
	bool above = false;
	dev_t dev = 0;

	for (;;) {
		char *path = xasprintf("%s%s", k->root, at);
		struct stat st = { 0 };
		bool good = stat(path, &st) || (above && st.st_dev != dev);

		free(path);
		if (!good && (((st.st_mode & 022) && !(above && st.st_mode & S_ISVTX)) || (!*k->root && st.st_uid)))
			return at;
		dev = st.st_dev;
		above = true;
		for (size_t n = strlen(at); n && at[n - 1] == '/'; n--)
			at[n - 1] = '\0';
		slash = strrchr(at, '/');
		if (good || !slash || slash == at)
			break;
		*slash = '\0';
	}
	free(at);
	return NULL;
}

static void tell_export(struct checkup *k, const struct access_item *x)
{
	const char *is = x->of[AK_PATH].n ? x->of[AK_PATH].v[0].word : "";
	bool dir = access_is_directory(x->name);
	char *path = xasprintf("%s%s", k->root, is);
	char *each = strstr(path, "%SESSNAME%"), *bad = NULL;
	struct stat st;
	int err;

	/* the directories of sessions are not looked at */
	if (each)
		*each = '\0';
	err = stat(path, &st) ? errno : 0;
	if (err == EACCES) {
		check_tell(k, CHECK_SKIP, x->name, "this user may not look at %s", is);
	} else if (err) {
		check_tell(k, CHECK_FAIL, x->name, "%s is not there (%s)", is, errno_name(err));
		check_hint(k, "make it, or correct the path of [export %s]", x->name);
	} else if (!dir && !each && !S_ISBLK(st.st_mode) && !S_ISREG(st.st_mode)) {
		check_tell(k, CHECK_FAIL, x->name, "%s is neither a block device nor a file", is);
		check_hint(k, "a directory needs a name that ends with '/'");
	} else if (dir && (bad = not_roots_alone(k, path + strlen(k->root)))) {
		check_tell(k, CHECK_FAIL, x->name, "%s is not root's alone: links in %s are not followed", bad, is);
		check_hint(k, "chown root %s; chmod go-w %s", bad, bad);
	} else {
		check_tell(k, CHECK_PASS, x->name, "%s is there", is);
	}
	free(bad);
	free(path);
}

void server_access_dirs(struct checkup *k)
{
	struct access_list l;

	if (read_list(k, &l) && !l.of[ACCESS_EXPORT].n)
		check_tell(k, CHECK_SKIP, "", "there is no list, or no export in it");
	for (size_t i = 0; i < l.of[ACCESS_EXPORT].n; i++)
		tell_export(k, &l.of[ACCESS_EXPORT].v[i]);
	access_free(&l);
}
