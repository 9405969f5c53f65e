// SPDX-License-Identifier: GPL-2.0
/* I/O priorities of clients, all there are: kernel/rnbd/server/prio.h. */
#include "kernel/rnbd/server/prio.h"
#include "tap.h"

/* As the kernel encodes them: class << 13, level in the lowest three bits, what else there is in between */
#define BE	0x4000
#define IDLE	0x6000
#define CLASS	0xe000
#define BETWEEN	0x1ff8

static u16 class_of(unsigned int prio)
{
	return rnbd_server_prio(prio) & CLASS;
}

static void kept(void)
{
	unsigned int level;

	EQ(rnbd_server_prio(0), 0);
	for (level = 0; level < 8; level++) {
		EQ(rnbd_server_prio(BE | level), BE | level);
		EQ(rnbd_server_prio(IDLE | level), IDLE | level);
	}
}

/* Of each class every value */
static void others(void)
{
	static const u16 becomes[8] = { [1] = BE, [2] = BE, [3] = IDLE };
	unsigned int prio;

	for (prio = 0; prio <= 0xffff; prio++) {
		NOTE("priority %04x", prio);
		EQ(class_of(prio), becomes[prio >> 13]);
		EQ(rnbd_server_prio(prio) & BETWEEN, 0);
		EQ(rnbd_server_prio(rnbd_server_prio(prio)), rnbd_server_prio(prio));
	}
}

static void real_time(void)
{
	unsigned int prio;

	for (prio = 0x2000; prio < BE; prio++)
		EQ(rnbd_server_prio(prio), BE);
}

static void unknown(void)
{
	unsigned int prio;

	for (prio = 0; prio <= 0xffff; prio++)
		if (prio < 0x2000 || prio > (IDLE | 0x1fff))
			EQ(rnbd_server_prio(prio), 0);
}

int main(void)
{
	RUN(kept, "best effort and idle, each level: as the client has it");
	RUN(real_time, "real-time becomes the first level of best effort");
	RUN(unknown, "no class, and classes that there are not: no priority");
	RUN(others, "nothing else is left of a priority than a class that is for all, and a level of it");
	return tap_end();
}
