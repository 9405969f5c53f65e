// SPDX-License-Identifier: GPL-2.0
/*
 * Fail-over: a client with some paths, an application that writes a block, one write at a time, a
 * server whose sessions have one slot each. An attempt to connect a path is a link. The network
 * keeps things for long, brings data without the rest, or loses both.
 *
 * What must hold: a write reaches the disk with its own data, none is applied behind a later one
 * that was acknowledged, no request comes to a session that has not opened the disk, and nothing
 * that comes late closes a path that its client has not lost.
 */
#include "explore.h"

/* Mutations; the table at the end says what each is */
enum {
	UNFENCED = 1, FENCED_EARLY, TOLD_EARLY, RETRY_EARLY, RUN_DEAD, FOUNDER_LATE, ANY_FOUNDER,
	ANY_SESSION, EMPTY_SESSION, ANY_LINK, NOT_BUSY, BUSY_RUNNING,
};

enum { ABSENT, CONNECTING, CONNECTED, CLOSING, FAILED, DRAINED, GONE };	/* a link, at the server */
enum { DOWN, ASKS, LOGIN, UP, LOST, FENCING, ENDED };			/* a path, at the client */
enum { NONE, SENT, LANDED, CAME, PARKED, RETRY, RUNS, ANSWERED };	/* a write on a link */

/* The most: tries of each path; losses, closes, given up, restarts without a reason */
enum { OF_PATHS, OF_TRIES, OF_WRITES, OF_LOSSES, OF_CLOSES, OF_GIVEN_UP, OF_RESTARTS };

struct link {
	uint8_t state, stage, write;
	uint8_t request, founds;	/* to connect, on its way; number of an attempt alone */
	uint8_t session, user;		/* number of its founder; who is gone with the last link */
	uint8_t fence, fencing, fenced;	/* tags: FENCE on its way, at work, FENCED on its way */
};

struct state {
	struct {
		uint8_t state, link, losses, asked;
	} path[3];
	uint8_t losses;				/* of sessions; elsewhere: till then */
	uint8_t founder, foundings, open;	/* a path and 1; attempts; by this user */
	uint8_t write, on, write_losses, written, acked;	/* on: a path and 1; 0: it waits */
	uint8_t users, left[8];
	struct link link[6];
	struct slot {
		uint8_t data, header, owner, retry, spoilt;	/* owner, retry: tags */
	} slot[7];			/* by session */
};

static const char mixed[] = "a write reaches the disk with the data of another one";
static const char reversed[] = "a write is applied behind a later one that was acknowledged";
static const char empty[] = "a request comes to a session that has not opened the disk";
static const char innocent[] = "a path is closed that its client has not lost";

const size_t state_size = sizeof(struct state);
static struct state from, s;	/* where a step begins, where it leads */

#define EACH(l)		for (l = s.link; l < s.link + bounds[OF_PATHS] * bounds[OF_TRIES]; l++)
#define TAG(l)		((int)(l - s.link) + 1)
#define PATH(l)		((int)(l - s.link) / bounds[OF_TRIES])
#define SLOT(l)		(&s.slot[l->session])
#define LINK(p)		(&s.link[s.path[p].link])
#define IS_UP(l)	(s.path[PATH(l)].state == UP && LINK(PATH(l)) == l)
#define ANY_UP		(s.path[0].state == UP || s.path[1].state == UP || s.path[2].state == UP)
#define THERE(l)	(l->state != ABSENT && l->state != GONE)

/* What nobody will see is as good as nothing. */
static void forget(void)
{
	struct link *l;

	EACH(l) {
		bool receives = l->state == CONNECTED || l->state == CLOSING;

		l->fence = receives ? l->fence : 0;
		l->fencing = receives ? l->fencing : 0;
		l->fenced = IS_UP(l) ? l->fenced : 0;
		if ((!receives && (l->stage == SENT || l->stage == LANDED)) ||
		    (!IS_UP(l) && l->stage == ANSWERED))
			l->stage = NONE;
		l->write = l->stage ? l->write : 0;
	}
}

#define STEP(...)	do { forget(); explore_step(&s, __VA_ARGS__); s = from; } while (0)

static void close_link(struct link *l, bool late)
{
	if (late && IS_UP(l) && l->state == CONNECTED)
		explore_fault(innocent);
	if (l->state == CONNECTING || l->state == CONNECTED)
		l->state = CLOSING;
}

/* Sends the write over each path of its session; false: there is none. */
static bool send_write(int losses, const char *words)
{
	bool any = false;
	int p;

	for (p = 0; p < bounds[OF_PATHS]; p++) {
		if (s.path[p].state != UP || (s.path[p].losses != losses && broken != ANY_SESSION))
			continue;
		any = true;
		LINK(p)->stage = SENT;
		LINK(p)->write = s.write;
		s.on = p + 1;
		s.write_losses = losses;
		STEP(words, s.write, p);
	}
	return any;
}

static void path_up(int p, struct link *l)
{
	struct link *o;
	bool busy = false;

	EACH(o)
		busy |= THERE(o) && o->session != l->session && broken != NOT_BUSY &&
			(broken != BUSY_RUNNING || o->stage == RUNS);
	if (s.left[OF_LOSSES] || l->state >= FAILED) {
		s.left[OF_LOSSES] -= l->state < FAILED;
		s.path[p].state = LOST;
		s.losses += !ANY_UP;
		s.open = ANY_UP ? s.open : 0;
		STEP("client: loses path %d", p);
	}
	if (!s.open && l->state == CONNECTED && !busy) {
		s.open = l->user;
		STEP("client: opens the disk over path %d", p);
	}
	if (l->stage == ANSWERED && s.write == l->write && s.on == p + 1) {
		s.acked = s.write;
		s.write = s.on = s.write_losses = l->stage = 0;
		STEP("client: write %d is acknowledged over path %d", from.write, p);
	}
}

/* What was sent may be on its way still: the server is asked over another path, if there is one. */
static void path_lost(int p, struct link *l)
{
	bool told = l->state >= (broken == TOLD_EARLY ? CLOSING : FAILED);
	bool other = false;
	int q;

	for (q = 0; q < bounds[OF_PATHS] && s.on == p + 1 && broken != UNFENCED; q++) {
		if (s.path[q].state != UP || s.path[q].losses != s.path[p].losses)
			continue;
		other = true;
		s.path[p].state = FENCING;
		s.path[p].asked = q;
		LINK(q)->fence = TAG(l);
		STEP("client: sends FENCE for path %d over path %d", p, q);
	}
	if (other && !told)
		return;
	s.path[p].state = ENDED;
	STEP(told ? "client: path %d has ended, says the server" : "client: path %d ends", p);
}

static void path_fencing(int p, struct link *l)
{
	struct link *asked = LINK(s.path[p].asked);
	bool up = IS_UP(asked);

	if (up && asked->fenced != TAG(l))
		return;
	asked->fenced = s.path[p].asked = 0;
	s.path[p].state = up ? ENDED : LOST;
	STEP(up ? "client: path %d is fenced" : "client: path %d, who was asked is lost", p);
}

static void path_ended(int p, struct link *l)
{
	if (s.on != p + 1) {
		s.path[PATH(l)].state = DOWN;
		STEP("client: path %d is down", p);
	} else if (!send_write(s.write_losses, "client: sends write %d again, over path %d")) {
		s.on = s.write_losses = 0;
		STEP("client: write %d waits", s.write);
	}
}

static void path_connects(int p, struct link *l)
{
	bool may_come = l->request || l->state == CONNECTING;
	bool may = l->founds ? s.founder == p + 1 : ANY_UP || broken == ANY_FOUNDER;

	if (s.path[p].state != DOWN && s.founder == p + 1)
		s.founder = 0;
	if (s.path[p].state == LOGIN) {
		s.path[p].losses = s.losses;
		s.path[p].state = may ? UP : LOST;
		STEP(may ? "client: path %d is up" : "client: path %d comes too late", p);
	} else if (s.path[p].state == ASKS && (!may_come || s.left[OF_GIVEN_UP])) {
		s.left[OF_GIVEN_UP] -= may_come;
		s.path[p].state = DOWN;
		STEP("client: path %d does not connect", p);
	} else if (s.path[p].state == DOWN && TAG(l) < (p + 1) * bounds[OF_TRIES]) {
		s.path[p].link++;
		s.path[p].state = ASKS;
		LINK(p)->request = 1;
		if (!ANY_UP) {
			LINK(p)->founds = ++s.foundings;
			s.founder = p + 1;
		}
		STEP(ANY_UP ? "client: path %d connects" : "client: path %d connects, alone", p);
	}
	s = from;
}

static void client(void)
{
	static void (*const path_steps[])(int p, struct link *l) = {
		[DOWN] = path_connects, [ASKS] = path_connects, [LOGIN] = path_connects,
		[UP] = path_up, [LOST] = path_lost, [FENCING] = path_fencing, [ENDED] = path_ended,
	};
	int p;

	if (!s.write && s.written < bounds[OF_WRITES]) {
		s.write = ++s.written;
		STEP("client: an application writes, number %d", s.write);
	}
	if (s.write && !s.on && s.open)
		send_write(s.losses, "client: sends write %d over path %d");
	for (p = 0; p < bounds[OF_PATHS]; p++)
		path_steps[s.path[p].state](p, LINK(p));
}

/* The newest session of which a link is not further than this; -1: there is none */
static int newest(int state)
{
	struct link *l;
	int session = -1;

	EACH(l)
		if (THERE(l) && l->state <= state && l->session > session)
			session = l->session;
	return session;
}

/* A founder gets a session at once, and ends the last; others join one, or wait for its end. */
static void server_connects(struct link *l)
{
	int session = l->founds ?: newest(CONNECTED);
	bool late = l->founds && l->founds < newest(DRAINED) && broken != FOUNDER_LATE;
	bool waits = session < 0 && newest(DRAINED) >= 0;
	struct link *o;

	if (!l->request)
		return;
	EACH(o)
		late |= PATH(o) == PATH(l) && o > l && THERE(o);
	late |= session < 0 && !waits;
	EACH(o)
		if (o != l && (l->founds || PATH(o) == PATH(l)) && !late) {
			close_link(o, true);
			waits |= PATH(o) == PATH(l) && THERE(o) && o->session == session;
		}
	l->request = waits && !late;
	if (l->request) {
		STEP("server: path %d waits for what is being closed", PATH(l));
	} else if (late) {
		STEP("server: refuses path %d", PATH(l));
	} else {
		l->session = session;
		l->state = CONNECTING;
		STEP("server: path %d connects, session %d", PATH(l), session);
	}
}

static void server_info(struct link *l)
{
	struct link *other;

	if (l->state != CONNECTING || s.path[PATH(l)].state != ASKS || LINK(PATH(l)) != l)
		return;
	EACH(other)
		if (other->session == l->session && other->user)
			l->user = other->user;
	if (!l->user && (l->founds || broken == EMPTY_SESSION))
		l->user = ++s.users;
	s.path[PATH(l)].state = l->user ? LOGIN : DOWN;
	l->state = l->user ? CONNECTED : CLOSING;
	STEP(l->user ? "server: path %d is up" : "server: refuses INFO of path %d", PATH(l));
}

/* The slot is the link's. */
static void run(struct link *l)
{
	if (l->state >= FAILED && broken != RUN_DEAD) {
		l->stage = NONE;
		SLOT(l)->owner = SLOT(l)->spoilt ? SLOT(l)->owner : 0;
		return;
	}
	if (IS_UP(l) && s.write == l->write && s.on == PATH(l) + 1 && s.open != l->user)
		explore_fault(empty);
	l->write = SLOT(l)->header;
	l->stage = RUNS;
}

/* If the slot is busy this is a retry: the path of what runs is lost. */
static void enter(struct link *l)
{
	const uint8_t owner = SLOT(l)->owner, retry = SLOT(l)->retry;

	l->stage = NONE;
	if (!owner) {
		SLOT(l)->owner = TAG(l);
		run(l);
	} else if (l->state == CONNECTED && (owner == TAG(l) || retry == TAG(l))) {
		close_link(l, false);
	} else if (l->state == CONNECTED) {
		close_link(&s.link[owner - 1], false);
		if (retry) {
			close_link(&s.link[retry - 1], false);
			s.link[retry - 1].stage = NONE;
		}
		SLOT(l)->retry = TAG(l);
		SLOT(l)->spoilt = 1;
		l->stage = PARKED;
	}
}

static void server_writes(struct link *l)
{
	const int write = l->write;

	if (l->stage == SENT) {
		SLOT(l)->data = write;
		l->stage = LANDED;
		STEP("network: the data of write %d lands, path %d", write, PATH(l));
	} else if (l->stage == LANDED) {
		SLOT(l)->header = write;
		l->stage = l->state == CONNECTED ? CAME : NONE;
		STEP("network: write %d comes on path %d", write, PATH(l));
	} else if (l->stage == CAME || l->stage == RETRY) {
		(l->stage == CAME ? enter : run)(l);
		STEP("server: begins with write %d of path %d", write, PATH(l));
	} else if (l->stage == RUNS) {
		if (SLOT(l)->data != write)
			explore_fault(mixed);
		else if (write < s.acked)
			explore_fault(reversed);
		l->stage = NONE;
		if (SLOT(l)->owner == TAG(l) && !SLOT(l)->spoilt) {
			SLOT(l)->owner = 0;
			l->stage = ANSWERED;
		}
		STEP("disk: applies write %d of path %d", write, PATH(l));
	}
}

static void server_closes(struct link *l)
{
	bool awaited = LINK(PATH(l)) == l && s.path[PATH(l)].state != DOWN;
	bool idle = l->stage != RUNS && l->stage != RETRY;
	struct slot *slot = SLOT(l);

	if (THERE(l) && l->state < CLOSING && (s.left[OF_CLOSES] || !awaited)) {
		s.left[OF_CLOSES] -= awaited;
		l->state = CLOSING;
		STEP("server: gives up path %d", PATH(l));
	} else if (l->state == CLOSING) {
		l->state = FAILED;
		STEP("server: queue pairs of path %d are in error", PATH(l));
	} else if (l->state == FAILED && l->stage != CAME) {
		l->state = DRAINED;
		l->stage = l->stage == PARKED ? NONE : l->stage;
		slot->retry = slot->retry == TAG(l) ? 0 : slot->retry;
		STEP("server: path %d is drained", PATH(l));
	} else if (l->state == DRAINED && (idle || broken == RETRY_EARLY)) {
		l->state = GONE;
		l->user = 0;
		if (slot->owner == TAG(l)) {
			if (slot->retry)	/* it has waited for this */
				s.link[slot->retry - 1].stage = RETRY;
			slot->owner = slot->retry;
			slot->retry = slot->spoilt = 0;
		}
		STEP("server: path %d is closed", PATH(l));
	}
}

static void server_fences(struct link *l)
{
	int tag = l->fencing, p = (tag - 1) / bounds[OF_TRIES];
	struct link *o;
	bool over = true;

	EACH(o)
		if (TAG(o) == tag || (tag && PATH(o) == p && broken == ANY_LINK)) {
			close_link(o, true);
			over &= !THERE(o) || o->state >= DRAINED || broken == FENCED_EARLY;
		}
	if (tag && over) {
		l->fenced = tag;
		l->fencing = 0;
		STEP("server: path %d, FENCED", p);
	} else if (tag) {
		STEP("server: closes path %d for FENCE", p);
	} else if (l->fence && l->state == CONNECTED) {
		l->fencing = l->fence;
		l->fence = 0;
		STEP("server: FENCE comes over path %d", PATH(l));
	}
}

void steps(const void *state)
{
	struct link *l;

	s = from = *(const struct state *)state;
	client();
	EACH(l) {
		server_connects(l);
		server_info(l);
		server_writes(l);
		server_closes(l);
		server_fences(l);
	}
	if (!s.left[OF_RESTARTS])
		return;
	s.left[OF_RESTARTS]--;
	memset(s.slot, 0, sizeof(s.slot));
	EACH(l)
		if (l->state != ABSENT)
			*l = (struct link){ .state = GONE };
	STEP("server: is started again");
}

void start(void *state)
{
	int p;

	s = (struct state){ .open = 1, .users = 1 };
	memcpy(s.left, bounds, sizeof(s.left));
	for (p = 0; p < bounds[OF_PATHS]; p++) {
		s.path[p].state = UP;
		s.path[p].link = p * bounds[OF_TRIES];
		*LINK(p) = (struct link){ .state = CONNECTED, .user = 1 };
	}
	memcpy(state, &s, sizeof(s));
}

const struct run runs[] = {
	{ "loses", "the client loses two paths, gives up an attempt", { 2, 2, 2, 2, 0, 1 } },
	{ "closes", "each end loses a path", { 2, 2, 2, 1, 1 } },
	{ "empties", "the server closes both paths", { 2, 2, 1, 0, 2 } },
	{ "tries", "an attempt comes after the next one", { 2, 3, 1, 1, 0, 1 } },
	{ "restarts", "the server is started again", { 2, 2, 2, 2, 0, 0, 1 } },
	{ "three", "three paths, of which two are lost", { 3, 2, 2, 2 } },
	{ "unfenced", "no FENCE before a retry", { 2, 2, 2, 2 }, UNFENCED, reversed },
	{ "unfenced-data", "the same, for the data", { 2, 2, 2, 2 }, UNFENCED, mixed },
	{ "fenced-early", "FENCED before the path is drained", { 2, 2, 2, 2 }, FENCED_EARLY, mixed },
	{ "told-early", "a path ends before it takes nothing", { 2, 2, 2, 1, 1 }, TOLD_EARLY, mixed },
	{ "retry-early", "a retry before the first attempt ended", { 2, 2, 2, 2 }, RETRY_EARLY, reversed },
	{ "run-dead", "what a dead path received runs", { 2, 2, 2, 1, 1 }, RUN_DEAD, mixed },
	{ "founder-late", "a founder that is late is served", { 2, 2, 1, 2, 0, 1 }, FOUNDER_LATE, innocent },
	{ "any-founder", "who founded nothing is the first", { 2, 2, 2, 1, 1 }, ANY_FOUNDER, reversed },
	{ "any-session", "requests outlive their session", { 2, 2, 2, 2 }, ANY_SESSION, empty },
	{ "C12", "INFO makes an empty session", { 2, 2, 1, 0, 2 }, EMPTY_SESSION, empty },
	{ "C14a", "FENCE means all links of a path", { 3, 2, 1, 2 }, ANY_LINK, innocent },
	{ "B10", "a disk that is busy is opened", { 2, 2, 2, 2 }, NOT_BUSY, reversed },
	{ "B10-running", "busy while operations are at the disk", { 2, 2, 2, 2 }, BUSY_RUNNING, reversed },
	{}
};
