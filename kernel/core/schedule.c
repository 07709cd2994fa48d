// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Building and searching schedules. The rules for a line are written once: the builder
 * applies them to each line as it is added, and tests to each line of a whole schedule.
 */
#include "schedule.h"

static_assert(COLL_MAX_ROUNDS <= 255, "coll_schedule.rounds is a u8");
static_assert(COLL_MAX_EDGES <= 255, "coll_round counts and indexes edges in u8");

static bool schedule_blocks_ok(const struct coll_schedule *s, const struct coll_edge *e)
{
	if (s->form == COLL_FORM_PLACES)
		return e->blocks && e->first_block < s->hosts && e->blocks <= s->hosts;
	return e->blocks && (u32)e->first_block + e->blocks <= s->blocks;
}

/* Rule for send edges and fold entries: all that they name exists. */
static bool schedule_edge_ok(const struct coll_schedule *s, const struct coll_edge *e)
{
	return e->host < s->hosts && e->reg < s->registers && schedule_blocks_ok(s, e);
}

/* Do two ranges of blocks, modulo hosts, have none in common? */
static bool schedule_disjoint(const struct coll_schedule *s, const struct coll_edge *a,
			      const struct coll_edge *b)
{
	u32 to_b = (b->first_block + s->hosts - a->first_block) % s->hosts;
	u32 to_a = (a->first_block + s->hosts - b->first_block) % s->hosts;

	return to_b >= a->blocks && to_a >= b->blocks;
}

/* Do two ranges of blocks have any in common, if they are not modulo hosts? */
static bool schedule_overlap(const struct coll_edge *a, const struct coll_edge *b)
{
	return a->first_block < (u32)b->first_block + b->blocks &&
	       b->first_block < (u32)a->first_block + a->blocks;
}

/* Rule for fold entries of a schedule of parts: do they leave sent bytes unchanged? */
static bool schedule_part_ok(const struct coll_schedule *s, const struct coll_round *r,
			     const struct coll_edge *e)
{
	const struct coll_edge *send = s->send, *fold;

	if (e->reg || e->host == s->self)
		return false;
	for (fold = &s->fold[r->fold_first]; fold < e; fold++)
		if (fold->host == e->host)
			return false;
	for (; send < &s->send[r->send_first]; send++)
		if (schedule_overlap(send, e) && (e->action != COLL_PLACE || send->host != e->host))
			return false;
	for (; send < &s->send[r->send_first + r->sends]; send++)
		if (schedule_overlap(send, e))
			return false;
	return e->action == COLL_PLACE || e->action == COLL_FOLD_LEFT ||
	       e->action == COLL_FOLD_RIGHT;
}

/* Rule for fold entries of a place-only schedule; @first is that of the round. */
static bool schedule_place_ok(const struct coll_schedule *s, const struct coll_edge *first,
			      const struct coll_edge *e)
{
	const struct coll_edge *before;

	if (e->action != COLL_PLACE || e->reg || e->host == s->self)
		return false;
	for (before = s->fold; before < e; before++)
		if (!schedule_disjoint(s, before, e) ||
		    (before >= first && before->host == e->host))
			return false;
	return true;
}

/* Additional rule for fold entries of a schedule of prefixes: messages are of hosts below. */
static bool schedule_prefix_ok(const struct coll_schedule *s, const struct coll_edge *first,
			       const struct coll_edge *e)
{
	const struct coll_edge *before;

	if (e->reg)
		return false;
	if (e->host == s->self)
		return e->action == COLL_PLACE || (e->action == COLL_PREFIX && e == first);
	for (before = first; before < e; before++)
		if (before->host != s->self || before->action == COLL_PREFIX)
			return false;
	return e->host < s->self && e->action == COLL_FOLD_LEFT;
}

/**
 * coll_schedule_send_ok - does a send edge keep the rules at the top of schedule.h?
 * @s: the schedule; its head is valid
 * @r: the round
 * @e: the line to check; those of the round before it are valid
 */
bool coll_schedule_send_ok(const struct coll_schedule *s, const struct coll_round *r,
			   const struct coll_edge *e)
{
	const struct coll_edge *first = &s->send[r->send_first], *before;

	if (!schedule_edge_ok(s, e) || e->action != COLL_SEND || e->host == s->self)
		return false;
	for (before = first; before < e; before++)
		if (before->host == e->host)
			return false;
	return true;
}

/**
 * coll_schedule_fold_ok - does a fold entry keep the rules at the top of schedule.h?
 * @s: the schedule; its head is valid
 * @r: the round, with its send edges
 * @e: the line to check; those of the round before it are valid
 */
bool coll_schedule_fold_ok(const struct coll_schedule *s, const struct coll_round *r,
			   const struct coll_edge *e)
{
	const struct coll_edge *first = &s->fold[r->fold_first], *before;
	bool named = false;

	if (!schedule_edge_ok(s, e))
		return false;
	if (s->form == COLL_FORM_PLACES)
		return schedule_place_ok(s, first, e);
	if (s->form == COLL_FORM_PARTS)
		return schedule_part_ok(s, r, e);
	if (s->form == COLL_FORM_PREFIXES && !schedule_prefix_ok(s, first, e))
		return false;
	for (before = first; before < e; before++) {
		if (before->reg == e->reg)
			named = true;
		if (before->host != e->host)
			continue;
		if (e->host != s->self || before->reg == e->reg)
			return false;
	}
	switch (e->action) {
	case COLL_PLACE:
		return !named;
	case COLL_FOLD_LEFT:
	case COLL_FOLD_RIGHT:
		return named;
	case COLL_PREFIX:
		return s->form == COLL_FORM_PREFIXES;
	default:
		return false;
	}
}

/**
 * coll_schedule_start - start building a schedule
 * @s: the schedule; overwritten
 * @hosts: hosts of the group
 * @self: the host whose schedule it is
 *
 * The schedule has no rounds yet, and one register, which holds the host's contribution and
 * finally the result.
 *
 * Return: 0, or -EINVAL if there is no such group or no such host in it.
 */
int coll_schedule_start(struct coll_schedule *s, u32 hosts, u32 self)
{
	if (hosts > COLLSOCK_MAX_HOSTS || self >= hosts)
		return -EINVAL;

	s->hosts = hosts;
	s->self = self;
	s->rounds = 0;
	s->sends = 0;
	s->folds = 0;
	s->registers = 1;
	s->blocks = 1;
	s->synchronising = false;
	s->form = COLL_FORM_FOLDS;
	s->down_send = COLL_NO_DOWN;
	s->down_fold = COLL_NO_DOWN;
	return 0;
}

/**
 * coll_schedule_start_places - start building a place-only schedule
 * @s: the schedule; overwritten
 * @hosts: hosts of the group
 * @self: the host whose schedule it is
 *
 * Return: as coll_schedule_start().
 */
int coll_schedule_start_places(struct coll_schedule *s, u32 hosts, u32 self)
{
	int err = coll_schedule_start(s, hosts, self);

	s->form = COLL_FORM_PLACES;
	s->blocks = 0;
	return err;
}

/**
 * coll_schedule_start_prefixes - start building a schedule of prefixes
 * @s: the schedule; overwritten
 * @hosts: hosts of the group
 * @self: the host whose schedule it is
 *
 * Return: as coll_schedule_start().
 */
int coll_schedule_start_prefixes(struct coll_schedule *s, u32 hosts, u32 self)
{
	int err = coll_schedule_start(s, hosts, self);

	s->form = COLL_FORM_PREFIXES;
	return err;
}

/**
 * coll_schedule_start_parts - start building a schedule of parts
 * @s: the schedule; overwritten
 * @hosts: hosts of the group
 * @self: the host whose schedule it is
 * @blocks: of the vector, 1…65535
 *
 * Return: as coll_schedule_start().
 */
int coll_schedule_start_parts(struct coll_schedule *s, u32 hosts, u32 self, u32 blocks)
{
	int err = coll_schedule_start(s, hosts, self);

	s->form = COLL_FORM_PARTS;
	s->blocks = blocks;
	return err;
}

/**
 * coll_schedule_round - start the next round
 * @s: a started schedule
 *
 * It is empty until lines are added.
 *
 * Return: 0, or -E2BIG if there are COLL_MAX_ROUNDS already.
 */
int coll_schedule_round(struct coll_schedule *s)
{
	struct coll_round *r;

	if (s->rounds >= COLL_MAX_ROUNDS)
		return -E2BIG;

	r = &s->round[s->rounds++];
	r->send_first = s->sends;
	r->sends = 0;
	r->fold_first = s->folds;
	r->folds = 0;
	r->recvs = 0;
	return 0;
}

/* Set a line for the whole payload, adding the register to the schedule if it is new. */
static int schedule_edge_set(struct coll_schedule *s, struct coll_edge *e, u32 host, u8 reg,
			     enum coll_action action)
{
	if (reg >= COLL_MAX_REGISTERS)
		return -EINVAL;
	if (reg >= s->registers)
		s->registers = reg + 1;

	e->host = host;
	e->first_block = 0;
	e->blocks = s->blocks;
	e->reg = reg;
	e->action = action;
	e->fan_in = 1;
	return 0;
}

/* The next send edge, or fold entry, or an error: is there a round, is there room? */
static int schedule_line(struct coll_schedule *s, struct coll_edge *lines, u32 used,
			 struct coll_edge **e)
{
	if (!s->rounds)
		return -EINVAL;
	if (used >= COLL_MAX_EDGES)
		return -E2BIG;
	*e = &lines[used];
	return 0;
}

static int schedule_send_add(struct coll_schedule *s, const struct coll_edge *e)
{
	struct coll_round *r = &s->round[s->rounds - 1];

	if (!coll_schedule_send_ok(s, r, e))
		return -EINVAL;
	r->sends++;
	s->sends++;
	return 0;
}

static int schedule_fold_add(struct coll_schedule *s, const struct coll_edge *e)
{
	struct coll_round *r = &s->round[s->rounds - 1];

	if (!coll_schedule_fold_ok(s, r, e))
		return -EINVAL;
	r->folds++;
	if (e->host != s->self)
		r->recvs++;
	s->folds++;
	return 0;
}

/* Set a line for a range of blocks. */
static void schedule_edge_set_blocks(struct coll_edge *e, u32 host, u32 first, u32 blocks,
				     enum coll_action action)
{
	e->host = host;
	e->first_block = first;
	e->blocks = blocks;
	e->reg = 0;
	e->action = action;
	e->fan_in = 1;
}

/**
 * coll_schedule_send - the current round sends a register
 * @s: a schedule in a round
 * @host: destination
 * @reg: register to send
 *
 * Return: 0; -EINVAL if no round has begun or the line breaks a rule; -E2BIG if
 * there are COLL_MAX_EDGES send edges already.
 */
int coll_schedule_send(struct coll_schedule *s, u32 host, u8 reg)
{
	struct coll_edge *e;
	int err = schedule_line(s, s->send, s->sends, &e);

	err = err ?: schedule_edge_set(s, e, host, reg, COLL_SEND);
	return err ?: schedule_send_add(s, e);
}

/**
 * coll_schedule_send_blocks - the current round sends blocks of the vector
 * @s: a place-only schedule, or one of parts, in a round
 * @host: destination
 * @first: the first block; of a place-only schedule that of a host
 * @blocks: number of blocks, modulo hosts if it is place-only
 *
 * Return: as coll_schedule_send().
 */
int coll_schedule_send_blocks(struct coll_schedule *s, u32 host, u32 first, u32 blocks)
{
	struct coll_edge *e;
	int err = schedule_line(s, s->send, s->sends, &e);

	if (err)
		return err;
	schedule_edge_set_blocks(e, host, first, blocks, COLL_SEND);
	return schedule_send_add(s, e);
}

/**
 * coll_schedule_fold_blocks - the current round receives blocks of the vector
 * @s: a place-only schedule, or one of parts, in a round that has its send edges
 * @host: sender of the message
 * @first: as for coll_schedule_send_blocks()
 * @blocks: likewise
 * @action: COLL_PLACE, or in a schedule of parts the side to fold on
 *
 * Return: as coll_schedule_fold().
 */
int coll_schedule_fold_blocks(struct coll_schedule *s, u32 host, u32 first, u32 blocks,
			      enum coll_action action)
{
	struct coll_edge *e;
	int err = schedule_line(s, s->fold, s->folds, &e);

	if (err)
		return err;
	schedule_edge_set_blocks(e, host, first, blocks, action);
	return schedule_fold_add(s, e);
}

/**
 * coll_schedule_fan_in - the receiver of the last send edge has several receive edges
 * @s: a schedule with a send edge
 * @hosts: number of them, in that round
 *
 * In that round, packets of up to @hosts hosts may arrive there at the same time.
 */
void coll_schedule_fan_in(struct coll_schedule *s, u32 hosts)
{
	s->send[s->sends - 1].fan_in = min_t(u32, hosts, COLL_MAX_EDGES);
}

/**
 * coll_schedule_fold - the current round folds a message or the host's own register
 * @s: a schedule in a round
 * @host: sender of the message, or the own host for the register's former value
 * @reg: register to fold into
 * @action: COLL_PLACE for the round's first entry of @reg, else the side to fold on
 *
 * Return: 0; -EINVAL if no round has begun or the line breaks a rule; -E2BIG if
 * there are COLL_MAX_EDGES fold entries already.
 */
int coll_schedule_fold(struct coll_schedule *s, u32 host, u8 reg,
		       enum coll_action action)
{
	struct coll_edge *e;
	int err = schedule_line(s, s->fold, s->folds, &e);

	err = err ?: schedule_edge_set(s, e, host, reg, action);
	return err ?: schedule_fold_add(s, e);
}

/**
 * coll_schedule_combine - the current round folds a message onto a register's value
 * @s: a schedule in a round
 * @host: sender of the message
 * @reg: register to fold into
 * @side: COLL_FOLD_LEFT or COLL_FOLD_RIGHT
 *
 * Adds the pair of entries that most rounds consist of.
 *
 * Return: as coll_schedule_fold().
 */
int coll_schedule_combine(struct coll_schedule *s, u32 host, u8 reg,
			  enum coll_action side)
{
	int err = coll_schedule_fold(s, s->self, reg, COLL_PLACE);

	return err ?: coll_schedule_fold(s, host, reg, side);
}

/**
 * coll_schedule_prefix - the current round makes the prefixes of the ranks of this host
 * @s: a schedule of prefixes in a round, with all its messages in earlier rounds
 *
 * Return: as coll_schedule_fold().
 */
int coll_schedule_prefix(struct coll_schedule *s)
{
	return coll_schedule_fold(s, s->self, 0, COLL_PREFIX);
}

/**
 * coll_schedule_down - the downward phase begins
 * @s: a schedule whose send edges, from here on, all send what the source has now
 * @source: host where it begins
 */
void coll_schedule_down(struct coll_schedule *s, u32 source)
{
	s->down_send = s->sends;
	s->source = source;
}

/**
 * coll_schedule_down_place - the current round receives what the source has
 * @s: a schedule in a round of its downward phase, not that of the source
 * @host: the parent, which sends it
 *
 * Return: as coll_schedule_fold().
 */
int coll_schedule_down_place(struct coll_schedule *s, u32 host)
{
	int err = coll_schedule_fold(s, host, 0, COLL_PLACE);

	if (err)
		return err;
	s->down_fold = s->folds - 1;
	s->down_round = s->rounds - 1;
	return 0;
}

/*
 * Does a round fold into a new value? The prefixes of ranks are made in the buffers of messages and
 * local ranks instead.
 */
static bool schedule_folds(const struct coll_schedule *s, const struct coll_round *r)
{
	return r->folds && s->fold[r->fold_first].action != COLL_PREFIX;
}

/**
 * coll_room_grow - raise memory needs to cover something else as well
 * @room: the needs to raise
 * @messages: messages needed
 * @values: values needed
 * @early: early buffers needed
 */
void coll_room_grow(struct coll_room *room, u32 messages, u32 values, u32 early)
{
	room->messages = max(room->messages, messages);
	room->values = max(room->values, values);
	room->early = max(room->early, early);
}

/**
 * coll_schedule_room - raise memory needs to cover a schedule as well
 * @s: a valid schedule
 * @room: the needs to raise
 */
void coll_schedule_room(const struct coll_schedule *s, struct coll_room *room)
{
	u32 i, values = 1, early = 0;

	if (coll_schedule_has_blocks(s)) {
		coll_room_grow(room, s->sends, 1, s->form == COLL_FORM_PARTS ? s->folds : 0);
		return;
	}
	for (i = 0; i < s->rounds; i++) {
		if (!schedule_folds(s, &s->round[i]))
			continue;
		values++;
		early = s->round[i].fold_first + s->round[i].folds;
	}
	coll_room_grow(room, s->sends, values * s->registers, early);
}

/**
 * coll_schedule_last_value - which value is only folded, and not sent?
 * @s: a valid schedule
 *
 * Return: the number of the last value of its only register, counted from 0; 0 if there is no such
 * value, if it is sent, if it changes in place, or if there are several registers.
 */
u32 coll_schedule_last_value(const struct coll_schedule *s)
{
	u32 i, values = 0;
	bool sent = false;

	for (i = 0; i < s->rounds; i++) {
		sent |= s->round[i].sends;
		if (schedule_folds(s, &s->round[i])) {
			values++;
			sent = false;
		}
	}
	return sent || s->registers > 1 || s->form == COLL_FORM_PARTS ? 0 : values;
}
