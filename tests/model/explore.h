/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An explorer of models. From the first state it makes all steps, the nearest first: the way to a
 * fault is a shortest one, and is printed in the words of its steps.
 */
#ifndef EXPLORE_H
#define EXPLORE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* One exploration, one line of TAP */
struct run {
	const char *name, *what;	/* for the command line; in words */
	uint8_t bounds[8];		/* as the model has them */
	int broken;			/* the mutation; 0: none */
	const char *fault;		/* what must be found, others do not count; NULL: nothing */
};

/* The model. A state is a struct of bytes. */
extern const size_t state_size;
extern const struct run runs[];		/* up to one without a name */
void start(void *state);		/* makes the first one, of zeroes */
void steps(const void *state);		/* makes all that follow one */

/* Of the present run */
extern const uint8_t *bounds;
extern int broken;

/* A step leads to @next. Up to four numbers below 256 go with the words. */
__attribute__((format(printf, 2, 3))) void explore_step(const void *next, const char *words, ...);
void explore_fault(const char *fault);	/* what is wrong with the step that is told next */

#endif /* EXPLORE_H */
