// SPDX-License-Identifier: GPL-2.0
/* Memory regions and DMA mappings of the data of requests. */
#include "client.h"
#include "fit.h"

#define PAGE_BYTES	RTRS_FIT_PAGE_MIN

/* A region has room for the largest payload at any offset in a page: one page more. */
int rtrs_client_mr_limits(struct rtrs_client_path *path)
{
	const struct ib_device_attr *attrs = &path->dev->ib_dev->attrs;
	u64 pages = DIV_ROUND_UP(path->geo.max_io_size, PAGE_BYTES) + 1;

	if (!(attrs->page_size_cap & PAGE_BYTES))
		return -EOPNOTSUPP;
	pages = min_t(u64, pages, attrs->max_fast_reg_page_list_len);
	pages = min_t(u64, pages, attrs->max_mr_size / PAGE_BYTES);
	if (pages < 2)
		return -EOPNOTSUPP;
	path->max_segments = pages;
	path->max_io_size = min_t(u64, path->geo.max_io_size, (pages - 1) * PAGE_BYTES);
	return 0;
}

struct ib_mr *rtrs_client_mr_alloc(struct rtrs_client_path *path)
{
	return ib_alloc_mr(path->dev->pd, IB_MR_TYPE_MEM_REG, path->max_segments);
}

static enum dma_data_direction req_dma_dir(const struct rtrs_client_req *req)
{
	return req->is_read ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
}

int rtrs_client_mr_map_data(struct rtrs_client_req *req, const struct rtrs_client_request *rq)
{
	struct ib_device *ib_dev = req->con->path->dev->ib_dev;

	req->mapped = ib_dma_map_sg(ib_dev, rq->sgl, rq->sg_count, req_dma_dir(req));
	if (!req->mapped)
		return -ENOMEM;
	req->sgl = rq->sgl;
	return 0;
}

void rtrs_client_mr_release_data(struct rtrs_client_req *req)
{
	if (req->sgl && req->mapped)
		ib_dma_unmap_sg(req->con->path->dev->ib_dev, req->sgl, req->sg_count,
				req_dma_dir(req));
	req->mapped = 0;
}

void rtrs_client_mr_unmap_data(struct rtrs_client_req *req)
{
	rtrs_client_mr_release_data(req);
	req->sgl = NULL;
}

int rtrs_client_mr_prepare(struct rtrs_client_req *req, u32 data_len, struct ib_reg_wr *wr)
{
	struct ib_mr *mr = req->mr;
	int n;

	n = ib_map_mr_sg(mr, req->sgl, req->mapped, NULL, PAGE_BYTES);
	if (n < 0)
		return n;
	if (n != req->mapped || mr->length != data_len)
		return -EINVAL;
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	*wr = (struct ib_reg_wr){
		.wr.opcode = IB_WR_REG_MR,
		.wr.wr_cqe = &req->con->reg_cqe,
		.mr = mr,
		.key = mr->rkey,
		.access = IB_ACCESS_LOCAL_WRITE | (req->is_read ? IB_ACCESS_REMOTE_WRITE : 0),
	};
	req->registered = true;
	return 0;
}

/* Uses a send queue entry that the request holds. */
int rtrs_client_mr_invalidate(struct rtrs_client_req *req)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.wr_cqe = &req->inval_cqe,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = req->mr->rkey,
	};

	return ib_post_send(req->con->c.qp, &wr, NULL);
}
