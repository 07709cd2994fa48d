/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Open MPI's internal headers; the first must be the first of a source. */
#ifndef COLLSOCK_MPI_OMPI_H
#define COLLSOCK_MPI_OMPI_H

#include <ompi_config.h>
#include <mpi.h>
#include <ompi/communicator/communicator.h>
#include <ompi/mca/coll/base/coll_base_util.h>
#include <ompi/mca/coll/coll.h>
#include <ompi/request/request.h>

#endif
