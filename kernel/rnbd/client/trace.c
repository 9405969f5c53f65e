// SPDX-License-Identifier: GPL-2.0
/* Tracepoints of rnbd-client. */
#define CREATE_TRACE_POINTS
#include "trace.h"
