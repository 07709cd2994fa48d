// SPDX-License-Identifier: GPL-2.0
#include <linux/cred.h>

#include "../uapi/linux/collsock_netlink.h"
#include "compat.h"
#include "core/report.h"
#include "instance.h"
#include "netlink_dump.h"
#include "netns.h"
#include "pace.h"
#include "socket.h"
#include "user.h"

/* Hosts, ranks or peers that are read while locks are held once. */
#define BATCH		16

/**
 * struct dump_state - position of a dump
 * @wanted: handle of the requested group, 0 for all
 * @handle: handle of the current group
 * @next: next entry of the current group
 * @oldest: for operations, the oldest one when the dump reached the group
 * @begun: the first message was made
 * @found: a group was found
 * @processes: report the processes of ranks whatever their user
 */
struct dump_state {
	u32	wanted;
	u32	handle;
	u32	next;
	u64	oldest;
	bool	begun;
	bool	found;
	bool	processes;
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

static bool dump_write(void *message, u16 type, const void *value, u32 bytes)
{
	return !nla_put(message, type, bytes, value);
}

static bool dump_write_u64(void *message, u16 type, u64 value, u16 pad)
{
	return !nla_put_u64_64bit(message, type, value, pad);
}

static int dump_nest(void *message, u16 type)
{
	struct nlattr *nest = nla_nest_start(message, type);

	return nest ? (u8 *)nest - ((struct sk_buff *)message)->data : -EMSGSIZE;
}

static void dump_nest_end(void *message, int at)
{
	nla_nest_end(message, (struct nlattr *)(((struct sk_buff *)message)->data + at));
}

static struct coll_report dump_report(struct sk_buff *skb)
{
	static const struct coll_report_writer writer = {
		.put		= dump_write,
		.put_u64	= dump_write_u64,
		.nest		= dump_nest,
		.nest_end	= dump_nest_end,
	};

	return (struct coll_report) { .writer = &writer, .message = skb };
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

/**
 * coll_netlink_dump_start_ranks() - start a dump of ranks
 * @cb: the request, optionally with the handle of a group
 *
 * Return: 0. Context: process.
 */
int coll_netlink_dump_start_ranks(struct netlink_callback *cb)
{
	int err = coll_netlink_dump_start(cb);

	dump_state(cb)->processes = netlink_ns_capable(cb->skb, sock_net(cb->skb->sk)->user_ns,
						       CAP_NET_ADMIN);
	return err;
}

/*
 * A message without content: returning no message would end the dump. There is room, as nothing
 * else is in @skb.
 */
static void dump_put_nothing(struct sk_buff *skb, struct netlink_callback *cb)
{
	void *header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				   coll_genl_dump_family(cb), NLM_F_MULTI, COLLSOCK_CMD_DUMP_BEGUN);

	if (header)
		genlmsg_end(skb, header);
}

/*
 * May the dump look at groups now? Returns 0 if so, -EAGAIN if it has nothing to report yet, or
 * -EINTR. The first message is made within the request, while generic netlink holds a lock that
 * others need (cb_lock), so it looks at no group. Each later message is made when the previous one
 * is received, under a mutex of the socket. A second request by this socket waits for that mutex
 * while it holds cb_lock, so the dump waits only for a moment.
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
 * Reports a group from state->next on. -EMSGSIZE if there was no room for all of it, -EAGAIN if
 * the namespace's mutex is to be dropped before it goes on.
 */
typedef int (*dump_teller)(struct sk_buff *skb, struct netlink_callback *cb,
			   struct coll_instance *gi);

/* Find the group that the dump is at, or else the next one. */
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

/* Report the group that the dump is at. Returns -ENOENT if there is no group any more. */
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

/*
 * Report groups, dropping the mutex between them, so that ranks can join: there may be many groups
 * with nothing to report.
 */
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

/* Add the attributes that the core does not know. */
static bool dump_put_owner(struct sk_buff *skb, const struct coll_instance *gi)
{
	return !nla_put_u32(skb, COLLSOCK_A_GROUP_HANDLE, gi->handle) &&
	       !nla_put_u32(skb, COLLSOCK_A_GROUP_UID,
			    from_kuid_munged(current_user_ns(), gi->uid)) &&
	       !(gi->keyed && nla_put_flag(skb, COLLSOCK_A_GROUP_KEYED)) &&
	       !(coll_group_multicasts(&gi->group) &&
		 nla_put(skb, COLLSOCK_A_GROUP_MULTICAST,
			 coll_bearer_address_bytes(&gi->everyone), gi->request.multicast)) &&
	       !nla_put_u64_64bit(skb, COLLSOCK_A_GROUP_MEMORY,
				  gi->charge + atomic64_read(&gi->results),
				  COLLSOCK_A_GROUP_PAD);
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
	struct coll_report report = dump_report(skb);
	struct collsock_stats stats;

	if (nla_put_u64_64bit(skb, COLLSOCK_A_GROUP_AGE_MS, age, COLLSOCK_A_GROUP_PAD) ||
	    !dump_put_owner(skb, gi))
		return false;
	coll_report_constants(&report, &gi->group, &gi->request);
	coll_instance_lock(gi);
	coll_report_state(&report, &gi->group);
	stats = gi->group.stats;
	coll_instance_unlock(gi);
	coll_report_stats(&report, &stats);
	return !report.full;
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

static int dump_put_host(struct sk_buff *skb, struct netlink_callback *cb,
			 const struct coll_instance *gi, u32 host)
{
	const struct collsock_member *m = &gi->members->member[host];
	void *header = dump_put(skb, cb, COLLSOCK_CMD_HOST_GET);
	struct coll_report report = dump_report(skb);

	if (!header)
		return -EMSGSIZE;
	report.full = nla_put_u32(skb, COLLSOCK_A_HOST_GROUP, gi->handle);
	coll_report_host(&report, &gi->group, host, m, coll_bearer_address_bytes(m));
	return dump_end(skb, header, !report.full);
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

/* May the reader see the process? It may be hidden in /proc (hidepid). RCU read side. */
static bool dump_process_visible(struct netlink_callback *cb, struct task_struct *task)
{
	return dump_state(cb)->processes ||
	       uid_eq(task_uid(task), NETLINK_CREDS(cb->skb)->uid);
}

/*
 * The process that joined. It is 0 if that process has ended: another one may hold the socket, and
 * a third one may have got its pid. It is also 0 if the reader may not see the process, or has no
 * pid for it in its pid namespace.
 */
static pid_t dump_pid(struct netlink_callback *cb, const struct coll_sock *csk)
{
	struct task_struct *task;
	pid_t pid = 0;

	rcu_read_lock();
	task = csk ? pid_task(csk->pid, PIDTYPE_TGID) : NULL;
	if (task && dump_process_visible(cb, task))
		pid = pid_vnr(csk->pid);
	rcu_read_unlock();
	return pid;
}

static int dump_put_rank(struct sk_buff *skb, struct netlink_callback *cb,
			 const struct coll_instance *gi, u32 local)
{
	void *header = dump_put(skb, cb, COLLSOCK_CMD_RANK_GET);
	pid_t pid = dump_pid(cb, gi->local_members[local].csk);
	struct coll_report report = dump_report(skb);

	if (!header)
		return -EMSGSIZE;
	report.full = nla_put_u32(skb, COLLSOCK_A_RANK_GROUP, gi->handle) ||
		      (pid && nla_put_u32(skb, COLLSOCK_A_RANK_PID, pid));
	coll_report_rank(&report, &gi->group.ranks.local[local]);
	return dump_end(skb, header, !report.full);
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

static int dump_put_peer(struct sk_buff *skb, struct netlink_callback *cb,
			 const struct coll_instance *gi, const struct coll_peer *peer)
{
	void *header = dump_put(skb, cb, COLLSOCK_CMD_PEER_GET);
	struct coll_report report = dump_report(skb);

	if (!header)
		return -EMSGSIZE;
	report.full = nla_put_u32(skb, COLLSOCK_A_PEER_GROUP, gi->handle);
	coll_report_peer(&report, peer, ktime_get_ns());
	return dump_end(skb, header, !report.full);
}

/**
 * struct dump_peers - the connections to the lowest hosts of those that were looked at
 * @peer: a ring of them, in descending order of hosts
 * @first: where the ring begins
 * @count: number of them
 */
struct dump_peers {
	const struct coll_peer	*peer[BATCH];
	u32			first;
	u32			count;
};

static const struct coll_peer **dump_peer_at(struct dump_peers *lowest, u32 at)
{
	return &lowest->peer[(lowest->first + at) % BATCH];
}

/*
 * Keep a connection if its host is among the lowest. The list of connections begins with the one
 * opened last. So if they were opened in the order of hosts, each one is added at the end of the
 * ring.
 */
static void dump_keep_peer(struct dump_peers *lowest, const struct coll_peer *peer)
{
	u32 at;

	if (lowest->count == BATCH) {
		if (peer->host > (*dump_peer_at(lowest, 0))->host)
			return;
		lowest->first++;
		lowest->count--;
	}
	for (at = lowest->count; at && (*dump_peer_at(lowest, at - 1))->host < peer->host; at--)
		*dump_peer_at(lowest, at) = *dump_peer_at(lowest, at - 1);
	*dump_peer_at(lowest, at) = peer;
	lowest->count++;
}

/* Find the connections to the lowest hosts from that one on, at most BATCH, in one walk. */
static void dump_find_peers(const struct coll_group *g, u32 from, struct dump_peers *lowest)
{
	const struct coll_peer *peer;

	for (peer = g->peers.all; peer; peer = peer->all)
		if (peer->host >= from)
			dump_keep_peer(lowest, peer);
}

/*
 * Report connections in the order of hosts, since the list changes as connections open and are
 * released.
 */
static int dump_tell_peers(struct sk_buff *skb, struct netlink_callback *cb,
			   struct coll_instance *gi)
{
	struct dump_state *state = dump_state(cb);
	struct dump_peers lowest = { .count = 0 };
	const struct coll_peer *peer;
	int err = 0;
	u32 left;

	coll_instance_lock(gi);
	dump_find_peers(&gi->group, state->next, &lowest);
	for (left = lowest.count; !err && left; left--) {
		peer = *dump_peer_at(&lowest, left - 1);
		err = dump_put_peer(skb, cb, gi, peer);
		if (!err)
			state->next = peer->host + 1;
	}
	coll_instance_unlock(gi);
	return err ?: lowest.count == BATCH ? -EAGAIN : 0;
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

static int dump_tell_operation(struct sk_buff *skb, struct netlink_callback *cb,
			       const struct coll_instance *gi, const struct coll_op *op)
{
	void *header = dump_put(skb, cb, COLLSOCK_CMD_OPERATION_GET);
	struct coll_report report = dump_report(skb);

	if (!header)
		return -EMSGSIZE;
	report.full = nla_put_u32(skb, COLLSOCK_A_OPERATION_GROUP, gi->handle);
	coll_report_operation(&report, &gi->group, op, ktime_get_ns());
	return dump_end(skb, header, !report.full);
}

/* Report operations; state->next counts from state->oldest. */
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

/* The result of a dump that may not look at groups: a message without content, or an error. */
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
			!(k->from.scope_id &&
			  nla_put_u32(skb, COLLSOCK_A_EARLY_PACKET_SCOPE_ID,
				      k->from.scope_id)));
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

/*
 * May the reader see this user? In the initial namespace it sees all users that are mapped in its
 * user namespace, elsewhere only itself.
 */
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
	/* U32_MAX is not the number of a user. */
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
