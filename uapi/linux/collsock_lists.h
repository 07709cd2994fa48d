/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The numbers and names of collsock, one line each: a list is a macro that passes its lines
 * to another macro. Enumerations, names in tools and traces, and tables of counters are
 * generated from these.
 *
 * Numbers are on the wire or in the interface, so lines are only ever appended.
 */
#ifndef _UAPI_LINUX_COLLSOCK_LISTS_H
#define _UAPI_LINUX_COLLSOCK_LISTS_H

/* LINE(identifier, number, name) */
#define COLLSOCK_OPERATION_LIST(LINE)						\
	LINE(BARRIER,		1,	"barrier")				\
	LINE(ALLREDUCE,		2,	"allreduce")				\
	LINE(REDUCE,		3,	"reduce") /* the root receives */	\
	LINE(BROADCAST,		4,	"broadcast") /* the root contributes, others receive */ \
	/* Their vector has a block for each rank, in the order of ranks. */	\
	LINE(ALLGATHER,		5,	"allgather") /* contribute a block, receive all */ \
	LINE(GATHER,		6,	"gather") /* the same, but the root alone receives */ \
	LINE(SCATTER,		7,	"scatter") /* the root contributes, all receive a block */ \
	/* All contribute a vector, and receive their block of the reduced one. */ \
	LINE(REDUCE_SCATTER_BLOCK, 8,	"reduce-scatter-block")			\
	/* Where ranks are placed in the order of hosts: what is reduced of those up to each */ \
	LINE(SCAN,		9,	"scan")					\
	LINE(EXSCAN,		10,	"exscan") /* the same without its own; rank 0: nothing */

/* What an element is; LINE(identifier, number, name) */
#define COLLSOCK_TYPE_LIST(LINE)						\
	LINE(NONE,		0,	"none")	/* of a barrier */		\
	LINE(INT64,		1,	"int64")				\
	LINE(UINT64,		2,	"uint64")				\
	LINE(DOUBLE,		3,	"double")				\
	LINE(INT8,		4,	"int8")					\
	LINE(INT16,		5,	"int16")				\
	LINE(INT32,		6,	"int32")				\
	LINE(UINT8,		7,	"uint8")				\
	LINE(UINT16,		8,	"uint16")				\
	LINE(UINT32,		9,	"uint32")				\
	LINE(FLOAT,		10,	"float")				\
	/* A value and an int32, its index, without padding: 8, 12, 12, 8, 6 bytes */ \
	LINE(FLOAT_INT,		11,	"float-int")				\
	LINE(DOUBLE_INT,	12,	"double-int")				\
	LINE(INT64_INT,		13,	"int64-int")				\
	LINE(INT32_INT,		14,	"int32-int")				\
	LINE(INT16_INT,		15,	"int16-int")				\
	LINE(BYTE,		16,	"byte")	/* anything; no operator */	\
	LINE(EXACT,		17,	"exact") /* struct collsock_exact: a sum not rounded */ \
	LINE(FLOAT16,		18,	"float16") /* IEEE 754 binary16 */	\
	LINE(BFLOAT16,		19,	"bfloat16") /* the upper half of a float */

/* LINE(identifier, number, name) */
#define COLLSOCK_OPERATOR_LIST(LINE)						\
	LINE(NOP,		0,	"none")	/* nothing is combined */	\
	LINE(SUM,		1,	"sum")					\
	LINE(MIN,		2,	"min")					\
	LINE(MAX,		3,	"max")					\
	LINE(PRODUCT,		4,	"product")				\
	/* Of integers. Logical: what is not 0 is true, the result is 0 or 1. */ \
	LINE(LOGICAL_AND,	5,	"logical-and")				\
	LINE(LOGICAL_OR,	6,	"logical-or")				\
	LINE(LOGICAL_XOR,	7,	"logical-xor")				\
	LINE(BITWISE_AND,	8,	"bitwise-and")				\
	LINE(BITWISE_OR,	9,	"bitwise-or")				\
	LINE(BITWISE_XOR,	10,	"bitwise-xor")				\
	/* Of pairs: the least or greatest value; of equal ones the smallest index */ \
	LINE(MINLOC,		11,	"minloc")				\
	LINE(MAXLOC,		12,	"maxloc")

/* LINE(identifier, number, name); the group's choice, AUTO, is number 0 */
#define COLLSOCK_ALGORITHM_LIST(LINE)						\
	LINE(DISSEMINATION,	1,	"dissemination") /* barrier, allgather */	\
	LINE(EXCHANGE,		2,	"exchange") /* with data, recursive multiplying */ \
	LINE(BINOMIAL,		3,	"binomial") /* tree; up and down where all receive */ \
	LINE(KARY,		4,	"kary")	/* the same; its degree: children of a host */ \
	/* Only if JOIN names them, but for HILLIS_STEELE: */			\
	LINE(FLAT,		5,	"flat")	/* the same; all others are the root's children */ \
	LINE(MCS,		6,	"mcs") /* barrier, allreduce: 4 children up, 2 down */ \
	LINE(HILLIS_STEELE,	7,	"hillis-steele") /* scan, exscan */	\
	LINE(HALVING,		8,	"halving") /* allreduce in parts; only if named or long */

/*
 * How packets are authenticated: LINE(identifier, number, name). Short packets, as those of
 * barriers, have the same MAC with both.
 */
#define COLLSOCK_MAC_LIST(LINE)							\
	LINE(MAC_SIPHASH,	1,	"siphash") /* SipHash-2-4 of all */	\
	LINE(MAC_NH_SIPHASH,	2,	"nh-siphash") /* NH of payloads first: cheaper */

/*
 * Counters of a group on a host: LINE(name, IDENTIFIER, meaning). These are the fields of
 * struct collsock_stats, the attributes COLLSOCK_A_STATS_IDENTIFIER, and what tools print.
 */
#define COLLSOCK_GROUP_COUNTER_LIST(LINE)						\
	LINE(posted, POSTED, "operations posted, once for each rank of this host") \
	LINE(completed, COMPLETED, "operations completed without error")		\
	LINE(failed, FAILED, "operations completed with an error")			\
	LINE(rounds, ROUNDS, "rounds advanced")						\
	LINE(rounds_misplaced, ROUNDS_MISPLACED,					\
	     "rounds advanced outside an event context (never)")			\
	LINE(messages_sent, MESSAGES_SENT, "first transmissions")			\
	LINE(messages_received, MESSAGES_RECEIVED, "messages accepted")			\
	LINE(retransmits, RETRANSMITS, "messages sent again")				\
	LINE(duplicates, DUPLICATES, "messages or packets received again")		\
	LINE(early, EARLY, "messages that came before any rank of this host had posted") \
	LINE(lone_acks, LONE_ACKS, "packets sent for an acknowledgment alone")		\
	LINE(no_credit, NO_CREDIT, "messages held back until the receiver has room")	\
	LINE(beyond_window, BEYOND_WINDOW, "messages refused for want of room")		\
	LINE(stale, STALE,								\
	     "packets of another incarnation, or older than the last 1,024")		\
	LINE(invalid, INVALID, "packets of a member that make no sense in this group")	\
	LINE(memory_short, MEMORY_SHORT, "packets not sent for want of memory")		\
	LINE(probes_sent, PROBES_SENT, "questions whether a host is there")		\
	LINE(probes_received, PROBES_RECEIVED, "such questions of others, all answered") \
	LINE(challenges, CHALLENGES,							\
	     "challenges sent to another incarnation of a host")			\
	LINE(peers_idle, PEERS_IDLE,							\
	     "idle connections released")						\
	LINE(peers_fragmented, PEERS_FRAGMENTED,					\
	     "hosts to which long packets are fragmented, as they were lost otherwise")	\
	LINE(paced, PACED, "messages held back by the congestion window")		\
	LINE(gap_repairs, GAP_REPAIRS, "messages found lost by later ones, before a time-out") \
	LINE(windows_reduced, WINDOWS_REDUCED, "times that a congestion window was halved") \
	LINE(ce_received, CE_RECEIVED, "packets that came marked \"congestion experienced\"") \
	LINE(copies_sent, COPIES_SENT, "messages sent to all hosts by multicast")	\
	LINE(copies_received, COPIES_RECEIVED, "messages that came by multicast first")	\
	LINE(copies_unused, COPIES_UNUSED,						\
	     "messages that came by multicast too late, or from a host not known to send any") \
	LINE(copies_repaired, COPIES_REPAIRED,						\
	     "messages sent along the tree, as multicast did not carry them in time")

/*
 * Counters of packets of a network namespace, likewise: struct collsock_net_stats,
 * COLLSOCK_A_NET_IDENTIFIER.
 */
#define COLLSOCK_NET_COUNTER_LIST(LINE)							\
	LINE(packets, PACKETS, "packets received on the port")				\
	LINE(malformed, MALFORMED, "not a packet of collsock: length, reserved bytes")	\
	LINE(other_version, OTHER_VERSION, "another version of the packet format")	\
	LINE(unknown_type, UNKNOWN_TYPE, "a type or part that this module does not know") \
	LINE(unknown_group, UNKNOWN_GROUP,						\
	     "no group here (yet) with this tag, a hash of key, id and nonce")		\
	LINE(wrong_source, WRONG_SOURCE, "source address is not the member's")		\
	LINE(forged, FORGED, "the tag is that of a group here, but the MAC is wrong")	\
	LINE(wrong_descriptor, WRONG_DESCRIPTOR,					\
	     "authentic, but its host has described the group differently")		\
	LINE(timewait_answered, TIMEWAIT_ANSWERED,					\
	     "packets for a group that has closed here, answered from time-wait")	\
	LINE(no_route, NO_ROUTE, "packets without a route")				\
	LINE(deferred, DEFERRED, "packets that a work queue delivered, received in softirq") \
	LINE(backlog_full, BACKLOG_FULL, "such packets dropped because too many waited") \
	LINE(too_long, TOO_LONG, "longer than any packet of its group")			\
	LINE(forgery_floods, FORGERY_FLOODS,						\
	     "times that a group began to check packets before its lock, as many were forged") \
	LINE(send_buffer_full, SEND_BUFFER_FULL,					\
	     "packets not sent, as those of their group in queues here fill its buffer") \
	LINE(send_refused, SEND_REFUSED, "packets that a filter of this host did not let out") \
	LINE(receive_refused, RECEIVE_REFUSED,						\
	     "packets that a filter did not let in, or that came by the wrong device")	\
	LINE(busy_polls, BUSY_POLLS, "times that a spinning call polled a queue of a device")

/* A line of a structure */
#define COLLSOCK_COUNTER(name, IDENTIFIER, meaning)	__u64 name;

/* A line of an enumeration */
#define COLLSOCK_NUMBER(identifier, number, name)	COLLSOCK_##identifier = number,

/* A line of a table of names: const char *names[] */
#define COLLSOCK_NAME(identifier, number, name)		[number] = name,

#endif /* _UAPI_LINUX_COLLSOCK_LISTS_H */
