// SPDX-License-Identifier: GPL-2.0
/* The addresses by which hosts reach each other: found, and chosen */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "../../libcollsock/src/joining_choice.h"
#include "../harness.h"
#include "fake_kernel.h"

#define HOSTS 3

FIXTURE(hosts)
{
	struct joining_host	host[HOSTS];
	const struct joining_host	*all[HOSTS];
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

static void add_with(struct joining_host *host, const char *address, int prefix,
		     enum joining_reach reach)
{
	struct joining_address *a = &host->address[host->addresses++];

	a->family = strchr(address, ':') ? AF_INET6 : AF_INET;
	a->prefix = prefix;
	a->reach = reach;
	if (inet_pton(a->family, address, a->bytes) != 1)
		abort();
}

static void add(struct joining_host *host, const char *address, int prefix)
{
	add_with(host, address, prefix, JOINING_REACH_NETWORK);
}

#define CHOOSE_BY(bearer) joining_choose(self->all, HOSTS, bearer, self->chosen)
#define CHOOSE() CHOOSE_BY(COLLSOCK_BEARER_UDP)

#define EXPECT_CHOSEN(zero, one, two) ({ \
	EXPECT_EQ(0, CHOOSE()); \
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
	EXPECT_EQ(-EADDRNOTAVAIL, CHOOSE());
	add(&self->host[0], "10.1.0.1", 24);
	add(&self->host[1], "10.1.0.2", 24);
	add(&self->host[2], "10.1.0.3", 24);
	EXPECT_CHOSEN(1, 1, 1);
}

TEST_F(hosts, an_address_of_two_machines_is_not_chosen_whatever_their_ports)
{
	int i;

	for (i = 0; i < HOSTS; i++) {
		self->host[i].port = 7608 + i;
		add(&self->host[i], "172.17.0.1", 16);
	}
	EXPECT_EQ(-EADDRNOTAVAIL, CHOOSE());
}

/* Ranks in user space are hosts by themselves. */
TEST_F(hosts, hosts_of_one_machine_differ_by_their_ports)
{
	int i;

	for (i = 0; i < HOSTS; i++) {
		self->host[i].port = 7608 + i;
		add(&self->host[i], i < 2 ? "10.1.0.1" : "10.1.0.2", 24);
	}
	self->host[1].identity[0] = self->host[0].identity[0];
	EXPECT_FALSE(joining_host_same(&self->host[0], &self->host[1]));
	EXPECT_CHOSEN(0, 0, 0);
	/* The kernel's ranks of that machine have none of their own. */
	self->host[0].port = 0;
	EXPECT_CHOSEN(0, 0, 0);
	self->host[1].port = 0;
	EXPECT_TRUE(joining_host_same(&self->host[0], &self->host[1]));
	EXPECT_EQ(-EADDRNOTAVAIL, CHOOSE());
}

TEST_F(hosts, hosts_of_one_machine_use_its_loopback_address)
{
	int i;

	for (i = 0; i < HOSTS; i++) {
		self->host[i].identity[0] = 1;
		self->host[i].port = 7608 + i;
		add(&self->host[i], "10.1.0.1", 24);
		add_with(&self->host[i], "127.0.0.1", 8, JOINING_REACH_HOST);
	}
	EXPECT_CHOSEN(1, 1, 1);
	/* One has lost it. */
	self->host[1].addresses--;
	EXPECT_CHOSEN(0, 0, 0);
}

TEST_F(hosts, networks_may_be_connected_by_routers)
{
	add(&self->host[0], "10.1.0.1", 24);
	add(&self->host[1], "10.2.0.1", 24);
	add(&self->host[2], "10.3.0.1", 24);
	EXPECT_CHOSEN(0, 0, 0);
	EXPECT_EQ(-EADDRNOTAVAIL, CHOOSE_BY(COLLSOCK_BEARER_ETHERNET));
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
	EXPECT_EQ(-EADDRNOTAVAIL, CHOOSE());
}

TEST_F(hosts, a_host_without_an_address_has_none)
{
	add(&self->host[0], "10.1.0.1", 24);
	add(&self->host[2], "10.1.0.3", 24);
	EXPECT_EQ(-EADDRNOTAVAIL, CHOOSE());
	EXPECT_EQ(1, joining_choice_culprit(self->all, HOSTS));
}

/* ---- addresses that few can reach ---- */

TEST_F(hosts, a_bridge_inside_a_host_is_chosen_only_where_there_is_nothing_else)
{
	static const char *const bridges[] = { "172.17.0.1", "172.17.0.2", "172.17.0.3" };
	int i;

	add(&self->host[0], "10.1.0.1", 24);
	add(&self->host[1], "10.2.0.1", 24);
	add(&self->host[2], "10.3.0.1", 24);
	/* They look like one network, and are three. */
	for (i = 0; i < HOSTS; i++)
		add_with(&self->host[i], bridges[i], 16, JOINING_REACH_BRIDGE);
	EXPECT_CHOSEN(0, 0, 0);
	for (i = 0; i < HOSTS; i++)
		self->host[i].address[0] = self->host[i].address[1];
	for (i = 0; i < HOSTS; i++)
		self->host[i].addresses = 1;
	EXPECT_CHOSEN(0, 0, 0);
}

TEST_F(hosts, a_network_in_which_one_has_no_carrier_is_chosen_last)
{
	/* The first network of the first host, which does not know */
	add(&self->host[0], "10.1.0.1", 24);
	add(&self->host[0], "10.2.0.1", 24);
	add(&self->host[1], "10.2.0.2", 24);
	add_with(&self->host[1], "10.1.0.2", 24, JOINING_REACH_UNPLUGGED);
	add(&self->host[2], "10.1.0.3", 24);
	add(&self->host[2], "10.2.0.3", 24);
	EXPECT_CHOSEN(1, 0, 1);
	/* It has nothing else. */
	self->host[1].address[0] = self->host[1].address[1];
	self->host[1].addresses = 1;
	EXPECT_CHOSEN(0, 0, 0);
}

TEST_F(hosts, loopback_is_never_chosen_for_several_hosts)
{
	static const char *const loopback[] = { "127.0.0.1", "127.0.0.2", "127.0.0.3" };
	int i;

	for (i = 0; i < HOSTS; i++)
		add_with(&self->host[i], loopback[i], 8, JOINING_REACH_HOST);
	EXPECT_EQ(-EADDRNOTAVAIL, CHOOSE());
	EXPECT_EQ(0, joining_choice_culprit(self->all, HOSTS));
}

TEST_F(hosts, loopback_is_chosen_for_a_single_host)
{
	add(&self->host[0], "10.1.0.1", 24);
	add_with(&self->host[0], "172.17.0.1", 16, JOINING_REACH_BRIDGE);
	EXPECT_EQ(0, joining_choose(self->all, 1, COLLSOCK_BEARER_UDP, self->chosen));
	EXPECT_EQ(0, self->chosen[0]);
	add_with(&self->host[0], "127.0.0.1", 8, JOINING_REACH_HOST);
	EXPECT_EQ(0, joining_choose(self->all, 1, COLLSOCK_BEARER_UDP, self->chosen));
	EXPECT_EQ(2, self->chosen[0]);
	EXPECT_EQ(-EADDRNOTAVAIL, joining_choose(&self->all[1], 1, COLLSOCK_BEARER_UDP,
						 self->chosen));
}

/* ---- Ethernet, if every user may use it ---- */

#define CHOOSE_AUTO() CHOOSE_BY(COLLSOCK_BEARER_AUTO)

static void add_open(struct joining_host *host, const char *address, int prefix, __u8 mac)
{
	struct joining_address *a = &host->address[host->addresses];

	add(host, address, prefix);
	a->mac[0] = 2;
	a->mac[5] = mac;
	a->open = true;
}

/* In 10.1.0.0/24 */
static void add_an_open_one_to_each(struct joining_host *host)
{
	static const char *const address[HOSTS] = { "10.1.0.1", "10.1.0.2", "10.1.0.3" };
	int i;

	for (i = 0; i < HOSTS; i++)
		add_open(&host[i], address[i], 24, i);
}

TEST_F(hosts, ethernet_is_chosen_where_all_have_opened_it)
{
	add(&self->host[0], "10.2.0.1", 24);
	add_an_open_one_to_each(self->host);
	add(&self->host[1], "10.2.0.2", 24);
	add(&self->host[2], "10.2.0.3", 24);
	EXPECT_EQ(0, CHOOSE_AUTO());
	EXPECT_EQ(1, self->chosen[0]);
	EXPECT_EQ(0, self->chosen[1]);
	EXPECT_EQ(0, self->chosen[2]);
	/* As for UDP the first network */
	EXPECT_CHOSEN(0, 1, 1);
}

TEST_F(hosts, ethernet_is_not_chosen_where_one_has_not_opened_it)
{
	int i;

	add_an_open_one_to_each(self->host);
	for (i = 0; i < HOSTS; i++) {
		self->host[i].address[0].open = false;
		EXPECT_EQ(-EADDRNOTAVAIL, CHOOSE_AUTO());
		EXPECT_CHOSEN(0, 0, 0);
		self->host[i].address[0].open = true;
	}
	EXPECT_EQ(0, CHOOSE_AUTO());
}

TEST_F(hosts, ethernet_is_not_chosen_where_the_open_networks_differ)
{
	add_open(&self->host[0], "10.1.0.1", 24, 1);
	add_open(&self->host[1], "10.1.0.2", 24, 2);
	add_open(&self->host[2], "10.2.0.3", 24, 3);
	add(&self->host[2], "10.1.0.3", 24);
	EXPECT_EQ(-EADDRNOTAVAIL, CHOOSE_AUTO());
	EXPECT_CHOSEN(0, 0, 1);
}

/* As those of one machine have with ipvlan */
TEST_F(hosts, ethernet_is_not_chosen_where_two_have_one_mac_address)
{
	add_an_open_one_to_each(self->host);
	self->host[2].address[0].mac[5] = self->host[1].address[0].mac[5];
	EXPECT_EQ(-EADDRNOTAVAIL, CHOOSE_AUTO());
	EXPECT_EQ(-EADDRNOTAVAIL, CHOOSE_BY(COLLSOCK_BEARER_ETHERNET));
	EXPECT_CHOSEN(0, 0, 0);
}

TEST_F(hosts, ethernet_is_not_chosen_within_a_host)
{
	int i;

	add_open(&self->host[0], "10.1.0.1", 24, 1);
	EXPECT_EQ(-EADDRNOTAVAIL, joining_choose(self->all, 1, COLLSOCK_BEARER_AUTO,
						 self->chosen));
	self->host[0].addresses = 0;
	add_an_open_one_to_each(self->host);
	for (i = 0; i < HOSTS; i++)
		self->host[i].address[0].reach = JOINING_REACH_BRIDGE;
	EXPECT_EQ(-EADDRNOTAVAIL, CHOOSE_AUTO());
	EXPECT_CHOSEN(0, 0, 0);
}

/* ---- those of this host ---- */

static struct collsock_devices fake_devices;

#define ADD_ADDRESSES() joining_host_add_addresses(&host, &options, &fake_devices)

static void have(const char *const *addresses)
{
	int i;

	for (i = 0; (fake.addresses[i] = addresses[i]); i++)
		;
}

static const char *text_of(const struct joining_address *a)
{
	static char text[2][INET6_ADDRSTRLEN];
	static int turn;

	return inet_ntop(a->family, a->bytes, text[turn ^= 1], sizeof(*text));
}

TEST_F(hosts, addresses_are_in_the_order_of_their_reach)
{
	static const char *const mine[] = {
		"lo=127.0.0.1/8", "docker0=172.17.0.1/16", "br-0123456789ab=172.18.0.1/16",
		"unplugged0=10.9.0.5/20", "br-lan=192.168.1.5/24", "eth0=fd00::5/64",
		"eth0=10.1.0.5/20", NULL
	};
	static const struct {
		const char		*address;
		int			prefix;
		enum joining_reach	reach;
	} wanted[] = {
		{ "192.168.1.5", 24, JOINING_REACH_NETWORK },
		{ "10.1.0.5", 20, JOINING_REACH_NETWORK },
		{ "fd00::5", 64, JOINING_REACH_NETWORK },
		{ "172.17.0.1", 16, JOINING_REACH_BRIDGE },
		{ "172.18.0.1", 16, JOINING_REACH_BRIDGE },
		{ "10.9.0.5", 20, JOINING_REACH_UNPLUGGED },
		{ "127.0.0.1", 8, JOINING_REACH_HOST },
	};
	const struct collsock_options options = { };
	struct joining_host host = { };
	unsigned int i;

	have(mine);
	ASSERT_EQ(0, ADD_ADDRESSES());
	ASSERT_EQ(ARRAY_SIZE(wanted), host.addresses);
	for (i = 0; i < host.addresses; i++) {
		EXPECT_STREQ(wanted[i].address, text_of(&host.address[i]));
		EXPECT_EQ(wanted[i].prefix, host.address[i].prefix);
		EXPECT_EQ(wanted[i].reach, host.address[i].reach);
	}
	EXPECT_TRUE(joining_host_is_valid(&host, &options));
}

TEST_F(hosts, a_network_or_family_that_the_user_names_is_the_only_one)
{
	static const char *const mine[] = {
		"eth0=10.1.0.5/20", "eth1=10.2.0.5/20", "eth1=fd00::5/64", NULL
	};
	struct collsock_options options = {
		.family = AF_INET, .prefix = 16, .network = { 10, 2, 9, 9 },
	};
	struct joining_host host = { };

	have(mine);
	ASSERT_EQ(0, ADD_ADDRESSES());
	ASSERT_EQ(1, host.addresses);
	EXPECT_STREQ("10.2.0.5", text_of(&host.address[0]));
	host.addresses = 0;
	options = (struct collsock_options){ .family = AF_INET6 };
	ASSERT_EQ(0, ADD_ADDRESSES());
	ASSERT_EQ(1, host.addresses);
	EXPECT_STREQ("fd00::5", text_of(&host.address[0]));
	host.addresses = 0;
	options = (struct collsock_options){
		.family = AF_INET, .prefix = 8, .network = { 11 },
	};
	EXPECT_EQ(-EADDRNOTAVAIL, ADD_ADDRESSES());
}

TEST_F(hosts, an_address_is_open_if_its_ethernet_device_is)
{
	static const char *const mine[] = {
		"eth0=02:00:00:00:00:01", "eth1=02:00:00:00:00:02", "eth0=10.1.0.5/24",
		"eth1=10.2.0.5/24", "eth2=10.3.0.5/24", "lo=127.0.0.1/8", NULL
	};
	struct collsock_options options = { .bearer = COLLSOCK_BEARER_AUTO };
	struct joining_host host = { };
	int i;

	have(mine);
	fake_devices = (struct collsock_devices){
		offsetof(struct collsock_devices, ifindex[2]), { 7, 2, 1 },
	};
	ASSERT_EQ(0, ADD_ADDRESSES());
	ASSERT_EQ(4, host.addresses);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(i == 1, host.address[i].open);
	EXPECT_EQ(2, host.address[1].mac[5]);
	EXPECT_TRUE(joining_host_is_open(&host));
	EXPECT_TRUE(joining_host_is_valid(&host, &options));
	host.addresses = 1;
	EXPECT_FALSE(joining_host_is_open(&host));
	/* Those who have asked for UDP */
	host.addresses = 0;
	options.bearer = COLLSOCK_BEARER_UDP;
	ASSERT_EQ(0, ADD_ADDRESSES());
	EXPECT_FALSE(joining_host_is_open(&host));
}

/* ---- those that another rank has sent ---- */

TEST_F(hosts, no_address_is_accepted_that_no_host_has)
{
	static const struct {
		const char	*address;
		int		prefix;
		int		reach;
	} bad[] = {
		{ "0.0.0.0", 0, JOINING_REACH_NETWORK },
		{ "255.255.255.255", 32, JOINING_REACH_NETWORK },
		{ "224.0.0.1", 4, JOINING_REACH_NETWORK },
		{ "10.1.0.1", 33, JOINING_REACH_NETWORK },
		{ "10.1.0.1", 24, JOINING_REACHES },
		{ "127.0.0.1", 8, JOINING_REACH_NETWORK },
		{ "127.1.2.3", 8, JOINING_REACH_BRIDGE },
		{ "::", 0, JOINING_REACH_NETWORK },
		{ "::1", 128, JOINING_REACH_NETWORK },
		{ "ff02::1", 8, JOINING_REACH_NETWORK },
		{ "fe80::1", 64, JOINING_REACH_NETWORK },
		{ "::ffff:10.1.0.1", 96, JOINING_REACH_NETWORK },
		{ "fd00::1", 129, JOINING_REACH_NETWORK },
	};
	const struct collsock_options udp = { };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct joining_host host = { };

		add_with(&host, bad[i].address, bad[i].prefix, bad[i].reach);
		EXPECT_FALSE(joining_host_is_valid(&host, &udp)) {
			TH_LOG("%s/%d, reach %d", bad[i].address, bad[i].prefix, bad[i].reach);
		}
	}
}

TEST_F(hosts, no_host_is_accepted_that_no_rank_sends)
{
	const struct collsock_options ethernet = { .bearer = COLLSOCK_BEARER_ETHERNET };
	const struct collsock_options any = { .bearer = COLLSOCK_BEARER_AUTO };
	const struct collsock_options udp = { };
	struct joining_host good = { }, host;

	add(&good, "10.1.0.1", 24);
	EXPECT_TRUE(joining_host_is_valid(&good, &udp));
	EXPECT_FALSE(joining_host_is_valid(&good, &ethernet));	/* no MAC address */
	good.address[0].mac[0] = 2;
	EXPECT_TRUE(joining_host_is_valid(&good, &ethernet));
	good.address[0].mac[0] = 3;	/* of a group */
	EXPECT_FALSE(joining_host_is_valid(&good, &ethernet));

	host = good;
	host.addresses = JOINING_MOST_ADDRESSES + 1;
	EXPECT_FALSE(joining_host_is_valid(&host, &udp));
	host.addresses = 0xffffffff;
	EXPECT_FALSE(joining_host_is_valid(&host, &udp));
	/* A host that may use Ethernet has a MAC address, and no rank in user space. */
	host = good;
	host.address[0].open = true;
	EXPECT_FALSE(joining_host_is_valid(&host, &any));
	host.address[0].mac[0] = 2;
	EXPECT_TRUE(joining_host_is_valid(&host, &any));
	EXPECT_FALSE(joining_host_is_valid(&host, &udp));
	host.port = 7608;
	EXPECT_FALSE(joining_host_is_valid(&host, &any));
	host.port = 0;
	host.address[0].open = 2;
	EXPECT_FALSE(joining_host_is_valid(&host, &any));
	host = good;
	host.address[0].family = AF_PACKET;
	EXPECT_FALSE(joining_host_is_valid(&host, &udp));
	host = good;
	host.address[0].bytes[4] = 1;
	EXPECT_FALSE(joining_host_is_valid(&host, &udp));
	host = good;
	host.port = 65536;
	EXPECT_FALSE(joining_host_is_valid(&host, &udp));
	/* The best must be first. */
	host = good;
	add_with(&host, "10.2.0.1", 24, JOINING_REACH_BRIDGE);
	EXPECT_TRUE(joining_host_is_valid(&host, &udp));
	add(&host, "10.3.0.1", 24);
	EXPECT_FALSE(joining_host_is_valid(&host, &udp));
}

TEST_HARNESS_MAIN
