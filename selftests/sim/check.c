// SPDX-License-Identifier: GPL-2.0
/*
 * The promises. A broken promise is reported in one line, with the command that
 * reproduces it.
 */
#include <stdarg.h>
#include <stdlib.h>

#include "sim.h"

/* Only the first one counts: others follow from it. */
void sim_violated(struct sim *s, const char *format, ...)
{
	va_list arguments;

	if (s->failed)
		return;
	s->failed = true;
	s->over = true;
	printf("# class %s seed %llu at %.6f s: ", s->class->name, (unsigned long long)s->seed,
	       (double)s->world.now / NSEC_PER_SEC);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("; replay: build/sim/sim --class %s --seed %llu --trace\n", s->class->name,
	       (unsigned long long)s->seed);
	fflush(stdout);
}

/* ---- blame ---- */

/*
 * Does no host answer for the rank any more, though it did nothing wrong? Its time-wait
 * entry has expired, or was lost with the host.
 */
static bool forgotten(const struct sim_rank *r)
{
	const struct world_member *m = r->member;
	u64 liveness = r->group->common.timing.liveness;

	/* A host that began to probe in time had an answer. */
	if (m->state == WORLD_TIMEWAIT)
		return r->group->acted_ns > m->timewait_ns + liveness;
	if (m->state == WORLD_ABSENT)
		for (r = sim_lowest_of(m); r; r = r->sibling)
			if (r->left)
				return true;
	return false;
}

bool sim_never_joins(const struct world_member *m)
{
	const struct sim_rank *r;

	for (r = sim_lowest_of(m); r; r = r->sibling)
		if (!r->missing)
			return false;
	return true;
}

static bool host_suspect(const struct world_member *m)
{
	const struct sim_rank *r;

	for (r = sim_lowest_of(m); r; r = r->sibling)
		if (r->crashed || r->restarted || r->cut || r->paused)
			return true;
	return sim_never_joins(m) || forgotten(sim_lowest_of(m));
}

/* Has its host restarted? */
bool sim_host_restarted(const struct world_member *m)
{
	const struct sim_rank *r;

	for (r = sim_lowest_of(m); r; r = r->sibling)
		if (r->restarted)
			return true;
	return false;
}

/* Had it not joined when its group failed? What fails later is reported with the same rank. */
static bool had_not_joined(const struct sim_rank *r)
{
	return !r->joined || r->joined_ns > r->group->broken_ns;
}

/*
 * May this rank be considered dead? One that never joins, by its siblings; the lowest one
 * of a host for all of them. One that joins late may be late for its siblings, if the host
 * was paused meanwhile.
 */
static bool suspect(const struct sim_rank *r)
{
	return r->missing || (r == sim_lowest_of(r->member) && host_suspect(r->member)) ||
	       (r->paused && had_not_joined(r));
}

/*
 * Ranks disagree about an operation in which not every rank waits for every other: some may
 * have finished it and reused its slot while another still waits for them. That one cannot
 * decide whether it has restarted.
 */
static bool left_behind(const struct sim_group *g, u64 number)
{
	const struct sim_op *op = &g->ops[g->disagreed_from];

	return number >= g->disagreed_from &&
	       coll_operations[op->post.operation].rooted;
}

static bool blame_fits(const struct sim_rank *r, const struct sim_rank *named, u64 number,
		       u32 error)
{
	const struct sim_group *g = named->group;

	switch (error) {
	case ETIMEDOUT:
		return suspect(named);
	case ECONNRESET:
		return sim_host_restarted(named->member) ||
		       (named->left && named->posted <= number) ||
		       (g->disagreed_from != COLL_NOTHING_DONE && left_behind(g, number));
	case EPROTO:
		/*
		 * Everything that is not acknowledged everywhere fails with it. A host that
		 * restarts begins from scratch, and learns how the group has ended.
		 */
		return g->disagreed_from != COLL_NOTHING_DONE &&
		       (sim_host_restarted(r->member) ||
			number + 2 * g->common.join.window >= g->disagreed_from);
	default:
		return false;
	}
}

/* After the crash of one host, if nothing else goes wrong, it alone is to blame. */
static bool only_a_crash(const struct sim_group *g)
{
	return g->crashes == 1 && !g->other_trouble;
}

static void check_blame(struct sim_rank *r, u64 number, u32 error, u32 failed_rank)
{
	struct sim_group *g = r->group;
	struct sim *s = g->sim;

	if (failed_rank >= g->size)
		sim_violated(s, "rank %u: operation %llu fails with %u and names no rank (%d)",
			     r->number, number, error, (int)failed_rank);
	else if (!blame_fits(r, &g->ranks[failed_rank], number, error))
		sim_violated(s, "rank %u: operation %llu fails with %u and names %u, an innocent",
			     r->number, number, error, failed_rank);
	else if (forgotten(&g->ranks[failed_rank]))
		return;
	else if (only_a_crash(g) && failed_rank != g->victim)
		sim_violated(s, "rank %u: operation %llu names %u, but %u has crashed",
			     r->number, number, failed_rank, g->victim);
	else if (g->other_trouble == SIM_DISAGREE && !g->crashes && error != EPROTO &&
		 !left_behind(g, number))
		sim_violated(s, "rank %u: operation %llu fails with %u, but ranks disagree",
			     r->number, number, error);
}

static void check_failure(struct sim_rank *r, u64 number, u32 error, u32 failed_rank)
{
	check_blame(r, number, error, failed_rank);
	sim_check_error(r, number, error, failed_rank);
}

/* ---- results ---- */

/* Have all ranks posted on which the result depends? */
static bool may_complete(const struct sim_op *op, const struct sim_rank *r)
{
	u32 rank;

	for (rank = 0; rank < r->group->size; rank++)
		if (sim_values_depends(op, r->number, rank) && !(op->seen >> rank & 1))
			return false;
	return true;
}

static void check_result(struct sim_rank *r, u64 number, const void *result, u32 bytes)
{
	struct sim_group *g = r->group;
	struct sim_op *op = &g->ops[number];
	bool receives = sim_values_receives(op, r->number);
	struct sim *s = g->sim;
	u32 expected = sim_values_received(op, r->number);

	if (number == r->dissent)
		sim_violated(s, "rank %u completes operation %llu, about which it disagrees",
			     r->number, number);
	else if (receives && !may_complete(op, r))
		sim_violated(s, "rank %u completes operation %llu, which %u of %u have posted",
			     r->number, number, op->posted, g->size);
	else if (receives && op->disputed && !sim_values_prefix(op) &&
		 coll_operations[op->post.operation].contributes == COLL_ALL)
		sim_violated(s, "rank %u completes operation %llu, about which they disagree",
			     r->number, number);
	else if (bytes != expected)
		sim_violated(s, "rank %u: operation %llu gives %u bytes instead of %u",
			     r->number, number, bytes, expected);
	else if (receives && !sim_expect_right(r, number, result))
		sim_violated(s, "rank %u: the result of operation %llu is wrong (kind %u)",
			     r->number, number, op->post.operation);
	else if (number > r->failed)
		sim_violated(s, "rank %u: operation %llu completes, but %llu has failed",
			     r->number, number, r->failed);
}

/* Count it, once. */
static void count(struct sim_group *g, struct sim_op *op)
{
	struct coll_choice choice;

	if (op->completed)
		return;
	op->completed = true;
	choice = sim_values_choice(g, &op->post);
	g->sim->completed.operations[op->post.operation][choice.algorithm]++;
}

void sim_check_completion(const struct world_member *m, struct sim_rank *r,
			  const struct sim_post *p, const void *result, u32 bytes, u32 error,
			  u32 failed_rank)
{
	struct sim *s = r->group->sim;

	/* An operation that is posted after the end has no number. */
	if (error ? m->told.number > p->number : m->told.number != p->number)
		sim_violated(s, "rank %u: operation %u completes and is called %llu", r->number,
			     p->number, m->told.number);
	else if (p->done || p->life != r->life || r->member != m)
		sim_violated(s, "rank %u: operation %u completes twice", r->number,
			     p->number);
	else if (error)
		check_failure(r, p->number, error, failed_rank);
	else
		check_result(r, p->number, result, bytes);
	if (!error && !s->failed)
		count(r->group, &r->group->ops[p->number]);
}

/* ---- a member, after each of its events ---- */

static void check_told_one(const struct world_member *m, const char *what, u64 told, u64 counted)
{
	if (told != counted)
		sim_violated(m->world->owner, "host %u: %llu %s told, %llu counted", m->index,
			     (unsigned long long)told, what, (unsigned long long)counted);
}

/* Traces agree with counters. */
static void check_told(const struct world_member *m, const struct collsock_stats *stats)
{
	const struct world_told *told = &m->told;

	check_told_one(m, "rounds", told->rounds, stats->rounds);
	check_told_one(m, "retransmissions", told->again, stats->retransmits);
	check_told_one(m, "peers", told->open, stats->peers);
	check_told_one(m, "idle peers", told->rested, stats->peers_idle);
#define DROP(identifier, name) \
	check_told_one(m, #name, told->drops[COLL_DROP_##identifier], stats->name);
	COLL_GROUP_DROP_LIST(DROP)
#undef DROP
}

static void check_counters(const struct world_member *m, const struct collsock_stats *stats)
{
	struct sim *s = m->world->owner;

	check_told(m, stats);
	if (stats->invalid && !(s->trouble & (SIM_DISAGREE | SIM_RESTART)))
		sim_violated(s, "host %u: %llu packets of members are invalid",
			     m->index, (unsigned long long)stats->invalid);
}

void sim_check_member(struct world_member *m)
{
	const struct coll_group *g = &m->group;

	if (m->state == WORLD_JOINED && g->failure.known &&
	    memcmp(&m->told.failure, &g->failure.what, sizeof(g->failure.what)))
		sim_violated(m->world->owner, "host %u: its failure was not told", m->index);
	sim_check_failure(m);
	if (m->state == WORLD_TIMEWAIT)
		check_counters(m, &m->last_stats);
	else if (g->window.next - g->window.oldest > g->window.size)
		sim_violated(m->world->owner, "host %u: %llu operations in a window of %u",
			     m->index, g->window.next - g->window.oldest, g->window.size);
}

static void check_window(struct sim *s, const struct coll_group *g, u32 child)
{
	const struct coll_peer *peer = coll_peers_find(g, child);
	u32 under_way;

	if (!peer)
		return;
	under_way = peer->send.unacked + peer->send.ahead;
	if (under_way >= peer->congestion.window)
		sim_violated(s, "host %u sends to all while %u of %u packets to %u are in flight",
			     g->self, under_way, peer->congestion.window, child);
}

/* A copy of one segment of several is being sent: each child's window has room for it. */
void sim_check_copy(struct sim *s, const struct world_packet *p)
{
	const struct coll_group *g;
	const struct world_member *m;
	const struct coll_op *op;
	struct coll_body body;
	u32 i;

	if (!coll_wire_is_multicast(p->data))
		return;
	m = world_find(&s->world.hosts[p->from], coll_wire_tag(p->data),
		       coll_wire_source(p->data));
	g = &m->group;
	coll_wire_read_body(p->data, p->bytes, &body);
	op = coll_group_slot(g, body.operation);
	for (i = op->down_send; op->head.several && i < op->schedule->sends; i++)
		check_window(s, g, op->schedule->send[i].host);
}

void sim_check_damaged(struct world_member *m, enum coll_refusal refusal, bool changed)
{
	struct sim *s = m->world->owner;

	s->damaged++;
	if (refusal == COLL_ACCEPTED)
		sim_violated(s, "host %u accepts a packet that no host has written", m->index);
	else if (changed)
		sim_violated(s, "host %u is changed by a packet that no host has written",
			     m->index);
}

/* ---- the end ---- */

static void trace_group(const struct sim *s, const struct coll_group *g)
{
	const struct coll_peer *peer;

	world_trace(&s->world, "group of %u: next %llu, oldest %llu, running %u, deadline %.6f s",
		    g->self, g->window.next, g->window.oldest, g->window.running,
		    (double)g->armed_ns / NSEC_PER_SEC);
	for (peer = g->peers.all; peer; peer = peer->all)
		world_trace(&s->world, "peer %u: %s%s%s%s%sdue %.6f s", peer->host,
			    list_empty(&peer->send.sent) ? "" : "sent, ",
			    list_empty(&peer->send.held) ? "" : "held, ",
			    peer->ack.owed ? "owed, " : "", peer->recv.gone ? "gone, " : "",
			    peer->conn.dead ? "dead, " : "", (double)peer->due_ns / NSEC_PER_SEC);
}

static void check_rank_stuck(struct sim *s, const struct sim_rank *r)
{
	const struct coll_group *g = &r->member->group;

	if (r->over || !r->joined || r->member->state != WORLD_JOINED)
		return;
	trace_group(s, g);
	if (r->completed < r->posted)
		sim_violated(s, "rank %u of group %u still waits for operation %u of %u posted",
			     r->number, r->group->id, r->completed, r->posted);
	else
		sim_violated(s, "rank %u of group %u lingers: %s, next %llu, oldest %llu",
			     r->number, r->group->id, r->left ? "left" : "stays",
			     g->window.next, g->window.oldest);
}

/* No rank has had anything left to do for longer than any bound. */
void sim_check_stuck(struct sim *s)
{
	u32 g, i;

	for (g = 0; g < s->group_count; g++)
		for (i = 0; i < s->groups[g].size; i++)
			check_rank_stuck(s, &s->groups[g].ranks[i]);
	s->over = true;
}

void sim_check_end(struct sim *s)
{
	if (world_memory)
		sim_violated(s, "%ld allocations remain", world_memory);
	if (world_states_left)
		sim_violated(s, "%ld peers were freed with a state of the MAC", world_states_left);
}
