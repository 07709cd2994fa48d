/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A home for the core in a test: hosts of one group on a virtual network and a
 * virtual clock. Packets are encoded, sealed, decoded and checked as on a real
 * wire, and may be lost, repeated and reordered. Included by one file of each
 * test program.
 */
#ifndef UNIT_NETWORK_H
#define UNIT_NETWORK_H

#include <stdio.h>
#include <stdlib.h>

#include "env.h"
#include "descriptor.h"
#include "group.h"
#include "reduce.h"
#include "tombstone.h"

#ifndef UNIT_MAX_OPS
#define UNIT_MAX_OPS	4096
#endif

struct unit_packet {
	struct unit_packet	*next;
	u64			at;
	u32			from;
	u32			to;
	u32			bytes;
	u8			data[] __aligned(8);
};

/* What became of one post. */
struct unit_completion {
	bool	done;
	u32	error;
	u32	failed_rank;
	u32	bytes;
	u32	order;
	u64	at;
	u64	posted;
	u8	result[COLLSOCK_DEFAULT_SEGMENT] __aligned(8);
};

struct unit_host {
	struct coll_group	group;
	struct unit_network	*network;
	struct unit_completion	*ops;
	struct coll_tombstone	tombstone;
	u32			posted;
	u32			completed;
	u64			deadline;
	bool			joined;
	bool			entombed;
	bool			cut;
};

struct unit_network {
	struct unit_host	*hosts;
	struct unit_packet	*packets;
	struct collsock_join	join;
	u32			count;
	u64			now;
	u64			random;
	u32			loss;		/* per mille */
	u32			duplication;	/* per mille */
	u32			reordering;	/* per mille */
	u64			delay;		/* ns */
	u64			sent;
	u64			tag;
	u64			forged;
	/* a test looks at, changes (returns true: drops) a packet */
	bool			(*tap)(struct unit_network *n, struct unit_packet *p);
};

static struct unit_network *unit_current;
static long unit_memory;

static inline u64 unit_random(struct unit_network *n)
{
	n->random ^= n->random << 13;
	n->random ^= n->random >> 7;
	n->random ^= n->random << 17;
	return n->random;
}

static inline bool unit_chance(struct unit_network *n, u32 per_mille)
{
	return unit_random(n) % 1000 < per_mille;
}

static inline struct unit_host *unit_host_of(struct coll_group *g)
{
	return container_of(g, struct unit_host, group);
}

/* ---- env.h ---- */

void *coll_env_alloc(size_t bytes)
{
	unit_memory++;
	return calloc(1, bytes);
}

void coll_env_free(void *memory)
{
	unit_memory -= !!memory;
	free(memory);
}

struct coll_peer *coll_env_peer_new(struct coll_group *g)
{
	return coll_env_alloc(sizeof(struct coll_peer));
}

void coll_env_peer_free(struct coll_peer *peer)
{
	coll_env_free(peer);
}

void coll_env_peer_rest(struct coll_peer *peer)
{
}

u8 *coll_env_packet(struct coll_group *g, u32 bytes, struct coll_packet **packet)
{
	struct unit_packet *p = calloc(1, sizeof(*p) + bytes);

	p->bytes = bytes;
	*packet = (struct coll_packet *)p;
	return p->data;
}

static void unit_enqueue(struct unit_network *n, struct unit_packet *p)
{
	struct unit_packet **at = &n->packets;

	p->at = n->now + n->delay + unit_random(n) % (n->delay / 4 + 1);
	if (unit_chance(n, n->reordering))
		p->at += unit_random(n) % (n->delay * 4 + 1);
	while (*at && (*at)->at <= p->at)
		at = &(*at)->next;
	p->next = *at;
	*at = p;
}

static void unit_send(struct unit_network *n, u32 from, u32 to, struct unit_packet *p)
{
	p->from = from;
	p->to = to;
	n->sent++;
	if (n->tap && n->tap(n, p)) {
		free(p);
		return;
	}
	if (n->hosts[from].cut || n->hosts[to].cut || unit_chance(n, n->loss)) {
		free(p);
		return;
	}
	if (unit_chance(n, n->duplication)) {
		struct unit_packet *copy = malloc(sizeof(*p) + p->bytes);

		memcpy(copy, p, sizeof(*p) + p->bytes);
		unit_enqueue(n, copy);
	}
	unit_enqueue(n, p);
}

void coll_env_transmit(struct coll_peer *peer, struct coll_packet *packet)
{
	struct unit_host *h = unit_host_of(peer->group);

	unit_send(h->network, peer->group->self, peer->host, (struct unit_packet *)packet);
}

void coll_env_deadline(struct coll_group *g, u64 at)
{
	unit_host_of(g)->deadline = at;
}

void coll_env_complete(struct coll_group *g, void *token, const void *result,
		       u32 bytes, u32 error, u32 failed_rank)
{
	struct unit_completion *c = token;
	struct unit_host *h = unit_host_of(g);

	if (c->done) {
		fprintf(stderr, "# host %u: operation completed twice\n", g->self);
		abort();
	}
	c->done = true;
	c->error = error;
	c->failed_rank = failed_rank;
	c->bytes = bytes;
	c->order = h->completed++;
	c->at = h->network->now;
	if (bytes)
		memcpy(c->result, result, bytes);
}

void coll_env_writable(struct coll_group *g)
{
}

bool coll_env_round(struct coll_group *g)
{
	return true;
}

/* ---- the network ---- */

static inline void unit_network_init(struct unit_network *n, u32 hosts, u64 seed)
{
	memset(n, 0, sizeof(*n));
	n->hosts = calloc(hosts, sizeof(*n->hosts));
	n->count = hosts;
	n->random = seed * 0x9e3779b97f4a7c15ULL + 1;
	n->delay = 50 * NSEC_PER_USEC;
	n->now = NSEC_PER_SEC;
	n->join.size = sizeof(n->join);
	n->join.id = 7;
	n->join.nonce = seed;
	memcpy(n->join.key, "sixteen byte key", 16);
	n->join.hosts = hosts;
	n->join.ranks = hosts;
	unit_current = n;
}

static inline int unit_join_host(struct unit_network *n, u32 i, const struct coll_timing *timing)
{
	struct coll_config config = { .self = i, .descriptor = 0x1234,
				      .incarnation = 1000 + i };
	struct unit_host *h = &n->hosts[i];
	struct collsock_join join = n->join;

	if (coll_descriptor_normalise(&join))
		return -EINVAL;
	config.join = &join;
	config.timing = timing ? *timing : coll_timing_default;
	coll_wire_derive(&config.secret, join.key, join.id, join.nonce);
	n->tag = config.secret.tag;
	h->network = n;
	h->deadline = COLL_NEVER;
	h->ops = calloc(UNIT_MAX_OPS, sizeof(*h->ops));
	h->joined = true;
	return coll_group_init(&h->group, &config);
}

static inline int unit_join_all(struct unit_network *n, const struct coll_timing *timing)
{
	int err = 0;
	u32 i;

	for (i = 0; !err && i < n->count; i++)
		err = unit_join_host(n, i, timing);
	return err;
}

static inline void unit_bury(struct unit_host *h)
{
	coll_group_entomb(&h->group, &h->tombstone);
	coll_group_destroy(&h->group);
	h->joined = false;
	h->entombed = true;
}

static inline void unit_after_event(struct unit_host *h)
{
	if (h->joined && h->group.leaving && coll_group_quiet(&h->group))
		unit_bury(h);
}

static inline void unit_network_free(struct unit_network *n)
{
	u32 i;

	while (n->packets) {
		struct unit_packet *p = n->packets;

		n->packets = p->next;
		free(p);
	}
	for (i = 0; i < n->count; i++) {
		if (n->hosts[i].joined)
			coll_group_destroy(&n->hosts[i].group);
		free(n->hosts[i].ops);
	}
	free(n->hosts);
}

static inline int unit_post(struct unit_network *n, u32 host, u8 operation, u8 type,
			    u8 op, u32 count, u8 algorithm, const void *payload)
{
	struct collsock_post post = {
		.size = sizeof(post), .operation = operation, .type = type, .op = op,
		.algorithm = algorithm, .count = count,
	};
	struct unit_host *h = &n->hosts[host];
	struct coll_signature sig;
	int err;

	err = coll_group_signature(&h->group, &post, count * coll_type_bytes(type), &sig);
	if (err)
		return err;
	h->ops[h->posted].posted = n->now;
	err = coll_group_post(&h->group, &sig, payload, &h->ops[h->posted], n->now);
	if (!err)
		h->posted++;
	unit_after_event(h);
	return err;
}

static inline int unit_barrier(struct unit_network *n, u32 host)
{
	return unit_post(n, host, COLLSOCK_BARRIER, 0, 0, 0, COLLSOCK_AUTO, NULL);
}

static inline void unit_leave(struct unit_network *n, u32 host)
{
	coll_group_leave(&n->hosts[host].group, n->now);
	unit_after_event(&n->hosts[host]);
}

/* What a tombstone says to a packet goes back to where it came from. */
static inline enum coll_refusal unit_answer(struct unit_network *n, struct unit_packet *p)
{
	struct unit_packet *answer = calloc(1, sizeof(*answer) + COLL_TOMBSTONE_ANSWER);
	enum coll_refusal refusal;

	refusal = coll_tombstone_answer(&n->hosts[p->to].tombstone, p->data, p->bytes,
					answer->data, &answer->bytes);
	if (answer->bytes)
		unit_send(n, p->to, p->from, answer);
	else
		free(answer);
	return refusal;
}

static inline void unit_deliver(struct unit_network *n, struct unit_packet *p)
{
	struct unit_host *h = &n->hosts[p->to];
	enum coll_refusal refusal = COLL_FORGED;
	struct coll_prefix prefix;

	if ((!h->joined && !h->entombed) || h->cut)
		return;
	if (coll_wire_formed(p->data, p->bytes)) {
		coll_wire_read_prefix(p->data, &prefix);
		if (prefix.source == p->from && prefix.destination == p->to &&
		    prefix.tag == n->tag)
			refusal = !h->joined ? unit_answer(n, p) :
				  coll_group_receive(&h->group, p->from, p->data, p->bytes,
						     n->now);
	}
	n->forged += refusal != COLL_ACCEPTED;
	unit_after_event(h);
}

/* The next event: a packet or a deadline. False if there is none until @until. */
static inline bool unit_step(struct unit_network *n, u64 until)
{
	struct unit_packet *p = n->packets;
	struct unit_host *first = NULL;
	u64 at = p ? p->at : COLL_NEVER;
	u32 i;

	for (i = 0; i < n->count; i++)
		if (n->hosts[i].joined && n->hosts[i].deadline < at) {
			first = &n->hosts[i];
			at = first->deadline;
		}
	if (at > until) {
		if (until != COLL_NEVER)
			n->now = max(n->now, until);
		return false;
	}
	n->now = max(n->now, at);
	if (first) {
		first->deadline = COLL_NEVER;
		coll_group_expire(&first->group, n->now);
		unit_after_event(first);
	} else {
		n->packets = p->next;
		unit_deliver(n, p);
		free(p);
	}
	return true;
}

static inline void unit_run(struct unit_network *n, u64 ns)
{
	u64 until = n->now + ns;

	while (unit_step(n, until))
		;
}

/* Run until host's operation has completed or @ns have passed. */
static inline bool unit_await(struct unit_network *n, u32 host, u32 op, u64 ns)
{
	u64 until = n->now + ns;

	while (!n->hosts[host].ops[op].done)
		if (!unit_step(n, until))
			return false;
	return true;
}

static inline bool unit_await_all(struct unit_network *n, u32 op, u64 ns)
{
	u32 i;

	for (i = 0; i < n->count; i++)
		if (n->hosts[i].joined && !unit_await(n, i, op, ns))
			return false;
	return true;
}

#endif
