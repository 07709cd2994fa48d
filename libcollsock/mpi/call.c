// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "call.h"

#define CALL_NAME(name, blocking, nonblocking) \
	[CM_##name] = (blocking), [CM_I##name] = (nonblocking),

const char *const cm_call_names[CM_CALLS] = { CM_CALL_LIST(CALL_NAME) };
