// SPDX-License-Identifier: GPL-2.0
/*
 * What the operations of a group may use: algorithms and degrees, as JOIN says, and what a
 * group does with each of them.
 */
#include "descriptor.h"
#include "formulas.h"
#include "names.h"
#include "net_fixture.h"
#include "seed.h"

#define SECOND	((u64)NSEC_PER_SEC)

/* ---- requests to join ---- */

static bool valid(const struct collsock_join *j)
{
	struct coll_menu menu;

	coll_menu_init(&menu, j);
	return coll_menu_valid(&menu, j);
}

#define VALID(expected, size, ...) ({						\
	const struct collsock_join j = { .hosts = size, __VA_ARGS__ };		\
										\
	EXPECT_EQ(expected, valid(&j)) TH_LOG(#__VA_ARGS__);			\
})

#define KARY_HOSTS	COLLSOCK_MAX_KARY_HOSTS

TEST(a_request_names_only_what_a_group_of_its_size_can_have)
{
	VALID(true, 12, .degree = 0);
	VALID(false, 12, .degree = 1);
	VALID(true, 12, .degree = 2);
	VALID(true, 12, .degree = COLLSOCK_MAX_DEGREE);
	VALID(false, 12, .degree = COLLSOCK_MAX_DEGREE + 1);
	VALID(false, 12, .degrees = COLLSOCK_DEGREE(1));
	VALID(true, 12, .degrees = ~COLLSOCK_DEGREE(1));
	VALID(true, KARY_HOSTS, .degrees = COLLSOCK_DEGREE(17));
	VALID(false, KARY_HOSTS + 1, .degrees = COLLSOCK_DEGREE(17));
	VALID(true, KARY_HOSTS + 1, .degrees = COLLSOCK_DEGREE(16));
	VALID(true, 12, .algorithms = BIT_ULL(COLLSOCK_KARY));
	VALID(false, KARY_HOSTS + 1, .algorithms = BIT_ULL(COLLSOCK_KARY));
	VALID(true, 12, .algorithms = BIT_ULL(COLLSOCK_KARY), .degree = 2);
	VALID(true, 12, .algorithms = BIT_ULL(COLLSOCK_KARY), .degrees = COLLSOCK_DEGREE(2));
	VALID(false, KARY_HOSTS + 1, .algorithms = BIT_ULL(COLLSOCK_KARY), .degree = 2);
	VALID(true, KARY_HOSTS + 1, .degree = 2);
	VALID(true, 12, .algorithm = { [COLLSOCK_REDUCE] = COLLSOCK_KARY });
	VALID(false, KARY_HOSTS + 1, .algorithm = { [COLLSOCK_REDUCE] = COLLSOCK_KARY });
	VALID(true, 12, .algorithm = { [COLLSOCK_REDUCE] = COLLSOCK_KARY }, .degree = 3);
	VALID(true, COLLSOCK_MAX_FLAT_HOSTS, .algorithms = BIT_ULL(COLLSOCK_FLAT));
	VALID(false, COLLSOCK_MAX_FLAT_HOSTS + 1, .algorithms = BIT_ULL(COLLSOCK_FLAT));
	VALID(true, COLLSOCK_MAX_FLAT_HOSTS, .algorithm = { [COLLSOCK_REDUCE] = COLLSOCK_FLAT });
	VALID(false, COLLSOCK_MAX_FLAT_HOSTS + 1,
	      .algorithm = { [COLLSOCK_REDUCE] = COLLSOCK_FLAT });
	VALID(true, 1, .algorithms = BIT_ULL(COLLSOCK_FLAT) | BIT_ULL(COLLSOCK_MCS));
	VALID(true, COLLSOCK_MAX_HOSTS, .algorithms = BIT_ULL(COLLSOCK_MCS));
	VALID(true, 12, .algorithm = { [COLLSOCK_ALLREDUCE] = COLLSOCK_MCS });
	VALID(false, 12, .algorithm = { [COLLSOCK_REDUCE] = COLLSOCK_MCS });
	VALID(false, 12, .degrees = COLLSOCK_DEGREE(20), .algorithms = BIT_ULL(COLLSOCK_EXCHANGE));
}

/* ---- posts ---- */

static int choose(const struct coll_menu *menu, const struct collsock_post *post, u32 bytes,
		  struct coll_choice *choice)
{
	const struct coll_choice *usual = coll_menu_usual(menu, post, bytes);

	if (!usual)
		return coll_menu_search(menu, post, bytes, choice);
	*choice = *usual;
	return 0;
}

struct asked {
	u8	operation;
	u8	algorithm;
	u32	degree;
	int	error;
	u8	gets_algorithm;
	u8	gets_degree;
};

static void check_asked(struct __test_metadata *_metadata, const struct collsock_join *j,
			const struct asked *asked)
{
	const struct collsock_post post = {
		.operation = asked->operation, .algorithm = asked->algorithm,
		.degree = asked->degree,
	};
	struct coll_choice choice = {};
	struct coll_menu menu;

	coll_menu_init(&menu, j);
	ASSERT_TRUE(coll_menu_valid(&menu, j));
	EXPECT_EQ(asked->error, choose(&menu, &post, 0, &choice))
		TH_LOG("operation %u, algorithm %u, degree %u", asked->operation,
		       asked->algorithm, asked->degree);
	EXPECT_EQ(asked->gets_algorithm, choice.algorithm)
		TH_LOG("operation %u, algorithm %u, degree %u", asked->operation,
		       asked->algorithm, asked->degree);
	EXPECT_EQ(asked->gets_degree, choice.degree)
		TH_LOG("operation %u, algorithm %u, degree %u", asked->operation,
		       asked->algorithm, asked->degree);
}

TEST(a_post_gets_the_degree_that_it_names_or_that_of_the_group)
{
	static const struct collsock_join j = {
		.hosts = 12, .degree = 3, .degrees = COLLSOCK_DEGREE(5) | COLLSOCK_DEGREE(20),
	};
	static const struct asked asked[] = {
		{ COLLSOCK_BARRIER, COLLSOCK_DISSEMINATION, 0, 0, COLLSOCK_DISSEMINATION, 3 },
		{ COLLSOCK_BARRIER, COLLSOCK_DISSEMINATION, 3, 0, COLLSOCK_DISSEMINATION, 3 },
		{ COLLSOCK_BARRIER, COLLSOCK_DISSEMINATION, 5, 0, COLLSOCK_DISSEMINATION, 5 },
		{ COLLSOCK_BARRIER, COLLSOCK_EXCHANGE, 5, 0, COLLSOCK_EXCHANGE, 5 },
		{ COLLSOCK_ALLREDUCE, COLLSOCK_AUTO, 5, 0, COLLSOCK_EXCHANGE, 5 },
		{ COLLSOCK_REDUCE, COLLSOCK_KARY, 0, 0, COLLSOCK_KARY, 3 },
		{ COLLSOCK_REDUCE, COLLSOCK_KARY, 20, 0, COLLSOCK_KARY, 20 },
		{ COLLSOCK_REDUCE, COLLSOCK_AUTO, 0, 0, COLLSOCK_BINOMIAL, 0 },
		{ COLLSOCK_REDUCE, COLLSOCK_BINOMIAL, 0, 0, COLLSOCK_BINOMIAL, 0 },
		/* Nothing is reserved for these. */
		{ COLLSOCK_BARRIER, COLLSOCK_DISSEMINATION, 2, -ERANGE, 0, 0 },
		{ COLLSOCK_BARRIER, COLLSOCK_DISSEMINATION, 16, -ERANGE, 0, 0 },
		{ COLLSOCK_BARRIER, COLLSOCK_AUTO, 4, -ERANGE, 0, 0 },
		{ COLLSOCK_REDUCE, COLLSOCK_KARY, 64, -ERANGE, 0, 0 },
		/* No group can have these. */
		{ COLLSOCK_BARRIER, COLLSOCK_DISSEMINATION, 1, -EINVAL, 0, 0 },
		{ COLLSOCK_BARRIER, COLLSOCK_DISSEMINATION, 20, -EINVAL, 0, 0 },
		{ COLLSOCK_BARRIER, COLLSOCK_AUTO, 1, -EINVAL, 0, 0 },
		{ COLLSOCK_REDUCE, COLLSOCK_BINOMIAL, 3, -EINVAL, 0, 0 },
		{ COLLSOCK_REDUCE, COLLSOCK_AUTO, 3, -EINVAL, 0, 0 },
		{ COLLSOCK_REDUCE, COLLSOCK_KARY, 65, -EINVAL, 0, 0 },
		{ COLLSOCK_REDUCE, COLLSOCK_KARY, 256 + 3, -EINVAL, 0, 0 },
		{ COLLSOCK_REDUCE, COLLSOCK_DISSEMINATION, 3, -EINVAL, 0, 0 },
		{ COLLSOCK_BARRIER, 255, 3, -EINVAL, 0, 0 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(asked); i++)
		check_asked(_metadata, &j, &asked[i]);
}

/* Others pay nothing for them. */
TEST(posts_may_name_flat_and_mcs_trees_only_if_join_does)
{
	static const struct collsock_join unnamed = { .hosts = 12, .degree = 3 };
	static const struct collsock_join named = {
		.hosts = 12, .degree = 3,
		.algorithms = BIT_ULL(COLLSOCK_FLAT) | BIT_ULL(COLLSOCK_MCS),
	};
	static const struct collsock_join automatic = {
		.hosts = 12, .algorithm = { [COLLSOCK_BARRIER] = COLLSOCK_MCS,
					    [COLLSOCK_BROADCAST] = COLLSOCK_FLAT },
	};
	static const struct {
		const struct collsock_join *join;
		struct asked asked;
	} lines[] = {
		{ &unnamed, { COLLSOCK_BARRIER, COLLSOCK_FLAT, 0, -EINVAL, 0, 0 } },
		{ &unnamed, { COLLSOCK_BARRIER, COLLSOCK_MCS, 0, -EINVAL, 0, 0 } },
		{ &named, { COLLSOCK_BARRIER, COLLSOCK_FLAT, 0, 0, COLLSOCK_FLAT, 0 } },
		{ &named, { COLLSOCK_REDUCE, COLLSOCK_FLAT, 0, 0, COLLSOCK_FLAT, 0 } },
		{ &named, { COLLSOCK_ALLREDUCE, COLLSOCK_MCS, 0, 0, COLLSOCK_MCS, 0 } },
		{ &named, { COLLSOCK_BROADCAST, COLLSOCK_MCS, 0, -EINVAL, 0, 0 } },
		{ &named, { COLLSOCK_ALLREDUCE, COLLSOCK_FLAT, 3, -EINVAL, 0, 0 } },
		{ &named, { COLLSOCK_ALLREDUCE, COLLSOCK_MCS, 4, -EINVAL, 0, 0 } },
		{ &named, { COLLSOCK_BARRIER, COLLSOCK_KARY, 0, -EINVAL, 0, 0 } },
		{ &named, { COLLSOCK_BROADCAST, COLLSOCK_AUTO, 0, 0, COLLSOCK_BINOMIAL, 0 } },
		{ &automatic, { COLLSOCK_BARRIER, COLLSOCK_AUTO, 0, 0, COLLSOCK_MCS, 0 } },
		{ &automatic, { COLLSOCK_BROADCAST, COLLSOCK_AUTO, 0, 0, COLLSOCK_FLAT, 0 } },
		{ &automatic, { COLLSOCK_REDUCE, COLLSOCK_AUTO, 0, 0, COLLSOCK_BINOMIAL, 0 } },
		{ &automatic, { COLLSOCK_BROADCAST, COLLSOCK_FLAT, 0, -EINVAL, 0, 0 } },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lines); i++)
		check_asked(_metadata, lines[i].join, &lines[i].asked);
}

TEST(an_algorithm_with_a_lower_limit_than_the_groups_degree_has_its_limit)
{
	static const struct collsock_join j = { .hosts = 100, .degree = 64 };
	static const struct asked asked[] = {
		{ COLLSOCK_BARRIER, COLLSOCK_AUTO, 0, 0, COLLSOCK_DISSEMINATION, 16 },
		{ COLLSOCK_BARRIER, COLLSOCK_EXCHANGE, 16, 0, COLLSOCK_EXCHANGE, 16 },
		{ COLLSOCK_BARRIER, COLLSOCK_EXCHANGE, 64, -EINVAL, 0, 0 },
		{ COLLSOCK_BARRIER, COLLSOCK_KARY, 0, 0, COLLSOCK_KARY, 64 },
		{ COLLSOCK_BARRIER, COLLSOCK_KARY, 16, -ERANGE, 0, 0 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(asked); i++)
		check_asked(_metadata, &j, &asked[i]);
}

/* So a post that names no algorithm has one with every degree that JOIN names. */
TEST(auto_has_memory_with_every_degree_whatever_posts_may_name)
{
	const struct collsock_post barrier = { .operation = COLLSOCK_BARRIER };
	struct collsock_join j = { .algorithms = BIT_ULL(COLLSOCK_BINOMIAL) };
	struct collsock_post post = barrier;
	struct coll_choice choice;
	struct coll_menu menu;

	j.degrees = ~1ULL;
	for (j.hosts = 1; j.hosts <= 300; j.hosts++) {
		/* The mask also has degrees that no algorithm of this group has. */
		coll_menu_init(&menu, &j);
		for (post.degree = 2; post.degree <= COLLSOCK_MAX_EXCHANGE_DEGREE; post.degree++) {
			ASSERT_EQ(0, choose(&menu, &post, 0, &choice))
				TH_LOG("%u hosts, degree %u", j.hosts, post.degree);
			ASSERT_EQ(post.degree, choice.degree);
		}
		ASSERT_EQ(0, choose(&menu, &barrier, 0, &choice));
		ASSERT_EQ(j.hosts == 3 ? 3 : 2, choice.degree);
	}
}

/* ---- auto ---- */

static struct coll_choice usual(u8 operation, u32 hosts, u8 degree)
{
	const struct collsock_join j = { .hosts = hosts, .degree = degree };
	struct coll_menu menu;

	coll_menu_init(&menu, &j);
	return menu.usual[operation][COLLSOCK_AUTO];
}

static bool is_power_of_2(u32 n)
{
	return n && !(n & (n - 1));
}

static bool is_power_of_4(u32 n)
{
	return is_power_of_2(n) && n & 0x55555555;
}

TEST(auto_is_pairwise_exchange_for_powers_of_two_and_for_data_else_dissemination_but_for_three)
{
	u32 n;

	for (n = 1; n <= COLLSOCK_MAX_HOSTS; n++) {
		u8 barrier = n == 3 || n == 1U << floor_log2(n) ? COLLSOCK_EXCHANGE :
								  COLLSOCK_DISSEMINATION;
		u8 degree = n == 3 ? 3 : 2;

		ASSERT_EQ(barrier, usual(COLLSOCK_BARRIER, n, 0).algorithm)
			TH_LOG("%u hosts", n);
		ASSERT_EQ(degree, usual(COLLSOCK_BARRIER, n, 0).degree)
			TH_LOG("%u hosts", n);
		ASSERT_EQ(COLLSOCK_EXCHANGE, usual(COLLSOCK_ALLREDUCE, n, 0).algorithm)
			TH_LOG("%u hosts", n);
		ASSERT_EQ(n > 5 && is_power_of_4(n - 1) ? 4 : degree,
			  usual(COLLSOCK_ALLREDUCE, n, 0).degree)
			TH_LOG("%u hosts", n);
	}
}

/* In a group with vectors of up to @max_bytes */
static struct coll_choice usual_among(u8 operation, u32 hosts, u8 degree, u32 bytes, u32 max_bytes)
{
	const struct collsock_join j = { .hosts = hosts, .degree = degree, .max_bytes = max_bytes };
	const struct collsock_post post = { .operation = operation };
	struct coll_choice choice;
	struct coll_menu menu;

	coll_menu_init(&menu, &j);
	if (choose(&menu, &post, bytes, &choice))
		abort();
	return choice;
}

static struct coll_choice usual_of(u8 operation, u32 hosts, u8 degree, u32 bytes)
{
	return usual_among(operation, hosts, degree, bytes, COLLSOCK_MAX_PAYLOAD);
}

/* Of several hosts without a degree; a tree if one is more than a power of two */
TEST(auto_is_halving_or_a_binary_tree_for_long_allreduces)
{
	static const u8 reducing[] = { COLLSOCK_ALLREDUCE, COLLSOCK_REDUCE_SCATTER_BLOCK };
	u32 n, i;

	for (n = 1; n <= 300; n++) {
		bool one_more = n > 4 && is_power_of_2(n - 1);
		u32 medium = n == 3 ? 8192 : n < 5 ? 4096 : one_more && n > 5 ? 1056 : 2048;

		for (i = 0; i < ARRAY_SIZE(reducing); i++) {
			u8 longer = n < 3 ? COLLSOCK_EXCHANGE :
				    one_more ? COLLSOCK_KARY : COLLSOCK_HALVING;

			ASSERT_EQ(COLLSOCK_EXCHANGE, usual_of(reducing[i], n, 0, 512).algorithm);
			ASSERT_EQ(COLLSOCK_EXCHANGE, usual_of(reducing[i], n, 0, medium).algorithm);
			ASSERT_EQ(longer, usual_of(reducing[i], n, 0, medium + 1).algorithm)
				TH_LOG("%u hosts", n);
			ASSERT_EQ(longer, usual_of(reducing[i], n, 0, 65536).algorithm);
			ASSERT_EQ(longer == COLLSOCK_HALVING ? 0 : 2,
				  usual_of(reducing[i], n, 0, 65536).degree);
			ASSERT_EQ(COLLSOCK_EXCHANGE, usual_of(reducing[i], n, 3, 65536).algorithm);
		}
	}
}

/* A group without vectors of that length reserves nothing for it. */
TEST(a_group_has_halving_if_it_has_long_vectors_or_names_it)
{
	struct collsock_join j = { .hosts = 16, .max_bytes = 2048 };
	struct coll_menu menu;

	coll_menu_init(&menu, &j);
	EXPECT_FALSE(coll_menu_offers(&menu, &coll_halving_allreduce, 0));
	EXPECT_TRUE(coll_menu_valid(&menu, &j));
	j.max_bytes = 2049;
	coll_menu_init(&menu, &j);
	EXPECT_TRUE(coll_menu_offers(&menu, &coll_halving_allreduce, 0));
	EXPECT_TRUE(coll_menu_valid(&menu, &j));
	j.algorithm[COLLSOCK_ALLREDUCE] = COLLSOCK_BINOMIAL;
	j.algorithm[COLLSOCK_REDUCE_SCATTER_BLOCK] = COLLSOCK_BINOMIAL;
	coll_menu_init(&menu, &j);
	EXPECT_FALSE(coll_menu_offers(&menu, &coll_halving_allreduce, 0));
	/* Nor does one whose degree is for exchange. */
	j = (struct collsock_join){ .hosts = 16, .max_bytes = 65536, .degree = 4 };
	coll_menu_init(&menu, &j);
	EXPECT_FALSE(coll_menu_offers(&menu, &coll_halving_allreduce, 0));
	j.algorithms = BIT_ULL(COLLSOCK_HALVING);
	coll_menu_init(&menu, &j);
	EXPECT_TRUE(coll_menu_offers(&menu, &coll_halving_allreduce, 0));
}

/* With a degree, which is for other operations, and for what is moved only, it is binomial. */
TEST(auto_is_a_binomial_tree_where_a_degree_is_selected)
{
	u32 n;

	for (n = 1; n <= COLLSOCK_MAX_HOSTS; n++) {
		u8 degree = 2 + n % 63;

		ASSERT_EQ(COLLSOCK_BINOMIAL, usual_of(COLLSOCK_REDUCE, n, degree, 8).algorithm)
			TH_LOG("%u hosts", n);
		ASSERT_EQ(COLLSOCK_BINOMIAL, usual_of(COLLSOCK_BROADCAST, n, degree, 8).algorithm)
			TH_LOG("%u hosts", n);
		ASSERT_EQ(COLLSOCK_BINOMIAL, usual_of(COLLSOCK_GATHER, n, 0, 8).algorithm)
			TH_LOG("%u hosts", n);
		ASSERT_EQ(COLLSOCK_BINOMIAL, usual_of(COLLSOCK_SCATTER, n, 0, 8).algorithm)
			TH_LOG("%u hosts", n);
	}
}

/* A k-ary tree of this degree; 0: a binomial one */
static void check_tree(struct __test_metadata *_metadata, u32 hosts, u8 degree,
		       struct coll_choice choice)
{
	EXPECT_EQ(degree ? COLLSOCK_KARY : COLLSOCK_BINOMIAL, choice.algorithm)
		TH_LOG("%u hosts", hosts);
	EXPECT_EQ(degree, choice.degree) TH_LOG("%u hosts", hosts);
}

static bool is_one_more(u32 hosts)
{
	return hosts > 4 && is_power_of_2(hosts - 1);
}

/* The longest vectors that are not long */
static u32 medium_reduce(u32 hosts)
{
	if (hosts == 8 || hosts == 16)
		return 4096;
	return hosts == 4 || hosts == 6 || is_one_more(hosts) ? 1056 : 2048;
}

static u32 medium_broadcast(u32 hosts)
{
	if (hosts == 5 || hosts == 6)
		return 2048;
	return hosts >= 7 && hosts <= 20 ? 4096 : 3072;
}

/* But for four hosts, where a binary tree is as fast or faster. */
TEST(auto_is_a_binomial_tree_for_reduces_and_one_of_degree_4_for_broadcasts_that_are_not_long)
{
	u32 n;

	for (n = 1; n <= COLLSOCK_MAX_HOSTS; n++) {
		u8 sends = n <= COLLSOCK_MAX_KARY_HOSTS && n != 7 ? 4 : 0;
		u8 reduces = n == 4 ? 2 : 0;

		check_tree(_metadata, n, reduces, usual_of(COLLSOCK_REDUCE, n, 0, 8));
		check_tree(_metadata, n, reduces,
			   usual_of(COLLSOCK_REDUCE, n, 0, medium_reduce(n)));
		check_tree(_metadata, n, sends, usual_of(COLLSOCK_BROADCAST, n, 0, 8));
		check_tree(_metadata, n, sends,
			   usual_of(COLLSOCK_BROADCAST, n, 0, medium_broadcast(n)));
	}
}

TEST(auto_is_a_binary_tree_for_long_broadcasts_and_reduces_of_several_hosts)
{
	u32 n;

	for (n = 3; n <= COLLSOCK_MAX_HOSTS; n++) {
		bool small = n <= COLLSOCK_MAX_KARY_HOSTS;
		bool reduces = small && n > 4, sends = small && n != 4 && n != 6;

		check_tree(_metadata, n, reduces ? 2 : 0,
			   usual_of(COLLSOCK_REDUCE, n, 0, medium_reduce(n) + 1));
		check_tree(_metadata, n, sends ? 2 : 0,
			   usual_of(COLLSOCK_BROADCAST, n, 0, medium_broadcast(n) + 1));
	}
}

/* 17, 65 hosts: other degrees for lengths between */
TEST(a_vector_that_is_not_short_has_the_choice_for_its_length)
{
	EXPECT_EQ(2, usual_of(COLLSOCK_ALLREDUCE, 17, 0, 128).degree);
	EXPECT_EQ(4, usual_of(COLLSOCK_ALLREDUCE, 17, 0, 129).degree);
	EXPECT_EQ(4, usual_of(COLLSOCK_ALLREDUCE, 17, 0, 1056).degree);
	EXPECT_EQ(2, usual_of(COLLSOCK_ALLREDUCE, 17, 0, 1057).degree);
	EXPECT_EQ(COLLSOCK_KARY, usual_of(COLLSOCK_ALLREDUCE, 17, 0, 1057).algorithm);
}

/* Their vectors may be longer than others: max_bytes is not for them. */
TEST(auto_has_degree_2_for_long_allgathers_of_three_hosts_whatever_others_may_have)
{
	struct collsock_join j = { .hosts = 3, .max_bytes = 1056, .max_result_bytes = 65536 };
	const struct collsock_post post = { .operation = COLLSOCK_ALLGATHER };
	struct coll_choice choice;
	struct coll_menu menu;

	coll_menu_init(&menu, &j);
	EXPECT_TRUE(coll_menu_valid(&menu, &j));
	ASSERT_EQ(0, choose(&menu, &post, 2048, &choice));
	EXPECT_EQ(3, choice.degree);
	ASSERT_EQ(0, choose(&menu, &post, 2049, &choice));
	EXPECT_EQ(2, choice.degree);
	ASSERT_EQ(0, choose(&menu, &post, 4096, &choice));
	EXPECT_EQ(2, choice.degree);
	EXPECT_TRUE(coll_menu_offers(&menu, &coll_allgather_dissemination, 2));
	j.max_result_bytes = 2048;
	coll_menu_init(&menu, &j);
	EXPECT_FALSE(coll_menu_offers(&menu, &coll_allgather_dissemination, 2));
	/* A reduction is bounded by max_bytes, with a block for each rank, too. */
	j = (struct collsock_join){ .hosts = 16, .max_bytes = 2048, .max_result_bytes = 65536 };
	coll_menu_init(&menu, &j);
	EXPECT_FALSE(coll_menu_offers(&menu, &coll_halving_allreduce, 0));
}

/* A degree of auto alone is reserved where there are vectors for it, and no post may name it. */
TEST(a_group_with_long_vectors_has_binary_trees_which_posts_do_not_name)
{
	const struct collsock_post named = { .operation = COLLSOCK_REDUCE,
					     .algorithm = COLLSOCK_KARY, .degree = 2 };
	const struct collsock_post automatic = { .operation = COLLSOCK_REDUCE };
	struct collsock_join j = { .hosts = 20, .max_bytes = 2048 };
	struct coll_choice choice;
	struct coll_menu menu;

	coll_menu_init(&menu, &j);
	EXPECT_FALSE(coll_menu_offers(&menu, &coll_kary_reduce, 2));
	j.max_bytes = 2049;
	coll_menu_init(&menu, &j);
	EXPECT_TRUE(coll_menu_offers(&menu, &coll_kary_reduce, 2));
	EXPECT_TRUE(coll_menu_valid(&menu, &j));
	EXPECT_EQ(0, coll_menu_search(&menu, &automatic, 2049, &choice));
	EXPECT_EQ(2, choice.degree);
	EXPECT_EQ(-ERANGE, coll_menu_search(&menu, &named, 2049, &choice));
	j.degrees = COLLSOCK_DEGREE(2);
	coll_menu_init(&menu, &j);
	EXPECT_EQ(0, coll_menu_search(&menu, &named, 2049, &choice));
}

static u32 rounds(u8 operation, u8 algorithm, u32 hosts, u32 degree)
{
	const struct coll_algorithm *a = coll_registry_find(operation, algorithm);

	return formulas_rounds(a, &(struct coll_shape){ .hosts = hosts, .degree = degree });
}

/*
 * Rounds of trees with a degree, flat ones and MCS are not comparable: in one a host sends or
 * receives as many messages as it has children.
 */
static void check_auto_is_quickest(struct __test_metadata *_metadata, u32 hosts, u8 degree)
{
	const struct collsock_join j = { .hosts = hosts, .degree = degree };
	const struct coll_algorithm *a;
	struct coll_choice choice;
	struct coll_menu menu;
	u32 i;

	coll_menu_init(&menu, &j);
	for (i = 0; i < coll_registry_count; i++) {
		a = coll_registry[i];
		if (a->algorithm == COLLSOCK_KARY || a->by_name)
			continue;
		choice = menu.usual[a->operation][COLLSOCK_AUTO];
		ASSERT_LE(rounds(a->operation, choice.algorithm, hosts, choice.degree),
			  rounds(a->operation, a->algorithm, hosts, degree))
			TH_LOG("%s, %u hosts, degree %u", algorithm_name(a), hosts, degree);
	}
}

TEST(auto_never_takes_more_rounds_than_another_algorithm_of_the_same_degree_would)
{
	u32 k, n;

	for (k = 2; k <= COLLSOCK_MAX_EXCHANGE_DEGREE; k++)
		for (n = 1; n <= COLLSOCK_MAX_HOSTS; n++)
			check_auto_is_quickest(_metadata, n, k);
}

/* ---- groups ---- */

static void run_once(struct __test_metadata *_metadata, struct unit_network *n,
		     const struct collsock_post *post)
{
	/* An allgather of one rank gives it its own value. */
	bool sums = post->operation == COLLSOCK_ALLREDUCE ||
		    (post->operation == COLLSOCK_ALLGATHER && n->count == 1);
	u64 value, sum = n->count * (n->count + 1) / 2;
	bool scans = coll_operations[post->operation].prefix;
	u32 i;

	for (i = 0; i < n->count; i++) {
		value = i + 1;
		ASSERT_EQ(0, unit_post(n, i, post, &value))
			TH_LOG("algorithm %u, degree %u", post->algorithm, post->degree);
	}
	ASSERT_TRUE(unit_await_all(n, SECOND))
		TH_LOG("algorithm %u, degree %u", post->algorithm, post->degree);
	for (i = 0; i < n->count; i++) {
		EXPECT_EQ(0, unit_last(n, i)->error);
		EXPECT_EQ(scans ? (i + 1) * (i + 2) / 2 : sums ? sum : 0,
			  unit_value(unit_last(n, i)));
		unit_forget(n, i);
	}
}

TEST_F(net, a_group_runs_every_operation_with_every_degree_that_it_has_reserved)
{
	static const u32 sizes[] = { 1, 2, 5, 16, 17, 30 };
	const struct coll_algorithm *a;
	struct collsock_post post;
	struct collsock_features f;
	u32 i, k, degree;

	coll_descriptor_features(&f);
	for (k = 0; k < ARRAY_SIZE(sizes); k++) {
		unit_network_init(&self->n, sizes[k], seed_start() + k);
		self->n.join.degrees = ~COLLSOCK_DEGREE(1);
		self->n.join.algorithms = f.algorithms;
		ASSERT_EQ(0, unit_join_all(&self->n, NULL));
		for (i = 0; i < coll_registry_count; i++) {
			a = coll_registry[i];
			if (coll_algorithm_rooted(a))
				continue;
			for (degree = a->most_degree ? 2 : 0; degree <= a->most_degree; degree++) {
				post = unit_post_of(a->operation, a->algorithm, 0, 1);
				post.degree = degree;
				run_once(_metadata, &self->n, &post);
			}
		}
		for (i = 0; i < self->n.count; i++)
			EXPECT_EQ(0, unit_group(&self->n, i)->stats.invalid);
		unit_network_free(&self->n);
	}
}

/* Of roots, a slot keeps the last schedule: another degree is another schedule. */
TEST_F(net, a_slot_follows_the_degree_of_each_operation)
{
	struct collsock_post post = unit_post_of(COLLSOCK_BROADCAST, COLLSOCK_KARY, 0, 1);
	u32 i, degree, sent;
	u64 value = 0;

	unit_network_init(&self->n, 9, 1);
	self->n.join.degrees = ~COLLSOCK_DEGREE(1);
	self->n.join.window = 1;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	for (degree = 2; degree <= 8; degree++) {
		sent = unit_group(&self->n, 0)->stats.messages_sent;
		post.degree = degree;
		for (i = 0; i < 9; i++)
			ASSERT_EQ(0, unit_post(&self->n, i, &post, &value));
		ASSERT_TRUE(unit_await_all(&self->n, SECOND));
		unit_run(&self->n, SECOND / 10);
		EXPECT_EQ(degree, unit_group(&self->n, 0)->stats.messages_sent - sent);
	}
}

TEST_F(net, ranks_that_name_different_degrees_disagree)
{
	struct collsock_post post = unit_post_of(COLLSOCK_ALLREDUCE, COLLSOCK_EXCHANGE, 0, 1);
	u64 value = 1;
	u32 i;

	unit_network_init(&self->n, 5, 1);
	self->n.join.degrees = COLLSOCK_DEGREE(3) | COLLSOCK_DEGREE(5);
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	for (i = 0; i < 5; i++) {
		post.degree = i == 3 ? 5 : 3;
		ASSERT_EQ(0, unit_post(&self->n, i, &post, &value));
	}
	ASSERT_TRUE(unit_await_all(&self->n, 10 * SECOND));
	for (i = 0; i < 5; i++) {
		EXPECT_EQ(EPROTO, unit_last(&self->n, i)->error)
			TH_LOG("rank %u", i);
	}
}

TEST_F(net, a_message_with_a_degree_that_is_not_reserved_is_invalid)
{
	struct coll_signature sig = {
		.operation = COLLSOCK_BARRIER, .algorithm = COLLSOCK_DISSEMINATION,
	};
	u32 degree;

	unit_network_init(&self->n, 20, 1);
	self->n.join.degrees = COLLSOCK_DEGREE(5);
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	for (degree = 0; degree < 256; degree++) {
		sig.degree = degree;
		EXPECT_EQ(degree == 2 || degree == 5,
			  coll_signature_makes_sense(unit_group(&self->n, 0), &sig))
			TH_LOG("degree %u", degree);
	}
}

TEST_F(net, a_message_of_a_tree_that_join_has_not_named_is_invalid)
{
	static const u8 operations[] = {
		COLLSOCK_BARRIER, COLLSOCK_ALLREDUCE, COLLSOCK_REDUCE, COLLSOCK_BROADCAST,
	};
	struct coll_signature sig = {};
	u32 i, k;

	unit_network_init(&self->n, 5, 1);
	self->n.join.algorithm[COLLSOCK_BARRIER] = COLLSOCK_MCS;
	self->n.join.algorithm[COLLSOCK_BROADCAST] = COLLSOCK_FLAT;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	for (i = 0; i < ARRAY_SIZE(operations); i++)
		for (k = COLLSOCK_FLAT; k <= COLLSOCK_MCS; k++) {
			sig.operation = operations[i];
			sig.algorithm = k;
			sig.type = i ? COLLSOCK_INT64 : 0;
			sig.count = !!i;
			sig.operator = i == 1 || i == 2 ? COLLSOCK_SUM : 0;
			EXPECT_EQ(self->n.join.algorithm[operations[i]] == k,
				  coll_signature_makes_sense(unit_group(&self->n, 0), &sig))
				TH_LOG("operation %u by %u", operations[i], k);
		}
}

TEST_HARNESS_MAIN
