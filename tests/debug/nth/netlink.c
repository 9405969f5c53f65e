// SPDX-License-Identifier: GPL-2.0
/*
 * A disk is mapped over netlink, as the tool does it, without a process that has to start: what is there is looked at before,
 * as each part of that allocates.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/rnbd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "netlink.h"

struct message {
	struct nlmsghdr head;
	struct genlmsghdr genl;
	char attrs[512];
};

static int sock = -1, family;

static struct nlattr *add(struct message *msg, int type, const void *data, size_t len)
{
	struct nlattr *attr = (void *)msg + NLMSG_ALIGN(msg->head.nlmsg_len);

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + len;
	if (len)
		memcpy((char *)attr + NLA_HDRLEN, data, len);
	msg->head.nlmsg_len = NLMSG_ALIGN(msg->head.nlmsg_len) + NLA_ALIGN(attr->nla_len);
	return attr;
}

static void add_text(struct message *msg, int type, const char *text)
{
	add(msg, type, text, strlen(text) + 1);
}

static void add_u32(struct message *msg, int type, unsigned int value)
{
	add(msg, type, &value, sizeof(value));
}

static struct nlattr *begin(struct message *msg, int type)
{
	return add(msg, type | NLA_F_NESTED, NULL, 0);
}

static void end(struct message *msg, struct nlattr *nest)
{
	nest->nla_len = (char *)msg + msg->head.nlmsg_len - (char *)nest;
}

static struct message request(int type, int flags, int cmd, int version)
{
	return (struct message) {
		.head = {
			.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN,
			.nlmsg_type = type,
			.nlmsg_flags = NLM_F_REQUEST | flags,
		},
		.genl = { .cmd = cmd, .version = version },
	};
}

static void note_family(const struct nlmsghdr *head)
{
	const char *at = (const char *)head + NLMSG_HDRLEN + GENL_HDRLEN, *end = (const char *)head + head->nlmsg_len;

	while (at < end) {
		const struct nlattr *attr = (const void *)at;

		if (attr->nla_type == CTRL_ATTR_FAMILY_ID)
			family = *(const unsigned short *)(at + NLA_HDRLEN);
		at += NLA_ALIGN(attr->nla_len);
	}
}

/* Until the answer is there as a whole. After an error of the socket there may be more of it. */
static int answer(void)
{
	static char buf[65536] __attribute__((aligned(8)));

	for (;;) {
		int len = recv(sock, buf, sizeof(buf), 0);
		struct nlmsghdr *head;

		if (len < 0) {
			int rc = -errno;

			close(sock);
			sock = -1;
			return rc;
		}
		for (head = (void *)buf; NLMSG_OK(head, (unsigned int)len); head = NLMSG_NEXT(head, len)) {
			if (head->nlmsg_type == NLMSG_ERROR || head->nlmsg_type == NLMSG_DONE)
				return *(int *)NLMSG_DATA(head);
			if (head->nlmsg_type == GENL_ID_CTRL)
				note_family(head);
		}
	}
}

static int ask(struct message *msg)
{
	return send(sock, msg, msg->head.nlmsg_len, 0) < 0 ? -errno : answer();
}

static int dump(int cmd)
{
	struct message msg = request(family, NLM_F_DUMP, cmd, RNBD_FAMILY_VERSION);

	return ask(&msg);
}

static int start(void)
{
	struct message msg = request(GENL_ID_CTRL, NLM_F_ACK, CTRL_CMD_GETFAMILY, 1);
	int rc;

	sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (sock < 0)
		return -errno;
	add_text(&msg, CTRL_ATTR_FAMILY_NAME, RNBD_FAMILY_NAME);
	rc = ask(&msg);
	return rc ? rc : family ? 0 : -ENOENT;
}

int netlink_map(const char *session, const char *device)
{
	static const int looks[] = { RNBD_CMD_SESSION_GET, RNBD_CMD_PATH_GET, RNBD_CMD_DEVICE_GET };
	struct message msg;
	unsigned int i;
	int rc = sock < 0 ? start() : 0;

	for (i = 0; !rc && i < sizeof(looks) / sizeof(*looks); i++)
		rc = dump(looks[i]);
	if (rc)
		return rc;
	msg = request(family, NLM_F_ACK, RNBD_CMD_MAP, RNBD_FAMILY_VERSION);
	add_text(&msg, RNBD_A_DEVICE_SESSION_NAME, session);
	add_text(&msg, RNBD_A_DEVICE_DEVICE_PATH, device);
	return ask(&msg);
}

/* One peer that is everybody, one export or none */
static void add_list(struct message *msg, int exports)
{
	struct sockaddr_in from = { .sin_family = AF_INET };
	struct nlattr *nest = begin(msg, RNBD_A_ACCESS_PEER), *inner;

	add_text(msg, RNBD_A_ACL_PEER_NAME, "p");
	add_u32(msg, RNBD_A_ACL_PEER_AUTH, RNBD_ACCESS_AUTH_NONE);
	inner = begin(msg, RNBD_A_ACL_PEER_SESSION);
	add_text(msg, RNBD_A_ACL_SESSION_PATTERN, "*");
	end(msg, inner);
	inner = begin(msg, RNBD_A_ACL_PEER_FROM);
	add(msg, RNBD_A_ACL_PREFIX_ADDR, &from, sizeof(from));
	add_u32(msg, RNBD_A_ACL_PREFIX_BITS, 0);
	end(msg, inner);
	end(msg, nest);
	if (!exports)
		return;
	nest = begin(msg, RNBD_A_ACCESS_EXPORT);
	add_text(msg, RNBD_A_ACL_EXPORT_NAME, "v");
	add_text(msg, RNBD_A_ACL_EXPORT_PATH, "/dev/ram0");
	inner = begin(msg, RNBD_A_ACL_EXPORT_ALLOW);
	add_text(msg, RNBD_A_ACL_ALLOW_PEER, "*");
	end(msg, inner);
	end(msg, nest);
}

int netlink_access(const char *state)
{
	struct message msg;
	int open = !strcmp(state, "open"), rc = sock < 0 ? start() : 0;

	if (!rc)
		rc = dump(RNBD_CMD_ACCESS_GET);
	if (rc)
		return rc;
	msg = request(family, NLM_F_ACK, RNBD_CMD_ACCESS_SET, RNBD_FAMILY_VERSION);
	add_u32(&msg, RNBD_A_ACCESS_STATE, open ? RNBD_ACCESS_STATE_OPEN : RNBD_ACCESS_STATE_LISTED);
	add(&msg, RNBD_A_ACCESS_FORCE, NULL, 0);
	if (!open)
		add_list(&msg, !strcmp(state, "listed"));
	return ask(&msg);
}
