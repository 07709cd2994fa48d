// SPDX-License-Identifier: GPL-2.0
/* The addresses by which the hosts of an MPI program reach each other */
#include <arpa/inet.h>
#include <string.h>

#include "../../libcollsock/mpi/hosts.h"
#include "../harness.h"

#define HOSTS 3

FIXTURE(hosts)
{
	struct cm_host		host[HOSTS];
	const struct cm_host	*all[HOSTS];
	unsigned int		chosen[HOSTS];
};

FIXTURE_SETUP(hosts)
{
	int i;

	for (i = 0; i < HOSTS; i++) {
		self->all[i] = &self->host[i];
		self->host[i].identity[0] = i;
	}
}

FIXTURE_TEARDOWN(hosts)
{
}

static void add(struct cm_host *host, const char *address, int prefix)
{
	struct cm_address *a = &host->address[host->addresses++];

	a->family = strchr(address, ':') ? AF_INET6 : AF_INET;
	a->prefix = prefix;
	if (inet_pton(a->family, address, a->bytes) != 1)
		abort();
}

#define CHOOSE() cm_hosts_choose(self->all, HOSTS, false, self->chosen)

#define EXPECT_CHOSEN(zero, one, two) ({ \
	EXPECT_TRUE(CHOOSE()); \
	EXPECT_EQ(zero, self->chosen[0]); \
	EXPECT_EQ(one, self->chosen[1]); \
	EXPECT_EQ(two, self->chosen[2]); \
})

TEST_F(hosts, a_network_that_all_share_is_chosen)
{
	add(&self->host[0], "192.168.7.1", 24);
	add(&self->host[0], "10.1.0.1", 20);
	add(&self->host[1], "10.1.15.2", 20);
	add(&self->host[2], "192.168.8.3", 24);
	add(&self->host[2], "10.1.8.3", 20);
	EXPECT_CHOSEN(1, 0, 1);
}

TEST_F(hosts, networks_end_where_their_prefix_says)
{
	add(&self->host[0], "10.1.0.1", 20);
	add(&self->host[0], "10.2.0.1", 16);
	add(&self->host[1], "10.1.16.2", 20);	/* one beyond */
	add(&self->host[1], "10.2.0.2", 16);
	add(&self->host[2], "10.1.0.3", 20);
	add(&self->host[2], "10.2.0.3", 16);
	EXPECT_CHOSEN(1, 1, 1);
}

TEST_F(hosts, an_address_that_two_hosts_have_is_not_chosen)
{
	int i;

	for (i = 0; i < HOSTS; i++)
		add(&self->host[i], "172.17.0.1", 16);	/* a bridge for containers */
	EXPECT_FALSE(CHOOSE());
	add(&self->host[0], "10.1.0.1", 24);
	add(&self->host[1], "10.1.0.2", 24);
	add(&self->host[2], "10.1.0.3", 24);
	EXPECT_CHOSEN(1, 1, 1);
}

TEST_F(hosts, networks_may_be_connected_by_routers)
{
	add(&self->host[0], "10.1.0.1", 24);
	add(&self->host[1], "10.2.0.1", 24);
	add(&self->host[2], "10.3.0.1", 24);
	EXPECT_CHOSEN(0, 0, 0);
	EXPECT_FALSE(cm_hosts_choose(self->all, HOSTS, true, self->chosen));
}

TEST_F(hosts, all_use_the_same_family)
{
	add(&self->host[0], "10.1.0.1", 24);
	add(&self->host[0], "fd00::1", 64);
	add(&self->host[1], "fd00::2", 64);
	add(&self->host[2], "10.1.0.3", 24);
	add(&self->host[2], "fd00::3", 64);
	EXPECT_CHOSEN(1, 0, 1);
	self->host[2].addresses = 1;
	EXPECT_FALSE(CHOOSE());
}

TEST_F(hosts, a_host_without_an_address_has_none)
{
	add(&self->host[0], "10.1.0.1", 24);
	add(&self->host[2], "10.1.0.3", 24);
	EXPECT_FALSE(CHOOSE());
}

TEST_HARNESS_MAIN
