// SPDX-License-Identifier: GPL-2.0
#include "tombstone.h"

/**
 * coll_group_entomb() - what is to be remembered of a group
 * @g: quiet
 * @t: out
 *
 * Context: under the group's lock.
 */
void coll_group_entomb(const struct coll_group *g, struct coll_tombstone *t)
{
	t->secret = g->secret;
	t->descriptor = g->descriptor;
	t->self = g->self;
	t->incarnation = g->incarnation;
	t->last = g->next - 1;
	t->completed = g->completed;
	t->rank = coll_group_rank(g, g->self);
}

/**
 * coll_tombstone_answer() - answer a late packet
 * @t: the tombstone that @h->tag and @h->destination name
 * @h: authenticated
 * @packet: where the answer goes, COLL_TOMBSTONE_ANSWER bytes
 *
 * What asks for an acknowledgement gets one, and the goodbye with it: a
 * goodbye without a sequence number of its own asks for none. Everything that
 * is acknowledged here was either stored before (its operation is complete) or belongs to an operation that the goodbye ends.
 *
 * Return: bytes of the answer, 0 for none. Context: any.
 */
u32 coll_tombstone_answer(const struct coll_tombstone *t,
			  const struct coll_header *h, u8 *packet)
{
	struct coll_header answer = {
		.tag = t->secret.tag,
		.descriptor = t->descriptor,
		.incarnation = t->incarnation,
		.known = h->incarnation,
		.connection = ~0U >> 1,
		.done = t->completed,
		.credit = t->last,
		.operation = t->last,
		.signature.root = t->rank,
		.source = t->self,
		.destination = h->source,
		.type = COLL_PACKET_GOODBYE,
		.acknowledges = true,
		.ack_connection = h->connection,
		.ack_seq = h->seq,
		.ack_bits = 1,
	};
	u32 bytes = coll_wire_bytes(&answer);

	if (h->type == COLL_PACKET_ACK || (h->known && h->known != t->incarnation))
		return 0;
	coll_wire_encode(packet, &answer);
	coll_wire_seal(packet, bytes, &t->secret.mac);
	return bytes;
}
