/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RNBD_COMPAT_TRACE_H
#define RNBD_COMPAT_TRACE_H

/* Newer kernels take the source from __string(). */
#ifdef RNBD_HAVE_ASSIGN_STR_SRC
#define rtrs_assign_str(dst, src)	__assign_str(dst, src)
#else
#define rtrs_assign_str(dst, src)	__assign_str(dst)
#endif

#endif /* RNBD_COMPAT_TRACE_H */
