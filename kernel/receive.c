// SPDX-License-Identifier: GPL-2.0
/*
 * The path of a packet, from the hook of its bearer to the wake-up, in softirq context or
 * with bottom halves disabled, under RCU:
 *
 * accept	receive_packet(): has it the form of a packet? If not, receive_unformed() looks
 *		for a member that uses another version of the format. A packet from a work
 *		queue waits in the backlog for softirq. receive_for_one(): is its group
 *		here? If not, receive_unknown() looks for a time-wait entry, or notes an early
 *		packet. receive_for_group(): is it short enough, does it come from the member
 *		that it names, and do the filters of the group's owner let it in? Then the
 *		group's lock is taken, and coll_group_receive() checks the MAC and the
 *		descriptor, and stores what is new. While many packets are forged, the MAC is
 *		also checked before the lock is taken (forgery.h). Nothing changes any state
 *		before the MAC was checked, except that an early packet is noted. Packets may
 *		be sent already here: acknowledgments and credit may release held messages,
 *		probes are answered, and the first message of an operation begins its rounds
 *		if no rank of this host contributes to it.
 * advance	coll_group_receive() runs the rounds that can run now, then sends a goodbye or
 *		an acknowledgment if one is due. Packets get their route and headers at once
 *		if the route is known (coll_env_transmit()), and wait in the instance, as do
 *		the sockets to wake (coll_env_complete(), coll_env_writable()).
 * leave	coll_instance_leave_bh_off() looks up routes that are not known, dropping the lock
 *		meanwhile (outbox.h). Then it drops the lock, transmits these packets, and
 *		wakes. It takes the lock again for each further socket to wake, and to report
 *		to the group that a filter or a full queue of this host did not let a packet
 *		out (instance_unsent()).
 */
#include "core/endpoint.h"
#include "drop.h"
#include "instance.h"
#include "netns.h"
#include "receive.h"
#include "stretch.h"
#include "trace.h"

/* Does the packet come from the address of its source, and is that another host? */
static __always_inline bool receive_is_member(const struct sk_buff *skb,
					      const struct coll_members *members, u32 self,
					      u32 source)
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
		[COLL_TOO_LONG]		= COLL_DROP_TOO_LONG,
	};

	coll_drop_packet(cn->counters, packet, bytes, drop[refusal]);
}

/*
 * Make the bytes of a packet contiguous; NULL if there is no memory. Length and source address have
 * been checked, so packets from other addresses are never copied.
 */
static inline const u8 *receive_linear(struct sk_buff *skb, const u8 *packet)
{
	u32 at = packet - skb->data;

	if (likely(!skb_is_nonlinear(skb)))
		return packet;
	return likely(!skb_linearize(skb)) ? skb->data + at : NULL;
}

/* receive_linear(); counts the packet if there is no memory. */
static inline const u8 *receive_whole(struct coll_net *cn, struct sk_buff *skb,
				      const u8 *packet, u32 bytes)
{
	packet = receive_linear(skb, packet);
	if (unlikely(!packet))
		coll_drop_packet(cn->counters, NULL, bytes, COLL_DROP_MALFORMED);
	return packet;
}

/* ---- with an instance ---- */

/*
 * Drop a packet that a filter of this host refuses, and tell the group if a member sent it. This is
 * rare, so the MAC is always checked before the lock is taken.
 */
static noinline void receive_filtered(struct coll_instance *gi, const u8 *packet, u32 bytes)
{
	coll_drop_packet(gi->cn->counters, packet, bytes, COLL_DROP_RECEIVE_REFUSED);
	if (!coll_wire_authentic_any(packet, bytes, &gi->group.secret.mac))
		return;
	coll_instance_enter_bh_off(gi);
	if (!gi->ended)
		coll_group_receive_refused(&gi->group, coll_wire_source(packet), packet, bytes);
	coll_instance_leave_bh_off(gi);
}

static noinline void receive_forged(struct coll_instance *gi, const u8 *packet, u32 bytes)
{
	receive_refuse(gi->cn, packet, bytes, COLL_FORGED);
	if (coll_forgery_note(&gi->forgery))
		coll_counters_add(gi->cn->counters, COLL_COUNT_FORGERY_FLOODS);
}

/* During a flood of forgeries: is the packet authentic? */
static noinline bool receive_authentic(struct coll_instance *gi, const u8 *packet, u32 bytes)
{
	if (!coll_wire_authentic_any(packet, bytes, &gi->group.secret.mac))
		return false;
	coll_forgery_check_over(&gi->forgery);
	return true;
}

static inline enum coll_refusal receive_under_lock(struct coll_instance *gi,
						   const struct sk_buff *skb, u32 source,
						   const u8 *packet, u32 bytes)
{
	enum coll_refusal refusal = COLL_ACCEPTED;
	u64 now = coll_instance_enter_bh_off(gi);

	if (likely(!gi->ended)) {
		refusal = coll_group_receive(&gi->group, source, packet, bytes,
					     coll_bearer_is_marked(skb), now);
		if (likely(refusal == COLL_ACCEPTED))
			coll_napi_note(&gi->napi, source, false, skb);
	}
	coll_instance_leave_bh_off(gi);
	return refusal;
}

/*
 * Receive a packet of a group that is here. Only its first COLL_WIRE_FORM bytes need be readable.
 */
static __always_inline void receive_for_group(struct coll_net *cn, struct coll_instance *gi,
					      struct sk_buff *skb, const u8 *packet, u32 bytes)
{
	enum coll_refusal refusal = COLL_FORGED;
	u32 source = coll_wire_source(packet);

	if (unlikely(bytes > gi->group.payload.packet_bytes)) {
		receive_refuse(cn, packet, bytes, COLL_TOO_LONG);
		return;
	}
	if (unlikely(!receive_is_member(skb, gi->members, gi->group.self, source))) {
		receive_refuse(cn, packet, bytes, COLL_WRONG_SOURCE);
		return;
	}
	packet = receive_whole(cn, skb, packet, bytes);
	if (unlikely(!packet))
		return;
	if (unlikely(!coll_bearer_accepts(gi->owner, skb))) {
		receive_filtered(gi, packet, bytes);
		return;
	}
	if (likely(!coll_forgery_is_flood(&gi->forgery)) || receive_authentic(gi, packet, bytes))
		refusal = receive_under_lock(gi, skb, source, packet, bytes);
	if (likely(refusal == COLL_ACCEPTED))
		return;
	if (refusal == COLL_FORGED)
		receive_forged(gi, packet, bytes);
	else
		receive_refuse(cn, packet, bytes, refusal);
}

/* ---- by multicast ---- */

static enum coll_refusal receive_copy_under_lock(struct coll_instance *gi,
						 const struct sk_buff *skb, u32 source,
						 const u8 *packet, u32 bytes)
{
	enum coll_refusal refusal = COLL_ACCEPTED;
	u64 now = coll_instance_enter_bh_off(gi);

	if (!gi->ended) {
		refusal = coll_group_receive_multicast(&gi->group, packet, bytes, now);
		if (refusal == COLL_ACCEPTED)
			coll_napi_note(&gi->napi, source, true, skb);
	}
	coll_instance_leave_bh_off(gi);
	return refusal;
}

/*
 * Receive a multicast packet. It is for the group with its tag on the device that it came by, if it
 * was sent to that group's address. It is never noted as an early packet, and never answered.
 */
static noinline void receive_copy(struct coll_net *cn, struct sk_buff *skb, const u8 *packet,
				  u32 bytes)
{
	u32 source = coll_wire_source(packet);
	enum coll_refusal refusal = COLL_FORGED;
	struct coll_lookup_entry *found;
	struct coll_instance *gi;

	found = coll_lookup_find(&cn->lookup, coll_wire_tag(packet),
				 coll_lookup_device(skb->dev->ifindex));
	if (!found) {
		receive_refuse(cn, packet, bytes, COLL_UNKNOWN_GROUP);
		return;
	}
	gi = coll_instance_of_copies(found);
	if (bytes > gi->group.payload.packet_bytes) {
		receive_refuse(cn, packet, bytes, COLL_TOO_LONG);
		return;
	}
	if (!coll_bearer_is_to(skb, &gi->everyone) ||
	    !receive_is_member(skb, gi->members, gi->group.self, source)) {
		receive_refuse(cn, packet, bytes, COLL_WRONG_SOURCE);
		return;
	}
	packet = receive_whole(cn, skb, packet, bytes);
	if (!packet)
		return;
	if (!coll_bearer_accepts(gi->owner, skb)) {
		coll_drop_packet(cn->counters, packet, bytes, COLL_DROP_RECEIVE_REFUSED);
		return;
	}
	if (!coll_forgery_is_flood(&gi->forgery) || receive_authentic(gi, packet, bytes))
		refusal = receive_copy_under_lock(gi, skb, source, packet, bytes);
	if (refusal == COLL_FORGED)
		receive_forged(gi, packet, bytes);
	else if (refusal != COLL_ACCEPTED)
		receive_refuse(cn, packet, bytes, refusal);
}

/* ---- without an instance ---- */

/* The answer comes from this host's address, even if the packet was sent to another one. */
static void receive_answer(struct coll_net *cn, const struct coll_timewait_entry *entry, u32 host,
			   const u8 *answer, u32 bytes)
{
	const struct collsock_member *self = &entry->members->member[entry->timewait.self];
	const struct collsock_member *to = &entry->members->member[host];
	union coll_route route = {};
	struct sk_buff *skb;
	int err;

	skb = coll_bearer_packet(bytes);
	if (!skb)
		return;
	memcpy(skb->data, answer, bytes);
	err = coll_bearer_route_find(&cn->bearers, &route, NULL, self, to);
	if (!err)
		err = coll_bearer_address(&cn->bearers, &route, skb, NULL, self, to);
	if (err) {
		coll_drop_unsent(cn->counters, skb, err);
	} else {
		trace_coll_packet_sent(answer, bytes);
		if (coll_bearer_transmit(&cn->bearers, skb) == -EPERM)
			coll_drop_packet(cn->counters, answer, bytes, COLL_DROP_SEND_REFUSED);
	}
	coll_bearer_route_drop(&route);
}

static void receive_early(struct coll_net *cn, const struct sk_buff *skb, const u8 *packet)
{
	struct collsock_member from;

	coll_bearer_source(skb, &from);
	coll_early_packet_note(&cn->early_packets, coll_wire_tag(packet), coll_wire_source(packet),
			       &from);
}

/*
 * Receive a packet of a group without an instance here: perhaps not yet, perhaps not any more. Not
 * inline, since that would slow down packets of existing groups.
 */
static noinline void receive_unknown(struct coll_net *cn, struct coll_lookup_entry *found,
				     struct sk_buff *skb, const u8 *packet, u32 bytes)
{
	const struct coll_timewait_entry *entry = found ? coll_timewait_looked_up(found) : NULL;
	u16 source = coll_wire_source(packet);
	u8 answer[COLL_TIMEWAIT_ANSWER] __aligned(8);
	enum coll_refusal refusal;
	bool from_member;
	u32 answer_bytes;

	from_member = entry && receive_is_member(skb, entry->members, entry->timewait.self, source);
	if (from_member && bytes <= entry->timewait.packet_bytes) {
		packet = receive_whole(cn, skb, packet, bytes);
		if (!packet)
			return;
	}
	refusal = coll_endpoint_receive(entry ? &entry->timewait : NULL, from_member, packet, bytes,
					answer, &answer_bytes);
	if (refusal == COLL_UNKNOWN_GROUP)
		receive_early(cn, skb, packet);
	if (refusal != COLL_ACCEPTED) {
		receive_refuse(cn, packet, bytes, refusal);
		return;
	}
	if (!answer_bytes)
		return;
	coll_counters_add(cn->counters, COLL_COUNT_TIMEWAIT_ANSWERED);
	receive_answer(cn, entry, source, answer, answer_bytes);
}

/* ---- from the bearers ---- */

/* The packet, or NULL if it is not well-formed */
static __always_inline const u8 *receive_form(struct sk_buff *skb, u32 header_bytes,
					      u32 bytes)
{
	const u8 *packet;

	if (unlikely(!pskb_may_pull(skb, header_bytes + min_t(u32, bytes, COLL_WIRE_FORM))))
		return NULL;
	packet = skb->data + header_bytes;
	return likely(coll_wire_formed(packet, bytes)) ? packet : NULL;
}

/*
 * A group whose hosts use different versions ends at once, with an error that shows it. Such
 * packets are rare, so their MAC is always checked before the lock is taken.
 */
static void receive_other_version(struct coll_net *cn, struct sk_buff *skb, const u8 *packet,
				  u32 bytes)
{
	u32 source = coll_wire_source(packet);
	struct coll_lookup_entry *found;
	struct coll_instance *gi;
	u64 now;

	found = coll_lookup_find(&cn->lookup, coll_wire_tag(packet), coll_wire_destination(packet));
	if (!found || found->timewait)
		return;
	gi = coll_instance_looked_up(found);
	if (bytes > gi->group.payload.packet_bytes ||
	    !receive_is_member(skb, gi->members, gi->group.self, source) ||
	    !coll_bearer_accepts(gi->owner, skb))
		return;
	packet = receive_linear(skb, packet);
	if (!packet || !coll_wire_authentic_any(packet, bytes, &gi->group.secret.mac))
		return;
	now = coll_instance_enter_bh_off(gi);
	if (!gi->ended)
		coll_group_receive_other_version(&gi->group, source, packet, bytes, now);
	coll_instance_leave_bh_off(gi);
}

static noinline void receive_unformed(struct coll_net *cn, struct sk_buff *skb,
				      u32 header_bytes, u32 bytes)
{
	bool readable = bytes <= COLL_WIRE_MAX &&
			pskb_may_pull(skb, header_bytes + min_t(u32, bytes, COLL_WIRE_FORM));
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

/* Receive a packet to a single host. */
static __always_inline void receive_for_one(struct coll_net *cn, struct sk_buff *skb,
					    const u8 *packet, u32 bytes)
{
	struct coll_lookup_entry *found;

	found = coll_lookup_find(&cn->lookup, coll_wire_tag(packet), coll_wire_destination(packet));
	if (likely(found && !found->timewait))
		receive_for_group(cn, coll_instance_looked_up(found), skb, packet, bytes);
	else
		receive_unknown(cn, found, skb, packet, bytes);
}

/* Receive a well-formed packet, and consume it. */
static __always_inline void receive_deliver(struct coll_net *cn, struct sk_buff *skb,
					    const u8 *packet, u32 bytes)
{
	trace_coll_packet_received(packet, bytes);
	if (unlikely(coll_wire_is_multicast(packet)))
		receive_copy(cn, skb, packet, bytes);
	else
		receive_for_one(cn, skb, packet, bytes);
	/*
	 * Return the packet to the cache that coll_bearer_packet() takes from. The page allocator
	 * occasionally frees thousands of pages of others here, which is not counted as our time.
	 */
	coll_stretch_stack_begin();
	napi_consume_skb(skb, 1);
	coll_stretch_stack_end();
}

/**
 * coll_receive_deferred() - receive a packet out of the backlog
 * @backlog: of a namespace
 * @skb: after the last of its headers
 *
 * Context: softirq, under RCU.
 */
void coll_receive_deferred(struct coll_backlog *backlog, struct sk_buff *skb)
{
	coll_stretch_begin();
	receive_deliver(container_of(backlog, struct coll_net, backlog), skb, skb->data, skb->len);
	coll_stretch_end(COLL_STRETCH_PACKET);
}

static noinline void receive_defer(struct coll_net *cn, struct sk_buff *skb, u32 header_bytes)
{
	__skb_pull(skb, header_bytes);
	coll_counters_add(cn->counters, COLL_COUNT_DEFERRED);
	if (coll_backlog_add(&cn->backlog, skb))
		return;
	coll_drop_packet(cn->counters, skb->data, skb->len, COLL_DROP_BACKLOG_FULL);
	kfree_skb(skb);
}

/*
 * Receive a packet from a bearer, which begins after @header_bytes; always consumes it. @all: it
 * came to a multicast address, to which only packets of that type are sent.
 */
static __always_inline void receive_packet_to(bool all, struct coll_net *cn, struct sk_buff *skb,
					      u32 header_bytes)
{
	u32 bytes = skb->len - header_bytes;
	const u8 *packet;

	coll_counters_add(cn->counters, COLL_COUNT_PACKETS);
	packet = receive_form(skb, header_bytes, bytes);
	if (unlikely(!packet)) {
		receive_unformed(cn, skb, header_bytes, bytes);
		return;
	}
	if (all && unlikely(!coll_wire_is_multicast(packet))) {
		receive_refuse(cn, packet, bytes, COLL_WRONG_SOURCE);
		kfree_skb(skb);
		return;
	}
	if (unlikely(coll_backlog_is_needed()))
		receive_defer(cn, skb, header_bytes);
	else
		receive_deliver(cn, skb, packet, bytes);
}

static __always_inline void receive_packet(void *owner, struct sk_buff *skb, u32 header_bytes)
{
	receive_packet_to(false, owner, skb, header_bytes);
}

/* Out of line, for Ethernet; receive_packet() is inlined into the hook of UDP. */
static noinline void receive_frame(void *owner, struct sk_buff *skb, u32 header_bytes)
{
	receive_packet(owner, skb, header_bytes);
}

static noinline void receive_for_all(void *owner, struct sk_buff *skb, u32 header_bytes)
{
	receive_packet_to(true, owner, skb, header_bytes);
}

static int receive_udp(struct sock *sk, struct sk_buff *skb)
{
	int taken;

	coll_stretch_begin();
	taken = coll_udp_receive(sk, skb, receive_packet, receive_for_all);
	coll_stretch_end(COLL_STRETCH_PACKET);
	return taken;
}

static int receive_eth(struct sk_buff *skb, struct net_device *dev, struct packet_type *type,
		       struct net_device *orig_dev)
{
	int taken;

	coll_stretch_begin();
	taken = coll_eth_receive(skb, type, receive_frame, receive_for_all);
	coll_stretch_end(COLL_STRETCH_PACKET);
	return taken;
}

const struct coll_bearer_hooks coll_receive_hooks = {
	.udp	= receive_udp,
	.eth	= receive_eth,
};
