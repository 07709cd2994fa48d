/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Exports a function under both of its names. Programs call MPI_X, or PMPI_X like Open
 * MPI's Fortran bindings. A tool loaded after this library must see the call first, as
 * MPI_X, and calls PMPI_X in turn. A tool loaded before it calls PMPI_X anyway.
 */
#ifndef COLLSOCK_MPI_EXPORT_H
#define COLLSOCK_MPI_EXPORT_H

#include "functions.h"

#define CM_PUBLIC __attribute__((visibility("default")))

#define CM_EXPORT(name, parameters, arguments, function) \
	CM_PUBLIC int PMPI_##name parameters \
	{ \
		return function arguments; \
	} \
	CM_PUBLIC int MPI_##name parameters \
	{ \
		return cm_functions_tool.name ? cm_functions_tool.name arguments : \
		       function arguments; \
	}

#endif
