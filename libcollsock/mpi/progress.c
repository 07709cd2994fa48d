// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdatomic.h>
#include <stdio.h>

#include "clock.h"
#include "progress.h"
#include "underlying.h"
#include "variant.h"

#define SHORTEST_NAP_NS	50000L
#define LONGEST_NAP_NS	1000000L
#define MOST_DOUBLINGS	5
#define SUSPICIOUS_S	30
#define DRIVE_AGAIN_NS	1000000ULL

static atomic_ullong progress_next_ns;

void cm_progress_drive_sometimes(__u64 now_ns)
{
	if (now_ns < atomic_load_explicit(&progress_next_ns, memory_order_relaxed))
		return;
	atomic_store_explicit(&progress_next_ns, now_ns + DRIVE_AGAIN_NS, memory_order_relaxed);
	cm_underlying_progress();
}

bool cm_progress_sleep(struct cm_pace *pace, struct pollfd *sockets, unsigned int count)
{
	struct timespec nap = { .tv_nsec = SHORTEST_NAP_NS };

	if (pace->naps < MOST_DOUBLINGS)
		nap.tv_nsec <<= pace->naps++;
	else
		nap.tv_nsec = LONGEST_NAP_NS;
	return ppoll(sockets, count, &nap, NULL) > 0;
}

int cm_progress_await(MPI_Request *request, const char *what, int rank, int ranks)
{
	__u64 suspicious = cm_clock_ns() + SUSPICIOUS_S * CM_NS_PER_S;
	struct cm_pace pace = { };
	int done, err;

	for (;;) {
		err = cm_underlying_test(request, &done);
		if (err || done)
			return err;
		cm_progress_sleep(&pace, NULL, 0);
		if (suspicious && cm_clock_ns() >= suspicious) {
			fprintf(stderr,
				"collsock: rank %d has waited %d s for %s of %d ranks. %s\n",
				rank, SUSPICIOUS_S, what, ranks, cm_variant.suspicion);
			suspicious = 0;
		}
	}
}
