/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * collsock: collective sockets. This is the interface between user space and the kernel.
 *
 * A socket of this family is one rank of a group. It joins the group with
 * setsockopt(COLLSOCK_JOIN), posts operations with send(), and receives their completions
 * with recv(). poll() reports POLLIN when a completion can be received and POLLOUT when an
 * operation can be posted. When the group has failed and the last completion has been
 * received, recv() returns 0, send() fails with EPIPE and poll() reports POLLIN |
 * POLLRDHUP.
 *
 * All numbers are in the byte order of the host; addresses of hosts are in network byte
 * order. Addresses of memory are numbers of 64 bits, for callers of 32 bits, too. No structure
 * contains padding.
 *
 * How structures are extended
 *
 * - Fields are only ever added, at the end. 0 in an added field means what the kernel did
 *   before the field existed. A structure's length is a multiple of 8. Where the caller
 *   selects it, COLLSOCK_*_VER0 is that of the first version.
 * - To the kernel (join, post, run, wait): "size" is the length that the caller knows, and
 *   what follows the structure begins there. Shorter than the first version, or no multiple
 *   of 8, is EINVAL. Longer than the kernel knows is fine if the additional bytes are 0, else
 *   E2BIG: the caller relies on something that this kernel does not have.
 * - From the kernel (completion): the caller selects the length, with the socket option
 *   COLLSOCK_COMPLETION_BYTES for recv() and in each RUN and WAIT. The default of the option
 *   is COLLSOCK_COMPLETION_VER0 and will not change. Bytes that the kernel does not know are 0.
 * - From getsockopt(): the kernel fills as many bytes as both sides know; "size" says how many.
 * - Reserved fields are 0. A flag that is not defined here is EINVAL.
 * - struct collsock_member and the elements of tables are not extended.
 */
#ifndef _UAPI_LINUX_COLLSOCK_H
#define _UAPI_LINUX_COLLSOCK_H

#include <linux/types.h>
#include <linux/ioctl.h>
#include <linux/socket.h>

#include "collsock_lists.h"

#define COLLSOCK_VERSION	"1.0.0"	/* of all parts */

/*
 * There is no free family number for a module, so collsock uses one that the kernel defines
 * (AF_WANPIPE) but no longer implements. The module parameter "family" selects another.
 */
#define AF_COLLSOCK			25
#define SOL_COLLSOCK			425

/* The default UDP port: unassigned, not ephemeral */
#define COLLSOCK_PORT			7607

/* The default EtherType, and the only other one: both are for local use (IEEE 802, 9.2.4). */
#define COLLSOCK_ETHERTYPE		0x88b5
#define COLLSOCK_OTHER_ETHERTYPE	0x88b6

#define COLLSOCK_MAX_HOSTS		65536
#define COLLSOCK_MAX_RANKS		1048576
#define COLLSOCK_MAX_LOCAL_RANKS	1024	/* on one host */
#define COLLSOCK_MAX_LOCAL_BYTES	4194304	/* ranks of a host times max_bytes */
#define COLLSOCK_MAX_WINDOW		64
#define COLLSOCK_DEFAULT_WINDOW		16
#define COLLSOCK_SEGMENT_QUANTUM	16	/* segment_bytes is a multiple of it */
#define COLLSOCK_MIN_SEGMENT		48	/* bytes */
#define COLLSOCK_DEFAULT_SEGMENT	1056	/* bytes: fits an MTU of 1,280 bytes */
#define COLLSOCK_MAX_SEGMENT		8640	/* bytes: fits a 9,000 byte MTU */
#define COLLSOCK_PACKET_HEADERS		96	/* bytes of a packet besides its payload, at most */
#define COLLSOCK_MAX_PAYLOAD		65536	/* bytes */
#define COLLSOCK_MAX_RESULT		1048576	/* bytes of a vector with a block for each rank */
#define COLLSOCK_MAX_SEGMENTS		1366	/* of a vector */
#define COLLSOCK_MAX_DEGREE		64	/* of an algorithm; the least is 2 */
#define COLLSOCK_MAX_EXCHANGE_DEGREE	16	/* of dissemination and exchange */
#define COLLSOCK_MAX_KARY_HOSTS		4096	/* hosts of a group with k-ary trees */
#define COLLSOCK_MAX_FLAT_HOSTS		65	/* hosts of a group with flat trees */
#define COLLSOCK_MAX_MULTICAST_HOSTS	4096	/* hosts of a group with multicast */
#define COLLSOCK_MAX_DEVICES		64	/* that COLLSOCK_DEVICES lists */
#define COLLSOCK_MAX_SPIN_US		10000
#define COLLSOCK_MIN_LIVENESS_MS	100
#define COLLSOCK_MAX_LIVENESS_MS	600000
#define COLLSOCK_MAX_OPERATIONS		16	/* numbers of operations are below this */
#define COLLSOCK_MAX_COMPLETION_BYTES	256	/* length of a completion structure */
#define COLLSOCK_NO_RANK		0xffffffffU

/* Socket options at SOL_COLLSOCK */
#define COLLSOCK_JOIN			1	/* set: struct collsock_join */
#define COLLSOCK_STATS			2	/* get: struct collsock_stats */
#define COLLSOCK_NET_STATS		3	/* get: struct collsock_net_stats */
#define COLLSOCK_SELF			4	/* get: struct collsock_self */
#define COLLSOCK_FEATURES		5	/* get: struct collsock_features */
#define COLLSOCK_COMPLETION_BYTES	6	/* set, get: __u32, as recv() gives it */
#define COLLSOCK_DEVICES		7	/* get: struct collsock_devices */

/* The numbers and their names are listed in collsock_lists.h. */
enum collsock_operation { COLLSOCK_OPERATION_LIST(COLLSOCK_NUMBER) };
enum collsock_type { COLLSOCK_TYPE_LIST(COLLSOCK_NUMBER) };
enum collsock_operator { COLLSOCK_OPERATOR_LIST(COLLSOCK_NUMBER) };
enum collsock_algorithm { COLLSOCK_AUTO = 0, COLLSOCK_ALGORITHM_LIST(COLLSOCK_NUMBER) };
enum collsock_mac { COLLSOCK_MAC_DEFAULT = 0, COLLSOCK_MAC_LIST(COLLSOCK_NUMBER) };

#define COLLSOCK_EXACT_WORDS		34

/* What has been added to an exact sum */
#define COLLSOCK_EXACT_NAN		1
#define COLLSOCK_EXACT_INFINITY		2	/* +infinity */
#define COLLSOCK_EXACT_MINUS_INFINITY	4
#define COLLSOCK_EXACT_NOT_MINUS_ZERO	8	/* anything but -0 */

/**
 * struct collsock_exact - an element of type COLLSOCK_EXACT: a sum of doubles without rounding
 * @word: the sum in units of 2^-1074, in two's complement, the least significant word first.
 *	All doubles are whole numbers of them, and the sum of 2^77 of the largest fits.
 * @special: COLLSOCK_EXACT_NAN and so on
 * @count: how many doubles were added
 *
 * All zero, it is a sum of none. The words of two sums are added, @special is combined by or,
 * @count added.
 */
struct collsock_exact {
	__u64	word[COLLSOCK_EXACT_WORDS];
	__u64	special;
	__u64	count;
};

/* The bit of a degree in a mask of degrees */
#define COLLSOCK_DEGREE(degree)		(1ULL << ((degree) - 1))

/**
 * struct collsock_member - one host of the group
 * @family: AF_INET or AF_INET6: UDP; AF_PACKET: Ethernet
 * @port: UDP port, 0 is COLLSOCK_PORT; EtherType, COLLSOCK_ETHERTYPE or
 *	COLLSOCK_OTHER_ETHERTYPE, the same for all members, 0 is COLLSOCK_ETHERTYPE
 * @scope_id: index of this host's interface to a link-local IPv6 address; 0 for others of IP. Of
 *	this host's own MAC address, the index of its interface; 0: the only one with that address
 * @address: 4 or 16 bytes as inet_pton() gives them, or a MAC address of 6, the rest zero
 */
struct collsock_member {
	__u16	family;
	__u16	port;
	__u32	scope_id;
	__u8	address[16];
};

/**
 * struct collsock_join - COLLSOCK_JOIN: this, then the hosts, then the ranks
 * @size: sizeof(struct collsock_join)
 * @flags: 0
 * @id: number of the group, chosen by its users
 * @nonce: fresh for each instance of the group, equal on all ranks
 * @key: shared secret; all zero only where the tunable require_keys is 0
 * @hosts: number of struct collsock_member that follow
 * @ranks: number of __u32 that follow them: the host of each rank. Hosts are in the order
 *	of their lowest rank.
 * @rank: the rank of this socket
 * @max_bytes: largest vector of one operation; 0: one segment
 * @window: operations under way at once, 1…COLLSOCK_MAX_WINDOW; 0: the tunable "window"
 *	of each host's namespace, COLLSOCK_DEFAULT_WINDOW unless set
 * @segment_bytes: largest payload of one packet, a multiple of COLLSOCK_SEGMENT_QUANTUM from
 *	COLLSOCK_MIN_SEGMENT to COLLSOCK_MAX_SEGMENT; 0: COLLSOCK_DEFAULT_SEGMENT
 * @liveness_ms: silence after which a host of this group counts as dead,
 *	COLLSOCK_MIN_LIVENESS_MS…COLLSOCK_MAX_LIVENESS_MS; 0: each host's tunable
 * @features: features that this host must support, bits of struct
 *	collsock_features.features; else EOPNOTSUPP
 * @algorithms: algorithms that posts may name, bit 1 << enum collsock_algorithm; 0: all but
 *	those that a group has only if it names them (COLLSOCK_ALGORITHM_LIST)
 * @degrees: degrees that posts may name besides, COLLSOCK_DEGREE() each; memory is reserved
 *	for all of them; 0: none
 * @algorithm: enum collsock_algorithm that COLLSOCK_AUTO means in a post, by operation number;
 *	COLLSOCK_AUTO: chosen by operation, number of hosts and length of the vector. 0 where
 *	there is no operation
 * @degree: of algorithms where a post names none, 2…COLLSOCK_MAX_DEGREE: with how many hosts,
 *	itself included, a host exchanges in a round; in a k-ary tree children of a host. An
 *	algorithm whose limit is lower has that. 0: 2 (with 3 hosts 3), of k-ary trees 4
 * @mac: enum collsock_mac; COLLSOCK_MAC_DEFAULT: COLLSOCK_MAC_NH_SIPHASH
 * @reserved: 0
 * @max_result_bytes: largest vector that has a block for each rank and is not reduced, up to
 *	COLLSOCK_MAX_RESULT, of COLLSOCK_MAX_SEGMENTS segments; less than @max_bytes is the same as
 *	@max_bytes; 0: 16 bytes for each rank, up to COLLSOCK_MAX_PAYLOAD
 * @multicast: multicast address of the network on which all hosts are, of their family and in the
 *	form of &collsock_member.address: what a barrier, a broadcast or a short all-reduce sends
 *	to all goes there once, ahead of the tree. Up to COLLSOCK_MAX_MULTICAST_HOSTS hosts. All
 *	zero: none
 *
 * All of it but @size, @rank, and the scope ids of members, is equal on all ranks of the
 * group, after defaults have been filled in.
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
	__u32	liveness_ms;
	__u64	features;
	__u64	algorithms;
	__u64	degrees;
	__u8	algorithm[COLLSOCK_MAX_OPERATIONS];
	__u8	degree;
	__u8	mac;
	__u8	reserved[2];
	__u32	max_result_bytes;
	__u8	multicast[16];
};

#define COLLSOCK_JOIN_VER0		112

/*
 * Flag of a post: no completion if the operation succeeds. For a rank that receives no
 * result, whose operation has succeeded when send() has. A failure has a completion.
 */
#define COLLSOCK_QUIET			0x1

/* Cookie of the completion that reports the failure of the group; invalid in posts */
#define COLLSOCK_COOKIE_GROUP		0xffffffffffffffffULL

/**
 * struct collsock_post - send(): this, then the payload
 * @size: sizeof(struct collsock_post)
 * @operation: enum collsock_operation
 * @type: enum collsock_type
 * @op: enum collsock_operator
 * @algorithm: enum collsock_algorithm, one of the group's @algorithms; COLLSOCK_AUTO: what
 *	the group has chosen
 * @flags: COLLSOCK_QUIET or 0
 * @root: rank of the root; 0 for an operation without one
 * @count: elements, the same on all ranks: of the operation's vector, or of each rank's block
 *	of it where it has a block for each rank. In a broadcast and a scatter the root alone has
 *	a payload
 * @degree: of the algorithm, @degree or one of @degrees of the group; 0: what the group has
 *	chosen
 * @cookie: returned in the completion; not COLLSOCK_COOKIE_GROUP
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
	__u32	degree;
	__u64	cookie;
};

#define COLLSOCK_POST_VER0		32

/**
 * struct collsock_completion - recv(): this, then the result
 * @size: length of this structure, as the caller selected it; the result begins there
 * @error: 0 or a (positive) errno
 * @failed_rank: the rank to blame for @error, or COLLSOCK_NO_RANK
 * @bytes: bytes of the result
 * @cookie: of the post; COLLSOCK_COOKIE_GROUP: no operation was under way when the group
 *	failed
 * @posted_ns: CLOCK_MONOTONIC of the process that reads it when it was posted
 * @completed_ns: the same when it completed
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

#define COLLSOCK_COMPLETION_VER0	40

/**
 * struct collsock_run - COLLSOCK_RUN: post and wait
 * @size: sizeof(struct collsock_run)
 * @post_bytes: sizeof(struct collsock_post), equal to its size
 * @completion_bytes: sizeof(struct collsock_completion)
 * @spin_us: spin for this long before sleeping or giving up, at most COLLSOCK_MAX_SPIN_US;
 *	0: the tunable busy_poll_us before sleeping, not at all before giving up
 * @flags: 0
 * @payload: address of the payload; not read if the rank has none
 * @result: address where the result goes, which may be that of the payload; not written if
 *	the rank gets none
 * @payload_bytes: bytes at @payload, at least those of the payload
 * @result_bytes: bytes at @result, at least those of the result
 *
 * In one buffer: this; the post, at @size; room for the completion, at @size + @post_bytes.
 */
struct collsock_run {
	__u32	size;
	__u16	post_bytes;
	__u16	completion_bytes;
	__u32	spin_us;
	__u32	flags;
	__u64	payload;
	__u64	result;
	__u32	payload_bytes;
	__u32	result_bytes;
};

#define COLLSOCK_RUN_VER0		40

/**
 * struct collsock_wait - COLLSOCK_WAIT: receive the completion of one cookie
 * @size: sizeof(struct collsock_wait)
 * @flags: 0
 * @completion_bytes: sizeof(struct collsock_completion)
 * @spin_us: as in struct collsock_run
 * @result_bytes: bytes at @result
 * @result: address where the result goes, if there is one
 * @cookie: of the post; if several operations have it, the one posted first
 *
 * In one buffer: this; room for the completion, at @size.
 */
struct collsock_wait {
	__u32	size;
	__u16	flags;
	__u16	completion_bytes;
	__u32	spin_us;
	__u32	result_bytes;
	__u64	result;
	__u64	cookie;
};

#define COLLSOCK_WAIT_VER0		32

/* The numbers contain no size, because the structures are extensible. */
#define COLLSOCK_RUN			_IO('K', 0x70)
#define COLLSOCK_WAIT			_IO('K', 0x71)

/**
 * struct collsock_page - mmap() of a socket that has joined: what has ended, without a call
 * @size: bytes of this structure that the kernel fills
 * @reserved: 0
 * @posted: operations of this rank that were posted so far
 * @ended: how many of them have ended, in whatever order
 * @completed: all of the first this many have ended
 *
 * Read-only, at offset 0, at most a page; a forked child does not inherit it. The numbers only
 * grow. What a thread has posted is among the first @posted once the call that posts it has
 * returned, so it has ended when @completed reaches the @posted read then. Success with
 * COLLSOCK_QUIET counts, though it has no completion, and so does the failure that no operation
 * reports (COLLSOCK_COOKIE_GROUP).
 */
struct collsock_page {
	__u32	size;
	__u32	reserved;
	__aligned_u64	posted;
	__aligned_u64	ended;
	__aligned_u64	completed;
};

/**
 * struct sockaddr_collsock - getsockname()
 * @family: number of the socket family
 * @port: UDP port of groups in its network namespace
 * @rank: of this socket, COLLSOCK_NO_RANK before it has joined
 * @id: number of its group, 0 before it has joined
 */
struct sockaddr_collsock {
	__kernel_sa_family_t	family;
	__u16			port;
	__u32			rank;
	__u64			id;
};

/**
 * struct collsock_self - COLLSOCK_SELF: the rank of this socket, and its group
 * @size: bytes of this structure that were filled
 * @rank: of this socket
 * @ranks: of the group
 * @host: index of this host
 * @hosts: of the group
 * @local: number of this rank among those of this host, counted from 0 in their order
 * @locals: ranks of this host
 * @max_bytes: largest payload of an operation
 * @window: operations under way at once
 * @segment_bytes: largest payload of a packet
 * @error: 0, or the errno with which the next operation of this rank would complete
 * @failed_rank: the rank to blame for @error, or COLLSOCK_NO_RANK
 * @completion_bytes: length of the completion structure in recv()
 * @id: number of the group
 * @nonce: of this instance of the group
 * @max_result_bytes: largest vector with a block for each rank that is not reduced
 * @reserved: 0
 */
struct collsock_self {
	__u32	size;
	__u32	rank;
	__u32	ranks;
	__u32	host;
	__u32	hosts;
	__u32	local;
	__u32	locals;
	__u32	max_bytes;
	__u16	window;
	__u16	segment_bytes;
	__u32	error;
	__u32	failed_rank;
	__u32	completion_bytes;
	__u64	id;
	__u64	nonce;
	__u32	max_result_bytes;
	__u32	reserved;
};

/**
 * struct collsock_features - COLLSOCK_FEATURES: what this kernel supports, as bits
 *	1 << number
 * @size: bytes of this structure that were filled
 * @completion_bytes: sizeof(struct collsock_completion) of this kernel
 * @operations: enum collsock_operation
 * @types: enum collsock_type
 * @operators: enum collsock_operator
 * @algorithms: enum collsock_algorithm
 * @features: features that a join can require; none yet
 * @macs: enum collsock_mac
 */
struct collsock_features {
	__u32	size;
	__u32	completion_bytes;
	__u64	operations;
	__u64	types;
	__u64	operators;
	__u64	algorithms;
	__u64	features;
	__u64	macs;
};

/**
 * struct collsock_devices - COLLSOCK_DEVICES: the devices over which every user may have groups
 * @size: bytes of this structure that were filled, four for each device besides its own
 * @ifindex: their indices in the network namespace of the socket, in ascending order; of more than
 *	COLLSOCK_MAX_DEVICES the first
 */
struct collsock_devices {
	__u32	size;
	__u32	ifindex[COLLSOCK_MAX_DEVICES];
};

/*
 * struct collsock_stats: the group of this socket on this host. COLLSOCK_GROUP_COUNTER_LIST
 * in collsock_lists.h has the 64-bit counters and their meanings.
 */
struct collsock_stats {
	__u32	size;	/* bytes of this structure that were filled */
	__u32	hosts;	/* hosts of the group */
	__u32	host;	/* index of this host */
	__u32	peers;	/* connections */

	COLLSOCK_GROUP_COUNTER_LIST(COLLSOCK_COUNTER)
};

/*
 * struct collsock_net_stats: the network namespace. COLLSOCK_NET_COUNTER_LIST in
 * collsock_lists.h has the counters of packets.
 */
struct collsock_net_stats {
	__u32	size;			/* bytes of this structure that were filled */
	__u32	groups;			/* groups, including those that linger after close */
	__u32	peers;			/* connections of all groups */
	__u32	timewait_entries;	/* closed groups whose late packets are answered */

	__u64	memory;			/* bytes that groups have reserved, also lingering ones */
	__u64	over_memory;		/* JOINs, posts of long results over max_memory_kib */
	__u64	over_user;		/* the same over user_memory_kib or user_groups */

	COLLSOCK_NET_COUNTER_LIST(COLLSOCK_COUNTER)
};

#endif /* _UAPI_LINUX_COLLSOCK_H */
