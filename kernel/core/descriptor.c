// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "algorithm.h"
#include "bearer.h"
#include "descriptor.h"
#include "env.h"
#include "wire.h"

/* Is there such an algorithm, and does the group have what it needs? */
static bool algorithm_exists(const struct collsock_join *j, u8 operation, u8 algorithm)
{
	const struct coll_algorithm *a;

	if (algorithm == COLLSOCK_AUTO)
		return true;
	a = coll_algorithm_find(operation, algorithm);
	return a && coll_algorithm_usable(a, COLL_ALL_ALGORITHMS, j->fanout);
}

static bool algorithms_exist(const struct collsock_join *j)
{
	u8 i;

	for (i = 0; i < COLL_MAX_OPERATIONS; i++)
		if (coll_operation_find(i) &&
		    !algorithm_exists(j, i, coll_operation_joined_with(i, j)))
			return false;
	return true;
}

/**
 * coll_descriptor_normalise() - check the fixed part of JOIN, fill in defaults
 * @j: as user space gave it
 *
 * Return: 0 or -EINVAL. Context: any.
 */
int coll_descriptor_normalise(struct collsock_join *j)
{
	static const u8 zero[sizeof(j->reserved)];

	if (j->size != sizeof(*j) || j->flags || memcmp(j->reserved, zero, sizeof(zero)))
		return -EINVAL;
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
	if (j->segment_bytes > COLLSOCK_MAX_SEGMENT ||
	    j->segment_bytes % COLLSOCK_SEGMENT_QUANTUM)
		return -EINVAL;
	if (!j->max_bytes)
		j->max_bytes = j->segment_bytes;
	if (j->max_bytes > COLLSOCK_MAX_PAYLOAD)
		return -EINVAL;
	if (j->fanout == 1 || j->fanout > COLLSOCK_MAX_FANOUT ||
	    (j->fanout && j->hosts > COLLSOCK_MAX_KARY_HOSTS))
		return -EINVAL;
	if (j->liveness_ms && (j->liveness_ms < COLLSOCK_MIN_LIVENESS_MS ||
			       j->liveness_ms > COLLSOCK_MAX_LIVENESS_MS))
		return -EINVAL;
	return algorithms_exist(j) ? 0 : -EINVAL;
}

/**
 * coll_descriptor_packet_bytes() - the largest packet that the group sends
 * @j: normalised
 *
 * Return: its length, without the headers of its bearer. Context: any.
 */
u32 coll_descriptor_packet_bytes(const struct collsock_join *j)
{
	return COLL_WIRE_MIN + COLL_WIRE_OPERANDS + COLL_WIRE_ACK +
	       min_t(u32, j->segment_bytes, j->max_bytes);
}

/* All are of one family, and valid to its bearer, which fills in their defaults. */
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

/**
 * coll_descriptor_check() - check the tables of JOIN, complete the members
 * @j: normalised
 * @members: j->hosts of them
 * @host_of_rank: j->ranks of them
 *
 * All hosts are of one address family, which some bearer carries. Hosts stand in
 * the order of their lowest rank, so that the order of hosts is the order of ranks.
 * No other host has the address of this one: as every host checks it, no two are
 * equal.
 *
 * Return: 0, -EINVAL, -E2BIG for too many ranks on this host, or -EMSGSIZE for
 * segments that the bearer does not carry. Context: may take long for large tables;
 * no lock.
 */
int coll_descriptor_check(const struct collsock_join *j,
			  struct collsock_member *members, const u32 *host_of_rank)
{
	u32 own = host_of_rank[j->rank], i, seen = 0, locals = 0;
	const struct coll_bearer *bearer = coll_env_bearer(members->family);
	const struct collsock_member *self;

	if (!bearer || descriptor_complete_members(j, members, bearer))
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

/**
 * coll_descriptor_hash() - hash of what must be equal on all ranks
 * @j: normalised; its rank and key do not count (the key proves itself), nor
 *	do the scope ids of members
 * @members: checked
 * @host_of_rank: checked
 *
 * Return: the hash that stands in every packet. Context: any.
 */
u32 coll_descriptor_hash(const struct collsock_join *j,
			 const struct collsock_member *members,
			 const u32 *host_of_rank)
{
	siphash_key_t chain = { { j->id, j->nonce } };
	struct collsock_join common = *j;
	struct collsock_member member;
	u32 i;

	common.rank = 0;
	memset(common.key, 0, sizeof(common.key));
	chain.key[0] = siphash(&common, sizeof(common), &chain);
	for (i = 0; i < j->hosts; i++) {
		/* The index of an interface means something on its own host only. */
		member = members[i];
		member.scope_id = 0;
		chain.key[0] = siphash(&member, sizeof(member), &chain);
	}
	chain.key[0] = siphash(host_of_rank, j->ranks * sizeof(*host_of_rank), &chain);
	return (u32)chain.key[0];
}
