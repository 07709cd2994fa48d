/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A schedule: what one host does in one collective operation, as data.
 *
 * It is a list of rounds. A round sends along its send edges when it begins, and ends when
 * a message tagged (operation, segment, round) has arrived on each of its receive edges.
 * Then the entries of its fold list are applied in list order, whatever the order of
 * arrival. A receive edge IS an entry of the fold list; an entry whose host is the
 * schedule's own host ("self") represents the register's value when the round began. A
 * round without fold entries leaves the registers unchanged.
 *
 * The first entry of a round for a register is PLACE, later ones fold:
 *   FOLD_RIGHT	register = register op message
 *   FOLD_LEFT	register = message op register
 *   PLACE	register = message
 * Lists are canonical: the lower rank is always the left operand, on every
 * host, so all ranks get identical bits.
 *
 * A place-only schedule (COLL_FORM_PLACES) moves blocks of a vector with one block for each host,
 * of any length. It has one register, and all its fold entries PLACE a message. No two of them
 * cover the same block, nor one that the host has contributed: so a message is received
 * directly into the vector, and what was sent stays unchanged. Ranges of blocks are modulo
 * hosts.
 *
 * A schedule of parts (COLL_FORM_PARTS) folds a vector in blocks of elements, which are equally
 * long but for the last ones. It has one register, which changes in place: an entry folds a message
 * with the blocks that it names, or places it there, and none is self. Blocks that were sent change
 * only in a later round, and only by placing a message from the host to which they were sent: that
 * host has them then, and ignores a retransmission.
 *
 * A schedule of prefixes (COLL_FORM_PREFIXES) has one register, and a round receives at most one
 * message, which is of a lower host and folded on the left. So the messages, the last one on the
 * left, fold to what all hosts below contribute. The round with an entry PREFIX receives none. In
 * it the host folds the messages, and then the outcome with a prefix of its own ranks for each of
 * these (prefix.h).
 *
 * A schedule may have a downward phase: one host, the source, has all that the others are to
 * receive, and from some round on every send edge sends that, and every other host has one fold
 * entry, PLACE, that receives it from its parent. So a copy that the source sends to all at once
 * can stand for the message of each of these entries.
 *
 * A message is identified at its receiver by (round, sender): no round has two receive
 * edges from one host, nor two send edges to one. Self occurs at most once for each
 * register. Rounds have the same numbers on all hosts; a host that has nothing to do in one
 * has an empty round there.
 *
 * Schedules are immutable once built, and independent of algorithms, messages and time.
 * Reference: the "precomputed patterns" of the SCI Collectives Library (§3).
 */
#ifndef COLL_CORE_SCHEDULE_H
#define COLL_CORE_SCHEDULE_H

#include "base.h"

#define COLL_MAX_ROUNDS		40
#define COLL_MAX_EDGES		128	/* send edges of one host; fold entries likewise */
#define COLL_MAX_REGISTERS	2
#define COLL_NO_DOWN		0xff	/* no index of an edge: there is no such edge */

enum coll_action {
	COLL_SEND,
	COLL_PLACE,
	COLL_FOLD_LEFT,
	COLL_FOLD_RIGHT,
	COLL_PREFIX,
};

enum coll_form {
	COLL_FORM_FOLDS,
	COLL_FORM_PLACES,
	COLL_FORM_PREFIXES,
	COLL_FORM_PARTS,
};

/**
 * struct coll_edge - one line of a round
 * @host: the other side; the own host in a fold list means "self"
 * @first_block: first block of the payload that it covers
 * @blocks: number of blocks that it covers
 * @reg: register that is sent or folded into
 * @action: enum coll_action
 * @fan_in: of a send edge: number of receive edges that its receiver has in this round
 */
struct coll_edge {
	u32	host;
	u16	first_block;
	u16	blocks;
	u8	reg;
	u8	action;
	u8	fan_in;
};

/**
 * struct coll_round - one round
 * @send_first: index of its first edge in coll_schedule.send
 * @sends: number of its send edges
 * @fold_first: index of its first entry in coll_schedule.fold
 * @folds: number of its fold entries, self included
 * @recvs: number of receive edges among these
 */
struct coll_round {
	u8	send_first;
	u8	sends;
	u8	fold_first;
	u8	folds;
	u8	recvs;
};

/**
 * struct coll_schedule - what one host does in one operation
 * @hosts: hosts of the group
 * @self: the host whose schedule it is
 * @rounds: number of rounds
 * @sends: number of send edges in all rounds
 * @folds: number of fold entries in all rounds
 * @registers: registers used
 * @blocks: number of blocks of a vector; 1 unless it is in parts; 0 if it is place-only: one for
 *	each host
 * @form: enum coll_form
 * @synchronising: completion here implies that every host has begun
 * @down_send: send edges from this index on are those of the downward phase; COLL_NO_DOWN: there
 *	is no such phase
 * @down_fold: the fold entry of it; COLL_NO_DOWN at the source, and where there is no such phase
 * @down_round: the round of that entry
 * @source: the host where the downward phase begins, if there is one
 * @round: the rounds
 * @send: send edges, in the order of their rounds
 * @fold: fold entries, in the order of their rounds
 */
struct coll_schedule {
	u32			hosts;
	u32			self;
	u8			rounds;
	u8			sends;
	u8			folds;
	u8			registers;
	u16			blocks;
	bool			synchronising;
	u8			form;
	u8			down_send;
	u8			down_fold;
	u8			down_round;
	u32			source;
	struct coll_round	round[COLL_MAX_ROUNDS];
	struct coll_edge	send[COLL_MAX_EDGES];
	struct coll_edge	fold[COLL_MAX_EDGES];
};

/**
 * struct coll_room - memory needed to run a schedule
 * @messages: one for each send edge
 * @values: initial registers, plus those after each round that folds
 * @early: one buffer for each fold entry
 */
struct coll_room {
	u32	messages;
	u32	values;
	u32	early;
};

/* Do its edges name blocks, rather than the whole vector? */
static inline bool coll_schedule_has_blocks(const struct coll_schedule *s)
{
	return s->form == COLL_FORM_PLACES || s->form == COLL_FORM_PARTS;
}

u32 coll_schedule_last_value(const struct coll_schedule *s);

/*
 * Building: start, then for each round coll_schedule_round() and its lines. A generator
 * stops at the first error, which leaves the schedule unusable.
 */
int coll_schedule_start(struct coll_schedule *s, u32 hosts, u32 self);
int coll_schedule_start_places(struct coll_schedule *s, u32 hosts, u32 self);
int coll_schedule_start_prefixes(struct coll_schedule *s, u32 hosts, u32 self);
int coll_schedule_start_parts(struct coll_schedule *s, u32 hosts, u32 self, u32 blocks);
int coll_schedule_round(struct coll_schedule *s);
int coll_schedule_send(struct coll_schedule *s, u32 host, u8 reg);
void coll_schedule_fan_in(struct coll_schedule *s, u32 hosts);
int coll_schedule_fold(struct coll_schedule *s, u32 host, u8 reg,
		       enum coll_action action);
int coll_schedule_combine(struct coll_schedule *s, u32 host, u8 reg,
			  enum coll_action side);
int coll_schedule_prefix(struct coll_schedule *s);
void coll_schedule_down(struct coll_schedule *s, u32 source);
int coll_schedule_down_place(struct coll_schedule *s, u32 host);
int coll_schedule_send_blocks(struct coll_schedule *s, u32 host, u32 first, u32 blocks);
int coll_schedule_fold_blocks(struct coll_schedule *s, u32 host, u32 first, u32 blocks,
			      enum coll_action action);

/* Rules for a line, by which tests check whole schedules (selftests/unit/validate.c) */
bool coll_schedule_send_ok(const struct coll_schedule *s, const struct coll_round *r,
			   const struct coll_edge *e);
bool coll_schedule_fold_ok(const struct coll_schedule *s, const struct coll_round *r,
			   const struct coll_edge *e);

void coll_schedule_room(const struct coll_schedule *s, struct coll_room *room);
void coll_room_grow(struct coll_room *room, u32 messages, u32 values, u32 early);
/**
 * coll_schedule_find() - find the fold entry of a message
 * @s: a valid schedule
 * @round: round that the message names; may be anything
 * @host: host that sent it; may be anything
 *
 * Called for each message received. It searches from the end, because an entry for self is
 * mostly first: in the usual round with one receive edge, one comparison suffices.
 *
 * Return: the index in @s->fold, or -ENOENT if the schedule expects no such message.
 */
static inline int coll_schedule_find(const struct coll_schedule *s, u8 round, u32 host)
{
	const struct coll_round *r;
	unsigned int i;

	if (unlikely(round >= s->rounds || host == s->self))
		return -ENOENT;

	r = &s->round[round];
	for (i = r->fold_first + r->folds; i-- > r->fold_first;)
		if (likely(s->fold[i].host == host))
			return i;
	return -ENOENT;
}

#endif
