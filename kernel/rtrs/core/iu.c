// SPDX-License-Identifier: GPL-2.0
/* Buffers for messages, mapped for DMA. */
#include <linux/export.h>
#include <linux/slab.h>
#include "core.h"

void rtrs_iu_unmap(struct rtrs_dev *dev, struct rtrs_iu *iu, u32 count)
{
	u32 i;

	for (i = 0; iu && i < count; i++) {
		if (!iu[i].mapped)
			continue;
		ib_dma_unmap_single(dev->ib_dev, iu[i].dma, iu[i].size, iu[i].dir);
		iu[i].mapped = false;
	}
}
EXPORT_SYMBOL_GPL(rtrs_iu_unmap);

void rtrs_iu_free(struct rtrs_dev *dev, struct rtrs_iu *iu, u32 count)
{
	u32 i;

	if (!iu)
		return;
	rtrs_iu_unmap(dev, iu, count);
	for (i = 0; i < count; i++)
		kfree(iu[i].buf);
	kvfree(iu);
}
EXPORT_SYMBOL_GPL(rtrs_iu_free);

int rtrs_iu_map(struct rtrs_dev *dev, struct rtrs_iu *iu, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		iu[i].dma = ib_dma_map_single(dev->ib_dev, iu[i].buf, iu[i].size, iu[i].dir);
		if (ib_dma_mapping_error(dev->ib_dev, iu[i].dma))
			return -ENOMEM;
		iu[i].mapped = true;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_iu_map);

struct rtrs_iu *rtrs_iu_alloc_unmapped(u32 count, size_t size, enum dma_data_direction dir)
{
	struct rtrs_iu *iu = kvcalloc(count, sizeof(*iu), GFP_KERNEL);
	u32 i;

	for (i = 0; iu && i < count; i++) {
		iu[i].size = size;
		iu[i].dir = dir;
		iu[i].buf = kzalloc(size, GFP_KERNEL);
		if (!iu[i].buf) {
			rtrs_iu_free(NULL, iu, count);
			return NULL;
		}
	}
	return iu;
}
EXPORT_SYMBOL_GPL(rtrs_iu_alloc_unmapped);

struct rtrs_iu *rtrs_iu_alloc(struct rtrs_dev *dev, u32 count, size_t size,
			      enum dma_data_direction dir, rtrs_done_fn done)
{
	struct rtrs_iu *iu = rtrs_iu_alloc_unmapped(count, size, dir);
	u32 i;

	for (i = 0; iu && i < count; i++)
		iu[i].cqe.done = done;
	if (!iu || !rtrs_iu_map(dev, iu, count))
		return iu;
	rtrs_iu_free(dev, iu, count);
	return NULL;
}
EXPORT_SYMBOL_GPL(rtrs_iu_alloc);
