// SPDX-License-Identifier: GPL-2.0
#include <linux/ktime.h>
#include <linux/sched/signal.h>

#include "instance.h"
#include "netns.h"
#include "spin.h"

/**
 * struct spin - a call that spins
 * @slot: its operation
 * @csk: its socket
 * @until: when it gives up, in ns
 * @polls_until: until when it may poll
 * @at: which id of the group is next
 * @id: the one that is polled now
 * @slice_until: until when
 * @exists: there is such a queue
 */
struct spin {
	const struct coll_completion	*slot;
	struct coll_sock		*csk;
	u64				until;
	u64				polls_until;
	u32				at;
	u32				id;
	u64				slice_until;
	bool				exists;
};

static bool spin_is_over(const struct spin *spin, u64 until)
{
	return coll_completion_ended(spin->slot) || signal_pending(current) ||
	       ktime_get_ns() >= until;
}

#ifdef CONFIG_NET_RX_BUSY_POLL
/*
 * How long one of several queues is polled. Beginning and ending costs about a microsecond, and
 * interrupts of the other queues may be delayed until it is their turn.
 */
#define SPIN_SLICE_NS	(10 * NSEC_PER_USEC)

static u64 spin_polls_until(const struct coll_sock *csk, u64 now)
{
	return now + (u64)READ_ONCE(csk->sk.sk_ll_usec) * NSEC_PER_USEC;
}

/*
 * Is the slice over? Called after each poll, and also while another thread polls the queue, which
 * serves this call just as well. Bottom halves are enabled, but the process does not sleep;
 * napi_busy_loop() gives way to others where a process should.
 */
static bool spin_slice_is_over(void *arg, unsigned long start_time)
{
	struct spin *spin = arg;

	spin->exists = true;
	return spin_is_over(spin, spin->slice_until) ||
	       READ_ONCE(spin->csk->instance->napi.id[spin->at]) != spin->id;
}

/* Position of the next different id after @at; @at if there is none */
static u32 spin_next(const struct coll_napi *napi, u32 at)
{
	u32 i, next, other, id = READ_ONCE(napi->id[at]);

	for (i = 1; i < COLL_NAPI_IDS; i++) {
		next = (at + i) % COLL_NAPI_IDS;
		other = READ_ONCE(napi->id[next]);
		if (other && other != id)
			return next;
	}
	return at;
}

/* Poll the present queue. Returns false if it is gone. */
static bool spin_poll_queue(struct spin *spin)
{
	const struct sock *sk = &spin->csk->sk;

	spin->exists = false;
	napi_busy_loop(spin->id, spin_slice_is_over, spin, READ_ONCE(sk->sk_prefer_busy_poll),
		       READ_ONCE(sk->sk_busy_poll_budget) ?: BUSY_POLL_BUDGET);
	return spin->exists;
}

/* Poll a queue for its slice, or for all the time if it is the only one. */
static bool spin_poll(struct spin *spin, u64 now)
{
	struct coll_instance *gi = spin->csk->instance;
	u64 until = min(spin->until, spin->polls_until);
	struct coll_napi *napi = &gi->napi;
	u32 next;

	if (now >= until)
		return false;
	if (!READ_ONCE(napi->id[spin->at]))
		spin->at = spin_next(napi, spin->at);
	spin->id = READ_ONCE(napi->id[spin->at]);
	if (!spin->id)
		return false;
	next = spin_next(napi, spin->at);
	spin->slice_until = next == spin->at ? until : min(until, now + SPIN_SLICE_NS);
	if (spin_poll_queue(spin)) {
		local_bh_disable();
		coll_counters_add(gi->cn->counters, COLL_COUNT_BUSY_POLLS);
		local_bh_enable();
	} else {
		cmpxchg(&napi->id[spin->at], spin->id, 0);
	}
	spin->at = next;
	return true;
}
#else
#define spin_polls_until(csk, now)	(now)
#define spin_poll(spin, now)		false
#endif

/**
 * coll_spin() - spin until a claimed operation has ended, a signal is pending, or time has run out
 * @csk: the socket, which has joined
 * @slot: of the socket, claimed by the caller
 * @us: for how long
 *
 * It gives way to others where a system call should.
 *
 * Return: has it ended? Context: process; no lock held.
 */
bool coll_spin(struct coll_sock *csk, const struct coll_completion *slot, u32 us)
{
	u64 now = ktime_get_ns();
	struct spin spin = {
		.slot		= slot,
		.csk		= csk,
		.until		= now + us * NSEC_PER_USEC,
		.polls_until	= spin_polls_until(csk, now),
	};

	while (!spin_is_over(&spin, spin.until)) {
		if (!spin_poll(&spin, ktime_get_ns()))
			cpu_relax();
		cond_resched();
	}
	return coll_completion_ended(slot);
}
