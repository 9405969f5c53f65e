#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# ccache 4.7.5 (Debian 12): with CCACHE_DEPEND=1 an object whose assembly brings in a file by .incbin comes from the cache after that
# file has changed. Without it, ccache sees the word .incbin in the preprocessed source and compiles anew each time.
# One would guess: the depend mode is the same cache, only quicker. It goes by the header files that the compiler lists, and the
# assembler's files are not among them: the program has the text of before, and nothing tells.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download ccache=4.8+really4.7.5-1 libhiredis0.14=0.14.1-3 >/dev/null
for deb in *.deb; do dpkg -x "$deb" .; done
LD_LIBRARY_PATH=$(echo usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH CCACHE_DIR=$dir/cache

cat >text.c <<'EOF'
__asm__(".section .rodata\n.global text\ntext: .incbin \"text\"\n.byte 0\n.previous\n");
extern const char text[];
int puts(const char *);
int main(void) { return puts(text) < 0; }
EOF

# twice VARIABLE..: what the program says before and after its text has changed
twice() {
	local each
	for each in before after; do
		echo -n "$each" >text
		env "$@" usr/bin/ccache gcc -MMD -c text.c -o text.o
		gcc text.o -o program && ./program
	done | tr '\n' ' '
}

plain=$(twice CCACHE_NODEPEND=1)
depend=$(twice CCACHE_DEPEND=1)
echo "without the depend mode: $plain; with it: $depend"
[[ $plain == "before after " && $depend == "before before " ]]
