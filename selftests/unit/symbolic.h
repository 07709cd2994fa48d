/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A symbolic executor of schedules, which checks every algorithm.
 *
 * It runs one operation of a whole group. A host's register holds an expression instead of
 * a number, so that it shows which contributions were folded, how often and in what order.
 * Equal expressions are stored once and have equal numbers, so that comparing the results
 * of two hosts is comparing two integers.
 *
 * Each message also carries the set of hosts that its sender knew to have arrived; a host
 * that completes must know of all. This is stronger than that all have arrived: a host that
 * can complete without knowing of another would also complete if the other had not arrived.
 *
 * A host that does not contribute begins with an empty register, and with the first message
 * if that is received before it has arrived; reading an empty register is a fault. One that
 * does not receive the result completes when it arrives, whatever remains of its schedule.
 *
 * In a place-only schedule a host holds blocks instead, those of all hosts having the same
 * content everywhere: it may send what it holds, and must not receive what it holds already.
 *
 * Of a schedule of parts one block is followed, as if nothing else were sent or awaited: so each
 * block has to be sound by itself. What was sent of it must not change before it is folded.
 *
 * Of a schedule of prefixes the register has to be what all hosts up to this one contribute, and
 * the messages, the last one on the left, what those below it do.
 *
 * In a reduction with a root nodes are counted from the root on: node i is host (root + i)
 * mod n, and the lower node is on the left. Otherwise the root is host 0.
 *
 * In a downward phase each edge, and each entry that receives along one, has what the source had
 * when it began it; and all that was sent before had been folded by then.
 *
 * The adversary chooses the next of all possible events: a host arrives, or a message in
 * flight is delivered.
 */
#ifndef COLL_UNIT_SYMBOLIC_H
#define COLL_UNIT_SYMBOLIC_H

#include "registry.h"

#define SYMBOLIC_EACH_VICTIM	32	/* up to this size, each host is the victim once */
#define SYMBOLIC_ROOTED_VICTIM	8	/* likewise if the root is not host 0 */
#define SYMBOLIC_EACH_BLOCK	8	/* up to this number, each block is followed */

enum symbolic_fault {
	SYMBOLIC_SOUND,
	SYMBOLIC_NOT_BUILT,
	SYMBOLIC_BLOCKS,
	SYMBOLIC_SYNCHRONISING,
	SYMBOLIC_DEADLOCK,
	SYMBOLIC_NOT_AWAITED,
	SYMBOLIC_TWICE,
	SYMBOLIC_LEFT_OVER,
	SYMBOLIC_TOO_EARLY,
	SYMBOLIC_NOT_KNOWN,
	SYMBOLIC_EMPTY,
	SYMBOLIC_COUNT,
	SYMBOLIC_ORDER,
	SYMBOLIC_DIFFERENT,
	SYMBOLIC_OPERATION,
	SYMBOLIC_NOT_HELD,
	SYMBOLIC_HELD,
	SYMBOLIC_RANGE,
	SYMBOLIC_RESULT,
	SYMBOLIC_PREFIX,
	SYMBOLIC_CHANGED,
	SYMBOLIC_DOWN_EDGE,
	SYMBOLIC_DOWN_SOURCE,
	SYMBOLIC_DOWN,
	SYMBOLIC_UP,
};

enum symbolic_order {
	SYMBOLIC_FIFO,		/* oldest first: all arrive before the first delivery */
	SYMBOLIC_LIFO,		/* newest first: each host runs ahead as far as it can */
	SYMBOLIC_RANDOM,
};

/* What is postponed as long as anything else is possible */
enum symbolic_hold {
	SYMBOLIC_HOLD_NOTHING,
	SYMBOLIC_HOLD_ARRIVAL,	/* of the victim */
	SYMBOLIC_HOLD_TO,	/* messages to the victim */
	SYMBOLIC_HOLD_FROM,	/* messages from the victim */
};

struct symbolic_adversary {
	enum symbolic_order order;
	enum symbolic_hold hold;
	u32 victim;
	u32 block;	/* to follow, of a schedule of parts */
	u64 seed;
};

/* Number 0 is the empty register, 1 + h the contribution of host h. */
struct symbolic_expression {
	u32 left, right;	/* 0 for a contribution */
	u32 first, last;	/* nodes whose contributions are at its ends */
	u64 contributions;
	u64 disorders;		/* neighbours that are not node and next node */
};

struct symbolic_message {
	u32 from, to;
	u8 round;
	u32 value;
	u32 first, blocks;	/* of a place-only schedule, or one of parts */
};

struct symbolic_host {
	struct coll_schedule schedule;
	u32 reg[COLL_MAX_REGISTERS];
	u32 below;		/* of prefixes: what its messages fold to; 0 if nothing */
	u32 came[COLL_MAX_EDGES];	/* by fold entry: 1 + number of the message */
	u32 round;
	u32 missing;		/* messages of the round that have not come */
	bool contributes;
	bool receives;
	bool arrived;
	bool begun;		/* its schedule */
};

/* A move is the number of a host that arrives, or hosts + number of a message. */
struct symbolic_moves {
	u32 *move;
	u32 first, end;
};

struct symbolic_group {
	const struct coll_algorithm *algorithm;
	const struct symbolic_adversary *adversary;
	struct coll_shape shape;
	u32 hosts;		/* of the shape */
	struct symbolic_host *host;
	bool built;		/* otherwise the result has a fault of building */

	struct symbolic_message *message;
	u32 messages;
	u32 folded;

	struct symbolic_moves ready, held;
	u64 random;

	u64 *known_by_host, *known_in_message;
	u64 *held_by_host;	/* blocks, in a place-only schedule */
	u32 words;		/* of one set of hosts */

	struct symbolic_expression *expression;
	u32 expressions;
	u32 *hash;
	u32 hash_mask;

	u32 arrived;
	u32 result;		/* the expression that all receivers must hold; 0 if none yet */
	u32 up;			/* messages that are sent before any downward phase */
	u32 down;		/* the expression that it sends; 0 if it has not begun */
	bool begun_down;	/* it has; a barrier sends nothing that is folded */

	/* Allocated lengths of the arrays, which grow and are reused */
	struct {
		size_t host, message, ready, held;
		size_t known_by_host, known_in_message, held_by_host;
		size_t expression, hash;
	} room;

	/* The first fault: at which host and round, and the two values. */
	struct {
		enum symbolic_fault fault;
		u32 host, round;
		u64 expected, seen;
	} outcome;
};

/*
 * Build the schedules of a group, to be run any number of times. @g is all zero or holds
 * another group. A fault of building is in the result, and stays there.
 */
void symbolic_build(struct symbolic_group *g, const struct coll_algorithm *algorithm,
		    const struct coll_shape *shape);

void symbolic_free(struct symbolic_group *g);

/* Run one operation against an adversary; then see g->outcome. */
void symbolic_run(struct symbolic_group *g, const struct symbolic_adversary *adversary);

/* The same with one victim after another, and one block after another, until a fault */
void symbolic_run_victims(struct symbolic_group *g, struct symbolic_adversary *adversary);

/* The result as text, with both values and all that is needed to reproduce it. */
const char *symbolic_outcome(const struct symbolic_group *g);

#endif
