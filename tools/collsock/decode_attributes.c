// SPDX-License-Identifier: GPL-2.0
/* The attribute sets of the specification, and the names of enumerators */
#include <stddef.h>

#include <linux/collsock.h>
#include <linux/collsock_netlink.h>

#include "decode.h"

static const char *const group_states[] = {
	[COLLSOCK_GROUP_STATE_RUNNING]		= "running",
	[COLLSOCK_GROUP_STATE_FAILED]		= "failed",
	[COLLSOCK_GROUP_STATE_LINGERING]	= "lingering",
	NULL
};

static const char *const host_states[] = {
	[COLLSOCK_HOST_STATE_UNKNOWN]	= "unknown",
	[COLLSOCK_HOST_STATE_SELF]	= "self",
	[COLLSOCK_HOST_STATE_UNHEARD]	= "unheard",
	[COLLSOCK_HOST_STATE_HEARD]	= "heard",
	[COLLSOCK_HOST_STATE_LEFT]	= "left",
	[COLLSOCK_HOST_STATE_DEAD]	= "dead",
	NULL
};

static const char *const rank_states[] = {
	[COLLSOCK_RANK_STATE_ABSENT]	= "absent",
	[COLLSOCK_RANK_STATE_JOINED]	= "joined",
	[COLLSOCK_RANK_STATE_LEFT]	= "left",
	NULL
};

static const char *const operation_states[] = {
	[COLLSOCK_OPERATION_STATE_EARLY]	= "early",
	[COLLSOCK_OPERATION_STATE_RUNNING]	= "running",
	[COLLSOCK_OPERATION_STATE_ABORTED]	= "aborted",
	[COLLSOCK_OPERATION_STATE_DONE]		= "done",
	NULL
};

static const char *const events[] = {
	"",
	[COLLSOCK_EVENT_GROUP_BEGAN]		= "group-began",
	[COLLSOCK_EVENT_GROUP_FAILED]		= "group-failed",
	[COLLSOCK_EVENT_GROUP_ENDED]		= "group-ended",
	[COLLSOCK_EVENT_PEER_OPENED]		= "peer-opened",
	[COLLSOCK_EVENT_PEER_IDLE]		= "peer-idle",
	[COLLSOCK_EVENT_PEER_LOSSY]		= "peer-lossy",
	[COLLSOCK_EVENT_OPERATION_FAILED]	= "operation-failed",
	[COLLSOCK_EVENT_DISAGREEMENT]		= "disagreement",
	[COLLSOCK_EVENT_RANK_LEFT]		= "rank-left",
	NULL
};

static const char *const operations[] = { "", COLLSOCK_OPERATION_LIST(COLLSOCK_NAME) NULL };

static const char *const types[] = { COLLSOCK_TYPE_LIST(COLLSOCK_NAME) NULL };

static const char *const operators[] = { COLLSOCK_OPERATOR_LIST(COLLSOCK_NAME) NULL };

static const char *const algorithms[] = { "auto", COLLSOCK_ALGORITHM_LIST(COLLSOCK_NAME) NULL };

static const char *const macs[] = { "", COLLSOCK_MAC_LIST(COLLSOCK_NAME) NULL };

static const struct decode_field decode_tunable[] = {
	{ "name",	 COLLSOCK_A_TUNABLE_NAME, DECODE_STRING },
	{ "value",	 COLLSOCK_A_TUNABLE_VALUE },
	{ "unit",	 COLLSOCK_A_TUNABLE_UNIT, DECODE_STRING },
	{ "minimum",	 COLLSOCK_A_TUNABLE_MINIMUM },
	{ "maximum",	 COLLSOCK_A_TUNABLE_MAXIMUM },
	{ "default",	 COLLSOCK_A_TUNABLE_DEFAULT },
	{ "own",	 COLLSOCK_A_TUNABLE_OWN, DECODE_FLAG },
	{ "description", COLLSOCK_A_TUNABLE_DESCRIPTION, DECODE_STRING },
	{ }
};

const struct decode_field decode_tunables[] = {
	{ "tunables", COLLSOCK_A_TUNABLES_TUNABLE, DECODE_NESTS, NULL, decode_tunable },
	{ }
};

#define GROUP_COUNTER(name, IDENTIFIER, meaning)	{ #name, COLLSOCK_A_STATS_##IDENTIFIER },

static const struct decode_field decode_stats[] = {
	COLLSOCK_GROUP_COUNTER_LIST(GROUP_COUNTER)
	{ }
};

const struct decode_field decode_group[] = {
	{ "handle",	   COLLSOCK_A_GROUP_HANDLE },
	{ "id",		   COLLSOCK_A_GROUP_ID },
	{ "nonce",	   COLLSOCK_A_GROUP_NONCE, DECODE_HEX },
	{ "tag",	   COLLSOCK_A_GROUP_TAG, DECODE_HEX },
	{ "descriptor",	   COLLSOCK_A_GROUP_DESCRIPTOR, DECODE_HEX },
	{ "state",	   COLLSOCK_A_GROUP_STATE, DECODE_NAME, group_states },
	{ "hosts",	   COLLSOCK_A_GROUP_HOSTS },
	{ "ranks",	   COLLSOCK_A_GROUP_RANKS },
	{ "host",	   COLLSOCK_A_GROUP_HOST },
	{ "local_ranks",   COLLSOCK_A_GROUP_LOCAL_RANKS },
	{ "joined",	   COLLSOCK_A_GROUP_JOINED },
	{ "uid",	   COLLSOCK_A_GROUP_UID },
	{ "keyed",	   COLLSOCK_A_GROUP_KEYED, DECODE_FLAG },
	{ "window",	   COLLSOCK_A_GROUP_WINDOW },
	{ "max_bytes",	   COLLSOCK_A_GROUP_MAX_BYTES },
	{ "max_result_bytes", COLLSOCK_A_GROUP_MAX_RESULT_BYTES },
	{ "multicast",	   COLLSOCK_A_GROUP_MULTICAST, DECODE_ADDRESS },
	{ "segment_bytes", COLLSOCK_A_GROUP_SEGMENT_BYTES },
	{ "degree",	   COLLSOCK_A_GROUP_DEGREE },
	{ "degrees",	   COLLSOCK_A_GROUP_DEGREES },
	{ "mac",	   COLLSOCK_A_GROUP_MAC, DECODE_NAME, macs },
	{ "liveness_ms",   COLLSOCK_A_GROUP_LIVENESS_MS },
	{ "next",	   COLLSOCK_A_GROUP_NEXT },
	{ "oldest",	   COLLSOCK_A_GROUP_OLDEST },
	{ "peers",	   COLLSOCK_A_GROUP_PEERS },
	{ "memory",	   COLLSOCK_A_GROUP_MEMORY },
	{ "age_ms",	   COLLSOCK_A_GROUP_AGE_MS },
	{ "error",	   COLLSOCK_A_GROUP_ERROR, DECODE_ERRNO },
	{ "failed_rank",   COLLSOCK_A_GROUP_FAILED_RANK, DECODE_RANK },
	{ "limit",	   COLLSOCK_A_GROUP_LIMIT },
	{ "stats",	   COLLSOCK_A_GROUP_STATS, DECODE_NEST, NULL, decode_stats },
	{ }
};

const struct decode_field decode_host[] = {
	{ "group",	COLLSOCK_A_HOST_GROUP },
	{ "host",	COLLSOCK_A_HOST_HOST },
	{ "state",	COLLSOCK_A_HOST_STATE, DECODE_NAME, host_states },
	{ "address",	COLLSOCK_A_HOST_ADDRESS, DECODE_ADDRESS },
	{ "address",	COLLSOCK_A_HOST_SCOPE_ID, DECODE_SCOPE },
	{ "port",	COLLSOCK_A_HOST_PORT },
	{ "rank",	COLLSOCK_A_HOST_RANK },
	{ }
};

const struct decode_field decode_rank[] = {
	{ "group",	COLLSOCK_A_RANK_GROUP },
	{ "rank",	COLLSOCK_A_RANK_RANK },
	{ "state",	COLLSOCK_A_RANK_STATE, DECODE_NAME, rank_states },
	{ "next",	COLLSOCK_A_RANK_NEXT },
	{ "pid",	COLLSOCK_A_RANK_PID },
	{ "last",	COLLSOCK_A_RANK_LAST },
	{ }
};

const struct decode_field decode_peer[] = {
	{ "group",	 COLLSOCK_A_PEER_GROUP },
	{ "host",	 COLLSOCK_A_PEER_HOST },
	{ "state",	 COLLSOCK_A_PEER_STATE, DECODE_NAME, host_states },
	{ "srtt_us",	 COLLSOCK_A_PEER_SRTT_US },
	{ "rttvar_us",	 COLLSOCK_A_PEER_RTTVAR_US },
	{ "rto_us",	 COLLSOCK_A_PEER_RTO_US },
	{ "unacked",	 COLLSOCK_A_PEER_UNACKED },
	{ "held",	 COLLSOCK_A_PEER_HELD },
	{ "heard_ms",	 COLLSOCK_A_PEER_HEARD_MS },
	{ "packets",	 COLLSOCK_A_PEER_PACKETS },
	{ "retransmits", COLLSOCK_A_PEER_RETRANSMITS },
	{ "last",	 COLLSOCK_A_PEER_LAST },
	{ }
};

static const struct decode_field decode_missing[] = {
	{ "host",		COLLSOCK_A_MISSING_HOST },
	{ "state",		COLLSOCK_A_MISSING_STATE, DECODE_NAME, host_states },
	{ "rank",		COLLSOCK_A_MISSING_RANK },
	{ "heard_ms",		COLLSOCK_A_MISSING_HEARD_MS },
	{ "silent_ms",		COLLSOCK_A_MISSING_SILENT_MS },
	{ "awaits_host",	COLLSOCK_A_MISSING_AWAITS_HOST },
	{ "awaits_rank",	COLLSOCK_A_MISSING_AWAITS_RANK, DECODE_RANK },
	{ "awaits_operation",	COLLSOCK_A_MISSING_AWAITS_OPERATION },
	{ "awaits_ms",		COLLSOCK_A_MISSING_AWAITS_MS },
	{ "awaits_hops",	COLLSOCK_A_MISSING_AWAITS_HOPS },
	{ "awaits_reported",	COLLSOCK_A_MISSING_AWAITS_REPORTED, DECODE_FLAG },
	{ "reported_ms",	COLLSOCK_A_MISSING_REPORTED_MS },
	{ }
};

const struct decode_field decode_operation[] = {
	{ "group",	  COLLSOCK_A_OPERATION_GROUP },
	{ "number",	  COLLSOCK_A_OPERATION_NUMBER },
	{ "state",	  COLLSOCK_A_OPERATION_STATE, DECODE_NAME, operation_states },
	{ "kind",	  COLLSOCK_A_OPERATION_KIND, DECODE_NAME, operations },
	{ "type",	  COLLSOCK_A_OPERATION_TYPE, DECODE_NAME, types },
	{ "op",		  COLLSOCK_A_OPERATION_OP, DECODE_NAME, operators },
	{ "algorithm",	  COLLSOCK_A_OPERATION_ALGORITHM, DECODE_NAME, algorithms },
	{ "degree",	  COLLSOCK_A_OPERATION_DEGREE },
	{ "root",	  COLLSOCK_A_OPERATION_ROOT, DECODE_RANK },
	{ "count",	  COLLSOCK_A_OPERATION_COUNT },
	{ "bytes",	  COLLSOCK_A_OPERATION_BYTES },
	{ "waited_ms",	  COLLSOCK_A_OPERATION_WAITED_MS },
	{ "unposted",	  COLLSOCK_A_OPERATION_UNPOSTED },
	{ "missing_rank", COLLSOCK_A_OPERATION_MISSING_RANK, DECODE_NUMBERS },
	{ "missing",	  COLLSOCK_A_OPERATION_MISSING, DECODE_NESTS, NULL, decode_missing },
	{ "unacked",	  COLLSOCK_A_OPERATION_UNACKED },
	{ }
};

#define NET_COUNTER(name, IDENTIFIER, meaning)	{ #name, COLLSOCK_A_NET_##IDENTIFIER },

const struct decode_field decode_net[] = {
	{ "version",	      COLLSOCK_A_NET_VERSION, DECODE_STRING },
	{ "family",	      COLLSOCK_A_NET_FAMILY },
	{ "port",	      COLLSOCK_A_NET_PORT },
	{ "port_open",	      COLLSOCK_A_NET_PORT_OPEN, DECODE_FLAG },
	{ "groups",	      COLLSOCK_A_NET_GROUPS },
	{ "peers",	      COLLSOCK_A_NET_PEERS },
	{ "timewait_entries",	      COLLSOCK_A_NET_TIMEWAIT_ENTRIES },
	{ "memory",	      COLLSOCK_A_NET_MEMORY },
	{ "over_memory",      COLLSOCK_A_NET_OVER_MEMORY },
	{ "over_user",	      COLLSOCK_A_NET_OVER_USER },
	COLLSOCK_NET_COUNTER_LIST(NET_COUNTER)
	{ }
};

const struct decode_field decode_early_packet[] = {
	{ "tag",	COLLSOCK_A_EARLY_PACKET_TAG, DECODE_HEX },
	{ "host",	COLLSOCK_A_EARLY_PACKET_HOST },
	{ "address",	COLLSOCK_A_EARLY_PACKET_ADDRESS, DECODE_ADDRESS },
	{ "address",	COLLSOCK_A_EARLY_PACKET_SCOPE_ID, DECODE_SCOPE },
	{ "port",	COLLSOCK_A_EARLY_PACKET_PORT },
	{ "age_ms",	COLLSOCK_A_EARLY_PACKET_AGE_MS },
	{ }
};

const struct decode_field decode_user[] = {
	{ "uid",	  COLLSOCK_A_USER_UID },
	{ "groups",	  COLLSOCK_A_USER_GROUPS },
	{ "groups_limit", COLLSOCK_A_USER_GROUPS_LIMIT },
	{ "memory",	  COLLSOCK_A_USER_MEMORY },
	{ "memory_limit", COLLSOCK_A_USER_MEMORY_LIMIT },
	{ }
};

const struct decode_field decode_device[] = {
	{ "ifindex",	COLLSOCK_A_DEVICE_IFINDEX },
	{ "allowed",	COLLSOCK_A_DEVICE_ALLOWED },
	{ "open",	COLLSOCK_A_DEVICE_OPEN, DECODE_FLAG },
	{ }
};

const struct decode_field decode_notice[] = {
	{ "event",	COLLSOCK_A_NOTICE_EVENT, DECODE_NAME, events },
	{ "group",	COLLSOCK_A_NOTICE_GROUP },
	{ "id",		COLLSOCK_A_NOTICE_ID },
	{ "host",	COLLSOCK_A_NOTICE_HOST },
	{ "operation",	COLLSOCK_A_NOTICE_OPERATION },
	{ "rank",	COLLSOCK_A_NOTICE_RANK, DECODE_RANK },
	{ "error",	COLLSOCK_A_NOTICE_ERROR, DECODE_ERRNO },
	{ }
};
