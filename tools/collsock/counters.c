// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>

#include "counters.h"

const struct counter counters_net[] = {
	{ "groups", "groups", true,
	  "Groups, including those that linger after close." },
	{ "peers", "peers", true, "Connections of all groups." },
	{ "timewait_entries", "timewait_entries", true,
	  "Closed groups in the time-wait state, whose late packets are answered." },
	{ "memory", "memory_bytes", true, "Bytes that all groups have reserved." },
	{ "over_memory", "over_memory_total", false,
	  "Requests to join that exceeded max_memory_kib.",
	  "collsock set max_memory_kib VALUE allows more; collsock group lists the memory" },
	{ "packets", "packets_total", false, "Packets received on the port." },
	{ "malformed", "malformed_packets_total", false,
	  "Packets with an invalid length, version or type.",
	  "another program sends to this UDP port, or a host runs another version of the module" },
	{ "unknown_group", "unknown_group_packets_total", false,
	  "Packets for a group that is not joined here (yet).",
	  "usual while ranks join; if it grows: collsock doctor says who sends them" },
	{ "wrong_source", "wrong_source_packets_total", false,
	  "Packets whose source address is not the member's.",
	  "a host sends from an address that is no member's, or through NAT, or somebody forges" },
	{ "forged", "forged_packets_total", false, "Packets that failed authentication.",
	  "key, nonce or id differ, or somebody forges" },
	{ "wrong_descriptor", "wrong_descriptor_packets_total", false,
	  "Packets of a group whose description differs.",
	  "all ranks must join with the same hosts, ranks, sizes, window and algorithms" },
	{ "timewait_answered", "timewait_answered_packets_total", false,
	  "Packets for closed groups, answered from a time-wait entry." },
	{ "no_route", "no_route_packets_total", false, "Packets that found no route.",
	  "ip route get ADDRESS for each of the hosts; collsock doctor ADDRESS says more" },
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

const struct counter counters_stats[] = {
	{ "posted", "group_posted_operations_total", false, "Operations posted." },
	{ "completed", "group_completed_operations_total", false,
	  "Operations completed without error." },
	{ "failed", "group_failed_operations_total", false,
	  "Operations completed with an error." },
	{ "rounds", "group_rounds_total", false, "Rounds advanced." },
	{ "rounds_misplaced", "group_misplaced_rounds_total", false,
	  "Rounds advanced outside softirq context (never)." },
	{ "messages_sent", "group_sent_messages_total", false, "First transmissions." },
	{ "messages_received", "group_received_messages_total", false, "Messages accepted." },
	{ "retransmits", "group_retransmitted_messages_total", false, "Messages sent again." },
	{ "duplicates", "group_duplicate_messages_total", false, "Messages received again." },
	{ "early", "group_early_messages_total", false,
	  "Messages that arrived before a rank of this host had posted." },
	{ "lone_acks", "group_lone_acknowledgments_total", false,
	  "Packets that carried only an acknowledgment." },
	{ "no_credit", "group_held_messages_total", false,
	  "Messages held back until the receiver has room." },
	{ "beyond_window", "group_beyond_window_messages_total", false,
	  "Messages dropped because they were beyond the window." },
	{ "stale", "group_stale_packets_total", false,
	  "Packets of another incarnation or an older connection." },
	{ "invalid", "group_invalid_packets_total", false,
	  "Packets of a member that are not valid in this group." },
	{ "memory_short", "group_unsent_packets_total", false,
	  "Packets not sent because there was no memory." },
	{ "probes_sent", "group_sent_probes_total", false,
	  "Probes sent to hosts that had not been heard." },
	{ "probes_received", "group_received_probes_total", false,
	  "Probes received from other hosts, all answered." },
	{ "challenges", "group_challenges_total", false,
	  "Probes to a host whose incarnation had changed." },
	{ "peers_idle", "group_idle_peers_total", false,
	  "Connections released because they were idle." },
	{ }
};
