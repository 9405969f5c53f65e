// SPDX-License-Identifier: GPL-2.0
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/parallel.h"
#include "base/text.h"

/* As many silent servers hold up nobody */
#define WORKERS_MAX	128
#define STACK_SIZE	(512 << 10)

struct pool {
	size_t n;
	atomic_size_t next;
	void (*run)(void *arg, size_t i);
	void *arg;
};

static void *worker(void *arg)
{
	struct pool *p = arg;
	size_t i;

	while ((i = atomic_fetch_add(&p->next, 1)) < p->n)
		p->run(p->arg, i);
	return NULL;
}

void parallel(size_t n, void (*run)(void *arg, size_t i), void *arg)
{
	struct pool p = { .n = n, .run = run, .arg = arg };
	size_t want = n < WORKERS_MAX ? n : WORKERS_MAX, made = 0;
	pthread_t *threads = xcalloc(want, sizeof(*threads));
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	/* one less, as this one works, too, which does where there are none */
	while (made + 1 < want && !pthread_create(&threads[made], &attr, worker, &p))
		made++;
	pthread_attr_destroy(&attr);
	worker(&p);
	for (size_t i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}
