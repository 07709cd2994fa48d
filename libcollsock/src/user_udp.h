/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The UDP socket of a rank, and the packets that wait to be sent and that have come. One is bound
 * to each address by which the rank may be reached, before the ranks meet; the packets of ranks
 * that join earlier than this one wait in it.
 *
 * The socket is not connected, so errors of the network (ICMP) are not reported. Packets may be
 * fragmented by routers, and path MTUs reported by ICMP are ignored, as in the kernel.
 */
#ifndef COLLSOCK_USER_UDP_H
#define COLLSOCK_USER_UDP_H

#include "../../kernel/core/env.h"
#include "user_address.h"

#define USER_UDP_BATCH	32	/* packets that one call sends or receives */

/**
 * struct user_udp_packet - a packet that waits to be sent
 * @to: its destination
 * @to_bytes: length of that
 * @host: number of the host
 * @bytes: its length
 */
struct user_udp_packet {
	union user_address	to;
	socklen_t		to_bytes;
	u32			host;
	u32			bytes;
};

/* A packet that was not sent, and why */
struct user_udp_unsent {
	u32	host;
	int	error;
};

/**
 * struct user_udp - see there
 * @fd: the socket
 * @self: its address
 * @self_bytes: length of that
 * @stride: room for a packet, which is longer than any of the group
 * @count: packets that wait to be sent
 * @packet: these
 * @unsent_count: packets that were not sent, and are to be reported
 * @unsent: these
 * @sent: contents of packets that wait to be sent
 * @received: contents of packets that have come
 * @arrivals: for the call that receives, made once
 */
struct user_udp {
	int			fd;
	union user_address	self;
	socklen_t		self_bytes;
	u32			stride;
	u32			count;
	struct user_udp_packet	packet[USER_UDP_BATCH];
	u32			unsent_count;
	struct user_udp_unsent	unsent[USER_UDP_BATCH];
	u8			*sent;
	u8			*received;
	struct user_udp_arrivals	*arrivals;
};

/* A socket that is bound to this address; its port may be 0. Or a negative errno. */
int user_udp_bind(const union user_address *address, socklen_t bytes);

/* Set up a socket that somebody else has bound to an address of @family. 0, or a negative errno */
int user_udp_set_up(int fd, int family);

/*
 * Mark the socket of a rank that has joined, for all processes that have it, and read the mark. The
 * option means nothing for UDP. The process has it locked from then on, until it ends or has closed
 * the socket after time-wait.
 */
void user_udp_mark_joined(int fd);
bool user_udp_has_joined(int fd);

/* Is it the socket of a rank that has joined in another process, which still has it locked? */
bool user_udp_is_used(int fd);

/* That process; 0: there is none, or it is in another PID namespace */
pid_t user_udp_user(int fd);

/* Drop the packets that have come. */
void user_udp_discard(int fd);

/* Use that socket for packets of @packet_bytes. 0, or a negative errno. It is freed after both. */
int user_udp_init(struct user_udp *udp, int fd, u32 packet_bytes);
void user_udp_free(struct user_udp *udp);

/* Where the next packet, of @bytes, is to be written */
u8 *user_udp_blank(struct user_udp *udp, u32 bytes);

/* Send what was written there with the next user_udp_flush(), or earlier. */
void user_udp_send(struct user_udp *udp, u32 host, const struct collsock_member *to);

/* Send all that wait. Packets that the host does not let out are in @unsent then. */
void user_udp_flush(struct user_udp *udp);

/* Memory of packets in queues of this host, as the host counts it */
u32 user_udp_queued(const struct user_udp *udp);

/**
 * struct user_udp_arrival - a packet that has come
 * @from: its source
 * @packet: its contents, aligned to 8 bytes
 * @bytes: its length; longer than any packet of the group if it was cut
 * @ce: the network has marked it "congestion experienced"
 */
struct user_udp_arrival {
	const union user_address	*from;
	const u8		*packet;
	u32			bytes;
	bool			ce;
};

/*
 * Receive packets that have come, and then pass them to @receive. Returns how many: USER_UDP_BATCH,
 * or all. The caller may look at the clock between the two.
 */
u32 user_udp_receive(struct user_udp *udp);
void user_udp_take_all(struct user_udp *udp, u32 count,
		       void (*receive)(void *ctx, const struct user_udp_arrival *arrival),
		       void *ctx);

/*
 * Sleep until a packet comes, a signal is handled, or user_udp_interrupt() is called. Returns the
 * length of the packet, for user_udp_take(), or a negative errno; -EAGAIN: check whether what the
 * caller waits for has happened. Only one thread may be between the two calls; others may receive.
 */
int user_udp_sleep(struct user_udp *udp);

/* The same for @ns at most, but the packet stays where it is. 0, or a negative errno */
int user_udp_poll(struct user_udp *udp, u64 ns);
void user_udp_take(struct user_udp *udp, u32 bytes,
		   void (*receive)(void *ctx, const struct user_udp_arrival *arrival), void *ctx);

/* Wake the thread that sleeps there, or will do so. */
void user_udp_interrupt(struct user_udp *udp);

#endif
