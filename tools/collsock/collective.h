/* SPDX-License-Identifier: GPL-2.0 */
/* collsock barrier and allreduce: one operation, for shells and init containers */
#ifndef COLLECTIVE_H
#define COLLECTIVE_H

/* As main(), from the name of the command on. Return the exit status, see collsock(8). */
int collective_barrier(int argc, char **argv);
int collective_allreduce(int argc, char **argv);

#endif
