/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The script that the target "packets" reads. Any bytes are a valid script. It begins with
 * hosts and ranks, window and segments, algorithm, faults and work (a byte each), and with
 * WITH_ALGORITHMS another byte; then events, each a byte and its operands. seeds.c writes
 * such scripts.
 */
#ifndef COLL_FUZZ_EVENTS_H
#define COLL_FUZZ_EVENTS_H

enum fuzz_event {
	EVENT_BARRIER,		/* rank, algorithm */
	EVENT_ALLREDUCE,	/* rank, type, operator, elements */
	EVENT_POST,		/* rank, struct collsock_post unchanged */
	EVENT_RUN,		/* logarithm of microseconds */
	EVENT_STEP,		/* packets or deadlines */
	EVENT_LEAVE,		/* rank: leaves, or joins if it has not joined */
	EVENT_FAIL,		/* host, reason, rank */
	EVENT_JOIN_NOTICE,		/* host, host that sent an early packet */
	EVENT_CUT,		/* host: cut off, or reconnected */
	EVENT_RESTART,		/* host: loses its state and joins again */
	EVENT_EXPIRE,		/* host: the timer fires early */
	EVENT_RAW,		/* from, to, length, bytes */
	EVENT_SEALED,		/* from, to, fields; see target_packets.c */
	EVENT_CHANGED,		/* which packet, how, changes */
	EVENT_REPLAY,		/* which packet, from, to */
	EVENT_DROP,		/* which of the next packets */
	EVENTS
};

/* In the second byte: the group has a multicast address */
#define WITH_MULTICAST	64

/*
 * There, too: it has all algorithms. A fifth byte chooses which of them AUTO is, and a last
 * operand of each post which one it names.
 */
#define WITH_ALGORITHMS	128

/* Bits of "how" */
#define CHANGE_RESEAL	1	/* by an attacker with the key */
#define CHANGE_LENGTH	8	/* an operand follows: bytes off, or on */
#define CHANGE_COUNT	0x70	/* changes that follow: offset, value */

#endif
