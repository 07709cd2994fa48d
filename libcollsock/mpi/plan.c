// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "settings.h"

/**
 * struct plan_rank - to sort ranks by the identity of their hosts
 * @host: points into the record of the rank
 * @rank: number of the rank
 */
struct plan_rank {
	const struct cm_host	*host;
	unsigned int		rank;
};

static int plan_compare(const void *one, const void *other)
{
	const struct plan_rank *a = one, *b = other;
	int order = memcmp(a->host->identity, b->host->identity, sizeof(a->host->identity));

	return order ? order : a->rank < b->rank ? -1 : 1;
}

/* Find the lowest rank on the host of each rank; @sorted has room for all ranks. */
static void plan_find_lowest(unsigned int *lowest, struct plan_rank *sorted,
			     const struct cm_record *records, unsigned int ranks)
{
	unsigned int i;

	for (i = 0; i < ranks; i++)
		sorted[i] = (struct plan_rank){ &records[i].host, i };
	qsort(sorted, ranks, sizeof(*sorted), plan_compare);
	for (i = 0; i < ranks; i++)
		lowest[sorted[i].rank] = i && cm_host_same(sorted[i - 1].host, sorted[i].host) ?
					 lowest[sorted[i - 1].rank] : sorted[i].rank;
}

static void plan_number_hosts(struct cm_plan *p, const unsigned int *lowest,
			      const struct cm_record *records)
{
	unsigned int i;

	for (i = 0; i < p->ranks; i++) {
		if (lowest[i] == i) {
			p->host_of_rank[i] = p->host_count;
			p->hosts[p->host_count++] = &records[i].host;
		} else {
			p->host_of_rank[i] = p->host_of_rank[lowest[i]];
		}
	}
}

bool cm_plan_init(struct cm_plan *p, const struct cm_record *records, unsigned int ranks)
{
	struct plan_rank *sorted = calloc(ranks, sizeof(*sorted));
	unsigned int *lowest = calloc(ranks, sizeof(*lowest));
	bool enough;

	*p = (struct cm_plan){ .ranks = ranks };
	p->host_of_rank = calloc(ranks, sizeof(*p->host_of_rank));
	p->hosts = calloc(ranks, sizeof(*p->hosts));
	p->chosen = calloc(ranks, sizeof(*p->chosen));
	enough = sorted && lowest && p->host_of_rank && p->hosts && p->chosen;
	if (enough) {
		plan_find_lowest(lowest, sorted, records, ranks);
		plan_number_hosts(p, lowest, records);
	}
	free(sorted);
	free(lowest);
	return enough;
}

void cm_plan_free(struct cm_plan *p)
{
	free(p->host_of_rank);
	free(p->hosts);
	free(p->chosen);
}

bool cm_plan_choose_addresses(struct cm_plan *p)
{
	return cm_hosts_choose(p->hosts, p->host_count, cm_settings.ethernet, p->chosen);
}

const struct cm_address *cm_plan_address_of_host(const struct cm_plan *p, unsigned int host)
{
	return &p->hosts[host]->address[p->chosen[host]];
}

const struct cm_address *cm_plan_address(const struct cm_plan *p, unsigned int rank)
{
	return cm_plan_address_of_host(p, p->host_of_rank[rank]);
}

bool cm_plan_in_order(const struct cm_plan *p)
{
	unsigned int i;

	for (i = 1; i < p->ranks; i++)
		if (p->host_of_rank[i] < p->host_of_rank[i - 1])
			return false;
	return true;
}

unsigned int cm_plan_local_ranks(const struct cm_plan *p, unsigned int rank)
{
	unsigned int i, count = 0;

	for (i = 0; i < p->ranks; i++)
		count += p->host_of_rank[i] == p->host_of_rank[rank];
	return count;
}
