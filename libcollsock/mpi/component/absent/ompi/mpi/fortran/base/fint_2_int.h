/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Included by a header of Open MPI (ompi/op/op.h), but not installed with it by Debian. It is
 * used only if there is no other. What it defines is needed by functions that this component
 * does not call.
 */
#ifndef COLLSOCK_MPI_FINT_2_INT_H
#define COLLSOCK_MPI_FINT_2_INT_H

#define OMPI_INT_2_FINT(number) (number)
#define OMPI_FINT_2_INT(number) (number)

#endif
