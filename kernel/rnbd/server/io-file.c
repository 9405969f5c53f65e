// SPDX-License-Identifier: GPL-2.0
/*
 * I/O on files: regular files of this host, and block devices whose clients want the page cache
 * (fileio). A request is one kiocb, its data the chunk of the request.
 *
 * With fileio reads go through the page cache and each write is on the medium before it is
 * answered. With blockio, of regular files, all I/O is direct and clients flush.
 *
 * What might not have to wait is tried at once, in the context of the transport. All else is done
 * by workers of the disk, many at a time. Flushes have a worker of their own, which does all that
 * have come with one, and so have discards and their like. Client and server may be one host: no
 * worker waits for memory that is to be written to our clients' disks, nor for those who dirty it.
 */
#include <linux/falloc.h>
#include <linux/mempool.h>
#include <linux/mount.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/stat.h>
#include <linux/uio.h>
#include "io.h"
#include "prio.h"

#define IO_MIN		64		/* requests that find memory always */
#define DISCARD_MAX	(SZ_1G >> SECTOR_SHIFT)
#define ZEROES_MAX	(SZ_64M >> SECTOR_SHIFT)	/* they may have to be written */
#define ZERO_PAGES	16		/* written at once */
#define PF_OURS		(PF_MEMALLOC_NOIO | PF_LOCAL_THROTTLE)

/**
 * struct rnbd_server_file_io - an operation on a file
 * @iocb: of the file
 * @data: of a read or a write
 * @dev: held by its inflight counter
 * @op: to be answered
 * @late: in the list of a worker of flushes or discards
 * @work: reads or writes it
 * @pos: where it begins
 * @bytes: of the whole
 * @done: bytes of it that are done
 * @what: enum rnbd_op
 * @flags: RNBD_F_*
 * @prio: its priority
 * @protected: the file system is kept from being frozen
 */
struct rnbd_server_file_io {
	struct kiocb iocb;
	struct bio_vec data;
	struct rnbd_server_dev *dev;
	struct rtrs_server_op *op;
	struct llist_node late;
	struct work_struct work;
	loff_t pos;
	u32 bytes;
	u32 done;
	u8 what;
	u32 flags;
	u16 prio;
	bool protected;
};

static struct kmem_cache *io_cache;
static mempool_t *io_pool;

static bool is_buffered(const struct rnbd_server_dev *dev)
{
	return dev->io_mode == RNBD_IO_FILE;
}

/* Clients know few errors, and some mean something else to them. */
static int error_of(ssize_t err)
{
	switch (err) {
	case 0:
	case -ENOSPC:
	case -EOPNOTSUPP:
	case -EROFS:
		return err;
	case -EDQUOT:
		return -ENOSPC;
	}
	return -EIO;
}

static void finish(struct rnbd_server_file_io *io, ssize_t err)
{
	struct rnbd_server_dev *dev = io->dev;
	struct rtrs_server_op *op = io->op;

	mempool_free(io, io_pool);
	rnbd_server_io_end(dev, op, error_of(err));
}

/* Any context. */
static void complete_io(struct kiocb *iocb, long ret)
{
	struct rnbd_server_file_io *io = container_of(iocb, struct rnbd_server_file_io, iocb);
	bool tried = iocb->ki_flags & IOCB_NOWAIT;

	if (io->protected)
		kiocb_end_write(iocb);
	io->protected = false;
	if (ret > 0)
		io->done += ret;
	/* It would have had to wait, or is not all. A file that was cut ends early. */
	if ((ret < 0 && tried) || (ret > 0 && io->done < io->bytes))
		queue_work(io->dev->export->submit_wq, &io->work);
	else
		finish(io, ret > 0 ? 0 : ret ?: -EIO);
}

/* Only files of file systems: a node of a device may lie on one that is frozen. */
static bool protect(struct rnbd_server_file_io *io, bool wait)
{
	struct inode *inode = file_inode(io->iocb.ki_filp);

	if (io->what != RNBD_OP_WRITE || !S_ISREG(inode->i_mode))
		return true;
	if (wait) {
		kiocb_start_write(&io->iocb);
	} else {
		if (!sb_start_write_trylock(inode->i_sb))
			return false;
		__sb_writers_release(inode->i_sb, SB_FREEZE_WRITE);	/* as kiocb_start_write() */
	}
	io->protected = true;
	return true;
}

static ssize_t start(struct rnbd_server_file_io *io, bool wait)
{
	struct file *file = io->dev->file;
	bool write = io->what == RNBD_OP_WRITE;
	struct iov_iter iter;

	io->iocb = (struct kiocb){
		.ki_filp	= file,
		.ki_pos		= io->pos + io->done,
		.ki_complete	= complete_io,
		.ki_flags	= file->f_iocb_flags | (wait ? 0 : IOCB_NOWAIT),
		.ki_ioprio	= io->prio,
	};
	if (write && (is_buffered(io->dev) || io->flags & RNBD_F_FUA))
		io->iocb.ki_flags |= IOCB_DSYNC;
	if (!protect(io, wait))
		return -EAGAIN;
	iov_iter_bvec(&iter, write ? ITER_SOURCE : ITER_DEST, &io->data, 1, io->bytes);
	iov_iter_advance(&iter, io->done);
	return write ? file->f_op->write_iter(&io->iocb, &iter) :
		       file->f_op->read_iter(&io->iocb, &iter);
}

static void run(struct rnbd_server_file_io *io, bool wait)
{
	const unsigned int flags = current->flags;
	ssize_t ret;

	current->flags |= PF_OURS;
	ret = start(io, wait);
	current_restore_flags(flags, PF_OURS);
	if (ret != -EIOCBQUEUED)
		complete_io(&io->iocb, ret);
}

static void run_work(struct work_struct *work)
{
	run(container_of(work, struct rnbd_server_file_io, work), true);
}

/* One for all that have come: what they wait for was written before. */
static void flush_work_fn(struct work_struct *work)
{
	struct rnbd_server_dev *dev = container_of(work, struct rnbd_server_dev, flushes.work);
	struct llist_node *first = llist_reverse_order(llist_del_all(&dev->flushes.list));
	const unsigned int flags = current->flags;
	struct rnbd_server_file_io *io, *next;
	int err;

	if (!first)
		return;
	current->flags |= PF_OURS;
	err = vfs_fsync_range(dev->file, 0, LLONG_MAX, 1);
	current_restore_flags(flags, PF_OURS);
	llist_for_each_entry_safe(io, next, first, late) {
		if (err || !io->bytes)
			finish(io, err);
		else
			queue_work(dev->export->submit_wq, &io->work);
	}
}

static int write_zeroes(struct file *file, loff_t pos, u32 bytes)
{
	struct bio_vec zeroes[ZERO_PAGES];
	struct iov_iter iter;
	struct kiocb iocb;
	ssize_t ret;
	u32 n;

	for (n = 0; n < ZERO_PAGES; n++)
		zeroes[n] = (struct bio_vec){ .bv_page = ZERO_PAGE(0), .bv_len = PAGE_SIZE };
	for (; bytes; bytes -= ret) {
		iov_iter_bvec(&iter, ITER_SOURCE, zeroes, ZERO_PAGES,
			      min_t(u32, bytes, ZERO_PAGES * PAGE_SIZE));
		init_sync_kiocb(&iocb, file);
		iocb.ki_pos = pos;
		file_start_write(file);
		ret = file->f_op->write_iter(&iocb, &iter);
		file_end_write(file);
		if (ret <= 0)
			return ret ?: -EIO;
		pos += ret;
	}
	return 0;
}

/* What a file system cannot do without writing is written. */
static int zero(const struct rnbd_server_file_io *io)
{
	struct rnbd_server_dev *dev = io->dev;
	struct file *file = dev->file;
	bool unmap = !dev->bdev && !(io->flags & RNBD_F_NOUNMAP);
	int err = -EOPNOTSUPP;

	if (file->f_op->fallocate && unmap)
		err = vfs_fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, io->pos,
				    io->bytes);
	if (file->f_op->fallocate && err)
		err = vfs_fallocate(file, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, io->pos,
				    io->bytes);
	if (err)
		err = write_zeroes(file, io->pos, io->bytes);
	if (!err && is_buffered(dev))
		err = vfs_fsync_range(file, io->pos, io->pos + io->bytes - 1, 1);
	return err;
}

static int discard(const struct rnbd_server_file_io *io)
{
	struct rnbd_server_dev *dev = io->dev;
	int err = vfs_fallocate(dev->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, io->pos,
				io->bytes);

	if (err == -EOPNOTSUPP)
		WRITE_ONCE(dev->no_discard, true);
	return err;
}

static void discard_work_fn(struct work_struct *work)
{
	struct rnbd_server_dev *dev = container_of(work, struct rnbd_server_dev, discards.work);
	struct llist_node *first = llist_reverse_order(llist_del_all(&dev->discards.list));
	const unsigned int flags = current->flags;
	struct rnbd_server_file_io *io, *next;

	current->flags |= PF_OURS;
	llist_for_each_entry_safe(io, next, first, late)
		finish(io, io->what == RNBD_OP_DISCARD ? discard(io) : zero(io));
	current_restore_flags(flags, PF_OURS);
}

static bool can_discard(const struct rnbd_server_dev *dev)
{
	return !dev->bdev && dev->file->f_op->fallocate && !READ_ONCE(dev->no_discard);
}

static int check(const struct rnbd_server_dev *dev, const struct rnbd_io *msg)
{
	if (msg->op == RNBD_OP_SECURE_ERASE || (msg->op == RNBD_OP_DISCARD && !can_discard(dev)))
		return -EOPNOTSUPP;
	return rnbd_server_io_check(dev, msg, rnbd_server_sectors(dev), dev->block,
				    dev->bdev && bdev_read_only(dev->bdev));
}

static bool may_not_wait(const struct rnbd_server_file_io *io)
{
	return io->dev->file->f_mode & FMODE_NOWAIT &&
	       (io->what == RNBD_OP_READ || !is_buffered(io->dev));
}

int rnbd_server_file_io(struct rnbd_server_dev *dev, const struct rnbd_io *msg,
			const struct rtrs_server_request *req)
{
	bool flush = rnbd_server_is_flush(msg) || msg->flags & RNBD_F_PREFLUSH;
	struct rnbd_server_file_io *io;
	int err = check(dev, msg);

	/* Of what is written through there is nothing to flush. */
	if (err || (is_buffered(dev) && rnbd_server_is_flush(msg)))
		return err;
	io = mempool_alloc(io_pool, GFP_NOIO);	/* waits, but does not fail */
	io->dev = dev;
	io->op = req->op;
	INIT_WORK(&io->work, run_work);
	io->pos = msg->sector << SECTOR_SHIFT;
	io->bytes = msg->bytes;
	io->done = 0;
	io->what = msg->op;
	io->flags = msg->flags;
	io->prio = rnbd_server_prio(msg->prio);
	io->protected = false;
	if (req->data_len)
		io->data = (struct bio_vec){
			.bv_page	= virt_to_page(req->data),
			.bv_len		= req->data_len,
			.bv_offset	= offset_in_page(req->data),
		};
	trace_rnbd_server_io(dev, req->op, msg);
	if (flush && !is_buffered(dev))
		rnbd_server_io_later(dev, &io->late, &dev->flushes);
	else if (io->what != RNBD_OP_READ && io->what != RNBD_OP_WRITE)
		rnbd_server_io_later(dev, &io->late, &dev->discards);
	else if (may_not_wait(io))
		run(io, false);
	else
		queue_work(dev->export->submit_wq, &io->work);
	return -EIOCBQUEUED;
}

/* Of the addresses of direct I/O; -EINVAL: there is none. */
static int direct_block(const struct file *file, u32 *block)
{
	const struct super_block *sb = file_inode(file)->i_sb;
	struct kstat stat;
	int err;

	err = vfs_getattr(&file->f_path, &stat, STATX_DIOALIGN, AT_STATX_SYNC_AS_STAT);
	if (err)
		return err;
	if (stat.result_mask & STATX_DIOALIGN)
		*block = stat.dio_offset_align;
	else if (sb->s_bdev)
		*block = bdev_logical_block_size(sb->s_bdev);
	if (!is_power_of_2(*block))
		return -EINVAL;
	*block = max_t(u32, *block, SECTOR_SIZE);
	return 0;
}

int rnbd_server_file_open(struct rnbd_server_dev *dev, const struct path *path)
{
	int flags = O_LARGEFILE | (dev->read_only ? O_RDONLY : O_RDWR) |
		    (is_buffered(dev) ? 0 : O_DIRECT);
	struct file *file;
	int err = 0;

	if (IS_SWAPFILE(d_backing_inode(path->dentry)))
		return -ETXTBSY;
	file = dentry_open(path, flags, current_cred());
	if (IS_ERR(file))
		return PTR_ERR(file);
	dev->block = dev->bdev ? bdev_logical_block_size(dev->bdev) : SECTOR_SIZE;
	if (!is_buffered(dev))
		err = direct_block(file, &dev->block);
	if (!err && (!file->f_op->read_iter || !file->f_op->write_iter))
		err = -EINVAL;
	if (err) {
		__fput_sync(file);
		return err;
	}
	INIT_WORK(&dev->flushes.work, flush_work_fn);
	INIT_WORK(&dev->discards.work, discard_work_fn);
	dev->file = file;
	return 0;
}

/*
 * Others may have written to the disk by bios while this host had it open, and what is in the page
 * cache be older than that. From here on nobody does that.
 */
void rnbd_server_file_begin(struct rnbd_server_dev *dev)
{
	if (dev->file && dev->bdev)
		invalidate_inode_pages2(dev->file->f_mapping);
}

void rnbd_server_file_info(const struct rnbd_server_dev *dev, struct rnbd_device_info *info)
{
	const struct super_block *sb = file_inode(dev->file)->i_sb;

	info->max_write_zeroes_sectors = ZEROES_MAX;
	info->secure_erase = false;
	info->writeback = !is_buffered(dev);
	info->fua = info->writeback;
	info->max_discard_sectors = 0;
	info->discard_granularity = 0;
	info->discard_alignment = 0;
	if (dev->bdev)
		return;
	info->logical_block_size = dev->block;
	info->physical_block_size = clamp_t(u32, sb->s_blocksize, dev->block, PAGE_SIZE);
	info->max_hw_sectors = SZ_16M >> SECTOR_SHIFT;
	info->max_segments = BLK_MAX_SEGMENTS;
	if (can_discard(dev)) {
		info->max_discard_sectors = DISCARD_MAX;
		info->discard_granularity = info->physical_block_size;
	}
}

int __init rnbd_server_file_init(void)
{
	io_cache = KMEM_CACHE(rnbd_server_file_io, 0);
	if (!io_cache)
		return -ENOMEM;
	io_pool = mempool_create_slab_pool(IO_MIN, io_cache);
	if (io_pool)
		return 0;
	kmem_cache_destroy(io_cache);
	return -ENOMEM;
}

void rnbd_server_file_exit(void)
{
	mempool_destroy(io_pool);
	kmem_cache_destroy(io_cache);
}
