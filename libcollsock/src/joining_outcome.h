/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* How a step of joining ended, on one rank or on all */
#ifndef COLLSOCK_JOINING_OUTCOME_H
#define COLLSOCK_JOINING_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>

#include "collsock.h"

#define JOINING_DETAIL_BYTES 256

/**
 * struct joining_outcome - of a step
 * @error: 0, or a negative errno
 * @rank: the rank that caused it, or COLLSOCK_NO_RANK
 */
struct joining_outcome {
	__s32	error;
	__u32	rank;
};

/* Is it an error that another rank may have sent? */
static inline bool joining_outcome_is_error(__s32 error)
{
	return error < 0 && error >= -4095;
}

#endif
