/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RTRS_NL_FAMILY_H
#define RTRS_NL_FAMILY_H

#include "nl-gen.h"

extern struct genl_family rtrs_nl_family;

#endif /* RTRS_NL_FAMILY_H */
