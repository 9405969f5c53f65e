# SPDX-License-Identifier: GPL-2.0
"""The screens of the documents: on which recording a command prints what the page shows."""

# Recording and exit code of a command that is not one of "two-sessions", or fails. More words: "measured", numbers may differ; "configured",
# the page's first configuration is the host's; "columns", the screen is of a real host, and its columns are compared.
SCREENS = {
    "map /dev/ram0 --session s2 --path ip:10.0.0.1 --dest-port 999": ("map-port", 1),
    "map nosuch --session demo": ("map-nosuch", 4),
    "map vol9 --session cl1@srv3 --path 10.0.0.9 --name data --save -n": ("map-save", 0),
    "map vol0 --session web1@srv1 --path ip:10.0.0.2": ("map-web1", 0),
    "map vol0 --session web1@srv1 --path 10.0.0.1": ("map-web1", 0),
    "status": ("no-server", 0),
    "stats -i 1 -c 1 --rate --skip-first": ("series", 0, "measured"),
    "check session.paths_down session.single_path device.state": ("two-sessions", 11),
    "wait cl1@srv1 --for 'paths>=2' --test": ("two-sessions", 11),
    "unmap rnbd0": ("two-sessions", 7),
    "resize rnbd0 10G": ("two-sessions", 7),
    "resize rnbd0 +10G": ("resize", 0),
    "remap rnbd2": ("remap", 0),
    "device set rnbd0 --access rw -v": ("set-rw", 0),
    "device set rnbd0 --access rw": ("set-rw-busy", 7),
    "path remove cl1@srv1 ip:10.0.0.1@ip:10.0.0.2": ("path-del-last", 7),
    "server export close ram0": ("two-sessions", 7),
    "server export revalidate sdb -v": ("revalidate", 3),
    "server port drain mlx5_1:1": ("drain", 0),
    "server port drain mlx5_0:1": ("drain", 7),
    "server port list": ("drained", 0),
    "server port undrain mlx5_1:1": ("undrain", 0),
    "monitor path device": ("monitor", 0),
    "server access diff": ("access-closed", 11, "configured"),
    "server access test vol0 --peer web1": ("access-web1", 0),
    "server access test vol0 --peer web1 --access migration": ("access-web1-less", 11, "configured"),
    "monitor access --filter event=denied -c 2": ("access-refusals", 0),
    "rds status": ("two-sessions", 0, "columns"),
    "rds socket": ("two-sessions", 0, "columns"),
    "rds connection": ("two-sessions", 0, "columns"),
    "rds connection -v": ("rds", 0, "columns"),
    "rds stats --filter 'value>0'": ("two-sessions", 0, "columns"),
}

# The same where a page shows the command otherwise; None: the screen is of a real host
OF_PAGE = {
    "docs/quickstart.md": {
        "map vol9 --session cl1@srv3 --path ip:10.0.0.1@ip:10.0.0.9": ("map-access", 5),
        # make demo
        **dict.fromkeys(["map /dev/ram0 --session demo --path ip:10.0.0.1", "session list", "device list", "stats", "stats --json"]),
    },
    "docs/guide/devices.md": {"map vol9 --session cl1@srv3 --path ip:10.0.0.1@ip:10.0.0.9": ("map", 0)},
    # the drivers of Debian's source, both ends on one host
    "docs/interoperability.md": dict.fromkeys([
        "map loop0 --session cl1@srv1 --path 10.0.0.1@10.0.0.1 --path 10.0.1.1@10.0.1.1", "session list", "stats", "unmap rnbd0 -n",
        "session add cl2@srv2 --path 10.0.0.1"]),
    # two hosts with Debian's kernel; one without RDS, one with the modules of both origins, a peer that is not there
    "docs/rds.md": dict.fromkeys(["rds check", "rds check -v", "monitor rds", "rds ping 10.1.0.2 -c 3", "rds ping 10.1.0.9 -c 1"]),
}

# These must be shown, as they run
SHOWN = ("status", "stats -i", "stats latency", "monitor", "check", "map", "unmap", "device list", "session list", "server export list",
         "server port", "server access show", "server access diff", "rds socket")
