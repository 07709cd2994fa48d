// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/collsock_netlink.h>

#include "../../kernel/core/engine.h"
#include "../../kernel/core/failure.h"
#include "../../kernel/core/peers.h"
#include "../../kernel/core/ranks.h"
#include "../../kernel/core/watch.h"
#include "user_member.h"
#include "user_directory.h"
#include "user_report.h"

#define MOST_MISSING	16
#define FIRST_ROOM	4096
#define SEALS		(F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* ---- messages and attributes ---- */

/* Zeros at the end of a report, or NULL */
static u8 *report_extend(struct user_report *r, size_t bytes)
{
	size_t room = r->room ? r->room : FIRST_ROOM;
	u8 *data;

	while (room < r->bytes + bytes)
		room *= 2;
	data = room == r->room ? r->data : realloc(r->data, room);
	if (!data) {
		r->failed = true;
		return NULL;
	}
	r->data = data;
	r->room = room;
	memset(data + r->bytes, 0, bytes);
	r->bytes += bytes;
	return data + r->bytes - bytes;
}

static void report_put(struct user_report *r, u16 type, const void *value, size_t bytes)
{
	const struct nlattr head = { .nla_len = NLA_HDRLEN + bytes, .nla_type = type };
	u8 *at = report_extend(r, NLA_ALIGN(head.nla_len));

	if (!at)
		return;
	memcpy(at, &head, sizeof(head));
	if (bytes)
		memcpy(at + NLA_HDRLEN, value, bytes);
}

static void report_put_u8(struct user_report *r, u16 type, u8 value)
{
	report_put(r, type, &value, sizeof(value));
}

static void report_put_u16(struct user_report *r, u16 type, u16 value)
{
	report_put(r, type, &value, sizeof(value));
}

static void report_put_u32(struct user_report *r, u16 type, u32 value)
{
	report_put(r, type, &value, sizeof(value));
}

static void report_put_u64(struct user_report *r, u16 type, u64 value)
{
	report_put(r, type, &value, sizeof(value));
}

/* Begins a nest, or a message; returns where it is. */
static size_t report_begin_nest(struct user_report *r, u16 type)
{
	size_t at = r->bytes;

	report_put(r, type, NULL, 0);
	return at;
}

static void report_end_nest(struct user_report *r, size_t at)
{
	u16 bytes = r->bytes - at;

	if (!r->failed)
		memcpy(r->data + at + offsetof(struct nlattr, nla_len), &bytes, sizeof(bytes));
}

static size_t report_begin(struct user_report *r, u8 command)
{
	const struct nlmsghdr head = { .nlmsg_type = NLMSG_MIN_TYPE, .nlmsg_flags = NLM_F_MULTI };
	const struct genlmsghdr generic = { .cmd = command, .version = COLLSOCK_GENL_VERSION };
	size_t at = r->bytes;
	u8 *to = report_extend(r, NLMSG_HDRLEN + GENL_HDRLEN);

	if (to) {
		memcpy(to, &head, sizeof(head));
		memcpy(to + NLMSG_HDRLEN, &generic, sizeof(generic));
	}
	return at;
}

static void report_end(struct user_report *r, size_t at)
{
	u32 bytes = r->bytes - at;

	if (!r->failed)
		memcpy(r->data + at + offsetof(struct nlmsghdr, nlmsg_len), &bytes, sizeof(bytes));
}

/* ---- the group ---- */

static u32 report_handle(const struct user_member *m)
{
	return USER_HANDLE | (u32)getpid() << USER_HANDLE_PID_SHIFT | m->number;
}

static u32 report_ms_since(u64 then, u64 now)
{
	return min_t(u64, (now - then) / NSEC_PER_MSEC, U32_MAX);
}

#define REPORT_COUNTER(name, IDENTIFIER, meaning) \
	report_put_u64(r, COLLSOCK_A_STATS_##IDENTIFIER, s->name);

static void report_put_stats(struct user_report *r, const struct collsock_stats *s)
{
	size_t nest = report_begin_nest(r, COLLSOCK_A_GROUP_STATS);

	COLLSOCK_GROUP_COUNTER_LIST(REPORT_COUNTER)
	report_end_nest(r, nest);
}

static void report_put_constants(struct user_report *r, const struct user_member *m)
{
	const struct collsock_join *request = &m->request.join;
	const struct coll_group *g = &m->group;

	report_put_u32(r, COLLSOCK_A_GROUP_HANDLE, report_handle(m));
	report_put_u64(r, COLLSOCK_A_GROUP_ID, request->id);
	report_put_u64(r, COLLSOCK_A_GROUP_NONCE, request->nonce);
	report_put_u64(r, COLLSOCK_A_GROUP_TAG, g->secret.tag);
	report_put_u32(r, COLLSOCK_A_GROUP_DESCRIPTOR, g->descriptor);
	report_put_u32(r, COLLSOCK_A_GROUP_HOSTS, g->hosts);
	report_put_u32(r, COLLSOCK_A_GROUP_RANKS, g->ranks.size);
	report_put_u32(r, COLLSOCK_A_GROUP_HOST, g->self);
	report_put_u32(r, COLLSOCK_A_GROUP_LOCAL_RANKS, g->ranks.locals);
	report_put_u32(r, COLLSOCK_A_GROUP_UID, geteuid());
	report_put(r, COLLSOCK_A_GROUP_KEYED, NULL, 0);
	report_put_u32(r, COLLSOCK_A_GROUP_WINDOW, g->window.size);
	report_put_u32(r, COLLSOCK_A_GROUP_MAX_BYTES, g->payload.max_bytes);
	report_put_u32(r, COLLSOCK_A_GROUP_MAX_RESULT_BYTES, g->payload.max_result_bytes);
	report_put_u32(r, COLLSOCK_A_GROUP_SEGMENT_BYTES, g->payload.segment_bytes);
	report_put_u32(r, COLLSOCK_A_GROUP_DEGREE, request->degree);
	report_put_u64(r, COLLSOCK_A_GROUP_DEGREES, request->degrees);
	report_put_u32(r, COLLSOCK_A_GROUP_MAC, request->mac);
	report_put_u32(r, COLLSOCK_A_GROUP_LIVENESS_MS, g->timing.liveness / NSEC_PER_MSEC);
}

static u32 report_group_state(const struct coll_group *g)
{
	if (g->ranks.leaving)
		return COLLSOCK_GROUP_STATE_LINGERING;
	return g->failure.known ? COLLSOCK_GROUP_STATE_FAILED : COLLSOCK_GROUP_STATE_RUNNING;
}

static void report_put_failure(struct user_report *r, const struct coll_failure *what)
{
	report_put_u32(r, COLLSOCK_A_GROUP_ERROR, coll_failure_error(what));
	report_put_u32(r, COLLSOCK_A_GROUP_FAILED_RANK, what->rank);
	report_put_u64(r, COLLSOCK_A_GROUP_LIMIT, what->limit);
}

static void report_group(struct user_report *r, const struct user_member *m, u64 now)
{
	size_t message = report_begin(r, COLLSOCK_CMD_GROUP_GET);
	const struct coll_group *g = &m->group;

	report_put_u64(r, COLLSOCK_A_GROUP_AGE_MS, report_ms_since(m->joined_ns, now));
	report_put_constants(r, m);
	report_put_u32(r, COLLSOCK_A_GROUP_STATE, report_group_state(g));
	report_put_u32(r, COLLSOCK_A_GROUP_JOINED, g->ranks.joined);
	report_put_u64(r, COLLSOCK_A_GROUP_NEXT, g->window.next);
	report_put_u64(r, COLLSOCK_A_GROUP_OLDEST, g->window.oldest);
	report_put_u32(r, COLLSOCK_A_GROUP_PEERS, g->stats.peers);
	if (g->failure.known)
		report_put_failure(r, &g->failure.what);
	report_put_stats(r, &g->stats);
	report_end(r, message);
}

/* ---- hosts, the rank, peers ---- */

static u32 report_host_state(const struct coll_group *g, u32 host, const struct coll_peer *peer)
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

static void report_host(struct user_report *r, const struct user_member *m, u32 host)
{
	const struct collsock_member *address = &m->request.members[host];
	size_t message = report_begin(r, COLLSOCK_CMD_HOST_GET);
	const struct coll_group *g = &m->group;

	report_put_u32(r, COLLSOCK_A_HOST_GROUP, report_handle(m));
	report_put_u32(r, COLLSOCK_A_HOST_HOST, host);
	report_put_u32(r, COLLSOCK_A_HOST_STATE,
		       report_host_state(g, host, coll_peers_find(g, host)));
	report_put(r, COLLSOCK_A_HOST_ADDRESS, address->address,
		   user_bearer.address_bytes(address));
	report_put_u16(r, COLLSOCK_A_HOST_PORT, address->port);
	report_put_u32(r, COLLSOCK_A_HOST_RANK, coll_ranks_lowest(g, host));
	if (address->scope_id)
		report_put_u32(r, COLLSOCK_A_HOST_SCOPE_ID, address->scope_id);
	report_end(r, message);
}

static void report_rank(struct user_report *r, const struct user_member *m)
{
	static const u8 states[] = {
		[COLL_RANK_ABSENT]	= COLLSOCK_RANK_STATE_ABSENT,
		[COLL_RANK_JOINED]	= COLLSOCK_RANK_STATE_JOINED,
		[COLL_RANK_LEFT]	= COLLSOCK_RANK_STATE_LEFT,
	};
	const struct coll_rank *rank = &m->group.ranks.local[0];
	size_t message = report_begin(r, COLLSOCK_CMD_RANK_GET);

	report_put_u32(r, COLLSOCK_A_RANK_GROUP, report_handle(m));
	report_put_u32(r, COLLSOCK_A_RANK_RANK, rank->rank);
	report_put_u32(r, COLLSOCK_A_RANK_STATE, states[rank->state]);
	report_put_u64(r, COLLSOCK_A_RANK_NEXT, rank->next);
	report_put_u32(r, COLLSOCK_A_RANK_PID, getpid());
	report_put_u32(r, COLLSOCK_A_RANK_LAST, rank->last);
	report_end(r, message);
}

static void report_peer(struct user_report *r, const struct user_member *m,
			const struct coll_peer *peer, u64 now)
{
	size_t message = report_begin(r, COLLSOCK_CMD_PEER_GET);

	report_put_u32(r, COLLSOCK_A_PEER_GROUP, report_handle(m));
	report_put_u32(r, COLLSOCK_A_PEER_HOST, peer->host);
	report_put_u32(r, COLLSOCK_A_PEER_STATE, report_host_state(&m->group, peer->host, peer));
	report_put_u32(r, COLLSOCK_A_PEER_UNACKED, peer->send.unacked);
	report_put_u32(r, COLLSOCK_A_PEER_HELD, peer->held);
	report_put_u64(r, COLLSOCK_A_PEER_PACKETS, peer->send.number);
	report_put_u32(r, COLLSOCK_A_PEER_RETRANSMITS, peer->live.retransmits);
	report_put_u32(r, COLLSOCK_A_PEER_LAST, peer->watch.last_arrivals);
	report_put_u32(r, COLLSOCK_A_PEER_RTO_US, peer->rtt.rto_ns / NSEC_PER_USEC);
	if (peer->rtt.srtt_ns) {
		report_put_u32(r, COLLSOCK_A_PEER_SRTT_US, peer->rtt.srtt_ns / NSEC_PER_USEC);
		report_put_u32(r, COLLSOCK_A_PEER_RTTVAR_US, peer->rtt.rttvar_ns / NSEC_PER_USEC);
	}
	if (peer->conn.incarnation)
		report_put_u32(r, COLLSOCK_A_PEER_HEARD_MS,
			       report_ms_since(peer->live.heard_ns, now));
	report_end(r, message);
}

/* ---- operations ---- */

static void report_put_awaits(struct user_report *r, const struct coll_group *g,
			      const struct coll_wait *wait)
{
	bool said = wait->rank < g->ranks.size;

	if (said)
		report_put(r, COLLSOCK_A_MISSING_AWAITS_SAID, NULL, 0);
	report_put_u32(r, COLLSOCK_A_MISSING_AWAITS_HOST, wait->host);
	report_put_u32(r, COLLSOCK_A_MISSING_AWAITS_RANK,
		       said ? wait->rank : coll_ranks_lowest(g, wait->host));
	report_put_u64(r, COLLSOCK_A_MISSING_AWAITS_OPERATION, wait->operation);
	report_put_u32(r, COLLSOCK_A_MISSING_AWAITS_MS, wait->waited_ms);
	report_put_u32(r, COLLSOCK_A_MISSING_AWAITS_HOPS, wait->hops);
	report_put_u32(r, COLLSOCK_A_MISSING_TOLD_MS, wait->age_ms);
}

static void report_put_missing_peer(struct user_report *r, const struct coll_op *op,
				    const struct coll_peer *peer, u64 now)
{
	struct coll_wait wait;

	if (peer->conn.incarnation)
		report_put_u32(r, COLLSOCK_A_MISSING_HEARD_MS,
			       report_ms_since(peer->live.heard_ns, now));
	if (peer->live.asked_ns > peer->live.heard_ns)
		report_put_u32(r, COLLSOCK_A_MISSING_SILENT_MS,
			       report_ms_since(peer->live.first_asked_ns, now));
	if (coll_watch_told(peer, op->head.number, &wait, now))
		report_put_awaits(r, peer->group, &wait);
}

static void report_put_missing(struct user_report *r, const struct coll_group *g,
			       const struct coll_op *op, u32 host, u64 now)
{
	size_t nest = report_begin_nest(r, COLLSOCK_A_OPERATION_MISSING);
	const struct coll_peer *peer = coll_peers_find(g, host);

	report_put_u32(r, COLLSOCK_A_MISSING_HOST, host);
	report_put_u32(r, COLLSOCK_A_MISSING_RANK, coll_ranks_lowest(g, host));
	report_put_u32(r, COLLSOCK_A_MISSING_STATE, report_host_state(g, host, peer));
	if (peer)
		report_put_missing_peer(r, op, peer, now);
	report_end_nest(r, nest);
}

static void report_put_waits(struct user_report *r, const struct coll_group *g,
			     const struct coll_op *op, u64 now)
{
	struct coll_arrived arrived = coll_engine_arrived(op);
	u32 i, told = 0;

	report_put_u32(r, COLLSOCK_A_OPERATION_WAITED_MS, report_ms_since(op->awaited_ns, now));
	for (i = 0; i < op->schedule->folds && told < MOST_MISSING; i++)
		if (coll_engine_misses_host(op, &arrived, i)) {
			report_put_missing(r, g, op, op->schedule->fold[i].host, now);
			told++;
		}
}

static void report_put_signature(struct user_report *r, const struct coll_signature *sig)
{
	report_put_u8(r, COLLSOCK_A_OPERATION_OPERATION, sig->operation);
	report_put_u8(r, COLLSOCK_A_OPERATION_TYPE, sig->type);
	report_put_u8(r, COLLSOCK_A_OPERATION_OP, sig->op);
	report_put_u8(r, COLLSOCK_A_OPERATION_ALGORITHM, sig->algorithm);
	report_put_u8(r, COLLSOCK_A_OPERATION_DEGREE, sig->degree);
	report_put_u32(r, COLLSOCK_A_OPERATION_ROOT, sig->root);
	report_put_u32(r, COLLSOCK_A_OPERATION_COUNT, sig->count);
}

static void report_operation(struct user_report *r, const struct user_member *m,
			     const struct coll_op *op, u64 now)
{
	static const u8 states[] = {
		[COLL_OP_EARLY]		= COLLSOCK_OPERATION_STATE_EARLY,
		[COLL_OP_RUNNING]	= COLLSOCK_OPERATION_STATE_RUNNING,
		[COLL_OP_ABORTED]	= COLLSOCK_OPERATION_STATE_ABORTED,
		[COLL_OP_DONE]		= COLLSOCK_OPERATION_STATE_DONE,
	};
	size_t message = report_begin(r, COLLSOCK_CMD_OPERATION_GET);

	report_put_u32(r, COLLSOCK_A_OPERATION_GROUP, report_handle(m));
	report_put_u64(r, COLLSOCK_A_OPERATION_NUMBER, op->head.number);
	report_put_u32(r, COLLSOCK_A_OPERATION_STATE, states[op->state]);
	report_put_signature(r, &op->head.signature);
	report_put_u32(r, COLLSOCK_A_OPERATION_BYTES, op->layout.bytes);
	report_put_u32(r, COLLSOCK_A_OPERATION_UNPOSTED, op->locals.unposted);
	report_put_u32(r, COLLSOCK_A_OPERATION_UNACKED, op->head.unacked - op->locals.folding);
	if (op->locals.unposted)
		report_put_u32(r, COLLSOCK_A_OPERATION_MISSING_RANK, m->group.ranks.local[0].rank);
	if (op->state == COLL_OP_RUNNING || (op->state == COLL_OP_EARLY && op->probed))
		report_put_waits(r, &m->group, op, now);
	report_end(r, message);
}

static void report_operations(struct user_report *r, const struct user_member *m, u64 now)
{
	const struct coll_group *g = &m->group;
	const struct coll_op *op;
	u64 number;

	for (number = g->window.oldest; number - g->window.oldest <= g->window.size; number++) {
		op = coll_group_slot(g, number);
		if (op->head.number == number && op->state != COLL_OP_FREE)
			report_operation(r, m, op, now);
	}
}

/* ---- the counters of the process, as far as this member sees it ---- */

#define REPORT_NET_COUNTER(name, IDENTIFIER, meaning) \
	report_put_u64(r, COLLSOCK_A_NET_##IDENTIFIER, m->net.name);

static void report_net(struct user_report *r, const struct user_member *m)
{
	size_t message = report_begin(r, COLLSOCK_CMD_NET_GET);

	report_put(r, COLLSOCK_A_NET_VERSION, COLLSOCK_VERSION, sizeof(COLLSOCK_VERSION));
	report_put_u32(r, COLLSOCK_A_NET_GROUPS, 1);
	report_put_u32(r, COLLSOCK_A_NET_PEERS, m->group.stats.peers);
	COLLSOCK_NET_COUNTER_LIST(REPORT_NET_COUNTER)
	report_end(r, message);
}

/* ---- all of it ---- */

void user_report_member(struct user_report *r, struct user_member *m)
{
	const struct coll_group *g = &m->group;
	const struct coll_peer *peer;
	u64 now = user_clock_ns();
	u32 host;

	report_net(r, m);
	report_group(r, m, now);
	for (host = 0; host < g->hosts; host++)
		report_host(r, m, host);
	report_rank(r, m);
	for (peer = g->peers.all; peer; peer = peer->all)
		report_peer(r, m, peer, now);
	report_operations(r, m, now);
}

static int report_write(int fd, const struct user_report *r)
{
	ssize_t written;
	size_t done;

	for (done = 0; done < r->bytes; done += written) {
		written = write(fd, r->data + done, r->bytes - done);
		if (written < 0)
			return -errno;
	}
	return lseek(fd, 0, SEEK_SET) || fcntl(fd, F_ADD_SEALS, SEALS) ? -errno : 0;
}

int user_report_file(struct user_report *r)
{
	int err = r->failed ? -ENOMEM : 0, fd = -1;

	if (!err) {
		fd = memfd_create("collsock-report", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		err = fd < 0 ? -errno : report_write(fd, r);
	}
	free(r->data);
	memset(r, 0, sizeof(*r));
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}
