// SPDX-License-Identifier: GPL-2.0
/*
 * Bounce buffers: a registration and its invalidation cost more than to copy a few KiB. So the
 * data of small reads comes to a buffer of the slot. All buffers are one region, registered when
 * the path logs in.
 *
 * The data of small writes is copied to the same buffer, as to wait for the completion of a send
 * costs more, too. The pages of a request are the user's again when it is done; the device may
 * read them until the send is acknowledged. A bounce buffer is ours: it stays mapped until the
 * queue pair is destroyed, so the device may read it at any time. The answer proves that the
 * server's device has taken the whole message. The slot may have other data in its buffer by the
 * time an acknowledgment gets lost and the message is sent again: the packets have sequence
 * numbers that the server's device has taken already, so it acknowledges them and drops their
 * payload. The same holds for the user message in ->buf.
 */
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include "client.h"
#include "fit.h"

/* More is registered, even where the server would copy it. */
#define BOUNCE_MAX	16384U

u32 rtrs_client_bounce_bytes(const struct rtrs_client_path *path)
{
	return round_up(min(path->eager_bytes, BOUNCE_MAX), RTRS_FIT_PAGE_MIN);
}

static int alloc_buffers(struct rtrs_client_path *path)
{
	u32 bytes = rtrs_client_bounce_bytes(path);

	if (path->bounce && path->bounce->size == bytes)
		return 0;
	rtrs_client_bounce_exit(path);
	if (bytes)
		path->bounce = rtrs_iu_alloc_unmapped(path->slots, bytes, DMA_BIDIRECTIONAL);
	return path->bounce || !bytes ? 0 : -ENOMEM;
}

static int map_region(struct rtrs_client_path *path, u32 count)
{
	u32 bytes = path->bounce->size, i;
	struct scatterlist *sgl;
	int n;

	sgl = kvcalloc(count, sizeof(*sgl), GFP_KERNEL);
	if (!sgl)
		return -ENOMEM;
	sg_init_table(sgl, count);
	for (i = 0; i < count; i++) {
		sg_set_buf(&sgl[i], path->bounce[i].buf, bytes);
		sg_dma_address(&sgl[i]) = path->bounce[i].dma;
		sg_dma_len(&sgl[i]) = bytes;
	}
	n = ib_map_mr_sg(path->bounce_mr, sgl, count, NULL, RTRS_FIT_PAGE_MIN);
	kvfree(sgl);
	return n == count ? 0 : -EINVAL;
}

int rtrs_client_bounce_init(struct rtrs_client_path *path)
{
	u32 pages, count;
	int err;

	path->bounce_slots = 0;
	err = alloc_buffers(path);
	if (err || !path->bounce)
		return err;
	err = rtrs_iu_map(path->dev, path->bounce, path->slots);
	if (err)
		return err;
	pages = path->bounce->size / RTRS_FIT_PAGE_MIN;
	count = min(path->slots, path->dev->ib_dev->attrs.max_fast_reg_page_list_len / pages);
	if (!count)
		return 0;
	path->bounce_mr = ib_alloc_mr(path->dev->pd, IB_MR_TYPE_MEM_REG, count * pages);
	if (IS_ERR(path->bounce_mr)) {
		err = PTR_ERR(path->bounce_mr);
		path->bounce_mr = NULL;
		return err;
	}
	err = map_region(path, count);
	if (!err)
		path->bounce_slots = count;
	return err;
}

bool rtrs_client_bounce_reg(struct rtrs_client_path *path, struct ib_reg_wr *wr)
{
	struct ib_mr *mr = path->bounce_mr;

	if (!path->bounce_slots)
		return false;
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	*wr = (struct ib_reg_wr){
		.wr.opcode = IB_WR_REG_MR,
		.wr.wr_cqe = &path->con[0]->reg_cqe,
		.mr = mr,
		.key = mr->rkey,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};
	return true;
}

void rtrs_client_bounce_release(struct rtrs_client_path *path)
{
	if (path->bounce_mr)
		ib_dereg_mr(path->bounce_mr);
	path->bounce_mr = NULL;
	rtrs_iu_unmap(path->dev, path->bounce, path->slots);
}

void rtrs_client_bounce_exit(struct rtrs_client_path *path)
{
	rtrs_iu_free(NULL, path->bounce, path->slots);
	path->bounce = NULL;
}

void rtrs_client_bounce_copy(struct rtrs_client_req *req, u32 slot)
{
	const struct rtrs_client_path *path = req->con->path;
	const struct rtrs_iu *iu = &path->bounce[slot];
	u32 len = req->bytes - req->usr_len;

	/* Where the path has left its device it is the CPU's already. */
	if (iu->mapped)
		ib_dma_sync_single_for_cpu(path->dev->ib_dev, iu->dma, len, iu->dir);
	sg_copy_from_buffer(req->sgl, req->sg_count, iu->buf, len);
}

int rtrs_client_bounce_fill(const struct rtrs_client_path *path,
			    const struct rtrs_client_request *rq, struct ib_sge *sge)
{
	const struct rtrs_iu *iu = &path->bounce[rq->slot];

	ib_dma_sync_single_for_cpu(path->dev->ib_dev, iu->dma, rq->data_len, iu->dir);
	if (sg_copy_to_buffer(rq->sgl, rq->sg_count, iu->buf, rq->data_len) != rq->data_len)
		return -EINVAL;
	ib_dma_sync_single_for_device(path->dev->ib_dev, iu->dma, rq->data_len, iu->dir);
	sge->addr = iu->dma;
	sge->length = rq->data_len;
	sge->lkey = path->dev->pd->local_dma_lkey;
	return 0;
}
