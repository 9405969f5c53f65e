// SPDX-License-Identifier: GPL-2.0
/* Objects created and destroyed, compared at unload. */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include "core.h"

struct census_entry {
	atomic64_t created;
	atomic64_t destroyed;
};

static struct census_entry census[RDS_CENSUS_COUNT];
static struct dentry *census_dir;

static const char * const census_name[RDS_CENSUS_COUNT] = {
	[RDS_CENSUS_SOCK]	= "rds_sock",
	[RDS_CENSUS_MSG]	= "rds_msg",
	[RDS_CENSUS_CONN]	= "rds_conn",
	[RDS_CENSUS_CONG]	= "rds_cong",
	[RDS_CENSUS_ZCOPY]	= "rds_zcopy",
};

void rds_census_created(enum rds_census noun)
{
	atomic64_inc(&census[noun].created);
}

void rds_census_destroyed(enum rds_census noun)
{
	atomic64_inc(&census[noun].destroyed);
}

static int objects_show(struct seq_file *m, void *unused)
{
	int i;

	for (i = 0; i < RDS_CENSUS_COUNT; i++)
		seq_printf(m, "%s %lld %lld\n", census_name[i],
			   atomic64_read(&census[i].created), atomic64_read(&census[i].destroyed));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(objects);

void rds_census_init(void)
{
	census_dir = debugfs_create_dir("rds", NULL);
	debugfs_create_file("objects", 0444, census_dir, NULL, &objects_fops);
}

/* Nothing may be left: sockets and transports hold the module. */
void rds_census_exit(void)
{
	int i;

	debugfs_remove_recursive(census_dir);
	for (i = 0; i < RDS_CENSUS_COUNT; i++) {
		s64 left = atomic64_read(&census[i].created) - atomic64_read(&census[i].destroyed);

		WARN(left, "%lld objects of %s left\n", left, census_name[i]);
	}
}
