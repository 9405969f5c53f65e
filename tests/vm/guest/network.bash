# SPDX-License-Identifier: GPL-2.0
# Helpers of guest.bash: interfaces, addresses, RDMA links.
#
#   net_up [N]                  N (1) dummy interfaces dummyI, MTU 4200, 10.0.I.1/24 and fd00:I::1/64, each with link rxeI; net_down
#   link_up                     two guests: linkI, 10.I.0.1 / 10.I.0.2 and fd0I::1 / fd0I::2, MTU 4200, each with link rxeI
#   rxe_add RXE NETDEV          the RDMA device of this name over this interface
#   rxe_sound RXE NETDEV        if nothing connects over this link any more, though it is up, it is made anew, and that is printed
#   rxe_pkts RXE                packets sent and received by this link, added up
# shellcheck shell=bash

rxe_add() {
	modprobe -a crc32_generic rdma_rxe rdma_cm rdma_ucm ib_uverbs || return # rxe of 6.1 fails without crc32_generic
	rdma link add "$1" type rxe netdev "$2"
}

# Linux 6.12: a message of the connection manager that finds no way out of the host leaves the queue pair of all of them in error
rxe_sound() {
	rdma res show qp link "$1/1" 2>/dev/null | grep -q 'type GSI state ERR' || return 0
	echo "# $LAB_NAME: $1: its management queue pair is in error; made anew"
	rdma link delete "$1" && rxe_add "$@"
}

net_up() {
	local n=${1:-1} i
	modprobe dummy numdummies=0 || return
	for ((i = 0; i < n; i++)); do
		ip link add "dummy$i" type dummy || return
		ip link set "dummy$i" mtu 4200 up || return # gives an RDMA MTU of 4096
		ip addr add "10.0.$i.1/24" dev "dummy$i" || return
		ip addr add "fd00:$i::1/64" dev "dummy$i" nodad || return
		rxe_add "rxe$i" "dummy$i" || return
	done
}

net_down() {
	local link
	for link in /sys/class/infiniband/rxe*; do
		[[ -e $link ]] || continue
		rdma link delete "${link##*/}" || return
	done
	for link in /sys/class/net/dummy*; do
		[[ -e $link ]] || continue
		ip link delete "${link##*/}" || return
	done
}

# Network cards, as the kernel names them; cards, which can lose their carrier, and disk are virtio's
CARDS=eth VIRTIO=y

# No queue that drops on purpose, as fq_codel does in a burst: Soft-RoCE does not send again what it has registered
# (rxe_reg_fast_mr: not free). What tests drop of what comes in has its place before there is traffic: while it is made, the device
# is deactivated, and what is sent then is lost.
link_up() {
	local dev mac i end=1
	modprobe sch_ingress && echo pfifo_fast >/proc/sys/net/core/default_qdisc || return
	[[ $LAB_NAME == server ]] || end=2
	[[ -z $VIRTIO ]] || modprobe virtio_net || return
	await 5 eval "compgen -G '/sys/class/net/$CARDS*' >/dev/null" || return
	for dev in /sys/class/net/$CARDS*; do
		mac=$(<"$dev/address")
		i=$((16#${mac:12:2}))
		dev=${dev##*/}
		ip link set "$dev" name "link$i" || return
		# Addresses stay where it is set down
		echo 1 >"/proc/sys/net/ipv6/conf/link$i/keep_addr_on_down" && ip link set "link$i" mtu 4200 up || return
		tc qdisc add dev "link$i" clsact || return
		ip addr add "10.$i.0.$end/24" dev "link$i" || return
		ip addr add "fd0$i::$end/64" dev "link$i" nodad || return
		rxe_add "rxe$i" "link$i" || return
	done
}

rxe_pkts() {
	local dir=/sys/class/infiniband/$1/ports/1/hw_counters
	echo $(($(<"$dir/sent_pkts") + $(<"$dir/rcvd_pkts")))
}
