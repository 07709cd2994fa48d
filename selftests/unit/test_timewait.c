// SPDX-License-Identifier: GPL-2.0
/* To which packets a time-wait entry gives an answer. */
#include "hostile_fixture.h"

/**
 * struct unit_late - a packet that comes late
 * @prefix: of it
 * @body: of it
 * @spoiled: its MAC is wrong
 */
struct unit_late {
	struct coll_prefix	prefix;
	struct coll_body	body;
	bool			spoiled;
};

static u8 answer[COLL_TIMEWAIT_ANSWER];

/* Host 0 of two has left. */
static void leave(struct __test_metadata *_metadata, struct unit_network *n,
		  struct coll_timewait *t)
{
	begin_attack(_metadata, n, 2);
	coll_timewait_set(unit_group(n, 0), t, n->world.now);
}

/* Of host 1 to host 0, with a payload as its type has it */
static struct unit_late late_packet(const struct unit_network *n, u8 type)
{
	static const u8 payload[COLL_WIRE_ANSWER];
	struct unit_late late = {
		.prefix = prefix_to_0(n),
		.body = { .type = type, .number = ++next_number, .payload = payload },
	};

	if (type == COLL_PACKET_PROBE)
		late.body.payload_bytes = COLL_WIRE_PROBE;
	else if (type == COLL_PACKET_ANSWER)
		late.body.payload_bytes = COLL_WIRE_ANSWER;
	return late;
}

/* What was wrong with it; @bytes: of the answer */
static enum coll_refusal comes(const struct unit_network *n, const struct coll_timewait *t,
			       const struct unit_late *late, u32 *bytes)
{
	u32 length = coll_wire_bytes(&late->body);
	struct coll_wire_side side;
	u8 packet[256];

	coll_wire_side_set(&side, &late->prefix, &unit_group(n, 1)->secret.mac);
	coll_wire_write(packet, &side, &late->body);
	packet[length - 1] ^= late->spoiled;
	return coll_timewait_answer(t, packet, length, answer, bytes);
}

/* Authentic, and so the answer depends on what it is */
static u32 answered(struct __test_metadata *_metadata, const struct unit_network *n,
		    const struct coll_timewait *t, const struct unit_late *late)
{
	u32 bytes;

	EXPECT_EQ(COLL_ACCEPTED, comes(n, t, late, &bytes));
	return bytes;
}

TEST_F(net, what_awaits_an_answer_gets_one_from_timewait)
{
	static const u8 types[] = { COLL_PACKET_MESSAGE, COLL_PACKET_GOODBYE, COLL_PACKET_PROBE };
	struct coll_timewait t;
	struct unit_late late;
	u32 i;

	leave(_metadata, &self->n, &t);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		late = late_packet(&self->n, types[i]);
		EXPECT_LT(0, answered(_metadata, &self->n, &t, &late)) TH_LOG("type %u", types[i]);
		late.prefix.known = 0;
		EXPECT_LT(0, answered(_metadata, &self->n, &t, &late)) TH_LOG("type %u", types[i]);
	}
}

TEST_F(net, what_is_an_answer_gets_none_from_timewait)
{
	struct coll_timewait t;
	struct unit_late late;

	leave(_metadata, &self->n, &t);
	late = late_packet(&self->n, COLL_PACKET_ACK);
	EXPECT_EQ(0, answered(_metadata, &self->n, &t, &late)) TH_LOG("an acknowledgment");
	late = late_packet(&self->n, COLL_PACKET_ANSWER);
	EXPECT_EQ(0, answered(_metadata, &self->n, &t, &late)) TH_LOG("an answer to a probe");
}

/* Else one packet, repeated once, would go to and fro until both entries end. */
TEST_F(net, two_time_wait_entries_do_not_answer_each_other)
{
	struct unit_network *n = &self->n;
	struct coll_timewait t, other;
	u8 packet[sizeof(answer)];
	struct unit_late late;
	u32 bytes, length;

	leave(_metadata, n, &t);
	coll_timewait_set(unit_group(n, 1), &other, n->world.now);
	late = late_packet(n, COLL_PACKET_GOODBYE);
	length = answered(_metadata, n, &t, &late);
	ASSERT_LT(0, length);
	memcpy(packet, answer, length);
	EXPECT_EQ(COLL_ACCEPTED, coll_timewait_answer(&other, packet, length, answer, &bytes));
	EXPECT_EQ(0, bytes);
}

/* That one has another entry, or none. */
TEST_F(net, what_is_for_another_life_of_the_host_gets_no_answer_from_timewait)
{
	struct coll_timewait t;
	struct unit_late late;

	leave(_metadata, &self->n, &t);
	late = late_packet(&self->n, COLL_PACKET_MESSAGE);
	late.prefix.known++;
	EXPECT_EQ(0, answered(_metadata, &self->n, &t, &late));
}

TEST_F(net, only_a_member_that_agrees_gets_an_answer_from_timewait)
{
	struct coll_timewait t;
	struct unit_late late;
	u32 bytes;

	leave(_metadata, &self->n, &t);
	late = late_packet(&self->n, COLL_PACKET_MESSAGE);
	late.spoiled = true;
	EXPECT_EQ(COLL_FORGED, comes(&self->n, &t, &late, &bytes));
	EXPECT_EQ(0, bytes) TH_LOG("forged");
	late.spoiled = false;
	late.prefix.descriptor ^= 1;
	EXPECT_EQ(COLL_WRONG_DESCRIPTOR, comes(&self->n, &t, &late, &bytes));
	EXPECT_EQ(0, bytes) TH_LOG("of another descriptor");
}

/* Its number is of no packet of the group: an acknowledgment that names it would say nothing. */
TEST_F(net, a_goodbye_from_timewait_is_not_acknowledged)
{
	struct unit_network *n = &self->n;
	const struct coll_peer *peer;
	struct coll_timewait t;
	struct unit_late late;
	u64 accepted;
	u32 bytes;

	leave(_metadata, n, &t);
	peer = unit_peer(n, 1, 0);
	accepted = peer->ack.accepted;
	late = late_packet(n, COLL_PACKET_PROBE);
	bytes = answered(_metadata, n, &t, &late);
	ASSERT_LT(0, bytes);
	EXPECT_EQ(COLL_ACCEPTED, coll_group_receive(unit_group(n, 1), 0, answer, bytes, false,
						    n->world.now));
	EXPECT_TRUE(peer->recv.gone);
	EXPECT_EQ(accepted, peer->ack.accepted);
}

TEST_HARNESS_MAIN
