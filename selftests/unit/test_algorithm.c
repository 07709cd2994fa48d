// SPDX-License-Identifier: GPL-2.0
/*
 * The proofs of all algorithms in the registry: each is run by the symbolic
 * executor for every number of hosts from 1 to 512 against adversaries that choose
 * the order of arrivals and messages. An algorithm that is new in the registry is
 * proved without a line here, save the bound of its paper.
 */
#include "kselftest_harness.h"

#include "symbolic.h"

#define PROOF_HOSTS	512

/* The entry after @a, of NULL the first; NULL after the last. */
static const struct coll_algorithm *next_algorithm(const struct coll_algorithm *a)
{
	a = a ? a + 1 : coll_algorithms;
	return a < coll_algorithms + coll_algorithms_count ? a : NULL;
}

/* The sizes of the proofs, then larger ones up to @most; 0 after the last. */
static u32 group_size(u32 i, u32 most)
{
	static const u32 larger[] = { 767, 1000, 1024, 4097, COLLSOCK_MAX_HOSTS };

	if (i < PROOF_HOSTS)
		return i + 1;
	i -= PROOF_HOSTS;
	return i < ARRAY_SIZE(larger) && larger[i] <= most ? larger[i] : 0;
}

/* The papers' logarithms, reckoned another way than the code under test does. */
static u32 floor_log2(u32 n)
{
	u32 log = 0;

	while (n >>= 1)
		log++;
	return log;
}

static u32 ceil_log2(u32 n)
{
	u32 log = 0;

	while (1ULL << log < n)
		log++;
	return log;
}

/* The adversaries: an order in which things happen, and what is held back. */
FIXTURE(delivery)
{
	struct symbolic_adversary adversary;
	struct symbolic_group group;
	u64 runs;		/* each with the next seed */
};

FIXTURE_VARIANT(delivery)
{
	struct symbolic_adversary adversary;
	bool fresh;
};

FIXTURE_VARIANT_ADD(delivery, oldest_first)
{
	.adversary = { .order = SYMBOLIC_FIFO },
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
	self->adversary = variant->adversary;
	self->runs = 1;
	if (variant->fresh) {
		self->adversary.seed = seed_start();
		self->runs = seed_soak();
	}
}

FIXTURE_TEARDOWN(delivery)
{
	symbolic_free(&self->group);
}

static void prove(struct __test_metadata *_metadata, struct symbolic_group *group,
		  struct symbolic_adversary adversary, u64 runs)
{
	for (; runs; runs--, adversary.seed++) {
		symbolic_run_victims(group, &adversary);
		ASSERT_EQ(SYMBOLIC_SOUND, group->verdict.fault)
			TH_LOG("%s", symbolic_verdict(group));
	}
}

static void prove_all(struct __test_metadata *_metadata, struct symbolic_group *group,
		      const struct symbolic_adversary *adversary, u64 runs, u8 operation)
{
	const struct coll_algorithm *a = NULL;
	u32 i, hosts;

	while ((a = next_algorithm(a))) {
		if (a->operation != operation)
			continue;
		for (i = 0; (hosts = group_size(i, 1024)); i++) {
			symbolic_build(group, a, hosts);
			prove(_metadata, group, *adversary, runs);
		}
	}
}

TEST_F_TIMEOUT(delivery, barrier_completes_nowhere_before_every_host_has_arrived, 600)
{
	prove_all(_metadata, &self->group, &self->adversary, self->runs, COLLSOCK_BARRIER);
}

TEST_F_TIMEOUT(delivery,
	       allreduce_folds_each_contribution_once_in_rank_order_alike_on_all_hosts, 600)
{
	prove_all(_metadata, &self->group, &self->adversary, self->runs,
		  COLLSOCK_ALLREDUCE);
}

/* Structure: what can be said without running */

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
 * Everything that is said of a group without running it, in one pass, for the
 * largest group has a million edges.
 */
struct survey {
	int err, valid;
	u32 host;			/* where the first of these was not as it must be */
	u32 rounds_expected, rounds_seen;
	u64 messages;
	u64 only_sent, only_awaited;	/* the first of each, 0 if none */
	bool all_to_all;
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

static struct survey survey(const struct coll_algorithm *a, u32 hosts)
{
	struct survey result = { .rounds_expected = a->rounds(hosts), .all_to_all = true };
	struct edges sends = {}, recvs = {};
	struct coll_schedule s;

	result.rounds_seen = result.rounds_expected;
	for (; result.host < hosts; result.host++) {
		result.err = a->build(&s, hosts, result.host);
		if (result.err)
			break;
		result.valid = coll_schedule_validate(&s);
		result.rounds_seen = s.rounds;
		result.all_to_all &= s.all_to_all;
		if (result.valid || result.rounds_seen != result.rounds_expected)
			break;
		edges_collect(&s, &sends, &recvs);
	}
	if (result.host == hosts && sends.count + recvs.count)
		survey_edges(&result, &sends, &recvs);
	free(sends.edge);
	free(recvs.edge);
	return result;
}

/* Sorted, the first difference is the one of the lowest round and sender. */
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
			    const struct coll_algorithm *a, u32 hosts)
{
	struct survey s = survey(a, hosts);
	char sent[64], awaited[64];

	ASSERT_EQ(0, s.err)
		TH_LOG("%s, %u hosts: host %u", a->name, hosts, s.host);
	ASSERT_EQ(0, s.valid)
		TH_LOG("%s, %u hosts: host %u", a->name, hosts, s.host);
	ASSERT_EQ(s.rounds_expected, s.rounds_seen)
		TH_LOG("%s, %u hosts: host %u", a->name, hosts, s.host);
	ASSERT_STREQ(edge_text(s.only_sent, sent, sizeof(sent)),
		     edge_text(s.only_awaited, awaited, sizeof(awaited)))
		TH_LOG("%s, %u hosts: first sent, then awaited", a->name, hosts);
	ASSERT_EQ(a->messages(hosts), s.messages)
		TH_LOG("%s, %u hosts", a->name, hosts);
	ASSERT_TRUE(s.all_to_all)
		TH_LOG("%s, %u hosts", a->name, hosts);
}

TEST(sends_match_receives_and_rounds_and_messages_the_formulas)
{
	const struct coll_algorithm *a = NULL;
	u32 hosts, i;

	while ((a = next_algorithm(a)))
		for (i = 0; (hosts = group_size(i, COLLSOCK_MAX_HOSTS)); i++)
			check_structure(_metadata, a, hosts);
}

TEST(dissemination_is_within_the_papers_formulas)
{
	const struct coll_algorithm *a;
	u32 n;

	a = coll_algorithm_find(COLLSOCK_BARRIER, COLLSOCK_DISSEMINATION);
	ASSERT_NE(NULL, a);
	for (n = 1; n <= COLLSOCK_MAX_HOSTS; n++) {
		ASSERT_LE(a->rounds(n), ceil_log2(n))
			TH_LOG("%s, %u hosts", a->name, n);
		ASSERT_LE(a->messages(n), (u64)n * ceil_log2(n))
			TH_LOG("%s, %u hosts", a->name, n);
	}
}

TEST(pairwise_exchange_is_within_the_papers_formulas)
{
	static const u8 operations[] = { COLLSOCK_BARRIER, COLLSOCK_ALLREDUCE };
	const struct coll_algorithm *a;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		a = coll_algorithm_find(operations[i], COLLSOCK_PAIRWISE_EXCHANGE);
		ASSERT_NE(NULL, a);
		for (n = 1; n <= COLLSOCK_MAX_HOSTS; n++) {
			bool power = 1U << floor_log2(n) == n;

			ASSERT_LE(a->rounds(n), floor_log2(n) + (power ? 0 : 2))
				TH_LOG("%s, %u hosts", a->name, n);
			ASSERT_LE(a->messages(n), (u64)n * a->rounds(n))
				TH_LOG("%s, %u hosts", a->name, n);
		}
	}
}

/* Hosts that a host sends to or hears from. */
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
	struct coll_schedule s;
	u32 most = 0;
	u32 self;

	for (self = 0; self < hosts; self++) {
		a->build(&s, hosts, self);
		most = max(most, peers(&s));
	}
	return most;
}

TEST(a_host_among_1024_has_10_peers_in_pairwise_exchange_and_19_in_dissemination)
{
	EXPECT_EQ(10, most_peers(coll_algorithm_find(COLLSOCK_BARRIER,
						     COLLSOCK_PAIRWISE_EXCHANGE), 1024));
	EXPECT_EQ(10, most_peers(coll_algorithm_find(COLLSOCK_ALLREDUCE,
						     COLLSOCK_PAIRWISE_EXCHANGE), 1024));
	EXPECT_EQ(19, most_peers(coll_algorithm_find(COLLSOCK_BARRIER,
						     COLLSOCK_DISSEMINATION), 1024));
}

TEST(a_hosts_peers_are_within_what_auto_reckons_with)
{
	const struct coll_algorithm *dissemination, *pairwise;
	u32 n, m;

	dissemination = coll_algorithm_find(COLLSOCK_BARRIER, COLLSOCK_DISSEMINATION);
	pairwise = coll_algorithm_find(COLLSOCK_BARRIER, COLLSOCK_PAIRWISE_EXCHANGE);
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

	ASSERT_LE(3, coll_algorithms_count);
	while ((a = next_algorithm(a))) {
		EXPECT_EQ(a, coll_algorithm_find(a->operation, a->algorithm));
		EXPECT_NE(COLLSOCK_AUTO, a->algorithm);
	}
}

TEST(what_is_not_in_the_registry_is_not_found)
{
	EXPECT_NULL(coll_algorithm_find(COLLSOCK_BARRIER, COLLSOCK_AUTO));
	EXPECT_NULL(coll_algorithm_find(COLLSOCK_BARRIER, 255));
	EXPECT_NULL(coll_algorithm_find(0, COLLSOCK_DISSEMINATION));
	EXPECT_NULL(coll_algorithm_find(COLLSOCK_ALLREDUCE, COLLSOCK_DISSEMINATION));
	EXPECT_EQ(COLLSOCK_AUTO, coll_algorithm_auto(255, 8));
}

TEST(auto_is_an_entry_for_every_number_of_hosts)
{
	u8 algorithm;
	u32 n;

	for (n = 1; n <= COLLSOCK_MAX_HOSTS; n++) {
		algorithm = coll_algorithm_auto(COLLSOCK_BARRIER, n);
		ASSERT_NE(NULL, coll_algorithm_find(COLLSOCK_BARRIER, algorithm))
			TH_LOG("%u hosts", n);
		algorithm = coll_algorithm_auto(COLLSOCK_ALLREDUCE, n);
		ASSERT_NE(NULL, coll_algorithm_find(COLLSOCK_ALLREDUCE, algorithm))
			TH_LOG("%u hosts", n);
	}
}

TEST(auto_is_pairwise_exchange_for_powers_of_two_and_for_data_else_dissemination)
{
	u32 n;

	for (n = 1; n <= COLLSOCK_MAX_HOSTS; n++) {
		u8 barrier = 1U << floor_log2(n) == n ? COLLSOCK_PAIRWISE_EXCHANGE :
							COLLSOCK_DISSEMINATION;

		ASSERT_EQ(barrier, coll_algorithm_auto(COLLSOCK_BARRIER, n))
			TH_LOG("%u hosts", n);
		ASSERT_EQ(COLLSOCK_PAIRWISE_EXCHANGE,
			  coll_algorithm_auto(COLLSOCK_ALLREDUCE, n))
			TH_LOG("%u hosts", n);
	}
}

TEST(auto_never_takes_more_rounds_than_another_algorithm_would)
{
	const struct coll_algorithm *a = NULL;
	const struct coll_algorithm *chosen;
	u32 n;

	while ((a = next_algorithm(a)))
		for (n = 1; n <= COLLSOCK_MAX_HOSTS; n++) {
			chosen = coll_algorithm_find(a->operation,
						     coll_algorithm_auto(a->operation, n));
			ASSERT_NE(NULL, chosen);
			ASSERT_LE(chosen->rounds(n), a->rounds(n))
				TH_LOG("%s, %u hosts", a->name, n);
		}
}

TEST(hosts_and_groups_that_cannot_be_are_refused)
{
	const struct coll_algorithm *a = NULL;
	struct coll_schedule s;

	while ((a = next_algorithm(a))) {
		EXPECT_EQ(-EINVAL, a->build(&s, 0, 0));
		EXPECT_EQ(-EINVAL, a->build(&s, 5, 5));
		EXPECT_EQ(-EINVAL, a->build(&s, 5, 0xffffffff));
		EXPECT_EQ(-EINVAL, a->build(&s, COLLSOCK_MAX_HOSTS + 1, 0));
		EXPECT_EQ(-EINVAL, a->build(&s, 0xffffffff, 0));
		EXPECT_EQ(0, a->build(&s, COLLSOCK_MAX_HOSTS, COLLSOCK_MAX_HOSTS - 1));
	}
}

TEST(a_group_of_one_host_has_no_rounds)
{
	const struct coll_algorithm *a = NULL;
	struct coll_schedule s;

	while ((a = next_algorithm(a))) {
		ASSERT_EQ(0, a->build(&s, 1, 0));
		EXPECT_EQ(0, s.rounds);
		EXPECT_EQ(0, coll_schedule_validate(&s));
		EXPECT_EQ(0, a->messages(1));
	}
}

TEST_HARNESS_MAIN
