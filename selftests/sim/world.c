// SPDX-License-Identifier: GPL-2.0
#include <malloc.h>
#include <stdlib.h>

#include "../../kernel/eth_bearer.h"
#include "../../kernel/udp_bearer.h"
#include "world.h"
#include "world_bearer.h"
#include "world_buffers.h"
#include "world_memory.h"

/* ---- time ---- */

static bool event_before(const struct world_event *a, const struct world_event *b)
{
	return a->at < b->at || (a->at == b->at && a->order < b->order);
}

/* A heap of four children for each entry, which is flatter than one of two. */
static void heap_add(struct world *w, struct world_event e)
{
	u32 i = w->pending++;

	if (i == w->room) {
		w->room = w->room ? 2 * w->room : 256;
		w->events = realloc(w->events, w->room * sizeof(*w->events));
	}
	while (i && event_before(&e, &w->events[(i - 1) / 4])) {
		w->events[i] = w->events[(i - 1) / 4];
		i = (i - 1) / 4;
	}
	w->events[i] = e;
}

static struct world_event heap_take(struct world *w)
{
	struct world_event first = w->events[0], e = w->events[--w->pending];
	u32 i = 0, child, k;

	for (;;) {
		const u32 eldest = 4 * i + 1;

		if (eldest >= w->pending)
			break;
		child = eldest;
		for (k = eldest + 1; k < min(eldest + 4, w->pending); k++)
			if (event_before(&w->events[k], &w->events[child]))
				child = k;
		if (!event_before(&w->events[child], &e))
			break;
		w->events[i] = w->events[child];
		i = child;
	}
	w->events[i] = e;
	return first;
}

void world_at(struct world *w, u64 at, world_action run, void *what)
{
	heap_add(w, (struct world_event){ max(at, w->now), w->order++, run, what });
}

bool world_step(struct world *w, u64 until)
{
	struct world_event e;

	if (!w->pending || w->events[0].at > until) {
		if (until != COLL_NEVER)
			w->now = max(w->now, until);
		return false;
	}
	e = heap_take(w);
	w->now = max(w->now, e.at);
	e.run(w, e.what);
	return true;
}

/* ---- a CPU ---- */

struct world_job {
	struct world_job	*next;
	world_action		run;
	void			*what;
};

void world_work(struct world *w, struct world_host *h, u64 ns)
{
	h->busy_ns = max(h->busy_ns, w->now) + ns;
	h->worked_ns += ns;
}

static void cpu_work(struct world *w, struct world_host *h, world_action run, void *what)
{
	world_work(w, h, h->receive_ns);
	run(w, what);
}

static void cpu_free(struct world *w, void *what)
{
	struct world_host *h = what;
	struct world_job *job = h->waiting;

	if (!job)
		return;
	if (h->busy_ns > w->now) {
		world_at(w, h->busy_ns, cpu_free, h);
		return;
	}
	h->waiting = job->next;
	if (!h->waiting)
		h->last = &h->waiting;
	cpu_work(w, h, job->run, job->what);
	free(job);
	if (h->waiting)
		world_at(w, h->busy_ns, cpu_free, h);
}

void world_on_cpu(struct world *w, struct world_host *h, world_action run, void *what)
{
	struct world_job *job;

	if (h->busy_ns <= w->now && !h->waiting) {
		cpu_work(w, h, run, what);
		return;
	}
	if (!h->waiting)
		world_at(w, h->busy_ns, cpu_free, h);
	job = malloc(sizeof(*job));
	*job = (struct world_job){ .run = run, .what = what };
	*h->last = job;
	h->last = &job->next;
}

void world_pause(struct world *w, struct world_host *h, u64 ns, bool deaf)
{
	world_trace(w, "host %u pauses for %llu ms%s", h->id,
		    (unsigned long long)(ns / NSEC_PER_MSEC), deaf ? ", deaf" : "");
	/* Of pauses that begin at the same time the longest counts. */
	h->busy_ns = max(h->busy_ns, w->now + ns);
	if (deaf)
		h->deaf_ns = h->busy_ns;
}

/* ---- the platform of a group ---- */

static struct world_member *member_of(struct coll_group *g)
{
	return container_of(g, struct world_member, group);
}

struct coll_blank coll_env_packet(struct coll_group *g, u32 bytes)
{
	struct world_packet *p = world_packet_new(bytes);

	return (struct coll_blank) { .packet = (struct coll_packet *)p, .data = p->data };
}

void coll_env_transmit(struct coll_peer *peer, struct coll_packet *packet)
{
	struct world_member *m = member_of(peer->group);
	const struct collsock_member *member = m->common->member;
	struct world_packet *p = (struct world_packet *)packet;

	p->from = m->host->id;
	p->to = m->common->host_of[peer->host];
	p->fragments = peer->conn.fragments;
	if (member)
		world_bearer_address(p, &member[m->index], &member[peer->host]);
	world_send(m->world, p);
}

/* Each member has a copy of its own. They are of one transmission. */
void coll_env_multicast(struct coll_group *g, struct coll_packet *packet)
{
	struct world_packet *p = (struct world_packet *)packet, *copy;
	struct world_member *m = member_of(g);
	u32 i;

	p->from = m->host->id;
	world_work(m->world, m->host, m->host->send_ns);
	for (i = 0; i < m->common->join.hosts; i++) {
		if (i == m->index)
			continue;
		copy = world_packet_new(p->bytes);
		memcpy(copy, p, sizeof(*p) + p->bytes);
		copy->to = m->common->host_of[i];
		world_copy(m->world, copy);
	}
	free(p);
}

static void member_destroy(struct world_member *m)
{
	coll_group_destroy(&m->group);
	world_buffers_free(m);
}

static void member_enter_timewait(struct world_member *m)
{
	world_trace(m->world, "host %u: %u enters time-wait", m->host->id, m->index);
	coll_timewait_set(&m->group, &m->timewait, m->world->now);
	m->last_stats = m->group.stats;
	member_destroy(m);
	m->state = WORLD_TIMEWAIT;
	m->timewait_ns = m->world->now;
}

static void member_after(struct world_member *m)
{
	if (m->state == WORLD_JOINED && m->group.ranks.leaving && !m->folds &&
	    coll_group_quiet(&m->group))
		member_enter_timewait(m);
	if (m->world->user->after)
		m->world->user->after(m);
}

static void member_expires(struct world *w, void *what)
{
	struct world_member *m = what;

	if (m->state != WORLD_JOINED || m->deadline > w->now)
		return;
	m->deadline = COLL_NEVER;
	w->expired++;
	if (w->user->before)
		w->user->before(m, NULL);
	coll_group_expire(&m->group, w->now);
	member_after(m);
}

/* Deadlines only move to earlier times; a later one finds nothing to do. */
static void member_timer(struct world *w, void *what)
{
	struct world_member *m = what;

	if (m->state == WORLD_JOINED && m->deadline <= w->now)
		world_on_cpu(w, m->host, member_expires, m);
}

void coll_env_deadline(struct coll_group *g, u64 at)
{
	struct world_member *m = member_of(g);

	m->deadline = at;
	if (at == COLL_NEVER)
		return;
	world_at(m->world, at + world_below(&m->world->random, m->host->late_ns), member_timer, m);
}

static void member_turn(struct world *w, void *what)
{
	struct world_member *m = what;

	if (m->state != WORLD_JOINED || !m->turn)
		return;
	m->turn = false;
	coll_group_run(&m->group, w->now);
	member_after(m);
}

static void member_turn_due(struct world *w, void *what)
{
	struct world_member *m = what;

	if (m->state == WORLD_JOINED)
		world_on_cpu(w, m->host, member_turn, m);
}

static u64 member_turn_at(struct world_member *m)
{
	return m->world->now + world_below(&m->world->random, m->common->turn_ns);
}

void coll_env_run_soon(struct coll_group *g)
{
	struct world_member *m = member_of(g);

	if (!m->turn)
		world_at(m->world, member_turn_at(m), member_turn_due, m);
	m->turn = true;
}

/* A fold outside the lock, by this life of its host, and the payload of the post */
struct member_fold {
	struct world_member	*m;
	u32			incarnation;
	struct coll_fold	fold;
	u8			*payload;
};

static void member_fold_over(struct world *w, void *what)
{
	struct member_fold *f = what;
	struct world_member *m = f->m;

	if (m->state != WORLD_JOINED || m->group.incarnation != f->incarnation) {
		free(f->payload);
		free(f);
		return;
	}
	coll_locals_fold(&f->fold);
	coll_group_folded(&m->group, &f->fold, w->now);
	if (coll_group_take_fold(&m->group, &f->fold)) {
		world_at(w, member_turn_at(m), member_fold_over, f);
	} else {
		m->folds--;
		free(f->payload);
		free(f);
	}
	member_after(m);
}

/* It takes over the payload of the post, which may be what is copied. */
static void member_fold(struct world_member *m, const struct coll_fold *fold, u8 *payload)
{
	struct member_fold *f = malloc(sizeof(*f));

	*f = (struct member_fold) {
		.m		= m,
		.incarnation	= m->group.incarnation,
		.fold		= *fold,
		.payload	= payload,
	};
	m->folds++;
	world_at(m->world, member_turn_at(m), member_fold_over, f);
}

/* Memory of a packet of the default length in the kernel */
#define PACKET_MEMORY	1600

u32 coll_env_queued(struct coll_group *g)
{
	return member_of(g)->host->queued * PACKET_MEMORY;
}

void world_reorder(const struct coll_order *order, u8 *to, const u8 *from, u32 block,
		   bool to_hosts)
{
	u32 rank, run, position;

	for (rank = 0; rank < order->ranks; rank += run) {
		run = coll_order_run(order, rank, &position);
		memcpy(to + (to_hosts ? position : rank) * block,
		       from + (to_hosts ? rank : position) * block, run * block);
	}
}

/* Complete with a whole vector that is in host order. */
static void member_complete_reordered(struct world_member *m, void *token, const void *result,
				      u32 bytes)
{
	const struct coll_order *order = &m->group.ranks.order;
	u8 *vector = malloc(bytes);

	world_reorder(order, vector, result, bytes / order->ranks, false);
	m->world->user->complete(m, token, vector, bytes, 0, COLLSOCK_NO_RANK);
	free(vector);
}

/* Results are copied when operations complete. */
struct coll_result *coll_env_result_take(struct coll_group *g, u32 local, void *token, u32 bytes)
{
	struct coll_result *result = malloc(sizeof(*result) + bytes);

	result->data = (u8 *)(result + 1);
	return result;
}

void coll_env_result_share(struct coll_group *g, u32 local, void *token,
			   struct coll_result *result)
{
}

void coll_env_result_put(struct coll_group *g, struct coll_result *result)
{
	free(result);
}

void coll_env_complete(struct coll_group *g, u32 local, u64 number, void *token,
		       const void *result, u32 bytes, u32 error, u32 failed_rank)
{
	const struct coll_signature *sig = &coll_group_slot(g, number)->head.signature;
	struct world_member *m = member_of(g);

	m->told.number = number - m->common->first;
	if (bytes && !coll_operations[sig->operation].own_out && coll_signature_reordered(g, sig))
		member_complete_reordered(m, token, result, bytes);
	else
		m->world->user->complete(m, token, result, bytes, error, failed_rank);
	world_buffer_release(m, local, token);
}

void coll_env_writable(struct coll_group *g)
{
	struct world_member *m = member_of(g);

	if (m->world->user->writable)
		m->world->user->writable(m);
}

bool coll_env_round(struct coll_group *g, u64 number, u32 lane, u32 round)
{
	member_of(g)->told.rounds++;
	return true;
}

void coll_env_drop(struct coll_group *g, u32 source, u32 destination,
		   const struct coll_body *body, enum coll_drop drop)
{
	member_of(g)->told.drops[drop]++;
}

void coll_env_send_again(const struct coll_message *m)
{
	member_of(m->peer->group)->told.again++;
}

void coll_env_peer_open(struct coll_peer *peer)
{
	member_of(peer->group)->told.open++;
}

void coll_env_peer_idle(struct coll_peer *peer)
{
	struct world_told *told = &member_of(peer->group)->told;

	told->open--;
	told->rested++;
}

void coll_env_failure(struct coll_group *g)
{
	member_of(g)->told.failure = g->failure.what;
}

const struct coll_bearer *coll_env_bearer(u16 family)
{
	static const struct coll_bearer *const bearers[] = {
		&world_bearer, &coll_udp_bearer, &coll_eth_bearer,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bearers); i++)
		if (bearers[i]->carries(family))
			return bearers[i];
	return NULL;
}

/* ---- arrival ---- */

/* There is no instance: not yet, or not any more. */
static enum coll_refusal member_receive_unknown(struct world_member *m,
						const struct world_packet *p,
						const struct coll_prefix *prefix)
{
	struct world_packet *answer = world_packet_new(COLL_TIMEWAIT_ANSWER);
	const struct coll_timewait *t = &m->timewait;
	struct collsock_member from, self;
	enum coll_refusal refusal;

	if (m->state != WORLD_TIMEWAIT || coll_timewait_over(t, m->world->now))
		t = NULL;
	refusal = coll_endpoint_receive(t, true, p->data, p->bytes, answer->data, &answer->bytes);
	if (refusal == COLL_UNKNOWN_GROUP) {
		world_bearer_member(&from, p->from);
		coll_endpoint_note_early(&m->host->early_packets, prefix->tag, prefix->source,
					 &from, m->world->now);
	}
	answer->from = p->to;
	answer->to = p->from;
	if (m->common->member) {
		world_bearer_ends(p, &from, &self);
		world_bearer_address(answer, &self, &from);
	}
	if (answer->bytes)
		world_send(m->world, answer);
	else
		free(answer);
	return refusal;
}

static enum coll_refusal member_receive(struct world_member *m, const struct world_packet *p,
					const struct coll_prefix *prefix)
{
	const struct world_user *user = m->world->user;
	enum coll_refusal refusal;
	u64 before = 0;

	if (m->state != WORLD_JOINED) {
		refusal = member_receive_unknown(m, p, prefix);
		if (p->damaged && user->damaged)
			user->damaged(m, refusal, false);
		return refusal;
	}
	if (p->damaged && user->damaged)
		before = world_digest(m);
	if (user->before)
		user->before(m, p);
	refusal = coll_group_receive(&m->group, prefix->source, p->data, p->bytes, p->ce,
				     m->world->now);
	if (p->damaged && user->damaged)
		user->damaged(m, refusal, before != world_digest(m));
	member_after(m);
	return refusal;
}

/* It is for all members with its tag that live here, and is never answered. */
static void receive_multicast(struct world_host *h, const struct world_packet *p, u64 tag)
{
	const struct world_user *user;
	enum coll_refusal refusal;
	struct world_member *m;
	u64 before = 0;

	for (m = h->members; m; m = m->next) {
		user = m->world->user;
		if (m->common->secret.tag != tag || m->state != WORLD_JOINED)
			continue;
		if (m->world->trace)
			world_trace_packet(m->world, "received", p);
		if (p->damaged && user->damaged)
			before = world_digest(m);
		if (user->before)
			user->before(m, p);
		refusal = coll_group_receive_multicast(&m->group, p->data, p->bytes,
						       m->world->now);
		if (p->damaged && user->damaged)
			user->damaged(m, refusal, before != world_digest(m));
		m->world->forged += refusal != COLL_ACCEPTED;
		member_after(m);
	}
}

static bool member_is_from(const struct world_member *m, const struct world_packet *p, u32 source)
{
	const struct world_group *common = m->common;

	if (!coll_endpoint_may_be_from(source, m->index, common->join.hosts))
		return false;
	return common->member ? world_bearer_is_from(p, &common->member[source]) :
				common->host_of[source] == p->from;
}

static enum coll_refusal receive_other_version(struct world_host *h, const struct world_packet *p)
{
	struct world_member *m = world_find(h, coll_wire_tag(p->data),
					   coll_wire_destination(p->data));
	u32 source = coll_wire_source(p->data);
	enum coll_refusal refusal;

	if (!m || m->state != WORLD_JOINED || !member_is_from(m, p, source))
		return COLL_FORGED;
	refusal = coll_group_receive_other_version(&m->group, source, p->data, p->bytes,
						   m->world->now);
	member_after(m);
	return refusal;
}

/* Form, group, source address: what the platform checks before the core does. */
static void packet_received(struct world *w, void *what)
{
	struct world_packet *p = what;
	struct world_host *h = &w->hosts[p->to];
	enum coll_refusal refusal = COLL_FORGED;
	struct world_member *m = NULL;
	struct coll_prefix prefix;

	if (!h->down && coll_wire_formed(p->data, p->bytes)) {
		coll_wire_read_prefix(p->data, &prefix);
		if (coll_wire_is_multicast(p->data)) {
			receive_multicast(h, p, prefix.tag);
			free(p);
			return;
		}
		m = world_find(h, prefix.tag, prefix.destination);
	} else if (!h->down && coll_wire_other_version(p->data, p->bytes)) {
		refusal = receive_other_version(h, p);
	}
	if (m && member_is_from(m, p, prefix.source)) {
		if (w->trace)
			world_trace_packet(w, "received", p);
		refusal = member_receive(m, p, &prefix);
	}
	w->forged += !h->down && refusal != COLL_ACCEPTED;
	free(p);
}

void world_packet_arrives(struct world *w, void *what)
{
	struct world_packet *p = what;
	struct world_host *h = &w->hosts[p->to];

	if (p->stream)
		p->stream->arrives(w, p);
	if (p->stream || h->down || h->deaf_ns > w->now)
		free(p);
	else
		world_on_cpu(w, h, packet_received, p);
}

/* ---- calls by the user ---- */

/* As if many operations were over, and many packets sent. */
static void member_count_from(struct world_member *m)
{
	const u64 first = m->common->first;
	struct coll_group *g = &m->group;
	struct coll_peer *peer;
	u32 i;

	g->window.next += first;
	g->window.oldest += first;
	g->window.completed += first;
	g->credit.cover_done += first;
	g->credit.acknowledged += first;
	g->credit.floor_operation += first;
	g->credit.floor += first;
	g->credit.common += first;
	for (i = 0; i < g->ranks.locals; i++)
		g->ranks.local[i].next += first;
	for (peer = g->peers.spare; peer; peer = peer->next)
		peer->send.number = m->common->packets;
}

static int member_make(struct world_member *m)
{
	struct world_group *common = m->common;
	struct coll_config config = {
		.join		= &common->join,
		.host_of_rank	= common->host_of_rank,
		.secret		= &common->secret,
		.timing		= common->timing,
		.descriptor	= common->descriptor,
		.self		= m->index,
	};
	int err;

	config.incarnation = (u32)world_random(&m->world->random) | 1;
	memset(&m->group, 0, sizeof(m->group));
	memset(&m->told, 0, sizeof(m->told));
	INIT_LIST_HEAD(&m->memory);
	INIT_LIST_HEAD(&m->buffers);
	m->deadline = COLL_NEVER;
	m->turn = false;
	m->folds = 0;
	world_memory_of(m);
	err = coll_group_init(&m->group, &config);
	world_memory_of(NULL);
	if (common->most_work)
		m->group.work.most = common->most_work;
	if (common->unit)
		m->group.work.unit = common->unit;
	if (!err)
		member_count_from(m);
	m->state = WORLD_JOINED;
	world_trace(m->world, "host %u joins as %u, incarnation %08x", m->host->id, m->index,
		    config.incarnation);
	return err;
}

static void member_notify_join(struct world_member *m)
{
	const struct world_group *common = m->common;
	const struct coll_identity id = { .secret = common->secret, .self = m->index };
	u32 i, host;

	for (i = 0; i < COLL_EARLY_PACKETS; i++)
		if (coll_endpoint_take_early(&m->host->early_packets, i, &id, common->machine,
					     common->join.hosts, &host))
			coll_group_notify_join(&m->group, host, m->world->now);
}

int world_join_rank(struct world_member *m, u32 rank)
{
	bool first = m->state != WORLD_JOINED;
	int local = first ? member_make(m) : 0;

	if (!local)
		local = coll_group_join(&m->group, rank);
	if (first && local >= 0)
		member_notify_join(m);
	return local;
}

/* What a rank contributes, in host order if it is a whole vector */
static void member_copy_payload(struct world_member *m, u8 *copy, const struct coll_signature *sig,
				const void *payload, u32 bytes)
{
	u32 block = coll_signature_reordered(&m->group, sig);

	if (bytes && block && !coll_operations[sig->operation].own_in)
		world_reorder(&m->group.ranks.order, copy, payload, block, true);
	else if (bytes)
		memcpy(copy, payload, bytes);
}

int world_post_rank(struct world_member *m, u32 local, const struct collsock_post *post,
		    const void *payload, u32 bytes, void *token)
{
	bool fits = bytes <= m->group.payload.max_bytes;
	struct coll_fold fold;
	struct coll_signature sig;
	u8 *copy = NULL;
	int err;

	err = coll_signature_of_post(&m->group, local, post, &sig);
	if (err >= 0 && err != bytes)
		err = -EINVAL;
	if (err >= 0) {
		copy = fits ? world_buffer_take(m, local, token) : malloc(bytes);
		member_copy_payload(m, copy, &sig, payload, bytes);
		err = coll_group_post(&m->group, local, &sig, copy, token, m->world->now);
		if (fits && err)
			world_buffer_release(m, local, token);
	}
	if (fits)
		copy = NULL;
	if (coll_group_take_fold(&m->group, &fold))
		member_fold(m, &fold, copy);
	else
		free(copy);
	member_after(m);
	return err;
}

void world_leave_rank(struct world_member *m, u32 local)
{
	world_trace(m->world, "host %u: rank %u leaves, has posted %llu", m->host->id,
		    m->group.ranks.local[local].rank, m->group.ranks.local[local].next);
	coll_group_leave(&m->group, local, m->world->now);
	member_after(m);
}

void world_give_up(struct world_member *m)
{
	world_trace(m->world, "host %u: what is under way has lasted too long", m->host->id);
	coll_group_give_up(&m->group, m->world->now);
	member_after(m);
}

void world_crash(struct world *w, struct world_host *h)
{
	struct world_member *m;

	world_trace(w, "host %u crashes", h->id);
	for (m = h->members; m; m = m->next) {
		if (m->state == WORLD_JOINED)
			member_destroy(m);
		m->state = WORLD_ABSENT;
	}
	memset(&h->early_packets, 0, sizeof(h->early_packets));
	h->down = true;
}

void world_start(struct world_host *h)
{
	h->down = false;
}

/* ---- creating and destroying ---- */

void world_init(struct world *w, u32 hosts, u64 seed, const struct world_user *user)
{
	u32 i;

	/* Most of a group's memory is never used: it is mapped then, and not set to zero. */
	mallopt(M_MMAP_THRESHOLD, 1 << 18);
	memset(w, 0, sizeof(*w));
	w->hosts = calloc(hosts, sizeof(*w->hosts));
	w->count = hosts;
	w->random = seed;
	w->user = user;
	w->now = NSEC_PER_SEC;
	w->link.delay_ns = 50 * NSEC_PER_USEC;
	for (i = 0; i < hosts; i++) {
		w->hosts[i].id = i;
		w->hosts[i].last = &w->hosts[i].waiting;
	}
}

void world_free(struct world *w)
{
	u32 i;

	for (i = 0; i < w->pending; i++)
		if (world_is_packet(&w->events[i]) || w->events[i].run == member_fold_over)
			free(w->events[i].what);
	for (i = 0; i < w->count; i++) {
		struct world_job *job = w->hosts[i].waiting;

		while (job) {
			struct world_job *next = job->next;

			if (job->run == packet_received)
				free(job->what);
			free(job);
			job = next;
		}
	}
	free(w->events);
	free(w->links);
	free(w->hosts);
}

int world_group_init(struct world *w, struct world_group *group,
		     const struct collsock_join *join, const struct coll_timing *timing,
		     const u32 *host_of)
{
	u32 i;

	memset(group, 0, sizeof(*group));
	group->join = *join;
	if (coll_descriptor_normalise(&group->join))
		return -EINVAL;
	group->timing = timing ? *timing : coll_timing_default;
	group->descriptor = 0x1234;
	coll_wire_derive(&group->secret, join->key, join->id, join->nonce, group->join.mac);
	group->host_of = calloc(join->hosts, sizeof(*group->host_of));
	group->machine = calloc(join->hosts, sizeof(*group->machine));
	group->members = calloc(join->hosts, sizeof(*group->members));
	for (i = 0; i < join->hosts; i++) {
		struct world_member *m = &group->members[i];

		group->host_of[i] = host_of ? host_of[i] : i;
		world_bearer_member(&group->machine[i], group->host_of[i]);
		m->common = group;
		m->world = w;
		m->host = &w->hosts[group->host_of[i]];
		m->next = m->host->members;
		m->host->members = m;
		m->index = i;
		m->deadline = COLL_NEVER;
		INIT_LIST_HEAD(&m->memory);
		INIT_LIST_HEAD(&m->buffers);
	}
	return 0;
}

void world_group_free(struct world_group *group)
{
	u32 i;

	for (i = 0; group->members && i < group->join.hosts; i++)
		if (group->members[i].state == WORLD_JOINED)
			member_destroy(&group->members[i]);
	free(group->members);
	free(group->machine);
	free(group->host_of);
}
