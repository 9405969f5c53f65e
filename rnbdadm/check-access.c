// SPDX-License-Identifier: GPL-2.0
/* The access list of this server, and what it offers. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check-access.h"
#include "cmd-access.h"
#include "sysfile.h"
#include "sysinfo.h"

/* False with a result where there is none. */
static bool read_list(struct checkup *k, struct access_list *l)
{
	int rc;

	*l = (struct access_list){ 0 };
	if (!check_loaded(k, "rnbd_server")) {
		check_tell(k, CHECK_SKIP, "", "server module not loaded");
		return false;
	}
	if (check_family(k) && access_read_if(k->ctx, l, &rc))
		return true;
	fail_clear(&k->ctx->fail);
	check_tell(k, CHECK_SKIP, "", "the module keeps no access list");
	return false;
}

static bool has_infiniband(const struct checkup *k)
{
	struct strlist ports = { 0 };
	bool any = false;

	sys_ports(k->root, &ports);
	for (size_t i = 0; i < ports.n && !any; i++) {
		char *colon = strrchr(ports.v[i], ':');
		char *link = xasprintf("/sys/class/infiniband/%.*s/ports/%s/link_layer",
				       (int)(colon - ports.v[i]), ports.v[i], colon + 1);
		char *text = sys_read(k->root, "%s", link);

		any = text && !strcmp(text, "InfiniBand");
		free(text);
		free(link);
	}
	strlist_free(&ports);
	return any;
}

/* The first peer that says where it is by an IP address; NULL: none does. */
static const char *by_ip(const struct access_list *l)
{
	for (size_t i = 0; i < l->npeers; i++)
		for (size_t n = 0; n < l->peers[i].nfrom; n++)
			if (l->peers[i].from[n].addr.family != ADDR_GID)
				return l->peers[i].name;
	return NULL;
}

void server_access(struct checkup *k)
{
	struct access_list l;

	if (!read_list(k, &l)) {
		access_free(&l);
		return;
	}
	if (l.state == ACCESS_OPEN) {
		check_tell(k, CHECK_WARN, "", "open: whoever reaches this server can map what is below dev_search_path, "
			   "under any name");
		check_hint(k, "write [peer] and [export] sections, see rnbdadm-access(8), then rnbdadm server access "
			   "apply");
	} else if (l.state == ACCESS_CLOSED) {
		check_tell(k, CHECK_WARN, "", "closed: nobody can map anything");
		check_hint(k, "rnbdadm server access apply");
	} else if (by_ip(&l) && has_infiniband(k)) {
		check_tell(k, CHECK_WARN, by_ip(&l), "is known by an IP address, which nothing proves on InfiniBand");
		check_hint(k, "from = gid:GID; the subnet manager gives out GIDs");
	} else {
		check_tell(k, CHECK_PASS, "", "%zu peer%s, %zu export%s", l.npeers, l.npeers == 1 ? "" : "s",
			   l.nexports, l.nexports == 1 ? "" : "s");
	}
	access_free(&l);
}

static void tell_export(struct checkup *k, const struct access_export *e)
{
	bool dir = access_is_directory(e->name);
	char *path = xasprintf("%s%s", k->root, e->path);
	char *each = strstr(path, "%SESSNAME%");
	struct stat st;
	int err;

	/* what each session has below it was not looked at */
	if (each)
		*each = '\0';
	err = stat(path, &st) ? errno : 0;
	if (err == EACCES) {
		check_tell(k, CHECK_SKIP, e->name, "this user may not look at %s", e->path);
	} else if (err) {
		check_tell(k, CHECK_FAIL, e->name, "%s is not there (%s)", e->path, errno_name(err));
		check_hint(k, "make it, or correct the path of [export %s]", e->name);
	} else if (dir && !S_ISDIR(st.st_mode)) {
		check_tell(k, CHECK_FAIL, e->name, "%s is no directory", e->path);
		check_hint(k, "the name of what is no directory does not end with '/'");
	} else if (!dir && !each && !S_ISBLK(st.st_mode) && !S_ISREG(st.st_mode)) {
		check_tell(k, CHECK_FAIL, e->name, "%s is neither a block device nor a file", e->path);
		check_hint(k, "a directory needs a name that ends with '/'");
	} else if (dir && ((st.st_mode & 022) || (!*k->root && st.st_uid))) {
		check_tell(k, CHECK_FAIL, e->name, "%s is not root's alone: links in it are not followed", e->path);
		check_hint(k, "chown root %s; chmod go-w %s", e->path, e->path);
	} else {
		check_tell(k, CHECK_PASS, e->name, "%s is there", e->path);
	}
	free(path);
}

void server_access_dirs(struct checkup *k)
{
	struct access_list l;

	if (read_list(k, &l) && !l.nexports)
		check_tell(k, CHECK_SKIP, "", "there is no list, or no export in it");
	for (size_t i = 0; i < l.nexports; i++)
		tell_export(k, &l.exports[i]);
	access_free(&l);
}
