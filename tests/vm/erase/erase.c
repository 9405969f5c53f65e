// SPDX-License-Identifier: GPL-2.0
/*
 * "erase": a device-mapper target that keeps its sectors in memory and can be erased. Of an
 * erased sector each byte is 0xe5, of a discarded one 0xd1, so that neither can be taken for
 * the other, or for zeroes. Its status is the number of secure erases and of their sectors.
 */
#include <linux/atomic.h>
#include <linux/bio.h>
#include <linux/device-mapper.h>
#include <linux/highmem.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#define ERASED		0xe5
#define DISCARDED	0xd1
#define SECTORS_MAX	4096	/* of one erase, of one discard */

struct erase {
	u8 *data;
	atomic_t count;
	atomic64_t sectors;
};

static int erase_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct erase *e = kzalloc(sizeof(*e), GFP_KERNEL);

	if (e)
		e->data = vzalloc(ti->len << SECTOR_SHIFT);
	if (!e || !e->data) {
		kfree(e);
		return -ENOMEM;
	}
	ti->private = e;
	ti->num_discard_bios = 1;
	ti->discards_supported = true;
	ti->num_secure_erase_bios = 1;
	return 0;
}

static void erase_dtr(struct dm_target *ti)
{
	struct erase *e = ti->private;

	vfree(e->data);
	kfree(e);
}

static void copy(u8 *data, struct bio *bio)
{
	struct bvec_iter iter;
	struct bio_vec bv;

	bio_for_each_segment(bv, bio, iter) {
		if (bio_data_dir(bio) == WRITE)
			memcpy_from_bvec(data, &bv);
		else
			memcpy_to_bvec(&bv, data);
		data += bv.bv_len;
	}
}

static int erase_map(struct dm_target *ti, struct bio *bio)
{
	sector_t sector = dm_target_offset(ti, bio->bi_iter.bi_sector);
	struct erase *e = ti->private;
	u8 *data = e->data + (sector << SECTOR_SHIFT);

	switch (bio_op(bio)) {
	case REQ_OP_READ:
	case REQ_OP_WRITE:
		copy(data, bio);
		break;
	case REQ_OP_DISCARD:
		memset(data, DISCARDED, bio->bi_iter.bi_size);
		break;
	case REQ_OP_SECURE_ERASE:
		memset(data, ERASED, bio->bi_iter.bi_size);
		atomic_inc(&e->count);
		atomic64_add(bio_sectors(bio), &e->sectors);
		break;
	default:
		return DM_MAPIO_KILL;
	}
	bio_endio(bio);
	return DM_MAPIO_SUBMITTED;
}

static void erase_status(struct dm_target *ti, status_type_t type, unsigned int flags, char *result,
			 unsigned int size)
{
	struct erase *e = ti->private;

	result[0] = '\0';
	if (type == STATUSTYPE_INFO)
		scnprintf(result, size, "%d %lld", atomic_read(&e->count),
			  (long long)atomic64_read(&e->sectors));
}

/* No device behind it could forbid anything. */
static int erase_devices(struct dm_target *ti, iterate_devices_callout_fn fn, void *data)
{
	return 0;
}

static void erase_limits(struct dm_target *ti, struct queue_limits *limits)
{
	limits->max_discard_sectors = SECTORS_MAX;
	limits->max_hw_discard_sectors = SECTORS_MAX;
	limits->discard_granularity = SECTOR_SIZE;
	limits->max_secure_erase_sectors = SECTORS_MAX;
}

static struct target_type erase_target = {
	.name			= "erase",
	.version		= { 1, 0, 0 },
	.module			= THIS_MODULE,
	.ctr			= erase_ctr,
	.dtr			= erase_dtr,
	.map			= erase_map,
	.status			= erase_status,
	.iterate_devices	= erase_devices,
	.io_hints		= erase_limits,
};

static int __init erase_init(void)
{
	return dm_register_target(&erase_target);
}

static void __exit erase_exit(void)
{
	dm_unregister_target(&erase_target);
}

module_init(erase_init);
module_exit(erase_exit);

MODULE_DESCRIPTION("A device that can be erased");
MODULE_LICENSE("GPL");
