/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The parameters of the component, which are its settings */
#ifndef COLLSOCK_MPI_PARAMETERS_H
#define COLLSOCK_MPI_PARAMETERS_H

#include "ompi.h"

/* Returns an error code of Open MPI. */
int cm_parameters_register(const mca_base_component_t *component);

/* Unless it is positive, no communicator gets a module. */
int cm_parameters_priority(void);

#endif
