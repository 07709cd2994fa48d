// SPDX-License-Identifier: GPL-2.0
#include <linux/if_ether.h>
#include <linux/skbuff.h>

#include "bearer.h"

/*
 * Room before a packet for the headers of its bearer and of a plain Ethernet device; a
 * device that needs more makes it. With it the smallest packet and what the kernel keeps
 * behind it fit into 512 bytes.
 */
#define BEARER_HEADROOM	96

static_assert(COLL_UDP_HEADER_BYTES + ETH_HLEN <= BEARER_HEADROOM);

static const struct coll_bearer *const bearers[] = {
	&coll_udp_bearer,
};

/**
 * coll_bearer_of() - the bearer of a family
 * @family: of members
 *
 * Return: its part that the core uses, or NULL if there is none. Context: any.
 */
const struct coll_bearer *coll_bearer_of(u16 family)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bearers); i++)
		if (bearers[i]->carries(family))
			return bearers[i];
	return NULL;
}

/**
 * coll_bearer_address_bytes() - how much of a member's address counts
 * @m: complete, of a family that a bearer carries
 *
 * Context: any.
 */
u32 coll_bearer_address_bytes(const struct collsock_member *m)
{
	return coll_bearer_of(m->family)->address_bytes(m);
}

/**
 * coll_bearer_packet() - a packet to be sent, by any bearer
 * @bytes: of it; they are there already, not initialised
 *
 * It comes from the caches that drivers use for received packets: there is
 * nothing cheaper, and a packet is consumed where another is soon sent.
 *
 * Return: the packet, or NULL if there is no memory. Context: BH disabled.
 */
struct sk_buff *coll_bearer_packet(u32 bytes)
{
	u32 room = SKB_DATA_ALIGN(BEARER_HEADROOM + bytes) +
		   SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct sk_buff *skb;
	void *head;

	head = napi_alloc_frag(room);
	if (unlikely(!head))
		return NULL;
	skb = napi_build_skb(head, room);
	if (unlikely(!skb)) {
		skb_free_frag(head);
		return NULL;
	}
	skb_reserve(skb, BEARER_HEADROOM);
	__skb_put(skb, bytes);
	return skb;
}
