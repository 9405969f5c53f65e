// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink traffic in a file. Records: one byte of type, a little-endian u32
 * of length, that many bytes.
 *
 *   'S'  request; in a replay it must be equal but for sequence and port
 *   's'  request of which only command and dump flag must be equal
 *   'R'  datagram from the kernel, belongs to the request before it
 *   'E'  recv() failed with this errno (u32)
 *   'M'  message of a multicast group
 *   'O'  such messages were dropped
 *
 * In a replay each request takes the first record that fits and was not used, so
 * one recording serves several commands.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "kernel/netlink/netlink.h"

static const char magic[8] = "rnbdnl1\n";

struct record {
	char type;
	bool used;
	uint32_t len;
	unsigned char *data;
};

struct nl_file {
	FILE *out;
	bool failed;
	struct record *rec;
	size_t nrec, next;	/* next: answer to hand out */
	uint32_t seq, pid;
	char problem[128];
	const struct nl_family *family;
};

/* libnl's transfer hooks take no argument */
static struct nl_file *current;

static bool load(struct nl_file *f, FILE *in)
{
	char m[sizeof(magic)];
	int type;

	if (fread(m, sizeof(m), 1, in) != 1 || memcmp(m, magic, sizeof(m)))
		return false;
	while ((type = fgetc(in)) != EOF) {
		struct record *r;
		uint32_t len;

		if (!strchr("SsREMO", type) || fread(&len, sizeof(len), 1, in) != 1)
			return false;
		len = le32toh(len);
		/* a datagram is never empty */
		if (len > 1 << 20 || (strchr("RM", type) && !len))
			return false;
		f->rec = xrealloc(f->rec, (f->nrec + 1) * sizeof(*f->rec));
		r = &f->rec[f->nrec++];
		*r = (struct record){ .type = (char)type, .len = len, .data = xcalloc(1, len) };
		if (len && fread(r->data, len, 1, in) != 1)
			return false;
	}
	return !ferror(in);
}

static void file_free(struct nl_file *f)
{
	for (size_t i = 0; i < f->nrec; i++)
		free(f->rec[i].data);
	free(f->rec);
	free(f);
}

struct nl_file *rnl_file_open(const char *path, bool write, struct nl_error *e)
{
	struct nl_file *f = xcalloc(1, sizeof(*f));
	FILE *fp = fopen(path, write ? "wbe" : "rbe");
	bool ok;

	e->kind = NL_FAIL_REPLAY;
	if (!fp) {
		e->err = errno;
		snprintf(e->extack, sizeof(e->extack), "%.180s: %s", path, strerror(errno));
		free(f);
		return NULL;
	}
	if (write) {
		f->out = fp;
		if (fwrite(magic, sizeof(magic), 1, fp) != 1)
			f->failed = true;
		e->kind = NL_FAIL_NONE;
		return f;
	}
	ok = load(f, fp);
	fclose(fp);
	if (!ok) {
		snprintf(e->extack, sizeof(e->extack), "%.180s is not a netlink recording", path);
		file_free(f);
		return NULL;
	}
	e->kind = NL_FAIL_NONE;
	return f;
}

static void put_record(struct nl_file *f, char type, const void *data, uint32_t len)
{
	uint32_t le = htole32(len);

	if (fputc(type, f->out) == EOF || fwrite(&le, sizeof(le), 1, f->out) != 1 ||
	    (len && fwrite(data, len, 1, f->out) != 1))
		f->failed = true;
}

static int record_send(struct nl_sock *sk, struct nl_msg *msg)
{
	struct nlmsghdr *h = nlmsg_hdr(msg);
	struct iovec iov = { .iov_base = h, .iov_len = h->nlmsg_len };

	put_record(current, 'S', h, h->nlmsg_len);
	fflush(current->out);
	/* not nl_send(), which would call this hook again */
	return nl_send_iovec(sk, msg, &iov, 1);
}

static int record_recv(struct nl_sock *sk, struct sockaddr_nl *from, unsigned char **buf,
		       struct ucred **creds)
{
	int n = nl_recv(sk, from, buf, creds);
	uint32_t err = htole32(errno);

	if (n > 0)
		put_record(current, 'R', *buf, n);
	else if (n < 0)
		put_record(current, 'E', &err, sizeof(err));
	return n;
}

static bool request_fits(const struct record *r, const struct nlmsghdr *h)
{
	const struct nlmsghdr *rh = (const struct nlmsghdr *)r->data;
	const struct genlmsghdr *g = NLMSG_DATA(h), *rg;
	const size_t body = NLMSG_HDRLEN + GENL_HDRLEN;

	if (r->len < body || rh->nlmsg_len != r->len)
		return false;
	rg = NLMSG_DATA(rh);
	if (rh->nlmsg_type != h->nlmsg_type || rg->cmd != g->cmd ||
	    (rh->nlmsg_flags & NLM_F_DUMP) != (h->nlmsg_flags & NLM_F_DUMP))
		return false;
	if (r->type == 's')
		return true;
	return r->len == h->nlmsg_len &&
	       !memcmp(r->data + body, (const char *)h + body, r->len - body);
}

static int replay_send(struct nl_sock *sk, struct nl_msg *msg)
{
	struct nlmsghdr *h = nlmsg_hdr(msg);
	struct nl_file *f = current;
	const struct genlmsghdr *g = NLMSG_DATA(h);

	f->seq = h->nlmsg_seq;
	f->pid = h->nlmsg_pid;
	for (size_t i = 0; i < f->nrec; i++) {
		struct record *r = &f->rec[i];

		if (r->used || (r->type != 'S' && r->type != 's') || !request_fits(r, h))
			continue;
		r->used = true;
		f->next = i + 1;
		return (int)h->nlmsg_len;
	}
	snprintf(f->problem, sizeof(f->problem), "the recording has no answer to this %s request",
		 h->nlmsg_type == GENL_ID_CTRL ? "nlctrl" : rnl_cmd_name(f->family, g->cmd));
	return -NLE_FAILURE;
}

static int replay_recv(struct nl_sock *sk, struct sockaddr_nl *from, unsigned char **buf,
		       struct ucred **creds)
{
	struct nl_file *f = current;
	struct record *r;
	size_t off = 0;

	if (creds)
		*creds = NULL;
	memset(from, 0, sizeof(*from));
	from->nl_family = AF_NETLINK;
	r = f->next < f->nrec ? &f->rec[f->next] : NULL;
	if (!r || (r->type != 'R' && r->type != 'E')) {
		snprintf(f->problem, sizeof(f->problem), "the recording ends within an answer");
		return -NLE_FAILURE;
	}
	f->next++;
	if (r->type == 'E') {
		uint32_t err = 0;

		memcpy(&err, r->data, r->len < sizeof(err) ? r->len : sizeof(err));
		errno = (int)le32toh(err);
		return -NLE_FAILURE;
	}
	*buf = xcalloc(1, r->len);
	memcpy(*buf, r->data, r->len);
	/* libnl compares sequence numbers */
	while (off + NLMSG_HDRLEN <= r->len) {
		struct nlmsghdr *h = (struct nlmsghdr *)(*buf + off);

		if (h->nlmsg_len < NLMSG_HDRLEN || h->nlmsg_len > r->len - off)
			break;
		h->nlmsg_seq = f->seq;
		h->nlmsg_pid = f->pid;
		off += NLMSG_ALIGN(h->nlmsg_len);
	}
	return (int)r->len;
}

void rnl_file_put_event(struct nl_file *f, const void *data, size_t len)
{
	if (f->out)
		put_record(f, len ? 'M' : 'O', data, (uint32_t)len);
}

bool rnl_file_next_event(struct nl_file *f, const struct nlmsghdr **out)
{
	for (size_t i = 0; i < f->nrec; i++) {
		struct record *r = &f->rec[i];
		const struct nlmsghdr *h = (const struct nlmsghdr *)r->data;

		if (r->used || (r->type != 'M' && r->type != 'O'))
			continue;
		r->used = true;
		*out = NULL;
		if (r->type == 'O')
			return true;
		if (r->len >= NLMSG_HDRLEN + GENL_HDRLEN && h->nlmsg_len <= r->len &&
		    h->nlmsg_len >= NLMSG_HDRLEN + GENL_HDRLEN) {
			*out = h;
			return true;
		}
	}
	return false;
}

void rnl_file_attach(struct nl_file *f, struct nl_cb *cb, const struct nl_family *family)
{
	f->family = family;
	nl_cb_overwrite_send(cb, f->out ? record_send : replay_send);
	nl_cb_overwrite_recv(cb, f->out ? record_recv : replay_recv);
}

void rnl_file_set_current(struct nl_file *f)
{
	current = f;
}

const char *rnl_file_problem(const struct nl_file *f)
{
	return f->problem;
}

bool rnl_file_close(struct nl_file *f)
{
	bool ok = !f->failed;

	if (f->out && fclose(f->out))
		ok = false;
	if (current == f)
		current = NULL;
	file_free(f);
	return ok;
}
