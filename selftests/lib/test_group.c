// SPDX-License-Identifier: GPL-2.0
/* The group: the hosts that it accepts, and the bytes of JOIN */
#include <arpa/inet.h>
#include <errno.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <string.h>

#include "fake_kernel.h"
#include "../harness.h"

#define ID 0x1122334455667788ULL
#define NONCE 0x99aabbccddeeff00ULL

static const __u8 key[COLLSOCK_KEY_BYTES] = { 1, 2, 3, 4, 5, 6, 7, 8,
						 9, 10, 11, 12, 13, 14, 15, 16 };

FIXTURE(group)
{
	struct collsock_group *group;
	struct collsock *socket;
};

FIXTURE_SETUP(group)
{
	memset(&fake, 0, sizeof(fake));
	ASSERT_EQ(0, collsock_group_new(&self->group, ID, NONCE, key));
	ASSERT_EQ(0, collsock_open(&self->socket, 0));
}

FIXTURE_TEARDOWN(group)
{
	collsock_group_free(self->group);
	collsock_close(self->socket);
}

TEST_F(group, request_has_the_fixed_part_then_hosts_then_ranks)
{
	struct collsock_member members[2];
	struct collsock_join join;
	__u32 host_of_rank[2];

	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.3", 0));
	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.4", 9000));
	collsock_group_request(self->group)->window = 4;
	collsock_group_request(self->group)->algorithm[COLLSOCK_REDUCE] = COLLSOCK_BINOMIAL;
	collsock_group_request(self->group)->algorithm[COLLSOCK_BROADCAST] = COLLSOCK_KARY;
	collsock_group_request(self->group)->degree = 3;
	ASSERT_EQ(0, collsock_join(self->socket, self->group, 1));

	EXPECT_EQ(COLLSOCK_JOIN, fake.option);
	ASSERT_EQ(sizeof(join) + sizeof(members) + sizeof(host_of_rank), fake.sent_bytes);
	memcpy(&join, fake.sent, sizeof(join));
	memcpy(members, fake.sent + sizeof(join), sizeof(members));
	memcpy(host_of_rank, fake.sent + sizeof(join) + sizeof(members), sizeof(host_of_rank));

	EXPECT_EQ(sizeof(join), join.size);
	EXPECT_EQ(0, join.flags);
	EXPECT_EQ(ID, join.id);
	EXPECT_EQ(NONCE, join.nonce);
	EXPECT_EQ(0, memcmp(join.key, key, sizeof(key)));
	EXPECT_EQ(2, join.hosts);
	EXPECT_EQ(2, join.ranks);
	EXPECT_EQ(1, join.rank);
	EXPECT_EQ(4, join.window);
	EXPECT_EQ(0, join.max_bytes);
	EXPECT_EQ(COLLSOCK_AUTO, join.algorithm[COLLSOCK_BARRIER]);
	EXPECT_EQ(COLLSOCK_AUTO, join.algorithm[COLLSOCK_ALLREDUCE]);
	EXPECT_EQ(COLLSOCK_BINOMIAL, join.algorithm[COLLSOCK_REDUCE]);
	EXPECT_EQ(COLLSOCK_KARY, join.algorithm[COLLSOCK_BROADCAST]);
	EXPECT_EQ(3, join.degree);
	EXPECT_EQ(AF_INET, members[0].family);
	EXPECT_EQ(COLLSOCK_PORT, members[0].port);
	EXPECT_EQ(9000, members[1].port);
	EXPECT_EQ(10, members[1].address[0]);
	EXPECT_EQ(4, members[1].address[3]);
	EXPECT_EQ(0, members[1].address[4]);
	EXPECT_EQ(0, host_of_rank[0]);
	EXPECT_EQ(1, host_of_rank[1]);
}

TEST_F(group, no_key_is_all_zero)
{
	static const __u8 zero[COLLSOCK_KEY_BYTES];
	struct collsock_group *keyless;

	ASSERT_EQ(0, collsock_group_new(&keyless, ID, NONCE, NULL));
	EXPECT_EQ(0, memcmp(collsock_group_request(keyless)->key, zero, sizeof(zero)));
	collsock_group_free(keyless);
}

TEST_F(group, refuses_what_is_not_a_host_address)
{
	static const struct {
		const char	*address;
		int		error;
	} refused[] = {
		{ "",				-EINVAL },
		{ "localhost",			-EINVAL },
		{ "10.1.2",			-EINVAL },
		{ "10.1.2.3.4",			-EINVAL },
		{ "10.1.2.3 ",			-EINVAL },
		{ "fe80::1::2",			-EINVAL },
		{ "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc:dddd", -EINVAL },
		{ "0.0.0.0",			-EADDRNOTAVAIL },
		{ "255.255.255.255",		-EADDRNOTAVAIL },
		{ "224.0.0.1",			-EADDRNOTAVAIL },
		{ "::",				-EADDRNOTAVAIL },
		{ "ff02::1",			-EADDRNOTAVAIL },
		{ "::ffff:10.1.2.3",		-EADDRNOTAVAIL },
		{ "fe80::1",			-EADDRNOTAVAIL },
		{ "fe80::1%nosuchinterface",	-ENODEV },
		{ "52:54:00:12:34",		-EINVAL },
		{ "52:54:00:12:34:5",		-EINVAL },
		{ "52:54:00:12:34:567",		-EINVAL },
		{ "52:54:00:12:34:5g",		-EINVAL },
		{ "52:54:00:12:34:56:78",	-EINVAL },
		{ "52-54-00-12-34-56",		-EINVAL },
		{ "00:00:00:00:00:00",		-EADDRNOTAVAIL },
		{ "01:00:5e:00:00:01",		-EADDRNOTAVAIL },
		{ "ff:ff:ff:ff:ff:ff",		-EADDRNOTAVAIL },
		{ "2:2:3:4:5:6666666",		-EINVAL },
		{ "2:2:3:4:5:66junk!",		-EINVAL },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		EXPECT_EQ(refused[i].error,
			  collsock_group_add_host(self->group, refused[i].address, 0))
			TH_LOG("entry %d", i);
	}
	EXPECT_EQ(0, collsock_group_request(self->group)->hosts);
}

TEST_F(group, link_local_host_keeps_its_interface)
{
	struct collsock_member member;

	ASSERT_EQ(0, collsock_group_add_host(self->group, "fe80::1%lo", 0));
	ASSERT_EQ(0, collsock_join(self->socket, self->group, 0));
	memcpy(&member, fake.sent + sizeof(struct collsock_join), sizeof(member));
	EXPECT_EQ(AF_INET6, member.family);
	EXPECT_EQ(1, member.scope_id);
	EXPECT_EQ(0xfe, member.address[0]);
	EXPECT_EQ(1, member.address[15]);
}

TEST_F(group, a_mac_address_is_a_host)
{
	static const __u8 mac[16] = { 0x52, 0x54, 0, 0x12, 0x34, 0x56 };
	struct sockaddr_ll ll = { .sll_family = AF_PACKET, .sll_protocol = htons(0x88b6),
				  .sll_ifindex = 3, .sll_halen = ETH_ALEN };
	const struct collsock_member *m = (void *)(fake.sent + sizeof(struct collsock_join));
	const struct sockaddr *a = (struct sockaddr *)&ll;

	ASSERT_EQ(0, collsock_group_add_host(self->group, "52:54:00:12:34:56", 0));
	memcpy(ll.sll_addr, mac, ETH_ALEN);
	ASSERT_EQ(0, collsock_group_add_sockaddr(self->group, a, sizeof(ll)));
	ASSERT_EQ(0, collsock_join(self->socket, self->group, 0));
	EXPECT_EQ(AF_PACKET, m[0].family);
	EXPECT_EQ(COLLSOCK_ETHERTYPE, m[0].port);
	EXPECT_EQ(0, m[0].scope_id);
	EXPECT_EQ(0, memcmp(m[0].address, mac, sizeof(mac)));
	EXPECT_EQ(0x88b6, m[1].port);
	EXPECT_EQ(3, m[1].scope_id);
	EXPECT_EQ(0, collsock_group_add_host(self->group, "52:54:00:12:34:57%nosuchinterface", 0));
	EXPECT_EQ(0, memcmp(m[1].address, mac, sizeof(mac)));

	EXPECT_EQ(-EINVAL, collsock_group_add_sockaddr(self->group, a, 12));
	ll.sll_halen = 8;
	EXPECT_EQ(-EADDRNOTAVAIL, collsock_group_add_sockaddr(self->group, a, sizeof(ll)));
	EXPECT_EQ(-EPFNOSUPPORT, collsock_group_add_host(self->group, "10.1.2.3", 0));
}

TEST(multicast_addresses_are_those_of_several_hosts)
{
	static const struct {
		const char *text;
		__u8 bytes[16];
	} good[] = {
		{ "239.7.7.7", { 239, 7, 7, 7 } },
		{ "ff15::7:8", { 0xff, 0x15, [13] = 7, [15] = 8 } },
		{ "03:00:00:00:00:Ab", { 3, [5] = 0xab } },
	};
	static const struct {
		const char *text;
		int error;
	} bad[] = {
		{ "10.0.0.1", -EADDRNOTAVAIL }, { "255.255.255.255", -EADDRNOTAVAIL },
		{ "fd00::1", -EADDRNOTAVAIL }, { "02:00:00:00:00:01", -EADDRNOTAVAIL },
		{ "", -EINVAL }, { "all", -EINVAL }, { "239.7.7.7x", -EINVAL },
		{ "03:00:00:00:00:1", -EINVAL }, { "ff15::7%lo", -EINVAL },
	};
	__u8 address[16];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		EXPECT_EQ(0, collsock_multicast_from_text(good[i].text, address));
		EXPECT_EQ(0, memcmp(address, good[i].bytes, sizeof(address)));
	}
	memset(address, 0, sizeof(address));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(bad[i].error, collsock_multicast_from_text(bad[i].text, address))
			TH_LOG("%s", bad[i].text);
	}
	EXPECT_EQ(0, address[0]);
}

TEST_F(group, text_and_sockaddr_make_the_same_request)
{
	struct sockaddr_in ipv4 = { .sin_family = AF_INET, .sin_port = htons(9000) };
	__u8 first[FAKE_BYTES];
	size_t bytes;

	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.3", 9000));
	ASSERT_EQ(0, collsock_join(self->socket, self->group, 0));
	bytes = fake.sent_bytes;
	memcpy(first, fake.sent, bytes);
	collsock_group_free(self->group);

	ASSERT_EQ(0, collsock_group_new(&self->group, ID, NONCE, key));
	inet_pton(AF_INET, "10.1.2.3", &ipv4.sin_addr);
	ASSERT_EQ(0, collsock_group_add_sockaddr(self->group, (struct sockaddr *)&ipv4,
						 sizeof(ipv4)));
	ASSERT_EQ(0, collsock_join(self->socket, self->group, 0));
	ASSERT_EQ(bytes, fake.sent_bytes);
	EXPECT_EQ(0, memcmp(first, fake.sent, bytes));
}

TEST_F(group, refuses_other_and_short_sockaddrs)
{
	struct sockaddr_storage address = { .ss_family = AF_UNIX };
	const struct sockaddr *a = (struct sockaddr *)&address;

	EXPECT_EQ(-EPFNOSUPPORT, collsock_group_add_sockaddr(self->group, a, sizeof(address)));
	EXPECT_EQ(-EINVAL, collsock_group_add_sockaddr(self->group, a, 1));
	address.ss_family = AF_INET;
	EXPECT_EQ(-EINVAL, collsock_group_add_sockaddr(self->group, a, 4));
	address.ss_family = AF_INET6;
	EXPECT_EQ(-EINVAL,
		  collsock_group_add_sockaddr(self->group, a, sizeof(struct sockaddr_in)));
}

TEST_F(group, hosts_are_of_one_family)
{
	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.3", 0));
	EXPECT_EQ(-EPFNOSUPPORT, collsock_group_add_host(self->group, "fd00::1", 0));
	EXPECT_EQ(1, collsock_group_request(self->group)->hosts);
}

/* The hosts of the ranks in the last request, which has these numbers of them */
static const __u32 *sent_host_of_rank(__u32 hosts, __u32 ranks)
{
	const struct collsock_join *join = (const void *)fake.sent;
	const struct collsock_member *members = (const void *)(join + 1);

	if (join->hosts != hosts || join->ranks != ranks ||
	    fake.sent_bytes != sizeof(*join) + hosts * sizeof(*members) + ranks * sizeof(__u32))
		return NULL;
	return (const void *)(members + hosts);
}

TEST_F(group, a_host_added_again_gets_another_rank)
{
	static const __u32 wanted[] = { 0, 1, 0, 2, 1, 0 };
	static const __u8 last_bytes[] = { 9, 3, 5 };
	const struct collsock_member *members;
	const __u32 *host_of_rank;
	int i;

	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.9", 0));
	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.3", 0));
	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.9", COLLSOCK_PORT));
	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.5", 0));
	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.3", 0));
	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.9", 0));
	ASSERT_EQ(0, collsock_join(self->socket, self->group, 5));

	host_of_rank = sent_host_of_rank(ARRAY_SIZE(last_bytes), ARRAY_SIZE(wanted));
	ASSERT_NE(NULL, host_of_rank);
	EXPECT_EQ(5, ((struct collsock_join *)fake.sent)->rank);
	members = (const void *)(fake.sent + sizeof(struct collsock_join));
	for (i = 0; i < ARRAY_SIZE(last_bytes); i++) {
		EXPECT_EQ(last_bytes[i], members[i].address[3])
			TH_LOG("host %d", i);
	}
	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		EXPECT_EQ(wanted[i], host_of_rank[i])
			TH_LOG("rank %d", i);
	}
}

TEST_F(group, ranks_may_be_placed_round_robin)
{
	enum { HOSTS = 500, ROUNDS = 4 };
	struct sockaddr_in ipv4 = { .sin_family = AF_INET };
	const __u32 *host_of_rank;
	__u32 i;

	for (i = 0; i < HOSTS * ROUNDS; i++) {
		ipv4.sin_addr.s_addr = htonl(0x0a000000 + (i % HOSTS * 7919) % 65536);
		ASSERT_EQ(0, collsock_group_add_sockaddr(self->group, (struct sockaddr *)&ipv4,
							 sizeof(ipv4)));
	}
	ASSERT_EQ(0, collsock_join(self->socket, self->group, 0));
	host_of_rank = sent_host_of_rank(HOSTS, HOSTS * ROUNDS);
	ASSERT_NE(NULL, host_of_rank);
	for (i = 0; i < HOSTS * ROUNDS; i++) {
		EXPECT_EQ(i % HOSTS, host_of_rank[i])
			TH_LOG("rank %u", i);
	}
}

TEST_F(group, host_holds_as_many_ranks_as_the_kernel_allows)
{
	int i;

	for (i = 0; i < COLLSOCK_MAX_LOCAL_RANKS; i++)
		ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.3", 0));
	EXPECT_EQ(-E2BIG, collsock_group_add_host(self->group, "10.1.2.3", 0));
	EXPECT_EQ(COLLSOCK_MAX_LOCAL_RANKS, collsock_group_request(self->group)->ranks);
	EXPECT_EQ(0, collsock_group_add_host(self->group, "10.1.2.4", 0));
}

TEST_F(group, holds_as_many_ranks_as_the_kernel_allows)
{
	struct sockaddr_in ipv4 = { .sin_family = AF_INET };
	const struct sockaddr *a = (struct sockaddr *)&ipv4;
	__u32 i;

	for (i = 0; i < COLLSOCK_MAX_RANKS; i++) {
		ipv4.sin_addr.s_addr = htonl(0x0a000000 + i % COLLSOCK_MAX_HOSTS);
		ASSERT_EQ(0, collsock_group_add_sockaddr(self->group, a, sizeof(ipv4)))
			TH_LOG("rank %u", i);
	}
	EXPECT_EQ(-E2BIG, collsock_group_add_sockaddr(self->group, a, sizeof(ipv4)));
	EXPECT_EQ(COLLSOCK_MAX_RANKS, collsock_group_request(self->group)->ranks);
	EXPECT_EQ(COLLSOCK_MAX_HOSTS, collsock_group_request(self->group)->hosts);
}

TEST_F(group, one_address_with_two_ports_is_two_hosts)
{
	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.3", 0));
	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.3", 9000));
	EXPECT_EQ(0, collsock_join(self->socket, self->group, 0));
	EXPECT_NE(NULL, sent_host_of_rank(2, 2));
}

TEST_F(group, link_local_addresses_of_two_interfaces_are_two_hosts)
{
	struct sockaddr_in6 ipv6 = { .sin6_family = AF_INET6, .sin6_scope_id = 1 };
	const struct sockaddr *a = (struct sockaddr *)&ipv6;

	inet_pton(AF_INET6, "fe80::1", &ipv6.sin6_addr);
	ASSERT_EQ(0, collsock_group_add_sockaddr(self->group, a, sizeof(ipv6)));
	ipv6.sin6_scope_id = 2;
	ASSERT_EQ(0, collsock_group_add_sockaddr(self->group, a, sizeof(ipv6)));
	EXPECT_EQ(2, collsock_group_request(self->group)->hosts);
}

TEST_F(group, rank_beyond_the_ranks_is_refused)
{
	EXPECT_EQ(-EINVAL, collsock_join(self->socket, self->group, 0));
	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.3", 0));
	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.3", 0));
	EXPECT_EQ(-EINVAL, collsock_join(self->socket, self->group, 2));
	EXPECT_EQ(0, fake.sent_bytes);
}

TEST_F(group, holds_as_many_hosts_as_the_kernel_allows)
{
	struct sockaddr_in ipv4 = { .sin_family = AF_INET };
	const struct sockaddr *a = (struct sockaddr *)&ipv4;
	__u32 i;

	for (i = 0; i < COLLSOCK_MAX_HOSTS; i++) {
		ipv4.sin_addr.s_addr = htonl(0x0a000000 + i);
		ASSERT_EQ(0, collsock_group_add_sockaddr(self->group, a, sizeof(ipv4)))
			TH_LOG("host %u", i);
	}
	ipv4.sin_addr.s_addr = htonl(0x0a000000 + i);
	EXPECT_EQ(-E2BIG, collsock_group_add_sockaddr(self->group, a, sizeof(ipv4)));
	EXPECT_EQ(COLLSOCK_MAX_HOSTS, collsock_group_request(self->group)->hosts);
}

TEST_F(group, rank_is_found_by_local_address)
{
	fake.addresses[0] = "127.0.0.1";
	fake.addresses[1] = "10.1.2.4";
	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.3", 0));
	EXPECT_EQ(-EADDRNOTAVAIL, collsock_rank_of_local(self->group, 0));
	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.4", 0));
	EXPECT_EQ(1, collsock_rank_of_local(self->group, 0));
	ASSERT_EQ(0, collsock_group_add_host(self->group, "127.0.0.1", 0));
	EXPECT_EQ(-ENOTUNIQ, collsock_rank_of_local(self->group, 0));
}

TEST_F(group, rank_is_found_by_mac_address)
{
	fake.addresses[0] = "10.1.2.4";
	fake.addresses[1] = "52:54:00:12:34:56";
	ASSERT_EQ(0, collsock_group_add_host(self->group, "52:54:00:12:34:55", 0));
	EXPECT_EQ(-EADDRNOTAVAIL, collsock_rank_of_local(self->group, 0));
	ASSERT_EQ(0, collsock_group_add_host(self->group, "52:54:00:12:34:56%lo", 0));
	EXPECT_EQ(-EADDRNOTAVAIL, collsock_rank_of_local(self->group, 0));
	ASSERT_EQ(0, collsock_group_add_host(self->group, "52:54:00:12:34:56", 0));
	EXPECT_EQ(2, collsock_rank_of_local(self->group, 0));
}

TEST_F(group, ranks_of_this_host_are_counted_from_0)
{
	fake.addresses[0] = "10.1.2.4";
	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.3", 0));
	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.4", 0));
	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.3", 0));
	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.4", 0));
	EXPECT_EQ(1, collsock_rank_of_local(self->group, 0));
	EXPECT_EQ(3, collsock_rank_of_local(self->group, 1));
	EXPECT_EQ(-ENOENT, collsock_rank_of_local(self->group, 2));
	EXPECT_EQ(-ENOENT, collsock_rank_of_local(self->group, UINT32_MAX));
}

TEST_F(group, one_address_on_two_interfaces_is_one_host)
{
	fake.addresses[0] = "10.1.2.3";
	fake.addresses[1] = "10.1.2.3";
	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.3", 0));
	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.3", 0));
	EXPECT_EQ(0, collsock_rank_of_local(self->group, 0));
	EXPECT_EQ(1, collsock_rank_of_local(self->group, 1));
}

TEST_F(group, error_of_join_is_returned)
{
	ASSERT_EQ(0, collsock_group_add_host(self->group, "10.1.2.3", 0));
	fake.error = EACCES;
	EXPECT_EQ(-EACCES, collsock_join(self->socket, self->group, 0));
}

TEST_HARNESS_MAIN
