// SPDX-License-Identifier: GPL-2.0
/*
 * Many hosts send a large payload to one at the same time, through a port of a switch that
 * has room for few packets: they share the port, and send little twice.
 */
#include "net_fixture.h"
#include "seed.h"

#define SECOND	((u64)NSEC_PER_SEC)
#define US	((u64)NSEC_PER_USEC)

#define CHILDREN	64
#define ROOT		0
/* 1 Gb/s */
#define BYTE_PS		8000
#define HEADERS		66
#define ELEMENTS	(COLLSOCK_MAX_PAYLOAD / 8)

static u64 payload[ELEMENTS];

/* What a run has shown, of the messages to the root */
struct outcome {
	double	link;		/* share of its time in which the link carried what was needed */
	double	transmissions;	/* of each message */
	u64	lost;		/* packets for which the port had no room */
	u64	marked;
	u64	reduced;	/* windows halved */
	u64	timed_out;	/* messages sent again, but not because of a gap */
};

static void begin(struct __test_metadata *_metadata, struct unit_network *n, u64 seed, u32 mark)
{
	struct world_port *port;
	u32 i;

	unit_network_init(n, 1 + CHILDREN, seed);
	n->world.link.delay_ns = 25 * US;
	n->world.link.spread_ns = 0;
	n->join.max_bytes = COLLSOCK_MAX_PAYLOAD;
	n->join.degree = CHILDREN;
	port = &n->world.hosts[ROOT].port;
	port->byte_ps = BYTE_PS;
	port->room = 100;
	port->mark = mark;
	for (i = 0; i <= CHILDREN; i++)
		n->world.hosts[i].gap_ns = 9 * US;
	ASSERT_EQ(0, unit_join_all(n, NULL));
	/* All know the root. */
	for (i = 0; i <= CHILDREN; i++)
		ASSERT_EQ(0, unit_barrier_by(n, i, COLLSOCK_KARY));
	ASSERT_TRUE(unit_await_all(n, SECOND));
	unit_run(n, SECOND);
}

static struct outcome outcome_of(const struct unit_network *n, u32 reduces, u64 ns)
{
	const struct coll_payload *sizes = &unit_group(n, ROOT)->payload;
	u32 overhead = HEADERS + sizes->packet_bytes - COLL_WIRE_ACK - sizes->segment_bytes;
	u64 sent = 0, again = 0, gaps = 0;
	struct outcome o = {};
	u32 i;

	for (i = 1; i <= CHILDREN; i++) {
		const struct collsock_stats *s = &unit_group(n, i)->stats;

		sent += s->messages_sent;
		again += s->retransmits;
		gaps += s->gap_repairs;
		o.reduced += s->windows_reduced;
	}
	o.transmissions = 1 + (double)again / sent;
	o.timed_out = again - gaps;
	o.link = ((double)sent * overhead + (double)reduces * CHILDREN * COLLSOCK_MAX_PAYLOAD) *
		 BYTE_PS / 1000 / ns;
	o.lost = n->world.hosts[ROOT].port.lost;
	o.marked = n->world.hosts[ROOT].port.marked;
	return o;
}

/* Reduces of 64 KiB to the root, one after the other */
static struct outcome run(struct __test_metadata *_metadata, struct unit_network *n, u32 reduces)
{
	struct collsock_post p = unit_post_of(COLLSOCK_REDUCE, COLLSOCK_KARY, ROOT, ELEMENTS);
	u64 start = n->world.now;
	u32 i, k;

	for (k = 0; k < reduces; k++) {
		for (i = 0; i <= CHILDREN; i++)
			EXPECT_EQ(0, unit_post(n, i, &p, payload));
		EXPECT_TRUE(unit_await(n, ROOT, n->ranks[ROOT].posted - 1, 10 * SECOND));
	}
	return outcome_of(n, reduces, n->world.now - start);
}

static void tell(struct __test_metadata *_metadata, const char *what, const struct outcome *o)
{
	TH_LOG("%s: %.0f %% of the link, %.2f transmissions of each message", what, 100 * o->link,
	       o->transmissions);
	TH_LOG("%llu lost at the port, %llu marked; %llu windows halved, %llu time-outs", o->lost,
	       o->marked, o->reduced, o->timed_out);
}

/*
 * A message that is lost twice at the end leaves the link idle, so groups differ. A soak of 20
 * has 10,000.
 */
#define GROUPS		6
#define GROUPS_OF_SOAK	500

TEST_F_TIMEOUT(net, sixty_four_senders_use_the_link_and_send_little_twice, 1200)
{
	u64 seed, groups = seed_soak() > 1 ? GROUPS_OF_SOAK * seed_soak() : GROUPS;
	struct outcome o, worst = { .link = 1 };
	double time = 0, transmissions = 0;

	for (seed = 1; seed <= groups; seed++) {
		begin(_metadata, &self->n, seed, 0);
		o = run(_metadata, &self->n, 1);
		time += 1 / o.link / groups;
		transmissions += o.transmissions / groups;
		if (o.link <= worst.link)
			worst = o;
		unit_network_free(&self->n);
	}
	tell(_metadata, "at worst", &worst);
	TH_LOG("on average of %llu: %.0f %% of the link, %.2f transmissions", groups, 100 / time,
	       transmissions);
	EXPECT_LE(0.8, 1 / time);
	EXPECT_GE(2, transmissions);
}

/* The port marks packets when it is a third full. */
TEST_F(net, marks_slow_senders_down_before_packets_are_lost)
{
	struct outcome without, with;

	begin(_metadata, &self->n, 1, 0);
	without = run(_metadata, &self->n, 10);
	tell(_metadata, "without marks", &without);
	unit_network_free(&self->n);
	begin(_metadata, &self->n, 1, 30);
	with = run(_metadata, &self->n, 10);
	tell(_metadata, "with marks", &with);
	EXPECT_LT(0, with.marked);
	EXPECT_LT(10 * with.lost, without.lost);
	EXPECT_LE(0.8, with.link);
}

TEST_HARNESS_MAIN
