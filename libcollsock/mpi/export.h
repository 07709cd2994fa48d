/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A function under both of its names. Programs call MPI_X, or PMPI_X as Open MPI's
 * Fortran does; a tool behind this library wants to see the call as MPI_X first, and comes
 * back through PMPI_X. One before it comes by PMPI_X anyway.
 */
#ifndef COLLSOCK_MPI_EXPORT_H
#define COLLSOCK_MPI_EXPORT_H

#include "below.h"

#define CM_PUBLIC __attribute__((visibility("default")))

#define CM_EXPORT(name, parameters, arguments, function) \
	CM_PUBLIC int PMPI_##name parameters \
	{ \
		return function arguments; \
	} \
	CM_PUBLIC int MPI_##name parameters \
	{ \
		return tool.name ? tool.name arguments : function arguments; \
	}

#endif
