/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints for the groups of all namespaces of this machine. Documentation/tracing.md
 * explains their fields. A disabled tracepoint is a no-op instruction: all fields are
 * computed in TP_fast_assign, or only if trace_..._enabled().
 *
 * A host is its index in the member table, as in packets. Several hosts may be namespaces
 * of one machine, so each event includes its host.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM collsock

#if !defined(COLL_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define COLL_TRACE_H

#include <linux/tracepoint.h>

#include "core/group.h"

/*
 * Names of enumerators come from the lists that define these. TRACE_DEFINE_ENUM lets
 * programs in user space resolve them in the formats. The list is an argument of a macro,
 * so that it is expanded before __print_symbolic() counts its arguments.
 */
#define coll_trace_names(...)	__print_symbolic(__VA_ARGS__)

#define COLL_TRACE_ENUM(identifier, ...)		TRACE_DEFINE_ENUM(COLLSOCK_##identifier);
#define COLL_TRACE_NAME(identifier, number, name)	, { COLLSOCK_##identifier, name }

COLLSOCK_OPERATION_LIST(COLL_TRACE_ENUM)
#define coll_trace_kind(kind) \
	coll_trace_names(kind COLLSOCK_OPERATION_LIST(COLL_TRACE_NAME))

COLLSOCK_ALGORITHM_LIST(COLL_TRACE_ENUM)
#define coll_trace_algorithm(algorithm) \
	coll_trace_names(algorithm COLLSOCK_ALGORITHM_LIST(COLL_TRACE_NAME))

#define COLL_TRACE_PACKET_ENUM(identifier, ...)		TRACE_DEFINE_ENUM(COLL_PACKET_##identifier);
#define COLL_TRACE_PACKET(identifier, number, name)	, { COLL_PACKET_##identifier, name }

COLL_PACKET_LIST(COLL_TRACE_PACKET_ENUM)
#define coll_trace_type(type) \
	coll_trace_names(type, { 0, "unknown" } COLL_PACKET_LIST(COLL_TRACE_PACKET))

#define COLL_TRACE_DROP_ENUM(identifier, name)		TRACE_DEFINE_ENUM(COLL_DROP_##identifier);
#define COLL_TRACE_DROP(identifier, name)		, { COLL_DROP_##identifier, #name }

COLL_NET_DROP_LIST(COLL_TRACE_DROP_ENUM)
COLL_GROUP_DROP_LIST(COLL_TRACE_DROP_ENUM)
#define coll_trace_drop(drop) \
	coll_trace_names(drop COLL_NET_DROP_LIST(COLL_TRACE_DROP) \
			 COLL_GROUP_DROP_LIST(COLL_TRACE_DROP))

#define COLL_TRACE_REASON_ENUM(identifier, ...)		TRACE_DEFINE_ENUM(COLL_REASON_##identifier);
#define COLL_TRACE_REASON(identifier, number, name, error) , { COLL_REASON_##identifier, name }

COLL_REASON_LIST(COLL_TRACE_REASON_ENUM)
#define coll_trace_reason(reason) \
	coll_trace_names(reason COLL_REASON_LIST(COLL_TRACE_REASON))

/* ---- operations ---- */

TRACE_EVENT(coll_post,
	    TP_PROTO(const struct coll_group *g, u32 local, const struct coll_signature *sig),
	TP_ARGS(g, local, sig),
	TP_STRUCT__entry(
		__field(u64,	tag)
		__field(u32,	host)
		__field(u32,	rank)
		__field(u64,	operation)
		__field(u32,	count)
		__field(u32,	root)
		__field(u8,	kind)
		__field(u8,	algorithm)
		__field(u8,	degree)
	),
	TP_fast_assign(
		__entry->tag = g->secret.tag;
		__entry->host = g->self;
		__entry->rank = g->ranks.local[local].rank;
		__entry->operation = g->ranks.local[local].next;
		__entry->count = sig->count;
		__entry->root = sig->root;
		__entry->kind = sig->operation;
		__entry->algorithm = sig->algorithm;
		__entry->degree = sig->degree;
	),
	TP_printk("tag=%016llx host=%u rank=%u operation=%llu kind=%s algorithm=%s degree=%u count=%u root=%u",
		  __entry->tag, __entry->host, __entry->rank, __entry->operation,
		  coll_trace_kind(__entry->kind), coll_trace_algorithm(__entry->algorithm),
		  __entry->degree, __entry->count, __entry->root)
);

TRACE_EVENT(coll_round,
	    TP_PROTO(const struct coll_group *g, u64 operation, u32 segment, u32 round),
	TP_ARGS(g, operation, segment, round),
	TP_STRUCT__entry(
		__field(u64,	tag)
		__field(u32,	host)
		__field(u64,	operation)
		__field(u16,	segment)
		__field(u8,	round)
	),
	TP_fast_assign(
		__entry->tag = g->secret.tag;
		__entry->host = g->self;
		__entry->operation = operation;
		__entry->segment = segment;
		__entry->round = round;
	),
	TP_printk("tag=%016llx host=%u operation=%llu segment=%u round=%u", __entry->tag,
		  __entry->host, __entry->operation, __entry->segment, __entry->round)
);

TRACE_EVENT(coll_complete,
	    TP_PROTO(const struct coll_group *g, u32 local, u64 operation, u32 bytes, u32 error,
		 u32 failed_rank),
	TP_ARGS(g, local, operation, bytes, error, failed_rank),
	TP_STRUCT__entry(
		__field(u64,	tag)
		__field(u32,	host)
		__field(u32,	rank)
		__field(u64,	operation)
		__field(u32,	bytes)
		__field(u32,	error)
		__field(s32,	failed_rank)
	),
	TP_fast_assign(
		__entry->tag = g->secret.tag;
		__entry->host = g->self;
		__entry->rank = g->ranks.local[local].rank;
		__entry->operation = operation;
		__entry->bytes = bytes;
		__entry->error = error;
		__entry->failed_rank = failed_rank;
	),
	TP_printk("tag=%016llx host=%u rank=%u operation=%llu bytes=%u error=%u failed_rank=%d",
		  __entry->tag, __entry->host, __entry->rank, __entry->operation,
		  __entry->bytes, __entry->error, __entry->failed_rank)
);

/* ---- packets ---- */

DECLARE_EVENT_CLASS(coll_packet,
		    TP_PROTO(const u8 *packet, u32 bytes),
	TP_ARGS(packet, bytes),
	TP_STRUCT__entry(
		__field(u64,	tag)
		__field(u64,	operation)
		__field(u64,	packet)
		__field(u64,	ack)
		__field(u32,	bytes)
		__field(u16,	source)
		__field(u16,	destination)
		__field(u16,	segment)
		__field(u8,	type)
		__field(u8,	round)
	),
	TP_fast_assign(
		struct coll_prefix prefix;
		struct coll_body body;

		coll_wire_read_prefix(packet, &prefix);
		coll_wire_read_body(packet, bytes, &body);
		__entry->tag = prefix.tag;
		__entry->source = prefix.source;
		__entry->destination = prefix.destination;
		__entry->type = body.type;
		__entry->operation = body.operation;
		__entry->segment = body.segment;
		__entry->round = body.round;
		__entry->packet = body.number;
		__entry->ack = body.acknowledges ? body.ack_number : 0;
		__entry->bytes = bytes;
	),
	TP_printk("tag=%016llx source=%u destination=%u type=%s operation=%llu segment=%u round=%u packet=%llu ack=%llu bytes=%u",
		  __entry->tag, __entry->source, __entry->destination,
		  coll_trace_type(__entry->type), __entry->operation, __entry->segment,
		  __entry->round, __entry->packet, __entry->ack, __entry->bytes)
);

DEFINE_EVENT(coll_packet, coll_packet_sent,
	     TP_PROTO(const u8 *packet, u32 bytes),
	TP_ARGS(packet, bytes)
);

DEFINE_EVENT(coll_packet, coll_packet_received,
	     TP_PROTO(const u8 *packet, u32 bytes),
	TP_ARGS(packet, bytes)
);

TRACE_EVENT(coll_packet_dropped,
	    TP_PROTO(u64 tag, u32 source, u32 destination, const struct coll_body *body, u32 bytes,
		 enum coll_drop reason),
	TP_ARGS(tag, source, destination, body, bytes, reason),
	TP_STRUCT__entry(
		__field(u64,	tag)
		__field(u64,	operation)
		__field(u64,	packet)
		__field(u64,	ack)
		__field(u32,	bytes)
		__field(u16,	source)
		__field(u16,	destination)
		__field(u16,	segment)
		__field(u8,	type)
		__field(u8,	round)
		__field(u8,	reason)
	),
	TP_fast_assign(
		__entry->tag = tag;
		__entry->source = source;
		__entry->destination = destination;
		__entry->type = body->type;
		__entry->operation = body->operation;
		__entry->segment = body->segment;
		__entry->round = body->round;
		__entry->packet = body->number;
		__entry->ack = body->acknowledges ? body->ack_number : 0;
		__entry->bytes = bytes;
		__entry->reason = reason;
	),
	TP_printk("tag=%016llx source=%u destination=%u type=%s operation=%llu segment=%u round=%u packet=%llu ack=%llu bytes=%u reason=%s",
		  __entry->tag, __entry->source, __entry->destination,
		  coll_trace_type(__entry->type), __entry->operation, __entry->segment,
		  __entry->round, __entry->packet, __entry->ack, __entry->bytes,
		  coll_trace_drop(__entry->reason))
);

TRACE_EVENT(coll_message_again,
	    TP_PROTO(const struct coll_message *m),
	TP_ARGS(m),
	TP_STRUCT__entry(
		__field(u64,	tag)
		__field(u32,	source)
		__field(u32,	destination)
		__field(u64,	operation)
		__field(u64,	packet)
		__field(u16,	segment)
		__field(u8,	type)
		__field(u8,	round)
		__field(u8,	tries)
	),
	TP_fast_assign(
		__entry->tag = m->peer->group->secret.tag;
		__entry->source = m->peer->group->self;
		__entry->destination = m->peer->host;
		__entry->type = m->head->type;
		__entry->operation = m->head->number;
		__entry->segment = m->segment;
		__entry->round = m->round;
		__entry->packet = m->latest;
		__entry->tries = m->tries;
	),
	TP_printk("tag=%016llx source=%u destination=%u type=%s operation=%llu segment=%u round=%u packet=%llu tries=%u",
		  __entry->tag, __entry->source, __entry->destination,
		  coll_trace_type(__entry->type), __entry->operation, __entry->segment,
		  __entry->round, __entry->packet, __entry->tries)
);

/* ---- peers and groups ---- */

DECLARE_EVENT_CLASS(coll_peer,
		    TP_PROTO(const struct coll_peer *peer),
	TP_ARGS(peer),
	TP_STRUCT__entry(
		__field(u64,	tag)
		__field(u32,	host)
		__field(u32,	peer)
	),
	TP_fast_assign(
		__entry->tag = peer->group->secret.tag;
		__entry->host = peer->group->self;
		__entry->peer = peer->host;
	),
	TP_printk("tag=%016llx host=%u peer=%u", __entry->tag, __entry->host, __entry->peer)
);

DEFINE_EVENT(coll_peer, coll_peer_opened,
	     TP_PROTO(const struct coll_peer *peer),
	TP_ARGS(peer)
);

DEFINE_EVENT(coll_peer, coll_peer_idle,
	     TP_PROTO(const struct coll_peer *peer),
	TP_ARGS(peer)
);

DECLARE_EVENT_CLASS(coll_group,
		    TP_PROTO(const struct coll_group *g),
	TP_ARGS(g),
	TP_STRUCT__entry(
		__field(u64,	tag)
		__field(u64,	posted)
		__field(u32,	host)
		__field(u32,	hosts)
		__field(u32,	ranks)
		__field(u32,	ranks_here)
	),
	TP_fast_assign(
		__entry->tag = g->secret.tag;
		__entry->host = g->self;
		__entry->hosts = g->hosts;
		__entry->ranks = g->ranks.size;
		__entry->ranks_here = g->ranks.locals;
		__entry->posted = g->window.next;
	),
	TP_printk("tag=%016llx host=%u hosts=%u ranks=%u ranks_here=%u posted=%llu",
		  __entry->tag, __entry->host, __entry->hosts, __entry->ranks,
		  __entry->ranks_here, __entry->posted)
);

DEFINE_EVENT(coll_group, coll_group_began,
	     TP_PROTO(const struct coll_group *g),
	TP_ARGS(g)
);

DEFINE_EVENT(coll_group, coll_group_ended,
	     TP_PROTO(const struct coll_group *g),
	TP_ARGS(g)
);

TRACE_EVENT(coll_group_failed,
	    TP_PROTO(const struct coll_group *g),
	TP_ARGS(g),
	TP_STRUCT__entry(
		__field(u64,	tag)
		__field(s64,	last)
		__field(u32,	host)
		__field(u32,	rank)
		__field(u32,	reason)
	),
	TP_fast_assign(
		__entry->tag = g->secret.tag;
		__entry->host = g->self;
		__entry->last = g->failure.what.limit;
		__entry->rank = g->failure.what.rank;
		__entry->reason = g->failure.what.reason;
	),
	TP_printk("tag=%016llx host=%u last=%lld rank=%u reason=%s", __entry->tag, __entry->host,
		  __entry->last, __entry->rank, coll_trace_reason(__entry->reason))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
