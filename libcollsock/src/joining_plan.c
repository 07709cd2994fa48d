// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "joining_choice.h"
#include "joining_plan.h"

/**
 * struct plan_rank - to sort ranks by the identity of their hosts
 * @host: points into the record of the rank
 * @rank: number of the rank
 */
struct plan_rank {
	const struct joining_host	*host;
	unsigned int		rank;
};

static int plan_compare(const void *one, const void *other)
{
	const struct plan_rank *a = one, *b = other;
	int order = memcmp(a->host->identity, b->host->identity, sizeof(a->host->identity));

	if (!order && a->host->port != b->host->port)
		order = a->host->port < b->host->port ? -1 : 1;
	return order ? order : a->rank < b->rank ? -1 : 1;
}

/* Find the lowest rank on the host of each rank. */
static void plan_find_lowest(struct joining_plan *p, const struct joining_record *records)
{
	struct plan_rank *sorted = p->sorted;
	unsigned int i;

	for (i = 0; i < p->ranks; i++)
		sorted[i] = (struct plan_rank){ &records[i].host, i };
	qsort(sorted, p->ranks, sizeof(*sorted), plan_compare);
	for (i = 0; i < p->ranks; i++)
		p->lowest[sorted[i].rank] =
			i && joining_host_same(sorted[i - 1].host, sorted[i].host) ?
			p->lowest[sorted[i - 1].rank] : sorted[i].rank;
}

void joining_plan_make(struct joining_plan *p, const struct joining_record *records)
{
	unsigned int i;

	plan_find_lowest(p, records);
	for (i = 0; i < p->ranks; i++) {
		if (p->lowest[i] == i) {
			p->host_of_rank[i] = p->host_count;
			p->hosts[p->host_count++] = &records[i].host;
		} else {
			p->host_of_rank[i] = p->host_of_rank[p->lowest[i]];
		}
	}
}

int joining_plan_init(struct joining_plan *p, unsigned int ranks)
{
	*p = (struct joining_plan){ .ranks = ranks };
	p->host_of_rank = calloc(ranks, sizeof(*p->host_of_rank));
	p->hosts = calloc(ranks, sizeof(*p->hosts));
	p->chosen = calloc(ranks, sizeof(*p->chosen));
	p->sorted = calloc(ranks, sizeof(*p->sorted));
	p->lowest = calloc(ranks, sizeof(*p->lowest));
	return p->host_of_rank && p->hosts && p->chosen && p->sorted && p->lowest ? 0 : -ENOMEM;
}

void joining_plan_free(struct joining_plan *p)
{
	free(p->host_of_rank);
	free(p->hosts);
	free(p->chosen);
	free(p->sorted);
	free(p->lowest);
}

static unsigned int plan_lowest_rank(const struct joining_plan *p, unsigned int host)
{
	unsigned int rank = 0;

	while (p->host_of_rank[rank] != host)
		rank++;
	return rank;
}

int joining_plan_choose_addresses(struct joining_plan *p, const struct collsock_options *o,
				  unsigned int *culprit)
{
	int err = joining_choose(p->hosts, p->host_count, o->bearer, p->chosen);

	if (err)
		*culprit = plan_lowest_rank(p, joining_choice_culprit(p->hosts, p->host_count));
	return err;
}

const struct joining_address *joining_plan_address_of_host(const struct joining_plan *p,
							   unsigned int host)
{
	return &p->hosts[host]->address[p->chosen[host]];
}

const struct joining_address *joining_plan_address(const struct joining_plan *p, unsigned int rank)
{
	return joining_plan_address_of_host(p, p->host_of_rank[rank]);
}

__u16 joining_plan_port(const struct joining_plan *p, unsigned int rank)
{
	return p->hosts[p->host_of_rank[rank]]->port;
}

bool joining_plan_in_order(const struct joining_plan *p)
{
	unsigned int i;

	for (i = 1; i < p->ranks; i++)
		if (p->host_of_rank[i] < p->host_of_rank[i - 1])
			return false;
	return true;
}

bool joining_plan_same_kernel(const struct joining_plan *p, unsigned int one, unsigned int other)
{
	return joining_host_same_kernel(p->hosts[p->host_of_rank[one]],
					p->hosts[p->host_of_rank[other]]);
}

/* Are two ranks on one machine, where those in user space are hosts by themselves? */
static bool plan_same_machine(const struct joining_plan *p, unsigned int one, unsigned int other)
{
	return joining_host_same_machine(p->hosts[p->host_of_rank[one]],
					 p->hosts[p->host_of_rank[other]]);
}

unsigned int joining_plan_local_ranks(const struct joining_plan *p, unsigned int rank)
{
	unsigned int i, count = 0;

	for (i = 0; i < p->ranks; i++)
		count += plan_same_machine(p, i, rank);
	return count;
}

unsigned int joining_plan_user_ranks(const struct joining_plan *p)
{
	unsigned int i, count = 0;

	for (i = 0; i < p->host_count; i++)
		count += !!p->hosts[i]->port;
	return count;
}
