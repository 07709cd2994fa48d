// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Answers to queries, like getsockopt() on a socket of the kernel */
#include "../../kernel/core/descriptor.h"
#include "user.h"
#include "user_state.h"

/* All answers begin with the number of bytes filled. */
union query_answer {
	u32				size;
	struct collsock_stats		stats;
	struct collsock_net_stats	net_stats;
	struct collsock_self		self;
	struct collsock_features	features;
};

static void query_self(const struct user_member *m, struct collsock_self *s)
{
	s->completion_bytes = COLLSOCK_COMPLETION_VER0;
	s->id = m->request.join.id;
	s->nonce = m->request.join.nonce;
	coll_group_self(&m->group, 0, s);
}

/* The counters of a namespace, for this member only */
static void query_net(const struct user_member *m, struct collsock_net_stats *n)
{
	*n = m->net;
	n->groups = m->state == USER_JOINED;
	n->peers = m->state == USER_JOINED ? m->group.stats.peers : 0;
}

static void query_stats(const struct user_member *m, struct collsock_stats *s)
{
	*s = m->group.stats;
	s->hosts = m->group.hosts;
	s->host = m->group.self;
}

static int query_joined(const struct user_member *m, int option, union query_answer *a)
{
	if (m->state != USER_JOINED)
		return -ENOTCONN;
	if (option == COLLSOCK_STATS) {
		query_stats(m, &a->stats);
		return sizeof(a->stats);
	}
	query_self(m, &a->self);
	return sizeof(a->self);
}

static int query_fill(const struct user_member *m, int option, union query_answer *a)
{
	memset(a, 0, sizeof(*a));
	switch (option) {
	case COLLSOCK_NET_STATS:
		query_net(m, &a->net_stats);
		return sizeof(a->net_stats);
	case COLLSOCK_FEATURES:
		coll_descriptor_features(&a->features);
		return sizeof(a->features);
	default:
		return query_joined(m, option, a);
	}
}

int user_query(struct user_member *m, int option, void *answer, size_t bytes)
{
	union query_answer a;
	int filled;

	if (m->dead)
		return -ECHILD;
	pthread_mutex_lock(&m->lock);
	filled = query_fill(m, option, &a);
	pthread_mutex_unlock(&m->lock);
	if (filled < 0)
		return filled;
	a.size = min_t(size_t, filled, bytes);
	memcpy(answer, &a, a.size);
	return 0;
}
