// SPDX-License-Identifier: GPL-2.0
/* Takes AF_RDS, as a kernel with RDS built in has it. */
#include <linux/module.h>
#include <linux/net.h>

static int create(struct net *net, struct socket *sock, int protocol, int kern)
{
	return -EAFNOSUPPORT;
}

static const struct net_proto_family family = {
	.family = AF_RDS,
	.create = create,
	.owner = THIS_MODULE,
};

static int __init taken_init(void)
{
	return sock_register(&family);
}

static void __exit taken_exit(void)
{
	sock_unregister(AF_RDS);
}

module_init(taken_init);
module_exit(taken_exit);
MODULE_DESCRIPTION("Takes AF_RDS");
MODULE_LICENSE("GPL");
