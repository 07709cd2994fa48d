/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A stream of packets with the congestion control of TCP Reno (RFC 5681), with selective
 * acknowledgments: what a connection has to share a link with. It always has something to
 * send. Packets are not repeated but numbered on, since only their rate matters.
 */
#ifndef UNIT_RENO_H
#define UNIT_RENO_H

#include "../sim/world.h"

/* Bytes of a packet, and in it those of the stream */
#define RENO_BYTES	1448
#define RENO_MAX_FLIGHT	1024

/**
 * struct reno - the stream
 * @stream: its packets in the world
 * @world: the world
 * @from: host
 * @to: host
 * @most: packets in flight at most; TCP limits those that wait on its own host
 * @window: congestion window
 * @threshold: where slow start ends
 * @next: number of the next packet
 * @reduced: the next one when the window was last reduced
 * @acknowledged: all packets before this one are acknowledged, or lost
 * @unacknowledged: the latest packet to arrive
 * @flight: packets in flight
 * @heard_ns: when the latest acknowledgment came
 * @arrived: packets that have arrived
 * @lost: packets lost
 * @reductions: of the window
 */
struct reno {
	struct world_stream	stream;
	struct world		*world;
	u32			from;
	u32			to;
	u32			most;
	double			window;
	double			threshold;
	u64			next;
	u64			reduced;
	u64			acknowledged;
	u64			unacknowledged;
	u32			flight;
	u64			heard_ns;
	u64			arrived;
	u64			lost;
	u64			reductions;
};

void reno_start(struct reno *r, struct world *w, u32 from, u32 to, u32 most);

#endif
