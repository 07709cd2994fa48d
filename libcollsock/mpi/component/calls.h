/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The functions of a module: each serves a call, or gives it to the module before. */
#ifndef COLLSOCK_MPI_CALLS_H
#define COLLSOCK_MPI_CALLS_H

#include "module.h"

/* Once, before the first module is used */
void cm_calls_init(void);

void cm_calls_install(struct cm_module *module);

#endif
