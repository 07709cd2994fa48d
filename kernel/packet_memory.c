// SPDX-License-Identifier: GPL-2.0
#include "packet_memory.h"

DEFINE_PER_CPU(struct coll_packet_memory, coll_packet_memory);

static_assert(COLL_PACKET_SHORT <= PAGE_SIZE);

/**
 * coll_packet_memory_turn() - go on to the next page
 * @m: of this CPU
 *
 * Return: false if there is no memory; the current page stays then. Context: BH disabled.
 */
bool coll_packet_memory_turn(struct coll_packet_memory *m)
{
	u32 next = (m->current_page + 1) % COLL_PACKET_PAGES;
	struct page *page = m->page[next];

	if (page && page_ref_count(page) != 1) {
		put_page(page);
		page = NULL;
	}
	/* Take no page from the reserves: it would stay, and its packets would count as urgent. */
	if (!page)
		page = alloc_page(GFP_ATOMIC | __GFP_NOWARN | __GFP_NOMEMALLOC);
	m->page[next] = page;
	if (!page)
		return false;
	m->at = page_address(page);
	m->left = PAGE_SIZE;
	m->current_page = next;
	return true;
}

/**
 * coll_packet_memory_uninit() - free the pages
 *
 * Context: process; no packet will be allocated.
 */
void coll_packet_memory_uninit(void)
{
	int cpu, i;

	for_each_possible_cpu(cpu) {
		struct coll_packet_memory *m = per_cpu_ptr(&coll_packet_memory, cpu);

		for (i = 0; i < COLL_PACKET_PAGES; i++)
			if (m->page[i])
				put_page(m->page[i]);
	}
}
