/* SPDX-License-Identifier: GPL-2.0 */
/* Versions of the libraries that this binary runs with. */
#ifndef RNBDADM_BASE_LIBS_H
#define RNBDADM_BASE_LIBS_H

const char *libnl_version(void);

#endif
