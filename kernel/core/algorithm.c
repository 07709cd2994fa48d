// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "algorithm.h"

static void algorithm_need_hosts(struct coll_needs *needs, const struct coll_schedule *s)
{
	u32 i;

	for (i = 0; i < s->sends; i++)
		coll_hosts_add(needs->hosts, s->send[i].host);
	for (i = 0; i < s->folds; i++)
		if (s->fold[i].host != s->self)
			coll_hosts_add(needs->hosts, s->fold[i].host);
}

/* @scratch has room for any schedule. */
static int algorithm_need(struct coll_needs *needs, const struct coll_algorithm *a,
			  const struct coll_shape *shape, struct coll_schedule *scratch)
{
	int err;

	if (coll_algorithm_rooted(a)) {
		a->peers(shape, needs->hosts);
		a->room(shape, &needs->room);
		return 0;
	}
	err = a->build(scratch, shape);
	if (err)
		return err;
	algorithm_need_hosts(needs, scratch);
	coll_schedule_room(scratch, &needs->room);
	return 0;
}

/**
 * coll_algorithms_need() - what a host must reserve for any post
 * @algorithms: those that posts may name, one bit each
 * @shape: of the group; its root is ignored
 * @scratch: room for a schedule, overwritten
 * @needs: grown to what any operation with any of them and any root needs
 *
 * Return: 0, or the error of an algorithm that cannot be built. Context: any.
 */
int coll_algorithms_need(u64 algorithms, const struct coll_shape *shape,
			 struct coll_schedule *scratch, struct coll_needs *needs)
{
	struct coll_shape unrooted = *shape;
	unsigned int i;
	int err = 0;

	unrooted.root = 0;
	for (i = 0; !err && i < coll_algorithms_count; i++)
		if (coll_algorithm_usable(coll_algorithms[i], algorithms, shape->fanout))
			err = algorithm_need(needs, coll_algorithms[i], &unrooted, scratch);
	return err;
}
