/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * collsock: collective sockets. All that user space sees of the kernel.
 *
 * A socket of this family is one rank of a group. It joins the group with
 * setsockopt(COLLSOCK_JOIN), posts operations with send(), and takes their
 * completions with recv(). poll() says POLLIN when a completion waits,
 * POLLOUT when an operation can be posted, POLLERR when the group has failed or
 * a rank has left.
 *
 * Rules of every structure here: it holds no pointer and no hidden padding;
 * "size" is the size of the structure as the caller knows it; reserved bytes
 * are zero; a flag that is not defined here is refused with EINVAL. All numbers
 * are in the byte order of the host, addresses are bytes as they stand in a
 * packet.
 */
#ifndef _UAPI_LINUX_COLLSOCK_H
#define _UAPI_LINUX_COLLSOCK_H

#include <linux/types.h>
#include <linux/ioctl.h>

#include "collsock_lists.h"

#define COLLSOCK_VERSION	"1.0.0"	/* of all parts */

/*
 * There is no free family number for a module, so collsock takes one that the
 * kernel defines (AF_WANPIPE) and no longer implements. The module parameter
 * "family" chooses another.
 */
#define AF_COLLSOCK			25
#define SOL_COLLSOCK			425

/* The UDP port of every host that names none: unassigned, not ephemeral. */
#define COLLSOCK_PORT			7607

#define COLLSOCK_MAX_HOSTS		65536
#define COLLSOCK_MAX_RANKS		1048576
#define COLLSOCK_MAX_LOCAL_RANKS	1024	/* on one host */
#define COLLSOCK_MAX_LOCAL_BYTES	4194304	/* these times max_bytes: folded in one go */
#define COLLSOCK_MAX_WINDOW		64
#define COLLSOCK_DEFAULT_WINDOW		16
#define COLLSOCK_SEGMENT_QUANTUM	48	/* a segment is a multiple of it */
#define COLLSOCK_DEFAULT_SEGMENT	1152	/* bytes */
#define COLLSOCK_MAX_SEGMENT		8640	/* bytes: fits a 9,000 byte MTU */
#define COLLSOCK_MAX_PAYLOAD		65536	/* bytes */
#define COLLSOCK_MAX_FANOUT		64
#define COLLSOCK_MAX_KARY_HOSTS		4096	/* hosts of a group with a fan-out */
#define COLLSOCK_MAX_SPIN_US		10000
#define COLLSOCK_MIN_LIVENESS_MS	100
#define COLLSOCK_MAX_LIVENESS_MS	600000
#define COLLSOCK_NO_RANK		0xffffffffU

/* Socket options at SOL_COLLSOCK */
#define COLLSOCK_JOIN			1	/* set: struct collsock_join */
#define COLLSOCK_STATS			2	/* get: struct collsock_stats */
#define COLLSOCK_NET_STATS		3	/* get: struct collsock_net_stats */

/* What these numbers are, and their names, is listed in collsock_lists.h */
enum collsock_operation { COLLSOCK_OPERATION_LIST(COLLSOCK_NUMBER) };
enum collsock_type { COLLSOCK_TYPE_LIST(COLLSOCK_NUMBER) };
enum collsock_operator { COLLSOCK_OPERATOR_LIST(COLLSOCK_NUMBER) };
enum collsock_algorithm { COLLSOCK_AUTO = 0, COLLSOCK_ALGORITHM_LIST(COLLSOCK_NUMBER) };

/**
 * struct collsock_member - one host of the group
 * @family: AF_INET or AF_INET6
 * @port: UDP port; 0 is COLLSOCK_PORT
 * @scope_id: index of this host's interface to a link-local IPv6 address, else 0
 * @address: 4 or 16 bytes as inet_pton() gives them, the rest zero
 */
struct collsock_member {
	__u16	family;
	__u16	port;
	__u32	scope_id;
	__u8	address[16];
};

/**
 * struct collsock_join - what JOIN takes: this, then the hosts, then the ranks
 * @size: sizeof(struct collsock_join)
 * @flags: 0
 * @id: number of the group, chosen by its users
 * @nonce: fresh for each time the group is formed, equal on all ranks
 * @key: shared secret; all zero only where the tunable require_keys is 0
 * @hosts: number of struct collsock_member that follow
 * @ranks: number of __u32 that follow them: the host of each rank. Hosts stand
 *	in the order of their lowest rank.
 * @rank: the rank of this socket
 * @max_bytes: largest payload of one operation; 0 is one segment
 * @window: operations under way at once, 1…COLLSOCK_MAX_WINDOW; 0 is the tunable "window"
 *	of each host's namespace, COLLSOCK_DEFAULT_WINDOW unless set
 * @segment_bytes: largest payload of one packet; 0 is the default
 * @barrier_algorithm: enum collsock_algorithm
 * @allreduce_algorithm: enum collsock_algorithm
 * @reduce_algorithm: enum collsock_algorithm
 * @broadcast_algorithm: enum collsock_algorithm
 * @fanout: children of a host in k-ary trees, 2…COLLSOCK_MAX_FANOUT; 0 if the
 *	group is to have none
 * @reserved: 0
 * @liveness_ms: silence after which a host of this group counts as dead,
 *	COLLSOCK_MIN_LIVENESS_MS…COLLSOCK_MAX_LIVENESS_MS; 0 is each host's tunable
 *
 * All of it but @rank, and the scope ids of members, is equal on all ranks of
 * the group.
 */
struct collsock_join {
	__u32	size;
	__u32	flags;
	__u64	id;
	__u64	nonce;
	__u8	key[16];
	__u32	hosts;
	__u32	ranks;
	__u32	rank;
	__u32	max_bytes;
	__u16	window;
	__u16	segment_bytes;
	__u8	barrier_algorithm;
	__u8	allreduce_algorithm;
	__u8	reduce_algorithm;
	__u8	broadcast_algorithm;
	__u8	fanout;
	__u8	reserved[3];
	__u32	liveness_ms;
};

/*
 * Flag of a post: no completion if it succeeds. For a rank that needs no result; that
 * send() has taken it says all. A failure is told as ever.
 */
#define COLLSOCK_QUIET			0x1

/**
 * struct collsock_post - what send() takes: this, then the payload
 * @size: sizeof(struct collsock_post)
 * @operation: enum collsock_operation
 * @type: enum collsock_type
 * @op: enum collsock_operator
 * @algorithm: enum collsock_algorithm; COLLSOCK_AUTO is what the group chose
 * @flags: COLLSOCK_QUIET or 0
 * @root: rank of the root; 0 for an operation without one
 * @count: elements in the payload; the same on all ranks, though in a broadcast the
 *	root alone brings one
 * @reserved: 0
 * @cookie: comes back in the completion
 */
struct collsock_post {
	__u32	size;
	__u8	operation;
	__u8	type;
	__u8	op;
	__u8	algorithm;
	__u32	flags;
	__u32	root;
	__u32	count;
	__u32	reserved;
	__u64	cookie;
};

/**
 * struct collsock_completion - what recv() gives: this, then the result
 * @size: sizeof(struct collsock_completion)
 * @error: 0 or a (positive) errno
 * @failed_rank: the rank that @error speaks of, or COLLSOCK_NO_RANK
 * @bytes: bytes of the result
 * @cookie: of the post
 * @posted_ns: CLOCK_MONOTONIC when it was posted
 * @completed_ns: CLOCK_MONOTONIC when it completed
 */
struct collsock_completion {
	__u32	size;
	__u32	error;
	__u32	failed_rank;
	__u32	bytes;
	__u64	cookie;
	__u64	posted_ns;
	__u64	completed_ns;
};

/**
 * struct collsock_run - COLLSOCK_RUN: post and wait, in one buffer
 * @size: sizeof(struct collsock_run)
 * @buffer_bytes: room for data behind this structure
 * @spin_us: spin so long before sleeping or giving up, at most COLLSOCK_MAX_SPIN_US;
 *	0: the tunable busy_poll_us before sleeping, not at all before giving up
 * @reserved: 0
 * @post: as for send(); its payload stands behind this structure
 * @completion: out; its result stands behind this structure
 */
struct collsock_run {
	__u32				size;
	__u32				buffer_bytes;
	__u32				spin_us;
	__u32				reserved;
	struct collsock_post		post;
	struct collsock_completion	completion;
};

/**
 * struct collsock_wait - COLLSOCK_WAIT: take the completion of one cookie
 * @size: sizeof(struct collsock_wait)
 * @buffer_bytes: room for the result behind this structure
 * @spin_us: spin so long before sleeping or giving up, at most COLLSOCK_MAX_SPIN_US;
 *	0: the tunable busy_poll_us before sleeping, not at all before giving up
 * @reserved: 0
 * @cookie: whose; the oldest if several operations carry it
 * @completion: out; its result stands behind this structure
 */
struct collsock_wait {
	__u32				size;
	__u32				buffer_bytes;
	__u32				spin_us;
	__u32				reserved;
	__u64				cookie;
	struct collsock_completion	completion;
};

#define COLLSOCK_RUN	_IOWR('K', 0x70, struct collsock_run)
#define COLLSOCK_WAIT	_IOWR('K', 0x71, struct collsock_wait)

/*
 * struct collsock_stats: the group of this socket on this host. The counters, of 64 bits
 * each, and what they mean, are COLLSOCK_GROUP_COUNTER_LIST in collsock_lists.h.
 */
struct collsock_stats {
	__u32	size;	/* bytes of this structure that were filled */
	__u32	hosts;	/* hosts of the group */
	__u32	host;	/* index of this host */
	__u32	peers;	/* connections that exist now */

	COLLSOCK_GROUP_COUNTER_LIST(COLLSOCK_COUNTER)
};

/*
 * struct collsock_net_stats: the network namespace. The counters of packets are
 * COLLSOCK_NET_COUNTER_LIST in collsock_lists.h.
 */
struct collsock_net_stats {
	__u32	size;			/* bytes of this structure that were filled */
	__u32	groups;			/* that exist now, those that linger after close included */
	__u32	peers;			/* connections of all of them */
	__u32	timewait_entries;	/* closed groups whose late packets are answered */

	COLLSOCK_NET_COUNTER_LIST(COLLSOCK_COUNTER)
	__u64	memory;			/* bytes that all groups have reserved */
	__u64	over_memory;		/* requests to join that exceeded max_memory_kib */
};

#endif /* _UAPI_LINUX_COLLSOCK_H */
