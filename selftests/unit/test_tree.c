// SPDX-License-Identifier: GPL-2.0
/*
 * Trees: properties beyond the proofs for every algorithm. A group reserves memory based on
 * some of them: for the peers at distances 2^k, and for the schedules of the root and of
 * the host after it.
 */
#include "../harness.h"

#include "formulas.h"
#include "seed.h"
#include "shapes.h"

#define TREE_HOSTS	512
#define TREE_DRAWS	8	/* shapes of one size, if they are drawn */

static bool is_tree(const struct coll_algorithm *a)
{
	return a->algorithm == COLLSOCK_BINOMIAL || a->algorithm == COLLSOCK_KARY ||
	       a->algorithm == COLLSOCK_FLAT || a->algorithm == COLLSOCK_MCS;
}

/* A walk through the shapes of an algorithm in groups up to @most hosts. */
static struct shapes walk(const struct coll_algorithm *a, u32 most)
{
	return (struct shapes){ .algorithm = a, .most_hosts = most, .random = seed_start() };
}

/* The next shape in which host 0 is the root. */
static bool next_from_host_0(struct shapes *shapes)
{
	while (shapes_next(shapes))
		if (!shapes->shape.root)
			return true;
	return false;
}

/*
 * Children of a host: the hosts from which it receives on the way up, or to which it sends
 * on the way down
 */
static u32 children(const struct coll_algorithm *a, const struct coll_shape *shape)
{
	struct coll_schedule s;
	u32 recvs = 0;
	u32 i;

	a->build(&s, shape);
	for (i = 0; i < s.rounds; i++)
		recvs += s.round[i].recvs;
	switch (a->operation) {
	case COLLSOCK_REDUCE:
		return recvs;
	case COLLSOCK_BROADCAST:
		return s.sends;
	default:
		/* Each host sends to its parent once, and receives from it once. */
		return max_t(u32, recvs, s.sends) - !!shape->self;
	}
}

/* Depth */

/* Number of directions: up or down, or both */
static u32 ways(const struct coll_algorithm *a)
{
	return coll_algorithm_rooted(a) ? 1 : 2;
}

/* Rounds of a tree in one direction. */
static u32 depth(const struct coll_algorithm *a, const struct coll_shape *shape)
{
	return shapes_rounds(a, shape) / ways(a);
}

TEST(binomial_trees_take_ceil_log2_rounds_each_way)
{
	const struct coll_algorithm *a = NULL;
	struct coll_shape shape = {};

	while ((a = next_algorithm(a))) {
		if (a->algorithm != COLLSOCK_BINOMIAL)
			continue;
		for (shape.hosts = 1; shape.hosts <= COLLSOCK_MAX_HOSTS; shape.hosts++) {
			ASSERT_EQ(ceil_log2(shape.hosts) * ways(a), shapes_rounds(a, &shape))
				TH_LOG("%s", shapes_text(a, &shape));
		}
	}
}

TEST(no_tree_of_that_degree_is_lower_than_a_k_ary_tree)
{
	const struct coll_algorithm *a = NULL;
	struct coll_shape shape = {};
	u32 n;

	while ((a = next_algorithm(a))) {
		if (a->algorithm != COLLSOCK_KARY)
			continue;
		for (shape.degree = 2; shape.degree <= COLLSOCK_MAX_DEGREE; shape.degree++)
			for (n = 1; n <= COLLSOCK_MAX_KARY_HOSTS; n++) {
				shape.hosts = n;
				ASSERT_EQ(least_depth(n, shape.degree), depth(a, &shape))
					TH_LOG("%s", shapes_text(a, &shape));
			}
	}
}

/* Breadth */

TEST(no_host_has_more_children_than_the_degree)
{
	const struct coll_algorithm *a = NULL;
	struct shapes shapes;

	while ((a = next_algorithm(a))) {
		if (a->algorithm != COLLSOCK_KARY)
			continue;
		shapes = walk(a, TREE_HOSTS);
		while (next_from_host_0(&shapes)) {
			struct coll_shape shape = shapes.shape;

			for (shape.self = 0; shape.self < shape.hosts; shape.self++) {
				ASSERT_GE(shape.degree, children(a, &shape))
					TH_LOG("%s: host %u", shapes_text(a, &shape), shape.self);
			}
		}
	}
}

TEST(with_a_degree_for_all_other_hosts_the_tree_is_flat)
{
	const struct coll_algorithm *a = NULL;
	struct coll_shape shape = {};

	while ((a = next_algorithm(a))) {
		if (a->algorithm != COLLSOCK_KARY)
			continue;
		for (shape.hosts = 3; shape.hosts <= COLLSOCK_MAX_DEGREE + 1; shape.hosts++) {
			shape.degree = shape.hosts - 1;
			ASSERT_EQ(1, depth(a, &shape))
				TH_LOG("%s", shapes_text(a, &shape));
			ASSERT_EQ(shape.hosts - 1, children(a, &shape))
				TH_LOG("%s", shapes_text(a, &shape));
		}
	}
}

TEST(flat_trees_take_one_round_each_way_and_all_others_are_children_of_the_root)
{
	const struct coll_algorithm *a = NULL;
	struct coll_shape shape = {};

	while ((a = next_algorithm(a))) {
		if (a->algorithm != COLLSOCK_FLAT)
			continue;
		for (shape.hosts = 2; shape.hosts <= COLLSOCK_MAX_FLAT_HOSTS; shape.hosts++) {
			ASSERT_EQ(1, depth(a, &shape))
				TH_LOG("%s", shapes_text(a, &shape));
			ASSERT_EQ(shape.hosts - 1, children(a, &shape))
				TH_LOG("%s", shapes_text(a, &shape));
			ASSERT_TRUE(coll_algorithm_fits(a, shape.hosts, 0));
		}
		EXPECT_FALSE(coll_algorithm_fits(a, shape.hosts, 0))
			TH_LOG("%s", shapes_text(a, &shape));
	}
}

/* Of all hosts: the most messages that one receives and sends. */
static void busiest(const struct coll_algorithm *a, struct coll_shape shape, u32 *received,
		    u32 *sent)
{
	struct coll_schedule s;
	u32 i, recvs;

	*received = 0;
	*sent = 0;
	for (shape.self = 0; shape.self < shape.hosts; shape.self++) {
		a->build(&s, &shape);
		for (recvs = 0, i = 0; i < s.rounds; i++)
			recvs += s.round[i].recvs;
		*received = max(*received, recvs);
		*sent = max_t(u32, *sent, s.sends);
	}
}

/* In groups up to @most hosts: exactly as many as with these numbers of children. */
static void check_work(struct __test_metadata *_metadata, u8 algorithm, u32 most, u32 degree,
		       u32 up, u32 down)
{
	const struct coll_algorithm *a = coll_registry_find(COLLSOCK_BARRIER, algorithm);
	struct coll_shape shape = { .degree = degree };
	u32 received, sent;

	for (shape.hosts = 1; shape.hosts <= most; shape.hosts++) {
		busiest(a, shape, &received, &sent);
		ASSERT_EQ(formulas_tree_work(shape.hosts, up), received)
			TH_LOG("%s", shapes_text(a, &shape));
		ASSERT_EQ(formulas_tree_work(shape.hosts, down), sent)
			TH_LOG("%s", shapes_text(a, &shape));
	}
}

TEST(the_busiest_host_of_a_tree_does_what_the_formula_says)
{
	check_work(_metadata, COLLSOCK_KARY, TREE_HOSTS, 2, 2, 2);
	check_work(_metadata, COLLSOCK_KARY, TREE_HOSTS, 7, 7, 7);
	check_work(_metadata, COLLSOCK_FLAT, COLLSOCK_MAX_FLAT_HOSTS, 0, COLLSOCK_MAX_FLAT_HOSTS,
		   COLLSOCK_MAX_FLAT_HOSTS);
	check_work(_metadata, COLLSOCK_MCS, TREE_HOSTS, 0, 4, 2);
}

TEST(the_largest_group_with_k_ary_trees_fits_whatever_the_degree)
{
	const struct coll_algorithm *a = NULL;
	struct coll_schedule s;

	while ((a = next_algorithm(a))) {
		struct coll_shape shape = { .hosts = COLLSOCK_MAX_KARY_HOSTS };

		if (a->algorithm != COLLSOCK_KARY)
			continue;
		for (shape.degree = 2; shape.degree <= COLLSOCK_MAX_DEGREE; shape.degree++)
			for (shape.self = 0; shape.self < shape.hosts; shape.self++) {
				ASSERT_EQ(0, a->build(&s, &shape))
					TH_LOG("%s: host %u", shapes_text(a, &shape), shape.self);
			}
	}
}

/* Peers: a group always has those of dissemination */

static bool is_at_power_of_two(u32 hosts, u32 self, u32 other)
{
	u32 ahead = (other + hosts - self) % hosts;
	u32 distance;

	for (distance = 1; distance < hosts; distance *= 2)
		if (ahead == distance || ahead == hosts - distance)
			return true;
	return false;
}

/* The first host named by @s that is not at such a distance, or @s's own */
static u32 stranger(const struct coll_schedule *s)
{
	u32 i;

	for (i = 0; i < s->sends; i++)
		if (!is_at_power_of_two(s->hosts, s->self, s->send[i].host))
			return s->send[i].host;
	for (i = 0; i < s->folds; i++)
		if (s->fold[i].host != s->self &&
		    !is_at_power_of_two(s->hosts, s->self, s->fold[i].host))
			return s->fold[i].host;
	return s->self;
}

TEST(peers_in_binomial_trees_are_at_the_distances_of_dissemination_from_any_root)
{
	const struct coll_algorithm *a = NULL;
	struct coll_schedule s;
	struct shapes shapes;

	while ((a = next_algorithm(a))) {
		if (a->algorithm != COLLSOCK_BINOMIAL)
			continue;
		shapes = walk(a, TREE_HOSTS);
		while (shapes_next(&shapes)) {
			struct coll_shape shape = shapes.shape;

			for (shape.self = 0; shape.self < shape.hosts; shape.self++) {
				ASSERT_EQ(0, a->build(&s, &shape));
				ASSERT_EQ(shape.self, stranger(&s))
					TH_LOG("%s: host %u", shapes_text(a, &shape), shape.self);
			}
		}
	}
}

/* Roots: a tree from another root is the same tree, rotated */

/* Blocks of hosts are rotated, too. */
static bool same_edge(const struct coll_schedule *s, const struct coll_edge *a,
		      const struct coll_edge *b, u32 root)
{
	u32 first = a->first_block;

	if (s->form == COLL_FORM_PLACES)
		first = (first + root) % s->hosts;

	return (a->host + root) % s->hosts == b->host && first == b->first_block &&
	       a->blocks == b->blocks && a->reg == b->reg && a->action == b->action;
}

/*
 * 0 if @turned is @s rotated by @root, 1 if its head differs, else the number of the line
 * that differs
 */
static u32 first_difference(const struct coll_schedule *s, const struct coll_schedule *turned,
			    u32 root)
{
	u32 i;

	if (s->sends != turned->sends || s->folds != turned->folds ||
	    s->rounds != turned->rounds || (s->self + root) % s->hosts != turned->self ||
	    memcmp(s->round, turned->round, s->rounds * sizeof(s->round[0])))
		return 1;
	for (i = 0; i < s->sends; i++)
		if (!same_edge(s, &s->send[i], &turned->send[i], root))
			return 2 + i;
	for (i = 0; i < s->folds; i++)
		if (!same_edge(s, &s->fold[i], &turned->fold[i], root))
			return 2 + s->sends + i;
	return 0;
}

TEST(from_another_root_the_tree_is_the_same_rotated)
{
	struct coll_schedule at_zero, at_root;
	const struct coll_algorithm *a = NULL;
	struct coll_shape shape, other;
	struct shapes shapes;

	while ((a = next_algorithm(a))) {
		shapes = walk(a, TREE_HOSTS);
		shapes.draws = TREE_DRAWS;
		while (coll_algorithm_rooted(a) && shapes_next(&shapes)) {
			shape = shapes.shape;
			other = shape;
			other.root = 0;
			for (shape.self = 0; shape.self < shape.hosts; shape.self++) {
				other.self = (shape.self + shape.hosts - shape.root) % shape.hosts;
				ASSERT_EQ(0, a->build(&at_root, &shape));
				ASSERT_EQ(0, a->build(&at_zero, &other));
				ASSERT_EQ(0, first_difference(&at_zero, &at_root, shape.root))
					TH_LOG("%s: host %u", shapes_text(a, &shape), shape.self);
			}
		}
	}
}

/* Impossible shapes */

TEST(a_root_outside_the_group_is_refused)
{
	static const u32 roots[] = { 5, 6, COLLSOCK_MAX_HOSTS, 0xffffffff };
	const struct coll_algorithm *a = NULL;
	struct coll_schedule s;
	u32 i;

	while ((a = next_algorithm(a)))
		for (i = 0; coll_algorithm_rooted(a) && i < ARRAY_SIZE(roots); i++) {
			struct coll_shape shape = { .hosts = 5, .root = roots[i], .degree = 2 };

			EXPECT_EQ(-EINVAL, a->build(&s, &shape))
				TH_LOG("%s", shapes_text(a, &shape));
		}
}

TEST(a_k_ary_tree_without_a_degree_is_refused)
{
	const struct coll_algorithm *a = NULL;
	struct coll_shape shape = { .hosts = 5 };
	struct coll_schedule s;

	while ((a = next_algorithm(a))) {
		if (a->algorithm != COLLSOCK_KARY)
			continue;
		EXPECT_EQ(-EINVAL, a->build(&s, &shape))
			TH_LOG("%s", shapes_text(a, &shape));
	}
}

TEST(a_tree_that_is_too_broad_or_too_deep_is_refused)
{
	struct coll_shape broad = { .hosts = COLL_MAX_EDGES + 2, .degree = COLL_MAX_EDGES + 1 };
	struct coll_shape deep = { .hosts = COLL_MAX_ROUNDS + 2, .degree = 1 };
	const struct coll_algorithm *a = NULL;
	struct coll_schedule s;

	while ((a = next_algorithm(a))) {
		if (a->algorithm != COLLSOCK_KARY)
			continue;
		EXPECT_EQ(-E2BIG, a->build(&s, &broad))
			TH_LOG("%s", shapes_text(a, &broad));
		EXPECT_EQ(-E2BIG, a->build(&s, &deep))
			TH_LOG("%s", shapes_text(a, &deep));
	}
}

static u32 messages(const struct coll_algorithm *a, struct coll_shape shape)
{
	struct coll_schedule s;
	u32 sends = 0;

	for (shape.self = 0; shape.self < shape.hosts; shape.self++) {
		a->build(&s, &shape);
		sends += s.sends;
	}
	return sends;
}

TEST(trees_with_a_root_have_one_direction_and_those_without_have_both)
{
	const struct coll_algorithm *a = NULL;
	u32 trees = 0;

	while ((a = next_algorithm(a))) {
		struct coll_shape shape = { .hosts = 9, .degree = a->most_degree ? 2 : 0 };

		if (!is_tree(a))
			continue;
		trees++;
		EXPECT_EQ(a->operation != COLLSOCK_BARRIER && a->operation != COLLSOCK_ALLREDUCE,
			  coll_algorithm_rooted(a))
			TH_LOG("%s", shapes_text(a, &shape));
		EXPECT_EQ(ways(a) * (shape.hosts - 1), messages(a, shape))
			TH_LOG("%s", shapes_text(a, &shape));
	}
	EXPECT_EQ(16, trees);
}

TEST_HARNESS_MAIN
