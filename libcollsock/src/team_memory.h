/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The memory that the members of a team share: a head, then lines, each written by few members
 * or read by few, and alone in its cache line.
 *
 * In a team of processes it is a memfd, and another member may write anything to it at any
 * time. So the head is copied, checked, and not read again; all addresses and lengths are
 * computed from that copy; and what is read later is a number whose every value is allowed.
 * The memfd must be sealed against becoming shorter: to touch memory beyond its end would be
 * fatal.
 */
#ifndef COLLSOCK_TEAM_MEMORY_H
#define COLLSOCK_TEAM_MEMORY_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "collsock.h"

/* Alone in a cache line */
#define TEAM_LINE alignas(64)

/**
 * struct team_flag - the number of an operation that somebody waits for
 * @word: twice that number; odd while somebody sleeps until it grows
 */
struct team_flag {
	TEAM_LINE atomic_uint word;
};

#define TEAM_SLEEPS		1U	/* the lowest bit of a flag */

/**
 * struct team_head - description of a team; never changes
 * @magic: identifies the layout
 * @pid_namespace: the inode of the namespace to which pids belong
 * @time_namespace: likewise, start times
 * @members: number of members
 * @algorithm: enum collsock_team_algorithm, not auto
 * @max_bytes: of a contribution, at least 1
 */
struct team_head {
	__u64	magic;
	__u64	pid_namespace;
	__u64	time_namespace;
	__u32	members;
	__u32	algorithm;
	__u32	max_bytes;
};

/**
 * struct team_common - the part of all members
 * @head: what the team is
 * @handles: members of a team of threads that are not yet freed
 * @failure: why the team has failed; see team_failure.h
 * @reduced: the last all-reduce whose result is there
 * @signature: what it was
 * @combined: the last operation that the socket has ended
 * @error: its errno, or 0
 * @rank: the rank that is to blame
 * @arrived: how often members have arrived at operations (central)
 * @release: the last operation that members may leave (central, dissemination)
 */
struct team_common {
	struct team_head		head;
	atomic_uint			handles;
	TEAM_LINE atomic_uint		failure;
	TEAM_LINE atomic_uint		reduced;
	atomic_ullong			signature;
	atomic_uint			combined;
	atomic_uint			error;
	atomic_uint			rank;
	TEAM_LINE atomic_uint		arrived;
	struct team_flag		release;
};

/**
 * struct team_record - state that a member publishes
 * @pid: of its process; 0 before it has opened the team, TEAM_LEFT after it has freed it
 * @done: the last operation that it has left
 * @reduces: the last operation that it has begun as an all-reduce
 * @start: when its process began, in clock ticks; 0 if that is not known
 * @signature: what that all-reduce is
 */
struct team_record {
	TEAM_LINE atomic_uint	pid;
	atomic_uint		done;
	atomic_uint		reduces;
	atomic_ullong		start;
	atomic_ullong		signature;
};

#define TEAM_LEFT		0xffffffffU

/**
 * struct team_memory - this member's view of the memory
 * @common: its beginning
 * @record: of each member
 * @up: of each member: it and all members under it in the tree have arrived (MCS)
 * @down: of each member: it may leave (MCS)
 * @rounds: of each member: the flags of its rounds (dissemination)
 * @contributions: of each member, @stride bytes; others fold them
 * @result: of the last all-reduce
 * @stride: bytes from one contribution to the next
 * @round_count: flags of a member in @rounds
 * @flag_count: those of all members, which begin at @up
 * @bytes: length of all
 */
struct team_memory {
	struct team_common	*common;
	struct team_record	*record;
	struct team_flag	*up;
	struct team_flag	*down;
	struct team_flag	*rounds;
	__u8			*contributions;
	__u8			*result;
	size_t			stride;
	__u32			round_count;
	__u32			flag_count;
	size_t			bytes;
};

/*
 * Check a caller's arguments, and fill in the head: 0 or -EINVAL. The namespaces are those of
 * the calling process.
 */
int collsock_team_head_init(struct team_head *head, __u32 members,
			    enum collsock_team_algorithm algorithm, __u32 max_bytes);

/* Memory of this process alone, filled with zeroes. The head is valid. */
int collsock_team_memory_new(struct team_memory *memory, const struct team_head *head);

/* The same in a memfd: returns its file descriptor. */
int collsock_team_memory_memfd(const struct team_head *head);

/* Map the memory in a memfd of unknown origin; its head is copied and checked. */
int collsock_team_memory_map(struct team_memory *memory, struct team_head *head, int memfd);

void collsock_team_memory_unmap(struct team_memory *memory);

#endif
