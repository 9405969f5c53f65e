#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# QEMU 7.2.22 (Debian 12), emulating x86 (TCG): where a machine can have one CPU only, or its CPUs take turns (thread=single), the code
# that is made for it has no memory barriers: nothing stands for an MFENCE, and LOCK prefixes are ignored. Devices do not take turns with
# that CPU: those of virtio run in another thread of the host, and driver and device agree on who notifies whom by a store, a full
# barrier and a load at each end. Where the driver's is missing, it may not notify a device that waits for it, and with event indices no
# later buffer of that queue does: a network card may then stand still.
# One would guess: a machine of one CPU needs no barriers, so nothing is lost. Cures: maxcpus=2, with which they stay; or one CPU of the
# host for all threads of that QEMU.
# What the emulator makes of a boot sector is read in its log of operations.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download qemu-system-x86=1:7.2+dfsg-7+deb12u18+b3 \
	qemu-system-common=1:7.2+dfsg-7+deb12u18+b3 qemu-system-data=1:7.2+dfsg-7+deb12u18 seabios=1.16.2-1 >/dev/null
for deb in *.deb; do dpkg -x "$deb" .; done

# A boot sector: a store and a load with a barrier between them, by MFENCE and as Linux does it; then it says that it is through
cat >barriers.s <<'S'
.code16
	xorw	%ax, %ax
	movw	%ax, %ds
	movl	$1, 0x9000
	mfence
	movl	0x9004, %eax
	movl	$1, 0x9008
	lock addl $0, 0x900c
	movl	0x9010, %eax
	movb	$1, %al
	outb	%al, $0xf4
	hlt
.org 510
	.word	0xaa55
S
as --32 -o barriers.o barriers.s
ld -m elf_i386 -Ttext 0x7c00 --oformat binary -e 0x7c00 -o barriers barriers.o

# made -smp VALUE thread=VALUE
made() {
	local rc=0
	QEMU_MODULE_DIR=$PWD/usr/lib/x86_64-linux-gnu/qemu ./usr/bin/qemu-system-x86_64 -L usr/share/seabios -L usr/share/qemu \
		-accel "tcg,thread=$2" -smp "$1" -display none -nodefaults -device isa-debug-exit,iobase=0xf4 \
		-drive file=barriers,format=raw,snapshot=on -d op -dfilter 0x7c00..0x7dff -D log || rc=$?
	echo "-smp $1, thread=$2: barriers: $(grep -c '^ mb ' log), atomic additions: $(grep -c 'atomic_add' log), status $rc"
}
for smp in 1 2 1,maxcpus=2; do
	for thread in single multi; do
		made $smp $thread
	done
done | tee seen
diff seen - <<'SEEN'
-smp 1, thread=single: barriers: 0, atomic additions: 0, status 3
-smp 1, thread=multi: barriers: 0, atomic additions: 0, status 3
-smp 2, thread=single: barriers: 0, atomic additions: 0, status 3
-smp 2, thread=multi: barriers: 1, atomic additions: 1, status 3
-smp 1,maxcpus=2, thread=single: barriers: 0, atomic additions: 0, status 3
-smp 1,maxcpus=2, thread=multi: barriers: 1, atomic additions: 1, status 3
SEEN
