// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "../../uapi/linux/collsock_netlink.h"
#include "engine.h"
#include "failure.h"
#include "peers.h"
#include "ranks.h"
#include "report.h"
#include "watch.h"

/* Hosts and ranks that an operation waits for: at most these numbers are reported. */
#define MOST_MISSING	16
#define MOST_RANKS	64

/* ---- attributes ---- */

static void report_put(struct coll_report *r, u16 type, const void *value, u32 bytes)
{
	r->full = r->full || !r->writer->put(r->message, type, value, bytes);
}

static void report_flag(struct coll_report *r, u16 type)
{
	report_put(r, type, NULL, 0);
}

static void report_u8(struct coll_report *r, u16 type, u8 value)
{
	report_put(r, type, &value, sizeof(value));
}

static void report_u16(struct coll_report *r, u16 type, u16 value)
{
	report_put(r, type, &value, sizeof(value));
}

static void report_u32(struct coll_report *r, u16 type, u32 value)
{
	report_put(r, type, &value, sizeof(value));
}

static void report_u64(struct coll_report *r, u16 type, u64 value, u16 pad)
{
	r->full = r->full || !r->writer->put_u64(r->message, type, value, pad);
}

static int report_nest(struct coll_report *r, u16 type)
{
	int at = r->full ? -1 : r->writer->nest(r->message, type);

	r->full = at < 0;
	return at;
}

static void report_nest_end(struct coll_report *r, int at)
{
	if (!r->full)
		r->writer->nest_end(r->message, at);
}

static void report_ms_since(struct coll_report *r, u16 type, u64 then, u64 now)
{
	report_u32(r, type, min_t(u64, div_u64(now - then, NSEC_PER_MSEC), U32_MAX));
}

/* ---- the group ---- */

/**
 * coll_report_constants() - what does not change while the group exists
 * @r: the message
 * @g: the group
 * @request: with which it was made
 */
void coll_report_constants(struct coll_report *r, const struct coll_group *g,
			   const struct collsock_join *request)
{
	report_u64(r, COLLSOCK_A_GROUP_ID, request->id, COLLSOCK_A_GROUP_PAD);
	report_u64(r, COLLSOCK_A_GROUP_NONCE, request->nonce, COLLSOCK_A_GROUP_PAD);
	report_u64(r, COLLSOCK_A_GROUP_TAG, g->secret.tag, COLLSOCK_A_GROUP_PAD);
	report_u32(r, COLLSOCK_A_GROUP_DESCRIPTOR, g->descriptor);
	report_u32(r, COLLSOCK_A_GROUP_HOSTS, g->hosts);
	report_u32(r, COLLSOCK_A_GROUP_RANKS, g->ranks.size);
	report_u32(r, COLLSOCK_A_GROUP_HOST, g->self);
	report_u32(r, COLLSOCK_A_GROUP_LOCAL_RANKS, g->ranks.locals);
	report_u32(r, COLLSOCK_A_GROUP_WINDOW, g->window.size);
	report_u32(r, COLLSOCK_A_GROUP_MAX_BYTES, g->payload.max_bytes);
	report_u32(r, COLLSOCK_A_GROUP_MAX_RESULT_BYTES, g->payload.max_result_bytes);
	report_u32(r, COLLSOCK_A_GROUP_SEGMENT_BYTES, g->payload.segment_bytes);
	report_u32(r, COLLSOCK_A_GROUP_DEGREE, request->degree);
	report_u64(r, COLLSOCK_A_GROUP_DEGREES, request->degrees, COLLSOCK_A_GROUP_PAD);
	report_u32(r, COLLSOCK_A_GROUP_MAC, request->mac);
	report_u32(r, COLLSOCK_A_GROUP_LIVENESS_MS, div_u64(g->timing.liveness, NSEC_PER_MSEC));
}

static enum collsock_group_state report_group_state(const struct coll_group *g)
{
	if (g->ranks.leaving)
		return COLLSOCK_GROUP_STATE_LINGERING;
	return g->failure.known ? COLLSOCK_GROUP_STATE_FAILED : COLLSOCK_GROUP_STATE_RUNNING;
}

static void report_failure(struct coll_report *r, const struct coll_failure *what)
{
	report_u32(r, COLLSOCK_A_GROUP_ERROR, coll_failure_error(what));
	report_u32(r, COLLSOCK_A_GROUP_FAILED_RANK, what->rank);
	report_u64(r, COLLSOCK_A_GROUP_LIMIT, what->limit, COLLSOCK_A_GROUP_PAD);
}

/**
 * coll_report_state() - what a group does, and its failure
 * @r: the message
 * @g: the group
 */
void coll_report_state(struct coll_report *r, const struct coll_group *g)
{
	report_u32(r, COLLSOCK_A_GROUP_STATE, report_group_state(g));
	report_u32(r, COLLSOCK_A_GROUP_JOINED, g->ranks.joined);
	report_u64(r, COLLSOCK_A_GROUP_NEXT, g->window.next, COLLSOCK_A_GROUP_PAD);
	report_u64(r, COLLSOCK_A_GROUP_OLDEST, g->window.oldest, COLLSOCK_A_GROUP_PAD);
	report_u32(r, COLLSOCK_A_GROUP_PEERS, g->stats.peers);
	if (g->failure.known)
		report_failure(r, &g->failure.what);
}

#define REPORT_COUNTER(name, IDENTIFIER, meaning)	\
	{ COLLSOCK_A_STATS_##IDENTIFIER, offsetof(struct collsock_stats, name) },

/**
 * coll_report_stats() - counters of a group
 * @r: the message
 * @stats: a copy of these
 */
void coll_report_stats(struct coll_report *r, const struct collsock_stats *stats)
{
	static const struct {
		u16	type;
		u16	at;
	} counters[] = {
		COLLSOCK_GROUP_COUNTER_LIST(REPORT_COUNTER)
	};
	int nest = report_nest(r, COLLSOCK_A_GROUP_STATS);
	u64 value;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(counters); i++) {
		memcpy(&value, (const u8 *)stats + counters[i].at, sizeof(value));
		report_u64(r, counters[i].type, value, COLLSOCK_A_STATS_PAD);
	}
	report_nest_end(r, nest);
}

/* ---- hosts, ranks, connections ---- */

static enum collsock_host_state report_host_state(const struct coll_group *g, u32 host,
						  const struct coll_peer *peer)
{
	if (host == g->self)
		return COLLSOCK_HOST_STATE_SELF;
	if (!peer)
		return COLLSOCK_HOST_STATE_UNKNOWN;
	if (peer->conn.dead)
		return COLLSOCK_HOST_STATE_DEAD;
	if (peer->recv.gone)
		return COLLSOCK_HOST_STATE_LEFT;
	return peer->conn.incarnation ? COLLSOCK_HOST_STATE_HEARD : COLLSOCK_HOST_STATE_UNHEARD;
}

/**
 * coll_report_host() - a host of a group
 * @r: the message
 * @g: the group
 * @host: index of the host
 * @m: its entry in the table of members
 * @address_bytes: length of the significant part of its address
 */
void coll_report_host(struct coll_report *r, const struct coll_group *g, u32 host,
		      const struct collsock_member *m, u32 address_bytes)
{
	report_u32(r, COLLSOCK_A_HOST_HOST, host);
	report_u32(r, COLLSOCK_A_HOST_STATE, report_host_state(g, host, coll_peers_find(g, host)));
	report_put(r, COLLSOCK_A_HOST_ADDRESS, m->address, address_bytes);
	report_u16(r, COLLSOCK_A_HOST_PORT, m->port);
	report_u32(r, COLLSOCK_A_HOST_RANK, coll_ranks_lowest(g, host));
	/* A link-local address is meaningless without its interface. */
	if (m->scope_id)
		report_u32(r, COLLSOCK_A_HOST_SCOPE_ID, m->scope_id);
}

/**
 * coll_report_rank() - a rank of this host
 * @r: the message
 * @rank: the rank
 */
void coll_report_rank(struct coll_report *r, const struct coll_rank *rank)
{
	static const u8 states[] = {
		[COLL_RANK_ABSENT]	= COLLSOCK_RANK_STATE_ABSENT,
		[COLL_RANK_JOINED]	= COLLSOCK_RANK_STATE_JOINED,
		[COLL_RANK_LEFT]	= COLLSOCK_RANK_STATE_LEFT,
	};

	report_u32(r, COLLSOCK_A_RANK_RANK, rank->rank);
	report_u32(r, COLLSOCK_A_RANK_STATE, states[rank->state]);
	report_u64(r, COLLSOCK_A_RANK_NEXT, rank->next, COLLSOCK_A_RANK_PAD);
	report_u32(r, COLLSOCK_A_RANK_LAST, rank->last);
}

/**
 * coll_report_peer() - a connection
 * @r: the message
 * @peer: the connection
 * @now: ns
 */
void coll_report_peer(struct coll_report *r, const struct coll_peer *peer, u64 now)
{
	report_u32(r, COLLSOCK_A_PEER_HOST, peer->host);
	report_u32(r, COLLSOCK_A_PEER_STATE, report_host_state(peer->group, peer->host, peer));
	report_u32(r, COLLSOCK_A_PEER_UNACKED, peer->send.unacked);
	report_u32(r, COLLSOCK_A_PEER_HELD, peer->held);
	report_u64(r, COLLSOCK_A_PEER_PACKETS, peer->send.number, COLLSOCK_A_PEER_PAD);
	report_u32(r, COLLSOCK_A_PEER_RETRANSMITS, peer->live.retransmits);
	report_u32(r, COLLSOCK_A_PEER_LAST, peer->recv.last_arrivals);
	if (peer->rtt.srtt_ns) {
		report_u32(r, COLLSOCK_A_PEER_SRTT_US, peer->rtt.srtt_ns / NSEC_PER_USEC);
		report_u32(r, COLLSOCK_A_PEER_RTTVAR_US, peer->rtt.rttvar_ns / NSEC_PER_USEC);
	}
	if (peer->conn.incarnation)
		report_ms_since(r, COLLSOCK_A_PEER_HEARD_MS, peer->live.heard_ns, now);
	report_u32(r, COLLSOCK_A_PEER_RTO_US, peer->rtt.rto_ns / NSEC_PER_USEC);
}

/* ---- operations ---- */

static void report_missing_ranks(struct coll_report *r, const struct coll_group *g,
				 const struct coll_op *op)
{
	u32 local, told = 0;

	for (local = 0; local < g->ranks.locals && told < MOST_RANKS; local++) {
		if (coll_after(g->ranks.local[local].next, op->head.number))
			continue;
		report_u32(r, COLLSOCK_A_OPERATION_MISSING_RANK, g->ranks.local[local].rank);
		told++;
	}
}

static void report_awaits(struct coll_report *r, const struct coll_group *g,
			  const struct coll_wait *wait)
{
	bool said = wait->rank < g->ranks.size;

	if (said)
		report_flag(r, COLLSOCK_A_MISSING_AWAITS_REPORTED);
	report_u32(r, COLLSOCK_A_MISSING_AWAITS_HOST, wait->host);
	report_u32(r, COLLSOCK_A_MISSING_AWAITS_RANK,
		   said ? wait->rank : coll_ranks_lowest(g, wait->host));
	report_u64(r, COLLSOCK_A_MISSING_AWAITS_OPERATION, wait->operation,
		   COLLSOCK_A_MISSING_PAD);
	report_u32(r, COLLSOCK_A_MISSING_AWAITS_MS, wait->waited_ms);
	report_u32(r, COLLSOCK_A_MISSING_AWAITS_HOPS, wait->hops);
	report_u32(r, COLLSOCK_A_MISSING_REPORTED_MS, wait->age_ms);
}

static void report_missing_peer(struct coll_report *r, const struct coll_op *op,
				const struct coll_peer *peer, u64 now)
{
	struct coll_wait wait;

	if (peer->conn.incarnation)
		report_ms_since(r, COLLSOCK_A_MISSING_HEARD_MS, peer->live.heard_ns, now);
	if (peer->live.asked_ns > peer->live.heard_ns)
		report_ms_since(r, COLLSOCK_A_MISSING_SILENT_MS, peer->live.first_asked_ns, now);
	if (coll_watch_told(peer, op->head.number, &wait, now))
		report_awaits(r, peer->group, &wait);
}

static void report_missing_host(struct coll_report *r, const struct coll_group *g,
				const struct coll_op *op, u32 host, u64 now)
{
	int nest = report_nest(r, COLLSOCK_A_OPERATION_MISSING);
	const struct coll_peer *peer = coll_peers_find(g, host);

	report_u32(r, COLLSOCK_A_MISSING_HOST, host);
	report_u32(r, COLLSOCK_A_MISSING_RANK, coll_ranks_lowest(g, host));
	report_u32(r, COLLSOCK_A_MISSING_STATE, report_host_state(g, host, peer));
	if (peer)
		report_missing_peer(r, op, peer, now);
	report_nest_end(r, nest);
}

static void report_waits(struct coll_report *r, const struct coll_group *g,
			 const struct coll_op *op, u64 now)
{
	struct coll_arrived arrived = coll_engine_arrived(op);
	u32 i, told = 0;

	report_ms_since(r, COLLSOCK_A_OPERATION_WAITED_MS, op->awaited_ns, now);
	for (i = 0; i < op->schedule->folds && told < MOST_MISSING && !r->full; i++) {
		if (!coll_engine_misses_host(op, &arrived, i))
			continue;
		report_missing_host(r, g, op, op->schedule->fold[i].host, now);
		told++;
	}
}

static void report_signature(struct coll_report *r, const struct coll_signature *sig)
{
	report_u8(r, COLLSOCK_A_OPERATION_KIND, sig->operation);
	report_u8(r, COLLSOCK_A_OPERATION_TYPE, sig->type);
	report_u8(r, COLLSOCK_A_OPERATION_OP, sig->operator);
	report_u8(r, COLLSOCK_A_OPERATION_ALGORITHM, sig->algorithm);
	report_u8(r, COLLSOCK_A_OPERATION_DEGREE, sig->degree);
	report_u32(r, COLLSOCK_A_OPERATION_ROOT, sig->root);
	report_u32(r, COLLSOCK_A_OPERATION_COUNT, sig->count);
}

/**
 * coll_report_operation() - an operation, and what it waits for
 * @r: the message
 * @g: the group
 * @op: the operation
 * @now: ns
 */
void coll_report_operation(struct coll_report *r, const struct coll_group *g,
			   const struct coll_op *op, u64 now)
{
	static const u8 states[] = {
		[COLL_OP_EARLY]		= COLLSOCK_OPERATION_STATE_EARLY,
		[COLL_OP_RUNNING]	= COLLSOCK_OPERATION_STATE_RUNNING,
		[COLL_OP_ABORTED]	= COLLSOCK_OPERATION_STATE_ABORTED,
		[COLL_OP_DONE]		= COLLSOCK_OPERATION_STATE_DONE,
	};

	report_u64(r, COLLSOCK_A_OPERATION_NUMBER, op->head.number, COLLSOCK_A_OPERATION_PAD);
	report_u32(r, COLLSOCK_A_OPERATION_STATE, states[op->state]);
	report_signature(r, &op->head.signature);
	report_u32(r, COLLSOCK_A_OPERATION_BYTES, op->layout.bytes);
	report_u32(r, COLLSOCK_A_OPERATION_UNPOSTED, op->locals.unposted);
	report_u32(r, COLLSOCK_A_OPERATION_UNACKED,
		   op->head.unacked - op->locals.folding - op->forget.in_turns);
	if (op->locals.unposted)
		report_missing_ranks(r, g, op);
	if (op->state == COLL_OP_RUNNING || (op->state == COLL_OP_EARLY && op->probed))
		report_waits(r, g, op, now);
}
