// SPDX-License-Identifier: GPL-2.0
/*
 * The file that keeps who wrote last, over restarts of the modules and of the host. Slots of one
 * size, one for each disk, changed in place; what is not whole counts as not there, and nobody's
 * claim holds then. The file is read when a disk is first opened for writing, as its file system
 * may come after us, and written before the right to write goes to another client: whatever ends
 * in between, the count is at most too high, and a client has to be told to go on.
 *
 * It is opened for each write and not kept open, so that its file system can be unmounted. A
 * file system that hangs holds up those who open a disk for the first time, or take it over, and
 * nobody else: neither I/O nor a client that comes back.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/siphash.h>
#include "writers.h"

#define SLOTS_MAX	65536

static char *record = "/var/lib/rnbd-writers";
module_param(record, charp, 0444);
MODULE_PARM_DESC(record,
		 "File that keeps which client wrote last to each disk, empty for none (default: /var/lib/rnbd-writers)");

/**
 * struct slot - a disk in the file
 * @identity: of the disk
 * @client: as struct rnbd_server_record, and so on
 * @start: the same
 * @count: the same
 * @boot: the same
 * @diskseq: the same
 * @two: the same
 * @reserved: zeroes
 * @check: hash of what is before
 */
struct slot {
	u8 identity[RNBD_IDENTITY_LEN];
	u8 client[UUID_SIZE];
	__le32 start;
	__le32 count;
	__le32 boot;
	__le32 diskseq;
	__le32 two;
	u8 reserved[4];
	__le64 check;
} __packed;

/**
 * struct known - the file that the table was read from, or nothing
 * @dev: of its file system
 * @ino: its inode
 * @generation: of that
 * @slots: in it, those that mean nothing included
 */
static struct known {
	dev_t dev;
	unsigned long ino;
	u32 generation;
	long slots;
} known;

static DEFINE_MUTEX(file_lock);

static __le64 check_of(const struct slot *slot)
{
	static const siphash_key_t key = { { 0x7265636f7264206fULL, 0x6620777269746572ULL } };

	return cpu_to_le64(siphash(slot, offsetof(struct slot, check), &key));
}

static void pack(struct slot *slot, const u8 *identity, const struct rnbd_server_record *r)
{
	BUILD_BUG_ON(sizeof(*slot) != 64);
	memset(slot, 0, sizeof(*slot));
	memcpy(slot->identity, identity, sizeof(slot->identity));
	export_uuid(slot->client, &r->client);
	slot->start = cpu_to_le32(r->start);
	slot->count = cpu_to_le32(r->count);
	slot->boot = cpu_to_le32(r->boot);
	slot->diskseq = cpu_to_le32(r->diskseq);
	slot->two = cpu_to_le32(r->two);
	slot->check = check_of(slot);
}

/* What the table has of a disk is newer than what a file brings that is seen for the first time. */
static int take(const struct slot *slot, long number)
{
	struct rnbd_server_record r = {
		.start = le32_to_cpu(slot->start),
		.count = le32_to_cpu(slot->count),
		.boot = le32_to_cpu(slot->boot),
		.diskseq = le32_to_cpu(slot->diskseq),
		.two = le32_to_cpu(slot->two),
	};
	struct rnbd_server_writer *w;

	if (slot->check != check_of(slot))
		return 0;
	import_uuid(&r.client, slot->client);
	w = rnbd_server_writer_find(slot->identity);
	if (w) {
		w->slot = number;
		return 0;
	}
	w = rnbd_server_writer_make(slot->identity, &r);
	if (!w)
		return -ENOMEM;
	w->slot = number;
	WRITE_ONCE(w->saved, true);
	return 0;
}

static int read_slots(struct file *file)
{
	struct slot slot;
	loff_t pos = 0;
	ssize_t n;
	int err;

	for (known.slots = 0; known.slots < SLOTS_MAX; known.slots++) {
		memset(&slot, 0, sizeof(slot));
		n = kernel_read(file, &slot, sizeof(slot), &pos);
		if (n <= 0)
			return n;
		err = take(&slot, known.slots);
		if (err)
			return err;
		if (n < sizeof(slot))
			pos = (loff_t)(known.slots + 1) * sizeof(slot);
	}
	return 0;
}

static bool is_known(const struct inode *inode)
{
	return known.ino == inode->i_ino && known.dev == inode->i_sb->s_dev &&
	       known.generation == inode->i_generation &&
	       i_size_read(inode) >= known.slots * (loff_t)sizeof(struct slot);
}

/* Unless it has been: it may have been removed, or a file system mounted over it. */
static int read_file(struct file *file)
{
	const struct inode *inode = file_inode(file);
	int err;

	if (!S_ISREG(inode->i_mode))
		return -EINVAL;
	if (is_known(inode))
		return 0;
	rnbd_server_writers_forget_slots();
	known.ino = 0;
	err = read_slots(file);
	if (err)
		return err;
	known.dev = inode->i_sb->s_dev;
	known.generation = inode->i_generation;
	known.ino = inode->i_ino;
	return 0;
}

static struct file *open_file(int flags)
{
	return filp_open(record, flags | O_LARGEFILE, 0600);
}

int rnbd_server_record_load(void)
{
	struct file *file;
	int err;

	if (!*record)
		return 0;
	mutex_lock(&file_lock);
	file = open_file(O_RDONLY);
	err = PTR_ERR_OR_ZERO(file);
	if (!err) {
		err = read_file(file);
		filp_close(file, NULL);
	}
	mutex_unlock(&file_lock);
	if (!err || err == -ENOENT)
		return 0;
	pr_warn_ratelimited("%s cannot be read: %pe. No client may write: mend it, or remove it, and clients have to be remapped\n",
			    record, ERR_PTR(err));
	return err;
}

static int write_slot(struct file *file, struct rnbd_server_writer *w, const struct slot *slot)
{
	long number = w->slot < 0 ? known.slots : w->slot;
	loff_t pos = (loff_t)number * sizeof(*slot);
	ssize_t n;

	if (number >= SLOTS_MAX)
		return -ENOSPC;
	WRITE_ONCE(w->saved, false);
	n = kernel_write(file, slot, sizeof(*slot), &pos);
	if (n != sizeof(*slot))
		return n < 0 ? n : -ENOSPC;
	known.slots = max(known.slots, number + 1);
	w->slot = number;
	return vfs_fsync(file, 0);
}

static int save(struct rnbd_server_writer *w, const struct slot *slot)
{
	struct file *file = open_file(O_RDWR | O_CREAT);
	int err;

	if (IS_ERR(file))
		return PTR_ERR(file);
	err = read_file(file) ?: write_slot(file, w, slot);
	filp_close(file, NULL);
	return err;
}

static void complain(const struct rnbd_server_writer *w, int err)
{
	static bool told;

	if (w->slot >= 0)
		pr_warn_ratelimited("%s cannot be written: %pe. No other client may write to a disk that it names: mend it, or load the module with another file (record=)\n",
				    record, ERR_PTR(err));
	else if (!told)
		pr_warn("%s cannot be made: %pe. Who wrote last is forgotten when this module is loaded again: clients stay disconnected then until they are remapped\n",
			record, ERR_PTR(err));
	told |= w->slot < 0;
}

int rnbd_server_record_save(struct rnbd_server_writer *w, const struct rnbd_server_record *is)
{
	struct slot slot;
	int err;

	lockdep_assert_held(&w->lock);
	if (!*record)
		return 0;
	pack(&slot, w->identity, is);
	mutex_lock(&file_lock);
	err = save(w, &slot);
	if (err)
		complain(w, err);
	else
		WRITE_ONCE(w->saved, true);
	mutex_unlock(&file_lock);
	return err;
}

/* A name that does not begin with '/' would lead somewhere by chance. */
int __init rnbd_server_record_init(void)
{
	if (!*record || *record == '/')
		return 0;
	pr_err("record: must begin with '/', or be empty\n");
	return -EINVAL;
}
