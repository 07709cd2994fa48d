/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The NAPI ids by which the packets of a group come: those of the queues of devices that a call
 * polls while it spins for an operation of the group (spin.h).
 *
 * An id is a number, not a reference. The queue may be gone by the time it is polled, which holds
 * nothing up; and an id is never used again while its queue exists. Only authentic packets of
 * members are noted. The few ids that are kept are shared by hosts with equal numbers modulo
 * COLL_NAPI_HOSTS, and the latest packet decides: so if packets of a host begin to come by another
 * queue, that is polled after one packet. A host's multicast packets may arrive on another queue
 * than its unicast packets.
 *
 * There is no lock: an id is written and read as a whole, by packets and by calls that spin, and
 * a wrong one costs a slice of a spin.
 */
#ifndef COLL_NAPI_H
#define COLL_NAPI_H

#include <linux/skbuff.h>
#include <net/busy_poll.h>

/* Hosts whose ids are kept apart */
#define COLL_NAPI_HOSTS	8

/* Ids that are kept: of unicast, then of multicast packets */
#define COLL_NAPI_IDS	(2 * COLL_NAPI_HOSTS)

/**
 * struct coll_napi - of a group
 * @id: 0 if no packet has come from these hosts, or none by a queue that can be polled
 */
struct coll_napi {
	u32	id[COLL_NAPI_IDS];
};

/**
 * coll_napi_note() - an authentic packet has come
 * @napi: of its group
 * @source: number of the host that sent it
 * @multicast: it came to a multicast address
 * @skb: the packet
 *
 * The loopback device, for one, has no queue to be polled: its packets have no valid id.
 *
 * Context: BH disabled.
 */
static inline void coll_napi_note(struct coll_napi *napi, u32 source, bool multicast,
				  const struct sk_buff *skb)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	u32 *id = &napi->id[source % COLL_NAPI_HOSTS + (multicast ? COLL_NAPI_HOSTS : 0)];

	if (unlikely(skb->napi_id != READ_ONCE(*id) && skb->napi_id >= MIN_NAPI_ID))
		WRITE_ONCE(*id, skb->napi_id);
#endif
}

#endif
