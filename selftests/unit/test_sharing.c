// SPDX-License-Identifier: GPL-2.0
/*
 * Large payloads share a link of 10 Mb/s with a TCP-like stream: each gets its part.
 */
#include "net_fixture.h"
#include "reno.h"

#define SECOND	((u64)NSEC_PER_SEC)
#define US	((u64)NSEC_PER_USEC)

/* 10 Mb/s */
#define BYTE_PS		800000
#define ELEMENTS	(COLLSOCK_MAX_PAYLOAD / 8)
/* Payloads under way */
#define DEPTH		4
#define SECONDS		60

/* Of the capacity, that each gets at least */
#define LEAST		0.3

static u64 payload[ELEMENTS];

static void begin(struct __test_metadata *_metadata, struct unit_network *n, u64 delay_ns,
		  u32 room)
{
	struct world_port *port;

	unit_network_init(n, 2, 1);
	n->world.link.delay_ns = delay_ns;
	n->join.max_bytes = COLLSOCK_MAX_PAYLOAD;
	n->join.window = 2 * DEPTH;
	/* More than delays differ: packets do not overtake each other. */
	n->world.hosts[0].gap_ns = 20 * US;
	port = &n->world.hosts[1].port;
	port->byte_ps = BYTE_PS;
	port->room = room;
	ASSERT_EQ(0, unit_join_all(n, NULL));
}

static void broadcast(struct __test_metadata *_metadata, struct unit_network *n)
{
	struct collsock_post p = unit_post_of(COLLSOCK_BROADCAST, COLLSOCK_BINOMIAL, 0, ELEMENTS);

	ASSERT_EQ(0, unit_post(n, 0, &p, payload));
	ASSERT_EQ(0, unit_post(n, 1, &p, NULL));
}

/* Broadcast as fast as possible. Returns the number of payloads received. */
static u32 broadcasts(struct __test_metadata *_metadata, struct unit_network *n)
{
	u64 end = n->world.now + SECONDS * SECOND;
	u32 i, done = 0;

	for (i = 0; i < DEPTH; i++)
		broadcast(_metadata, n);
	while (unit_await(n, 1, done, end - n->world.now)) {
		ASSERT_EQ(0, n->ranks[1].ops[done].error);
		done++;
		broadcast(_metadata, n);
	}
	return done;
}

static void begin_stream(struct world *w, void *what)
{
	struct reno *r = what;

	reno_start(r, w, 0, 1, r->most);
}

/* @begins: time when the stream does; @most: packets that it has in flight at most */
static void share(struct __test_metadata *_metadata, struct unit_network *n, u64 begins, u32 most)
{
	struct reno r = { .most = most };
	double group, stream;

	world_at(&n->world, n->world.now + begins, begin_stream, &r);
	group = (double)broadcasts(_metadata, n) * COLLSOCK_MAX_PAYLOAD;
	stream = (double)r.arrived * RENO_BYTES;
	TH_LOG("%.2f Mb/s and a stream of %.2f; windows reduced: %llu and %llu",
	       group * 8 / SECONDS / 1e6, stream * 8 / SECONDS / 1e6,
	       unit_group(n, 0)->stats.windows_reduced, r.reductions);
	EXPECT_LE(LEAST, group / (group + stream));
	EXPECT_LE(LEAST, stream / (group + stream));
}

/* The queue has room for 24, 58 and 120 ms. */
TEST_F(net, a_group_and_a_stream_share_a_bottleneck)
{
	static const u32 delays_us[] = { 25, 1000, 10000 }, rooms[] = { 20, 48, 100 };
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(delays_us); i++)
		for (k = 0; k < ARRAY_SIZE(rooms); k++) {
			TH_LOG("delay %u us, room for %u packets", delays_us[i], rooms[k]);
			begin(_metadata, &self->n, delays_us[i] * US, rooms[k]);
			share(_metadata, &self->n, 0, RENO_MAX_FLIGHT);
			unit_network_free(&self->n);
		}
}

/* TCP may limit how much of it waits on its own host ("small queues"). */
TEST_F(net, a_group_and_a_stream_share_a_queue_of_their_host)
{
	static const u32 most[] = { 12, 18, 30, RENO_MAX_FLIGHT };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(most); i++) {
		TH_LOG("at most %u packets of the stream", most[i]);
		begin(_metadata, &self->n, 25 * US, 48);
		self->n.world.hosts[1].port.local = true;
		share(_metadata, &self->n, 0, most[i]);
		unit_network_free(&self->n);
	}
}

/* As little as TCP keeps there if it begins when the queue is filled. */
TEST_F(net, a_stream_that_comes_later_has_its_part_of_a_queue_of_its_host)
{
	begin(_metadata, &self->n, 25 * US, 48);
	self->n.world.hosts[1].port.local = true;
	share(_metadata, &self->n, SECOND, 4);
	unit_network_free(&self->n);
}

TEST_HARNESS_MAIN
