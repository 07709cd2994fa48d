// SPDX-License-Identifier: GPL-2.0
/*
 * The proofs of all algorithms in the registry: each is run by the symbolic executor for
 * every number of hosts from 1 to 512, with every degree and from many roots; and for every
 * number up to 128, and a random choice beyond (in a soak all), against adversaries that choose
 * the order of arrivals and messages. A new algorithm in the registry is proved without a change
 * here, except for the bound of its paper.
 */
#include "../harness.h"

#include "formulas.h"
#include "names.h"
#include "seed.h"
#include "shapes.h"
#include "symbolic.h"
#include "validate.h"

#define PROOF_HOSTS	1024

/* A group without root, and with the usual degree. */
static struct coll_shape plain(u32 hosts)
{
	return (struct coll_shape){ .hosts = hosts, .degree = 2 };
}

/* With the smallest degree, if it has one */
static struct coll_shape smallest(const struct coll_algorithm *a, u32 hosts, u32 self)
{
	return (struct coll_shape){ .hosts = hosts, .self = self,
				    .degree = a->most_degree ? 2 : 0 };
}

/*
 * The adversaries: an order of events, and what is held back. The first is tried with every
 * degree of every size, and every root of the small ones; the others with a random choice,
 * since their findings do not depend on the tree, and of the large sizes with a random choice,
 * too, since what a host knows and folds does not depend on the order.
 */
struct proof {
	struct symbolic_adversary adversary;
	struct symbolic_group group;
	u64 draws;		/* of shapes of a size; 0 for all */
	u64 runs;		/* each with the next seed */
};

FIXTURE(delivery)
{
	struct proof proof;
};

FIXTURE_VARIANT(delivery)
{
	struct symbolic_adversary adversary;
	bool every_shape;
	bool fresh;
};

FIXTURE_VARIANT_ADD(delivery, oldest_first)
{
	.adversary = { .order = SYMBOLIC_FIFO },
	.every_shape = true,
};

FIXTURE_VARIANT_ADD(delivery, newest_first)
{
	.adversary = { .order = SYMBOLIC_LIFO },
};

FIXTURE_VARIANT_ADD(delivery, random_1)
{
	.adversary = { .order = SYMBOLIC_RANDOM, .seed = 1 },
};

FIXTURE_VARIANT_ADD(delivery, random_2)
{
	.adversary = { .order = SYMBOLIC_RANDOM, .seed = 2 },
};

FIXTURE_VARIANT_ADD(delivery, random_fresh)
{
	.adversary = { .order = SYMBOLIC_RANDOM },
	.fresh = true,
};

FIXTURE_VARIANT_ADD(delivery, one_host_arrives_last)
{
	.adversary = { .order = SYMBOLIC_LIFO, .hold = SYMBOLIC_HOLD_ARRIVAL },
};

FIXTURE_VARIANT_ADD(delivery, one_host_is_starved)
{
	.adversary = { .order = SYMBOLIC_RANDOM, .hold = SYMBOLIC_HOLD_TO, .seed = 3 },
};

FIXTURE_VARIANT_ADD(delivery, one_host_is_not_heard)
{
	.adversary = { .order = SYMBOLIC_RANDOM, .hold = SYMBOLIC_HOLD_FROM, .seed = 4 },
};

FIXTURE_SETUP(delivery)
{
	struct proof *proof = &self->proof;

	proof->adversary = variant->adversary;
	proof->draws = variant->every_shape ? 0 : seed_soak();
	proof->runs = 1;
	if (variant->fresh) {
		proof->adversary.seed = seed_start();
		proof->draws = 1;
		proof->runs = seed_soak();
	}
}

FIXTURE_TEARDOWN(delivery)
{
	symbolic_free(&self->proof.group);
}

static void check_formulas(struct __test_metadata *_metadata,
			   const struct symbolic_group *group)
{
	const struct coll_algorithm *a = group->algorithm;
	u64 messages = 0;
	u32 h;

	for (h = 0; h < group->hosts; h++) {
		const struct coll_schedule *s = &group->host[h].schedule;

		messages += s->sends;
		ASSERT_EQ(formulas_rounds(a, &group->shape), s->rounds)
			TH_LOG("%s: host %u", shapes_text(a, &group->shape), h);
	}
	ASSERT_EQ(formulas_messages(a, &group->shape), messages)
		TH_LOG("%s", shapes_text(a, &group->shape));
}

static void prove(struct __test_metadata *_metadata, struct proof *proof)
{
	struct symbolic_adversary adversary = proof->adversary;
	u64 run;

	for (run = 0; run < proof->runs; run++, adversary.seed++) {
		symbolic_run_victims(&proof->group, &adversary);
		ASSERT_EQ(SYMBOLIC_SOUND, proof->group.outcome.fault)
			TH_LOG("%s", symbolic_outcome(&proof->group));
	}
}

static void prove_all(struct __test_metadata *_metadata, struct proof *proof, u8 operation)
{
	const struct coll_algorithm *a = NULL;
	struct shapes shapes;

	while ((a = next_algorithm(a))) {
		shapes = (struct shapes){
			.algorithm = a, .most_hosts = PROOF_HOSTS,
			.draws = proof->draws, .fewer = proof->draws,
			.random = seed_start(),
		};
		while (a->operation == operation && shapes_next(&shapes)) {
			symbolic_build(&proof->group, a, &shapes.shape);
			prove(_metadata, proof);
			if (!proof->draws)
				check_formulas(_metadata, &proof->group);
		}
	}
}

TEST_F(delivery, barrier_completes_nowhere_before_every_host_has_arrived)
{
	prove_all(_metadata, &self->proof, COLLSOCK_BARRIER);
}

TEST_F(delivery, allreduce_folds_each_contribution_once_in_rank_order_alike_on_all_hosts)
{
	prove_all(_metadata, &self->proof, COLLSOCK_ALLREDUCE);
}

TEST_F(delivery, reduce_folds_each_contribution_once_in_order_from_the_root_for_it_alone)
{
	prove_all(_metadata, &self->proof, COLLSOCK_REDUCE);
}

TEST_F(delivery, broadcast_gives_all_the_roots_payload_and_nothing_else)
{
	prove_all(_metadata, &self->proof, COLLSOCK_BROADCAST);
}

TEST_F(delivery, allgather_gives_all_the_block_of_every_host_once)
{
	prove_all(_metadata, &self->proof, COLLSOCK_ALLGATHER);
}

TEST_F(delivery, gather_gives_the_root_the_block_of_every_host_once)
{
	prove_all(_metadata, &self->proof, COLLSOCK_GATHER);
}

TEST_F(delivery, scatter_gives_every_host_its_block_of_the_roots)
{
	prove_all(_metadata, &self->proof, COLLSOCK_SCATTER);
}

TEST_F(delivery, scan_folds_what_hosts_up_to_each_and_below_it_contribute_once_in_rank_order)
{
	prove_all(_metadata, &self->proof, COLLSOCK_SCAN);
}

/* Structure: what can be checked without running */

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a;
	u64 y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* All edges of one kind of a whole group, as sortable numbers. */
struct edges {
	u64 *edge;
	u64 count, max;
};

static void edges_add(struct edges *e, u32 round, u32 from, u32 to)
{
	if (e->count == e->max) {
		e->max = 2 * e->max + 64;
		e->edge = realloc(e->edge, e->max * sizeof(u64));
	}
	e->edge[e->count++] = (u64)round << 40 | (u64)from << 20 | to;
}

static void edges_collect(const struct coll_schedule *s, struct edges *sends,
			  struct edges *recvs)
{
	u32 round, i;

	for (round = 0; round < s->rounds; round++) {
		const struct coll_round *r = &s->round[round];

		for (i = r->send_first; i < r->send_first + r->sends; i++)
			edges_add(sends, round, s->self, s->send[i].host);
		for (i = r->fold_first; i < r->fold_first + r->folds; i++)
			if (s->fold[i].host != s->self)
				edges_add(recvs, round, s->fold[i].host, s->self);
	}
}

/*
 * Everything that can be checked without running a group, in one pass, since the largest
 * group has a million edges.
 */
struct survey {
	int err, valid;
	u32 host;			/* where the first of these was wrong */
	u32 rounds_expected, rounds_seen;
	u64 messages;
	u64 only_sent, only_awaited;	/* the first of each, 0 if none */
	u32 synchronising;		/* hosts whose completion says that all have begun */
};

static void survey_edges(struct survey *result, struct edges *sends, struct edges *recvs)
{
	u64 i;

	qsort(sends->edge, sends->count, sizeof(u64), compare_u64);
	qsort(recvs->edge, recvs->count, sizeof(u64), compare_u64);
	result->messages = sends->count;
	for (i = 0; i < sends->count || i < recvs->count; i++) {
		u64 sent = i < sends->count ? sends->edge[i] : 0;
		u64 awaited = i < recvs->count ? recvs->edge[i] : 0;

		if (sent == awaited)
			continue;
		result->only_sent = sent;
		result->only_awaited = awaited;
		return;
	}
}

static struct survey survey(const struct coll_algorithm *a, struct coll_shape shape)
{
	struct survey result = { .rounds_expected = formulas_rounds(a, &shape) };
	struct edges sends = {}, recvs = {};
	struct coll_schedule s;

	result.rounds_seen = result.rounds_expected;
	for (shape.self = 0; shape.self < shape.hosts; shape.self++) {
		result.host = shape.self;
		result.err = a->build(&s, &shape);
		if (result.err)
			break;
		result.valid = validate_schedule(&s);
		result.rounds_seen = s.rounds;
		result.synchronising += s.synchronising;
		if (result.valid || result.rounds_seen != result.rounds_expected)
			break;
		edges_collect(&s, &sends, &recvs);
	}
	if (shape.self == shape.hosts && sends.count + recvs.count)
		survey_edges(&result, &sends, &recvs);
	free(sends.edge);
	free(recvs.edge);
	return result;
}

/* After sorting, the first difference is the one of the lowest round and sender. */
static const char *edge_text(u64 edge, char *text, size_t size)
{
	if (edge)
		snprintf(text, size, "in round %u from %u to %u", (u32)(edge >> 40),
			 (u32)(edge >> 20) & 0xfffff, (u32)edge & 0xfffff);
	else
		snprintf(text, size, "nothing");
	return text;
}

static void check_structure(struct __test_metadata *_metadata,
			    const struct coll_algorithm *a, const struct coll_shape *shape)
{
	struct survey s = survey(a, *shape);
	const struct coll_operation *operation = coll_operation_find(a->operation);
	bool for_all = operation->contributes == COLL_ALL &&
		       operation->receives == COLL_ALL && !operation->prefix;
	char sent[64], awaited[64];

	ASSERT_EQ(0, s.err)
		TH_LOG("%s: host %u", shapes_text(a, shape), s.host);
	ASSERT_EQ(0, s.valid)
		TH_LOG("%s: host %u", shapes_text(a, shape), s.host);
	ASSERT_EQ(s.rounds_expected, s.rounds_seen)
		TH_LOG("%s: host %u", shapes_text(a, shape), s.host);
	ASSERT_STREQ(edge_text(s.only_sent, sent, sizeof(sent)),
		     edge_text(s.only_awaited, awaited, sizeof(awaited)))
		TH_LOG("%s: first sent, then awaited", shapes_text(a, shape));
	ASSERT_EQ(formulas_messages(a, shape), s.messages)
		TH_LOG("%s", shapes_text(a, shape));
	ASSERT_EQ(for_all ? shape->hosts : 0, s.synchronising)
		TH_LOG("%s", shapes_text(a, shape));
}

TEST(every_entry_has_its_formulas)
{
	const struct coll_algorithm *a = NULL;

	while ((a = next_algorithm(a))) {
		EXPECT_TRUE(formulas_have(a))
			TH_LOG("%s by %s has no line in formulas.c",
			       operation_name(a->operation), algorithm_name(a));
	}
}

TEST(sends_match_receives_and_rounds_and_messages_the_formulas)
{
	const struct coll_algorithm *a = NULL;
	struct shapes shapes;

	while ((a = next_algorithm(a))) {
		shapes = (struct shapes){
			.algorithm = a, .most_hosts = COLLSOCK_MAX_HOSTS,
			.draws = 1, .random = seed_start(),
		};
		while (shapes_next(&shapes))
			check_structure(_metadata, a, &shapes.shape);
	}
}

/* Each host sends the same number: n times those of one host are all messages. */
/* So the first burst of all that send in one round is limited. */
static void check_fan_in(struct __test_metadata *_metadata, const struct coll_algorithm *a,
			 struct coll_shape shape)
{
	struct coll_schedule s[34];
	u32 round, i;

	for (shape.self = 0; shape.self < shape.hosts; shape.self++)
		ASSERT_EQ(0, a->build(&s[shape.self], &shape));
	for (shape.self = 0; shape.self < shape.hosts; shape.self++) {
		const struct coll_schedule *from = &s[shape.self];

		for (round = 0; round < from->rounds; round++) {
			const struct coll_round *r = &from->round[round];

			for (i = r->send_first; i < r->send_first + r->sends; i++) {
				ASSERT_EQ(s[from->send[i].host].round[round].recvs,
					  from->send[i].fan_in) {
					TH_LOG("%s: host %u, round %u", shapes_text(a, &shape),
					       shape.self, round);
				}
			}
		}
	}
}

TEST(send_edges_know_the_fan_in_of_their_receivers)
{
	static const u32 degrees[] = { 2, 3, 5, 16, 33 };
	u32 a, hosts, i;

	for (a = 0; a < coll_registry_count; a++)
		for (hosts = 2; hosts <= 34; hosts++)
			for (i = 0; i < ARRAY_SIZE(degrees); i++)
				check_fan_in(_metadata, coll_registry[a],
					     (struct coll_shape){ .hosts = hosts,
								  .degree = degrees[i] });
}

/* Messages that the busiest host receives */
static u32 most_received(const struct coll_algorithm *a, struct coll_shape shape)
{
	struct coll_schedule s;
	u32 i, most = 0, received;

	for (shape.self = 0; shape.self < shape.hosts; shape.self++) {
		a->build(&s, &shape);
		for (received = 0, i = 0; i < s.folds; i++)
			received += s.fold[i].host != shape.self;
		most = max(most, received);
	}
	return most;
}

/* Every size with the usual degree; with others the powers, what is beside them, and some */
static u32 next_size(u32 n, u32 degree)
{
	u32 power = 1;

	if (degree == 2 || n < 4096)
		return n + 1;
	while (power <= n)
		power *= degree;
	/* The next power is above n, the one before it at most n. */
	if (n + 1 < power - 1 && n > power / degree)
		return min(n + 101, power - 1);
	return n + 1;
}

TEST(dissemination_is_within_the_papers_formulas)
{
	const struct coll_algorithm *a;
	struct coll_shape shape;
	u32 k, n;

	a = coll_registry_find(COLLSOCK_BARRIER, COLLSOCK_DISSEMINATION);
	ASSERT_NE(NULL, a);
	for (k = 2; k <= a->most_degree; k++)
		for (n = 1; n <= COLLSOCK_MAX_HOSTS; n = next_size(n, k)) {
			shape = (struct coll_shape){ .hosts = n, .degree = k };
			ASSERT_EQ(ceil_log(n, k), shapes_rounds(a, &shape))
				TH_LOG("%s", shapes_text(a, &shape));
			ASSERT_LE(formulas_dissemination_work(&shape), (k - 1) * ceil_log(n, k))
				TH_LOG("%s", shapes_text(a, &shape));
		}
}

static void check_exchange(struct __test_metadata *_metadata, const struct coll_algorithm *a,
			   const struct coll_shape *shape)
{
	u32 k = shape->degree, log = floor_log(shape->hosts, k);

	ASSERT_LE(shapes_rounds(a, shape), log + (ceil_log(shape->hosts, k) > log ? 2 : 0))
		TH_LOG("%s", shapes_text(a, shape));
	ASSERT_LE(formulas_messages(a, shape),
		  (u64)shape->hosts * (k - 1) * shapes_rounds(a, shape))
		TH_LOG("%s", shapes_text(a, shape));
}

TEST(exchange_is_within_the_papers_formulas)
{
	static const u8 operations[] = { COLLSOCK_BARRIER, COLLSOCK_ALLREDUCE };
	const struct coll_algorithm *a;
	struct coll_shape shape;
	u32 i, k, n;

	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		a = coll_registry_find(operations[i], COLLSOCK_EXCHANGE);
		ASSERT_NE(NULL, a);
		for (k = 2; k <= a->most_degree; k++)
			for (n = 1; n <= COLLSOCK_MAX_HOSTS; n = next_size(n, k)) {
				shape = (struct coll_shape){ .hosts = n, .degree = k };
				check_exchange(_metadata, a, &shape);
			}
	}
}

TEST(no_host_of_an_exchange_or_dissemination_does_more_than_the_formulas_say)
{
	const struct coll_algorithm *exchange, *dissemination;
	struct coll_shape shape = {};

	exchange = coll_registry_find(COLLSOCK_ALLREDUCE, COLLSOCK_EXCHANGE);
	dissemination = coll_registry_find(COLLSOCK_BARRIER, COLLSOCK_DISSEMINATION);
	for (shape.degree = 2; shape.degree <= COLLSOCK_MAX_EXCHANGE_DEGREE; shape.degree++)
		for (shape.hosts = 1; shape.hosts <= 300; shape.hosts++) {
			ASSERT_EQ(formulas_exchange_work(&shape), most_received(exchange, shape))
				TH_LOG("%s", shapes_text(exchange, &shape));
			ASSERT_EQ(formulas_dissemination_work(&shape),
				  most_received(dissemination, shape))
				TH_LOG("%s", shapes_text(dissemination, &shape));
		}
}

TEST(up_to_the_degree_all_hosts_exchange_with_all_in_one_round)
{
	static const u8 algorithms[] = { COLLSOCK_DISSEMINATION, COLLSOCK_EXCHANGE };
	struct coll_shape shape = {};
	const struct coll_algorithm *a;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(algorithms); i++) {
		a = coll_registry_find(COLLSOCK_BARRIER, algorithms[i]);
		for (shape.degree = 2; shape.degree <= a->most_degree; shape.degree++)
			for (shape.hosts = 2; shape.hosts <= shape.degree; shape.hosts++) {
				ASSERT_EQ(1, shapes_rounds(a, &shape))
					TH_LOG("%s", shapes_text(a, &shape));
				ASSERT_EQ(shape.hosts - 1, most_received(a, shape))
					TH_LOG("%s", shapes_text(a, &shape));
			}
	}
}

/* Hosts that a host sends to or receives from. */
static u32 peers(const struct coll_schedule *s)
{
	static u8 seen[COLLSOCK_MAX_HOSTS];
	u32 count = 0;
	u32 i;

	memset(seen, 0, sizeof(seen));
	for (i = 0; i < s->sends; i++)
		seen[s->send[i].host] = 1;
	for (i = 0; i < s->folds; i++)
		seen[s->fold[i].host] = 1;
	seen[s->self] = 0;
	for (i = 0; i < s->hosts; i++)
		count += seen[i];
	return count;
}

static u32 most_peers(const struct coll_algorithm *a, u32 hosts)
{
	struct coll_shape shape = plain(hosts);
	struct coll_schedule s;
	u32 most = 0;

	for (shape.self = 0; shape.self < hosts; shape.self++) {
		a->build(&s, &shape);
		most = max(most, peers(&s));
	}
	return most;
}

TEST(a_host_among_1024_has_10_peers_in_pairwise_exchange_and_19_in_dissemination)
{
	EXPECT_EQ(10, most_peers(coll_registry_find(COLLSOCK_BARRIER,
						    COLLSOCK_EXCHANGE), 1024));
	EXPECT_EQ(10, most_peers(coll_registry_find(COLLSOCK_ALLREDUCE,
						    COLLSOCK_EXCHANGE), 1024));
	EXPECT_EQ(19, most_peers(coll_registry_find(COLLSOCK_BARRIER,
						    COLLSOCK_DISSEMINATION), 1024));
}

TEST(the_number_of_peers_is_within_what_auto_assumes)
{
	const struct coll_algorithm *dissemination, *pairwise;
	u32 n, m;

	dissemination = coll_registry_find(COLLSOCK_BARRIER, COLLSOCK_DISSEMINATION);
	pairwise = coll_registry_find(COLLSOCK_BARRIER, COLLSOCK_EXCHANGE);
	for (n = 2; n <= 130; n++) {
		m = floor_log2(n);
		if (1U << m == n) {
			EXPECT_EQ(m, most_peers(pairwise, n));
			EXPECT_EQ(2 * m - 1, most_peers(dissemination, n));
		} else {
			EXPECT_GE(m + 1, most_peers(pairwise, n));
			EXPECT_GE(2 * m + 2, most_peers(dissemination, n));
		}
	}
}

/* The registry and auto */

TEST(every_entry_is_found_by_its_operation_and_algorithm)
{
	const struct coll_algorithm *a = NULL;

	ASSERT_LE(11, coll_registry_count);
	while ((a = next_algorithm(a))) {
		EXPECT_EQ(a, coll_registry_find(a->operation, a->algorithm));
		EXPECT_NE(COLLSOCK_AUTO, a->algorithm);
	}
}

TEST(pairs_that_are_not_in_the_registry_are_not_found)
{
	EXPECT_NULL(coll_registry_find(COLLSOCK_BARRIER, COLLSOCK_AUTO));
	EXPECT_NULL(coll_registry_find(COLLSOCK_BARRIER, 255));
	EXPECT_NULL(coll_registry_find(0, COLLSOCK_DISSEMINATION));
	EXPECT_NULL(coll_registry_find(COLLSOCK_ALLREDUCE, COLLSOCK_DISSEMINATION));
}

TEST(the_usual_degree_of_an_algorithm_is_one_that_it_can_have)
{
	const struct coll_algorithm *a = NULL;
	u32 n;

	while ((a = next_algorithm(a))) {
		for (n = 1; n < 9; n++) {
			EXPECT_NE(1, coll_algorithm_usual_degree(a, n))
				TH_LOG("%s", algorithm_name(a));
			EXPECT_LE(coll_algorithm_usual_degree(a, n), a->most_degree)
				TH_LOG("%s", algorithm_name(a));
		}
		EXPECT_GE(COLLSOCK_MAX_DEGREE, a->most_degree)
			TH_LOG("%s", algorithm_name(a));
		EXPECT_TRUE(!a->most_degree || coll_algorithm_fits(a, 2, a->most_degree))
			TH_LOG("%s", algorithm_name(a));
		EXPECT_FALSE(coll_algorithm_fits(a, 2, a->most_degree + 1))
			TH_LOG("%s", algorithm_name(a));
		EXPECT_FALSE(coll_algorithm_fits(a, 2, 1))
			TH_LOG("%s", algorithm_name(a));
		EXPECT_EQ(!a->most_degree, coll_algorithm_fits(a, 2, 0))
			TH_LOG("%s", algorithm_name(a));
	}
}

static int build_smallest(const struct coll_algorithm *a, u32 hosts, u32 self)
{
	struct coll_shape shape = smallest(a, hosts, self);
	struct coll_schedule s;

	return a->build(&s, &shape);
}

TEST(invalid_hosts_and_groups_are_refused)
{
	const struct coll_algorithm *a = NULL;

	while ((a = next_algorithm(a))) {
		EXPECT_EQ(-EINVAL, build_smallest(a, 0, 0));
		EXPECT_EQ(-EINVAL, build_smallest(a, 5, 5));
		EXPECT_EQ(-EINVAL, build_smallest(a, 5, 0xffffffff));
		EXPECT_EQ(-EINVAL, build_smallest(a, COLLSOCK_MAX_HOSTS + 1, 0));
		EXPECT_EQ(-EINVAL, build_smallest(a, 0xffffffff, 0));
		EXPECT_EQ(0, build_smallest(a, COLLSOCK_MAX_HOSTS, COLLSOCK_MAX_HOSTS - 1));
	}
}

TEST(a_group_of_one_host_has_no_rounds)
{
	const struct coll_algorithm *a = NULL;
	struct coll_schedule s;

	while ((a = next_algorithm(a))) {
		struct coll_shape shape = smallest(a, 1, 0);

		ASSERT_EQ(0, a->build(&s, &shape));
		EXPECT_EQ(0, s.rounds);
		EXPECT_EQ(0, validate_schedule(&s));
		EXPECT_EQ(0, formulas_rounds(a, &shape));
		EXPECT_EQ(0, formulas_messages(a, &shape));
	}
}

TEST_HARNESS_MAIN
