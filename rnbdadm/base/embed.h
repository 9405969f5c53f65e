/* SPDX-License-Identifier: GPL-2.0 */
/* Files of the tree in the read-only data. */
#ifndef RNBDADM_BASE_EMBED_H
#define RNBDADM_BASE_EMBED_H

#define EMBED(kind, id, file)							\
	__asm__(".pushsection .rodata\n"					\
		".global " #kind "_" #id "_start\n"				\
		#kind "_" #id "_start: .incbin \"" file "\"\n"			\
		".global " #kind "_" #id "_end\n"				\
		#kind "_" #id "_end: .byte 0\n"					\
		".popsection\n");						\
	extern const char kind##_##id##_start[], kind##_##id##_end[]

/* Its two ends, for an initialiser. */
#define EMBEDDED(kind, id)	kind##_##id##_start, kind##_##id##_end

#endif
