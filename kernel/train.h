/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A train: packets of one operation to one host, of the same length but for the last, which may be
 * shorter, in one skb. It passes through the stack once, and its packets are made where the device
 * has segmentation offload for UDP, or in front of a device that has not. Between virtual devices
 * that is at the receiver.
 *
 * A train is begun and added to while an event sends, under the group's lock, and is transmitted
 * with the other packets of the event. Its skb has the headers, and one fragment with the packets.
 */
#ifndef COLL_TRAIN_H
#define COLL_TRAIN_H

#include <linux/skbuff.h>

/* Memory of the packets of a train, at most */
#define COLL_TRAIN_BYTES	(16 * 1024)

/**
 * struct coll_train - the latest train to one host; protected by the lock of its group
 * @skb: the train, while its event lasts
 * @event: number of that event
 * @left: bytes that more packets may have
 * @latest: bytes of the latest packet
 */
struct coll_train {
	struct sk_buff	*skb;
	u32		event;
	u32		left;
	u32		latest;
};

u8 *coll_train_begin(struct coll_train *t, struct sk_buff *skb, u32 bytes, u32 packets);
u8 *coll_train_add(struct coll_train *t, u32 bytes);

/* The packets of a train */
static inline u8 *coll_train_packets(const struct sk_buff *skb)
{
	return skb_frag_address(&skb_shinfo(skb)->frags[0]);
}

/* The latest of them */
static inline u8 *coll_train_latest(const struct coll_train *t)
{
	const skb_frag_t *packets = &skb_shinfo(t->skb)->frags[0];

	return skb_frag_address(packets) + skb_frag_size(packets) - t->latest;
}

/* Its first packet has its headers: from now on, packets can be added. */
static inline void coll_train_open(struct coll_train *t)
{
	skb_shinfo(t->skb)->gso_size = t->latest;
	skb_shinfo(t->skb)->gso_segs = 1;
}

#endif
