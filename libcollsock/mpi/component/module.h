/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The module of a communicator, in the sense of Open MPI's framework for collectives. It lives
 * as long as the communicator of Open MPI does, which a request of a nonblocking call keeps.
 */
#ifndef COLLSOCK_MPI_MODULE_H
#define COLLSOCK_MPI_MODULE_H

#include "ompi.h"
#include "comm.h"

/**
 * struct cm_module - a module
 * @super: Open MPI's part
 * @comm: the state of its communicator; NULL until it is enabled
 * @before: functions and modules that the communicator had before, which are the underlying MPI
 *          for it; the modules of those that this component replaces are kept
 */
struct cm_module {
	mca_coll_base_module_t		super;
	struct cm_comm			*comm;
	mca_coll_base_comm_coll_t	before;
};

OBJ_CLASS_DECLARATION(cm_module_t);
typedef struct cm_module cm_module_t;

static inline struct cm_module *cm_module_of(mca_coll_base_module_t *super)
{
	return (struct cm_module *)super;
}

/* Keep what the communicator has. False if it lacks a function that this component replaces. */
bool cm_module_keep(struct cm_module *module, const mca_coll_base_comm_coll_t *before);

#endif
