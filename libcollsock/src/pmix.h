/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * An exchange by PMIx, which Open MPI's mpirun, prun and srun with PMIx offer. The library
 * for it, libpmix, is loaded only where a launcher has it. It has a thread while the ranks
 * exchange, and may be used by MPI in the same process, too. Each process joins once.
 */
#ifndef COLLSOCK_PMIX_H
#define COLLSOCK_PMIX_H

#include <stddef.h>

#include <linux/types.h>

struct pmix;

/**
 * pmix_find() - does the launcher of this process offer PMIx, and is its library installed?
 * @text: receives why not
 * @bytes: room there
 *
 * Return: 0, or -ENOENT
 */
int pmix_find(char *text, size_t bytes);

/**
 * pmix_open() - begin
 * @made: out
 * @timeout_ms: until all ranks have called for the first exchange
 * @exchange_ms: for each other
 * @text: receives why it failed, and what to do
 * @bytes: room there
 *
 * Return: 0; -EPIPE if this process has opened it before; -ECONNREFUSED if the launcher does not
 * answer, or knows no number of ranks; or another negative errno
 */
int pmix_open(struct pmix **made, __u32 timeout_ms, __u32 exchange_ms, char *text, size_t bytes);

__u32 pmix_rank(const struct pmix *pmix);
__u32 pmix_ranks(const struct pmix *pmix);

/* The launcher's name of the job: the same on all ranks */
const char *pmix_job(const struct pmix *pmix);

/*
 * A collsock_exchange. Return: 0; -ETIMEDOUT if not all ranks have called, or one of them has
 * taken part in another fence instead; -EREMOTEIO if PMIx failed; -EBADMSG if a rank gave another
 * block
 */
int pmix_exchange(void *pmix, const void *mine, void *all, size_t bytes);

/* Why that failed */
const char *pmix_text(const void *pmix);

void pmix_close(void *pmix);

#endif
