// SPDX-License-Identifier: GPL-2.0
/*
 * A block device has got another size: the clients that have it open shall know. Who is told
 * sends its OPEN again, is answered with what is there now, and resizes its disk. Clients that
 * do not take such a word learn of it when they open the device anew.
 */
#include "server.h"

/**
 * struct word - a word on its way to a client
 * @answers: what dev->answers was before
 * @err: of rnbd_server_tell_size()
 */
struct word {
	u32 answers;
	int err;
};

static void tell(struct rnbd_server_dev *dev, void *arg)
{
	struct word *word = arg;

	word->answers = READ_ONCE(dev->answers);
	word->err = rnbd_server_tell_size(dev);
}

static bool is_answered(const struct rnbd_server_dev *dev, const struct word *word)
{
	return READ_ONCE(dev->answers) != word->answers;
}

int rnbd_server_revalidate(u32 nl_id, unsigned int timeout_ms, enum rnbd_reach *reach)
{
	struct rnbd_server_dev *dev;
	struct word word;
	long left = 0;

	dev = rnbd_server_export_find(nl_id, tell, &word);
	if (!dev)
		return -ENOENT;
	if (!word.err)
		left = rnbd_server_size_await(dev, word.answers,
					      msecs_to_jiffies(timeout_ms));
	if (word.err)
		*reach = RNBD_REACH_DEAF;
	else
		*reach = is_answered(dev, &word) ? RNBD_REACH_TOLD : RNBD_REACH_NO_ANSWER;
	rnbd_server_dev_put(dev);
	return left < 0 ? -EINTR : 0;
}
