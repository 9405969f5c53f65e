// SPDX-License-Identifier: GPL-2.0
/* Copies of the data of eager requests, one for each slot. */
#include <linux/mm.h>
#include "server.h"

/* For the first @count slots; on failure fewer. */
int rtrs_server_copies_alloc(struct rtrs_server_path *path, u32 count)
{
	u64 bytes = rtrs_server_mem_copy(path->eager_bytes);
	struct page *page;
	int err;

	for (; bytes && path->copy_count < count; path->copy_count++) {
		err = rtrs_server_mem_take(path->session, bytes);
		if (err)
			return err;
		page = rtrs_server_pages(path->session->node, path->eager_bytes);
		if (!page) {
			rtrs_server_mem_give(path->session, bytes);
			return -ENOMEM;
		}
		path->ops[path->copy_count].copy = page_address(page);
	}
	return 0;
}

void rtrs_server_copies_free(struct rtrs_server_path *path, u32 count)
{
	while (path->copy_count > count) {
		struct rtrs_server_op *op = &path->ops[--path->copy_count];

		free_pages((unsigned long)op->copy, get_order(path->eager_bytes));
		op->copy = NULL;
		rtrs_server_mem_give(path->session, rtrs_server_mem_copy(path->eager_bytes));
	}
}
