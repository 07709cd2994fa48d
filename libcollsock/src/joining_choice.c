// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "joining_choice.h"

/**
 * struct choice - in which addresses are sought
 * @hosts: of all ranks
 * @count: number of hosts
 * @network: an address of the network
 * @prefix: length of its prefix; 0: any address of its family
 * @reach: addresses with this reach, or a larger one
 */
struct choice {
	const struct joining_host *const	*hosts;
	unsigned int				count;
	const struct joining_address		*network;
	unsigned int				prefix;
	enum joining_reach			reach;
};

/* The first address of a host there; those with the largest reach are first. */
static int choice_find_address(const struct choice *c, const struct joining_host *host)
{
	const struct joining_address *a = host->address;
	unsigned int i;

	for (i = 0; i < host->addresses; i++)
		if (a[i].family == c->network->family && a[i].reach <= c->reach &&
		    joining_host_same_network(a[i].bytes, c->network->bytes, c->prefix))
			return i;
	return -1;
}

static int choice_compare_bytes(const void *one, const void *other)
{
	return memcmp(one, other, sizeof(((struct joining_address *)NULL)->bytes));
}

/* Addresses of private networks, such as those of containers, may be the same on each host. */
static int choice_all_differ(const struct choice *c, const unsigned int *chosen)
{
	__u8 (*sorted)[16] = calloc(c->count, sizeof(*sorted));
	int err = sorted ? 0 : -ENOMEM;
	unsigned int i;

	for (i = 0; i < c->count && !err; i++)
		memcpy(sorted[i], c->hosts[i]->address[chosen[i]].bytes, sizeof(*sorted));
	if (!err)
		qsort(sorted, c->count, sizeof(*sorted), choice_compare_bytes);
	for (i = 1; i < c->count && !err; i++)
		if (!choice_compare_bytes(sorted[i - 1], sorted[i]))
			err = -EADDRNOTAVAIL;
	free(sorted);
	return err;
}

static int choice_try(const struct choice *c, unsigned int *chosen)
{
	unsigned int i;

	for (i = 0; i < c->count; i++) {
		int found = choice_find_address(c, c->hosts[i]);

		if (found < 0)
			return -EADDRNOTAVAIL;
		chosen[i] = found;
	}
	return choice_all_differ(c, chosen);
}

/* In each network of the first host; @direct: as its prefix says, else whatever its prefix */
static int choice_try_networks(struct choice *c, bool direct, unsigned int *chosen)
{
	const struct joining_host *first = c->hosts[0];
	int err = -EADDRNOTAVAIL;
	unsigned int i;

	for (i = 0; i < first->addresses && err == -EADDRNOTAVAIL; i++) {
		c->network = &first->address[i];
		c->prefix = direct ? c->network->prefix : 0;
		if (c->network->reach <= c->reach)
			err = choice_try(c, chosen);
	}
	return err;
}

static int choice_of_one(const struct joining_host *host, unsigned int *chosen)
{
	unsigned int i;

	if (!host->addresses)
		return -EADDRNOTAVAIL;
	*chosen = 0;
	for (i = 0; i < host->addresses; i++)
		if (host->address[i].reach == JOINING_REACH_HOST) {
			*chosen = i;
			break;
		}
	return 0;
}

int joining_choose(const struct joining_host *const *hosts, unsigned int count, bool direct,
		   unsigned int *chosen)
{
	struct choice c = { .hosts = hosts, .count = count };
	int err = -EADDRNOTAVAIL;

	if (count == 1)
		return choice_of_one(hosts[0], chosen);
	for (; c.reach < JOINING_REACH_HOST && err == -EADDRNOTAVAIL; c.reach++) {
		err = choice_try_networks(&c, true, chosen);
		/* Networks connected by routers */
		if (err == -EADDRNOTAVAIL && !direct)
			err = choice_try_networks(&c, false, chosen);
	}
	return err;
}

static bool choice_is_cut_off(const struct joining_host *host)
{
	return !host->addresses || host->address[0].reach == JOINING_REACH_HOST;
}

unsigned int joining_choice_culprit(const struct joining_host *const *hosts, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (choice_is_cut_off(hosts[i]))
			return i;
	return 0;
}
