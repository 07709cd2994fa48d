// SPDX-License-Identifier: GPL-2.0
/*
 * The needs that an algorithm declares, whatever the root, are those of its schedules: only
 * these are reserved when a group is created, and nothing can be allocated later.
 *
 * This program has its own registry, with an additional algorithm in which neither the root
 * nor the host after it has the most to do, and whose peers no other algorithm has.
 */
#include "net_fixture.h"
#include "shapes.h"

#define SECOND	((u64)NSEC_PER_SEC)

/* ---- a hub: all send to the host at distance HUB after the root; that sends to the root ---- */

#define COLLSOCK_HUB	15
#define HUB		5
#define HUB_HOSTS	16

static u32 hub_of(const struct coll_shape *shape)
{
	return (shape->root + HUB) % shape->hosts;
}

static int hub_gather(struct coll_schedule *s, const struct coll_shape *shape)
{
	u32 hub = hub_of(shape), host;
	int err = coll_schedule_round(s);

	if (!err && shape->self != hub && shape->self != shape->root)
		err = coll_schedule_send(s, hub, 0);
	if (shape->self != hub)
		return err;
	err = coll_schedule_fold(s, hub, 0, COLL_PLACE);
	for (host = 0; !err && host < shape->hosts; host++)
		if (host != hub && host != shape->root)
			err = coll_schedule_fold(s, host, 0, COLL_FOLD_RIGHT);
	return err;
}

static int hub_build(struct coll_schedule *s, const struct coll_shape *shape)
{
	u32 hub = hub_of(shape);
	int err = coll_schedule_start(s, shape->hosts, shape->self);

	if (err || shape->hosts <= HUB)
		return err ?: -EINVAL;
	err = hub_gather(s, shape);
	err = err ?: coll_schedule_round(s);
	if (!err && shape->self == hub)
		err = coll_schedule_send(s, shape->root, 0);
	if (!err && shape->self == shape->root)
		err = coll_schedule_combine(s, hub, 0, COLL_FOLD_RIGHT);
	return err;
}

/* As the hub a host exchanges messages with all others. */
static void hub_peers(const struct coll_shape *shape, u64 *hosts)
{
	u32 host;

	for (host = 0; shape->hosts > HUB && host < shape->hosts; host++)
		if (host != shape->self)
			coll_hosts_add(hosts, host);
}

static void hub_room(const struct coll_shape *shape, struct coll_room *room)
{
	if (shape->hosts > HUB)
		coll_room_grow(room, 1, 2, shape->hosts - 1);
}

static const struct coll_algorithm hub = {
	.operation	= COLLSOCK_REDUCE,
	.algorithm	= COLLSOCK_HUB,
	.build		= hub_build,
	.peers		= hub_peers,
	.room		= hub_room,
};

#define REGISTRY_WITH_HUB(LINE) COLL_ALGORITHM_LIST(LINE) LINE(REDUCE, HUB, hub)
COLL_REGISTRY(REGISTRY_WITH_HUB);

#define HUB_ONLY	BIT_ULL(COLLSOCK_HUB)

/* ---- declared and actual needs ---- */

struct test_needs {
	struct coll_needs	needs;
	u64			hosts[COLL_HOSTS_WORDS(COLLSOCK_MAX_KARY_HOSTS)];
};

static void needs_clear(struct test_needs *n)
{
	memset(n, 0, sizeof(*n));
	n->needs.hosts = n->hosts;
}

static void needs_add(struct test_needs *n, const struct coll_schedule *s)
{
	u32 i;

	for (i = 0; i < s->sends; i++)
		coll_hosts_add(n->hosts, s->send[i].host);
	for (i = 0; i < s->folds; i++)
		if (s->fold[i].host != s->self)
			coll_hosts_add(n->hosts, s->fold[i].host);
	coll_schedule_room(s, &n->needs.room);
}

/* The needs of the schedules of all roots */
static void needs_of_schedules(struct test_needs *n, const struct coll_algorithm *a,
			       struct coll_shape shape)
{
	u32 roots = coll_algorithm_rooted(a) ? shape.hosts : 1;
	struct coll_schedule s;

	needs_clear(n);
	for (shape.root = 0; shape.root < roots; shape.root++)
		if (!a->build(&s, &shape))
			needs_add(n, &s);
}

/* The declared needs of one row; others of the same algorithm need something else. */
static void needs_said(struct test_needs *n, const struct coll_algorithm *a,
		       const struct coll_shape *shape)
{
	struct coll_schedule s;

	needs_clear(n);
	if (!coll_algorithm_rooted(a)) {
		a->build(&s, shape);
		needs_add(n, &s);
		return;
	}
	a->peers(shape, n->hosts);
	a->room(shape, &n->needs.room);
}

static void check_needs(struct __test_metadata *_metadata, const struct coll_algorithm *a,
			const struct coll_shape *shape)
{
	static struct test_needs said, seen;

	needs_said(&said, a, shape);
	needs_of_schedules(&seen, a, *shape);
	ASSERT_EQ(0, memcmp(said.hosts, seen.hosts, sizeof(seen.hosts)))
		TH_LOG("%s: peers of host %u", shapes_text(a, shape), shape->self);
	/* A schedule always keeps one value; a host without schedules needs none. */
	if (!seen.needs.room.values)
		return;
	ASSERT_EQ(seen.needs.room.messages, said.needs.room.messages)
		TH_LOG("%s: host %u", shapes_text(a, shape), shape->self);
	ASSERT_EQ(seen.needs.room.values, said.needs.room.values)
		TH_LOG("%s: host %u", shapes_text(a, shape), shape->self);
	ASSERT_EQ(seen.needs.room.early, said.needs.room.early)
		TH_LOG("%s: host %u", shapes_text(a, shape), shape->self);
}

static void check_size(struct __test_metadata *_metadata, const struct coll_algorithm *a,
		       u32 hosts)
{
	const u32 selves[] = { 0, 1, hosts / 2, hosts - 1 };
	u32 i, k, degree;

	if (a->most_hosts && hosts > a->most_hosts)
		return;
	for (i = 0; i < ARRAY_SIZE(selves); i++)
		for (k = 0; k < (a->most_degree ? 17 : 1); k++) {
			degree = shapes_degree(a, k, hosts);
			if (selves[i] < hosts && (degree || !a->most_degree))
				check_needs(_metadata, a, &(struct coll_shape) {
					.hosts = hosts, .self = selves[i], .degree = degree,
				});
		}
}

TEST(peers_and_room_of_every_algorithm_are_those_of_its_schedules_for_all_roots)
{
	const struct coll_algorithm *a = NULL;
	u32 hosts;

	while ((a = next_algorithm(a)))
		for (hosts = 1; hosts <= 64; hosts++)
			check_size(_metadata, a, hosts);
}

TEST(peers_and_room_are_those_of_the_schedules_in_large_groups)
{
	static const u32 sizes[] = { 100, 257, 1000 };
	const struct coll_algorithm *a = NULL;
	u32 i;

	while ((a = next_algorithm(a)))
		for (i = 0; i < (a == &hub ? 1 : ARRAY_SIZE(sizes)); i++)
			check_size(_metadata, a, sizes[i]);
}

/* A group of HUB_HOSTS, of which SELF is the host whose needs are compared */
#define SELF	3

static struct coll_menu menu_of(const struct collsock_join *j)
{
	struct coll_menu menu;

	coll_menu_init(&menu, j);
	return menu;
}

static void needs_of_menu(struct __test_metadata *_metadata, struct test_needs *n,
			  struct collsock_join j)
{
	struct coll_schedule scratch;
	struct coll_menu menu;

	j.hosts = HUB_HOSTS;
	menu = menu_of(&j);
	needs_clear(n);
	ASSERT_EQ(0, coll_menu_need(&menu, SELF, &scratch, &n->needs));
}

static void needs_join(struct test_needs *sum, const struct test_needs *one)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sum->hosts); i++)
		sum->hosts[i] |= one->hosts[i];
	coll_room_grow(&sum->needs.room, one->needs.room.messages, one->needs.room.values,
		       one->needs.room.early);
}

static void expect_equal(struct __test_metadata *_metadata, const struct test_needs *a,
			 const struct test_needs *b)
{
	EXPECT_EQ(0, memcmp(a->hosts, b->hosts, sizeof(a->hosts)));
	EXPECT_EQ(0, memcmp(&a->needs.room, &b->needs.room, sizeof(a->needs.room)));
}

/* All that a row can need with the degrees that it has in common with a mask */
static void needs_of_row(struct test_needs *sum, const struct coll_algorithm *a, u64 degrees)
{
	struct coll_shape shape = { .hosts = HUB_HOSTS, .self = SELF };
	static struct test_needs one;

	for (; shape.degree <= a->most_degree; shape.degree++) {
		if (a->most_degree && (!shape.degree || !(degrees & COLLSOCK_DEGREE(shape.degree))))
			continue;
		needs_said(&one, a, &shape);
		needs_join(sum, &one);
	}
}

TEST(a_group_needs_what_each_of_its_algorithms_needs_with_each_of_its_degrees)
{
	static const u64 others[] = { 0, COLLSOCK_DEGREE(4), ~1ULL };
	static struct test_needs all, sum;
	const struct coll_algorithm *a;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		needs_clear(&sum);
		for (a = next_algorithm(NULL); a; a = next_algorithm(a))
			needs_of_row(&sum, a, COLLSOCK_DEGREE(3) | others[i]);
		needs_of_menu(_metadata, &all, (struct collsock_join){
			.algorithms = ~0ULL, .degree = 3, .degrees = others[i] });
		expect_equal(_metadata, &all, &sum);
	}
}

TEST(algorithms_that_posts_may_not_name_need_nothing)
{
	const u64 most = ~(HUB_ONLY | BIT_ULL(COLLSOCK_FLAT) | BIT_ULL(COLLSOCK_KARY));
	static struct test_needs with, without;

	needs_of_menu(_metadata, &with, (struct collsock_join){ .degree = 2 });
	needs_of_menu(_metadata, &without, (struct collsock_join){
		.degree = 2, .algorithms = most });
	/* Host 6 is three away: no power of two. */
	EXPECT_TRUE(coll_hosts_has(with.hosts, 6));
	EXPECT_FALSE(coll_hosts_has(without.hosts, 6));
	EXPECT_LT(without.needs.room.early, with.needs.room.early);
}

TEST(flat_and_mcs_trees_and_halving_need_nothing_in_groups_that_do_not_name_them)
{
	static struct test_needs none, same, flat;

	needs_of_menu(_metadata, &none, (struct collsock_join){});
	needs_of_menu(_metadata, &same, (struct collsock_join){ .algorithms =
		~(BIT_ULL(COLLSOCK_FLAT) | BIT_ULL(COLLSOCK_MCS) |
		  BIT_ULL(COLLSOCK_HALVING)) });
	expect_equal(_metadata, &none, &same);
	needs_of_menu(_metadata, &flat, (struct collsock_join){ .algorithms =
		BIT_ULL(COLLSOCK_FLAT) });
	EXPECT_EQ(HUB_HOSTS, flat.needs.room.early);
	EXPECT_LT(none.needs.room.early, flat.needs.room.early);
}

/* What AUTO means with a degree; without one it means trees of degree 4. */
#define BINOMIAL_WITH_ROOT	{ [COLLSOCK_REDUCE] = COLLSOCK_BINOMIAL,	\
				  [COLLSOCK_BROADCAST] = COLLSOCK_BINOMIAL }

TEST(what_nobody_names_needs_no_degree_but_the_usual_one)
{
	static struct test_needs usual, two;

	needs_of_menu(_metadata, &usual, (struct collsock_join){
		.algorithms = BIT_ULL(COLLSOCK_DISSEMINATION), .algorithm = BINOMIAL_WITH_ROOT });
	needs_of_menu(_metadata, &two, (struct collsock_join){
		.algorithms = BIT_ULL(COLLSOCK_DISSEMINATION), .degree = 2 });
	expect_equal(_metadata, &usual, &two);
	EXPECT_FALSE(coll_hosts_has(usual.hosts, 6));
}

TEST(the_hosts_of_a_set_are_found_in_order_whatever_word_they_are_in)
{
	static const u32 in_set[] = { 0, 1, 62, 63, 64, 191, 320, 383, 384, 399 };
	u64 set[COLL_HOSTS_WORDS(400)] = {};
	u32 i, host;

	for (i = 0; i < ARRAY_SIZE(in_set); i++)
		coll_hosts_add(set, in_set[i]);
	for (i = 0, host = coll_hosts_next(set, 400, 0); host < 400;
	     host = coll_hosts_next(set, 400, host + 1), i++) {
		ASSERT_GT(ARRAY_SIZE(in_set), i);
		EXPECT_EQ(in_set[i], host);
	}
	EXPECT_EQ(ARRAY_SIZE(in_set), i);
	EXPECT_EQ(400, host);
	EXPECT_EQ(65, coll_hosts_next(set, 65, 65));
	EXPECT_EQ(100, coll_hosts_next(set, 100, 65));
}

/* ---- a group runs it ---- */

static int post_reduce(struct unit_network *n, u32 host, u32 root, const s64 *value)
{
	struct collsock_post post = {
		.size = sizeof(post), .operation = COLLSOCK_REDUCE, .type = COLLSOCK_INT64,
		.op = COLLSOCK_SUM, .algorithm = COLLSOCK_HUB, .count = 1, .root = root,
	};
	struct unit_rank *h = &n->ranks[host];
	int err = world_post(h->member, &post, value, sizeof(*value), &h->ops[h->posted]);

	if (!err)
		h->posted++;
	return err;
}

TEST_F(net, a_rooted_algorithm_with_peers_of_its_own_runs_from_every_root)
{
	s64 value, sum = (1LL << HUB_HOSTS) - 1;
	u32 root, host;

	unit_network_init(&self->n, HUB_HOSTS, 1);
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	for (root = 0; root < HUB_HOSTS; root++) {
		for (host = 0; host < HUB_HOSTS; host++) {
			value = 1LL << host;
			ASSERT_EQ(0, post_reduce(&self->n, host, root, &value));
		}
		ASSERT_TRUE(unit_await_all(&self->n, SECOND));
		EXPECT_EQ(sum, *(s64 *)self->n.ranks[root].ops[root].result)
			TH_LOG("root %u", root);
		unit_run(&self->n, SECOND / 10);
	}
}

TEST_HARNESS_MAIN
