// SPDX-License-Identifier: GPL-2.0
/* The MAC of packets of all lengths, and the hash that long ones go through first. */
#include "../harness.h"

#include "mac.h"
#include "seed.h"

/* As mac_of() of selftests/vm/forging.py computed them, which shares no line with this. */
static const struct vector {
	u32	bytes;
	u64	siphash;
	u64	nh_siphash;
} vectors[] = {
	{ 24, 0x5fcca015e339a832ULL, 0x5fcca015e339a832ULL },
	{ 88, 0xae2850ca302e38b4ULL, 0xae2850ca302e38b4ULL },
	{ 89, 0x28f6f645c3e7f396ULL, 0x6936b2f6feeb0620ULL },
	{ 96, 0xa34bbbe542bce0a0ULL, 0xc4b158e24942eb83ULL },
	{ 104, 0x00104f4b06e5bb4fULL, 0xd48f91a4a0d1a9b3ULL },
	{ 584, 0x916fcd4ccfe3b32dULL, 0x9129a932275fb65eULL },
	{ 585, 0x6abd4045828e4327ULL, 0x9ee8bd1544ca223aULL },
	{ 600, 0xd096b2995b37d033ULL, 0xf16fd5e2a10b99d1ULL },
	{ 1152, 0xea1c7f5a7677a914ULL, 0x3c477fe7e4aebabdULL },
	{ 8736, 0xb365e85af4e366a8ULL, 0xf52270868eb8a138ULL },
};

static const siphash_key_t key = { { 1, 2 } };

static void set_mac(struct coll_mac *mac, u32 algorithm)
{
	*mac = (struct coll_mac) { .key = key, .algorithm = algorithm };
	coll_nh_derive(mac->nh, &key);
}

static void seal(u8 *packet, u32 bytes, u64 code)
{
	__be64 value = cpu_to_be64(code);

	memcpy(packet + bytes - sizeof(value), &value, sizeof(value));
}

TEST(the_mac_of_a_packet_never_changes)
{
	struct coll_mac siphash, nh_siphash;
	u8 packet[COLL_WIRE_MAX];
	u32 i, at;

	set_mac(&siphash, COLLSOCK_MAC_SIPHASH);
	set_mac(&nh_siphash, COLLSOCK_MAC_NH_SIPHASH);
	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		const struct vector *v = &vectors[i];

		for (at = 0; at < v->bytes; at++)
			packet[at] = 7 * at + 3;
		seal(packet, v->bytes, v->siphash);
		EXPECT_TRUE(coll_wire_authentic_any(packet, v->bytes, &siphash)) {
			TH_LOG("SipHash, %u bytes", v->bytes);
		}
		seal(packet, v->bytes, v->nh_siphash);
		EXPECT_TRUE(coll_wire_authentic_any(packet, v->bytes, &nh_siphash)) {
			TH_LOG("NH and SipHash, %u bytes", v->bytes);
		}
	}
}

/* Wherever it is divided into what is there and what is copied, and wherever that is */
TEST(a_block_that_is_copied_has_the_hash_that_it_has_later)
{
	u64 random = seed_start();
	u8 from[COLL_NH_BLOCK + 8], block[COLL_NH_BLOCK + 8], expected[COLL_NH_BLOCK];
	struct coll_nh_hash copied, hash;
	struct coll_mac mac;
	u32 bytes, there, i;

	set_mac(&mac, COLLSOCK_MAC_NH_SIPHASH);
	for (i = 0; i < 20000; i++) {
		u8 *at = block + seed_next(&random) % 8;
		const u8 *payload = from + seed_next(&random) % 8;
		u32 k;

		bytes = 1 + seed_next(&random) % COLL_NH_BLOCK;
		there = seed_next(&random) % (i % 2 ? 25 : bytes + 1);
		there = min(there, bytes);
		for (k = 0; k < sizeof(from); k++) {
			from[k] = seed_next(&random);
			block[k] = seed_next(&random);
		}
		memcpy(expected, at, there);
		memcpy(expected + there, payload, bytes - there);
		copied = coll_nh_copy(mac.nh, at, there, payload, bytes);
		ASSERT_EQ(0, memcmp(expected, at, bytes)) {
			TH_LOG("%u bytes, %u there", bytes, there);
		}
		hash = coll_nh(mac.nh, expected, bytes);
		ASSERT_EQ(hash.low, copied.low) {
			TH_LOG("%u bytes, %u there", bytes, there);
		}
		ASSERT_EQ(hash.high, copied.high);
	}
}

/* No zeros can be added or removed at the end. */
TEST(packets_of_zeros_have_the_mac_of_their_length_only)
{
	static u8 packet[COLL_WIRE_MAX];
	struct coll_mac mac;
	u32 bytes, other;
	__be64 code;

	set_mac(&mac, COLLSOCK_MAC_NH_SIPHASH);
	for (bytes = 24; bytes <= 1300; bytes++) {
		memset(packet, 0, sizeof(packet));
		code = mac_of(packet, bytes, &mac);
		for (other = 24; other <= 1300; other++) {
			memset(packet + bytes - 8, 0, 8);
			memcpy(packet + other - 8, &code, sizeof(code));
			ASSERT_EQ(other == bytes, coll_wire_authentic_any(packet, other, &mac)) {
				TH_LOG("that of %u for %u bytes", bytes, other);
			}
			memset(packet + other - 8, 0, 8);
		}
	}
}

/* Whatever the processor has to multiply with. */
TEST(products_are_the_same_without_integers_of_128_bits)
{
	static const u64 edges[] = { 0, 1, ~0ULL, 1ULL << 63, 0xffffffff, 1ULL << 32,
				     ~0ULL << 32 };
	u64 random = seed_start(), words[2], nothing[4] = { };
	struct coll_nh_hash hash, expected;
	__le64 block[4];
	u32 i;

	for (i = 0; i < 100000; i++) {
		words[0] = i < 49 ? edges[i / 7] : seed_next(&random);
		words[1] = i < 49 ? edges[i % 7] : seed_next(&random);
		hash = (struct coll_nh_hash) { };
		coll_nh_add_portable(&hash, words[0], words[1]);
		/* Twice, so that sums carry. */
		coll_nh_add_portable(&hash, words[0], words[1]);
		block[0] = htole64(words[0]);
		block[1] = htole64(words[1]);
		memcpy(block + 2, block, 16);
		expected = coll_nh(nothing, (u8 *)block, sizeof(block));
		ASSERT_EQ(expected.low, hash.low);
		ASSERT_EQ(expected.high, hash.high);
	}
}

TEST_HARNESS_MAIN
