// SPDX-License-Identifier: GPL-2.0
/* The largest access list that is promised: kernel/rnbd/server/access-list.c. */
#include <errno.h>
#include <rdma/ib.h>
#include <time.h>
#include "access-attrs.h"

#define PEERS	1000
#define EXPORTS	10000
#define OPENS	1000
/* The sanitizers take three to four times as long as the kernel does. */
#ifdef __SANITIZE_ADDRESS__
#define OPEN_NS	(4 * 50000)
#else
#define OPEN_NS	50000
#endif

/* Half of the exports are directories. */
static struct rnbd_access_list *list_of_many(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	char name[32], text[32];
	unsigned int i;

	for (i = 0; i < PEERS; i++) {
		sprintf(name, "peer%u", i);
		begin_peer(name);
		sprintf(text, "s%u@*", i);
		session(text);
		in.sin_addr.s_addr = htonl(0x0a000001 + i);
		from(&in, sizeof(in), -1);
		end();
	}
	for (i = 0; i < EXPORTS; i++) {
		sprintf(name, i % 2 ? "vm%u/disk" : "vm%u/", i);
		sprintf(text, i % 2 ? "/dev/vm%u" : "/dev/vm%u/", i);
		begin_export(name, text);
		sprintf(text, "peer%u", i % PEERS);
		allow(text, RNBD_ACCESS_MODE_RW);
		end();
	}
	return list_of();
}

static unsigned int compared;

int __real_strncmp(const char *a, const char *b, size_t n);
int __wrap_strncmp(const char *a, const char *b, size_t n);

int __wrap_strncmp(const char *a, const char *b, size_t n)
{
	compared++;
	return __real_strncmp(a, b, n);
}

static int shorter(const void *a, const void *b)
{
	const long *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* A path that comes up asks for the peer, an OPEN for the name. */
static long open_ns(const struct rnbd_access_list *list, u32 export)
{
	struct sockaddr_storage from = { .ss_family = AF_INET };
	const struct rnbd_access_entry *found;
	u32 number = export % PEERS;
	struct rnbd_access_answer answer;
	struct timespec since, now;
	char as[32], name[32];
	int err = -1;

	((struct sockaddr_in *)&from)->sin_addr.s_addr = htonl(0x0a000001 + number);
	sprintf(as, "s%u@srv", number);
	sprintf(name, "//vm%u/disk", export);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &since);
	found = rnbd_server_list_find_peer(list, &from, NULL, as);
	if (found)
		err = rnbd_server_list_judge(list, found->name, name, RNBD_ACCESS_MODE_RW, &answer);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	NOTE("%s opens %s", as, name);
	CHECK(found == &list->entry[number]);
	EQ(err, 0);
	return (now.tv_sec - since.tv_sec) * 1000000000 + now.tv_nsec - since.tv_nsec;
}

static void many(void)
{
	struct rnbd_access_list *list = list_of_many();
	static long took[OPENS];
	unsigned int i;

	compared = 0;
	CHECK(list && list->peers == PEERS && list->exports == EXPORTS);
	if (!list)
		return;
	for (i = 0; i < OPENS; i++)
		took[i] = open_ns(list, rand() % EXPORTS);
	/* Binary search compares 14 of them at most; a name may be looked for in three forms. */
	CHECK(compared <= OPENS * 3 * 14);
	qsort(took, OPENS, sizeof(took[0]), shorter);
	NOTE("it takes %ld ns, at worst %ld; names compared: %u", took[OPENS / 2], took[OPENS - 1],
	     compared / OPENS);
	CHECK(took[OPENS / 2] <= OPEN_NS);
	free(list);
}

int main(void)
{
	RUN(many, "of 1,000 peers and 10,000 exports the right ones are found within 50 us");
	return tap_end();
}
