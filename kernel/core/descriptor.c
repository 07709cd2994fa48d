// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "bearer.h"
#include "descriptor.h"
#include "env.h"
#include "menu.h"
#include "reduce.h"
#include "wire.h"

/* Masks have one bit for each number that the core supports. */
#define MASK_BITS	64

/* The MACs that coll_wire_derive() supports */
#define DESCRIPTOR_MACS	(BIT_ULL(COLLSOCK_MAC_SIPHASH) | BIT_ULL(COLLSOCK_MAC_NH_SIPHASH))

/* Bytes for each rank, unless the request asks for more: two numbers */
#define DESCRIPTOR_BLOCK	16

/* Vectors with a block for each rank may be longer than others, but have no more segments. */
static bool descriptor_complete_result(struct collsock_join *j)
{
	u64 most = (u64)coll_reduce_least_segment(j->segment_bytes) * COLLSOCK_MAX_SEGMENTS;

	if (!j->max_result_bytes)
		j->max_result_bytes = min_t(u64, min_t(u64, most, COLLSOCK_MAX_PAYLOAD),
					    (u64)j->ranks * DESCRIPTOR_BLOCK);
	j->max_result_bytes = max(j->max_result_bytes, j->max_bytes);
	return j->max_result_bytes <= min_t(u64, most, COLLSOCK_MAX_RESULT);
}

/**
 * coll_descriptor_normalise() - check the fixed part of JOIN, fill in defaults
 * @j: from user space; fields that the caller does not have are 0
 *
 * Return: 0, -EINVAL, or -EOPNOTSUPP for unknown features. Context: any.
 */
int coll_descriptor_normalise(struct collsock_join *j)
{
	static const u8 zero[sizeof(j->reserved)];
	struct coll_menu menu;

	if (j->size != sizeof(*j) || j->flags || memcmp(j->reserved, zero, sizeof(zero)))
		return -EINVAL;
	if (j->features & ~COLL_FEATURES)
		return -EOPNOTSUPP;
	if (!j->hosts || j->hosts > COLLSOCK_MAX_HOSTS)
		return -EINVAL;
	if (j->ranks < j->hosts || j->ranks > COLLSOCK_MAX_RANKS || j->rank >= j->ranks)
		return -EINVAL;
	if (!j->window)
		j->window = COLLSOCK_DEFAULT_WINDOW;
	if (j->window > COLLSOCK_MAX_WINDOW)
		return -EINVAL;
	if (!j->segment_bytes)
		j->segment_bytes = COLLSOCK_DEFAULT_SEGMENT;
	if (j->segment_bytes < COLLSOCK_MIN_SEGMENT || j->segment_bytes > COLLSOCK_MAX_SEGMENT ||
	    j->segment_bytes % COLLSOCK_SEGMENT_QUANTUM)
		return -EINVAL;
	if (!j->max_bytes)
		j->max_bytes = j->segment_bytes;
	if (j->max_bytes > COLLSOCK_MAX_PAYLOAD || !descriptor_complete_result(j))
		return -EINVAL;
	if (j->liveness_ms && (j->liveness_ms < COLLSOCK_MIN_LIVENESS_MS ||
			       j->liveness_ms > COLLSOCK_MAX_LIVENESS_MS))
		return -EINVAL;
	if (!j->mac)
		j->mac = COLLSOCK_MAC_NH_SIPHASH;
	if (j->mac >= MASK_BITS || !(DESCRIPTOR_MACS & BIT_ULL(j->mac)))
		return -EINVAL;
	if (coll_menu_multicasts(j) && j->hosts > COLLSOCK_MAX_MULTICAST_HOSTS)
		return -EINVAL;
	coll_menu_init(&menu, j);
	return coll_menu_valid(&menu, j) ? 0 : -EINVAL;
}

/**
 * coll_descriptor_packet_bytes() - the largest packet that the group sends
 * @j: normalised
 *
 * Return: its length without the headers of the bearer. Context: any.
 */
u32 coll_descriptor_packet_bytes(const struct collsock_join *j)
{
	return COLL_WIRE_MIN + COLL_WIRE_OPERANDS + COLL_WIRE_ACK +
	       max_t(u32, min_t(u32, j->segment_bytes, j->max_result_bytes), COLL_WIRE_ANSWER);
}

/* All members are of one family; its bearer checks them and fills in their defaults. */
static int descriptor_complete_members(const struct collsock_join *j,
				       struct collsock_member *members,
				       const struct coll_bearer *bearer)
{
	u32 i;

	for (i = 0; i < j->hosts; i++)
		if (members[i].family != members->family ||
		    !bearer->member_complete(&members[i]))
			return -EINVAL;
	return 0;
}

static bool descriptor_multicast_valid(const struct collsock_join *j,
				       const struct collsock_member *members,
				       const struct coll_bearer *bearer)
{
	u32 i;

	if (!coll_menu_multicasts(j))
		return true;
	if (!bearer->multicast_reaches)
		return false;
	for (i = 0; i < j->hosts; i++)
		if (!bearer->multicast_reaches(&members[0], &members[i], j->multicast))
			return false;
	return true;
}

/**
 * coll_descriptor_check() - check the tables of JOIN and complete the members
 * @j: normalised
 * @members: j->hosts members
 * @host_of_rank: j->ranks host indices
 *
 * All hosts are of one address family, which some bearer carries. Hosts are in the order of
 * their lowest rank, so that the order of hosts is the order of ranks. No other host has
 * the address of this one: since every host checks this, no two addresses are equal.
 *
 * Return: 0, -EINVAL, -E2BIG for too many ranks on this host, or -EMSGSIZE for segments
 * that the bearer does not carry. Context: no lock held, as large tables take long.
 */
int coll_descriptor_check(const struct collsock_join *j,
			  struct collsock_member *members, const u32 *host_of_rank)
{
	u32 own = host_of_rank[j->rank], i, seen = 0, locals = 0;
	const struct coll_bearer *bearer = coll_env_bearer(members->family);
	const struct collsock_member *self;

	if (!bearer || descriptor_complete_members(j, members, bearer) ||
	    !descriptor_multicast_valid(j, members, bearer))
		return -EINVAL;
	for (i = 0; i < j->ranks; i++) {
		if (host_of_rank[i] > seen || host_of_rank[i] >= j->hosts)
			return -EINVAL;
		if (host_of_rank[i] == seen)
			seen++;
		locals += host_of_rank[i] == own;
	}
	if (seen != j->hosts)
		return -EINVAL;
	self = &members[own];
	for (i = 0; i < j->hosts; i++)
		if (&members[i] != self && bearer->member_same(&members[i], self))
			return -EINVAL;
	if (locals > COLLSOCK_MAX_LOCAL_RANKS ||
	    (u64)locals * j->max_bytes > COLLSOCK_MAX_LOCAL_BYTES)
		return -E2BIG;
	return coll_descriptor_packet_bytes(j) <= bearer->packet_bytes ? 0 : -EMSGSIZE;
}

/*
 * Numbers of the fields that the hash covers. They never change, and new ones are added at
 * the end: hosts with different kernel versions must agree.
 */
enum descriptor_field {
	FIELD_ID		= 1,
	FIELD_NONCE		= 2,
	FIELD_HOSTS		= 3,
	FIELD_RANKS		= 4,
	FIELD_MAX_BYTES		= 5,
	FIELD_WINDOW		= 6,
	FIELD_SEGMENT_BYTES	= 7,
	FIELD_LIVENESS_MS	= 8,
	FIELD_FEATURES		= 9,
	FIELD_ALGORITHMS	= 10,
	FIELD_DEGREE		= 11,
	FIELD_MAC		= 12,
	FIELD_DEGREES		= 13,
	FIELD_MAX_RESULT_BYTES	= 14,
	FIELD_ALGORITHM		= 16,	/* plus the operation's number */
	FIELD_MULTICAST		= 32,	/* and the next: its halves */
};

/* Only fields that are not 0 enter the hash, so that a new field changes nothing. */
static void descriptor_hash_field(siphash_key_t *chain, u64 field, u64 value)
{
	const u64 words[] = { field, value };

	if (value)
		chain->key[0] = siphash(words, sizeof(words), chain);
}

static void descriptor_hash_multicast(siphash_key_t *chain, const struct collsock_join *j)
{
	u64 half[2];

	static_assert(sizeof(half) == sizeof(j->multicast));
	memcpy(half, j->multicast, sizeof(half));
	descriptor_hash_field(chain, FIELD_MULTICAST, half[0]);
	descriptor_hash_field(chain, FIELD_MULTICAST + 1, half[1]);
}

static void descriptor_hash_fixed(siphash_key_t *chain, const struct collsock_join *j)
{
	u32 operation;

	descriptor_hash_field(chain, FIELD_ID, j->id);
	descriptor_hash_field(chain, FIELD_NONCE, j->nonce);
	descriptor_hash_field(chain, FIELD_HOSTS, j->hosts);
	descriptor_hash_field(chain, FIELD_RANKS, j->ranks);
	descriptor_hash_field(chain, FIELD_MAX_BYTES, j->max_bytes);
	descriptor_hash_field(chain, FIELD_WINDOW, j->window);
	descriptor_hash_field(chain, FIELD_SEGMENT_BYTES, j->segment_bytes);
	descriptor_hash_field(chain, FIELD_LIVENESS_MS, j->liveness_ms);
	descriptor_hash_field(chain, FIELD_FEATURES, j->features);
	descriptor_hash_field(chain, FIELD_ALGORITHMS, j->algorithms);
	descriptor_hash_field(chain, FIELD_DEGREE, j->degree);
	descriptor_hash_field(chain, FIELD_MAC, j->mac);
	descriptor_hash_field(chain, FIELD_DEGREES, j->degrees);
	/* Kernels without this field have one limit for all vectors. */
	descriptor_hash_field(chain, FIELD_MAX_RESULT_BYTES, j->max_result_bytes - j->max_bytes);
	for (operation = 0; operation < COLLSOCK_MAX_OPERATIONS; operation++)
		descriptor_hash_field(chain, FIELD_ALGORITHM + operation, j->algorithm[operation]);
	descriptor_hash_multicast(chain, j);
}

/**
 * coll_descriptor_hash() - hash of all that must be equal on all ranks
 * @j: normalised; its size, rank and key are not hashed (the MAC proves the key), nor are
 *	the scope ids of members
 * @members: checked
 * @host_of_rank: checked
 *
 * Return: the hash that every packet carries. Context: any.
 */
u32 coll_descriptor_hash(const struct collsock_join *j,
			 const struct collsock_member *members,
			 const u32 *host_of_rank)
{
	siphash_key_t chain = { { j->id, j->nonce } };
	struct collsock_member member;
	u32 i;

	descriptor_hash_fixed(&chain, j);
	for (i = 0; i < j->hosts; i++) {
		/* An interface index is meaningful on its own host only. */
		member = members[i];
		member.scope_id = 0;
		chain.key[0] = siphash(&member, sizeof(member), &chain);
	}
	chain.key[0] = siphash(host_of_rank, j->ranks * sizeof(*host_of_rank), &chain);
	return (u32)chain.key[0];
}

/* ---- features ---- */

static bool descriptor_operator_exists(u8 op)
{
	u32 type;

	for (type = 0; type < MASK_BITS; type++)
		if (coll_reduce_valid(type, op))
			return true;
	return false;
}

/**
 * coll_descriptor_features() - operations, types, operators, algorithms and MACs of this core
 * @f: out, all but its size
 *
 * Context: any.
 */
void coll_descriptor_features(struct collsock_features *f)
{
	u32 i;

	memset(f, 0, sizeof(*f));
	f->completion_bytes = sizeof(struct collsock_completion);
	f->features = COLL_FEATURES;
	f->macs = DESCRIPTOR_MACS;
	for (i = 1; i < MASK_BITS; i++) {
		if (coll_type_bytes(i))
			f->types |= BIT_ULL(i);
		if (descriptor_operator_exists(i))
			f->operators |= BIT_ULL(i);
	}
	for (i = 0; i < COLL_MAX_OPERATIONS; i++)
		if (coll_operation_find(i))
			f->operations |= BIT_ULL(i);
	for (i = 0; i < coll_registry_count; i++)
		f->algorithms |= BIT_ULL(coll_registry[i]->algorithm);
}
