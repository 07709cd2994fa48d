/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The protocol of a meeting over TCP. Numbers are in network byte order.
 *
 *	client		server
 *	hello				its rank and process, and a challenge
 *			answer, proof	the server's challenge and salt; it knows the secret
 *	proof				the client knows it, too
 *			message		welcome, or why it is refused; then messages both ways
 *
 * A proof is a MAC of hello and answer, with the secret as key. A message is a head, its payload
 * and a MAC, with a key of its direction that is derived from the secret, hello and answer.
 */
#ifndef COLLSOCK_MEETING_WIRE_H
#define COLLSOCK_MEETING_WIRE_H

#include <linux/types.h>

#define MEETING_MAGIC	"collmeet"
#define MEETING_VERSION	1
#define MEETING_BYTES	32	/* of a challenge, a digest, a key, a proof, a MAC */
#define MEETING_HALF	(MEETING_BYTES / 2)

/**
 * struct meeting_hello - the first bytes of a client
 * @magic: MEETING_MAGIC, without an end
 * @version: MEETING_VERSION
 * @attempt: of the job
 * @ranks: number of ranks of the job
 * @rank: of the client, from 1
 * @job: SHA-256 of the job's name
 * @process: random, the same in each try of this process: its former connection may have ended
 *	unnoticed by the server
 * @challenge: random, a new one for each try
 */
struct meeting_hello {
	__u8	magic[8];
	__be32	version;
	__be32	attempt;
	__be32	ranks;
	__be32	rank;
	__u8	job[MEETING_BYTES];
	__u8	process[MEETING_HALF];
	__u8	challenge[MEETING_HALF];
};

/**
 * struct meeting_answer - of the server, to a hello
 * @magic: MEETING_MAGIC, without an end
 * @version: MEETING_VERSION
 * @reserved: 0
 * @challenge: random
 * @salt: random, the same for all clients: of the group's key
 */
struct meeting_answer {
	__u8	magic[8];
	__be32	version;
	__be32	reserved;
	__u8	challenge[MEETING_BYTES];
	__u8	salt[MEETING_BYTES];
};

/* The input of proofs and keys: both sides have received the same */
struct meeting_transcript {
	struct meeting_hello	hello;
	struct meeting_answer	answer;
};

/* Kinds of messages. Those below 16 are of a meeting that goes on. */
enum meeting_kind {
	MEETING_WELCOME		= 1,	/* the client is its rank */
	MEETING_START		= 2,	/* all ranks are here */
	MEETING_DATA		= 3,	/* of an exchange: a block, or from the server all blocks */

	MEETING_OTHER_JOB	= 16,	/* refused: the server is of another job */
	MEETING_STALE		= 17,	/* of an attempt that the server has replaced */
	MEETING_NEWER		= 18,	/* of an attempt that replaces the server */
	MEETING_RANKS_DIFFER	= 19,	/* it counts other ranks: @rank is the server's count */
	MEETING_DUPLICATE	= 20,	/* another process is this rank */

	MEETING_LEFT		= 32,	/* failed: @rank has ended its connection */
	MEETING_TIMED_OUT	= 33,	/* @rank is late */
	MEETING_SIZES_DIFFER	= 34,	/* @rank sends something else than a block of this size */
};

/**
 * struct meeting_head - of a message
 * @kind: enum meeting_kind
 * @rank: which it is about, else 0
 * @bytes: of the payload, which only MEETING_DATA has
 */
struct meeting_head {
	__be32	kind;
	__be32	rank;
	__be64	bytes;
};

#endif
