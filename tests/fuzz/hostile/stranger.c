// SPDX-License-Identifier: GPL-2.0
/*
 * Somebody else who has seen the uuids of a client; and what that client may do without a path.
 * The client comes from 10.0.0.1 and fd00::1, to the same addresses.
 */
#include <unistd.h>

#include "peer.h"

#define ELSEWHERE	"10.0.0.9"

static const char *name;

/* The path @p of its client, alone, is up: the first attempt of that. */
static int client_up(struct path *p)
{
	name = path_new_name();
	path_init(p, 3);
	p->req.recon_cnt = 7;
	p->req.fences = true;
	p->req.alone = true;
	p->req.founding = 1;
	WANT(path_connect_all(p), 0);
	WANT(path_info(p, name), 0);
	return 0;
}

/* It has lost the others. */
static void path_alone(struct path *other, const struct path *p, uint32_t founding)
{
	path_beside(other, p);
	other->req.fences = true;
	other->req.first_conn = true;
	other->req.alone = true;
	other->req.founding = founding;
}

static int connect_from(struct path *p, const char *addr, unsigned int cid)
{
	int err;

	WANT(peer_comes_from(addr), 0);
	err = path_connect(p, cid);
	WANT(peer_comes_from(NULL), 0);
	return err;
}

/* The server shows the session no more, or a path of it */
static bool gone(const char *path)
{
	double end = peer_now() + 15;
	char dir[200];

	snprintf(dir, sizeof(dir), "/sys/class/rtrs-server/%s%s", name, path);
	while (!access(dir, F_OK) && peer_now() < end)
		usleep(1000);
	return access(dir, F_OK);
}

/* A path that connects takes no connection of others, and is not ended. It is the session's first. */
static int joins(void)
{
	struct path p, stranger, alone;

	path_init(&p, 3);
	WANT(path_connect(&p, 0), 0);
	stranger = p;
	memset(stranger.con, 0, sizeof(stranger.con));
	WANT(connect_from(&stranger, ELSEWHERE, 1), -EPERM);
	WANT(path_connect(&p, 1), 0);
	stranger.req.recon_cnt++;
	WANT(connect_from(&stranger, ELSEWHERE, 0), -EPERM);
	path_alone(&alone, &p, 9);
	WANT(connect_from(&alone, ELSEWHERE, 0), 0);
	WANT(path_connect(&p, 2), 0);
	WANT(path_info(&p, path_new_name()), 0);
	path_down(&alone);
	WANT(path_works(&p), 0);
	path_down(&p);
	return 0;
}

/* Nor is one that is up: not by its next attempt, nor as its client seems to be back alone. */
static int ends(void)
{
	struct path p, stranger, late;

	WANT(client_up(&p), 0);
	stranger = p;
	memset(stranger.con, 0, sizeof(stranger.con));
	stranger.req.recon_cnt++;
	WANT(connect_from(&stranger, ELSEWHERE, 0), -EPERM);
	path_alone(&stranger, &p, 9);
	WANT(connect_from(&stranger, ELSEWHERE, 0), -EBUSY);
	WANT(path_works(&p), 0);
	/* The number that was refused has not been heard of */
	path_alone(&stranger, &p, 2);
	WANT(path_connect_all(&stranger), 0);
	WANT(path_wait_closed(&p), true);
	path_down(&p);
	WANT(path_info(&stranger, name), 0);
	/* An attempt before that, which comes late */
	path_alone(&late, &p, 1);
	WANT(path_connect(&late, 0), -EBUSY);
	WANT(path_works(&stranger), 0);
	/* A client that has gone itself may come from anywhere */
	path_down(&stranger);
	path_alone(&stranger, &p, 3);
	WANT(connect_from(&stranger, ELSEWHERE, 0), 0);
	path_down(&stranger);
	return 0;
}

/* A client that has lost both paths comes from where the server has lost one as well. */
static int remembered(void)
{
	struct path p, other;

	WANT(client_up(&p), 0);
	path_beside(&other, &p);
	other.req.fences = true;
	WANT(path_connect_to(&other, "fd00::1"), 0);
	WANT(path_info(&other, name), 0);
	path_down(&other);
	WANT(gone("/paths/ip:fd00::1@ip:fd00::1"), true);
	path_alone(&other, &p, 2);
	WANT(path_connect_to(&other, "fd00::1"), 0);
	WANT(path_wait_closed(&p), true);
	path_down(&p);
	WANT(path_info(&other, name), 0);
	WANT(path_works(&other), 0);
	path_down(&other);
	return 0;
}

/* The last path that was up goes while another connects: its client does not know. */
static int last_path(void)
{
	struct path p, other;

	WANT(client_up(&p), 0);
	path_beside(&other, &p);
	other.req.fences = true;
	WANT(path_connect_to(&other, "fd00::1"), 0);
	path_down(&p);
	WANT(gone(""), true);
	WANT(path_info(&other, name), CLOSED);
	WANT(path_wait_closed(&other), true);
	path_down(&other);
	path_alone(&other, &p, 2);
	WANT(path_connect_all(&other), 0);
	WANT(path_info(&other, name), 0);
	WANT(path_works(&other), 0);
	path_down(&other);
	return 0;
}

const struct test stranger_tests[] = {
	{ "stranger-joins", joins },
	{ "stranger-ends", ends },
	{ "stranger-remembered", remembered },
	{ "stranger-last-path", last_path },
	{ NULL, NULL },
};
