// SPDX-License-Identifier: GPL-2.0
/*
 * How a response is put on the wire: one chain of work requests, built on the
 * stack and copied by the device's driver when it is posted.
 *
 *	[RDMA_WRITE data] [REG_MR, new rkey] [SEND_WITH_INV] last
 *
 * where last is a SEND_WITH_IMM of the new rkey, or an empty RDMA_WRITE_WITH_IMM. On a
 * lean path the client knows the key, and invalidates by itself:
 *
 *	[REG_MR, new rkey] RDMA_WRITE_WITH_IMM, with the data of a read
 *
 * The chunk of an eager request has its key still.
 */
#include "server.h"

/**
 * struct chain - work requests of one response
 * @data: result of a read
 * @reg: makes the chunk writable again, under a new rkey
 * @inv: invalidates the client's region
 * @last: immediate
 * @data_sge: data of a read, of @data or @last
 * @rkey_sge: of @last
 * @first: head of the chain
 * @next: where the next one goes
 * @count: of the chain
 */
struct chain {
	struct ib_rdma_wr data;
	struct ib_reg_wr reg;
	struct ib_send_wr inv;
	struct ib_rdma_wr last;
	struct ib_sge data_sge;
	struct ib_sge rkey_sge;
	struct ib_send_wr *first;
	struct ib_send_wr **next;
	u32 count;
};

/* Bytes of a read that the response takes with it. */
static u32 data_len(const struct rtrs_server_op *op)
{
	if (op->err || !op->req.has_desc)
		return 0;
	return min(op->req.desc.len, op->req.data_len);
}

/* Work requests that the response takes. */
u32 rtrs_server_resp_count(const struct rtrs_server_op *op)
{
	u32 count = 1 + (rtrs_server_new_rkey && !op->eager);

	if (!op->path->lean)
		count += !!data_len(op) + op->req.need_inval;
	return count;
}

static void chain_add(struct chain *c, struct ib_send_wr *wr)
{
	*c->next = wr;
	c->next = &wr->next;
	c->count++;
}

/* @wr takes the result of a read to the client. */
static void set_data(struct chain *c, struct ib_rdma_wr *wr, const struct rtrs_server_op *op)
{
	enum dma_data_direction dir = op->eager ? DMA_TO_DEVICE : DMA_BIDIRECTIONAL;
	const struct rtrs_server_path *path = op->path;
	u32 len = data_len(op);

	c->data_sge.addr = op->eager ? op->copy_dma : path->dma[op->slot];
	c->data_sge.length = len;
	c->data_sge.lkey = path->dev->pd->local_dma_lkey;
	wr->wr.sg_list = &c->data_sge;
	wr->wr.num_sge = 1;
	wr->remote_addr = op->req.desc.addr;
	wr->rkey = op->req.desc.rkey;
	ib_dma_sync_single_for_device(path->dev->ib_dev, c->data_sge.addr, len, dir);
}

static void add_data(struct chain *c, const struct rtrs_server_op *op)
{
	set_data(c, &c->data, op);
	c->data.wr.wr_cqe = &op->con->send_cqe;
	c->data.wr.opcode = IB_WR_RDMA_WRITE;
	chain_add(c, &c->data.wr);
}

static void add_reg(struct chain *c, const struct rtrs_server_op *op)
{
	rtrs_server_buf_next_key(op->path->mr[op->slot]);
	rtrs_server_buf_reg_wr(op->path->mr[op->slot], &c->reg);
	c->reg.wr.wr_cqe = &op->con->send_cqe;
	chain_add(c, &c->reg.wr);
}

static void add_inv(struct chain *c, const struct rtrs_server_op *op)
{
	c->inv.wr_cqe = &op->con->send_cqe;
	c->inv.opcode = IB_WR_SEND_WITH_INV;
	c->inv.ex.invalidate_rkey = op->req.desc.rkey;
	chain_add(c, &c->inv);
}

/* The immediate carries a message with the new key. */
static void set_rkey(struct chain *c, const struct rtrs_server_op *op)
{
	const struct rtrs_iu *iu = op->path->rkeys;
	u32 off = op->slot * sizeof(struct rtrs_msg_rkey_rsp);

	rtrs_rkey_rsp_pack(iu->buf + off, op->slot, c->reg.key);
	c->rkey_sge.addr = iu->dma + off;
	c->rkey_sge.length = sizeof(struct rtrs_msg_rkey_rsp);
	c->rkey_sge.lkey = op->path->dev->pd->local_dma_lkey;
	ib_dma_sync_single_for_device(op->path->dev->ib_dev, c->rkey_sge.addr, c->rkey_sge.length,
				      iu->dir);
	c->last.wr.opcode = IB_WR_SEND_WITH_IMM;
	c->last.wr.sg_list = &c->rkey_sge;
	c->last.wr.num_sge = 1;
}

static void add_last(struct chain *c, const struct rtrs_server_op *op, bool inval)
{
	struct ib_send_wr *wr = &c->last.wr;

	wr->wr_cqe = &op->con->send_cqe;
	wr->opcode = IB_WR_RDMA_WRITE_WITH_IMM;
	wr->ex.imm_data = cpu_to_be32(rtrs_imm_io_rsp(op->slot, op->err, inval));
	chain_add(c, wr);
}

static void build_lean(struct chain *c, const struct rtrs_server_op *op)
{
	if (rtrs_server_new_rkey && !op->eager)
		add_reg(c, op);
	if (data_len(op))
		set_data(c, &c->last, op);
	add_last(c, op, false);
}

static void build(struct chain *c, const struct rtrs_server_op *op)
{
	if (data_len(op))
		add_data(c, op);
	if (rtrs_server_new_rkey)
		add_reg(c, op);
	if (op->req.need_inval)
		add_inv(c, op);
	add_last(c, op, op->req.need_inval);
	if (rtrs_server_new_rkey)
		set_rkey(c, op);
}

/*
 * con->send_lock held, credits there. The operation is over with it: the slot is
 * let go before the client can know. A fenced slot stays as it is, and the answer is dropped.
 */
int rtrs_server_resp_post(struct rtrs_server_op *op)
{
	struct rtrs_server_con *con = op->con;
	struct chain c = {};

	c.next = &c.first;
	if (op->path->lean)
		build_lean(&c, op);
	else
		build(&c, op);

	if (!rtrs_server_fence_leave(op))
		return 0;
	return rtrs_server_con_post(con, c.first, &c.last.wr, c.count);
}
