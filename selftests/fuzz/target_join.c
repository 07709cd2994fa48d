// SPDX-License-Identifier: GPL-2.0
/*
 * Input from user space: the bytes of JOIN, then those of posts. Refused requests change
 * nothing; accepted ones obey the rules that the rest of the core relies on, create a group
 * if it is small, and posts are made to it.
 *
 * The input: a byte of FIX_*, struct collsock_join, the tables, then posts.
 */
#include <stdlib.h>

#include "../sim/world.h"
#include "registry.h"
#include "bearer.h"
#include "fuzz.h"
#include "invariants.h"
#include "posts.h"
#include "reduce.h"

#define MAX_TABLE_HOSTS	512
#define MAX_GROUP_BYTES	(64 << 10)
#define MAX_POSTS	64

/* What the harness fixes, so that the fuzzer gets past the checks. */
#define FIX_HEAD	1	/* size, flags, reserved bytes, unknown features */
#define FIX_COUNTS	2	/* hosts and ranks, few */
#define FIX_TABLES	4	/* members and ranks, generated instead of read */
#define FIX_RANK	8

/**
 * struct request - a JOIN
 * @join: its fixed part
 * @members: its hosts, in memory of exactly their size
 * @ranks: the host of each rank, likewise
 */
struct request {
	struct collsock_join	join;
	struct collsock_member	*members;
	u32			*ranks;
};

static void read_head(struct request *r, struct fuzz_input *in, u8 fix)
{
	struct collsock_join *j = &r->join;
	struct collsock_features features;
	u32 i;

	fuzz_copy(in, j, sizeof(*j));
	if (fix & FIX_HEAD) {
		j->size = sizeof(*j);
		j->flags = 0;
		memset(j->reserved, 0, sizeof(j->reserved));
		j->features &= COLL_FEATURES;
		coll_descriptor_features(&features);
		j->algorithms &= features.algorithms;
		j->degree = j->degree > 1 && j->degree <= COLLSOCK_MAX_DEGREE ? j->degree : 0;
		j->degrees &= ~COLLSOCK_DEGREE(1);
		for (i = 1; i < COLLSOCK_MAX_OPERATIONS; i++)
			if (!coll_operation_find(i))
				j->algorithm[i] = 0;
		j->liveness_ms = j->liveness_ms % 8 * 1000;
	}
	if (fix & FIX_COUNTS) {
		j->hosts = 1 + j->hosts % 16;
		j->ranks = j->hosts + !(j->ranks % 16);
	}
	if (fix & FIX_RANK)
		j->rank %= max(j->ranks, 1U);
}

static void make_tables(struct request *r)
{
	u32 i;

	memset(r->members, 0, r->join.hosts * sizeof(*r->members));
	for (i = 0; i < r->join.hosts; i++) {
		r->members[i].family = 2;
		r->members[i].address[0] = 10;
		r->members[i].address[2] = i >> 8;
		r->members[i].address[3] = i;
	}
	for (i = 0; i < r->join.ranks; i++)
		r->ranks[i] = i % r->join.hosts;
}

static void read_tables(struct request *r, struct fuzz_input *in, u8 fix)
{
	u32 member_bytes = r->join.hosts * sizeof(*r->members);
	u32 rank_bytes = r->join.ranks * sizeof(*r->ranks);

	r->members = malloc(member_bytes);
	r->ranks = malloc(rank_bytes);
	if (!r->members || !r->ranks)
		abort();
	make_tables(r);
	if (!(fix & FIX_TABLES)) {
		fuzz_copy(in, r->members, member_bytes);
		fuzz_copy(in, r->ranks, rank_bytes);
	}
}

/* ---- promises ---- */

static void check_normalised(const struct collsock_join *j)
{
	struct collsock_join again = *j;

	FUZZ_EXPECT(j->hosts >= 1 && j->hosts <= COLLSOCK_MAX_HOSTS, "%u hosts", j->hosts);
	FUZZ_EXPECT(j->ranks >= j->hosts && j->ranks <= COLLSOCK_MAX_RANKS, "%u ranks", j->ranks);
	FUZZ_EXPECT(j->rank < j->ranks, "rank %u", j->rank);
	FUZZ_EXPECT(j->window >= 1 && j->window <= COLLSOCK_MAX_WINDOW, "window %u", j->window);
	FUZZ_EXPECT(j->segment_bytes >= COLLSOCK_MIN_SEGMENT &&
		    j->segment_bytes <= COLLSOCK_MAX_SEGMENT &&
		    j->segment_bytes % COLLSOCK_SEGMENT_QUANTUM == 0, "%u bytes", j->segment_bytes);
	FUZZ_EXPECT(j->max_bytes && j->max_bytes <= COLLSOCK_MAX_PAYLOAD, "%u bytes", j->max_bytes);
	FUZZ_EXPECT(j->max_result_bytes >= j->max_bytes &&
		    j->max_result_bytes <= COLLSOCK_MAX_RESULT &&
		    DIV_ROUND_UP(j->max_result_bytes, j->segment_bytes) <= COLLSOCK_MAX_SEGMENTS,
		    "%u bytes of blocks", j->max_result_bytes);
	FUZZ_EXPECT(coll_descriptor_tables(j) <= (u64)COLLSOCK_MAX_HOSTS * 24 +
		    (u64)COLLSOCK_MAX_RANKS * 4, "tables too large");
	FUZZ_EQUAL(-coll_descriptor_normalise(&again), 0, "errno of what is normalised");
	FUZZ_EXPECT(!memcmp(&again, j, sizeof(again)), "normalised again it is another one");
}

static void check_hash(const struct request *r)
{
	u32 hash = coll_descriptor_hash(&r->join, r->members, r->ranks);
	struct collsock_join other = r->join;

	other.rank ^= 1;
	other.key[5] ^= 1;
	FUZZ_EQUAL(coll_descriptor_hash(&other, r->members, r->ranks), hash,
		   "hash of another rank's descriptor");
}

static void check_tables(const struct request *r)
{
	const struct coll_bearer *bearer = coll_env_bearer(r->members->family);
	struct collsock_member member;
	u32 i, next = 0;

	FUZZ_EXPECT(bearer, "family %u without a bearer", r->members->family);
	for (i = 0; i < r->join.hosts; i++) {
		member = r->members[i];
		FUZZ_EXPECT(member.family == r->members->family &&
			    bearer->member_complete(&member) &&
			    !memcmp(&member, &r->members[i], sizeof(member)),
			    "member %u is not complete: port %u, family %u", i,
			    r->members[i].port, r->members[i].family);
	}
	for (i = 0; i < r->join.ranks; i++) {
		FUZZ_EXPECT(r->ranks[i] <= next && r->ranks[i] < r->join.hosts,
			    "host %u of rank %u", r->ranks[i], i);
		next += r->ranks[i] == next;
	}
	FUZZ_EQUAL(next, r->join.hosts, "hosts with ranks");
}

/* ---- the group, and posts ---- */

/**
 * struct outcome - outcome of one post
 * @done: it has completed,
 * @bytes: with this number of bytes
 * @result: of result
 */
struct outcome {
	bool	done;
	u32	bytes;
	u8	result[COLLSOCK_DEFAULT_SEGMENT];
};

static struct outcome outcomes[MAX_POSTS];
static u32 outcome_count;

static void on_complete(struct world_member *m, void *token, const void *result, u32 bytes,
			u32 error, u32 failed_rank)
{
	struct outcome *o = token;

	FUZZ_EXPECT(!o->done, "completed twice");
	o->done = true;
	o->bytes = bytes;
	if (bytes)
		memcpy(o->result, result, bytes);
}

static const struct world_user user = { .complete = on_complete };

static void check_accepted(struct world_member *m, u32 local, const struct collsock_post *p,
			   u32 bytes)
{
	static u8 payload[COLLSOCK_DEFAULT_SEGMENT] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	const struct coll_rank *rank = &m->group.ranks.local[local];
	u8 *exact = fuzz_exact(payload, bytes);
	struct outcome *o;
	int err;

	FUZZ_EXPECT(bytes == (u64)p->count * coll_type_bytes(p->type) ||
		    (!bytes && !coll_operation_contributes(p->operation, p->root == rank->rank)),
		    "%u bytes accepted", bytes);
	FUZZ_EXPECT(bytes <= m->group.payload.max_result_bytes, "%u bytes of %u", bytes,
		    m->group.payload.max_result_bytes);
	/* Alone, or if it receives no result, it completes at once. */
	o = &outcomes[outcome_count++];
	*o = (struct outcome){};
	err = world_post_rank(m, local, p, exact, bytes, o);
	if (err) {
		FUZZ_EQUAL(-err, EAGAIN, "errno of a post");
		FUZZ_EQUAL(rank->next - m->group.window.oldest, m->group.window.size, "window");
	} else if (o->done) {
		FUZZ_EXPECT(!o->bytes || m->group.ranks.size > 1 ||
			    (o->bytes == bytes && !memcmp(o->result, payload, bytes)),
			    "the result is not what was posted");
	} else {
		FUZZ_EXPECT(m->group.ranks.size > 1, "nothing comes of a post");
	}
	free(exact);
}

static bool in_order(const struct request *r)
{
	u32 rank;

	for (rank = 1; rank < r->join.ranks; rank++)
		if (r->ranks[rank] < r->ranks[rank - 1])
			return false;
	return true;
}

static void post(const struct request *r, struct world_member *m, struct fuzz_input *in)
{
	struct collsock_post p = {};
	struct coll_signature sig;
	u8 form = fuzz_byte(in);
	u32 local = (form >> 3) % m->group.ranks.locals;
	int bytes;

	fuzz_copy(in, &p, sizeof(p));
	if (form & 1) {
		p.size = sizeof(p);
		p.flags = 0;
		p.degree = p.degree % 4 ? 0 : p.degree / 4 % (COLLSOCK_MAX_DEGREE + 1);
	}
	if (form & 2)
		p.count %= 16;
	if (form & 4)
		p.algorithm = choose_algorithm(p.operation, p.algorithm);
	bytes = coll_signature_of_post(&m->group, local, &p, &sig);
	FUZZ_EXPECT(bytes >= 0 || bytes == -EINVAL || bytes == -EMSGSIZE || bytes == -ERANGE ||
		    (bytes == -EOPNOTSUPP && coll_operation_find(p.operation)->prefix &&
		     !in_order(r)), "errno %d", -bytes);
	if (bytes < 0)
		return;
	FUZZ_EXPECT(coll_signature_makes_sense(&m->group, &sig),
		    "algorithm %u with degree %u of operation %u", sig.algorithm, sig.degree,
		    sig.operation);
	check_accepted(m, local, &p, bytes);
}

/* All ranks of one host join; the other hosts do not exist. */
static void live(const struct request *r, struct fuzz_input *in)
{
	struct world_group group;
	struct world_member *m;
	struct world w;
	u32 posts = 0, host = r->ranks[r->join.rank], rank;

	outcome_count = 0;
	world_init(&w, r->join.hosts, 1, &user);
	FUZZ_EQUAL(-world_group_init(&w, &group, &r->join, NULL, NULL), 0, "errno of a group");
	group.host_of_rank = r->ranks;
	m = &group.members[host];
	for (rank = 0; rank < r->join.ranks; rank++)
		if (r->ranks[rank] == host)
			FUZZ_EXPECT(world_join_rank(m, rank) >= 0, "rank %u cannot join", rank);
	while (fuzz_left(in) && posts++ < MAX_POSTS) {
		post(r, m, in);
		check_group(&m->group, w.now);
	}
	while (world_step(&w, w.now + 50 * NSEC_PER_MSEC))
		check_group(&m->group, w.now);
	world_group_free(&group);
	world_free(&w);
	FUZZ_EQUAL(world_memory, 0, "pieces of memory left");
}

int fuzz_target(const u8 *data, size_t bytes)
{
	struct fuzz_input in = { data, data + bytes };
	u8 fix = fuzz_byte(&in);
	struct request r = {};
	int err;

	read_head(&r, &in, fix);
	err = coll_descriptor_normalise(&r.join);
	FUZZ_EXPECT(!err || err == -EINVAL || err == -EOPNOTSUPP, "errno %d", -err);
	if (err)
		return 0;
	check_normalised(&r.join);
	if (r.join.hosts > MAX_TABLE_HOSTS || r.join.ranks > MAX_TABLE_HOSTS)
		return 0;
	read_tables(&r, &in, fix);
	err = coll_descriptor_check(&r.join, r.members, r.ranks);
	FUZZ_EXPECT(!err || err == -EINVAL || err == -E2BIG || err == -EMSGSIZE, "errno %d",
		    -err);
	if (err != -EINVAL)
		check_tables(&r);
	if (!err) {
		check_hash(&r);
		if (r.join.window * r.join.max_result_bytes * r.join.ranks <= MAX_GROUP_BYTES &&
		    r.join.max_result_bytes <= COLLSOCK_DEFAULT_SEGMENT && r.join.hosts <= 64)
			live(&r, &in);
	}
	free(r.members);
	free(r.ranks);
	return 0;
}
