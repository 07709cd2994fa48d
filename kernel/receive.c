// SPDX-License-Identifier: GPL-2.0
/*
 * The path of a packet, from the hook of its bearer to the wake-up, in softirq context or
 * with bottom halves disabled, under RCU:
 *
 * accept	receive_packet(): has it the form of a packet, and is its group here? If not,
 *		receive_unknown() looks for a time-wait entry, or notes an early packet, and
 *		receive_unformed() for a member that speaks another version of the format.
 *		receive_for_group(): does it come from the member that it says it is from?
 *		Then the group's lock is taken, and coll_group_receive() checks the MAC and
 *		the descriptor, and stores what is new. Nothing changes any state before that,
 *		except that an early packet is noted.
 * advance	coll_group_receive() runs the rounds that can run now. Packets that they send
 *		get their route and headers at once (coll_env_transmit()), and wait in the
 *		instance, as do the sockets to wake (coll_env_complete(), coll_env_writable()).
 * leave	coll_instance_leave_bh_off() drops the lock, transmits these packets, and
 *		wakes.
 */
#include "core/endpoint.h"
#include "drop.h"
#include "instance.h"
#include "netns.h"
#include "receive.h"
#include "trace.h"

/* Is its address that of its source, and is that another host? */
static bool receive_is_member(const struct sk_buff *skb, const struct coll_members *members,
			      u32 self, u32 source)
{
	return coll_endpoint_may_be_from(source, self, members->hosts) &&
	       coll_bearer_is_from(skb, &members->member[source]);
}

static noinline void receive_refuse(struct coll_net *cn, const u8 *packet, u32 bytes,
				    enum coll_refusal refusal)
{
	static const u8 drop[] = {
		[COLL_FORGED]		= COLL_DROP_FORGED,
		[COLL_WRONG_DESCRIPTOR]	= COLL_DROP_WRONG_DESCRIPTOR,
		[COLL_UNKNOWN_GROUP]	= COLL_DROP_UNKNOWN_GROUP,
		[COLL_WRONG_SOURCE]	= COLL_DROP_WRONG_SOURCE,
	};

	coll_drop_packet(cn->counters, packet, bytes, drop[refusal]);
}

/* ---- without an instance ---- */

static void receive_answer(struct coll_net *cn, const u8 *answer, u32 bytes,
			   const struct collsock_member *self, const struct collsock_member *to)
{
	union coll_route route = {};
	struct sk_buff *skb;

	skb = bytes ? coll_bearer_packet(bytes) : NULL;
	if (!skb)
		return;
	memcpy(skb->data, answer, bytes);
	if (coll_bearer_address(&cn->bearers, &route, skb, self, to)) {
		trace_coll_packet_sent(answer, bytes);
		coll_bearer_transmit(&cn->bearers, skb);
	} else {
		coll_drop_packet(cn->counters, answer, bytes, COLL_DROP_NO_ROUTE);
		kfree_skb(skb);
	}
	coll_bearer_route_drop(&route);
}

/*
 * There is no instance of this group: perhaps not yet, perhaps not any more. Not inline,
 * since that would slow down packets of existing groups.
 */
static noinline void receive_unknown(struct coll_net *cn, struct coll_lookup_entry *found,
				     const struct sk_buff *skb, const u8 *packet, u32 bytes)
{
	const struct coll_timewait_entry *entry = found ? coll_timewait_looked_up(found) : NULL;
	u16 source = coll_wire_source(packet);
	u8 answer[COLL_TIMEWAIT_ANSWER] __aligned(8);
	struct collsock_member from, self;
	enum coll_refusal refusal;
	bool from_member;
	u32 answer_bytes;

	coll_bearer_ends(skb, &from, &self);
	from_member = entry && receive_is_member(skb, entry->members, entry->timewait.self, source);
	refusal = coll_endpoint_receive(entry ? &entry->timewait : NULL, from_member, packet, bytes,
					answer, &answer_bytes);
	if (refusal == COLL_UNKNOWN_GROUP)
		coll_early_packet_note(&cn->early_packets, coll_wire_tag(packet), source, &from);
	if (refusal != COLL_ACCEPTED) {
		receive_refuse(cn, packet, bytes, refusal);
		return;
	}
	coll_counters_add(cn->counters, COLL_COUNT_TIMEWAIT_ANSWERED);
	receive_answer(cn, answer, answer_bytes, &self, &from);
}

/* ---- with an instance ---- */

static void receive_for_group(struct coll_net *cn, struct coll_instance *gi,
			      const struct sk_buff *skb, const u8 *packet, u32 bytes)
{
	u32 source = coll_wire_source(packet);
	enum coll_refusal refusal = COLL_ACCEPTED;
	u64 now;

	if (unlikely(!receive_is_member(skb, gi->members, gi->group.self, source))) {
		receive_refuse(cn, packet, bytes, COLL_WRONG_SOURCE);
		return;
	}
	now = coll_instance_enter_bh_off(gi);
	if (likely(!gi->ended))
		refusal = coll_group_receive(&gi->group, source, packet, bytes, now);
	coll_instance_leave_bh_off(gi);
	if (unlikely(refusal != COLL_ACCEPTED))
		receive_refuse(cn, packet, bytes, refusal);
}

/* ---- from the bearers ---- */

/* The packet, or NULL if it is not well-formed */
static const u8 *receive_form(struct sk_buff *skb, u32 header_bytes, u32 bytes)
{
	const u8 *packet;

	if (unlikely(bytes < COLL_WIRE_MIN || bytes > COLL_WIRE_MAX || skb_linearize(skb)))
		return NULL;
	packet = skb->data + header_bytes;
	return likely(coll_wire_formed(packet, bytes)) ? packet : NULL;
}

/* A group in which hosts speak different versions ends at once, and says so. */
static void receive_other_version(struct coll_net *cn, const struct sk_buff *skb,
				  const u8 *packet, u32 bytes)
{
	u32 source = coll_wire_source(packet);
	struct coll_lookup_entry *found;
	struct coll_instance *gi;
	u64 now;

	found = coll_lookup_find(&cn->lookup, coll_wire_tag(packet), coll_wire_destination(packet));
	if (!found || found->timewait)
		return;
	gi = coll_instance_looked_up(found);
	if (!receive_is_member(skb, gi->members, gi->group.self, source))
		return;
	now = coll_instance_enter_bh_off(gi);
	if (!gi->ended)
		coll_group_receive_other_version(&gi->group, source, packet, bytes, now);
	coll_instance_leave_bh_off(gi);
}

static noinline void receive_unformed(struct coll_net *cn, struct sk_buff *skb,
				      u32 header_bytes, u32 bytes)
{
	bool readable = bytes <= COLL_WIRE_MAX && !skb_linearize(skb);
	const u8 *packet = skb->data + header_bytes;
	enum coll_drop drop = COLL_DROP_MALFORMED;

	if (readable && coll_wire_other_version(packet, bytes)) {
		drop = COLL_DROP_OTHER_VERSION;
		receive_other_version(cn, skb, packet, bytes);
	} else if (readable && coll_wire_unknown(packet, bytes)) {
		drop = COLL_DROP_UNKNOWN_TYPE;
	}
	coll_drop_packet(cn->counters, NULL, bytes, drop);
	kfree_skb(skb);
}

/* Receive a packet from a bearer, which begins after @header_bytes; always consumes it. */
static void receive_packet(void *owner, struct sk_buff *skb, u32 header_bytes)
{
	u32 bytes = skb->len - header_bytes;
	struct coll_net *cn = owner;
	struct coll_lookup_entry *found;
	const u8 *packet;

	coll_counters_add(cn->counters, COLL_COUNT_PACKETS);
	packet = receive_form(skb, header_bytes, bytes);
	if (unlikely(!packet)) {
		receive_unformed(cn, skb, header_bytes, bytes);
		return;
	}
	trace_coll_packet_received(packet, bytes);
	found = coll_lookup_find(&cn->lookup, coll_wire_tag(packet), coll_wire_destination(packet));
	if (likely(found && !found->timewait))
		receive_for_group(cn, coll_instance_looked_up(found), skb, packet, bytes);
	else
		receive_unknown(cn, found, skb, packet, bytes);
	/* Back to the cache that coll_bearer_packet() takes from. */
	napi_consume_skb(skb, 1);
}

static int receive_udp(struct sock *sk, struct sk_buff *skb)
{
	return coll_udp_receive(sk, skb, receive_packet);
}

const struct coll_bearer_hooks coll_receive_hooks = {
	.udp	= receive_udp,
};
