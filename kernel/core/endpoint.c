// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "descriptor.h"
#include "endpoint.h"

/**
 * coll_endpoint_identify() - which group instance does a request describe?
 * @request: checked
 * @id: out; contains a key
 *
 * Context: any.
 */
void coll_endpoint_identify(const struct coll_request *request, struct coll_identity *id)
{
	const struct collsock_join *j = request->join;

	id->self = request->host_of_rank[j->rank];
	id->descriptor = coll_descriptor_hash(j, request->members, request->host_of_rank);
	coll_wire_derive(&id->secret, j->key, j->id, j->nonce, j->mac);
}

/* Are two requests equal, but for the rank? Keys are compared by the secrets derived from them. */
static bool endpoint_same_join(const struct collsock_join *a, const struct collsock_join *b)
{
	struct collsock_join x = *a, y = *b;

	x.rank = 0;
	y.rank = 0;
	memset(x.key, 0, sizeof(x.key));
	memset(y.key, 0, sizeof(y.key));
	return !memcmp(&x, &y, sizeof(x));
}

/**
 * coll_endpoint_agrees() - do two requests of one host describe a group alike?
 * @a: fixed part of one
 * @a_secret: derived from it; the key in @a may have been erased
 * @b: fixed part of the other
 * @b_secret: likewise
 *
 * Their tables, which may be large, are to be compared by coll_endpoint_same_tables() then.
 *
 * The sockets of one host rely on both, so comparing hashes is not enough: the joining
 * process may have chosen what is hashed.
 *
 * Context: any.
 */
bool coll_endpoint_agrees(const struct collsock_join *a, const struct coll_secret *a_secret,
			  const struct collsock_join *b, const struct coll_secret *b_secret)
{
	return !memcmp(a_secret, b_secret, sizeof(*a_secret)) && endpoint_same_join(a, b);
}

/**
 * coll_endpoint_same_tables() - are the tables of two requests equal?
 * @a: one
 * @b: the other, which agrees with it
 *
 * Context: any; takes long for large tables.
 */
bool coll_endpoint_same_tables(const struct coll_request *a, const struct coll_request *b)
{
	return !memcmp(a->members, b->members, a->join->hosts * sizeof(*a->members)) &&
	       !memcmp(a->host_of_rank, b->host_of_rank,
		       a->join->ranks * sizeof(*a->host_of_rank));
}

/**
 * coll_endpoint_receive() - handle a packet without a group instance
 * @t: time-wait entry of the packet's tag and destination, or NULL
 * @from_member: with an entry: the packet's address is that of its source
 * @packet: well-formed
 * @bytes: its length
 * @answer: buffer for an answer, COLL_TIMEWAIT_ANSWER bytes
 * @answer_bytes: out: its length, 0 for none
 *
 * Return: what was wrong with the packet. On COLL_UNKNOWN_GROUP the platform records an
 * early packet. Context: any.
 */
enum coll_refusal coll_endpoint_receive(const struct coll_timewait *t, bool from_member,
					const u8 *packet, u32 bytes, u8 *answer,
					u32 *answer_bytes)
{
	*answer_bytes = 0;
	if (!t)
		return COLL_UNKNOWN_GROUP;
	if (bytes > t->packet_bytes)
		return COLL_TOO_LONG;
	if (!from_member)
		return COLL_WRONG_SOURCE;
	return coll_timewait_answer(t, packet, bytes, answer, answer_bytes);
}

/* Choose the set by address, not by port: a local user may send from many ports. */
static struct coll_early_packet *endpoint_early_set(struct coll_early_packets *table,
						    const struct collsock_member *from)
{
	u64 hash = siphash(from->address, sizeof(from->address), &table->seed);

	return &table->entry[hash % COLL_EARLY_SETS * COLL_EARLY_WAYS];
}

/* Where an early packet goes: the entry that it has, else a free one, else the oldest. */
static struct coll_early_packet *endpoint_early_entry(struct coll_early_packets *table, u64 tag,
						      u16 host,
						      const struct collsock_member *from)
{
	struct coll_early_packet *set = endpoint_early_set(table, from), *best = set;
	u32 i;

	for (i = 0; i < COLL_EARLY_WAYS; i++) {
		if (set[i].used && set[i].tag == tag && set[i].host == host)
			return &set[i];
		if (best->used && (!set[i].used || set[i].at_ns < best->at_ns))
			best = &set[i];
	}
	return best;
}

/**
 * coll_endpoint_note_early() - record a packet for a group without an instance here
 * @table: of the endpoint
 * @tag: of the unknown group
 * @host: index that the sender claims
 * @from: address that the packet came from
 * @now: time in ns
 *
 * Context: any; the platform's lock on the table held.
 */
void coll_endpoint_note_early(struct coll_early_packets *table, u64 tag, u16 host,
			      const struct collsock_member *from, u64 now)
{
	*endpoint_early_entry(table, tag, host, from) = (struct coll_early_packet) {
		.tag	= tag,
		.at_ns	= now,
		.from	= *from,
		.host	= host,
		.used	= true,
	};
}

/**
 * coll_endpoint_take_early() - has a member of this new instance sent an early packet?
 * @table: of the endpoint
 * @index: entry of the table to check, below COLL_EARLY_PACKETS
 * @id: of the instance
 * @members: its hosts
 * @hosts: number of them
 * @host: out: its sender, which must be sent a join notice (coll_group_notify_join())
 *
 * The entry is free afterwards.
 *
 * Return: whether that entry is from a member. Context: any; the platform's lock on the
 * table held.
 */
bool coll_endpoint_take_early(struct coll_early_packets *table, u32 index,
			      const struct coll_identity *id,
			      const struct collsock_member *members, u32 hosts, u32 *host)
{
	struct coll_early_packet *early = &table->entry[index];

	if (!early->used || early->tag != id->secret.tag ||
	    !coll_endpoint_may_be_from(early->host, id->self, hosts) ||
	    memcmp(&early->from, &members[early->host], sizeof(early->from)))
		return false;
	early->used = false;
	*host = early->host;
	return true;
}
