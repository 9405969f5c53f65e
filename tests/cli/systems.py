# SPDX-License-Identifier: GPL-2.0
"""Trees of files like those of a host: devices, mounts, what check looks at."""
import os

from objects import S1, S2
from rdsgen import make_rds


def put(root, name, text):
    file = os.path.join(root, name.lstrip("/"))
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "w") as f:
        f.write(text + "\n")


def link(root, name, target):
    file = os.path.join(root, name.lstrip("/"))
    os.makedirs(os.path.dirname(file), exist_ok=True)
    os.symlink(target, file)


def make_root(root):
    """Two RDMA devices; rnbd0 mounted on /data, rnbd1 under a logical volume, rnbd2 free."""
    os.makedirs(os.path.join(root, "run"))
    for hca, dev, addr in (("mlx5_0", "ens1f0np0", "0a00:0001"), ("mlx5_1", "ens1f1np1", "0a00:0101")):
        port = "/sys/class/infiniband/%s/ports/1/" % hca
        put(root, port + "link_layer", "Ethernet")
        for i, (gid, kind) in enumerate((("fe80:0000:0000:0000:0000:00ff:fe00:0001", "RoCE v2"),
                                         ("0000:0000:0000:0000:0000:ffff:" + addr, "IB/RoCE v1"),
                                         ("0000:0000:0000:0000:0000:0000:0000:0000", ""),
                                         ("0000:0000:0000:0000:0000:ffff:" + addr, "RoCE v2"))):
            put(root, port + "gids/%d" % i, gid)
            put(root, port + "gid_attrs/types/%d" % i, kind)
            put(root, port + "gid_attrs/ndevs/%d" % i, dev)
    for i, sectors in enumerate((41943040, 2147483648, 131072, 2097152)):
        disk = "/sys/block/rnbd%d/" % i
        put(root, disk + "size", str(sectors))
        put(root, disk + "stat", "  10 0 80 1 20 0 160 2 3 4 5 6 7 8 9 10 11")
        put(root, disk + "queue/max_sectors_kb", "120")
        put(root, disk + "queue/max_segments", "29")
        put(root, disk + "queue/nr_requests", "128")
        put(root, disk + "queue/read_ahead_kb", "128")
        put(root, disk + "queue/scheduler", "[none] mq-deadline")
        os.makedirs(os.path.join(root, disk.lstrip("/"), "holders"))
        put(root, "/dev/rnbd%d" % i, "")
    for disk in ("/dev/sdb", "/dev/vg0/vol1"):
        put(root, disk, "")
    put(root, "/sys/block/rnbd1/holders/dm-3", "")
    put(root, "/sys/block/dm-3/dm/name", "vg0-lv1")
    put(root, "/sys/module/rnbd_client/version", "0.1")
    # as many as a path has connections by itself
    put(root, "/sys/devices/system/cpu/online", "0-11,14-17")
    put(root, "/sys/class/block/sdb/ro", "0")
    put(root, "/sys/class/block/ram0/ro", "1")
    os.makedirs(os.path.join(root, "sys/module/rtrs_core"))
    put(root, "/proc/self/mountinfo",
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "36 22 252:0 / /data rw,relatime shared:1 - ext4 /dev/rnbd0 rw\n"
        "37 22 252:0 /sub /mnt/a\\040b rw - ext4 /dev/rnbd0 rw")
    put(root, "/proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2")
    for sess, dev, disk in ((S1, "vol0", "rnbd0"), (S1, "vol1", "rnbd1"), (S2, "ram0", "rnbd2")):
        link(root, "/dev/rnbd/by-session/%s/%s" % (sess, dev), "../../../" + disk)
    make_rds(root, put, link)


def make_check_root(root):
    """A host that check finds nothing wrong with."""
    make_root(root)
    for i, (hca, dev) in enumerate((("mlx5_0", "ens1f0np0"), ("mlx5_1", "ens1f1np1"))):
        port = "/sys/class/infiniband/%s/ports/1/" % hca
        put(root, "/sys/class/infiniband/%s/device/vendor" % hca, "0x15b3")
        put(root, port + "state", "4: ACTIVE")
        put(root, port + "phys_state", "5: LinkUp")
        put(root, port + "rate", "100 Gb/sec (4X EDR)")
        put(root, port + "counters/symbol_error", "12")
        put(root, "/sys/class/net/%s/mtu" % dev, "4200")
        put(root, "/sys/class/net/%s/operstate" % dev, "up")
        put(root, "/sys/class/net/%s/speed" % dev, "100000")
        put(root, "/sys/class/net/%s/ecn/roce_np/enable/3" % dev, "1")
    for name in ("rtrs_core", "rtrs_client", "rtrs_server", "rnbd_client", "rnbd_server", "rdma_cm"):
        put(root, "/sys/module/%s/refcnt" % name, "1")
    put(root, "/sys/module/ib_core/parameters/netns_mode", "Y")
    put(root, "/sys/module/rnbd_server/parameters/port_nr", "1234")
    put(root, "/sys/module/rnbd_server/parameters/dev_search_path", "/srv/%SESSNAME%")
    put(root, "/sys/module/rnbd_server/parameters/record", "/var/lib/rnbd-writers")
    os.makedirs(os.path.join(root, "var/lib"), exist_ok=True)
    put(root, "/sys/module/rtrs_server/parameters/sess_queue_depth", "512")
    put(root, "/sys/module/rtrs_server/parameters/max_chunk_size", "131072")
    os.makedirs(os.path.join(root, "srv"))
    put(root, "/proc/sys/kernel/osrelease", "6.1.0-test")
    modules = "/lib/modules/6.1.0-test/"
    put(root, modules + "modules.dep", "".join("updates/%s.ko:\n" % m for m in (
        "rtrs-core", "rtrs-client", "rtrs-server", "rnbd-client", "rnbd-server")))
    put(root, modules + "updates/rnbd-client.ko", "\0vermagic=6.1.0-test SMP preempt\0")
    put(root, "/proc/self/status", "Name:\trnbdadm\nCapEff:\t000001ffffffffff")
    put(root, "/proc/self/limits", "Limit  Soft Limit  Hard Limit  Units\nMax locked memory  unlimited  unlimited  bytes")
    put(root, "/proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 12000000 kB\nHugePages_Total: 0\nHugepagesize: 2048 kB")
    put(root, "/rtnetlink", "\n".join(
        ["address 10.0.0.1 24 ens1f0np0", "address 10.0.1.1 24 ens1f1np1", "route default eth0"] +
        ["route 10.0.%d.%d ens1f%dnp%d" % (i, n, i, i) for i in (0, 1) for n in (2, 3, 9, 77)] +
        ["neighbour 10.0.0.2 1", "neighbour 10.0.1.2 1"]))
    put(root, "/run/udev/control", "")
    put(root, "/usr/lib/udev/rules.d/60-rnbd.rules", "")
    put(root, "/etc/rnbd/conf.d/10-srv1.conf", "")
    put(root, "/usr/lib/systemd/system/rnbd-restore.service", "")
    put(root, "/etc/systemd/system/multi-user.target.wants/rnbd-restore.service", "")
    os.makedirs(os.path.join(root, "run/systemd/system"))
    os.makedirs(os.path.join(root, "run/rnbd-restore"))


def make_many(root, n):
    """@n disks with all that is looked up for each of them: a mount, a link, a holder of every second."""
    mounts = []
    for i in range(n):
        os.makedirs(os.path.join(root, "sys/block/rnbd%d/holders" % i))
        mounts.append("%d 1 252:%d / /m/%d rw - xfs /dev/rnbd%d rw" % (i + 40, i, i, i))
        link(root, "/dev/rnbd/by-session/s%d/vol%d" % (i + 1, i + 1), "../../../rnbd%d" % i)
        if i % 2:
            os.makedirs(os.path.join(root, "sys/block/rnbd%d/holders/dm-%d" % (i, i)))
    put(root, "/proc/self/mountinfo", "\n".join(mounts))


def make_roots(top):
    make_many(os.path.join(top, "many-root"), 1000)
    make_many(os.path.join(top, "many4-root"), 4000)
    make_many(os.path.join(top, "quarter-root"), 250)
    make_root(os.path.join(top, "root"))
    make_check_root(os.path.join(top, "check-root"))
    bare = os.path.join(top, "bare")       # no RDMA device, no disks
    os.makedirs(os.path.join(bare, "run"))
    swap = os.path.join(top, "swap")       # rnbd2 is swap, rnbd0 is the system, a partition of rnbd1 is mounted
    make_root(swap)
    put(swap, "/proc/swaps", "Filename Type Size Used Priority\n/dev/rnbd2 partition 1 0 -2")
    put(swap, "/proc/self/mountinfo", "22 1 252:0 / / rw - ext4 /dev/rnbd0 rw\n23 22 252:17 / /part rw - xfs /dev/rnbd1p1 rw")
    put(swap, "/sys/block/rnbd1/rnbd1p1/dev", "252:17")
    os.unlink(os.path.join(swap, "sys/block/rnbd1/holders/dm-3"))
