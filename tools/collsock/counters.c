// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>

#include <linux/collsock_lists.h>

#include "counters.h"

/*
 * What to do if a counter of a namespace is not 0; NULL if that is no problem. In a line, what
 * Documentation/tuning.md ("Reading counters") says
 */
#define ADVICE_packets		NULL
#define ADVICE_malformed \
	"another program sends to this UDP port"
#define ADVICE_other_version \
	"a host runs another version of the module: install the same on all hosts"
#define ADVICE_unknown_type \
	"a host runs a later version of the module: install the same on all hosts"
#define ADVICE_unknown_group \
	"normal while ranks join or end; else key, id or nonce differ: collsock doctor shows the senders"
#define ADVICE_wrong_source \
	"a host sends from another address than its member's, or through NAT, or packets are forged"
#define ADVICE_forged \
	"packets were damaged on their path or are forged, or ranks joined with different MACs"
#define ADVICE_wrong_descriptor \
	"all ranks must join with the same hosts, ranks, sizes, window and algorithms"
#define ADVICE_timewait_answered NULL
#define ADVICE_no_route \
	"ip route get ADDRESS for each of the hosts; collsock doctor ADDRESS shows details"
#define ADVICE_deferred		NULL
#define ADVICE_backlog_full \
	"IPsec delivers faster than softirq receives; what is lost is sent again"

#define ADVICE_too_long \
	"a host joined with other max_bytes or segment_bytes, or somebody forges"
#define ADVICE_forgery_floods	"somebody forges packets: a firewall keeps strangers out"
#define ADVICE_send_buffer_full \
	"this host's interface is slower than its programs: fewer groups, or a larger send_buffer_kib"
#define ADVICE_send_refused \
	"a firewall or a filter of a control group (systemd: IPAddressDeny=) refuses what a rank sends"
#define ADVICE_receive_refused \
	"a filter of a control group (systemd: IPAddressDeny=), or the device that a socket is " \
	"bound to, refuses what comes for a rank"
#define ADVICE_busy_polls	NULL

#define NET_COUNTER(name, IDENTIFIER, meaning) \
	{ #name, #name "_total", false, meaning, ADVICE_##name },

const struct counter counters_net[] = {
	{ "groups", "groups", true,
	  "Groups, including those that linger after close." },
	{ "peers", "peers", true, "Connections of all groups." },
	{ "timewait_entries", "timewait_entries", true,
	  "Closed groups in the time-wait state, whose late packets are answered." },
	{ "memory", "memory_bytes", true, "Bytes that all groups have reserved." },
	{ "over_memory", "over_memory_total", false,
	  "Requests to join, and long results, that exceeded max_memory_kib.",
	  "collsock set max_memory_kib VALUE allows more; collsock group shows the use" },
	{ "over_user", "over_user_total", false,
	  "The same that exceeded user_memory_kib or user_groups.",
	  "collsock user shows the use; the module's parameters allow more" },
	COLLSOCK_NET_COUNTER_LIST(NET_COUNTER)
	{ }
};

const struct counter counters_group[] = {
	{ "hosts", "group_hosts", true, "Hosts of the group." },
	{ "ranks", "group_ranks", true, "Ranks of the group." },
	{ "joined", "group_joined_ranks", true, "Ranks of this host that have joined." },
	{ "peers", "group_peers", true, "Connections of the group." },
	{ "memory", "group_memory_bytes", true, "Bytes that the group has reserved." },
	{ }
};

#define GROUP_COUNTER(name, IDENTIFIER, meaning) \
	{ #name, "group_" #name "_total", false, meaning, NULL },

const struct counter counters_stats[] = {
	COLLSOCK_GROUP_COUNTER_LIST(GROUP_COUNTER)
	{ }
};
