// SPDX-License-Identifier: GPL-2.0
/*
 * One mistake of each kind that the debug kernel must notice. The name of one, written to
 * /sys/module/rnbd_detect/parameters/fire, has it made.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>

static DEFINE_MUTEX(lock_a);
static DEFINE_MUTEX(lock_b);
static DEFINE_SPINLOCK(spin);

static int four = 4;

static struct {
	int item[4];
	int room[4];
} table;

static void fire_abba(void)
{
	mutex_lock(&lock_a);
	mutex_lock(&lock_b);
	mutex_unlock(&lock_b);
	mutex_unlock(&lock_a);

	mutex_lock(&lock_b);
	mutex_lock(&lock_a);
	mutex_unlock(&lock_a);
	mutex_unlock(&lock_b);
}

static void fire_atomic(void)
{
	spin_lock(&spin);
	might_sleep();
	spin_unlock(&spin);
}

static void ring(struct timer_list *timer)
{
}

static void fire_object(void)
{
	struct timer_list *timer = kzalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return;
	timer_setup(timer, ring, 0);
	mod_timer(timer, jiffies + 1000 * HZ);
	kfree(timer);
}

static void fire_bounds(void)
{
	table.item[READ_ONCE(four)] = 1;
}

/* Several: an old copy of a pointer on some stack hides what it points to. */
static void fire_leak(void)
{
	unsigned int i;

	for (i = 0; i < 16; i++) {
		void *p = kmalloc(100, GFP_KERNEL);

		OPTIMIZER_HIDE_VAR(p);
	}
}

static void fire_hang(void)
{
	msleep(10 * MSEC_PER_SEC);
}

static void fire_beyond(void)
{
	char *p = kmalloc(64, GFP_KERNEL);

	if (!p)
		return;
	OPTIMIZER_HIDE_VAR(p);
	WRITE_ONCE(p[16 * READ_ONCE(four)], 1);
	kfree(p);
}

static void fire_pages(void)
{
	char *p = vmalloc(64);

	if (!p)
		return;
	OPTIMIZER_HIDE_VAR(p);
	(void)READ_ONCE(p[64 + 16 * READ_ONCE(four)]);
	vfree(p);
}

static void fire_freed(void)
{
	char *p = kmalloc(64, GFP_KERNEL);

	if (!p)
		return;
	kfree(p);
	OPTIMIZER_HIDE_VAR(p);
	WRITE_ONCE(p[READ_ONCE(four)], 1);
}

static const struct {
	const char *name;
	void (*fire)(void);
} mistakes[] = {
	{ "abba", fire_abba },
	{ "atomic", fire_atomic },
	{ "object", fire_object },
	{ "bounds", fire_bounds },
	{ "leak", fire_leak },
	{ "hang", fire_hang },
	{ "beyond", fire_beyond },
	{ "pages", fire_pages },
	{ "freed", fire_freed },
};

static int fire_set(const char *val, const struct kernel_param *kp)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mistakes); i++) {
		if (sysfs_streq(val, mistakes[i].name)) {
			mistakes[i].fire();
			return 0;
		}
	}
	return -EINVAL;
}

static const struct kernel_param_ops fire_ops = { .set = fire_set };
module_param_cb(fire, &fire_ops, NULL, 0200);
MODULE_PARM_DESC(fire, "mistake to make");

MODULE_DESCRIPTION("Mistakes that a debug kernel must notice");
MODULE_LICENSE("GPL");
