/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory for packets that are sent. Each CPU has a ring of pages, and packets are cut from one
 * after the other. A page whose packets have all been freed when its turn comes again is used
 * again as it is. The allocator's page fragments would take a new page then if only one packet
 * is under way, and most kernels clear new pages (init_on_alloc), which costs as many
 * instructions as this module takes for a small packet.
 *
 * Each packet has a reference to its page, and the ring has one.
 */
#ifndef COLL_PACKET_MEMORY_H
#define COLL_PACKET_MEMORY_H

#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/skbuff.h>

#define COLL_PACKET_PAGES	(PAGE_SIZE < 32768 ? 65536 / PAGE_SIZE : 2)

/*
 * Longer packets use the allocator: for them, clearing a page costs less than the data they carry.
 */
#define COLL_PACKET_SHORT	1024

/*
 * With PREEMPT_RT a section with BH disabled may be preempted by another one on the same CPU.
 * Before Linux 6.18 there was a lock for all of them; the allocator has one of its own.
 */
#define COLL_PACKET_PREEMPTED	IS_ENABLED(CONFIG_PREEMPT_RT)

/**
 * struct coll_packet_memory - the ring of one CPU, used with BH disabled
 * @at: the current page
 * @left: bytes that are left there; packets are cut from its end
 * @current_page: its index
 * @page: NULL until its first turn
 */
struct coll_packet_memory {
	u8		*at;
	u32		left;
	u32		current_page;
	struct page	*page[COLL_PACKET_PAGES];
};

DECLARE_PER_CPU(struct coll_packet_memory, coll_packet_memory);

bool coll_packet_memory_turn(struct coll_packet_memory *m);
void coll_packet_memory_uninit(void);

/**
 * coll_packet_memory_take() - memory for the head of a packet
 * @bytes: a multiple of SMP_CACHE_BYTES, at most a page
 *
 * Return: for napi_build_skb(), or for skb_free_frag(); uninitialised. NULL if there is no memory.
 * Context: BH disabled.
 */
static inline void *coll_packet_memory_take(u32 bytes)
{
	struct coll_packet_memory *m = this_cpu_ptr(&coll_packet_memory);

	if (COLL_PACKET_PREEMPTED || unlikely(bytes > COLL_PACKET_SHORT))
		return napi_alloc_frag(bytes);
	if (unlikely(m->left < bytes) && !coll_packet_memory_turn(m))
		return NULL;
	m->left -= bytes;
	page_ref_inc(m->page[m->current_page]);
	return m->at + m->left;
}

#endif
