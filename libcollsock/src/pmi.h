/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * An exchange by PMI, versions 1 and 2, which mpiexec of MPICH's family and srun with PMI-2 offer.
 * A process has one connection, which its MPI library would also use, so it is not used in a
 * process with MPI. It ends with the exchange, also for the children of the process: each process
 * joins once.
 */
#ifndef COLLSOCK_PMI_H
#define COLLSOCK_PMI_H

#include <stddef.h>

#include <linux/types.h>

struct pmi;

/**
 * pmi_find() - does the launcher of this process offer PMI, and may it be used?
 * @text: receives why not
 * @bytes: room there
 *
 * Return: 0; -ENOENT if not; -EBADF if the connection is closed here
 */
int pmi_find(char *text, size_t bytes);

/**
 * pmi_open() - begin
 * @made: out
 * @timeout_ms: until all ranks have called for the first exchange
 * @exchange_ms: for each other
 * @text: receives why it failed, and what to do
 * @bytes: room there
 *
 * Return: 0; -EPIPE if the connection was used already, or the launcher has ended it; -EBADMSG if
 * its answer cannot be parsed; -EINVAL if a variable is not valid; or another negative errno.
 */
int pmi_open(struct pmi **made, __u32 timeout_ms, __u32 exchange_ms, char *text, size_t bytes);

__u32 pmi_rank(const struct pmi *pmi);
__u32 pmi_ranks(const struct pmi *pmi);

/* The launcher's name of the job: the same on all ranks */
const char *pmi_job(const struct pmi *pmi);

/* A collsock_exchange. Return: 0; -ETIMEDOUT if not all ranks have called; or as pmi_open() */
int pmi_exchange(void *pmi, const void *mine, void *all, size_t bytes);

/* Why that failed */
const char *pmi_text(const void *pmi);

void pmi_close(void *pmi);

#endif
