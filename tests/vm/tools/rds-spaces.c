// SPDX-License-Identifier: GPL-2.0
/*
 * rds-spaces N: so many network namespaces, one after the other. Each comes with a wire (10.77.0.1 here, 10.77.0.2 there), pings this
 * one by RDS over TCP, and goes while it has a message that nobody has read.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include "rds.h"

#define HERE	"10.77.0.1"
#define THERE	"10.77.0.2"

static struct {
	struct nlmsghdr h;
	struct ifinfomsg i;
	char attrs[256];
} request;

static struct nlattr *put(int type, const void *data, int len)
{
	struct nlattr *a = (void *)((char *)&request + NLMSG_ALIGN(request.h.nlmsg_len));

	*a = (struct nlattr){ NLA_HDRLEN + len, type };
	if (len)
		memcpy(a + 1, data, len);
	request.h.nlmsg_len = NLMSG_ALIGN(request.h.nlmsg_len) + NLA_ALIGN(a->nla_len);
	return a;
}

static void end(struct nlattr *a)
{
	a->nla_len = (char *)&request + request.h.nlmsg_len - (char *)a;
}

/* The wire: one end here, the other one in the namespace @space */
static void make_wire(int space)
{
	struct { struct nlmsghdr h; struct nlmsgerr e; } answer;
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	struct nlattr *info, *data, *peer;

	request.h = (struct nlmsghdr){ NLMSG_LENGTH(sizeof(request.i)), RTM_NEWLINK,
				       NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, 0, 0 };
	put(IFLA_IFNAME, "rds-here", 9);
	info = put(IFLA_LINKINFO, NULL, 0);
	put(IFLA_INFO_KIND, "veth", 4);
	data = put(IFLA_INFO_DATA, NULL, 0);
	peer = put(VETH_INFO_PEER, &(struct ifinfomsg){ 0 }, sizeof(struct ifinfomsg));
	put(IFLA_IFNAME, "rds-there", 10);
	put(IFLA_NET_NS_FD, &space, sizeof(space));
	end(peer);
	end(data);
	end(info);
	if (fd < 0 || send(fd, &request, request.h.nlmsg_len, 0) < 0 || recv(fd, &answer, sizeof(answer), MSG_TRUNC) < 0)
		err(1, "netlink");
	errno = -answer.e.error;
	if (errno)
		err(1, "veth");
	close(fd);
}

static void configure(const char *name, const char *addr)
{
	struct sockaddr_in mask = in4("255.255.255.0", 0), ip = in4(addr, 0);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct ifreq r = { 0 };

	strcpy(r.ifr_name, name);
	memcpy(&r.ifr_addr, &ip, sizeof(ip));
	if (ioctl(fd, SIOCSIFADDR, &r))
		err(1, "%s %s", name, addr);
	memcpy(&r.ifr_netmask, &mask, sizeof(mask));
	if (ioctl(fd, SIOCSIFNETMASK, &r))
		err(1, "netmask");
	r.ifr_flags = IFF_UP | IFF_RUNNING;
	if (ioctl(fd, SIOCSIFFLAGS, &r))
		err(1, "up");
	close(fd);
}

static void enter(int space)
{
	if (setns(space, CLONE_NEWNET))
		err(1, "setns");
}

/* The pong comes over the connection, and stays unread. */
static void talk(void)
{
	struct sockaddr_in to = in4(HERE, 0);
	int fd = open_socket();
	long ret = binds(fd, THERE, 4000, sizeof(to));

	if (ret || sendto(fd, "", 0, 0, (void *)&to, sizeof(to)) < 0)
		err(1, "ping");
	ret = await(fd, POLLIN);
	if (ret < 0)
		errx(1, "no pong");
	close(fd);
}

static void one(int own)
{
	int space;

	if (unshare(CLONE_NEWNET))
		err(1, "unshare");
	space = open("/proc/self/ns/net", O_RDONLY);
	enter(own);
	make_wire(space);
	configure("rds-here", HERE);
	enter(space);
	configure("rds-there", THERE);
	talk();
	enter(own);
	close(space);
}

int main(int argc, char **argv)
{
	int own = open("/proc/self/ns/net", O_RDONLY), i, ms;

	for (i = 0; i < atoi(argv[argc - 1]); i++) {
		one(own);
		/* It goes later. */
		for (ms = 0; if_nametoindex("rds-here"); ms++) {
			if (ms > 30000)
				errx(1, "namespace %d stays", i);
			usleep(1000);
		}
	}
	return 0;
}
