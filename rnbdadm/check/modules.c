// SPDX-License-Identifier: GPL-2.0
/* Modules: loaded, whose they are, and those that the next boot will load. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "host/disks.h"
#include "host/sysfs-file.h"

static const char *const ours[] = {
	"rtrs_core", "rtrs_client", "rtrs_server", "rnbd_client", "rnbd_server",
};

static void tell_loaded(struct checkup *k, const char *module)
{
	struct strlist names = { 0 };
	char *version = NULL, *v;

	sys_module(k->root, module, &version);
	check_tell(k, CHECK_PASS, module, "loaded%s%s", version ? ", version " : "",
		   version ? version : "");
	free(version);
	sys_list(k->root, &names, "/sys/module/%s/parameters", module);
	for (size_t i = 0; i < names.n; i++) {
		v = sys_read(k->root, "/sys/module/%s/parameters/%s", module, names.v[i]);
		check_data(k, names.v[i], js_str_or_null(v));
		free(v);
	}
	strlist_free(&names);
}

static void check_side(struct checkup *k, const char *module, const char *other)
{
	if (check_loaded(k, module)) {
		tell_loaded(k, module);
	} else if (check_loaded(k, other)) {
		check_tell(k, CHECK_SKIP, module, "not loaded");
	} else {
		check_tell(k, CHECK_FAIL, module, "not loaded, nor is %s", other);
		check_hint(k, "modprobe %s", module);
	}
}

static void modules_client(struct checkup *k)
{
	check_side(k, "rnbd_client", "rnbd_server");
}

static void modules_server(struct checkup *k)
{
	if (check_loaded(k, "rnbd_server"))
		tell_loaded(k, "rnbd_server");
	else
		check_tell(k, CHECK_SKIP, "rnbd_server", "not loaded");
}

static void rtrs_side(struct checkup *k, const char *module, const char *user)
{
	bool used = check_loaded(k, user);

	if (check_loaded(k, module) && used) {
		tell_loaded(k, module);
	} else if (used) {
		check_tell(k, CHECK_FAIL, module, "not loaded, though %s is", user);
		check_hint(k, "modprobe -r %s && modprobe %s", user, user);
	} else if (check_loaded(k, module)) {
		check_tell(k, CHECK_WARN, module, "loaded, though %s is not: nothing uses it", user);
		check_hint(k, "modprobe %s, or modprobe -r %s", user, module);
	}
}

static void modules_rtrs(struct checkup *k)
{
	size_t before = json_array_size(k->results);

	rtrs_side(k, "rtrs_client", "rnbd_client");
	rtrs_side(k, "rtrs_server", "rnbd_server");
	if (json_array_size(k->results) == before)
		check_tell(k, CHECK_SKIP, "", "no rnbd module is loaded");
}

/* The drivers of the kernel tree have the same names, and no netlink family. */
static void modules_origin(struct checkup *k)
{
	if (!check_loaded(k, "rtrs_core")) {
		check_tell(k, CHECK_SKIP, "", "no rnbd module is loaded");
	} else if (check_family(k)) {
		check_tell(k, CHECK_PASS, "rtrs_core", "has the netlink family");
	} else {
		check_tell(k, CHECK_FAIL, "rtrs_core", "is the in-tree driver, which has no netlink family");
		check_hint(k, "unload rnbd_* and rtrs_*, then modprobe those of this project");
	}
}

static char *release(const struct checkup *k)
{
	return sys_read(k->root, "/proc/sys/kernel/osrelease");
}

/* The file of a module in an index of the running kernel, or NULL. */
static char *module_in(const struct checkup *k, const char *rel, const char *list, const char *module)
{
	char *index = xasprintf("/lib/modules/%s/%s", rel, list), *text = sys_text(k->root, index);
	char *dashed = xstrdup(module), *found = NULL, *save = NULL;

	for (char *p = dashed; *p; p++)
		*p = *p == '_' ? '-' : *p;
	free(index);
	for (char *l = text ? strtok_r(text, "\n", &save) : NULL; l && !found;
	     l = strtok_r(NULL, "\n", &save)) {
		size_t n = strlen(dashed);
		char *base;

		l[strcspn(l, ":")] = '\0';
		base = strrchr(l, '/');
		base = base ? base + 1 : l;
		if ((!strncmp(base, dashed, n) || !strncmp(base, module, n)) &&
		    !strncmp(base + n, ".ko", 3))
			found = xasprintf("/lib/modules/%s/%s", rel, l);
	}
	free(dashed);
	free(text);
	return found;
}

static char *module_file(const struct checkup *k, const char *rel, const char *module)
{
	return module_in(k, rel, "modules.dep", module);
}

char *check_module_file(const struct checkup *k, const char *module)
{
	char *rel = release(k), *file = rel ? module_file(k, rel, module) : NULL;

	free(rel);
	return file;
}

/* rtrs needs it; a kernel that has it brings it along. */
static void modules_rdma_cm(struct checkup *k)
{
	bool used = check_loaded(k, "rtrs_client") || check_loaded(k, "rtrs_server");
	char *rel = release(k), *file = rel ? module_file(k, rel, "rdma_cm") : NULL;
	char *builtin = rel ? module_in(k, rel, "modules.builtin", "rdma_cm") : NULL;

	if (used || builtin || check_loaded(k, "rdma_cm")) {
		check_tell(k, CHECK_PASS, "rdma_cm", "is there");
	} else if (file) {
		check_tell(k, CHECK_SKIP, "rdma_cm", "not loaded; the rnbd modules bring it");
	} else {
		check_tell(k, CHECK_FAIL, "rdma_cm", "kernel %s has no such module", rel ? rel : "(unknown)");
		check_hint(k, "install a kernel with InfiniBand support (CONFIG_INFINIBAND_ADDR_TRANS)");
	}
	free(builtin);
	free(file);
	free(rel);
}

static void modules_installed(struct checkup *k)
{
	char *rel = release(k), *file;
	bool any = false;

	for (size_t i = 0; rel && i < ARRAY_SIZE(ours); i++) {
		if (!check_loaded(k, ours[i]))
			continue;
		any = true;
		file = module_file(k, rel, ours[i]);
		if (!file) {
			check_tell(k, CHECK_WARN, ours[i], "loaded, but not installed for kernel %s", rel);
			check_hint(k, "make modules_install && depmod -a, or it is gone after a reboot");
		} else if (strstr(file, "/kernel/drivers/")) {
			check_tell(k, CHECK_WARN, ours[i], "a reboot loads the in-tree %s", file);
			check_hint(k, "install the modules below updates/, and depmod -a");
		} else {
			check_tell(k, CHECK_PASS, ours[i], "%s", file);
		}
		free(file);
	}
	if (!any)
		check_tell(k, CHECK_SKIP, "", rel ? "no rnbd module is loaded" : "the kernel is unknown");
	free(rel);
}

/* "vermagic=6.1.0 SMP ..." of a module's file: the release; NULL if it is compressed. */
static char *vermagic(const struct checkup *k, const char *file, bool *is_signed)
{
	static const char key[] = "vermagic=", end[] = "~Module signature appended~\n";
	char *path = xasprintf("%s%s", k->root, file), *buf = NULL, *at, *found = NULL;
	FILE *f = fopen(path, "re");
	size_t n = 0, cap = 0;

	free(path);
	while (f && !feof(f) && !ferror(f)) {
		cap += 65536;
		buf = xrealloc(buf, cap + 1);
		n += fread(buf + n, 1, cap - n, f);
	}
	if (f)
		fclose(f);
	at = buf ? memmem(buf, n, key, strlen(key)) : NULL;
	if (at) {
		buf[n] = '\0';
		at += strlen(key);
		found = xstrndup(at, strcspn(at, " "));
	}
	*is_signed = n >= strlen(end) && !memcmp(buf + n - strlen(end), end, strlen(end));
	free(buf);
	return found;
}

/* Does the kernel refuse modules without a signature? So it is with secure boot. */
static bool wants_signed(const struct checkup *k)
{
	char *enforce = sys_read(k->root, "/sys/module/module/parameters/sig_enforce");
	char *lockdown = sys_read(k->root, "/sys/kernel/security/lockdown");
	bool wants = (enforce && *enforce == 'Y') ||
		     (lockdown && strchr(lockdown, '[') && !strstr(lockdown, "[none]"));

	free(lockdown);
	free(enforce);
	return wants;
}

static void modules_signature(struct checkup *k)
{
	const char *module = check_loaded(k, "rnbd_client") || !check_loaded(k, "rnbd_server") ?
			     "rnbd_client" : "rnbd_server";
	char *rel = release(k), *file = rel ? module_file(k, rel, module) : NULL;
	bool is_signed = false;
	char *built = file ? vermagic(k, file, &is_signed) : NULL;

	if (!file) {
		check_tell(k, check_loaded(k, module) ? CHECK_SKIP : CHECK_FAIL, module,
			   "not installed for kernel %s", rel ? rel : "(unknown)");
		check_hint(k, "build and install the modules for this kernel (DKMS does)");
	} else if (!built) {
		check_tell(k, CHECK_SKIP, module, "%s is compressed or no module", file);
	} else if (strcmp(built, rel)) {
		check_tell(k, CHECK_FAIL, module, "built for kernel %s, running is %s", built, rel);
		check_hint(k, "build the modules for %s", rel);
	} else if (!is_signed && !check_loaded(k, module) && wants_signed(k)) {
		check_tell(k, CHECK_FAIL, module, "%s is not signed, and this kernel, booted securely, takes "
			   "signed modules only", file);
		check_hint(k, "sign it with a key that mokutil has enrolled (DKMS does, with /var/lib/dkms/mok.pub), "
			   "or boot without secure boot");
	} else {
		check_tell(k, CHECK_PASS, module, "built for kernel %s", rel);
	}
	free(built);
	free(file);
	free(rel);
}

const struct check modules_checks[] = {
	{ "modules.client", "rnbd_client is loaded", modules_client,
	  .cause = "nothing loads it at boot before something is configured",
	  .cure = "modprobe rnbd_client" },
	{ "modules.server", "rnbd_server is loaded, with which parameters", modules_server,
	  .cause = "this host is a client only",
	  .cure = "modprobe rnbd_server, where this host is to be a server" },
	{ "modules.rtrs", "the transport's modules are loaded, with their users", modules_rtrs,
	  .cause = "one of the two was unloaded alone, or its other half could not be loaded",
	  .cure = "modprobe rnbd_client, or rnbd_server; modprobe -r unloads both" },
	{ "modules.rdma_cm", "RDMA connections can be made", modules_rdma_cm,
	  .cause = "the kernel has no RDMA connection manager, or it was blacklisted",
	  .cure = "modprobe rdma_cm; the package of kernel modules that has it" },
	{ "modules.origin", "no in-tree driver is loaded instead", modules_origin,
	  .cause = "the in-tree drivers were loaded first; they have other interfaces",
	  .cure = "unmap all, rmmod the in-tree modules, modprobe those of this project; blacklist the others" },
	{ "modules.installed", "the next boot loads the same modules", modules_installed,
	  .cause = "the modules were loaded by insmod, or DKMS did not build them for this kernel",
	  .cure = "dkms autoinstall, or make modules_install; then depmod" },
	{ "modules.signature", "the modules are built for the running kernel, and signed where it wants that", modules_signature,
	  .cause = "the kernel was updated and the modules were not built anew, or secure boot is on",
	  .cure = "dkms autoinstall; reboot into the kernel that they are built for" },
	{ 0 }
};
