// SPDX-License-Identifier: GPL-2.0
#include <linux/cred.h>

#include "../uapi/linux/collsock_netlink.h"
#include "compat.h"
#include "instance.h"
#include "netlink_dump.h"
#include "netns.h"
#include "pace.h"
#include "socket.h"
#include "user.h"

/* Hosts, ranks or peers that are read while locks are held once. */
#define BATCH		16

#define MOST_MISSING	16
#define MOST_RANKS	64

/**
 * struct dump_state - position of a dump
 * @wanted: handle of the requested group, 0 for all
 * @handle: handle of the current group
 * @next: next entry of the current group
 * @oldest: for operations, the oldest one when the dump reached the group
 * @begun: the first message was made
 * @found: a group was found
 */
struct dump_state {
	u32	wanted;
	u32	handle;
	u32	next;
	u64	oldest;
	bool	begun;
	bool	found;
};

static struct dump_state *dump_state(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct dump_state) > sizeof(cb->ctx));
	return (struct dump_state *)cb->ctx;
}

static u32 dump_ms_since(u64 then, u64 now)
{
	return min_t(u64, div_u64(now - then, NSEC_PER_MSEC), U32_MAX);
}

static void *dump_put(struct sk_buff *skb, struct netlink_callback *cb, u8 command)
{
	void *header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				   coll_genl_dump_family(cb), NLM_F_MULTI, command);

	if (header)
		genl_dump_check_consistent(cb, header);
	return header;
}

/* End a message, or cancel it for lack of room. */
static int dump_end(struct sk_buff *skb, void *header, bool fits)
{
	if (fits) {
		genlmsg_end(skb, header);
		return 0;
	}
	genlmsg_cancel(skb, header);
	return -EMSGSIZE;
}

/**
 * coll_netlink_dump_start() - start a dump
 * @cb: the request, optionally with the handle of a group
 *
 * Return: 0. Context: process.
 */
int coll_netlink_dump_start(struct netlink_callback *cb)
{
	struct nlattr **attrs = coll_genl_dump_attrs(cb);
	struct dump_state *state = dump_state(cb);

	memset(state, 0, sizeof(*state));
	/* NULL if the command has no attributes */
	if (attrs && attrs[COLLSOCK_A_GROUP_HANDLE])
		state->wanted = nla_get_u32(attrs[COLLSOCK_A_GROUP_HANDLE]);
	return 0;
}

/*
 * A message that says nothing: the dump goes on, but one that is empty would end it. There is
 * room, as nothing else is in @skb.
 */
static void dump_put_nothing(struct sk_buff *skb, struct netlink_callback *cb)
{
	void *header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				   coll_genl_dump_family(cb), NLM_F_MULTI, COLLSOCK_CMD_DUMP_BEGUN);

	if (header)
		genlmsg_end(skb, header);
}

/*
 * May the dump look now? 0, -EAGAIN if it has nothing to say yet, -EINTR. Its first message is
 * made in its request, while generic netlink holds a lock that others need (cb_lock): so it
 * looks at nothing. All others are made when the one before is received, under a mutex of that
 * socket. A second request by this socket waits for that mutex with the lock: so the dump waits
 * for a moment only.
 */
static int dump_wait(struct netlink_callback *cb, struct coll_pace *pace)
{
	struct dump_state *state = dump_state(cb);

	if (state->begun)
		return coll_pace_wait(pace, sock_net(cb->skb->sk));
	state->begun = true;
	return -EAGAIN;
}

/*
 * Tells of a group from state->next on. -EMSGSIZE if there was no room for all of it, -EAGAIN if
 * others are to have the namespace's mutex before it goes on.
 */
typedef int (*dump_teller)(struct sk_buff *skb, struct netlink_callback *cb,
			   struct coll_instance *gi);

/* The group that the dump is at, or else the next one. */
static struct coll_instance *dump_group(struct coll_net *cn, struct dump_state *state)
{
	unsigned long handle = max(state->handle, state->wanted);
	struct coll_instance *gi;

	gi = xa_find(&cn->instances, &handle, state->wanted ?: ULONG_MAX, XA_PRESENT);
	if (gi && handle != state->handle) {
		state->handle = handle;
		state->next = 0;
	}
	return gi;
}

/* -ENOENT if there is no group any more. */
static int dump_step(struct sk_buff *skb, struct netlink_callback *cb, dump_teller tell,
		     struct coll_net *cn)
{
	struct dump_state *state = dump_state(cb);
	struct coll_instance *gi;
	int err = -ENOENT;

	mutex_lock(&cn->mutex);
	cb->seq = cn->generation;
	gi = dump_group(cn, state);
	if (gi) {
		state->found = true;
		err = tell(skb, cb, gi);
		if (!err) {
			state->handle++;
			state->next = 0;
		}
	}
	mutex_unlock(&cn->mutex);
	return err;
}

/* There may be many groups with nothing to tell: ranks join meanwhile. */
static int dump_some_groups(struct sk_buff *skb, struct netlink_callback *cb, dump_teller tell,
			    const struct coll_pace *pace)
{
	struct coll_net *cn = coll_net_of(sock_net(skb->sk));
	int err;

	do {
		err = dump_step(skb, cb, tell, cn);
		cond_resched();
	} while ((!err || err == -EAGAIN) && !coll_pace_over(pace) &&
		 !fatal_signal_pending(current));
	return err;
}

static int dump_groups(struct sk_buff *skb, struct netlink_callback *cb, dump_teller tell)
{
	const struct dump_state *state = dump_state(cb);
	struct coll_pace pace;
	int err = dump_wait(cb, &pace);

	if (!err) {
		err = dump_some_groups(skb, cb, tell, &pace);
		coll_pace_end(&pace);
	}
	if ((!err || err == -EAGAIN) && !skb->len)
		dump_put_nothing(skb, cb);
	if (state->wanted && !state->found && err == -ENOENT)
		return -ENOENT;
	return err && err != -EAGAIN && err != -EMSGSIZE && err != -ENOENT ? err : skb->len;
}

/* ---- groups ---- */

#define DUMP_COUNTER(name, IDENTIFIER, meaning)	{ COLLSOCK_A_STATS_##IDENTIFIER, s->name },

static bool dump_put_stats(struct sk_buff *skb, const struct collsock_stats *s)
{
	const struct {
		int	attribute;
		u64	value;
	} counters[] = {
		COLLSOCK_GROUP_COUNTER_LIST(DUMP_COUNTER)
	};
	struct nlattr *nest = nla_nest_start(skb, COLLSOCK_A_GROUP_STATS);
	u32 i;

	if (!nest)
		return false;
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		if (nla_put_u64_64bit(skb, counters[i].attribute, counters[i].value,
				      COLLSOCK_A_STATS_PAD))
			return false;
	nla_nest_end(skb, nest);
	return true;
}

/* What is constant */
static bool dump_put_group_constants(struct sk_buff *skb, const struct coll_instance *gi)
{
	const struct collsock_join *request = &gi->request;
	const struct coll_group *g = &gi->group;

	return !nla_put_u32(skb, COLLSOCK_A_GROUP_HANDLE, gi->handle) &&
	       !nla_put_u64_64bit(skb, COLLSOCK_A_GROUP_ID, request->id, COLLSOCK_A_GROUP_PAD) &&
	       !nla_put_u64_64bit(skb, COLLSOCK_A_GROUP_NONCE, request->nonce,
				  COLLSOCK_A_GROUP_PAD) &&
	       !nla_put_u64_64bit(skb, COLLSOCK_A_GROUP_TAG, g->secret.tag,
				  COLLSOCK_A_GROUP_PAD) &&
	       !nla_put_u32(skb, COLLSOCK_A_GROUP_DESCRIPTOR, g->descriptor) &&
	       !nla_put_u32(skb, COLLSOCK_A_GROUP_HOSTS, g->hosts) &&
	       !nla_put_u32(skb, COLLSOCK_A_GROUP_RANKS, g->ranks.size) &&
	       !nla_put_u32(skb, COLLSOCK_A_GROUP_HOST, g->self) &&
	       !nla_put_u32(skb, COLLSOCK_A_GROUP_LOCAL_RANKS, g->ranks.locals) &&
	       !nla_put_u32(skb, COLLSOCK_A_GROUP_UID,
			    from_kuid_munged(current_user_ns(), gi->uid)) &&
	       !(gi->keyed && nla_put_flag(skb, COLLSOCK_A_GROUP_KEYED)) &&
	       !nla_put_u32(skb, COLLSOCK_A_GROUP_WINDOW, g->window.size) &&
	       !nla_put_u32(skb, COLLSOCK_A_GROUP_MAX_BYTES, g->payload.max_bytes) &&
	       !nla_put_u32(skb, COLLSOCK_A_GROUP_MAX_RESULT_BYTES,
			    g->payload.max_result_bytes) &&
	       !(coll_group_multicasts(g) &&
		 nla_put(skb, COLLSOCK_A_GROUP_MULTICAST,
			 coll_bearer_address_bytes(&gi->everyone), request->multicast)) &&
	       !nla_put_u32(skb, COLLSOCK_A_GROUP_SEGMENT_BYTES, g->payload.segment_bytes) &&
	       !nla_put_u32(skb, COLLSOCK_A_GROUP_DEGREE, request->degree) &&
	       !nla_put_u64_64bit(skb, COLLSOCK_A_GROUP_DEGREES, request->degrees,
				  COLLSOCK_A_GROUP_PAD) &&
	       !nla_put_u32(skb, COLLSOCK_A_GROUP_MAC, request->mac) &&
	       !nla_put_u32(skb, COLLSOCK_A_GROUP_LIVENESS_MS,
			    div_u64(g->timing.liveness, NSEC_PER_MSEC)) &&
	       !nla_put_u64_64bit(skb, COLLSOCK_A_GROUP_MEMORY,
				  gi->charge + atomic64_read(&gi->results),
				  COLLSOCK_A_GROUP_PAD);
}

static bool dump_put_group_state(struct sk_buff *skb, const struct coll_group *g)
{
	enum collsock_group_state state = COLLSOCK_GROUP_STATE_RUNNING;

	if (g->ranks.leaving)
		state = COLLSOCK_GROUP_STATE_LINGERING;
	else if (g->failure.known)
		state = COLLSOCK_GROUP_STATE_FAILED;
	if (nla_put_u32(skb, COLLSOCK_A_GROUP_STATE, state) ||
	    nla_put_u32(skb, COLLSOCK_A_GROUP_JOINED, g->ranks.joined) ||
	    nla_put_u64_64bit(skb, COLLSOCK_A_GROUP_NEXT, g->window.next,
			      COLLSOCK_A_GROUP_PAD) ||
	    nla_put_u64_64bit(skb, COLLSOCK_A_GROUP_OLDEST, g->window.oldest,
			      COLLSOCK_A_GROUP_PAD) ||
	    nla_put_u32(skb, COLLSOCK_A_GROUP_PEERS, g->stats.peers))
		return false;
	return !g->failure.known ||
	       (!nla_put_u32(skb, COLLSOCK_A_GROUP_ERROR, coll_failure_error(&g->failure.what)) &&
		!nla_put_u32(skb, COLLSOCK_A_GROUP_FAILED_RANK, g->failure.what.rank) &&
		!nla_put_u64_64bit(skb, COLLSOCK_A_GROUP_LIMIT, g->failure.what.limit,
				   COLLSOCK_A_GROUP_PAD));
}

/**
 * coll_netlink_dump_put_group() - add a group to a message
 * @skb: the message
 * @gi: the group; the namespace's mutex is held, or RCU
 *
 * Return: true if there was room. Context: process.
 */
bool coll_netlink_dump_put_group(struct sk_buff *skb, struct coll_instance *gi)
{
	u64 age = div_u64(ktime_get_ns() - gi->made_ns, NSEC_PER_MSEC);
	struct collsock_stats stats;
	bool fits;

	if (nla_put_u64_64bit(skb, COLLSOCK_A_GROUP_AGE_MS, age, COLLSOCK_A_GROUP_PAD) ||
	    !dump_put_group_constants(skb, gi))
		return false;
	coll_instance_lock(gi);
	fits = dump_put_group_state(skb, &gi->group);
	stats = gi->group.stats;
	coll_instance_unlock(gi);
	return fits && dump_put_stats(skb, &stats);
}

static int dump_tell_group(struct sk_buff *skb, struct netlink_callback *cb,
			   struct coll_instance *gi)
{
	void *header = dump_put(skb, cb, COLLSOCK_CMD_GROUP_GET);

	return header ? dump_end(skb, header, coll_netlink_dump_put_group(skb, gi)) : -EMSGSIZE;
}

/**
 * coll_netlink_dump_groups() - dump all groups, or one
 * @skb: message to fill
 * @cb: position of the dump
 *
 * Return: bytes in @skb, 0 at the end; -ENOENT if there is no such group. Context: process.
 */
int coll_netlink_dump_groups(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_groups(skb, cb, dump_tell_group);
}

/* ---- hosts ---- */

static enum collsock_host_state dump_host_state(const struct coll_group *g, u32 host,
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

/* A link-local address is meaningless without its interface. */
static bool dump_put_scope(struct sk_buff *skb, int attribute, const struct collsock_member *m)
{
	return !m->scope_id || !nla_put_u32(skb, attribute, m->scope_id);
}

static int dump_put_host(struct sk_buff *skb, struct netlink_callback *cb,
			 const struct coll_instance *gi, u32 host)
{
	const struct collsock_member *m = &gi->members->member[host];
	const struct coll_peer *peer = coll_peers_find(&gi->group, host);
	void *header = dump_put(skb, cb, COLLSOCK_CMD_HOST_GET);

	if (!header)
		return -EMSGSIZE;
	return dump_end(skb, header,
			!nla_put_u32(skb, COLLSOCK_A_HOST_GROUP, gi->handle) &&
			!nla_put_u32(skb, COLLSOCK_A_HOST_HOST, host) &&
			!nla_put_u32(skb, COLLSOCK_A_HOST_STATE,
				     dump_host_state(&gi->group, host, peer)) &&
			!nla_put(skb, COLLSOCK_A_HOST_ADDRESS, coll_bearer_address_bytes(m),
				 m->address) &&
			!nla_put_u16(skb, COLLSOCK_A_HOST_PORT, m->port) &&
			!nla_put_u32(skb, COLLSOCK_A_HOST_RANK, gi->members->lowest[host]) &&
			dump_put_scope(skb, COLLSOCK_A_HOST_SCOPE_ID, m));
}

static int dump_tell_hosts(struct sk_buff *skb, struct netlink_callback *cb,
			   struct coll_instance *gi)
{
	struct dump_state *state = dump_state(cb);
	const struct coll_group *g = &gi->group;
	u32 batch;
	int err = 0;

	while (!err && state->next < g->hosts) {
		coll_instance_lock(gi);
		for (batch = 0; !err && batch < BATCH && state->next < g->hosts; batch++) {
			err = dump_put_host(skb, cb, gi, state->next);
			state->next += !err;
		}
		coll_instance_unlock(gi);
	}
	return err;
}

/**
 * coll_netlink_dump_hosts() - dump the hosts of groups
 * @skb: message to fill
 * @cb: position of the dump
 *
 * Return: bytes in @skb, 0 at the end; -ENOENT if there is no such group. Context: process.
 */
int coll_netlink_dump_hosts(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_groups(skb, cb, dump_tell_hosts);
}

/* ---- ranks ---- */

/*
 * The process that joined, unless it has ended: another one may keep the socket, and the number
 * may be that of a third one. 0 also if the reader's namespace does not know it.
 */
static pid_t dump_pid(const struct coll_sock *csk)
{
	pid_t pid = 0;

	rcu_read_lock();
	if (csk && pid_task(csk->pid, PIDTYPE_TGID))
		pid = pid_vnr(csk->pid);
	rcu_read_unlock();
	return pid;
}

static int dump_put_rank(struct sk_buff *skb, struct netlink_callback *cb,
			 const struct coll_instance *gi, u32 local)
{
	static const u8 states[] = {
		[COLL_RANK_ABSENT]	= COLLSOCK_RANK_STATE_ABSENT,
		[COLL_RANK_JOINED]	= COLLSOCK_RANK_STATE_JOINED,
		[COLL_RANK_LEFT]	= COLLSOCK_RANK_STATE_LEFT,
	};
	const struct coll_rank *rank = &gi->group.ranks.local[local];
	const struct coll_sock *csk = gi->local_members[local].csk;
	void *header = dump_put(skb, cb, COLLSOCK_CMD_RANK_GET);
	pid_t pid = dump_pid(csk);

	if (!header)
		return -EMSGSIZE;
	return dump_end(skb, header,
			!nla_put_u32(skb, COLLSOCK_A_RANK_GROUP, gi->handle) &&
			!nla_put_u32(skb, COLLSOCK_A_RANK_RANK, rank->rank) &&
			!nla_put_u32(skb, COLLSOCK_A_RANK_STATE, states[rank->state]) &&
			!nla_put_u64_64bit(skb, COLLSOCK_A_RANK_NEXT, rank->next,
					   COLLSOCK_A_RANK_PAD) &&
			!(pid && nla_put_u32(skb, COLLSOCK_A_RANK_PID, pid)) &&
			!nla_put_u32(skb, COLLSOCK_A_RANK_LAST, rank->last));
}

static int dump_tell_ranks(struct sk_buff *skb, struct netlink_callback *cb,
			   struct coll_instance *gi)
{
	struct dump_state *state = dump_state(cb);
	u32 batch;
	int err = 0;

	while (!err && state->next < gi->group.ranks.locals) {
		coll_instance_lock(gi);
		for (batch = 0; !err && batch < BATCH && state->next < gi->group.ranks.locals;
		     batch++) {
			err = dump_put_rank(skb, cb, gi, state->next);
			state->next += !err;
		}
		coll_instance_unlock(gi);
	}
	return err;
}

/**
 * coll_netlink_dump_ranks() - dump the ranks of this host
 * @skb: message to fill
 * @cb: position of the dump
 *
 * Return: bytes in @skb, 0 at the end; -ENOENT if there is no such group. Context: process.
 */
int coll_netlink_dump_ranks(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_groups(skb, cb, dump_tell_ranks);
}

/* ---- peers ---- */

static bool dump_put_peer_times(struct sk_buff *skb, const struct coll_peer *peer, u64 now)
{
	if (peer->rtt.srtt_ns &&
	    (nla_put_u32(skb, COLLSOCK_A_PEER_SRTT_US, peer->rtt.srtt_ns / NSEC_PER_USEC) ||
	     nla_put_u32(skb, COLLSOCK_A_PEER_RTTVAR_US, peer->rtt.rttvar_ns / NSEC_PER_USEC)))
		return false;
	if (peer->conn.incarnation &&
	    nla_put_u32(skb, COLLSOCK_A_PEER_HEARD_MS, dump_ms_since(peer->live.heard_ns, now)))
		return false;
	return !nla_put_u32(skb, COLLSOCK_A_PEER_RTO_US, peer->rtt.rto_ns / NSEC_PER_USEC);
}

static int dump_put_peer(struct sk_buff *skb, struct netlink_callback *cb,
			 const struct coll_instance *gi, const struct coll_peer *peer)
{
	void *header = dump_put(skb, cb, COLLSOCK_CMD_PEER_GET);

	if (!header)
		return -EMSGSIZE;
	return dump_end(skb, header,
			!nla_put_u32(skb, COLLSOCK_A_PEER_GROUP, gi->handle) &&
			!nla_put_u32(skb, COLLSOCK_A_PEER_HOST, peer->host) &&
			!nla_put_u32(skb, COLLSOCK_A_PEER_STATE,
				     dump_host_state(&gi->group, peer->host, peer)) &&
			!nla_put_u32(skb, COLLSOCK_A_PEER_UNACKED, peer->send.unacked) &&
			!nla_put_u32(skb, COLLSOCK_A_PEER_HELD, peer->held) &&
			!nla_put_u64_64bit(skb, COLLSOCK_A_PEER_PACKETS, peer->send.number,
					   COLLSOCK_A_PEER_PAD) &&
			!nla_put_u32(skb, COLLSOCK_A_PEER_RETRANSMITS, peer->live.retransmits) &&
			!nla_put_u32(skb, COLLSOCK_A_PEER_LAST, peer->watch.last_arrivals) &&
			dump_put_peer_times(skb, peer, ktime_get_ns()));
}

/* The connection to the lowest host from that one on, or NULL */
static const struct coll_peer *dump_next_peer(const struct coll_group *g, u32 from)
{
	const struct coll_peer *peer, *next = NULL;

	for (peer = g->peers.all; peer; peer = peer->all)
		if (peer->host >= from && (!next || peer->host < next->host))
			next = peer;
	return next;
}

/* By host index, as the list changes while connections open and are released. */
static int dump_tell_peers(struct sk_buff *skb, struct netlink_callback *cb,
			   struct coll_instance *gi)
{
	struct dump_state *state = dump_state(cb);
	const struct coll_peer *peer;
	u32 batch;
	int err = 0;

	coll_instance_lock(gi);
	for (batch = 0; !err && batch < BATCH; batch++) {
		peer = dump_next_peer(&gi->group, state->next);
		if (!peer)
			break;
		err = dump_put_peer(skb, cb, gi, peer);
		if (!err)
			state->next = peer->host + 1;
	}
	coll_instance_unlock(gi);
	return err ?: peer ? -EAGAIN : 0;
}

/**
 * coll_netlink_dump_peers() - dump connections
 * @skb: message to fill
 * @cb: position of the dump
 *
 * Return: bytes in @skb, 0 at the end; -ENOENT if there is no such group. Context: process.
 */
int coll_netlink_dump_peers(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_groups(skb, cb, dump_tell_peers);
}

/* ---- operations ---- */

static bool dump_put_missing_ranks(struct sk_buff *skb, const struct coll_group *g,
				   const struct coll_op *op)
{
	u32 local, told = 0;

	for (local = 0; local < g->ranks.locals && told < MOST_RANKS; local++) {
		if (coll_after(g->ranks.local[local].next, op->head.number))
			continue;
		if (nla_put_u32(skb, COLLSOCK_A_OPERATION_MISSING_RANK, g->ranks.local[local].rank))
			return false;
		told++;
	}
	return true;
}

static bool dump_put_awaits(struct sk_buff *skb, const struct coll_instance *gi,
			    const struct coll_wait *wait)
{
	bool said = wait->rank < gi->group.ranks.size;
	u32 rank = said ? wait->rank : coll_ranks_lowest(&gi->group, wait->host);

	return !(said && nla_put_flag(skb, COLLSOCK_A_MISSING_AWAITS_SAID)) &&
	       !nla_put_u32(skb, COLLSOCK_A_MISSING_AWAITS_HOST, wait->host) &&
	       !nla_put_u32(skb, COLLSOCK_A_MISSING_AWAITS_RANK, rank) &&
	       !nla_put_u64_64bit(skb, COLLSOCK_A_MISSING_AWAITS_OPERATION, wait->operation,
				  COLLSOCK_A_MISSING_PAD) &&
	       !nla_put_u32(skb, COLLSOCK_A_MISSING_AWAITS_MS, wait->waited_ms) &&
	       !nla_put_u32(skb, COLLSOCK_A_MISSING_AWAITS_HOPS, wait->hops) &&
	       !nla_put_u32(skb, COLLSOCK_A_MISSING_TOLD_MS, wait->age_ms);
}

static bool dump_put_missing_peer(struct sk_buff *skb, const struct coll_instance *gi,
				  const struct coll_op *op, const struct coll_peer *peer, u64 now)
{
	struct coll_wait wait;

	if (peer->conn.incarnation &&
	    nla_put_u32(skb, COLLSOCK_A_MISSING_HEARD_MS, dump_ms_since(peer->live.heard_ns, now)))
		return false;
	if (peer->live.asked_ns > peer->live.heard_ns &&
	    nla_put_u32(skb, COLLSOCK_A_MISSING_SILENT_MS,
			dump_ms_since(peer->live.first_asked_ns, now)))
		return false;
	return !coll_watch_told(peer, op->head.number, &wait, now) ||
	       dump_put_awaits(skb, gi, &wait);
}

static bool dump_put_missing_host(struct sk_buff *skb, const struct coll_instance *gi,
				  const struct coll_op *op, u32 host, u64 now)
{
	const struct coll_peer *peer = coll_peers_find(&gi->group, host);
	struct nlattr *nest = nla_nest_start(skb, COLLSOCK_A_OPERATION_MISSING);

	if (!nest ||
	    nla_put_u32(skb, COLLSOCK_A_MISSING_HOST, host) ||
	    nla_put_u32(skb, COLLSOCK_A_MISSING_RANK, coll_ranks_lowest(&gi->group, host)) ||
	    nla_put_u32(skb, COLLSOCK_A_MISSING_STATE, dump_host_state(&gi->group, host, peer)) ||
	    (peer && !dump_put_missing_peer(skb, gi, op, peer, now)))
		return false;
	nla_nest_end(skb, nest);
	return true;
}

static bool dump_put_missing_hosts(struct sk_buff *skb, const struct coll_instance *gi,
				   const struct coll_op *op, u64 now)
{
	struct coll_arrived arrived = coll_engine_arrived(op);
	u32 i, told = 0;

	for (i = 0; i < op->schedule->folds && told < MOST_MISSING; i++) {
		if (!coll_engine_misses_host(op, &arrived, i))
			continue;
		if (!dump_put_missing_host(skb, gi, op, op->schedule->fold[i].host, now))
			return false;
		told++;
	}
	return true;
}

static bool dump_put_operation(struct sk_buff *skb, const struct coll_instance *gi,
			       const struct coll_op *op, u64 now)
{
	static const u8 states[] = {
		[COLL_OP_EARLY]		= COLLSOCK_OPERATION_STATE_EARLY,
		[COLL_OP_RUNNING]	= COLLSOCK_OPERATION_STATE_RUNNING,
		[COLL_OP_ABORTED]	= COLLSOCK_OPERATION_STATE_ABORTED,
		[COLL_OP_DONE]		= COLLSOCK_OPERATION_STATE_DONE,
	};
	const struct coll_signature *sig = &op->head.signature;
	bool waits = op->state == COLL_OP_RUNNING || (op->state == COLL_OP_EARLY && op->probed);

	if (nla_put_u32(skb, COLLSOCK_A_OPERATION_GROUP, gi->handle) ||
	    nla_put_u64_64bit(skb, COLLSOCK_A_OPERATION_NUMBER, op->head.number,
			      COLLSOCK_A_OPERATION_PAD) ||
	    nla_put_u32(skb, COLLSOCK_A_OPERATION_STATE, states[op->state]) ||
	    nla_put_u8(skb, COLLSOCK_A_OPERATION_OPERATION, sig->operation) ||
	    nla_put_u8(skb, COLLSOCK_A_OPERATION_TYPE, sig->type) ||
	    nla_put_u8(skb, COLLSOCK_A_OPERATION_OP, sig->op) ||
	    nla_put_u8(skb, COLLSOCK_A_OPERATION_ALGORITHM, sig->algorithm) ||
	    nla_put_u8(skb, COLLSOCK_A_OPERATION_DEGREE, sig->degree) ||
	    nla_put_u32(skb, COLLSOCK_A_OPERATION_ROOT, sig->root) ||
	    nla_put_u32(skb, COLLSOCK_A_OPERATION_COUNT, sig->count) ||
	    nla_put_u32(skb, COLLSOCK_A_OPERATION_BYTES, op->layout.bytes) ||
	    nla_put_u32(skb, COLLSOCK_A_OPERATION_UNPOSTED, op->locals.unposted) ||
	    nla_put_u32(skb, COLLSOCK_A_OPERATION_UNACKED, op->head.unacked - op->locals.folding) ||
	    (op->locals.unposted && !dump_put_missing_ranks(skb, &gi->group, op)))
		return false;
	return !waits ||
	       (!nla_put_u32(skb, COLLSOCK_A_OPERATION_WAITED_MS,
			     dump_ms_since(op->awaited_ns, now)) &&
		dump_put_missing_hosts(skb, gi, op, now));
}

static int dump_tell_operation(struct sk_buff *skb, struct netlink_callback *cb,
			       const struct coll_instance *gi, const struct coll_op *op)
{
	void *header = dump_put(skb, cb, COLLSOCK_CMD_OPERATION_GET);

	if (!header)
		return -EMSGSIZE;
	return dump_end(skb, header, dump_put_operation(skb, gi, op, ktime_get_ns()));
}

/* state->next counts from state->oldest. */
static int dump_tell_operations(struct sk_buff *skb, struct netlink_callback *cb,
				struct coll_instance *gi)
{
	struct dump_state *state = dump_state(cb);
	const struct coll_group *g = &gi->group;
	const struct coll_op *op;
	u64 number;
	int err = 0;

	for (; !err && state->next <= g->window.size; state->next += !err) {
		coll_instance_lock(gi);
		if (!state->next)
			state->oldest = g->window.oldest;
		number = state->oldest + state->next;
		op = coll_group_slot(g, number);
		if (op->head.number == number && op->state != COLL_OP_FREE)
			err = dump_tell_operation(skb, cb, gi, op);
		coll_instance_unlock(gi);
	}
	return err;
}

/**
 * coll_netlink_dump_operations() - dump operations under way
 * @skb: message to fill
 * @cb: position of the dump
 *
 * Return: bytes in @skb, 0 at the end; -ENOENT if there is no such group. Context: process.
 */
int coll_netlink_dump_operations(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_groups(skb, cb, dump_tell_operations);
}

/* What a dump returns that may not look: it says nothing yet, or fails. */
static int dump_later(struct sk_buff *skb, struct netlink_callback *cb, int err)
{
	if (err != -EAGAIN)
		return err;
	dump_put_nothing(skb, cb);
	return skb->len;
}

/* ---- early packets ---- */

static int dump_tell_early_packet(struct sk_buff *skb, struct netlink_callback *cb,
				  const struct coll_early_packet *k)
{
	void *header = dump_put(skb, cb, COLLSOCK_CMD_EARLY_PACKET_GET);

	if (!header)
		return -EMSGSIZE;
	return dump_end(skb, header,
			!nla_put_u64_64bit(skb, COLLSOCK_A_EARLY_PACKET_TAG, k->tag,
					   COLLSOCK_A_EARLY_PACKET_PAD) &&
			!nla_put_u32(skb, COLLSOCK_A_EARLY_PACKET_HOST, k->host) &&
			!nla_put(skb, COLLSOCK_A_EARLY_PACKET_ADDRESS,
				 coll_bearer_address_bytes(&k->from), k->from.address) &&
			!nla_put_u16(skb, COLLSOCK_A_EARLY_PACKET_PORT, k->from.port) &&
			!nla_put_u32(skb, COLLSOCK_A_EARLY_PACKET_AGE_MS,
				     dump_ms_since(k->at_ns, ktime_get_ns())) &&
			dump_put_scope(skb, COLLSOCK_A_EARLY_PACKET_SCOPE_ID, &k->from));
}

/**
 * coll_netlink_dump_early_packets() - dump early packets
 * @skb: message to fill
 * @cb: position of the dump
 *
 * Return: bytes in @skb, 0 at the end. Context: process.
 */
int coll_netlink_dump_early_packets(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct coll_net *cn = coll_net_of(sock_net(skb->sk));
	struct dump_state *state = dump_state(cb);
	struct coll_early_packet early;
	struct coll_pace pace;
	int err = dump_wait(cb, &pace);

	if (err)
		return dump_later(skb, cb, err);
	while (!err && state->next < COLL_EARLY_PACKETS) {
		if (coll_early_packet_look(&cn->early_packets, state->next, &early))
			err = dump_tell_early_packet(skb, cb, &early);
		state->next += !err;
	}
	coll_pace_end(&pace);
	return skb->len;
}

/* ---- devices ---- */

static int dump_tell_device(struct sk_buff *skb, struct netlink_callback *cb,
			    const struct coll_bearer_device *device)
{
	void *header = dump_put(skb, cb, COLLSOCK_CMD_DEVICE_GET);

	if (!header)
		return -EMSGSIZE;
	return dump_end(skb, header,
			!nla_put_u32(skb, COLLSOCK_A_DEVICE_IFINDEX, device->ifindex) &&
			!nla_put_u8(skb, COLLSOCK_A_DEVICE_ALLOWED, device->allowed) &&
			(!device->open || !nla_put_flag(skb, COLLSOCK_A_DEVICE_OPEN)));
}

/**
 * coll_netlink_dump_devices() - devices of groups over Ethernet, or for them
 * @skb: message to fill
 * @cb: position of the dump
 *
 * Return: bytes in @skb, 0 at the end. Context: process.
 */
int coll_netlink_dump_devices(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct coll_net *cn = coll_net_of(sock_net(skb->sk));
	struct dump_state *state = dump_state(cb);
	struct coll_bearer_device device;
	struct coll_pace pace;
	int err = dump_wait(cb, &pace);

	if (err)
		return dump_later(skb, cb, err);
	for (;;) {
		device.ifindex = state->next;
		if (!coll_bearer_next_device(&cn->bearers, &device))
			break;
		if (coll_pace_over(&pace) || dump_tell_device(skb, cb, &device)) {
			if (!skb->len)
				dump_put_nothing(skb, cb);
			break;
		}
		state->next = device.ifindex + 1;
	}
	coll_pace_end(&pace);
	return skb->len;
}

/* ---- users ---- */

/* In the first namespace all that the reader's user namespace knows, elsewhere the reader. */
static bool dump_user_visible(const struct coll_net *cn, const struct coll_user_use *user)
{
	if (uid_eq(user->uid, coll_user_current()))
		return true;
	return net_eq(cn->net, &init_net) && kuid_has_mapping(current_user_ns(), user->uid);
}

static bool dump_put_user_limits(struct sk_buff *skb, const struct coll_net *cn, kuid_t uid)
{
	struct coll_user_limits limits;

	return !coll_user_limits(&cn->tunables, uid, &limits) ||
	       (!nla_put_u32(skb, COLLSOCK_A_USER_GROUPS_LIMIT, limits.groups) &&
		!nla_put_u64_64bit(skb, COLLSOCK_A_USER_MEMORY_LIMIT, limits.memory,
				   COLLSOCK_A_USER_PAD));
}

static int dump_tell_user(struct sk_buff *skb, struct netlink_callback *cb,
			  const struct coll_net *cn, const struct coll_user_use *user)
{
	void *header = dump_put(skb, cb, COLLSOCK_CMD_USER_GET);

	if (!header)
		return -EMSGSIZE;
	return dump_end(skb, header,
			!nla_put_u32(skb, COLLSOCK_A_USER_UID,
				     from_kuid_munged(current_user_ns(), user->uid)) &&
			!nla_put_u32(skb, COLLSOCK_A_USER_GROUPS, user->groups) &&
			!nla_put_u64_64bit(skb, COLLSOCK_A_USER_MEMORY, user->memory,
					   COLLSOCK_A_USER_PAD) &&
			dump_put_user_limits(skb, cn, user->uid));
}

/**
 * coll_netlink_dump_users() - users that have groups, in any namespace
 * @skb: to be filled
 * @cb: where the dump is
 *
 * Return: bytes in @skb, 0 at the end. Context: process.
 */
int coll_netlink_dump_users(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct coll_net *cn = coll_net_of(sock_net(skb->sk));
	struct dump_state *state = dump_state(cb);
	struct coll_user_use user;
	struct coll_pace pace;
	int err = dump_wait(cb, &pace);

	if (err)
		return dump_later(skb, cb, err);
	/* The last number is no user's. */
	while (state->next != U32_MAX && coll_user_next(state->next, &user)) {
		if (coll_pace_over(&pace) ||
		    (dump_user_visible(cn, &user) && dump_tell_user(skb, cb, cn, &user))) {
			if (!skb->len)
				dump_put_nothing(skb, cb);
			break;
		}
		state->next = __kuid_val(user.uid) + 1;
		cond_resched();
	}
	coll_pace_end(&pace);
	return skb->len;
}
