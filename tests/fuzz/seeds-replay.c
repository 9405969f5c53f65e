// SPDX-License-Identifier: GPL-2.0
/* seeds-replay DIR: recordings of netlink traffic, as rnbdadm --nl-replay takes them. */
#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/rnbd.h>

#define FAMILY	30

static unsigned char file[16384], msg[4096];
static size_t file_len, msg_len;

static void put(const void *p, size_t n)
{
	memcpy(file + file_len, p, n);
	file_len += n;
}

static void record(char type)
{
	uint32_t len = htole32(msg_len);

	put(&type, 1);
	put(&len, sizeof(len));
	put(msg, msg_len);
	msg_len = 0;
}

/* A message of the datagram, with @body bytes of attributes behind the heads. */
static struct nlmsghdr *head(int type, int flags, int cmd)
{
	struct nlmsghdr *h = (struct nlmsghdr *)(msg + msg_len);
	struct genlmsghdr *g = NLMSG_DATA(h);

	memset(h, 0, NLMSG_HDRLEN + GENL_HDRLEN);
	h->nlmsg_type = type;
	h->nlmsg_flags = flags;
	h->nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN;
	g->cmd = cmd;
	g->version = 1;
	msg_len += h->nlmsg_len;
	return h;
}

static void attr(struct nlmsghdr *h, int type, const void *p, size_t n)
{
	struct nlattr *a = (struct nlattr *)(msg + msg_len);

	memset(a, 0, NLA_HDRLEN + NLA_ALIGN(n));
	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + n;
	if (n)
		memcpy(a + 1, p, n);
	msg_len += NLA_HDRLEN + NLA_ALIGN(n);
	h->nlmsg_len += NLA_HDRLEN + NLA_ALIGN(n);
}

static void u32(struct nlmsghdr *h, int type, uint32_t v)
{
	attr(h, type, &v, sizeof(v));
}

static void u64(struct nlmsghdr *h, int type, uint64_t v)
{
	attr(h, type, &v, sizeof(v));
}

static void str(struct nlmsghdr *h, int type, const char *s)
{
	attr(h, type, s, strlen(s) + 1);
}

/* NLMSG_ERROR with @err and the request's head; with the text of an extended ack where there is one. */
static void ack(int err, const char *text)
{
	struct nlmsghdr *h = (struct nlmsghdr *)(msg + msg_len);
	struct nlmsgerr *e = NLMSG_DATA(h);

	memset(h, 0, NLMSG_HDRLEN + sizeof(*e));
	h->nlmsg_type = NLMSG_ERROR;
	h->nlmsg_flags = NLM_F_CAPPED | (text ? NLM_F_ACK_TLVS : 0);
	h->nlmsg_len = NLMSG_HDRLEN + sizeof(*e);
	e->error = err;
	e->msg.nlmsg_len = NLMSG_HDRLEN;
	msg_len += h->nlmsg_len;
	if (text) {
		str(h, NLMSGERR_ATTR_MSG, text);
		u32(h, NLMSGERR_ATTR_OFFS, NLMSG_HDRLEN + GENL_HDRLEN);
	}
	record('R');
}

static void done(void)
{
	struct nlmsghdr *h = (struct nlmsghdr *)(msg + msg_len);

	memset(h, 0, NLMSG_HDRLEN + 4);
	h->nlmsg_type = NLMSG_DONE;
	h->nlmsg_flags = NLM_F_MULTI;
	h->nlmsg_len = NLMSG_HDRLEN + 4;
	msg_len += h->nlmsg_len;
	record('R');
}

static void request(int type, int flags, int cmd)
{
	head(type, flags, cmd);
	record('s');
}

static void family(void)
{
	uint16_t id = FAMILY;
	struct nlmsghdr *h;

	request(GENL_ID_CTRL, NLM_F_REQUEST | NLM_F_ACK, CTRL_CMD_GETFAMILY);
	h = head(GENL_ID_CTRL, 0, CTRL_CMD_NEWFAMILY);
	str(h, CTRL_ATTR_FAMILY_NAME, "rnbd");
	attr(h, CTRL_ATTR_FAMILY_ID, &id, sizeof(id));
	u32(h, CTRL_ATTR_VERSION, 1);
	record('R');
	ack(0, NULL);
}

static void dumps(void)
{
	static const unsigned char addr[16] = { 2, 0, 4, 0xd2, 10, 0, 0, 1 };
	/* one u64 attribute of a CPU: READ_IOS */
	static const unsigned char cpu[] = { 12, 0, RNBD_A_CPU_STATS_READ_IOS, 0, 9, 0, 0, 0, 0, 0, 0, 0 };
	struct nlmsghdr *h;

	request(FAMILY, NLM_F_REQUEST | NLM_F_DUMP, RNBD_CMD_SESSION_GET);
	h = head(FAMILY, NLM_F_MULTI, RNBD_CMD_SESSION_GET);
	u32(h, RNBD_A_SESSION_ID, 1);
	str(h, RNBD_A_SESSION_NAME, "s");
	u32(h, RNBD_A_SESSION_STATE, RNBD_SESSION_STATE_CONNECTED);
	u64(h, RNBD_A_SESSION_PINNED_BYTES, 1 << 26);
	h = head(FAMILY, NLM_F_MULTI, RNBD_CMD_SESSION_GET);
	u32(h, RNBD_A_SESSION_ID, 2);
	done();
	request(FAMILY, NLM_F_REQUEST | NLM_F_DUMP, RNBD_CMD_PATH_GET);
	h = head(FAMILY, NLM_F_MULTI, RNBD_CMD_PATH_GET);
	u32(h, RNBD_A_PATH_ID, 1);
	str(h, RNBD_A_PATH_NAME, "ip:10.0.0.1@ip:10.0.0.2");
	attr(h, RNBD_A_PATH_CLIENT_ADDR, addr, sizeof(addr));
	done();
	request(FAMILY, NLM_F_REQUEST | NLM_F_DUMP, RNBD_CMD_DEVICE_GET);
	h = head(FAMILY, NLM_F_MULTI, RNBD_CMD_DEVICE_GET);
	u32(h, RNBD_A_DEVICE_ID, 1);
	str(h, RNBD_A_DEVICE_NAME, "rnbd0");
	str(h, RNBD_A_DEVICE_DEVICE_PATH, "/dev/ram0");
	done();
	request(FAMILY, NLM_F_REQUEST | NLM_F_DUMP, RNBD_CMD_STATS_GET);
	h = head(FAMILY, NLM_F_MULTI, RNBD_CMD_STATS_GET);
	u32(h, RNBD_A_STATS_PATH_ID, 1);
	u64(h, RNBD_A_STATS_READ_IOS, 7);
	attr(h, RNBD_A_STATS_CPU | NLA_F_NESTED, cpu, sizeof(cpu));
	done();
}

static void changes(void)
{
	struct nlmsghdr *h;

	request(FAMILY, NLM_F_REQUEST | NLM_F_ACK, RNBD_CMD_MAP);
	h = head(FAMILY, 0, RNBD_CMD_MAP);
	u32(h, RNBD_A_DEVICE_ID, 1);
	str(h, RNBD_A_DEVICE_NAME, "rnbd0");
	record('R');
	ack(0, "a warning");
	request(FAMILY, NLM_F_REQUEST | NLM_F_ACK, RNBD_CMD_UNMAP);
	ack(-16, "device rnbd0 is in use");
	request(FAMILY, NLM_F_REQUEST | NLM_F_ACK, RNBD_CMD_STATS_RESET);
	ack(0, NULL);
}

static void save(const char *top, const char *name, unsigned char flags)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/fuzz-replay", top);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/fuzz-replay/%s", top, name);
	f = fopen(path, "w");
	if (!f || fputc(flags, f) == EOF || fwrite(file, 1, file_len, f) != file_len || fclose(f)) {
		perror(path);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	put("rnbdnl1\n", 8);
	family();
	save(argv[1], "family", 0);
	dumps();
	changes();
	save(argv[1], "all", 0);
	save(argv[1], "all-traced", 1);
	return 0;
}
