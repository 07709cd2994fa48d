/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bytes that user space and kernel have agreed upon. Structures have no
 * padding (the compiler watches it), so offsets tell the size of fields too.
 */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stddef.h>

#include <collsock.h>

/**
 * struct layout - of one field, or the size of a structure
 * @structure: its name
 * @field: its name, or "-": this is the size of the structure
 * @seen: bytes, as the compiler says
 * @wanted: bytes, as it must be
 */
struct layout {
	const char	*structure;
	const char	*field;
	size_t		seen;
	size_t		wanted;
};

#define SIZE(s, bytes) { #s, "-", sizeof(s), bytes }
#define FIELD(s, f, at) { #s, #f, offsetof(s, f), at }

static const struct layout layouts[] = {
	SIZE(struct collsock_member, 24),
	FIELD(struct collsock_member, family, 0),
	FIELD(struct collsock_member, port, 2),
	FIELD(struct collsock_member, scope_id, 4),
	FIELD(struct collsock_member, address, 8),
	SIZE(struct collsock_join, 72),
	FIELD(struct collsock_join, size, 0),
	FIELD(struct collsock_join, flags, 4),
	FIELD(struct collsock_join, id, 8),
	FIELD(struct collsock_join, nonce, 16),
	FIELD(struct collsock_join, key, 24),
	FIELD(struct collsock_join, hosts, 40),
	FIELD(struct collsock_join, ranks, 44),
	FIELD(struct collsock_join, rank, 48),
	FIELD(struct collsock_join, max_bytes, 52),
	FIELD(struct collsock_join, window, 56),
	FIELD(struct collsock_join, segment_bytes, 58),
	FIELD(struct collsock_join, barrier_algorithm, 60),
	FIELD(struct collsock_join, allreduce_algorithm, 61),
	FIELD(struct collsock_join, reduce_algorithm, 62),
	FIELD(struct collsock_join, broadcast_algorithm, 63),
	FIELD(struct collsock_join, fanout, 64),
	FIELD(struct collsock_join, reserved, 65),
	FIELD(struct collsock_join, liveness_ms, 68),
	SIZE(struct collsock_post, 32),
	FIELD(struct collsock_post, size, 0),
	FIELD(struct collsock_post, operation, 4),
	FIELD(struct collsock_post, type, 5),
	FIELD(struct collsock_post, op, 6),
	FIELD(struct collsock_post, algorithm, 7),
	FIELD(struct collsock_post, flags, 8),
	FIELD(struct collsock_post, root, 12),
	FIELD(struct collsock_post, count, 16),
	FIELD(struct collsock_post, reserved, 20),
	FIELD(struct collsock_post, cookie, 24),
	SIZE(struct collsock_completion, 40),
	FIELD(struct collsock_completion, size, 0),
	FIELD(struct collsock_completion, error, 4),
	FIELD(struct collsock_completion, failed_rank, 8),
	FIELD(struct collsock_completion, bytes, 12),
	FIELD(struct collsock_completion, cookie, 16),
	FIELD(struct collsock_completion, posted_ns, 24),
	FIELD(struct collsock_completion, completed_ns, 32),
	SIZE(struct collsock_float_int, 8),
	FIELD(struct collsock_float_int, value, 0),
	FIELD(struct collsock_float_int, index, 4),
	SIZE(struct collsock_double_int, 12),
	FIELD(struct collsock_double_int, value, 0),
	FIELD(struct collsock_double_int, index, 8),
	SIZE(struct collsock_int64_int, 12),
	FIELD(struct collsock_int64_int, value, 0),
	FIELD(struct collsock_int64_int, index, 8),
	SIZE(struct collsock_int32_int, 8),
	FIELD(struct collsock_int32_int, value, 0),
	FIELD(struct collsock_int32_int, index, 4),
	SIZE(struct collsock_int16_int, 6),
	FIELD(struct collsock_int16_int, value, 0),
	FIELD(struct collsock_int16_int, index, 2),
	SIZE(struct collsock_run, 88),
	FIELD(struct collsock_run, size, 0),
	FIELD(struct collsock_run, buffer_bytes, 4),
	FIELD(struct collsock_run, spin_us, 8),
	FIELD(struct collsock_run, reserved, 12),
	FIELD(struct collsock_run, post, 16),
	FIELD(struct collsock_run, completion, 48),
	SIZE(struct collsock_wait, 64),
	FIELD(struct collsock_wait, size, 0),
	FIELD(struct collsock_wait, buffer_bytes, 4),
	FIELD(struct collsock_wait, spin_us, 8),
	FIELD(struct collsock_wait, reserved, 12),
	FIELD(struct collsock_wait, cookie, 16),
	FIELD(struct collsock_wait, completion, 24),
	SIZE(struct collsock_stats, 176),
	FIELD(struct collsock_stats, size, 0),
	FIELD(struct collsock_stats, hosts, 4),
	FIELD(struct collsock_stats, host, 8),
	FIELD(struct collsock_stats, peers, 12),
	FIELD(struct collsock_stats, posted, 16),
	FIELD(struct collsock_stats, completed, 24),
	FIELD(struct collsock_stats, failed, 32),
	FIELD(struct collsock_stats, rounds, 40),
	FIELD(struct collsock_stats, rounds_misplaced, 48),
	FIELD(struct collsock_stats, messages_sent, 56),
	FIELD(struct collsock_stats, messages_received, 64),
	FIELD(struct collsock_stats, retransmits, 72),
	FIELD(struct collsock_stats, duplicates, 80),
	FIELD(struct collsock_stats, early, 88),
	FIELD(struct collsock_stats, lone_acks, 96),
	FIELD(struct collsock_stats, no_credit, 104),
	FIELD(struct collsock_stats, beyond_window, 112),
	FIELD(struct collsock_stats, stale, 120),
	FIELD(struct collsock_stats, invalid, 128),
	FIELD(struct collsock_stats, memory_short, 136),
	FIELD(struct collsock_stats, probes_sent, 144),
	FIELD(struct collsock_stats, probes_received, 152),
	FIELD(struct collsock_stats, challenges, 160),
	FIELD(struct collsock_stats, peers_idle, 168),
	SIZE(struct collsock_net_stats, 96),
	FIELD(struct collsock_net_stats, size, 0),
	FIELD(struct collsock_net_stats, groups, 4),
	FIELD(struct collsock_net_stats, peers, 8),
	FIELD(struct collsock_net_stats, timewait_entries, 12),
	FIELD(struct collsock_net_stats, packets, 16),
	FIELD(struct collsock_net_stats, malformed, 24),
	FIELD(struct collsock_net_stats, unknown_group, 32),
	FIELD(struct collsock_net_stats, wrong_source, 40),
	FIELD(struct collsock_net_stats, forged, 48),
	FIELD(struct collsock_net_stats, wrong_descriptor, 56),
	FIELD(struct collsock_net_stats, timewait_answered, 64),
	FIELD(struct collsock_net_stats, no_route, 72),
	FIELD(struct collsock_net_stats, memory, 80),
	FIELD(struct collsock_net_stats, over_memory, 88),
};

#endif
