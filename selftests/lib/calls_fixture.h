/* SPDX-License-Identifier: GPL-2.0 */
/* A socket whose calls reach the fake kernel only */
#ifndef LIB_CALLS_FIXTURE_H
#define LIB_CALLS_FIXTURE_H

#include <string.h>

#include "../harness.h"
#include "fake_kernel.h"

FIXTURE(calls)
{
	struct collsock			*socket;
	struct collsock_completion	completion;
};

FIXTURE_SETUP(calls)
{
	memset(&fake, 0, sizeof(fake));
	ASSERT_EQ(0, collsock_open(&self->socket, 0));
}

FIXTURE_TEARDOWN(calls)
{
	collsock_close(self->socket);
}

static inline void answer_run(unsigned int i, __u32 error, __u32 failed_rank)
{
	fake.answers[i].completion = (struct collsock_completion){
		.size		= sizeof(struct collsock_completion),
		.error		= error,
		.failed_rank	= failed_rank,
	};
}

static inline struct fake_run sent_run(void)
{
	struct fake_run run;

	memcpy(&run, fake.sent, sizeof(run));
	return run;
}

#endif
