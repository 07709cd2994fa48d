// SPDX-License-Identifier: GPL-2.0
#include <linux/mm.h>

#include "train.h"

/**
 * coll_train_begin() - begin a train
 * @t: the former one, if there was any, has been transmitted or is full
 * @skb: an empty one with room for the headers, or NULL; consumed
 * @bytes: length of its packets
 * @packets: how many there will be, probably
 *
 * Return: where the first packet is to be written, or NULL if there is no memory. Context: BH
 * disabled.
 */
u8 *coll_train_begin(struct coll_train *t, struct sk_buff *skb, u32 bytes, u32 packets)
{
	u32 room = bytes * clamp(COLL_TRAIN_BYTES / bytes, 1U, packets);
	u8 *memory = napi_alloc_frag(room);
	struct page *page;

	if (!skb || !memory) {
		kfree_skb(skb);
		if (memory)
			skb_free_frag(memory);
		return NULL;
	}
	page = virt_to_head_page(memory);
	skb_fill_page_desc(skb, 0, page, memory - (u8 *)page_address(page), bytes);
	skb->len += bytes;
	skb->data_len += bytes;
	skb->truesize += room;
	t->skb = skb;
	t->left = room - bytes;
	t->latest = bytes;
	return memory;
}

/**
 * coll_train_add() - add a packet to a train
 * @t: begun in the present event, and open
 * @bytes: length of the packet
 *
 * Return: where it is to be written, or NULL if it is too long, or follows a shorter one.
 * Context: BH disabled.
 */
u8 *coll_train_add(struct coll_train *t, u32 bytes)
{
	struct skb_shared_info *shared = skb_shinfo(t->skb);

	if (bytes > t->left || bytes > shared->gso_size || t->latest < shared->gso_size)
		return NULL;
	skb_frag_size_add(&shared->frags[0], bytes);
	shared->gso_segs++;
	t->skb->len += bytes;
	t->skb->data_len += bytes;
	t->left -= bytes;
	t->latest = bytes;
	return coll_train_latest(t);
}
