// SPDX-License-Identifier: GPL-2.0
#include <linux/if_ether.h>
#include <linux/skbuff.h>

#include "bearer.h"

/*
 * Headroom for the headers of the bearer and of a plain Ethernet device; a device that
 * needs more reallocates. With this value the smallest packet and its skb_shared_info fit
 * into 512 bytes.
 */
#define BEARER_HEADROOM	96

static_assert(COLL_UDP_HEADER_BYTES + ETH_HLEN <= BEARER_HEADROOM);

static const struct coll_bearer *const bearers[] = {
	&coll_udp_bearer,
};

/**
 * coll_bearer_of() - the bearer of a family
 * @family: address family of the members
 *
 * Return: the part of the bearer that the core uses, or NULL if no bearer has this family.
 * Context: any.
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
 * coll_bearer_address_bytes() - length of the significant part of a member's address
 * @m: a complete member of a family that a bearer carries
 *
 * Context: any.
 */
u32 coll_bearer_address_bytes(const struct collsock_member *m)
{
	return coll_bearer_of(m->family)->address_bytes(m);
}

/**
 * coll_bearer_packet() - allocate a packet to be sent by any bearer
 * @bytes: length of the packet; its contents are uninitialised
 *
 * It comes from the per-CPU caches that drivers use for received packets. This is the
 * cheapest source: a received packet is freed to the cache from which the next one is sent.
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
