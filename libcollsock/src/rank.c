// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "rank.h"

int collsock_ask_rank(struct collsock *s)
{
	struct collsock_self self = { };
	int err;

	if (atomic_load(&s->ranks))
		return 0;
	err = collsock_self(s, &self, sizeof(self));
	if (err)
		return err;
	atomic_store(&s->rank, self.rank);
	atomic_store(&s->ranks, self.ranks);
	return 0;
}

COLLSOCK_PUBLIC int collsock_rank(struct collsock *s)
{
	int err = collsock_ask_rank(s);

	return err ? err : (int)atomic_load(&s->rank);
}

COLLSOCK_PUBLIC int collsock_size(struct collsock *s)
{
	int err = collsock_ask_rank(s);

	return err ? err : (int)atomic_load(&s->ranks);
}
