# SPDX-License-Identifier: GPL-2.0
# `make help` lists the targets.

PREFIX ?= /usr/local
DESTDIR ?=
SUBDIR_MOD ?= updates

# Kernel to build the modules for: the running one, or else the newest that has headers
KDIR ?= $(firstword $(wildcard /lib/modules/$(shell uname -r)/build) \
	$(shell ls -d /usr/src/linux-headers-*-amd64 2>/dev/null | sort -rV))
KMAKE = $(MAKE) -C $(KDIR) M=$(CURDIR)/kernel
RELEASE = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h)
MODULES = rds rds_tcp rtrs-core rtrs-client rtrs-server rnbd-client rnbd-server

all: modules rnbdadm ## modules and rnbdadm (default)

help: ## this list
	@echo "Targets:"
	@sed -n 's/^\([a-z_-]*\):.* ## /\1\t/p' $(MAKEFILE_LIST) | expand -t 20 | sed 's/^/  /'
	@echo "Variables: KDIR=$(KDIR) PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) SUBDIR_MOD=$(SUBDIR_MOD)"

demo: ## installs what it needs and shows a disk mapped over RDMA in a virtual machine
	@tests/vm/demo-host.sh

demo-rds: ## the same of RDS: two machines talk over TCP, one with our modules, one with the kernel's
	@tests/vm/demo-host.sh rds

check: ## installs what it needs and runs the tests on the host and in emulated guests
	@tests/deps.sh check
	@tests/run

check-debug: ## builds a kernel with sanitizers and runs the tests of the modules on it
	@tests/deps.sh debug
	@tests/debug/run

check-all: ## both, each test on every kernel that it can run on; takes longer than CI has
	@ALL=y tests/both

debug-kernel: ## builds that kernel
	@tests/deps.sh debug
	@tests/debug/run kernel

mutants: ## breaks the modules in small ways, one at a time, and demands that a test fails each time
	@tests/deps.sh debug
	@tests/mutants/run

soak-rds: ## 10^6 messages over RDS under loss, cuts and kills, 1000 namespaces that come and go; on the debug kernel, about 30 minutes
	@tests/deps.sh debug
	@DEBUG=y KERNEL=6.12 LAB_HOOK=$(CURDIR)/tests/debug/lab.bash SOAK=$${SOAK:-500000} tests/vm/lab bats --timeout 7200 --env SOAK \
		--filter 'a module that is to go|come and go' tests/vm/rds-tcp.bats

bench: ## installs what it needs and measures against the in-tree modules and NVMe/RDMA, about 80 minutes
	@tests/deps.sh check
	@tests/bench/run

bench-rds: ## installs what it needs and measures RDS against the kernel's modules, about 5 minutes
	@tests/deps.sh check
	@tests/bench/rds

modules: kdir ## the kernel modules, for the kernel of KDIR; without InfiniBand in it, those of RDS alone
	$(KMAKE) modules

rnbdadm: ## the admin tool, build/rnbdadm
	$(MAKE) -C rnbdadm

install: rnbdadm ## rnbdadm, its manual and completions below DESTDIR and PREFIX
	$(MAKE) -C rnbdadm install DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)

uninstall: ## removes what install installed
	$(MAKE) -C rnbdadm uninstall DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)

# From a copy: the packages are made of what the tree has, not of what a build left in it.
deb: ## packages rnbdadm and rnbd-dkms for Debian, in build/deb (needs debhelper, dh-dkms)
	rm -rf build/deb
	mkdir -p build/deb/rnbd
	tar -c --exclude=build --exclude='./.*' --exclude='*.o' --exclude='*.ko' --exclude='*.mod*' --exclude='.*.cmd' . | \
		tar -x -C build/deb/rnbd
	cd build/deb/rnbd && dpkg-buildpackage -us -uc -b
	rm -rf build/deb/rnbd

# Signed only where there is a key; kbuild runs no depmod for modules from outside its tree.
modules_install: modules ## the modules into /lib/modules of KDIR's kernel (below DESTDIR)
	$(KMAKE) modules_install INSTALL_MOD_DIR=$(SUBDIR_MOD) INSTALL_MOD_PATH=$(DESTDIR) DEPMOD=true \
		$(if $(wildcard $(KDIR)/certs/signing_key.pem),,CONFIG_MODULE_SIG_ALL=)
	$(if $(DESTDIR),,depmod -a $(RELEASE))

# Also those that were installed compressed
modules_uninstall: kdir ## removes what modules_install installed
	cd $(DESTDIR)/lib/modules/$(RELEASE)/$(SUBDIR_MOD) && rm -f $(foreach m,$(MODULES),$(m).ko $(m).ko.*)
	$(if $(DESTDIR),,depmod -a $(RELEASE))

clean: ## removes everything that was built
	rm -rf build
	$(if $(wildcard $(KDIR)/Makefile),$(KMAKE) clean)

kdir:
	@test -e "$(KDIR)/Makefile" || { \
		echo "No kernel headers: install those of the running kernel (Debian: linux-headers-amd64) or set KDIR" >&2; exit 1; }

.PHONY: all help demo demo-rds check check-debug check-all bench bench-rds soak-rds debug-kernel mutants modules rnbdadm deb install uninstall modules_install modules_uninstall clean kdir
