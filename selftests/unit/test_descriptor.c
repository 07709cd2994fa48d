// SPDX-License-Identifier: GPL-2.0
/* The JOIN request: what is refused, and what must be equal on all ranks. */
#include <sys/socket.h>

#include "../harness.h"
#include "descriptor.h"
#include "reduce.h"

#define HOSTS	4

FIXTURE(join)
{
	struct collsock_join fixed;
	struct collsock_member members[HOSTS];
	u32 host_of_rank[HOSTS];
};

FIXTURE_SETUP(join)
{
	u32 i;

	memset(self, 0, sizeof(*self));
	self->fixed.size = sizeof(self->fixed);
	self->fixed.id = 1;
	self->fixed.nonce = 2;
	self->fixed.key[3] = 9;
	self->fixed.hosts = HOSTS;
	self->fixed.ranks = HOSTS;
	for (i = 0; i < HOSTS; i++) {
		self->members[i].family = 2;
		self->members[i].address[0] = 10;
		self->members[i].address[3] = 1 + i;
		self->host_of_rank[i] = i;
	}
}

FIXTURE_TEARDOWN(join)
{
}

#define CHECK() coll_descriptor_check(&self->fixed, self->members, self->host_of_rank)
#define HASH() coll_descriptor_hash(&self->fixed, self->members, self->host_of_rank)

TEST_F(join, defaults_are_filled_in)
{
	ASSERT_EQ(0, coll_descriptor_normalise(&self->fixed));
	EXPECT_EQ(COLLSOCK_DEFAULT_WINDOW, self->fixed.window);
	EXPECT_EQ(COLLSOCK_DEFAULT_SEGMENT, self->fixed.segment_bytes);
	EXPECT_EQ(COLLSOCK_DEFAULT_SEGMENT, self->fixed.max_bytes);
	EXPECT_EQ(COLLSOCK_DEFAULT_SEGMENT, self->fixed.max_result_bytes);
	EXPECT_EQ(COLLSOCK_MAC_NH_SIPHASH, self->fixed.mac);
	ASSERT_EQ(0, CHECK());
	EXPECT_EQ(COLLSOCK_PORT, self->members[2].port);
}

/* The limit of vectors with a block for each rank, as a request says it and as it becomes */
static u32 max_result(u32 ranks, u32 segment_bytes, u32 max_bytes, u32 max_result_bytes)
{
	struct collsock_join j = {
		.size = sizeof(j), .hosts = 1, .ranks = ranks, .segment_bytes = segment_bytes,
		.max_bytes = max_bytes, .max_result_bytes = max_result_bytes,
	};

	return coll_descriptor_normalise(&j) ? 0 : j.max_result_bytes;
}

TEST(each_rank_of_a_large_group_may_have_a_block_of_16_bytes)
{
	EXPECT_EQ(COLLSOCK_DEFAULT_SEGMENT, max_result(66, 0, 0, 0));
	EXPECT_EQ(67 * 16, max_result(67, 0, 0, 0));
	EXPECT_EQ(2000, max_result(67, 0, 2000, 0));
	EXPECT_EQ(4096 * 16, max_result(4097, 0, 0, 0));
	/* As many segments as any vector may have */
	EXPECT_EQ(COLLSOCK_MAX_SEGMENTS * 48, max_result(4097, 48, 48, 0) + 32);
}

TEST(vectors_of_blocks_have_a_limit_of_their_own)
{
	EXPECT_EQ(8, max_result(2, 0, 8, 7));
	EXPECT_EQ(9, max_result(2, 0, 8, 9));
	EXPECT_EQ(COLLSOCK_MAX_RESULT, max_result(2, 0, 8, COLLSOCK_MAX_RESULT));
	EXPECT_EQ(COLLSOCK_MAX_RESULT, max_result(2, 768, 8, COLLSOCK_MAX_RESULT));
	EXPECT_EQ(0, max_result(2, 720, 8, COLLSOCK_MAX_RESULT));
	EXPECT_EQ(COLLSOCK_MAX_SEGMENTS * 48, max_result(2, 48, 8, COLLSOCK_MAX_SEGMENTS * 48));
	EXPECT_EQ(0, max_result(2, 48, 8, COLLSOCK_MAX_SEGMENTS * 48 + 1));
	/* Of pairs of 12 bytes a segment of 64 has five. */
	EXPECT_EQ(COLLSOCK_MAX_SEGMENTS * 60, max_result(2, 64, 8, COLLSOCK_MAX_SEGMENTS * 60));
	EXPECT_EQ(0, max_result(2, 64, 8, COLLSOCK_MAX_SEGMENTS * 60 + 1));
}

/* The least MTU of IPv6, less the headers of IPv6 and UDP */
#define LEAST_ROOM	(1280 - 40 - 8)

TEST_F(join, the_largest_packet_of_the_default_fits_the_least_mtu)
{
	ASSERT_EQ(0, coll_descriptor_normalise(&self->fixed));
	EXPECT_GE(LEAST_ROOM, coll_descriptor_packet_bytes(&self->fixed));
}

TEST(elements_of_any_type_fill_the_default_segment)
{
	u32 type;

	/* But for exact sums */
	for (type = 1; type <= COLLSOCK_BFLOAT16; type++) {
		ASSERT_NE(0, coll_type_bytes(type));
		if (type != COLLSOCK_EXACT)
			EXPECT_EQ(0, COLLSOCK_DEFAULT_SEGMENT % coll_type_bytes(type));
	}
	EXPECT_EQ(0, coll_type_bytes(type));
	EXPECT_EQ(0, COLLSOCK_DEFAULT_SEGMENT % COLLSOCK_SEGMENT_QUANTUM);
}

/* The first number after those of the list */
#define NUMBER_OF(identifier, number, name)	+ 1
#define NO_ALGORITHM	(1 COLLSOCK_ALGORITHM_LIST(NUMBER_OF))

#define REFUSED(field, value) ({ \
	struct collsock_join bad = self->fixed; \
	bad.field = value; \
	EXPECT_EQ(-EINVAL, coll_descriptor_normalise(&bad)) TH_LOG(#field " = " #value); \
})

TEST_F(join, a_group_that_is_too_large_has_no_multicast)
{
	self->fixed.hosts = COLLSOCK_MAX_MULTICAST_HOSTS;
	self->fixed.ranks = COLLSOCK_MAX_MULTICAST_HOSTS + 1;
	self->fixed.multicast[0] = 1;
	EXPECT_EQ(0, coll_descriptor_normalise(&self->fixed));
	self->fixed.hosts++;
	EXPECT_EQ(-EINVAL, coll_descriptor_normalise(&self->fixed));
	self->fixed.multicast[0] = 0;
	EXPECT_EQ(0, coll_descriptor_normalise(&self->fixed));
}

/* With these bytes as the multicast address */
#define MULTICAST(...) ({ \
	static const u8 address[16] = { __VA_ARGS__ }; \
	memcpy(self->fixed.multicast, address, sizeof(address)); \
	CHECK(); \
})

TEST_F(join, a_multicast_address_over_ipv4_is_none_that_protocols_of_the_network_use)
{
	ASSERT_EQ(0, coll_descriptor_normalise(&self->fixed));
	EXPECT_EQ(0, CHECK());
	EXPECT_EQ(0, MULTICAST(239, 7, 7, 7));
	EXPECT_EQ(0, MULTICAST(224, 0, 1, 77));
	EXPECT_EQ(-EINVAL, MULTICAST(224, 0, 0, 77));
	EXPECT_EQ(-EINVAL, MULTICAST(223, 7, 7, 7));
	EXPECT_EQ(-EINVAL, MULTICAST(240, 7, 7, 7));
	EXPECT_EQ(-EINVAL, MULTICAST(255, 255, 255, 255));
	EXPECT_EQ(-EINVAL, MULTICAST(239, 7, 7, 7, 1));
	EXPECT_EQ(-EINVAL, MULTICAST(3, 0, 0, 0, 0, 1));
	EXPECT_EQ(-EINVAL, MULTICAST(0xff, 0x15, [15] = 1));
	self->members[1].port = 7700;
	EXPECT_EQ(-EINVAL, MULTICAST(239, 7, 7, 7));
}

TEST_F(join, a_multicast_address_over_ipv6_has_a_scope_beyond_the_host)
{
	u32 i;

	ASSERT_EQ(0, coll_descriptor_normalise(&self->fixed));
	for (i = 0; i < HOSTS; i++) {
		self->members[i] = (struct collsock_member){ .family = AF_INET6 };
		self->members[i].address[0] = 0xfd;
		self->members[i].address[15] = i + 1;
	}
	EXPECT_EQ(0, MULTICAST(0xff, 0x15, [15] = 7));
	EXPECT_EQ(0, MULTICAST(0xff, 0x12, [15] = 7));
	EXPECT_EQ(0, MULTICAST(0xff, 0x05, [15] = 7));
	EXPECT_EQ(-EINVAL, MULTICAST(0xff, 0x02, [15] = 7));
	EXPECT_EQ(-EINVAL, MULTICAST(0xff, 0x11, [15] = 7));
	EXPECT_EQ(-EINVAL, MULTICAST(0xff, 0x10, [15] = 7));
	EXPECT_EQ(-EINVAL, MULTICAST(0xff, 0x1f, [15] = 7));
	EXPECT_EQ(-EINVAL, MULTICAST(0xfd, [15] = 7));
	EXPECT_EQ(-EINVAL, MULTICAST(239, 7, 7, 7));
}

TEST_F(join, a_multicast_address_over_ethernet_is_one_of_several_hosts_but_not_of_all)
{
	u32 i;

	ASSERT_EQ(0, coll_descriptor_normalise(&self->fixed));
	for (i = 0; i < HOSTS; i++) {
		self->members[i].family = AF_PACKET;
		self->members[i].port = COLLSOCK_ETHERTYPE;
	}
	EXPECT_EQ(0, MULTICAST(3, 0, 0, 0, 0, 1));
	EXPECT_EQ(0, MULTICAST(0x33, 0x33, 0, 0, 0, 1));
	EXPECT_EQ(-EINVAL, MULTICAST(2, 0, 0, 0, 0, 1));
	EXPECT_EQ(-EINVAL, MULTICAST(0xff, 0xff, 0xff, 0xff, 0xff, 0xff));
	EXPECT_EQ(-EINVAL, MULTICAST(1, 0x80, 0xc2, 0, 0, 2));
	EXPECT_EQ(-EINVAL, MULTICAST(3, 0, 0, 0, 0, 1, 1));
	self->members[1].port = COLLSOCK_OTHER_ETHERTYPE;
	EXPECT_EQ(-EINVAL, MULTICAST(3, 0, 0, 0, 0, 1));
}

TEST_F(join, a_bad_fixed_part_is_refused)
{
	REFUSED(size, 0);
	REFUSED(size, sizeof(self->fixed) + 8);
	REFUSED(flags, 1);
	REFUSED(hosts, 0);
	REFUSED(hosts, COLLSOCK_MAX_HOSTS + 1);
	REFUSED(ranks, HOSTS - 1);
	REFUSED(ranks, COLLSOCK_MAX_RANKS + 1);
	REFUSED(rank, HOSTS);
	REFUSED(window, COLLSOCK_MAX_WINDOW + 1);
	REFUSED(segment_bytes, COLLSOCK_MIN_SEGMENT - COLLSOCK_SEGMENT_QUANTUM);
	REFUSED(segment_bytes, COLLSOCK_MIN_SEGMENT + COLLSOCK_SEGMENT_QUANTUM / 2);
	REFUSED(segment_bytes, COLLSOCK_MAX_SEGMENT + COLLSOCK_SEGMENT_QUANTUM);
	REFUSED(max_bytes, COLLSOCK_MAX_PAYLOAD + 1);
	REFUSED(max_result_bytes, COLLSOCK_MAX_RESULT + 1);
	REFUSED(algorithm[COLLSOCK_BARRIER], 255);
	REFUSED(algorithm[COLLSOCK_GATHER], COLLSOCK_KARY);
	REFUSED(algorithm[COLLSOCK_REDUCE], COLLSOCK_EXCHANGE);
	REFUSED(algorithm[COLLSOCK_REDUCE], COLLSOCK_MCS);
	REFUSED(algorithm[COLLSOCK_REDUCE], COLLSOCK_HALVING);
	REFUSED(algorithm[COLLSOCK_REDUCE], NO_ALGORITHM);
	REFUSED(algorithm[COLLSOCK_BROADCAST], COLLSOCK_DISSEMINATION);
	REFUSED(degree, 1);
	REFUSED(degree, COLLSOCK_MAX_DEGREE + 1);
	REFUSED(degree, 255);
	REFUSED(degrees, COLLSOCK_DEGREE(1));
	REFUSED(degrees, COLLSOCK_DEGREE(1) | COLLSOCK_DEGREE(2));
	REFUSED(algorithm[COLLSOCK_ALLREDUCE], COLLSOCK_DISSEMINATION);
	REFUSED(algorithm[0], COLLSOCK_BINOMIAL);
	REFUSED(algorithm[COLLSOCK_MAX_OPERATIONS - 1], COLLSOCK_BINOMIAL);
	REFUSED(algorithms, BIT_ULL(COLLSOCK_AUTO));
	REFUSED(algorithms, BIT_ULL(NO_ALGORITHM));
	REFUSED(algorithms, BIT_ULL(COLLSOCK_BINOMIAL) | BIT_ULL(63));
	REFUSED(reserved[0], 1);
	REFUSED(reserved[1], 1);
	REFUSED(mac, 255);
	REFUSED(mac, 64 + COLLSOCK_MAC_SIPHASH);
	REFUSED(liveness_ms, COLLSOCK_MIN_LIVENESS_MS - 1);
	REFUSED(liveness_ms, COLLSOCK_MAX_LIVENESS_MS + 1);
}

#define TABLE_REFUSED(change, error) ({ \
	typeof(*self) before = *self; \
	change; \
	EXPECT_EQ(error, CHECK()) TH_LOG(#change); \
	*self = before; \
})

TEST_F(join, a_bad_table_is_refused)
{
	ASSERT_EQ(0, coll_descriptor_normalise(&self->fixed));
	TABLE_REFUSED(self->members[1].family = 0, -EINVAL);
	TABLE_REFUSED(self->members[1].family = 10, -EINVAL);
	TABLE_REFUSED(self->members[1].address[5] = 1, -EINVAL);
	TABLE_REFUSED(memset(self->members[1].address, 0, 16), -EINVAL);
	TABLE_REFUSED(self->members[1].scope_id = 1, -EINVAL);
	TABLE_REFUSED(self->host_of_rank[3] = HOSTS, -EINVAL);
	TABLE_REFUSED(self->host_of_rank[0] = 1, -EINVAL);
	TABLE_REFUSED((self->host_of_rank[1] = 2, self->host_of_rank[2] = 1), -EINVAL);
}

#define SET_IPV4(host, ...) ({ \
	const u8 bytes[] = { __VA_ARGS__ }; \
	memcpy(self->members[host].address, bytes, sizeof(bytes)); \
})

TEST_F(join, addresses_that_no_host_can_have_are_refused)
{
	ASSERT_EQ(0, coll_descriptor_normalise(&self->fixed));
	TABLE_REFUSED(SET_IPV4(1, 0, 0, 0, 0), -EINVAL);
	TABLE_REFUSED(SET_IPV4(1, 0, 255, 255, 255), -EINVAL);
	TABLE_REFUSED(SET_IPV4(1, 1, 0, 0, 0), 0);
	TABLE_REFUSED(SET_IPV4(1, 223, 255, 255, 255), 0);
	TABLE_REFUSED(SET_IPV4(1, 224, 0, 0, 1), -EINVAL);
	TABLE_REFUSED(SET_IPV4(1, 240, 0, 0, 1), -EINVAL);
	TABLE_REFUSED(SET_IPV4(1, 255, 255, 255, 255), -EINVAL);
	TABLE_REFUSED(SET_IPV4(0, 224, 0, 0, 1), -EINVAL);
}

/* Bytes before those of an IPv4 address */
static const u8 ipv6_mapped[16] = { [10] = 0xff, [11] = 0xff, 10, 0, 0, 1 };
static const u8 ipv6_compatible[16] = { [12] = 10, 0, 0, 1 };
static const u8 ipv6_multicast[16] = { 0xff, 2, [15] = 1 };
static const u8 ipv6_unspecified[16];
static const u8 ipv6_loopback[16] = { [15] = 1 };
static const u8 ipv6_global[16] = { 0x20, 1, [15] = 1 };
static const u8 ipv6_link_local[16] = { 0xfe, 0xbf, [15] = 1 };
static const u8 ipv6_site_local[16] = { 0xfe, 0xc0, [15] = 1 };

#define SET_IPV6(host, bytes) memcpy(self->members[host].address, bytes, 16)

TEST_F(join, ipv6_addresses_that_no_host_can_have_are_refused)
{
	u32 i;

	ASSERT_EQ(0, coll_descriptor_normalise(&self->fixed));
	for (i = 0; i < HOSTS; i++) {
		self->members[i].family = 10;
		SET_IPV6(i, ipv6_global);
		self->members[i].address[7] = i;
	}
	ASSERT_EQ(0, CHECK());
	TABLE_REFUSED(SET_IPV6(1, ipv6_mapped), -EINVAL);
	TABLE_REFUSED(SET_IPV6(1, ipv6_compatible), -EINVAL);
	TABLE_REFUSED(SET_IPV6(1, ipv6_multicast), -EINVAL);
	TABLE_REFUSED(SET_IPV6(0, ipv6_multicast), -EINVAL);
	TABLE_REFUSED(SET_IPV6(1, ipv6_unspecified), -EINVAL);
	TABLE_REFUSED(SET_IPV6(1, ipv6_loopback), 0);
	TABLE_REFUSED(self->members[1].scope_id = 1, -EINVAL);
	TABLE_REFUSED((SET_IPV6(1, ipv6_link_local), self->members[1].scope_id = 1), 0);
	TABLE_REFUSED((SET_IPV6(1, ipv6_site_local), self->members[1].scope_id = 1), -EINVAL);
}

#define SET_MAC(host, ...) SET_IPV4(host, __VA_ARGS__)

TEST_F(join, mac_addresses_that_no_interface_can_have_are_refused)
{
	u32 hash, i;

	ASSERT_EQ(0, coll_descriptor_normalise(&self->fixed));
	memset(self->members, 0, sizeof(self->members));
	for (i = 0; i < HOSTS; i++) {
		self->members[i].family = AF_PACKET;
		SET_MAC(i, 2, 0, 0, 0, 0, i);
	}
	ASSERT_EQ(0, CHECK());
	EXPECT_EQ(COLLSOCK_ETHERTYPE, self->members[1].port);
	TABLE_REFUSED(SET_MAC(1, 0, 0, 0, 0, 0, 0), -EINVAL);
	TABLE_REFUSED(SET_MAC(1, 0, 0, 0, 0, 0, 1), 0);
	TABLE_REFUSED(SET_MAC(1, 1, 0, 0x5e, 0, 0, 1), -EINVAL);
	TABLE_REFUSED(SET_MAC(0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), -EINVAL);
	TABLE_REFUSED(self->members[1].address[6] = 1, -EINVAL);
	TABLE_REFUSED(self->members[1].port = 0x0800, -EINVAL);
	TABLE_REFUSED(self->members[1].port = 0x86dd, -EINVAL);
	TABLE_REFUSED(self->members[1].port = 0x8100, -EINVAL);
	TABLE_REFUSED(self->members[1].port = COLLSOCK_OTHER_ETHERTYPE, 0);
	TABLE_REFUSED(self->members[1].family = AF_INET, -EINVAL);
	TABLE_REFUSED((self->members[1] = self->members[0], self->members[1].port++), -EINVAL);
	hash = HASH();
	self->members[0].scope_id = 7;
	EXPECT_EQ(0, CHECK());
	EXPECT_EQ(hash, HASH());
}

TEST_F(join, ranks_may_be_placed_on_hosts_in_any_way)
{
	static u32 hosts[COLLSOCK_MAX_LOCAL_RANKS + 2];

	ASSERT_EQ(0, coll_descriptor_normalise(&self->fixed));
	TABLE_REFUSED((self->fixed.hosts = 3, self->host_of_rank[3] = 1), 0);
	TABLE_REFUSED((self->fixed.hosts = 1, memset(self->host_of_rank, 0, 16)), 0);
	self->fixed.hosts = 2;
	self->fixed.ranks = COLLSOCK_MAX_LOCAL_RANKS + 2;
	hosts[1] = 1;
	EXPECT_EQ(-E2BIG, coll_descriptor_check(&self->fixed, self->members, hosts));
	hosts[2] = 1;
	self->fixed.max_bytes = COLLSOCK_MAX_LOCAL_BYTES / COLLSOCK_MAX_LOCAL_RANKS;
	EXPECT_EQ(0, coll_descriptor_check(&self->fixed, self->members, hosts));
	self->fixed.max_bytes++;
	EXPECT_EQ(-E2BIG, coll_descriptor_check(&self->fixed, self->members, hosts));
}

TEST_F(join, no_other_host_has_the_address_of_this_one)
{
	ASSERT_EQ(0, coll_descriptor_normalise(&self->fixed));
	self->fixed.rank = 2;
	self->members[0] = self->members[2];
	EXPECT_EQ(-EINVAL, CHECK());
	/* Another port is another host. */
	self->members[0].port = 1;
	EXPECT_EQ(0, CHECK());
}

#define HASHED(change, differs) ({ \
	typeof(*self) before = *self; \
	u32 hash = HASH(); \
	change; \
	EXPECT_EQ(differs, hash != HASH()) TH_LOG(#change); \
	*self = before; \
})

TEST_F(join, the_hash_covers_all_that_must_be_equal_and_nothing_else)
{
	ASSERT_EQ(0, coll_descriptor_normalise(&self->fixed));
	HASHED(self->fixed.id++, true);
	HASHED(self->fixed.nonce++, true);
	HASHED(self->fixed.window++, true);
	HASHED(self->fixed.segment_bytes += 48, true);
	HASHED(self->fixed.max_bytes--, true);
	HASHED(self->fixed.max_result_bytes++, true);
	HASHED(self->fixed.algorithm[COLLSOCK_BARRIER]++, true);
	HASHED(self->fixed.algorithm[COLLSOCK_ALLREDUCE]++, true);
	HASHED(self->fixed.algorithm[COLLSOCK_REDUCE]++, true);
	HASHED(self->fixed.algorithm[COLLSOCK_BROADCAST]++, true);
	HASHED(self->fixed.degree++, true);
	HASHED(self->fixed.degrees++, true);
	HASHED(self->fixed.multicast[0]++, true);
	HASHED(self->fixed.multicast[15]++, true);
	HASHED(self->fixed.mac = COLLSOCK_MAC_SIPHASH, true);
	HASHED(self->fixed.liveness_ms = 500, true);
	HASHED(self->fixed.features++, true);
	HASHED(self->fixed.algorithms++, true);
	HASHED(self->fixed.algorithm[COLLSOCK_MAX_OPERATIONS - 1]++, true);
	HASHED(self->members[3].address[3]++, true);
	HASHED(self->members[0].port++, true);
	HASHED(self->host_of_rank[3]--, true);
	HASHED(self->fixed.rank++, false);
	HASHED(self->fixed.size += 8, false);
	HASHED(self->fixed.key[0]++, false);
	HASHED(self->members[1].scope_id++, false);
}

/* Hosts with other versions of the kernel must compute the same. */
TEST_F(join, the_hash_of_a_descriptor_never_changes)
{
	ASSERT_EQ(0, coll_descriptor_normalise(&self->fixed));
	ASSERT_EQ(0, CHECK());
	EXPECT_EQ(4130691776U, HASH());
	self->fixed.degree = 3;
	self->fixed.algorithm[COLLSOCK_BARRIER] = COLLSOCK_KARY;
	EXPECT_EQ(295407636U, HASH());
}

TEST_F(join, unknown_features_are_refused)
{
	self->fixed.features = COLL_FEATURES;
	EXPECT_EQ(0, coll_descriptor_normalise(&self->fixed));
	self->fixed.features = ~COLL_FEATURES & -~COLL_FEATURES;
	EXPECT_EQ(-EOPNOTSUPP, coll_descriptor_normalise(&self->fixed));
	self->fixed.features = BIT_ULL(63);
	EXPECT_EQ(-EOPNOTSUPP, coll_descriptor_normalise(&self->fixed));
}

TEST_F(join, a_mask_of_algorithms_that_exist_is_kept)
{
	u64 mask = BIT_ULL(COLLSOCK_BINOMIAL) | BIT_ULL(COLLSOCK_DISSEMINATION);

	self->fixed.algorithms = mask;
	EXPECT_EQ(0, coll_descriptor_normalise(&self->fixed));
	EXPECT_EQ(mask, self->fixed.algorithms);
	self->fixed.algorithms = BIT_ULL(COLLSOCK_KARY);
	EXPECT_EQ(0, coll_descriptor_normalise(&self->fixed));
}

#define EXPECT_MASK(mask, field) \
	EXPECT_EQ(mask, f.field) TH_LOG(#field ": a bit for each number in collsock_lists.h")

TEST(features_list_what_posts_may_name)
{
	struct collsock_features f;

	coll_descriptor_features(&f);
	EXPECT_MASK(0x7fe, operations);
	EXPECT_MASK(0xffffe, types);
	EXPECT_MASK(0x1ffe, operators);
	EXPECT_MASK(0x1fe, algorithms);
	EXPECT_MASK(0x06, macs);
	EXPECT_EQ(COLL_FEATURES, f.features);
	EXPECT_EQ(sizeof(struct collsock_completion), f.completion_bytes);
}

TEST_HARNESS_MAIN
