/* SPDX-License-Identifier: GPL-2.0 */
/* Pages to a TCP socket, which are not copied. */
#ifndef RNBD_COMPAT_TCP_SEND_H
#define RNBD_COMPAT_TCP_SEND_H

#include <linux/bvec.h>
#include <linux/net.h>
#include <linux/uio.h>

/**
 * rnbd_tcp_send_pages() - send pages without waiting
 * @sock: TCP socket
 * @iter: pages (ITER_BVEC), moved on by what was sent
 *
 * Context: task.
 * Return: bytes that were sent, fewer than there are or all; or -errno.
 */
static inline ssize_t rnbd_tcp_send_pages(struct socket *sock, struct iov_iter *iter)
{
#ifdef RNBD_HAVE_SPLICE_PAGES
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL | MSG_SPLICE_PAGES };
	int sent;

	msg.msg_iter = *iter;
	sent = sock_sendmsg(sock, &msg);
	if (sent > 0)
		iov_iter_advance(iter, sent);
	return sent;
#else
	const struct bio_vec *v = iter->bvec;
	size_t len = min(v->bv_len - iter->iov_offset, iov_iter_count(iter));
	int flags = MSG_DONTWAIT | MSG_NOSIGNAL, sent;

	if (len < iov_iter_count(iter))
		flags |= MSG_MORE | MSG_SENDPAGE_NOTLAST;
	sent = kernel_sendpage(sock, v->bv_page, v->bv_offset + iter->iov_offset, len, flags);
	if (sent > 0)
		iov_iter_advance(iter, sent);
	return sent;
#endif
}

#endif /* RNBD_COMPAT_TCP_SEND_H */
