/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tunables, one line each, for files that define TUNABLE:
 *
 *   TUNABLE(identifier, name, unit, least, most, default, description)
 *
 * A default of 0 where 0 is out of range is computed when the module is loaded. The core
 * keeps retransmission time-outs as 32-bit numbers of ns.
 */
TUNABLE(PORT, port, "", 1, 65535, COLLSOCK_PORT,
	"UDP port; can change while the namespace has no group")
TUNABLE(HOLD_PORT, hold_port, "", 0, 1, 1,
	"The port stays open without a group, so that nobody else can have it")
TUNABLE(ETHERTYPE, ethertype, "", COLLSOCK_ETHERTYPE, COLLSOCK_OTHER_ETHERTYPE,
	COLLSOCK_ETHERTYPE,
	"EtherType of groups over Ethernet: of the two for local use")
TUNABLE(WINDOW, window, "", 1, COLLSOCK_MAX_WINDOW, COLLSOCK_DEFAULT_WINDOW,
	"Window of groups whose JOIN does not set it; must be equal on all hosts")
TUNABLE(RTO_FLOOR, rto_floor_us, "us", 10, 4000000, 0,
	"Least retransmission time-out; after a retransmission, without the acknowledgment delay")
TUNABLE(RTO_INITIAL, rto_initial_us, "us", 10, 4000000, 0,
	"Retransmission time-out before the round-trip time is known")
TUNABLE(RTO_CEILING, rto_ceiling_us, "us", 10, 4000000, 0,
	"Greatest retransmission time-out")
TUNABLE(RTO_UNHEARD, rto_unheard_us, "us", 10, 4000000, 0,
	"Greatest retransmission time-out to a host never heard from")
TUNABLE(ACK_DELAY, ack_delay_us, "us", 10, 10000000, 0,
	"How long an acknowledgment waits to be piggybacked on a packet")
TUNABLE(LIVENESS, liveness_ms, "ms", 10, 86400000, 0,
	"Silence after which a host counts as dead")
TUNABLE(JOIN_TIMEOUT, join_timeout_ms, "ms", 10, 86400000, 0,
	"The same for a host never heard from")
TUNABLE(SETTLE, settle_us, "us", 10, 10000000, 0,
	"How long an error is held, so that all hosts report the same")
TUNABLE(LINGER, linger_ms, "ms", 10, 86400000, 60000,
	"How long a group that was closed works on for other hosts")
TUNABLE(IDLE, idle_ms, "ms", 10, 86400000, 0,
	"Time after which an unused connection is released")
TUNABLE(BUSY_POLL, busy_poll_us, "us", 0, COLLSOCK_MAX_SPIN_US, 0,
	"How long RUN and WAIT spin before they sleep, unless the caller sets it")
TUNABLE(MAX_MEMORY, max_memory_kib, "KiB", 1, U32_MAX, 0,
	"Memory that all groups of a namespace may reserve; a namespace can only lower it")
TUNABLE(MAX_GROUPS, max_groups, "", 1, 1048576, 65536,
	"Groups of a namespace, including lingering ones")
TUNABLE(USER_MEMORY, user_memory_kib, "KiB", 0, U32_MAX, 0,
	"What groups of one user may reserve in all namespaces; 0: a quarter of max_memory_kib")
TUNABLE(USER_GROUPS, user_groups, "", 1, 1048576, 4096,
	"Groups of one user in all namespaces, including lingering ones")
TUNABLE(JOIN_GID_LOW, join_gid_low, "", 0, U32_MAX - 1, 0,
	"First group id that may join")
TUNABLE(JOIN_GID_HIGH, join_gid_high, "", 0, U32_MAX - 1, U32_MAX - 1,
	"Last group id that may join; if below the first one, none may")
TUNABLE(REQUIRE_KEYS, require_keys, "", 0, 1, 1,
	"Groups whose key is all zero cannot be joined")
TUNABLE(SAME_POLICY, same_policy, "", 0, 1, 1,
	"Ranks of a group on this host need the same user, socket options and filters of packets")
TUNABLE(SEND_BUFFER, send_buffer_kib, "KiB", 64, 1048576, 4096,
	"Packets of a group in queues, unless SO_SNDBUF says; a namespace can only lower it")
