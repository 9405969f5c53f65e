// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "host/disks.h"
#include "task/in-use.h"

void use_list(const struct device *d, struct strlist *l)
{
	for (size_t i = 0; i < d->users.n; i++)
		strlist_add(l, d->users.v[i]);
	for (size_t i = 0; i < d->openers.n; i++)
		strlist_add(l, d->openers.v[i]);
	if (!l->n && d->open_count != M_UNKNOWN && d->open_count)
		strlist_addf(l, "%llu open file%s", (unsigned long long)d->open_count,
			     d->open_count == 1 ? "" : "s");
}

bool use_detail(const struct device *d, struct fail *f)
{
	struct strlist used = { 0 };
	char *list;

	use_list(d, &used);
	if (!used.n)
		return false;
	list = strlist_join(&used, ", ");
	strlist_addf(&f->details, "%s is used by: %s", d->name, list);
	free(list);
	strlist_free(&used);
	return true;
}

bool use_wait(struct ctx *ctx, const struct device *d, struct strlist *used, int64_t limit)
{
	int64_t end = now_ms() + limit;
	bool there = true;

	ctx_unlock();
	/* mounts and openers come and go without an event */
	while (there && used->n && (limit < 0 || now_ms() < end)) {
		struct snapshot s;

		sleep_ms(50);
		if (!ctx_snapshot(ctx, M_CLIENT, NL_DEVICES, &s))
			return false;
		sys_devices(ctx->test_root, &s.devices);
		/* processes are asked when it is over */
		if (limit >= 0 && now_ms() >= end)
			sys_openers(ctx->test_root, &s.devices);
		strlist_free(used);
		there = false;
		for (size_t i = 0; i < s.devices.n; i++) {
			if (s.devices.v[i].id != d->id)
				continue;
			there = true;
			use_list(&s.devices.v[i], used);
		}
		snapshot_free(&s);
	}
	return true;
}
