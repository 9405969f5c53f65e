// SPDX-License-Identifier: GPL-2.0
/*
 * DMA mappings and memory regions of a path, for the chunks of its session. Where rkeys change or
 * chunks come with grants each chunk is a region; else a region has as many chunks as the device
 * takes and the queue depth can be divided by.
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

/* Up to @count; on failure fewer. */
static int map_chunks(struct rtrs_server_path *path, u32 count)
{
	struct ib_device *ib_dev = path->dev->ib_dev;

	for (; path->mapped < count; path->mapped++) {
		dma_addr_t dma = ib_dma_map_single(ib_dev, rtrs_server_chunk(path, path->mapped),
						   rtrs_server_geo.chunk_size, DMA_BIDIRECTIONAL);

		if (ib_dma_mapping_error(ib_dev, dma))
			return -ENOMEM;
		path->dma[path->mapped] = dma;
	}
	return 0;
}

static void unmap_chunks(struct rtrs_server_path *path, u32 count)
{
	while (path->mapped > count)
		chunk_unmap(path->dev->ib_dev, path->dma[--path->mapped]);
}

/* The device does not write to them. */
static int map_copies(struct rtrs_server_path *path, u32 count)
{
	struct ib_device *ib_dev = path->dev->ib_dev;

	for (; path->copies < count && path->ops[path->copies].copy; path->copies++) {
		struct rtrs_server_op *op = &path->ops[path->copies];
		dma_addr_t dma = ib_dma_map_single(ib_dev, op->copy, path->eager_bytes,
						   DMA_TO_DEVICE);

		if (ib_dma_mapping_error(ib_dev, dma))
			return -ENOMEM;
		op->copy_dma = dma;
	}
	return 0;
}

static void unmap_copies(struct rtrs_server_path *path, u32 count)
{
	while (path->copies > count)
		ib_dma_unmap_single(path->dev->ib_dev, path->ops[--path->copies].copy_dma,
				    path->eager_bytes, DMA_TO_DEVICE);
}

/*
 * The largest page of the device that every chunk starts at the border of. Those that come with a
 * grant are likely to, as the allocator and an IOMMU align pieces to their size.
 */
static u32 region_page_size(const struct rtrs_server_path *path)
{
	dma_addr_t bits = 0;
	u32 i;

	for (i = 0; i < path->mapped; i++)
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

	if (rtrs_server_new_rkey || path->grants)
		return limit ? 1 : 0;
	limit = min(limit, attrs->max_mr_size / rtrs_server_geo.chunk_size);
	limit = min_t(u64, limit, U32_MAX / rtrs_server_geo.chunk_size);
	if (!limit)
		return 0;
	for (regions = DIV_ROUND_UP(depth, (u32)limit); depth % regions; regions++)
		;
	return depth / regions;
}

/* Where chunks come with grants the client is told the address before there is one. */
static void region_place(const struct rtrs_server_path *path, u32 region)
{
	if (path->grants)
		path->mr[region]->iova = (region + 1ULL) * rtrs_server_geo.chunk_size;
}

static int region_fill(struct rtrs_server_path *path, u32 region, struct scatterlist *sgl)
{
	u32 chunk_size = rtrs_server_geo.chunk_size;
	struct ib_mr *mr = path->mr[region];
	u32 chunks = path->region_chunks;
	u32 i;
	int n;

	/* Mapped already, each chunk in one piece. */
	sg_init_table(sgl, chunks);
	for (i = 0; i < chunks; i++) {
		struct scatterlist *sg = &sgl[i];
		u32 slot = region * chunks + i;

		sg_set_page(sg, path->session->chunk[slot], chunk_size, 0);
		sg_dma_address(sg) = path->dma[slot];
		sg_dma_len(sg) = chunk_size;
	}
	n = ib_map_mr_sg(mr, sgl, chunks, NULL, path->page_size);
	region_place(path, region);
	if (n == chunks)
		return 0;
	return n < 0 ? n : -EINVAL;
}

/* So that as many of the first chunks of the session can be registered. What fails is left. */
int rtrs_server_buf_fill(struct rtrs_server_path *path, u32 count)
{
	u32 regions = count / path->region_chunks;
	struct scatterlist *sgl;
	int err;

	err = map_chunks(path, count) ?: rtrs_server_copies_alloc(path, count);
	err = err ?: map_copies(path, count);
	if (err)
		return err;
	sgl = kvcalloc(path->region_chunks, sizeof(*sgl), GFP_KERNEL);
	if (!sgl)
		return -ENOMEM;
	while (path->filled < regions && !err) {
		err = region_fill(path, path->filled, sgl);
		path->filled += !err;
	}
	kvfree(sgl);
	return err;
}

/* None but the first @count are registered any more, or used. */
void rtrs_server_buf_empty(struct rtrs_server_path *path, u32 count)
{
	path->filled = min(path->filled, count / path->region_chunks);
	unmap_copies(path, count);
	rtrs_server_copies_free(path, count);
	unmap_chunks(path, count);
}

static int alloc_regions(struct rtrs_server_path *path)
{
	u32 i, pages;

	path->page_size = region_page_size(path);
	if (!path->page_size)
		return -EOPNOTSUPP;
	pages = rtrs_server_geo.chunk_size / path->page_size;
	path->region_chunks = region_chunks(path, pages);
	if (!path->region_chunks)
		return -EOPNOTSUPP;
	path->region_count = rtrs_server_geo.queue_depth / path->region_chunks;
	path->mr = kvcalloc(path->region_count, sizeof(path->mr[0]), GFP_KERNEL);
	if (!path->mr)
		return -ENOMEM;
	for (i = 0; i < path->region_count; i++) {
		struct ib_mr *mr = ib_alloc_mr(path->dev->pd, IB_MR_TYPE_MEM_REG,
					       path->region_chunks * pages);

		if (IS_ERR(mr))
			return PTR_ERR(mr);
		path->mr[i] = mr;
		rtrs_server_buf_next_key(mr);
		region_place(path, i);
	}
	return 0;
}

/* Of @count chunks. On failure the caller unmaps. */
int rtrs_server_buf_map(struct rtrs_server_path *path, u32 count)
{
	int err;

	path->dma = kvcalloc(rtrs_server_geo.queue_depth, sizeof(path->dma[0]), GFP_KERNEL);
	if (!path->dma)
		return -ENOMEM;
	err = map_chunks(path, count);
	if (err)
		return err;
	if (rtrs_server_new_rkey) {
		path->rkeys = rtrs_iu_alloc(path->dev, 1, rtrs_server_geo.queue_depth *
					    sizeof(struct rtrs_msg_rkey_rsp), DMA_TO_DEVICE, NULL);
		if (!path->rkeys)
			return -ENOMEM;
	}
	return alloc_regions(path) ?: rtrs_server_buf_fill(path, count);
}

/* Idempotent; the queue pairs are gone. Operations may go on, with chunks and copies. */
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
	unmap_copies(path, 0);
	unmap_chunks(path, 0);
	kvfree(path->dma);
	path->dma = NULL;
}

void rtrs_server_buf_next_key(struct ib_mr *mr)
{
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
}

/* The request that makes the key of the region valid. */
void rtrs_server_buf_reg_wr(struct ib_mr *mr, struct ib_reg_wr *wr)
{
	wr->wr.opcode = IB_WR_REG_MR;
	wr->mr = mr;
	wr->key = mr->rkey;
	wr->access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
}
