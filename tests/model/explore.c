// SPDX-License-Identifier: GPL-2.0
/* Breadth first. States are numbered as they are found, and found again by a hash of their bytes. */
#include <stdarg.h>
#include <stdio.h>
#include "explore.h"

#define MOST	(1U << 21)	/* states of a run: more take too much memory for a test */
#define WORDS	16		/* of the largest state, of 8 bytes */

const uint8_t *bounds;
int broken;

static uint64_t states[MOST + 1][WORDS];	/* pages that nobody writes to cost nothing */
static uint32_t table[MOST * 2];		/* their numbers and 1, by hash */
static struct {
	const char *words;
	uint32_t parent;
	uint8_t arg[4];
} origin[MOST];					/* how each was found */
static uint32_t count, now;			/* now: whose steps are made */
static const struct run *run;
static const char *fault;
static bool found;

static uint32_t *place(const uint64_t *state)
{
	uint64_t hash = 0;
	size_t i;

	for (i = 0; i < WORDS; i++) {
		hash = (hash ^ state[i]) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 32;
	}
	for (i = hash % (MOST * 2); table[i]; i = (i + 1) % (MOST * 2))
		if (!memcmp(states[table[i] - 1], state, sizeof(states[0])))
			break;
	return &table[i];
}

void explore_fault(const char *what)
{
	if (!run->fault || !strcmp(run->fault, what))
		fault = what;
}

void explore_step(const void *next, const char *words, ...)
{
	uint32_t *known;
	va_list ap;
	int n = 0;

	memcpy(states[count], next, state_size);
	known = place(states[count]);
	if (found || count == MOST || (*known && !fault))
		return;
	found = fault;
	origin[count].words = words;
	origin[count].parent = now;
	va_start(ap, words);
	for (; *words; words++)
		if (*words == '%')
			origin[count].arg[n++] = va_arg(ap, int);
	va_end(ap);
	*known = ++count;
}

/* Returns how many steps they are. */
static int print_steps(uint32_t to)
{
	const uint8_t *arg = origin[to].arg;
	int n;

	if (!to)
		return 0;
	n = 1 + print_steps(origin[to].parent);
	printf("# %3d ", n);
	printf(origin[to].words, arg[0], arg[1], arg[2], arg[3]);
	printf("\n");
	return n;
}

/* True: it went as it should. */
static bool explore(int number)
{
	uint64_t first[WORDS] = { 0 };
	bool good;

	memset(table, 0, sizeof(table));
	count = found = 0;
	fault = NULL;
	broken = run->broken;
	bounds = run->bounds;
	start(first);
	explore_step(first, "start");
	for (now = 0; now < count && !found; now++)
		steps(states[now]);
	good = count < MOST && found == !!run->fault;
	printf("%sok %d - %s: %s: %u states%s\n", good ? "" : "not ", number, run->name, run->what,
	       count, count == MOST ? ", not all" : found ? ", found" : "");
	if (found)
		print_steps(count - 1);
	if (found || run->fault)
		printf("#     %s %s\n", found ? "=" : "not found:", fault ?: run->fault);
	fflush(stdout);
	return good;
}

/* PROGRAM [NAME]: all runs, or one */
int main(int argc, char **argv)
{
	int number = 0, bad = 0;

	for (run = runs; run->name; run++)
		if (argc < 2 || !strcmp(argv[1], run->name))
			bad += !explore(++number);
	printf("1..%d\n", number);
	return bad || !number;
}
