// SPDX-License-Identifier: GPL-2.0
/* The tracepoints themselves, made of what trace.h declares. */
#define CREATE_TRACE_POINTS
#include "trace.h"
