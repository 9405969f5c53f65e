// SPDX-License-Identifier: GPL-2.0
/*
 * Heartbeats, tick by tick: kernel/rtrs/core/hb.c. As in section 9 of the protocol, but the peer is
 * lost after as many intervals of silence as were asked for, one earlier than there.
 */
#include "stub/core.h"
#include "tap.h"

ktime_t stub_now;

static struct rtrs_hb hb;
static int sent, acks, lost, lost_err, send_err, heard_in_send;

static int beat(struct rtrs_hb *h, enum rtrs_imm_type type)
{
	CHECK(h == &hb);
	CHECK(!h->lock.held);
	if (send_err)
		return send_err;
	if (type == RTRS_IMM_HB)
		sent++;
	else if (type == RTRS_IMM_HB_ACK)
		acks++;
	else
		CHECK(false);
	/* An answer may come before send() is back. */
	if (heard_in_send)
		rtrs_hb_heard(h);
	return 0;
}

static void gone(struct rtrs_hb *h, int err)
{
	CHECK(h == &hb);
	CHECK(!h->lock.held);
	lost++;
	lost_err = err;
}

static const struct rtrs_hb_ops ops = { .send = beat, .lost = gone };

static void setup(void)
{
	sent = acks = lost = lost_err = send_err = heard_in_send = 0;
	stub_now = 1000;
	memset(&hb, 0xa5, sizeof(hb));
	rtrs_hb_init(&hb, &ops, RTRS_HB_INTERVAL_MS, RTRS_HB_MISSED_MAX);
}

/* The next tick; false if none is to come. */
static bool tick(void)
{
	if (!hb.work.armed)
		return false;
	EQ(hb.work.delay, 5000);
	hb.work.armed = false;
	stub_now += hb.work.delay * 1000000LL;
	hb.work.work.fn(&hb.work.work);
	return true;
}

/* Fails at the 7th tick, 30 s after the one heartbeat that was sent. */
static void silence(void)
{
	int i;

	setup();
	rtrs_hb_start(&hb);
	EQ(sent, 0);
	for (i = 1; i <= 5; i++) {
		NOTE("tick %d", i);
		CHECK(tick());
		EQ(sent, 1);
		EQ(lost, 0);
	}
	CHECK(tick());
	EQ(lost, 1);
	EQ(lost_err, -ETIMEDOUT);
	EQ(sent, 1);
	EQ(stub_now, 1000 + 30000000000LL);
	/* once */
	CHECK(!tick());
	EQ(lost, 1);
}

static void answered(void)
{
	int i;

	setup();
	rtrs_hb_start(&hb);
	for (i = 1; i <= 50; i++) {
		NOTE("tick %d", i);
		CHECK(tick());
		EQ(sent, i);
		rtrs_hb_heard(&hb);
	}
	EQ(lost, 0);
	setup();
	heard_in_send = 1;
	rtrs_hb_start(&hb);
	for (i = 1; i <= 50; i++)
		CHECK(tick());
	EQ(sent, 50);
	EQ(lost, 0);
}

/* Anything heard, as late as it may be, ends the silence. */
static void last_moment(void)
{
	int late, i;

	for (late = 1; late <= 5; late++) {
		setup();
		rtrs_hb_start(&hb);
		for (i = 0; i < late; i++)
			CHECK(tick());
		rtrs_hb_heard(&hb);
		NOTE("heard after tick %d", late);
		CHECK(!rtrs_hb_silent(&hb));
		CHECK(tick());
		EQ(lost, 0);
		EQ(sent, 2);
		/* and then it counts from the beginning */
		for (i = 0; i < 4; i++)
			CHECK(tick());
		EQ(lost, 0);
		CHECK(tick());
		EQ(lost, 1);
		EQ(sent, 2);
		CHECK(rtrs_hb_silent(&hb));
	}
}

static void cannot_send(void)
{
	setup();
	send_err = -EIO;
	rtrs_hb_start(&hb);
	CHECK(tick());
	EQ(lost, 1);
	EQ(lost_err, -EIO);
	CHECK(!tick());
}

static void stopping(void)
{
	setup();
	rtrs_hb_start(&hb);
	CHECK(tick());
	rtrs_hb_stop(&hb);
	CHECK(!tick());
	rtrs_hb_stop(&hb);
	/* a start that comes too late does nothing */
	rtrs_hb_start(&hb);
	CHECK(!tick());
	/* a tick that runs while it is stopped sends nothing and is the last */
	hb.work.work.fn(&hb.work.work);
	EQ(sent, 1);
	EQ(lost, 0);
	CHECK(!tick());
	/* before the first start as well */
	setup();
	rtrs_hb_stop(&hb);
	rtrs_hb_start(&hb);
	CHECK(!tick());
	/* used again */
	rtrs_hb_reset(&hb);
	rtrs_hb_start(&hb);
	CHECK(tick());
	EQ(sent, 1);
}

/* Other times hold at once, and for good; one that was not started is not started by them. */
static void settings(void)
{
	setup();
	rtrs_hb_set(&hb, 200, 2);
	CHECK(!hb.work.armed);
	rtrs_hb_start(&hb);
	EQ(hb.work.delay, 200);
	rtrs_hb_set(&hb, 5000, 2);
	EQ(hb.work.delay, 5000);
	rtrs_hb_set(&hb, 200, 2);
	EQ(hb.work.delay, 200);
}

/* The least: two intervals behind a heartbeat that is not answered. */
static void short_silence(void)
{
	int i;

	setup();
	rtrs_hb_set(&hb, 200, 2);
	rtrs_hb_start(&hb);
	for (i = 1; i <= 2; i++) {
		hb.work.armed = false;
		hb.work.work.fn(&hb.work.work);
		EQ(lost, 0);
	}
	hb.work.work.fn(&hb.work.work);
	EQ(lost, 1);
}

static void answers(void)
{
	setup();
	EQ(rtrs_hb_recv(&hb), 0);
	EQ(acks, 1);
	EQ(sent, 0);
	send_err = -ENOTCONN;
	EQ(rtrs_hb_recv(&hb), -ENOTCONN);
	EQ(lost, 0);
}

static void round_trip(void)
{
	setup();
	EQ(hb.rtt_ns.v, 0);
	/* an answer to nothing */
	rtrs_hb_recv_ack(&hb);
	EQ(hb.rtt_ns.v, 0);
	rtrs_hb_start(&hb);
	CHECK(tick());
	stub_now += 12345;
	rtrs_hb_recv_ack(&hb);
	EQ(hb.rtt_ns.v, 12345);
	rtrs_hb_heard(&hb);
	CHECK(tick());
	stub_now += 77;
	rtrs_hb_recv_ack(&hb);
	EQ(hb.rtt_ns.v, 77);
}

int main(void)
{
	RUN(silence, "silence: lost at the 6th tick, once, after one heartbeat");
	RUN(settings, "other times hold at once");
	RUN(short_silence, "the least of misses: lost two intervals behind the heartbeat");
	RUN(answered, "answered: goes on for ever");
	RUN(last_moment, "heard at any moment before the end: starts anew");
	RUN(cannot_send, "lost at once where nothing can be sent");
	RUN(stopping, "stopped: no tick any more, whatever the order");
	RUN(answers, "heartbeats of the peer are answered");
	RUN(round_trip, "round trip");
	return tap_end();
}
