// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "user_member.h"
#include "user_post.h"

/* Batches of packets that one call receives; the rest has to wait for its turn. */
#define MOST_BATCHES	4

u64 user_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

/* ---- life ---- */

static void member_set_up_locks(struct user_member *m)
{
	pthread_condattr_t monotonic;

	pthread_mutex_init(&m->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&m->waiters.changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

static void member_close_files(struct user_member *m)
{
	if (m->alarm.epoll >= 0)
		close(m->alarm.epoll);
	if (m->alarm.timer >= 0)
		close(m->alarm.timer);
}

int user_member_new(struct user_member **made, bool nonblocking)
{
	struct user_member *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return -ENOMEM;
	m->udp.fd = -1;
	m->deadline = COLL_NEVER;
	m->linger.until_ns = COLL_NEVER;
	m->alarm.expires_ns = COLL_NEVER;
	m->handle.exposed = nonblocking;
	INIT_LIST_HEAD(&m->link);
	m->alarm.epoll = epoll_create1(EPOLL_CLOEXEC);
	m->alarm.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	err = m->alarm.epoll < 0 || m->alarm.timer < 0 ? -errno :
	      user_pipe_open(&m->pipe, nonblocking);
	if (err) {
		member_close_files(m);
		free(m);
		return err;
	}
	member_set_up_locks(m);
	*made = m;
	return 0;
}

static bool member_has_group(const struct user_member *m)
{
	return m->state == USER_JOINED || m->state == USER_LINGERING;
}

void user_member_die(struct user_member *m)
{
	coll_group_destroy(&m->group);
	user_slots_free(&m->slots);
	user_udp_free(&m->udp);
	user_pipe_close(&m->pipe);
	member_close_files(m);
	free(m->raw.data);
	free(m->request.members);
	free(m->request.host_of_rank);
	/* It contains a key. */
	explicit_bzero(m, sizeof(*m));
	m->dead = true;
}

void user_member_free(struct user_member *m)
{
	user_member_die(m);
	free(m);
}

/* ---- events ---- */

u64 user_member_begin(struct user_member *m)
{
	m->event.now = user_clock_ns();
	return m->event.now;
}

/* Report that a filter of this host refused a packet, or that a queue of this host is full. */
static void member_report_unsent(struct user_member *m, const struct user_udp_unsent *u)
{
	switch (u->error) {
	case EPERM:
	case EACCES:
		m->net.send_refused++;
		coll_group_send_refused(&m->group, u->host);
		break;
	case EAGAIN:
	case ENOBUFS:
		m->net.send_buffer_full++;
		coll_group_send_congested(&m->group, u->host);
		break;
	default:
		m->net.no_route++;
	}
}

static void member_transmit(struct user_member *m)
{
	u32 i;

	user_udp_flush(&m->udp);
	for (i = 0; i < m->udp.unsent_count; i++)
		member_report_unsent(m, &m->udp.unsent[i]);
	m->udp.unsent_count = 0;
}

/* Do the work that an event has left at once: nobody else waits for this thread. */
static void member_run(struct user_member *m)
{
	do {
		member_transmit(m);
		if (!m->event.turn)
			continue;
		m->event.turn = false;
		coll_group_run(&m->group, m->event.now);
	} while (m->event.turn || m->udp.count);
}

/* The group has failed for this rank: report that once. */
static void member_report_failure(struct user_member *m)
{
	const struct coll_failure *f = &m->group.failure.what;

	if (m->failed || m->left || !coll_group_ended(&m->group, 0) ||
	    coll_group_settling(&m->group) ||
	    user_slots_have(&m->slots, USER_SLOT_POSTED, USER_SLOT_POSTED))
		return;
	m->failed = true;
	user_slots_report(&m->slots, coll_failure_error(f), f->rank, m->event.now);
	m->event.woken = true;
}

/* ---- posts of the program's descriptor ---- */

static void member_leave_group(struct user_member *m)
{
	if (m->left)
		return;
	m->left = true;
	coll_group_leave(&m->group, 0, m->event.now);
	m->event.woken = true;
}

/*
 * Post what the program has sent to its descriptor. If the program has shut it down, the rank
 * leaves, as with a socket of the kernel. If the program has closed it, the rank leaves once
 * everything sent is posted.
 */
static void member_read_posts(struct user_member *m)
{
	struct user_raw *raw = &m->raw;

	while (!m->left && !m->pipe.ended) {
		if (!raw->waits)
			raw->bytes = user_pipe_read(&m->pipe, raw->data, raw->room);
		if (raw->bytes == -EPIPE || (raw->bytes < 0 && m->handle.closed))
			member_leave_group(m);
		if (raw->bytes < 0)
			return;
		raw->waits = user_post_raw(m, raw->data, raw->bytes) == -EAGAIN;
		if (raw->waits)
			return;
	}
	/* The group has failed. */
	if (m->handle.closed)
		member_leave_group(m);
}

/* ---- the end of an event ---- */

/* The program's descriptor: watch what the library's end can do. */
static void member_watch_pipe(struct user_member *m)
{
	bool reads = !m->raw.waits && !m->left && !m->handle.closed && !m->pipe.ended;
	struct epoll_event e = { .events = reads ? EPOLLIN : 0 };
	int operation = EPOLL_CTL_DEL;

	if (!list_empty(&m->slots.ready))
		e.events |= EPOLLOUT;
	if (e.events)
		operation = m->pipe.watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
	if (m->pipe.inner >= 0 && e.events != m->pipe.watched)
		epoll_ctl(m->alarm.epoll, operation, m->pipe.inner, &e);
	m->pipe.watched = e.events;
}

/* Completions that no call waits for go to the descriptor, unless that is closed. */
static void member_push(struct user_member *m)
{
	struct user_slot *slot, *next;

	list_for_each_entry_safe(slot, next, &m->slots.ready, link) {
		if (!m->handle.closed && user_post_push(m, slot))
			break;
		list_del(&slot->link);
		user_slots_release(&m->slots, slot);
		m->event.woken = true;
	}
	if (user_member_at_end(m))
		user_pipe_end(&m->pipe);
	member_watch_pipe(m);
}

static void member_retire(struct user_member *m)
{
	if (m->state != USER_LINGERING ||
	    !((m->left && coll_group_quiet(&m->group)) ||
	      (m->linger.overdue && m->linger.until_ns <= m->event.now)))
		return;
	coll_timewait_set(&m->group, &m->timewait, m->event.now);
	coll_group_destroy(&m->group);
	memset(&m->group, 0, sizeof(m->group));
	user_pipe_close(&m->pipe);
	m->state = USER_TIMEWAIT;
	m->linger.until_ns = COLL_NEVER;
	m->deadline = m->timewait.until_ns;
	m->event.woken = true;
}

/* Have threads that wait check again. The one that drives sleeps until a packet comes. */
static void member_wake(struct user_member *m)
{
	const struct user_wait *driver = m->waiters.driver;

	pthread_cond_broadcast(&m->waiters.changed);
	if (driver && (m->handle.closed || driver->ready(m, driver->what)))
		user_udp_interrupt(&m->udp);
}

void user_member_settle(struct user_member *m)
{
	if (member_has_group(m)) {
		if (m->raw.waits || m->handle.closed)
			member_read_posts(m);
		member_run(m);
		member_report_failure(m);
		member_push(m);
		member_retire(m);
	}
	if (m->event.woken)
		member_wake(m);
	m->event.woken = false;
}

/* ---- packets ---- */

static void member_refuse(struct user_member *m, enum coll_refusal refusal)
{
	switch (refusal) {
	case COLL_FORGED:
		m->net.forged++;
		break;
	case COLL_WRONG_DESCRIPTOR:
		m->net.wrong_descriptor++;
		break;
	case COLL_UNKNOWN_GROUP:
		m->net.unknown_group++;
		break;
	case COLL_WRONG_SOURCE:
		m->net.wrong_source++;
		break;
	case COLL_TOO_LONG:
		m->net.too_long++;
		break;
	case COLL_ACCEPTED:
		break;
	}
}

static const struct coll_secret *member_secret(const struct user_member *m)
{
	return m->state == USER_TIMEWAIT ? &m->timewait.secret : &m->group.secret;
}

static u32 member_self(const struct user_member *m)
{
	return m->state == USER_TIMEWAIT ? m->timewait.self : m->group.self;
}

/* Does the packet come from the address of its source, and is that another host? */
static bool member_is_from(const struct user_member *m, const struct user_udp_arrival *a,
			   u32 source)
{
	return coll_endpoint_may_be_from(source, member_self(m), m->request.join.hosts) &&
	       user_address_is(a->from, &m->request.members[source]);
}

static void member_answer(struct user_member *m, const struct user_udp_arrival *a)
{
	u32 source = coll_wire_source(a->packet), bytes;
	bool from_member = member_is_from(m, a, source);
	u8 answer[COLL_TIMEWAIT_ANSWER] __aligned(8);
	enum coll_refusal refusal;

	refusal = coll_endpoint_receive(&m->timewait, from_member, a->packet, a->bytes, answer,
					&bytes);
	member_refuse(m, refusal);
	if (refusal != COLL_ACCEPTED || !bytes)
		return;
	m->net.timewait_answered++;
	memcpy(user_udp_blank(&m->udp, bytes), answer, bytes);
	user_udp_send(&m->udp, source, &m->request.members[source]);
	user_udp_flush(&m->udp);
	m->udp.unsent_count = 0;
}

static void member_take(struct user_member *m, const struct user_udp_arrival *a)
{
	struct coll_group *g = &m->group;
	u32 source = coll_wire_source(a->packet);

	if (coll_wire_tag(a->packet) != member_secret(m)->tag ||
	    coll_wire_destination(a->packet) != member_self(m))
		member_refuse(m, COLL_UNKNOWN_GROUP);
	else if (m->state == USER_TIMEWAIT)
		member_answer(m, a);
	else if (a->bytes > g->payload.packet_bytes)
		member_refuse(m, COLL_TOO_LONG);
	else if (!member_is_from(m, a, source))
		member_refuse(m, COLL_WRONG_SOURCE);
	else
		member_refuse(m, coll_group_receive(g, source, a->packet, a->bytes, a->ce,
						    m->event.now));
}

/* Such packets are rare, and change much: their MAC is checked first, as in the kernel. */
static void member_take_other_version(struct user_member *m, const struct user_udp_arrival *a)
{
	u32 source = coll_wire_source(a->packet);

	m->net.other_version++;
	if (!member_has_group(m) || a->bytes > m->group.payload.packet_bytes ||
	    coll_wire_tag(a->packet) != m->group.secret.tag ||
	    coll_wire_destination(a->packet) != m->group.self || !member_is_from(m, a, source) ||
	    !coll_wire_authentic_any(a->packet, a->bytes, &m->group.secret.mac))
		return;
	coll_group_receive_other_version(&m->group, source, a->packet, a->bytes, m->event.now);
}

/* Nothing that is read here is trusted before coll_group_receive() has checked the MAC. */
static void member_receive(void *ctx, const struct user_udp_arrival *a)
{
	struct user_member *m = ctx;

	m->net.packets++;
	if (coll_wire_formed(a->packet, a->bytes))
		member_take(m, a);
	else if (a->bytes <= COLL_WIRE_MAX && coll_wire_other_version(a->packet, a->bytes))
		member_take_other_version(m, a);
	else if (a->bytes <= COLL_WIRE_MAX && coll_wire_unknown(a->packet, a->bytes))
		m->net.unknown_type++;
	else
		m->net.malformed++;
}

/*
 * The event's time is read after packets were received: they were sent before it, so no operation
 * ends at an earlier time than others have posted it.
 */
static void member_receive_all(struct user_member *m)
{
	u32 batch, count;

	for (batch = 0; batch < MOST_BATCHES; batch++) {
		count = user_udp_receive(&m->udp);
		user_member_begin(m);
		user_udp_take_all(&m->udp, count, member_receive, m);
		if (count && member_has_group(m))
			member_run(m);
		if (count < USER_UDP_BATCH)
			return;
	}
}

/* ---- time ---- */

static void member_linger(struct user_member *m)
{
	if (m->state != USER_LINGERING || m->linger.until_ns > m->event.now || m->linger.overdue)
		return;
	/* Fail what is incomplete, and notify the other hosts. Posts that still wait are lost. */
	m->linger.overdue = true;
	member_leave_group(m);
	m->linger.until_ns = m->event.now + USER_TELL_LINGER_MS * NSEC_PER_MSEC;
	coll_group_give_up(&m->group, m->event.now);
}

static void member_expire(struct user_member *m)
{
	if (m->state == USER_TIMEWAIT) {
		if (coll_timewait_over(&m->timewait, m->event.now))
			m->state = USER_OVER;
		return;
	}
	if (m->deadline <= m->event.now) {
		m->deadline = COLL_NEVER;
		coll_group_expire(&m->group, m->event.now);
	}
	member_linger(m);
}

/*
 * Can the post that waits be tried again, since completions were pushed meanwhile? If no more
 * completions follow, trying is useless, but a member that is closed then leaves.
 */
static bool member_may_post(struct user_member *m)
{
	if (!member_has_group(m) || !m->raw.waits || m->left)
		return false;
	if (m->pipe.ended)
		return m->handle.closed;
	return user_slots_find_free(&m->slots) && coll_group_writable(&m->group, 0);
}

u64 user_member_due(struct user_member *m)
{
	return member_may_post(m) ? m->event.now : min(m->deadline, m->linger.until_ns);
}

void user_member_progress(struct user_member *m)
{
	if (!user_member_is_alive(m))
		return;
	member_receive_all(m);
	member_expire(m);
	user_member_settle(m);
}

void user_member_arrive(struct user_member *m, u32 bytes)
{
	if (!user_member_is_alive(m))
		return;
	user_member_begin(m);
	user_udp_take(&m->udp, bytes, member_receive, m);
	member_expire(m);
	user_member_settle(m);
}

void user_member_attend(struct user_member *m)
{
	if (!user_member_is_alive(m))
		return;
	user_member_begin(m);
	if (m->state == USER_JOINED)
		member_read_posts(m);
	member_expire(m);
	user_member_settle(m);
}

/* ---- the end ---- */

void user_member_abandon(struct user_member *m, u32 linger_ms)
{
	u64 end = user_member_begin(m) + linger_ms * NSEC_PER_MSEC;

	m->handle.closed = true;
	if (m->state == USER_NEW)
		m->state = USER_OVER;
	if (m->state == USER_LINGERING)
		m->linger.until_ns = min(m->linger.until_ns, end);
	if (m->state != USER_JOINED)
		return;
	m->state = USER_LINGERING;
	m->linger.until_ns = end;
	member_read_posts(m);
	user_member_settle(m);
}
