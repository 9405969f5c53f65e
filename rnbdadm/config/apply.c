// SPDX-License-Identifier: GPL-2.0
/*
 * Carries out a plan. It may end at any point; what is done then is right, and the next plan
 * has the rest. A dry run takes the same steps, with requests that are not sent and nothing noted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parallel.h"
#include "config/plan.h"
#include "host/disks.h"
#include "host/owners.h"
#include "task/in-use.h"
#include "task/new-paths.h"
#include "task/wait.h"

#define SKIPPED "skipped"

struct made {
	const char *session;
	uint32_t id;
};

struct apply {
	struct ctx *ctx;
	const struct conf *c;
	struct plan *p;
	const struct snapshot *now;	/* of before the first step, or @again */
	struct snapshot again;
	struct made *made;		/* sessions of this run */
	size_t nmade;
	bool changed, stop;
};

/* The failure of the run becomes that of the step. */
static void step_fail(struct apply *a, struct plan_step *st, const char *result)
{
	fail_clear(&st->fail);
	st->fail = a->ctx->fail;
	memset(&a->ctx->fail, 0, sizeof(a->ctx->fail));
	st->result = result;
}

static void step_nl(struct apply *a, struct plan_step *st, const struct nl_error *e)
{
	fail_nl(&a->ctx->fail, e, "client");
	fail_object(&a->ctx->fail, plan_object_name(st->object), st->name);
	step_fail(a, st, "failed");
}

static void step_done(struct apply *a, struct plan_step *st, const char *result,
		      const struct nl_error *e)
{
	st->result = result;
	if (a->ctx->dry_run)
		return;
	if (*e->warning)
		warn(a->ctx, "%s", e->warning);
	a->changed = true;
	say(a->ctx, "%s %s %s", result, plan_object_name(st->object), st->name);
}

static bool read_again(struct apply *a, struct plan_step *st)
{
	struct snapshot s;

	/* as it was: nothing has changed */
	if (a->ctx->dry_run)
		return true;
	if (!ctx_snapshot(a->ctx, M_CLIENT, NL_SESSIONS | NL_PATHS | NL_DEVICES_OPT, &s)) {
		step_fail(a, st, "failed");
		return false;
	}
	sys_devices(a->ctx->test_root, &s.devices);
	sys_openers(a->ctx->test_root, &s.devices);
	snapshot_free(&a->again);
	a->again = s;
	a->now = &a->again;
	return true;
}

/* The id of a session that was there, or that this run has made; 0 for none. */
static uint32_t session_id(const struct apply *a, const char *session)
{
	const struct session *sess = snapshot_session(a->now, session);

	for (size_t i = 0; i < a->nmade; i++)
		if (!strcmp(a->made[i].session, session))
			return a->made[i].id;
	return sess ? sess->id : 0;
}

/* In a dry run the kernel gives no id. */
static void add_made(struct apply *a, const char *session, uint32_t id)
{
	a->made = xrealloc(a->made, (a->nmade + 1) * sizeof(*a->made));
	a->made[a->nmade++] = (struct made){ session, a->ctx->dry_run ? M_ID_LOCAL : id };
}

static void explain_way(struct apply *a, struct plan_step *st, const struct addr_pair *pair, int err)
{
	struct ways w = { .v = (struct addr_pair *)pair, .n = 1 };

	way_explain(a->ctx, &st->fail, &w, err);
}

static void no_address(struct apply *a, struct plan_step *st)
{
	fail_object(&a->ctx->fail, plan_object_name(st->object), st->name);
	fail_set(&a->ctx->fail, XC_FAILED, "'%s' has no address", st->way->text);
	step_fail(a, st, "failed");
}

static void forget(struct apply *a, const char *session, const char *device_path)
{
	if (!a->ctx->dry_run)
		registry_forget(a->ctx->test_root, session, device_path);
}

static bool claim(struct apply *a, struct plan_step *st, const char *device_path)
{
	const char *root = a->ctx->test_root;
	int err;

	if (a->ctx->dry_run)
		return true;
	err = registry_set(root, st->session, device_path, OWNER_CONFIG);

	/* a configuration of another place is not the one that udev reads */
	if (!err && device_path)
		err = registry_set_name(root, st->session, device_path, st->section->name);
	if (!err)
		return true;
	registry_forget(root, st->session, device_path);
	a->ctx->fail.err = err;
	fail_object(&a->ctx->fail, plan_object_name(st->object), st->name);
	fail_set(&a->ctx->fail, errno_exit_code(err), "cannot note its owner: %s (%s)", strerror(err),
		 errno_name(err));
	step_fail(a, st, "failed");
	return false;
}

/* Another command made it meanwhile, which is as good. */
static bool session_there(struct apply *a, struct plan_step *st)
{
	const struct session *sess;

	if (!read_again(a, st))
		return false;
	sess = snapshot_session(a->now, st->session);
	if (!sess)
		return false;
	fail_clear(&st->fail);
	add_made(a, sess->name, sess->id);
	st->result = "present";
	return true;
}

/* A session over one of its paths. @again: another one may do. */
static bool session_over(struct apply *a, struct plan_step *st, const struct conf_path *way,
			 bool *again)
{
	const struct conf_section *sec = st->section;
	struct addr_pair pair = conf_pair(a->c, sec, way);
	struct map_request req = {
		.session = sec->name, .paths = &pair, .npaths = 1,
		.poll_queues = conf_poll_queues(a->c, sec),
		.connections = conf_uint(a->c, sec, CK_CONNECTIONS, M_UNKNOWN),
		.timeout_ms = conf_wait(a->c, sec),
	};
	struct session now;
	struct nl_error e;

	conf_settings(a->c, sec, &req.set);
	if (!a->ctx->kernel->ops->session_add(a->ctx->kernel, &req, &now, &e)) {
		step_nl(a, st, &e);
		if (e.kind == NL_FAIL_KERNEL && e.err == EEXIST && session_there(a, st))
			return true;
		if (e.kind == NL_FAIL_KERNEL)
			explain_way(a, st, &pair, e.err);
		*again = e.kind == NL_FAIL_KERNEL && way_is_at_fault(e.err);
		return false;
	}
	add_made(a, sec->name, now.id);
	step_done(a, st, "added", &e);
	return true;
}

/* By the first path; by the next where that does not connect. Its steps find them done. */
static void do_session_add(struct apply *a, struct plan_step *st)
{
	const struct conf_section *sec = st->section;
	bool done, again = false;

	if (!claim(a, st, NULL))
		return;
	if (!st->way->resolved) {
		forget(a, sec->name, NULL);
		no_address(a, st);
		return;
	}
	done = session_over(a, st, st->way, &again);
	for (size_t i = 0; i < a->p->n && !done && again; i++) {
		struct plan_step *next = &a->p->v[i];

		if (next->object != PLAN_PATH || next->section != sec || !next->way ||
		    !next->way->resolved)
			continue;
		done = session_over(a, st, next->way, &again);
		if (done)
			next->result = "added";
	}
	if (!done)
		forget(a, sec->name, NULL);
}

/* That of which the step depends is not there. */
static void skip(struct apply *a, struct plan_step *st)
{
	fail_object(&a->ctx->fail, plan_object_name(st->object), st->name);
	fail_set(&a->ctx->fail, XC_FAILED, "session '%s' is not there", st->session);
	step_fail(a, st, SKIPPED);
}

static void do_path_add(struct apply *a, struct plan_step *st)
{
	uint32_t id = session_id(a, st->session);
	struct addr_pair pair;
	struct path now;
	struct nl_error e;

	if (!id) {
		skip(a, st);
		return;
	}
	if (!st->way->resolved) {
		no_address(a, st);
		return;
	}
	pair = conf_pair(a->c, st->section, st->way);
	if (a->ctx->kernel->ops->path_add(a->ctx->kernel, id, &pair, conf_wait(a->c, st->section),
					  &now, &e)) {
		step_done(a, st, "added", &e);
	} else if (e.kind == NL_FAIL_KERNEL && e.err == EEXIST && st->stage == STAGE_CONNECT) {
		st->result = "present";
	} else {
		step_nl(a, st, &e);
		if (e.kind == NL_FAIL_KERNEL)
			explain_way(a, st, &pair, e.err);
	}
}

/* All changes of a session in one request, so that those that bound each other fit. */
static void do_settings(struct apply *a, struct plan_step *st)
{
	struct session_settings want, all;
	struct session now;
	struct nl_error e;
	bool ok;

	settings_init(&want);
	conf_settings_now(a->c, st->section, &all);
	for (size_t i = 0; i < a->p->n; i++) {
		const struct plan_step *other = &a->p->v[i];

		if (other->stage != STAGE_SETTINGS || other->section != st->section)
			continue;
		if (other->key == CK_MP_POLICY)
			want.mp_policy = all.mp_policy;
		else
			want.v[other->key] = all.v[other->key];
	}
	ok = a->ctx->kernel->ops->session_set(a->ctx->kernel, st->id, &want, &now, &e);
	for (size_t i = 0; i < a->p->n; i++) {
		struct plan_step *other = &a->p->v[i];

		if (other->stage != STAGE_SETTINGS || other->section != st->section)
			continue;
		if (ok)
			step_done(a, other, "changed", &e);
		else
			step_nl(a, other, &e);
	}
}

static void do_map(struct apply *a, struct plan_step *st)
{
	const struct conf_section *sec = st->section;
	const struct conf_value *access = conf_get(a->c, sec, CK_ACCESS);
	const struct conf_value *io_mode = conf_get(a->c, sec, CK_IO_MODE);
	const struct conf_section *session = conf_find(a->c, CONF_SESSION, st->session);
	struct map_request req = {
		.session = st->session, .device_path = sec->v[CK_DEVICE_PATH].text,
		.access = M_UNKNOWN, .io_mode = M_UNKNOWN, .poll_queues = M_UNKNOWN, .connections = M_UNKNOWN,
		.timeout_ms = conf_wait(a->c, session),
	};
	struct device d;
	struct nl_error e;

	if (!session_id(a, st->session)) {
		skip(a, st);
		return;
	}
	settings_init(&req.set);
	if (access)
		access_parse(access->text, &req.access);
	if (io_mode)
		io_mode_parse(io_mode->text, &req.io_mode);
	req.always_fua = conf_yes(a->c, sec, CK_FUA);
	if (!claim(a, st, req.device_path))
		return;
	if (!a->ctx->kernel->ops->map(a->ctx->kernel, &req, &d, &e)) {
		/* of another command meanwhile */
		if (e.kind == NL_FAIL_KERNEL && e.err == EEXIST) {
			st->result = "present";
			return;
		}
		forget(a, st->session, req.device_path);
		step_nl(a, st, &e);
		if (e.kind == NL_FAIL_KERNEL && e.err == ENOENT)
			fail_no_device(&st->fail, req.device_path);
		return;
	}
	step_done(a, st, "added", &e);
	/* what comes after this command may mount it */
	if (!a->ctx->dry_run && node_wait(a->ctx, &d, wait_limit(a->ctx, 10000)))
		step_fail(a, st, "added");
}

/* In a dry run a path that the plan adds before is taken for one that connects. */
static bool adds_path(const struct apply *a, const struct plan_step *st)
{
	for (const struct plan_step *p = a->p->v; p < st; p++)
		if (p->object == PLAN_PATH && p->action == PLAN_ADD && !p->fail.code &&
		    !strcmp(p->session, st->session))
			return true;
	return false;
}

/* Not before another one carries the I/O: the look at it is as fresh as can be. */
static void do_path_remove(struct apply *a, struct plan_step *st)
{
	bool other = a->ctx->dry_run && adds_path(a, st);
	const struct index_entry *e;
	struct nl_error err;
	uint32_t id;
	size_t n;

	if (!read_again(a, st))
		return;
	id = session_id(a, st->session);
	e = index_find(&a->now->session_paths, id, &n);
	for (size_t i = 0; i < n; i++) {
		const struct path *p = &a->now->paths.v[e[i].pos];

		other = other || (p->id != st->id && !strcmp(path_state_name(p->state), "connected"));
	}
	if (!other) {
		fail_object(&a->ctx->fail, "path", st->name);
		fail_hint(&a->ctx->fail, "it goes when another one is connected; apply again");
		fail_set(&a->ctx->fail, XC_BUSY, "no other path of session '%s' is connected",
			 st->session);
		step_fail(a, st, "deferred");
		return;
	}
	if (a->ctx->kernel->ops->path_del(a->ctx->kernel, st->id, &err))
		step_done(a, st, "removed", &err);
	else if (err.kind == NL_FAIL_KERNEL && err.err == ENOENT)
		st->result = "absent";
	else
		step_nl(a, st, &err);
}

static void do_unmap(struct apply *a, struct plan_step *st)
{
	const struct device *d = NULL;
	struct nl_error e;

	if (!read_again(a, st))
		return;
	for (size_t i = 0; i < a->now->devices.n; i++)
		if (a->now->devices.v[i].id == st->id)
			d = &a->now->devices.v[i];
	if (!d) {
		st->result = "absent";
		return;
	}
	if (!a->ctx->force && use_detail(d, &a->ctx->fail)) {
		fail_object(&a->ctx->fail, "device", d->name);
		fail_set(&a->ctx->fail, XC_BUSY, "refused, the device is in use");
		step_fail(a, st, "refused");
		return;
	}
	if (!a->ctx->kernel->ops->unmap(a->ctx->kernel, d, a->ctx->force, &e)) {
		step_nl(a, st, &e);
		return;
	}
	forget(a, d->session, d->device_path);
	step_done(a, st, "removed", &e);
}

/* In a dry run its devices are there yet, with the last of which the in-tree drivers end it. */
static bool ends_itself(const struct apply *a, const struct plan_step *st)
{
	size_t n;

	index_find(&a->now->session_devices, st->id, &n);
	return a->ctx->dry_run && n && kernel_is_sysfs(a->ctx->kernel);
}

static void do_session_remove(struct apply *a, struct plan_step *st)
{
	struct nl_error e = { 0 };

	if (!ends_itself(a, st) && !a->ctx->kernel->ops->session_del(a->ctx->kernel, st->id, &e) &&
	    !(e.kind == NL_FAIL_KERNEL && e.err == ENOENT)) {
		step_nl(a, st, &e);
		return;
	}
	forget(a, st->session, NULL);
	step_done(a, st, "removed", &e);
}

static void do_step(struct apply *a, struct plan_step *st)
{
	switch (st->stage) {
	case STAGE_CONNECT:
		if (st->object == PLAN_SESSION)
			do_session_add(a, st);
		else
			do_path_add(a, st);
		break;
	case STAGE_SETTINGS:
		do_settings(a, st);
		break;
	case STAGE_MAP:
		do_map(a, st);
		break;
	case STAGE_PATHS:
		if (st->action == PLAN_ADD)
			do_path_add(a, st);
		else
			do_path_remove(a, st);
		break;
	case STAGE_PRUNE:
		if (st->object == PLAN_DEVICE)
			do_unmap(a, st);
		else
			do_session_remove(a, st);
		break;
	}
}

static void add_key(struct strlist *l, const char *session, const char *device_path)
{
	char *key = registry_key(session, device_path);

	strlist_add(l, key);
	free(key);
}

static void forget_others(const struct apply *a)
{
	const struct snapshot *s = a->now;
	struct strlist there = { 0 };

	for (size_t i = 0; i < s->sessions.n; i++)
		add_key(&there, s->sessions.v[i].name, NULL);
	for (size_t i = 0; i < s->devices.n; i++)
		add_key(&there, s->devices.v[i].session, s->devices.v[i].device_path);
	registry_clean(a->ctx->test_root, &there);
	strlist_free(&there);
}

/* udev takes the noted name of a disk: one that the configuration changed is noted anew. */
static void note_names(const struct apply *a)
{
	const char *root = a->ctx->test_root;

	for (size_t i = 0; i < a->now->devices.n; i++) {
		const struct device *d = &a->now->devices.v[i];
		const struct conf_section *s = conf_device(a->c, d->session, d->device_path);
		char *name = s ? registry_name(root, d->session, d->device_path) : NULL;

		if (name && strcmp(name, s->name))
			registry_set_name(root, d->session, d->device_path, s->name);
		free(name);
	}
}

static void print_failure(struct apply *a, struct plan_step *st)
{
	struct fail *f = &st->fail;
	char *name = printable(st->name), *text = xstrdup(f->text ? f->text : f->message);

	if (st->optional)
		warn(a->ctx, "%s %s: %s (optional)", plan_object_name(st->object), name, text);
	fail_text(f, "%s %s: %s", plan_object_name(st->object), name, text);
	if (!st->optional)
		fail_print(a->ctx, f);
	free(text);
	free(name);
}

/*
 * 1 if nothing could be done, 3 if something could; a failure that all share keeps its code. What was
 * skipped has failed for another one's reason.
 */
static int conclude(struct apply *a)
{
	size_t failed = 0, done = 0;
	enum exit_code code = XC_OK;
	bool same = true;

	for (size_t i = 0; i < a->p->n; i++) {
		struct plan_step *st = &a->p->v[i];

		if (!st->fail.code) {
			done += st->result != NULL;
			continue;
		}
		print_failure(a, st);
		if (st->optional)
			continue;
		failed++;
		if (!strcmp(st->result, SKIPPED))
			continue;
		same = same && (!code || code == st->fail.code);
		code = st->fail.code;
	}
	if (!failed)
		return XC_OK;
	if (!same || (code != XC_PERMISSION && code != XC_UNAVAILABLE && code != XC_UNSUPPORTED &&
		      code != XC_TIMEOUT))
		code = XC_FAILED;
	if (done)
		code = XC_PARTIAL;
	return fail_set(&a->ctx->fail, code, "%zu of %zu changes %s", failed, a->p->n,
			a->ctx->dry_run ? "would fail" : "failed");
}

/* The steps of one session, with a way to the kernel of their own. */
struct branch {
	const char *session;
	struct ctx ctx;
	struct apply a;
};

static bool is_of_branch(const struct plan_step *st, const char *session)
{
	return !st->result && st->stage < STAGE_PRUNE && !strcmp(st->session, session);
}

static void do_branch(void *arg, size_t i)
{
	struct branch *b = (struct branch *)arg + i;
	struct apply *a = &b->a;

	for (size_t k = 0; k < a->p->n; k++) {
		struct plan_step *st = &a->p->v[k];

		if (!is_of_branch(st, b->session))
			continue;
		if (ctx_kernel(a->ctx))
			do_step(a, st);
		else
			step_fail(a, st, "failed");
	}
}

static struct branch *add_branch(struct apply *a, struct branch *v, size_t n, const char *session)
{
	struct branch *b;

	v = xrealloc(v, (n + 1) * sizeof(*v));
	b = &v[n];
	*b = (struct branch){ .session = session, .ctx = *a->ctx, .a = *a };
	b->ctx.kernel = NULL;
	b->ctx.warnings = json_array();
	return v;
}

static void end_branch(struct apply *a, struct branch *b)
{
	a->changed |= b->a.changed;
	json_array_extend(a->ctx->warnings, b->ctx.warnings);
	json_decref(b->ctx.warnings);
	fail_clear(&b->ctx.fail);
	kernel_close(b->ctx.kernel);
	snapshot_free(&b->a.again);
	free(b->a.made);
}

/* Sessions are independent: one whose server is silent holds up no other. What is taken away comes after all of them. */
static void do_branches(struct apply *a)
{
	struct branch *v = NULL;
	json_t *seen = json_object();
	size_t n = 0;

	for (size_t i = 0; i < a->p->n; i++) {
		const struct plan_step *st = &a->p->v[i];

		if (st->stage >= STAGE_PRUNE || json_object_get(seen, st->session))
			continue;
		json_object_set_new_nocheck(seen, st->session, json_true());
		v = add_branch(a, v, n++, st->session);
	}
	json_decref(seen);
	for (size_t i = 0; i < n; i++)
		v[i].a.ctx = &v[i].ctx;
	ctx_unlock();
	parallel(n, do_branch, v);
	for (size_t i = 0; i < n; i++)
		end_branch(a, &v[i]);
	free(v);
}

/* A recording has one order of questions and answers, as has what is to stop; files of sysfs are read by their changes. */
static bool side_by_side(const struct apply *a, bool stop_on_error)
{
	const struct ctx *ctx = a->ctx;

	return !stop_on_error && !ctx->dry_run && !ctx->nl_replay && !ctx->nl_record &&
	       !kernel_is_sysfs(ctx->kernel);
}

static void do_steps(struct apply *a, bool stop_on_error)
{
	if (side_by_side(a, stop_on_error))
		do_branches(a);
	for (size_t i = 0; i < a->p->n && !a->stop; i++) {
		struct plan_step *st = &a->p->v[i];

		if (st->result)
			continue;
		do_step(a, st);
		a->stop = stop_on_error && st->fail.code && !st->optional;
	}
}

int plan_apply(struct ctx *ctx, const struct conf *c, struct plan *p, const struct snapshot *s,
	       bool stop_on_error)
{
	struct apply a = { .ctx = ctx, .c = c, .p = p, .now = s };
	int rc;

	if (!ctx->dry_run) {
		forget_others(&a);
		note_names(&a);
	}
	do_steps(&a, stop_on_error);
	if (!ctx->dry_run)
		js_set(ctx->data, "changed", json_boolean(a.changed));
	rc = conclude(&a);
	/* nothing was done */
	for (size_t i = 0; i < p->n && ctx->dry_run; i++)
		if (!p->v[i].fail.code)
			p->v[i].result = NULL;
	snapshot_free(&a.again);
	free(a.made);
	return rc;
}
