// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rds/info.h"

#define FIRST_BYTES	16384u		/* the kernel pins these pages: no more than most lists need */
#define MOST_BYTES	(1u << 30)
#define MOST_TRIES	16

static bool is_list(const struct rds_list *l, uint32_t cap, int list)
{
	return l->size && l->size >= rds_record_least(list) && l->len <= cap && l->len % l->size == 0;
}

/* A buffer for @need bytes, and for what comes until the next try. */
static uint32_t next_cap(uint32_t cap, uint32_t need)
{
	uint64_t n = need > cap ? need : 2 * (uint64_t)cap;

	n += n / 4;
	return n > MOST_BYTES ? MOST_BYTES : (uint32_t)n;
}

int rds_info(rds_ask ask, void *arg, int list, struct rds_list *l)
{
	uint32_t cap = FIRST_BYTES, len;
	int n = -ENOSPC;

	memset(l, 0, sizeof(*l));
	for (int i = 0; i < MOST_TRIES && n == -ENOSPC; i++) {
		l->bytes = xrealloc(l->bytes, cap);
		len = cap;
		n = ask(arg, list, l->bytes, &len);
		if (n != -ENOSPC)
			break;
		if (cap == MOST_BYTES)
			break;
		cap = next_cap(cap, len);
	}
	if (n >= 0) {
		l->told = true;
		l->len = len;
		l->size = (size_t)n;
		if (is_list(l, cap, list))
			return 0;
		n = -EBADMSG;
	}
	free(l->bytes);
	memset(l, 0, sizeof(*l));
	return n == -ENOPROTOOPT ? 0 : n == -ENOSPC ? -EOVERFLOW : n;
}
