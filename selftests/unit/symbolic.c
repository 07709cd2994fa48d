// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include "seed.h"
#include "shapes.h"
#include "symbolic.h"

/* The meaning of a fault's two values; the first is the expected one. */
static const char *const symbolic_fault_text[] = {
	[SYMBOLIC_SOUND]	= "sound",
	[SYMBOLIC_NOT_BUILT]	= "result of build",
	[SYMBOLIC_BLOCKS]	= "blocks of a payload that the executor can follow",
	[SYMBOLIC_SYNCHRONISING]	= "whether completion says that all have begun",
	[SYMBOLIC_DEADLOCK]	= "deadlock: hosts whose schedule ended",
	[SYMBOLIC_NOT_AWAITED]	= "fold entries that expect the received message",
	[SYMBOLIC_TWICE]	= "messages of one host in one round",
	[SYMBOLIC_LEFT_OVER]	= "messages folded of those sent",
	[SYMBOLIC_TOO_EARLY]	= "hosts that had arrived when this one completed",
	[SYMBOLIC_NOT_KNOWN]	= "hosts whose arrival this one knew of when it completed",
	[SYMBOLIC_EMPTY]	= "registers with nothing in them that were read",
	[SYMBOLIC_COUNT]	= "contributions folded",
	[SYMBOLIC_ORDER]	= "pairs of neighbours out of order",
	[SYMBOLIC_DIFFERENT]	= "number of the result's expression",
	[SYMBOLIC_OPERATION]	= "operations that the executor can judge",
	[SYMBOLIC_NOT_HELD]	= "blocks held of those sent",
	[SYMBOLIC_HELD]		= "blocks received that were held already",
	[SYMBOLIC_RANGE]	= "first block, and number of blocks, of a message",
	[SYMBOLIC_RESULT]	= "blocks of the result",
	[SYMBOLIC_PREFIX]	= "first host whose contribution a prefix has",
	[SYMBOLIC_CHANGED]	= "number of the expression that was sent",
	[SYMBOLIC_DOWN_EDGE]	= "entries of the downward phase, which it has",
	[SYMBOLIC_DOWN_SOURCE]	= "source of the downward phase",
	[SYMBOLIC_DOWN]		= "number of the expression that the source had",
	[SYMBOLIC_UP]		= "messages sent up that were folded when the source began",
};

static void symbolic_judge(struct symbolic_group *g, enum symbolic_fault fault, u32 host,
			   u64 expected, u64 seen)
{
	if (expected == seen || g->outcome.fault != SYMBOLIC_SOUND)
		return;
	g->outcome.fault = fault;
	g->outcome.host = host;
	g->outcome.round = g->host[host].round;
	g->outcome.expected = expected;
	g->outcome.seen = seen;
}

/* Expressions */

static void symbolic_contributions(struct symbolic_group *g)
{
	u32 h, node;

	g->expressions = 1;
	for (h = 0; h < g->hosts; h++) {
		node = (h + g->hosts - g->shape.root) % g->hosts;
		g->expression[g->expressions++] = (struct symbolic_expression){
			.first = node, .last = node, .contributions = 1,
		};
	}
	g->result = g->algorithm->operation == COLLSOCK_BROADCAST ? 1 + g->shape.root : 0;
}

/* The expression "left op right", created if it does not exist. */
static u32 symbolic_operate(struct symbolic_group *g, u32 left, u32 right)
{
	u32 slot = ((left * 0x9e3779b1U) ^ (right * 0x85ebca77U)) >> 7 & g->hash_mask;
	const struct symbolic_expression *l = &g->expression[left];
	const struct symbolic_expression *r = &g->expression[right];

	for (; g->hash[slot]; slot = (slot + 1) & g->hash_mask) {
		const struct symbolic_expression *e = &g->expression[g->hash[slot]];

		if (e->left == left && e->right == right)
			return g->hash[slot];
	}
	g->hash[slot] = g->expressions;
	g->expression[g->expressions] = (struct symbolic_expression){
		.left = left, .right = right, .first = l->first, .last = r->last,
		.contributions = l->contributions + r->contributions,
		.disorders = l->disorders + r->disorders + (l->last + 1 != r->first),
	};
	return g->expressions++;
}

/* Moves */

static bool symbolic_holds(const struct symbolic_group *g, u32 move)
{
	const struct symbolic_adversary *a = g->adversary;

	if (move < g->hosts)
		return a->hold == SYMBOLIC_HOLD_ARRIVAL && move == a->victim;
	move -= g->hosts;
	return (a->hold == SYMBOLIC_HOLD_TO && g->message[move].to == a->victim) ||
	       (a->hold == SYMBOLIC_HOLD_FROM && g->message[move].from == a->victim);
}

static void symbolic_can_move(struct symbolic_group *g, u32 move)
{
	struct symbolic_moves *m = symbolic_holds(g, move) ? &g->held : &g->ready;

	m->move[m->end++] = move;
}

static bool symbolic_next_move(struct symbolic_group *g, u32 *move)
{
	struct symbolic_moves *m = g->ready.first < g->ready.end ? &g->ready : &g->held;
	u32 chosen;

	if (m->first == m->end)
		return false;
	switch (g->adversary->order) {
	case SYMBOLIC_FIFO:
		*move = m->move[m->first++];
		break;
	case SYMBOLIC_LIFO:
		*move = m->move[--m->end];
		break;
	case SYMBOLIC_RANDOM:
		chosen = m->first + seed_next(&g->random) % (m->end - m->first);
		*move = m->move[chosen];
		m->move[chosen] = m->move[--m->end];
		break;
	}
	return true;
}

/* What hosts know of each other's arrival */

static u64 *symbolic_known_by(struct symbolic_group *g, u32 host)
{
	return g->known_by_host + (size_t)host * g->words;
}

static u64 *symbolic_known_in(struct symbolic_group *g, u32 message)
{
	return g->known_in_message + (size_t)message * g->words;
}

static u64 symbolic_known_count(struct symbolic_group *g, u32 host)
{
	const u64 *known = symbolic_known_by(g, host);
	u64 count = 0;
	u32 i;

	for (i = 0; i < g->words; i++)
		count += __builtin_popcountll(known[i]);
	return count;
}

/* What hosts hold of the vector */

static u64 *symbolic_held_by(struct symbolic_group *g, u32 host)
{
	return g->held_by_host + (size_t)host * g->words;
}

/* Blocks are counted modulo the number of hosts, so that they are in one or two runs. */
static u64 symbolic_run_in_word(u32 word, u32 first, u32 end)
{
	u64 from = first > word * 64 ? first - word * 64 : 0;
	u64 beyond = 64 - min(end - word * 64, 64U);

	return ~0ULL << from & ~0ULL >> beyond;
}

static u32 symbolic_held_in_run(const u64 *held, u32 first, u32 end)
{
	u32 count = 0, word;

	for (word = first / 64; word * 64 < end; word++)
		count += __builtin_popcountll(held[word] & symbolic_run_in_word(word, first, end));
	return count;
}

static void symbolic_hold_run(u64 *held, u32 first, u32 end)
{
	u32 word;

	for (word = first / 64; word * 64 < end; word++)
		held[word] |= symbolic_run_in_word(word, first, end);
}

/* How many of some blocks a host holds */
static u32 symbolic_held_count(struct symbolic_group *g, u32 host, u32 first, u32 blocks)
{
	const u64 *held = symbolic_held_by(g, host);
	u32 end = first % g->hosts + min(blocks, g->hosts);

	return symbolic_held_in_run(held, first % g->hosts, min(end, g->hosts)) +
	       symbolic_held_in_run(held, 0, end - min(end, g->hosts));
}

static void symbolic_hold(struct symbolic_group *g, u32 host, u32 first, u32 blocks)
{
	u64 *held = symbolic_held_by(g, host);
	u32 end = first % g->hosts + min(blocks, g->hosts);

	symbolic_hold_run(held, first % g->hosts, min(end, g->hosts));
	symbolic_hold_run(held, 0, end - min(end, g->hosts));
}

static void symbolic_contribute_blocks(struct symbolic_group *g, u32 host)
{
	if (coll_operations[g->algorithm->operation].own_in)
		symbolic_hold(g, host, host, 1);
	else
		symbolic_hold(g, host, 0, g->hosts);
}

/* Check what is sent along an edge. */
static void symbolic_judge_send(struct symbolic_group *g, u32 host, const struct coll_edge *e)
{
	const struct symbolic_host *me = &g->host[host];

	if (me->schedule.form == COLL_FORM_PLACES)
		symbolic_judge(g, SYMBOLIC_NOT_HELD, host, e->blocks,
			       symbolic_held_count(g, host, e->first_block, e->blocks));
	else
		symbolic_judge(g, SYMBOLIC_EMPTY, host, 0, !me->reg[e->reg]);
}

/* Hosts */

/* Does a line have something of what is followed? */
static bool symbolic_concerns(const struct symbolic_group *g, const struct symbolic_host *me,
			      const struct coll_edge *e)
{
	return me->schedule.form != COLL_FORM_PARTS ||
	       (g->adversary->block >= e->first_block &&
		g->adversary->block < (u32)e->first_block + e->blocks);
}

/* The source begins its downward phase, or something is sent along an edge of it. */
static void symbolic_go_down(struct symbolic_group *g, u32 host, u32 value)
{
	if (host == g->host[host].schedule.source && !g->begun_down) {
		symbolic_judge(g, SYMBOLIC_UP, host, g->up, g->folded);
		g->begun_down = true;
		g->down = value;
	}
	symbolic_judge(g, SYMBOLIC_DOWN, host, g->down, value);
}

static void symbolic_begin_round(struct symbolic_group *g, u32 host)
{
	struct symbolic_host *me = &g->host[host];
	const struct coll_round *r = &me->schedule.round[me->round];
	u32 i;

	if (me->round == me->schedule.rounds)
		return;
	me->missing = 0;
	for (i = r->fold_first; i < r->fold_first + r->folds; i++)
		me->missing += me->schedule.fold[i].host != host && !me->came[i] &&
			       symbolic_concerns(g, me, &me->schedule.fold[i]);
	for (i = r->send_first; i < r->send_first + r->sends; i++) {
		const struct coll_edge *e = &me->schedule.send[i];

		if (!symbolic_concerns(g, me, e))
			continue;
		symbolic_judge_send(g, host, e);
		if (i >= me->schedule.down_send)
			symbolic_go_down(g, host, me->reg[e->reg]);
		memcpy(symbolic_known_in(g, g->messages), symbolic_known_by(g, host),
		       g->words * sizeof(u64));
		g->message[g->messages] = (struct symbolic_message){
			.from = host, .to = e->host, .round = me->round,
			.value = me->reg[e->reg],
			.first = e->first_block, .blocks = e->blocks,
		};
		symbolic_can_move(g, g->hosts + g->messages++);
	}
}

/* Check that an expression has the contributions of the first @hosts hosts in their order. */
static void symbolic_judge_prefix(struct symbolic_group *g, u32 host, u32 expression, u32 hosts)
{
	const struct symbolic_expression *e = &g->expression[expression];

	symbolic_judge(g, SYMBOLIC_COUNT, host, hosts, e->contributions);
	symbolic_judge(g, SYMBOLIC_ORDER, host, 0, e->disorders);
	symbolic_judge(g, SYMBOLIC_PREFIX, host, 0, e->first);
}

/* All messages that have come, the last one on the left, are what the hosts below contribute. */
static void symbolic_fold_below(struct symbolic_group *g, u32 host)
{
	struct symbolic_host *me = &g->host[host];
	u32 i, value;

	for (i = me->schedule.folds; i--;) {
		if (me->schedule.fold[i].host == host)
			continue;
		symbolic_judge(g, SYMBOLIC_EMPTY, host, 0, !me->came[i]);
		if (!me->came[i])
			return;
		value = g->message[me->came[i] - 1].value;
		me->below = me->below ? symbolic_operate(g, me->below, value) : value;
	}
}

/* The value of a fold entry, which consumes its message */
static u32 symbolic_entry_value(struct symbolic_group *g, u32 host, u32 entry, const u32 *at_begin)
{
	const struct symbolic_host *me = &g->host[host];
	const struct coll_edge *e = &me->schedule.fold[entry];
	u64 *known = symbolic_known_by(g, host);
	const u64 *told;
	u32 message, i;

	if (e->host == host)
		return at_begin[e->reg];
	message = me->came[entry] - 1;
	told = symbolic_known_in(g, message);
	for (i = 0; i < g->words; i++)
		known[i] |= told[i];
	g->folded++;
	if (me->schedule.form == COLL_FORM_PARTS)
		symbolic_judge(g, SYMBOLIC_CHANGED, e->host, g->message[message].value,
			       g->host[e->host].reg[0]);
	return g->message[message].value;
}

static void symbolic_fold_round(struct symbolic_group *g, u32 host)
{
	struct symbolic_host *me = &g->host[host];
	const struct coll_round *r = &me->schedule.round[me->round];
	u32 at_begin[COLL_MAX_REGISTERS];
	u32 i;

	memcpy(at_begin, me->reg, sizeof(at_begin));
	for (i = r->fold_first; i < r->fold_first + r->folds; i++) {
		const struct coll_edge *e = &me->schedule.fold[i];
		u32 *reg = &me->reg[e->reg];
		u32 value;

		if (!symbolic_concerns(g, me, e))
			continue;
		if (e->action == COLL_PREFIX) {
			symbolic_fold_below(g, host);
			continue;
		}
		value = symbolic_entry_value(g, host, i, at_begin);
		if (me->schedule.form == COLL_FORM_PLACES) {
			symbolic_judge(g, SYMBOLIC_HELD, host, 0,
				       symbolic_held_count(g, host, e->first_block, e->blocks));
			symbolic_hold(g, host, e->first_block, e->blocks);
			continue;
		}
		symbolic_judge(g, SYMBOLIC_EMPTY, host, 0, !value);
		if (i == me->schedule.down_fold)
			symbolic_judge(g, SYMBOLIC_DOWN, host, g->down, value);
		if (e->action == COLL_PLACE)
			*reg = value;
		else if (e->action == COLL_FOLD_LEFT)
			*reg = symbolic_operate(g, value, *reg);
		else
			*reg = symbolic_operate(g, *reg, value);
	}
}

/* Complete the rank if it waits for nothing more. */
static void symbolic_complete(struct symbolic_group *g, u32 host)
{
	const struct symbolic_host *me = &g->host[host];

	if (!me->arrived || !me->schedule.synchronising ||
	    (me->receives && me->round < me->schedule.rounds))
		return;
	symbolic_judge(g, SYMBOLIC_TOO_EARLY, host, g->hosts, g->arrived);
	symbolic_judge(g, SYMBOLIC_NOT_KNOWN, host, g->hosts, symbolic_known_count(g, host));
}

static void symbolic_advance(struct symbolic_group *g, u32 host)
{
	struct symbolic_host *me = &g->host[host];

	if (!me->begun) {
		if (me->contributes && !me->arrived)
			return;
		me->begun = true;
		symbolic_begin_round(g, host);
	}
	while (me->round < me->schedule.rounds && !me->missing) {
		symbolic_fold_round(g, host);
		me->round++;
		symbolic_begin_round(g, host);
	}
	symbolic_complete(g, host);
}

static void symbolic_arrive(struct symbolic_group *g, u32 host)
{
	if (g->host[host].schedule.form == COLL_FORM_PLACES && g->host[host].contributes)
		symbolic_contribute_blocks(g, host);
	symbolic_known_by(g, host)[host / 64] |= 1ULL << host % 64;
	g->host[host].arrived = true;
	g->arrived++;
	symbolic_advance(g, host);
}

static void symbolic_deliver(struct symbolic_group *g, u32 message)
{
	const struct symbolic_message *m = &g->message[message];
	struct symbolic_host *me = &g->host[m->to];
	int entry = coll_schedule_find(&me->schedule, m->round, m->from);
	const struct coll_edge *e;

	symbolic_judge(g, SYMBOLIC_NOT_AWAITED, m->to, 1, entry >= 0);
	if (entry < 0)
		return;
	e = &me->schedule.fold[entry];
	if (coll_schedule_has_blocks(&me->schedule)) {
		symbolic_judge(g, SYMBOLIC_RANGE, m->to, e->first_block, m->first);
		symbolic_judge(g, SYMBOLIC_RANGE, m->to, e->blocks, m->blocks);
	}
	symbolic_judge(g, SYMBOLIC_TWICE, m->to, 1, me->came[entry] ? 2 : 1);
	if (me->begun && m->round == me->round)
		me->missing -= !me->came[entry];
	me->came[entry] = 1 + message;
	symbolic_advance(g, m->to);
}

/* Groups */

/* Check that a host holds what its ranks receive. */
static void symbolic_judge_blocks(struct symbolic_group *g, u32 host)
{
	bool own = coll_operations[g->algorithm->operation].own_out;
	u32 expected = own ? 1 : g->hosts;

	symbolic_judge(g, SYMBOLIC_RESULT, host, expected,
		       symbolic_held_count(g, host, own ? host : 0, expected));
}

/* Check what its ranks receive: the last one the register, others what is below and their own. */
static void symbolic_judge_prefixes(struct symbolic_group *g, u32 host)
{
	const struct symbolic_host *me = &g->host[host];

	symbolic_judge_prefix(g, host, me->reg[0], host + 1);
	symbolic_judge(g, SYMBOLIC_EMPTY, host, !host, !me->below);
	if (me->below)
		symbolic_judge_prefix(g, host, me->below, host);
}

/* Check the result. */
static void symbolic_judge_result(struct symbolic_group *g, u32 host)
{
	u32 seen = g->host[host].reg[0];
	const struct symbolic_expression *e = &g->expression[seen];
	bool one = g->algorithm->operation == COLLSOCK_BROADCAST;

	symbolic_judge(g, SYMBOLIC_COUNT, host, one ? 1 : g->hosts, e->contributions);
	symbolic_judge(g, SYMBOLIC_ORDER, host, 0, e->disorders);
	if (!g->result)
		g->result = seen;
	symbolic_judge(g, SYMBOLIC_DIFFERENT, host, g->result, seen);
}

static void symbolic_judge_end(struct symbolic_group *g)
{
	u32 ended = 0;
	u32 h;

	for (h = 0; h < g->hosts; h++)
		ended += g->host[h].round == g->host[h].schedule.rounds;
	for (h = 0; h < g->hosts; h++)
		if (g->host[h].round < g->host[h].schedule.rounds)
			symbolic_judge(g, SYMBOLIC_DEADLOCK, h, g->hosts, ended);
	symbolic_judge(g, SYMBOLIC_LEFT_OVER, 0, g->messages, g->folded);

	if (g->algorithm->operation == COLLSOCK_BARRIER)
		return;
	for (h = 0; h < g->hosts; h++) {
		if (!g->host[h].receives)
			continue;
		if (g->host[h].schedule.form == COLL_FORM_PLACES)
			symbolic_judge_blocks(g, h);
		else if (coll_operations[g->algorithm->operation].prefix)
			symbolic_judge_prefixes(g, h);
		else
			symbolic_judge_result(g, h);
	}
}

/* Set what follows from the operation, whatever the algorithm. */
static void symbolic_set_part(struct symbolic_group *g, u32 host)
{
	const struct coll_operation *operation = coll_operation_find(g->algorithm->operation);
	struct symbolic_host *me = &g->host[host];
	bool root = host == g->shape.root;

	symbolic_judge(g, SYMBOLIC_OPERATION, host, 1, !!operation);
	if (!operation)
		return;
	me->contributes = operation->contributes >> root & 1;
	me->receives = operation->receives >> root & 1;
	symbolic_judge(g, SYMBOLIC_SYNCHRONISING, host,
		       operation->contributes == COLL_ALL && operation->receives == COLL_ALL &&
		       !operation->prefix,
		       me->schedule.synchronising);
}

/* How many blocks a schedule must have: of parts as many as that of host 0 */
static u32 symbolic_blocks(const struct symbolic_group *g, const struct coll_schedule *s)
{
	if (s->form == COLL_FORM_PARTS)
		return g->host[0].schedule.blocks;
	return s->form != COLL_FORM_PLACES;
}

/* All hosts have a downward phase of the same source, with an entry at each other one, or none. */
static void symbolic_judge_down(struct symbolic_group *g, u32 host)
{
	const struct coll_schedule *first = &g->host[0].schedule, *s = &g->host[host].schedule;
	bool has = first->down_send != COLL_NO_DOWN;
	u32 entries = s->down_fold != COLL_NO_DOWN;

	if (g->outcome.fault != SYMBOLIC_SOUND)
		return;
	symbolic_judge(g, SYMBOLIC_DOWN_EDGE, host, has, s->down_send != COLL_NO_DOWN);
	symbolic_judge(g, SYMBOLIC_DOWN_EDGE, host, has && host != first->source, entries);
	if (!has)
		return;
	g->up += s->down_send;
	symbolic_judge(g, SYMBOLIC_DOWN_SOURCE, host, first->source, s->source);
	if (!entries)
		return;
	symbolic_judge(g, SYMBOLIC_DOWN_EDGE, host, COLL_PLACE, s->fold[s->down_fold].action);
	symbolic_judge(g, SYMBOLIC_DOWN_EDGE, host, s->down_fold,
		       coll_schedule_find(s, s->down_round, s->fold[s->down_fold].host));
}

/* Reusing memory is ten times as fast as allocating it each time. */
static void *symbolic_grow(void *array, size_t *room, size_t count, size_t size)
{
	if (*room >= count)
		return array;
	free(array);
	*room = 2 * count;
	return calloc(*room, size);
}

/* Make room for a run of @messages messages and @folds fold entries. */
static void symbolic_make_room(struct symbolic_group *g, u32 messages, u32 folds)
{
	size_t slots = 2;

	while (slots < 2 * ((size_t)g->hosts + folds))
		slots *= 2;
	g->hash_mask = slots - 1;
	g->words = (g->hosts + 63) / 64;

	g->message = symbolic_grow(g->message, &g->room.message, messages + 1,
				   sizeof(*g->message));
	g->ready.move = symbolic_grow(g->ready.move, &g->room.ready, g->hosts + messages,
				      sizeof(*g->ready.move));
	g->held.move = symbolic_grow(g->held.move, &g->room.held, g->hosts + messages,
				     sizeof(*g->held.move));
	g->known_by_host = symbolic_grow(g->known_by_host, &g->room.known_by_host,
					 (size_t)g->hosts * g->words, sizeof(u64));
	g->held_by_host = symbolic_grow(g->held_by_host, &g->room.held_by_host,
					(size_t)g->hosts * g->words, sizeof(u64));
	g->known_in_message = symbolic_grow(g->known_in_message,
					    &g->room.known_in_message,
					    (size_t)(messages + 1) * g->words, sizeof(u64));
	g->expression = symbolic_grow(g->expression, &g->room.expression,
				      1 + g->hosts + folds, sizeof(*g->expression));
	g->hash = symbolic_grow(g->hash, &g->room.hash, slots, sizeof(*g->hash));
	memset(g->hash, 0, slots * sizeof(*g->hash));
}

void symbolic_build(struct symbolic_group *g, const struct coll_algorithm *algorithm,
		    const struct coll_shape *shape)
{
	u32 messages = 0;
	u32 folds = 0;
	u32 h;

	memset(&g->outcome, 0, sizeof(g->outcome));
	g->algorithm = algorithm;
	g->adversary = NULL;
	g->shape = *shape;
	g->hosts = shape->hosts;
	g->up = 0;
	g->host = symbolic_grow(g->host, &g->room.host, g->hosts, sizeof(*g->host));
	for (h = 0; h < g->hosts && g->outcome.fault == SYMBOLIC_SOUND; h++) {
		struct coll_schedule *s = &g->host[h].schedule;

		g->shape.self = h;
		g->host[h].round = 0;
		symbolic_judge(g, SYMBOLIC_NOT_BUILT, h, 0, -algorithm->build(s, &g->shape));
		symbolic_judge(g, SYMBOLIC_BLOCKS, h, symbolic_blocks(g, s), s->blocks);
		symbolic_set_part(g, h);
		symbolic_judge_down(g, h);
		messages += s->sends;
		folds += s->folds;
	}
	g->built = g->outcome.fault == SYMBOLIC_SOUND;
	if (!g->built)
		return;
	symbolic_make_room(g, messages, folds);
	symbolic_contributions(g);
}

void symbolic_free(struct symbolic_group *g)
{
	free(g->host);
	free(g->message);
	free(g->ready.move);
	free(g->held.move);
	free(g->known_by_host);
	free(g->known_in_message);
	free(g->held_by_host);
	free(g->expression);
	free(g->hash);
	memset(g, 0, sizeof(*g));
}

static void symbolic_reset(struct symbolic_group *g)
{
	u32 h;

	for (h = 0; h < g->hosts; h++) {
		struct symbolic_host *me = &g->host[h];

		memset(me->reg, 0, sizeof(me->reg));
		memset(me->came, 0, me->schedule.folds * sizeof(me->came[0]));
		me->reg[0] = me->contributes ? 1 + h : 0;
		me->below = 0;
		me->round = 0;
		me->arrived = false;
		me->begun = false;
	}
	memset(g->known_by_host, 0, (size_t)g->hosts * g->words * sizeof(u64));
	memset(g->held_by_host, 0, (size_t)g->hosts * g->words * sizeof(u64));
	memset(&g->outcome, 0, sizeof(g->outcome));
	g->ready.first = 0;
	g->ready.end = 0;
	g->held.first = 0;
	g->held.end = 0;
	g->messages = 0;
	g->folded = 0;
	g->arrived = 0;
	g->down = 0;
	g->begun_down = false;
}

/*
 * The next node to be the victim, or the number of hosts after the last. In large groups
 * not all: both ends, the middle, and the hosts near 2 * (n - 2^m), where pairs end and
 * single hosts begin. With a root other than host 0 these suffice, as the group is the
 * same, rotated.
 */
static u32 symbolic_next_victim(const struct symbolic_group *g, u32 victim)
{
	u32 each = g->shape.root ? SYMBOLIC_ROOTED_VICTIM : SYMBOLIC_EACH_VICTIM;
	u32 paired = 2 * (g->hosts - (1U << ilog2(g->hosts)));

	for (victim++; g->hosts > each && victim < g->hosts; victim++)
		if (victim == g->hosts / 2 || victim + 1 == g->hosts ||
		    victim == paired || victim + 1 == paired)
			break;
	return victim;
}

void symbolic_run(struct symbolic_group *g, const struct symbolic_adversary *adversary)
{
	u32 h, move = 0;

	if (!g->built)
		return;
	symbolic_reset(g);
	g->adversary = adversary;
	g->random = adversary->seed + ((u64)g->hosts << 32);
	for (h = 0; h < g->hosts; h++)
		symbolic_can_move(g, h);
	while (g->outcome.fault == SYMBOLIC_SOUND && symbolic_next_move(g, &move)) {
		if (move < g->hosts)
			symbolic_arrive(g, move);
		else
			symbolic_deliver(g, move - g->hosts);
	}
	if (g->outcome.fault == SYMBOLIC_SOUND)
		symbolic_judge_end(g);
}

/* The next block to be followed: of many both ends, the middle, and a random one */
static u32 symbolic_next_block(const struct symbolic_group *g, u32 block)
{
	u32 blocks = g->built ? g->host[0].schedule.blocks : 0;
	u64 random = g->adversary->seed + g->hosts;
	u32 drawn = blocks ? seed_next(&random) % blocks : 0;

	for (block++; blocks > SYMBOLIC_EACH_BLOCK && block < blocks; block++)
		if (block == blocks / 2 || block + 1 == blocks || block == drawn)
			break;
	return block;
}

static void symbolic_run_each(struct symbolic_group *g, struct symbolic_adversary *adversary)
{
	u32 victim;

	for (victim = 0; victim < g->hosts; victim = symbolic_next_victim(g, victim)) {
		adversary->victim = (g->shape.root + victim) % g->hosts;
		symbolic_run(g, adversary);
		if (g->outcome.fault != SYMBOLIC_SOUND ||
		    adversary->hold == SYMBOLIC_HOLD_NOTHING)
			break;
	}
}

void symbolic_run_victims(struct symbolic_group *g, struct symbolic_adversary *adversary)
{
	bool parts = g->built && g->host[0].schedule.form == COLL_FORM_PARTS;

	adversary->block = 0;
	do {
		symbolic_run_each(g, adversary);
		if (!parts || g->outcome.fault != SYMBOLIC_SOUND)
			return;
		adversary->block = symbolic_next_block(g, adversary->block);
	} while (adversary->block < g->host[0].schedule.blocks);
}

const char *symbolic_outcome(const struct symbolic_group *g)
{
	const struct symbolic_adversary *a = g->adversary;
	static const struct symbolic_adversary none;
	static char text[500];

	if (!a)
		a = &none;
	snprintf(text, sizeof(text),
		 "%s: %s: expected %llu, seen %llu (host %u, round %u; order %u, hold %u, victim %u, block %u, seed %#llx)",
		 shapes_text(g->algorithm, &g->shape),
		 symbolic_fault_text[g->outcome.fault],
		 (unsigned long long)g->outcome.expected,
		 (unsigned long long)g->outcome.seen, g->outcome.host, g->outcome.round,
		 a->order, a->hold, a->victim, a->block, (unsigned long long)a->seed);
	return text;
}
