// SPDX-License-Identifier: GPL-2.0
/*
 * Who may write to a disk when clients are cut off, come back by themselves, and the server is
 * started again. The server records who has the right before it gives it, and the record outlives
 * it. A client is told the start of the record, a number by chance, and its count, how often the
 * right went to another client. It claims both when it comes back by itself: what waits there goes
 * on if they are those of the record, and fails if not.
 *
 * What must hold: what waited is not written over what another client began to write since, and
 * was acknowledged, nor over a later write of the same client; one client has the right, but for
 * migration; nobody is refused as stale if no other was let in. How sessions end is fence.c's.
 */
#include "explore.h"

/* Mutations; the table at the end says what each is */
enum {
	MEMORY = 1, MIGRATION_FREE, TWO_CLAIM, RECORD_LATE, RECORD_OLD, CLAIM_LATE, CLAIM_COUNTS,
	STALE_KEEPS, REMAP_KEEPS, NOT_BUSY, FREE_FOR_ALL,
};

enum { NONE, RW, MIGRATION };			/* access */
enum { UNMAPPED, MAPPED, LOST, STALE };		/* a client's device */
enum { IDLE, WAITS, SENT };			/* a client's write */
enum { CLOSED, RECORD, GIVE };			/* how far the server is with an opening, */
enum { MAP, REMAP, RETURN };			/* and what it is for */

/* The most of each client; of cuts, restarts, and failures of the record in all */
enum { OF_CLIENTS, OF_ACCESS, OF_WRITES, OF_MAPS, OF_CUTS, OF_RESTARTS, OF_FAILURES };

/* @last: who got the right last; @two: another one has it, too, and perhaps for longer */
struct record {
	uint8_t valid, start, count, last, two;
};

/* A client, and what the server has of it */
struct client {
	uint8_t state, access, start, count;	/* the last two: as it was told */
	uint8_t write, number, acked;		/* the present write, and the last of all */
	uint8_t since;		/* clients, as bits, whose writes began while this one waited */
	uint8_t late;		/* and one was acknowledged */
	uint8_t others;		/* another client was let in since this one was told */
	uint8_t maps, alive, given;	/* the server has its session, it has the right */
	uint8_t op, old, done;	/* writes at the disk, there for a lost session, applied */
};

struct state {
	struct client c[3];
	struct record memory, disk;
	uint8_t unwritable, starts, left[8];
	struct opening {
		uint8_t step, who, why, access, stale;
	} open;			/* one at a time */
};

static const char overwritten[] = "what waited is written over what another client was acknowledged";
static const char reversed[] = "a write is applied behind a later one that was acknowledged";
static const char shared[] = "two clients have the right to write";
static const char unjust[] = "a client is refused as stale, and no other was let in";

const size_t state_size = sizeof(struct state);
static struct state from, s;	/* where a step begins, where it leads */

#define EACH(i)		for (i = s.c; i < s.c + bounds[OF_CLIENTS]; i++)
#define NAME(i)		('A' + INDEX(i))
#define INDEX(i)	((int)(i - s.c))
#define STEP(...)	do { explore_step(&s, __VA_ARGS__); s = from; } while (0)

static int others_given(const struct client *c)
{
	const struct client *d;
	int n = 0;

	EACH(d)
		n += d != c && d->given;
	return n;
}

static void write_is_over(struct client *c)
{
	c->write = c->since = c->late = 0;
}

/* What is at the disk goes on, and keeps the right. */
static void end_session(struct client *c)
{
	c->alive = c->done = 0;
	if (c->op)
		c->old = c->op;
	c->op = 0;
	if (!c->old || broken == NOT_BUSY)
		c->given = NONE;
}

static bool claim_holds(const struct client *c)
{
	const struct record *r = &s.memory;
	bool same = (r->valid && r->start == c->start && r->count == c->count) ||
		    (broken == MIGRATION_FREE && c->access == MIGRATION);

	return broken == MEMORY || (same && (!r->two || broken == TWO_CLAIM));
}

static void refuse_stale(struct client *c)
{
	if (!c->others)
		explore_fault(unjust);
	c->state = STALE;
	if (broken != STALE_KEEPS)
		write_is_over(c);
	STEP("server: refuses the claim of client %c, ESTALE", NAME(c));
}

/* Once @c has the right. What another wrote before it left may be newer than the count @c knows. */
static struct record next_record(const struct client *c)
{
	const struct record *r = &s.memory;
	bool two = others_given(c), counts = !r->valid || r->last != INDEX(c) || (r->two && !two) ||
					     (broken == CLAIM_COUNTS && s.open.why == RETURN);

	return (struct record){
		1, r->valid ? r->start : s.starts + 1, r->count + counts, INDEX(c), two,
	};
}

/* False: an old one would stay, and is wrong. */
static bool record(const struct record *to)
{
	if (broken != MEMORY && !s.unwritable)
		s.disk = *to;
	return !s.disk.valid || !memcmp(to, &s.disk, sizeof(*to)) || broken == RECORD_OLD;
}

static void let_in(const struct client *c, const struct record *to)
{
	struct client *d;

	if (!memcmp(to, &s.memory, sizeof(*to)))
		return;
	s.memory = *to;
	s.starts = to->start > s.starts ? to->start : s.starts;
	EACH(d)
		d->others |= d != c && !s.open.stale;
}

/* The client founds a session. Told EBUSY or EPERM, it tries again: that is no step. */
static void open_disk(struct client *c, int why, int access)
{
	const char *words = why == MAP ? "client %c: maps the disk, access %d (1 rw, 2 migration)" :
			    why == REMAP ? "client %c: an administrator remaps the disk" :
					   "client %c: comes back by itself, and opens the disk";
	bool may, refused, holds = why != RETURN || claim_holds(c);

	if (s.open.step)
		return;
	end_session(c);
	may = broken == FREE_FOR_ALL || others_given(c) < (access == RW ? 1 : 2);
	refused = !holds && broken != CLAIM_LATE;
	if (c->given || (c->old && broken != NOT_BUSY) || !(may || refused)) {
		s = from;
	} else if (refused) {
		refuse_stale(c);
	} else {
		s.open = (struct opening){ RECORD, INDEX(c), why, access, !holds };
		s.open.step += broken == RECORD_LATE;	/* GIVE */
		if (why == REMAP && c->state == LOST && broken != REMAP_KEEPS)
			write_is_over(c);
		c->maps += why != RETURN;
		c->state = why == REMAP ? STALE : c->state;
		STEP(words, NAME(c), access);
	}
}

static void server_records(struct client *c)
{
	const struct record to = broken == RECORD_LATE ? s.memory : next_record(c);

	if (record(&to)) {
		let_in(c, &to);
		s.open.step = broken == RECORD_LATE ? CLOSED : GIVE;
		STEP("server: client %c is on record as the last writer", NAME(c));
	} else {
		s.open = (struct opening){ CLOSED };
		STEP("server: cannot record client %c, and refuses it", NAME(c));
	}
}

/* The client has it, or its session is lost before the answer comes. */
static void server_gives(struct client *c)
{
	const struct record *r = &s.memory, to = next_record(c);
	bool stale = s.open.stale;
	const struct client *d;

	EACH(d)
		if (d != c && d->given == RW && s.open.access == RW)
			explore_fault(shared);
	if (broken == RECORD_LATE)
		let_in(c, &to);
	/* What clients looked at when there were no claims */
	if (broken == MEMORY && s.open.why == RETURN)
		stale = r->count != (r->start == c->start ? c->count : 1);
	c->alive = !stale;
	c->given = stale ? NONE : s.open.access;
	s.open = (struct opening){ broken == RECORD_LATE ? RECORD : CLOSED, INDEX(c) };
	if (stale) {
		refuse_stale(c);
		return;
	}
	explore_step(&s, "server: gives the disk to client %c, and is not heard", NAME(c));
	c->state = MAPPED;
	c->access = c->given;
	c->start = r->start;
	c->count = r->count;
	c->others = r->two;
	STEP("server: gives the disk to client %c", NAME(c));
}

static void migration_ends(struct client *c)
{
	const struct record to = next_record(c);

	if (others_given(c) || !record(&to))
		return;
	let_in(c, &to);
	c->given = RW;
	explore_step(&s, "client %c: asks for rw, and is not answered", NAME(c));
	c->access = RW;
	c->count = to.count;
	STEP("client %c: is the only one, migration becomes rw", NAME(c));
}

static void client_device(struct client *c)
{
	/* The first to map is A: until then all are the same */
	if (INDEX(c) && !c[-1].maps)
		return;
	if (c->state == UNMAPPED && c->maps < bounds[OF_MAPS]) {
		open_disk(c, MAP, RW);
		if (bounds[OF_ACCESS] == MIGRATION)
			open_disk(c, MAP, MIGRATION);
	}
	if (c->state == LOST)
		open_disk(c, RETURN, c->access);
	if ((c->state == LOST || c->state == STALE) && c->maps < bounds[OF_MAPS])
		open_disk(c, REMAP, c->access);
	if (c->state == MAPPED && (s.left[OF_CUTS] || !c->alive)) {
		s.left[OF_CUTS] -= c->alive;
		c->state = LOST;
		if (c->write == SENT)
			c->write = WAITS;
		STEP("client %c: is cut off", NAME(c));
	}
	if (c->state == MAPPED && !c->write && c->alive) {
		c->state = UNMAPPED;
		end_session(c);
		STEP("client %c: unmaps the disk", NAME(c));
	}
	if (c->state == MAPPED && c->alive && c->given == MIGRATION && !s.open.step)
		migration_ends(c);
}

static void client_write(struct client *c)
{
	bool may = c->state == MAPPED || c->state == LOST;
	struct client *d;

	if (may && !c->write && c->number < bounds[OF_WRITES]) {
		EACH(d) {
			d->since &= ~(1 << INDEX(c));
			if (d->write && !(d->state == MAPPED && d->alive))
				d->since |= 1 << INDEX(c);
		}
		c->write = WAITS;
		c->number++;
		STEP("client %c: an application writes, number %d", NAME(c), c->number);
	}
	if (c->write == WAITS && c->state == MAPPED && c->alive) {
		if (c->late)
			explore_fault(overwritten);
		c->write = SENT;
		c->op = c->number;
		STEP("client %c: write %d goes to the disk", NAME(c), c->number);
	}
	if (c->done && c->state == MAPPED && c->write == SENT) {
		EACH(d)
			d->late |= d->since >> INDEX(c) & 1;
		write_is_over(c);
		c->acked = c->number;
		c->done = 0;
		STEP("client %c: write %d is acknowledged", NAME(c), c->number);
	}
}

static void server_session(struct client *c)
{
	const int op = c->op, old = c->old;

	if (op) {
		c->done = op;
		c->op = 0;
		STEP("disk: applies write %d of client %c", op, NAME(c));
	}
	if (old) {
		if (old < c->acked)
			explore_fault(reversed);
		c->old = 0;
		c->given = c->alive ? c->given : NONE;
		STEP("disk: applies write %d of client %c", old, NAME(c));
	}
	if (c->alive && !old && (s.left[OF_CUTS] || c->state != MAPPED)) {
		s.left[OF_CUTS] -= c->state == MAPPED;
		end_session(c);
		STEP("server: loses the session of client %c", NAME(c));
	}
}

void steps(const void *state)
{
	struct client *c;

	s = from = *(const struct state *)state;
	EACH(c) {
		client_device(c);
		client_write(c);
		server_session(c);
	}
	if (s.open.step)
		(s.open.step == RECORD ? server_records : server_gives)(&s.c[s.open.who]);
	if (s.left[OF_RESTARTS]) {	/* what is at the disk may have been applied before */
		s.left[OF_RESTARTS]--;
		s.memory = s.disk;
		s.open = (struct opening){ CLOSED };
		EACH(c) {
			c->alive = c->given = c->op = c->old = c->done = 0;
			c->others |= !s.disk.valid;
		}
		STEP("server: its modules are loaded again, or its host boots");
	}
	if (s.left[OF_FAILURES]) {
		s.left[OF_FAILURES]--;
		s.unwritable = !s.unwritable;
		STEP("server: records can be written no longer (1), or again (0): %d", s.unwritable);
	}
}

void start(void *state)
{
	memcpy(((struct state *)state)->left, bounds, sizeof(s.left));
}

const struct run runs[] = {
	{ "two", "two clients, two restarts of the server", { 2, MIGRATION, 1, 2, 1, 2 } },
	{ "lasting", "two clients that write twice, no restart", { 2, MIGRATION, 2, 2, 2 } },
	{ "three", "three clients", { 3, MIGRATION, 1, 1, 1, 1 } },
	{ "fails", "the record cannot be written at times", { 2, RW, 1, 2, 1, 2, 2 } },
	{ "A1", "the right is remembered in memory", { 2, RW, 1, 2, 1, 2 }, MEMORY, overwritten },
	{ "A1-uncut", "the same, nobody is cut off", { 2, RW, 1, 2, 0, 2 }, MEMORY, overwritten },
	{ "A2", "migration needs no claim", { 2, MIGRATION, 2, 2, 2 }, MIGRATION_FREE, overwritten },
	{ "two-claim", "claims hold though two have the right", { 2, MIGRATION, 2, 2, 2 }, TWO_CLAIM, overwritten },
	{ "record-late", "recorded after it was given", { 2, RW, 1, 2, 1, 2 }, RECORD_LATE, overwritten },
	{ "record-old", "given though an old record stays", { 2, RW, 1, 2, 1, 2, 2 }, RECORD_OLD, overwritten },
	{ "claim-late", "the claim is looked at after it was given", { 2, RW, 1, 2, 1, 2 }, CLAIM_LATE, unjust },
	{ "claim-counts", "a right claim is counted", { 2, RW, 1, 2, 1, 2 }, CLAIM_COUNTS, unjust },
	{ "stale-keeps", "what waits outlives ESTALE", { 2, RW, 1, 2, 1, 2 }, STALE_KEEPS, overwritten },
	{ "remap-keeps", "what waits outlives a remap", { 2, RW, 1, 2, 1, 2 }, REMAP_KEEPS, overwritten },
	{ "B10", "a disk that is busy is given", { 2, RW, 2, 2, 2 }, NOT_BUSY, reversed },
	{ "free-for-all", "rw is given to all", { 2, RW, 1, 2, 1, 2 }, FREE_FOR_ALL, shared },
	{}
};
