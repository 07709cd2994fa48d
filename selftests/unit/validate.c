// SPDX-License-Identifier: GPL-2.0
#include "validate.h"

/* Are the lines of a round valid? It is within the arrays of the schedule. */
static bool round_ok(const struct coll_schedule *s, const struct coll_round *r)
{
	const struct coll_edge *send = &s->send[r->send_first];
	const struct coll_edge *fold = &s->fold[r->fold_first];
	unsigned int recvs = 0;
	unsigned int i;

	for (i = 0; i < r->sends; i++)
		if (!coll_schedule_send_ok(s, r, &send[i]))
			return false;
	for (i = 0; i < r->folds; i++) {
		if (!coll_schedule_fold_ok(s, r, &fold[i]))
			return false;
		if (fold[i].host != s->self)
			recvs++;
	}
	return recvs == r->recvs;
}

static bool blocks_ok(const struct coll_schedule *s)
{
	if (s->form == COLL_FORM_PARTS)
		return s->blocks;
	return s->blocks == (s->form != COLL_FORM_PLACES);
}

/* Is the head of a schedule valid, so that its arrays may be read? */
static bool head_ok(const struct coll_schedule *s)
{
	return s->hosts <= COLLSOCK_MAX_HOSTS && s->self < s->hosts &&
	       s->rounds <= COLL_MAX_ROUNDS && s->sends <= COLL_MAX_EDGES &&
	       s->folds <= COLL_MAX_EDGES && s->registers &&
	       s->registers <= COLL_MAX_REGISTERS && s->form <= COLL_FORM_PARTS &&
	       blocks_ok(s);
}

int validate_schedule(const struct coll_schedule *s)
{
	unsigned int sends = 0;
	unsigned int folds = 0;
	unsigned int i;

	if (!head_ok(s))
		return -EINVAL;
	for (i = 0; i < s->rounds; i++) {
		const struct coll_round *r = &s->round[i];

		if (r->send_first != sends || r->fold_first != folds)
			return -EINVAL;
		sends += r->sends;
		folds += r->folds;
		if (sends > s->sends || folds > s->folds)
			return -EINVAL;
		if (!round_ok(s, r))
			return -EINVAL;
	}
	return sends == s->sends && folds == s->folds ? 0 : -EINVAL;
}
