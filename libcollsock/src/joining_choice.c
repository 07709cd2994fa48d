// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "joining_choice.h"

#define ADDRESS_BITS 128
#define IPV4_BITS 32

/**
 * struct choice - which addresses to look for
 * @hosts: of all ranks
 * @count: number of hosts
 * @network: an address of the network
 * @prefix: length of its prefix; 0: any address of its family
 * @reach: addresses with this reach, or a larger one
 * @bearer: see joining_choose()
 */
struct choice {
	const struct joining_host *const	*hosts;
	unsigned int				count;
	const struct joining_address		*network;
	unsigned int				prefix;
	enum joining_reach			reach;
	enum collsock_bearer			bearer;
};

static unsigned int choice_bits(const struct joining_address *a)
{
	return a->family == AF_INET ? IPV4_BITS : ADDRESS_BITS;
}

static bool choice_has(const struct choice *c, const struct joining_address *a)
{
	if (c->bearer == COLLSOCK_BEARER_AUTO && !a->open)
		return false;
	return a->family == c->network->family && a->reach <= c->reach &&
	       joining_host_same_network(a->bytes, c->network->bytes, c->prefix);
}

/* The first address of a host there; those with the largest reach are first. */
static int choice_find_address(const struct choice *c, const struct joining_host *host)
{
	const struct joining_address *a = host->address;
	unsigned int i;

	for (i = 0; i < host->addresses; i++)
		if (choice_has(c, &a[i]))
			return i;
	return -1;
}

/* The address by which a host is reached, and its length */
struct choice_end {
	const __u8			*address;
	size_t				bytes;
	const struct joining_host	*host;
};

static struct choice_end choice_end_of(const struct choice *c, const struct joining_host *host,
				       unsigned int chosen)
{
	const struct joining_address *a = &host->address[chosen];

	if (c->bearer == COLLSOCK_BEARER_UDP)
		return (struct choice_end){ a->bytes, sizeof(a->bytes), host };
	return (struct choice_end){ a->mac, sizeof(a->mac), host };
}

static int choice_compare_addresses(const struct choice_end *a, const struct choice_end *b)
{
	return memcmp(a->address, b->address, a->bytes);
}

static int choice_compare(const void *one, const void *other)
{
	const struct choice_end *a = one, *b = other;
	int order = choice_compare_addresses(a, b);

	if (!order)
		order = memcmp(a->host->identity, b->host->identity, sizeof(a->host->identity));
	if (!order && a->host->port != b->host->port)
		order = a->host->port < b->host->port ? -1 : 1;
	return order;
}

static bool choice_differs(const struct choice_end *a, const struct choice_end *b)
{
	return choice_compare_addresses(a, b) ||
	       (joining_host_same_machine(a->host, b->host) && a->host->port != b->host->port);
}

/*
 * Addresses of private networks, such as those of containers, may be the same on each machine.
 * Hosts of one machine have different ports.
 */
static int choice_all_differ(const struct choice *c, const unsigned int *chosen)
{
	struct choice_end *sorted = calloc(c->count, sizeof(*sorted));
	int err = sorted ? 0 : -ENOMEM;
	unsigned int i;

	for (i = 0; i < c->count && !err; i++)
		sorted[i] = choice_end_of(c, c->hosts[i], chosen[i]);
	if (!err)
		qsort(sorted, c->count, sizeof(*sorted), choice_compare);
	for (i = 1; i < c->count && !err; i++)
		if (!choice_differs(&sorted[i - 1], &sorted[i]))
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

/* Try each network of the first host; @direct: of its prefix, else of any addresses */
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

static bool choice_is_one_machine(const struct joining_host *const *hosts, unsigned int count)
{
	unsigned int i;

	for (i = 1; i < count; i++)
		if (!joining_host_same_machine(hosts[0], hosts[i]))
			return false;
	return true;
}

/* Choose for hosts of one machine: all get the same address, and differ by their ports. */
static int choice_in_machine(struct choice *c, unsigned int *chosen)
{
	const struct joining_host *first = c->hosts[0];
	unsigned int i = 0;

	if (!first->addresses)
		return -EADDRNOTAVAIL;
	while (i < first->addresses - 1 && first->address[i].reach != JOINING_REACH_HOST)
		i++;
	if (first->address[i].reach != JOINING_REACH_HOST)
		i = 0;
	c->network = &first->address[i];
	c->prefix = choice_bits(c->network);
	c->reach = c->network->reach;
	return choice_try(c, chosen);
}

int joining_choose(const struct joining_host *const *hosts, unsigned int count,
		   enum collsock_bearer bearer, unsigned int *chosen)
{
	struct choice c = {
		.hosts = hosts, .count = count, .reach = JOINING_REACH_NETWORK, .bearer = bearer,
	};
	int err = -EADDRNOTAVAIL;

	/* Nobody has asked for bridges, or for a host to reach itself. */
	if (bearer == COLLSOCK_BEARER_AUTO)
		return count > 1 ? choice_try_networks(&c, true, chosen) : err;
	if (choice_is_one_machine(hosts, count) && !choice_in_machine(&c, chosen))
		return 0;
	c.reach = JOINING_REACH_NETWORK;
	if (count == 1)
		return -EADDRNOTAVAIL;
	for (; c.reach < JOINING_REACH_HOST && err == -EADDRNOTAVAIL; c.reach++) {
		err = choice_try_networks(&c, true, chosen);
		/* Networks connected by routers */
		if (err == -EADDRNOTAVAIL && bearer == COLLSOCK_BEARER_UDP)
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
