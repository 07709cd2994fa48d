// SPDX-License-Identifier: GPL-2.0
#include "bearer.h"

static const struct coll_bearer *const bearers[] = {
	&coll_udp_bearer,
	&coll_eth_bearer,
};

/**
 * coll_bearer_long_packet() - coll_bearer_packet() for packets longer than a page
 * @bytes: length of the packet; its contents are uninitialised
 *
 * Since 6.13 the allocator's page fragments may be longer than a page only by chance.
 *
 * Return: the packet, or NULL if there is no memory. Context: BH disabled.
 */
struct sk_buff *coll_bearer_long_packet(u32 bytes)
{
	struct sk_buff *skb = alloc_skb(COLL_BEARER_HEADROOM + bytes, GFP_ATOMIC | __GFP_NOWARN);

	if (unlikely(!skb))
		return NULL;
	skb_reserve(skb, COLL_BEARER_HEADROOM);
	__skb_put(skb, bytes);
	return skb;
}

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
