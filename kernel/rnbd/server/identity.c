// SPDX-License-Identifier: GPL-2.0
/*
 * What names a disk, or a file, for ever: numbers of block devices and names of disks come to
 * others. Taken from the files that the kernel shows of a disk, as they are the same for all
 * drivers; sent and kept as a hash.
 */
#include <linux/fs.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include "server.h"

#define TEXT_SIZE	(PAGE_SIZE + 256)	/* a file of sysfs, and what is put around it */

/* Best first. A disk of device mapper that has no UUID has at least a name. */
static const struct {
	const char *file;
	bool weak;
} sources[] = {
	{ "dm/uuid" },
	{ "wwid" },
	{ "device/wwid" },
	{ "serial" },
	{ "md/uuid" },
	{ "loop/backing_file" },
	{ "dm/name", true },
};

/* Any two keys, the same for ever. */
static const siphash_key_t keys[] = {
	{ { 0x726e62642d646973ULL, 0x6b206964656e7469ULL } },
	{ { 0x74792c2066697273ULL, 0x742068616c660000ULL } },
};

static void hash(const void *text, size_t len, u8 *out)
{
	unsigned int i;

	BUILD_BUG_ON(ARRAY_SIZE(keys) * sizeof(u64) != RNBD_IDENTITY_LEN);
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		rnbd_put_le64(out + i * sizeof(u64), siphash(text, len, &keys[i]));
}

/* Bytes of its text, without white space at the end. None where it cannot be read. */
static size_t read_text(const char *path, char *buf, size_t size)
{
	struct file *file = filp_open(path, O_RDONLY, 0);
	loff_t pos = 0;
	ssize_t n;

	if (IS_ERR(file))
		return 0;
	n = kernel_read(file, buf, size, &pos);
	filp_close(file, NULL);
	while (n > 0 && isspace(buf[n - 1]))
		n--;
	return max_t(ssize_t, n, 0);
}

static size_t read_disk(const struct gendisk *disk, const char *file, char *buf, size_t size)
{
	dev_t devt = disk_devt((struct gendisk *)disk);
	char path[64];

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s", MAJOR(devt), MINOR(devt), file);
	return read_text(path, buf, size);
}

/* "file=what it says", of the first that says anything. */
static size_t name_disk(const struct gendisk *disk, char *buf, bool *weak)
{
	unsigned int i;
	size_t len, n;

	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		len = sprintf(buf, "%s=", sources[i].file);
		n = read_disk(disk, sources[i].file, buf + len, PAGE_SIZE);
		*weak = sources[i].weak;
		if (n)
			return len + n;
	}
	*weak = true;
	return sprintf(buf, "name=%s", disk->disk_name);
}

/* Which piece of that disk, or of that file. */
static size_t name_part(struct block_device *bdev, char *buf)
{
	const struct partition_meta_info *meta = bdev->bd_meta_info;
	size_t len;

	if (bdev_is_partition(bdev) && meta && meta->uuid[0])
		return sprintf(buf, " part=%s", meta->uuid);
	if (bdev_is_partition(bdev))
		return sprintf(buf, " start=%llu", (u64)get_start_sect(bdev));
	len = sprintf(buf, " offset=");
	return len + read_disk(bdev->bd_disk, "loop/offset", buf + len, 32);
}

/* The inode numbers of a file system that has no UUID are those of its mount. */
static size_t name_file(const struct inode *inode, char *buf, bool *weak)
{
	const struct super_block *sb = inode->i_sb;

	*weak = uuid_is_null(&sb->s_uuid);
	if (*weak)
		return sprintf(buf, "file=%u:%u %lu %u", MAJOR(sb->s_dev), MINOR(sb->s_dev),
			       inode->i_ino, inode->i_generation);
	return sprintf(buf, "file=%pUb %lu %u", &sb->s_uuid, inode->i_ino, inode->i_generation);
}

static u32 diskseq_of(const struct rnbd_server_dev *dev)
{
	const struct block_device *bdev = dev->bdev ?: file_inode(dev->file)->i_sb->s_bdev;

	return bdev ? bdev->bd_disk->diskseq : 0;
}

int rnbd_server_identify(const struct rnbd_server_dev *dev, struct rnbd_server_identity *id)
{
	char *text = kmalloc(TEXT_SIZE, GFP_KERNEL);
	size_t len;

	if (!text)
		return -ENOMEM;
	if (dev->bdev) {
		len = name_disk(dev->bdev->bd_disk, text, &id->weak);
		len += name_part(dev->bdev, text + len);
	} else {
		len = name_file(file_inode(dev->file), text, &id->weak);
	}
	hash(text, len, id->hash);
	id->diskseq = diskseq_of(dev);
	kfree(text);
	return 0;
}

/* The same as long as the host is up, however often the module is loaded. */
u32 rnbd_server_boot(void)
{
	static u32 boot;
	u8 out[RNBD_IDENTITY_LEN];
	char text[64];
	size_t len;

	if (READ_ONCE(boot))
		return boot;
	len = read_text("/proc/sys/kernel/random/boot_id", text, sizeof(text));
	if (!len)
		return 0;
	hash(text, len, out);
	WRITE_ONCE(boot, rnbd_get_le32(out) ?: 1);
	return boot;
}
