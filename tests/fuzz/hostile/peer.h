/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A client of RTRS and RNBD that can be made to do everything wrong: connections
 * over librdmacm, the handshake, requests put together byte by byte.
 */
#ifndef HOSTILE_PEER_H
#define HOSTILE_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <rtrs/proto.h>
#include <rnbd/proto.h>

/* Connections of a path */
#define CONS_MAX	4
#define RESULT_SIZE	(128 * 1024)
#define RECVS		64
#define QUEUE_DEPTH_MAX	1024	/* that we can take */

/* What a request ends in, beside the errno of its answer (0 and above) */
#define CLOSED		(-1)
#define SILENT		(-2)

/**
 * struct conn - one connection
 * @dead: the server closed it, or the queue pair failed
 * @deaf: takes nothing, not even an answer
 * @sends: work requests that completed
 * @send_status: of the last one
 * @imm, @imm_count: last immediate received and their number
 * @sends_received: messages without an immediate, the last of @msg_len bytes at @recv_buf
 */
struct conn {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	bool dead;
	bool deaf;
	unsigned int sends;
	enum ibv_wc_status send_status;
	unsigned int imm_count;
	uint32_t imm;
	unsigned int messages;
	uint32_t msg_len;
	uint8_t *recv_buf;
	uint32_t recv_size;
	struct path *path;
};

/**
 * struct path - a path, the only one of its session
 * @answered: for each slot the errno of its answer, or SILENT
 * @off: for each slot where the header of its last request was
 */
struct path {
	struct conn con[CONS_MAX];
	unsigned int cons;
	struct rtrs_conn_req req;
	struct rtrs_geometry geo;
	uint32_t flags;
	uint32_t eager_bytes;
	struct rtrs_desc *chunk;
	int *answered;
	uint32_t *off;
	uint32_t info_len;
};

/**
 * struct request - an RTRS request
 * @sg_cnt: descriptors of a read; -1: one if there is data
 * @desc_len: length in the descriptor; 0: @data_len
 * @ignored: the data may come at any time, and nobody looks at it
 * @need_inval: asks for an invalidation, which a region of user space cannot have
 */
struct request {
	unsigned int cid;
	uint32_t slot;
	bool read;
	const void *data;
	uint32_t data_len;
	const void *usr;
	uint32_t usr_len;
	int sg_cnt;
	uint32_t desc_len;
	bool ignored;
	bool need_inval;
};

/* Given on the command line */
extern const char *disk, *slow_disk;

int peer_init(const char *addr, const char *port);
/* Where connections go from now on; NULL: where they did first */
int peer_goes_to(const char *addr);
/* Where they come from; NULL: where the route says */
int peer_comes_from(const char *addr);
uint8_t *peer_tx(void);		/* RESULT_SIZE bytes to send from */
uint8_t *peer_result(void);	/* RESULT_SIZE bytes that the server may write to */
uint8_t *peer_ignored(void);	/* as many that nobody looks at */
uint32_t peer_rkey(void);	/* key of them */
double peer_now(void);

/* 0: accepted; else the negative errno of the rejection */
int con_open(struct conn *con, const void *priv, size_t len, struct rtrs_conn_rsp *rsp);
void con_close(struct conn *con);
void con_poll(struct conn *con);
/* Waits at most @seconds until @con is dead */
bool con_wait_dead(struct conn *con, double seconds);
bool con_wait_messages(struct conn *con, unsigned int count, double seconds);
/* Dead or not */
bool con_wait_sends(struct conn *con, unsigned int count, double seconds);

/* From peer_tx(); the status of the work request */
enum ibv_wc_status con_write(struct conn *con, uint64_t addr, uint32_t rkey, uint32_t len);
enum ibv_wc_status con_write_imm(struct conn *con, uint64_t addr, uint32_t rkey, uint32_t len,
				 uint32_t imm);
enum ibv_wc_status con_imm(struct conn *con, uint32_t imm);
enum ibv_wc_status con_send(struct conn *con, uint32_t len);

/* A path with fresh identities that is not connected */
void path_init(struct path *p, unsigned int cons);
/* Another one of the session of @first, whose client is not alone */
void path_beside(struct path *p, const struct path *first);
int path_connect(struct path *p, unsigned int cid);
int path_connect_all(struct path *p);
/* Over this address of the server */
int path_connect_to(struct path *p, const char *addr);
/* @name: session; 0, CLOSED or SILENT */
int path_info(struct path *p, const char *name);
/* All of it, with a name that nobody has. 0: it works */
int path_up(struct path *p, unsigned int cons);
void path_down(struct path *p);
bool path_wait_closed(struct path *p);
/* A valid SESS_INFO on every connection is answered as it must be */
int path_works(struct path *p);
const char *path_new_name(void);

/* Header behind the user message, as a proper client does */
void request_send(struct path *p, const struct request *r);
int request_wait(struct path *p, const struct request *r, double seconds);
int request(struct path *p, const struct request *r);
/* Header bytes of @len at @off of chunk @slot, and the immediate for them */
void header_send(struct path *p, uint32_t slot, uint32_t off, const void *hdr, uint32_t len);

/* Tests return 0, or 1 after they said what was wrong. */
#define WANT(got, want) do {							\
	long got_ = (got), want_ = (want);					\
	if (got_ != want_) {							\
		printf("%s:%d: %s: %ld, not %ld\n", __FILE__, __LINE__, #got,	\
		       got_, want_);						\
		return 1;							\
	}									\
} while (0)

#define WANT_FOR(got, want, fmt, ...) do {					\
	long got_ = (got), want_ = (want);					\
	if (got_ != want_) {							\
		printf("%s:%d: %s: %ld, not %ld: " fmt "\n", __FILE__, __LINE__, \
		       #got, got_, want_, __VA_ARGS__);				\
		return 1;							\
	}									\
} while (0)

/**
 * struct test - one test
 * @name: for the command line
 * @run: the test
 */
struct test {
	const char *name;
	int (*run)(void);
};

extern const struct test connect_tests[], info_tests[], request_tests[], lean_tests[], rnbd_tests[],
	io_tests[], random_tests[], access_tests[], special_tests[], stranger_tests[], slots_tests[],
	storm_tests[];

#endif /* HOSTILE_PEER_H */
