/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef COLLSOCK_MPI_READY_H
#define COLLSOCK_MPI_READY_H

#include <stdbool.h>

/*
 * May calls be handled? No call that Open MPI itself makes in MPI_Init may, and none of its last
 * calls in MPI_Finalize: functions that need MPI cannot be used then. All ranks are in the same
 * call, so the answer is the same on all of them.
 */
bool cm_ready(void);

#endif
