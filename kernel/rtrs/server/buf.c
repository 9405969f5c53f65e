// SPDX-License-Identifier: GPL-2.0
/*
 * DMA mappings and memory regions of a path, for the chunks of its session. Where rkeys change each
 * chunk is a region; else a region has as many chunks as the device takes and the queue depth can
 * be divided by.
 */
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include "fit.h"
#include "server.h"

/*
 * Whoever reads a chunk has synchronised what is to be read. Where the device has its data
 * elsewhere (swiotlb), that of this path must not come over a chunk that another path uses.
 */
static void chunk_unmap(struct ib_device *ib_dev, dma_addr_t dma)
{
	if (!ib_uses_virt_dma(ib_dev))
		dma_unmap_single_attrs(ib_dev->dma_device, dma, rtrs_server_geo.chunk_size,
				       DMA_BIDIRECTIONAL, DMA_ATTR_SKIP_CPU_SYNC);
}

static int map_chunks(struct rtrs_server_path *path)
{
	struct ib_device *ib_dev = path->dev->ib_dev;
	u32 depth = rtrs_server_geo.queue_depth;
	u32 i;

	path->dma = kvcalloc(depth, sizeof(path->dma[0]), GFP_KERNEL);
	if (!path->dma)
		return -ENOMEM;
	for (i = 0; i < depth; i++) {
		dma_addr_t dma = ib_dma_map_single(ib_dev, rtrs_server_chunk(path, i),
						   rtrs_server_geo.chunk_size, DMA_BIDIRECTIONAL);

		if (ib_dma_mapping_error(ib_dev, dma))
			goto fail;
		path->dma[i] = dma;
	}
	return 0;
fail:
	while (i--)
		chunk_unmap(ib_dev, path->dma[i]);
	kvfree(path->dma);
	path->dma = NULL;
	return -ENOMEM;
}

static void unmap_chunks(struct rtrs_server_path *path)
{
	u32 i;

	if (!path->dma)
		return;
	for (i = 0; i < rtrs_server_geo.queue_depth; i++)
		chunk_unmap(path->dev->ib_dev, path->dma[i]);
	kvfree(path->dma);
	path->dma = NULL;
}

/* The device does not write to them. */
static int map_copies(struct rtrs_server_path *path)
{
	struct ib_device *ib_dev = path->dev->ib_dev;
	u32 i;

	for (i = 0; i < rtrs_server_geo.queue_depth && path->ops[i].copy; i++) {
		dma_addr_t dma = ib_dma_map_single(ib_dev, path->ops[i].copy, path->eager_bytes,
						   DMA_TO_DEVICE);

		if (ib_dma_mapping_error(ib_dev, dma))
			return -ENOMEM;
		path->ops[i].copy_dma = dma;
		path->copies++;
	}
	return 0;
}

static void unmap_copies(struct rtrs_server_path *path)
{
	for (; path->copies; path->copies--)
		ib_dma_unmap_single(path->dev->ib_dev, path->ops[path->copies - 1].copy_dma,
				    path->eager_bytes, DMA_TO_DEVICE);
}

/* The largest page of the device that every chunk starts at the border of. */
static u32 region_page_size(const struct rtrs_server_path *path)
{
	dma_addr_t bits = 0;
	u32 i;

	for (i = 0; i < rtrs_server_geo.queue_depth; i++)
		bits |= path->dma[i];
	return rtrs_fit_page(path->dev->ib_dev->attrs.page_size_cap, rtrs_server_geo.chunk_size,
			     bits);
}

/* Chunks of a region: all regions are equal, as clients divide the queue depth by their number. */
static u32 region_chunks(const struct rtrs_server_path *path, u32 pages_per_chunk)
{
	const struct ib_device_attr *attrs = &path->dev->ib_dev->attrs;
	u32 depth = rtrs_server_geo.queue_depth;
	u64 limit = attrs->max_fast_reg_page_list_len / pages_per_chunk;
	u32 regions;

	if (rtrs_server_new_rkey)
		return limit ? 1 : 0;
	limit = min(limit, attrs->max_mr_size / rtrs_server_geo.chunk_size);
	limit = min_t(u64, limit, U32_MAX / rtrs_server_geo.chunk_size);
	if (!limit)
		return 0;
	for (regions = DIV_ROUND_UP(depth, (u32)limit); depth % regions; regions++)
		;
	return depth / regions;
}

static int map_region(struct rtrs_server_path *path, u32 region, struct scatterlist *sgl,
		      u32 page_size)
{
	u32 chunk_size = rtrs_server_geo.chunk_size;
	u32 chunks = path->region_chunks;
	struct ib_mr *mr;
	u32 i;
	int n;

	mr = ib_alloc_mr(path->dev->pd, IB_MR_TYPE_MEM_REG, chunks * (chunk_size / page_size));
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	path->mr[region] = mr;

	/* Mapped already, each chunk in one piece. */
	sg_init_table(sgl, chunks);
	for (i = 0; i < chunks; i++) {
		struct scatterlist *sg = &sgl[i];
		u32 slot = region * chunks + i;

		sg_set_page(sg, path->session->chunk[slot], chunk_size, 0);
		sg_dma_address(sg) = path->dma[slot];
		sg_dma_len(sg) = chunk_size;
	}
	n = ib_map_mr_sg(mr, sgl, chunks, NULL, page_size);
	if (n == chunks)
		return 0;
	return n < 0 ? n : -EINVAL;
}

static int map_regions(struct rtrs_server_path *path)
{
	u32 page_size = region_page_size(path);
	struct scatterlist *sgl;
	int err = 0;
	u32 i;

	if (!page_size)
		return -EOPNOTSUPP;
	path->region_chunks = region_chunks(path, rtrs_server_geo.chunk_size / page_size);
	if (!path->region_chunks)
		return -EOPNOTSUPP;
	path->region_count = rtrs_server_geo.queue_depth / path->region_chunks;
	path->mr = kvcalloc(path->region_count, sizeof(path->mr[0]), GFP_KERNEL);
	sgl = kvcalloc(path->region_chunks, sizeof(*sgl), GFP_KERNEL);
	if (!path->mr || !sgl)
		err = -ENOMEM;
	for (i = 0; i < path->region_count && !err; i++)
		err = map_region(path, i, sgl, page_size);
	kvfree(sgl);
	return err;
}

/* On failure the caller unmaps. */
int rtrs_server_buf_map(struct rtrs_server_path *path)
{
	int err;

	err = map_chunks(path) ?: map_copies(path);
	if (err)
		return err;
	if (rtrs_server_new_rkey) {
		path->rkeys = rtrs_iu_alloc(path->dev, 1, rtrs_server_geo.queue_depth *
					    sizeof(struct rtrs_msg_rkey_rsp), DMA_TO_DEVICE, NULL);
		if (!path->rkeys)
			return -ENOMEM;
	}
	return map_regions(path);
}

/* Idempotent; the queue pairs are gone. */
void rtrs_server_buf_unmap(struct rtrs_server_path *path)
{
	u32 i;

	for (i = 0; path->mr && i < path->region_count; i++)
		if (path->mr[i])
			ib_dereg_mr(path->mr[i]);
	kvfree(path->mr);
	path->mr = NULL;
	rtrs_iu_free(path->dev, path->rkeys, 1);
	path->rkeys = NULL;
	unmap_copies(path);
	unmap_chunks(path);
}

/* Next key of the region, and the request that makes it valid. */
void rtrs_server_buf_reg_wr(struct ib_mr *mr, struct ib_reg_wr *wr)
{
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	wr->wr.opcode = IB_WR_REG_MR;
	wr->mr = mr;
	wr->key = mr->rkey;
	wr->access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
}
