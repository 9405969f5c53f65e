// SPDX-License-Identifier: GPL-2.0
/* Counts of objects created and destroyed, which are compared at unload; and ids of objects. */
#include <linux/debugfs.h>
#include <linux/export.h>
#include <linux/seq_file.h>
#include <rtrs/types.h>
#include "main.h"

struct census_entry {
	atomic64_t created;
	atomic64_t destroyed;
};

static struct census_entry census[RTRS_CENSUS_COUNT];
static struct dentry *census_dir;
static atomic_t last_id;

static const char * const census_name[RTRS_CENSUS_COUNT] = {
	[RTRS_CENSUS_CORE_DEV]			= "rtrs_dev",
	[RTRS_CENSUS_CLIENT_SESSION]		= "rtrs_client_session",
	[RTRS_CENSUS_CLIENT_PATH]		= "rtrs_client_path",
	[RTRS_CENSUS_CLIENT_CON]		= "rtrs_client_con",
	[RTRS_CENSUS_SERVER_SESSION]		= "rtrs_server_session",
	[RTRS_CENSUS_SERVER_PATH]		= "rtrs_server_path",
	[RTRS_CENSUS_SERVER_CON]		= "rtrs_server_con",
	[RTRS_CENSUS_RNBD_CLIENT_SESSION]	= "rnbd_client_session",
	[RTRS_CENSUS_RNBD_CLIENT_DEV]		= "rnbd_client_dev",
	[RTRS_CENSUS_RNBD_CLIENT_MSG]		= "rnbd_client_msg",
	[RTRS_CENSUS_RNBD_SERVER_SESSION]	= "rnbd_server_session",
	[RTRS_CENSUS_RNBD_SERVER_DEV]		= "rnbd_server_dev",
	[RTRS_CENSUS_RNBD_SERVER_EXPORT]	= "rnbd_server_export",
	[RTRS_CENSUS_RNBD_SERVER_LIST]		= "rnbd_server_access_list",
};

u32 rtrs_new_id(void)
{
	return atomic_inc_return(&last_id);
}
EXPORT_SYMBOL_GPL(rtrs_new_id);

void rtrs_census_created(enum rtrs_census noun)
{
	atomic64_inc(&census[noun].created);
}
EXPORT_SYMBOL_GPL(rtrs_census_created);

void rtrs_census_destroyed(enum rtrs_census noun)
{
	atomic64_inc(&census[noun].destroyed);
}
EXPORT_SYMBOL_GPL(rtrs_census_destroyed);

static int objects_show(struct seq_file *m, void *unused)
{
	int i;

	for (i = 0; i < RTRS_CENSUS_COUNT; i++)
		seq_printf(m, "%s %lld %lld\n", census_name[i],
			   atomic64_read(&census[i].created), atomic64_read(&census[i].destroyed));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(objects);

void rtrs_census_init(void)
{
	census_dir = debugfs_create_dir("rtrs", NULL);
	debugfs_create_file("objects", 0444, census_dir, NULL, &objects_fops);
}

/* All users of rtrs-core are unloaded: any object that is left has leaked. */
void rtrs_census_exit(void)
{
	int i;

	debugfs_remove_recursive(census_dir);
	for (i = 0; i < RTRS_CENSUS_COUNT; i++) {
		s64 left = atomic64_read(&census[i].created) - atomic64_read(&census[i].destroyed);

		WARN(left, "%lld objects of %s left\n", left, census_name[i]);
	}
}
