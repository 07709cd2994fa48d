// SPDX-License-Identifier: GPL-2.0
/*
 * The core's platform in the kernel: implements core/env.h. All functions are called
 * between coll_instance_enter() and coll_instance_leave(), except coll_env_bearer(), those
 * that charge, allocate and free, and those for vector instructions.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#ifdef CONFIG_X86_64
#include <asm/fpu/api.h>
#endif

#include "backlog.h"
#include "bearer.h"
#include "completion.h"
#include "drop.h"
#include "env.h"
#include "event.h"
#include "instance.h"
#include "netns.h"
#include "outbox.h"
#include "socket.h"
#include "trace.h"

/* Slack of a deadline in ns, so that it can share another timer's interrupt */
#define DEADLINE_SLACK_NS	(10 * NSEC_PER_USEC)

/* An event reports a message that was sent this often without acknowledgment. */
#define LOSSY_TRIES	4

/**
 * struct env_peer - a peer of the core, and the route to it
 * @peer: the core's part
 * @route: of its packets; protected by the group's lock
 */
struct env_peer {
	struct coll_peer	peer;
	union coll_route	route;
};

/* The instance of a group of the core, which calls with the instance's lock held. */
static struct coll_instance *env_instance(struct coll_group *g)
{
	struct coll_instance *gi = coll_instance_of(g);

	lockdep_assert_held(&gi->lock);
	return gi;
}

bool coll_env_charge(struct coll_group *g, size_t bytes)
{
	return coll_instance_charge(coll_instance_of(g), bytes);
}

void *coll_env_alloc(size_t bytes)
{
	return kvzalloc(bytes, GFP_KERNEL_ACCOUNT);
}

void coll_env_free(void *memory)
{
	kvfree(memory);
}

/* A cache for peers: kmalloc() would take half as much memory again for each of them. */
static struct kmem_cache *env_peers;

/**
 * coll_env_init() - make the cache for peers
 *
 * Return: 0 or -ENOMEM. Context: module init.
 */
int __init coll_env_init(void)
{
	env_peers = KMEM_CACHE(env_peer, SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT);
	return env_peers ? 0 : -ENOMEM;
}

/**
 * coll_env_uninit() - undo coll_env_init()
 *
 * Context: module exit; there are no groups any more.
 */
void coll_env_uninit(void)
{
	kmem_cache_destroy(env_peers);
}

struct coll_peer *coll_env_peer_new(struct coll_group *g)
{
	struct env_peer *e = kmem_cache_zalloc(env_peers, GFP_KERNEL);

	return e ? &e->peer : NULL;
}

void coll_env_peer_free(struct coll_peer *peer)
{
	struct env_peer *e = container_of(peer, struct env_peer, peer);

	coll_bearer_route_drop(&e->route);
	kmem_cache_free(env_peers, e);
}

void coll_env_peer_open(struct coll_peer *peer)
{
	atomic_inc(&coll_instance_of(peer->group)->cn->peers);
	trace_coll_peer_opened(peer);
	coll_event_peer(peer, COLLSOCK_EVENT_PEER_OPENED, 0);
}

void coll_env_peer_idle(struct coll_peer *peer)
{
	union coll_route none = { };

	atomic_dec(&coll_instance_of(peer->group)->cn->peers);
	trace_coll_peer_idle(peer);
	coll_event_peer(peer, COLLSOCK_EVENT_PEER_IDLE, 0);
	/*
	 * A packet that was numbered before the connection was idle may only now be on its way by
	 * the route. Without memory the route stays until another one replaces it.
	 */
	coll_bearer_route_replace(&container_of(peer, struct env_peer, peer)->route, &none);
}

/* As COLL_BEARER_HEADROOM says, unless cache lines or arrays of fragments are unusually long */
static_assert(MAX_SKB_FRAGS > 17 || SMP_CACHE_BYTES > 64 ||
	      COLL_BEARER_ROOM(COLL_WIRE_MIN) <= 512);

struct coll_blank coll_env_packet(struct coll_group *g, u32 bytes)
{
	struct sk_buff *skb = coll_bearer_packet(bytes);

	return (struct coll_blank) {
		.packet	= (struct coll_packet *)skb,
		.data	= likely(skb) ? skb->data : NULL,
	};
}

static noinline void env_queue_unaddressed(struct coll_instance *gi, union coll_route *route,
					   struct sk_buff *skb, const struct collsock_member *to,
					   int err)
{
	if (err == -EAGAIN)
		coll_outbox_add_unaddressed(&gi->unaddressed, skb, gi->owner, route, to,
					    to == &gi->everyone);
	else
		coll_drop_unsent(gi->cn->counters, skb, err);
}

/* Queue a packet, which leaves after the event. @err is from coll_bearer_address(). */
static __always_inline void env_queue(struct coll_instance *gi, union coll_route *route,
				      struct sk_buff *skb, const struct collsock_member *to,
				      int err)
{
	if (unlikely(err)) {
		env_queue_unaddressed(gi, route, skb, to, err);
		return;
	}
	if (trace_coll_packet_sent_enabled())
		coll_outbox_trace_sent(skb);
	coll_outbox_add(&gi->outbox, skb);
}

void coll_env_transmit(struct coll_peer *peer, struct coll_packet *packet)
{
	struct env_peer *e = container_of(peer, struct env_peer, peer);
	struct coll_instance *gi = env_instance(peer->group);
	const struct collsock_member *to = &gi->members->member[peer->host];
	struct sk_buff *skb = (struct sk_buff *)packet;

	if (unlikely(peer->conn.fragments))
		skb->ignore_df = true;
	env_queue(gi, &e->route, skb, to,
		  coll_bearer_address(&gi->cn->bearers, &e->route, skb, gi->owner,
				      coll_instance_self(gi), to));
}

void coll_env_multicast(struct coll_group *g, struct coll_packet *packet)
{
	struct sk_buff *skb = (struct sk_buff *)packet;
	struct coll_instance *gi = env_instance(g);

	env_queue(gi, &gi->to_everyone, skb, &gi->everyone,
		  coll_bearer_address_all(&gi->cn->bearers, &gi->to_everyone, skb, gi->owner,
					  coll_instance_self(gi), &gi->everyone));
}

void coll_env_run_soon(struct coll_group *g)
{
	coll_instance_queue(env_instance(g), COLL_TURN_REST);
}

u32 coll_env_queued(struct coll_group *g)
{
	return sk_wmem_alloc_get(coll_instance_of(g)->owner);
}

void coll_env_deadline(struct coll_group *g, u64 at)
{
	hrtimer_start_range_ns(&env_instance(g)->timer, ns_to_ktime(at), DEADLINE_SLACK_NS,
			       HRTIMER_MODE_ABS_SOFT);
}

static noinline void env_trace_complete(struct coll_group *g, u32 local, u64 number, u32 bytes,
					u32 error, u32 failed_rank)
{
	trace_coll_complete(g, local, number, bytes, error, failed_rank);
}

u8 *coll_env_exchange(struct coll_group *g, u32 local, void *token, const void *payload,
		      u8 *buffer)
{
	struct coll_completion *slot = token;
	u8 *own;

	/* The slots of a closed socket are freed. */
	if (!env_instance(g)->local_members[local].csk)
		return NULL;
	own = slot->buffer;
	if (payload && payload != own)
		return NULL;
	slot->buffer = buffer;
	return own;
}

struct coll_result *coll_env_result_take(struct coll_group *g, u32 local, void *token, u32 bytes)
{
	struct coll_completion *slot = token;
	struct coll_shared_result *result = slot->shared;

	slot->shared = NULL;
	return &result->core;
}

void coll_env_result_share(struct coll_group *g, u32 local, void *token,
			   struct coll_result *result)
{
	struct coll_shared_result *shared = container_of(result, struct coll_shared_result, core);

	/* The slots of a closed socket are freed. */
	if (!env_instance(g)->local_members[local].csk)
		return;
	coll_shared_result_get(shared);
	coll_completion_share(token, shared);
}

void coll_env_result_put(struct coll_group *g, struct coll_result *result)
{
	coll_shared_result_put(container_of(result, struct coll_shared_result, core));
}

void coll_env_complete(struct coll_group *g, u32 local, u64 number, void *token,
		       const void *result, u32 bytes, u32 error, u32 failed_rank)
{
	struct coll_instance *gi = env_instance(g);
	struct coll_local_member *lm = &gi->local_members[local];
	struct coll_sock *csk = lm->csk;
	struct coll_completion *slot = token;
	struct coll_completions *slots;

	if (trace_coll_complete_enabled())
		env_trace_complete(g, local, number, bytes, error, failed_rank);
	/* Send no event for a post to a group that has failed: a program could cause any number. */
	if (unlikely(error) && number < g->ranks.local[local].next)
		coll_event_operation_failed(gi, number, failed_rank, error);
	/* The socket that posted it is closed, and its slots are freed. */
	if (!csk)
		return;
	slots = csk->slots;
	/*
	 * Do this before the claimant sees DONE: when it releases the slot it wakes threads that
	 * wait for the end.
	 */
	if (unlikely(error))
		coll_instance_set_failed(gi, lm);
	if (slot->quiet && !error) {
		/* This is within its own post, so the end of a socket never waits for it. */
		coll_completion_forget(slots, slot);
		coll_instance_wake(gi, lm, 0, COLL_WAKE_WRITABLE);
	} else {
		coll_completion_finish(slots, slot, result, bytes, error, failed_rank, gi->now);
		if (!slot->claimed)
			coll_instance_wake(gi, lm, 0, COLL_WAKE_READABLE);
		else if (coll_completion_has_sleeper(slot))
			coll_instance_wake(gi, lm, BIT_ULL(coll_completion_index(slots, slot)), 0);
	}
	if (unlikely(!error && g->failure.known))
		coll_instance_report_failure(gi, lm);
}

/* Have each socket report the failure when it is its turn to be woken. */
static noinline void env_report_failure(struct coll_instance *gi)
{
	struct coll_local_member *lm = gi->local_members;

	for (; lm < gi->local_members + gi->group.ranks.locals; lm++)
		if (lm->csk && !lm->csk->failed)
			coll_instance_wake(gi, lm, 0, COLL_WAKE_FAILED);
}

void coll_env_writable(struct coll_group *g)
{
	struct coll_instance *gi = coll_instance_of(g);

	/* Most events make the group writable, and a thread rarely waits for that. */
	while (unlikely(gi->wakes.awaiting)) {
		struct coll_local_member *lm = gi->wakes.awaiting;

		gi->wakes.awaiting = lm->next_awaiting;
		lm->awaits_room = false;
		coll_instance_wake(gi, lm, 0, COLL_WAKE_WRITABLE);
	}
	if (unlikely(g->failure.known))
		env_report_failure(gi);
}

/* Out of line, as tracing needs registers that a round does not. */
static noinline void env_trace_round(struct coll_group *g, u64 number, u32 lane, u32 round)
{
	trace_coll_round(g, number, lane, round);
}

bool coll_env_round(struct coll_group *g, u64 number, u32 lane, u32 round)
{
	if (trace_coll_round_enabled())
		env_trace_round(g, number, lane, round);
	return !WARN_ON_ONCE(coll_backlog_is_needed());
}

#if defined(CONFIG_X86_64) && !defined(CONFIG_PREEMPT_RT)
/*
 * Begin a section. kernel_fpu_begin() saves the registers of the interrupted program, and sets the
 * kernel's own settings. Returns false if the code that was interrupted may itself be such a
 * section.
 */
static bool env_fpu_begin(void)
{
	if (!irq_fpu_usable())
		return false;
	kernel_fpu_begin();
	return true;
}

static void env_fpu_end(void)
{
	kernel_fpu_end();
}
#else
#define env_fpu_begin()	false
#define env_fpu_end()	do { } while (0)
#endif

bool coll_env_vector_begin(void)
{
	return env_fpu_begin();
}

void coll_env_vector_end(void)
{
	env_fpu_end();
}

void coll_env_drop(struct coll_group *g, u32 source, u32 destination,
		   const struct coll_body *body, enum coll_drop drop)
{
	if (trace_coll_packet_dropped_enabled())
		trace_coll_packet_dropped(g->secret.tag, source, destination, body,
					  coll_wire_bytes(body), drop);
}

void coll_env_send_again(const struct coll_message *m)
{
	trace_coll_message_again(m);
	/* A host never heard from may not have joined yet. */
	if (m->tries == LOSSY_TRIES && m->peer->conn.incarnation &&
	    m->head->type == COLL_PACKET_MESSAGE)
		coll_event_peer(m->peer, COLLSOCK_EVENT_PEER_LOSSY, m->head->number);
}

void coll_env_failure(struct coll_group *g)
{
	trace_coll_group_failed(g);
	coll_event_group_failed(env_instance(g));
}

const struct coll_bearer *coll_env_bearer(u16 family)
{
	return coll_bearer_of(family);
}
