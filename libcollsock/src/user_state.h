/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A member: a rank on the platform in user space, which is a host of its group by itself, with its
 * own port.
 *
 * States, all changes under the member's lock:
 *
 *	NEW -> JOINED		JOIN has made the group
 *	JOINED -> LINGERING	the handle is closed, or the process ends: what is under way goes on
 *	LINGERING -> TIMEWAIT	nothing is under way: late packets are answered from an entry
 *	TIMEWAIT -> OVER	the entry has expired; likewise from NEW when the handle is closed
 *
 * In a forked child a member is dead: it has nothing but its handle.
 */
#ifndef COLLSOCK_USER_STATE_H
#define COLLSOCK_USER_STATE_H

#include <pthread.h>

#include "../../kernel/core/endpoint.h"
#include "user_pipe.h"
#include "user_slots.h"
#include "user_udp.h"

enum user_state {
	USER_NEW,
	USER_JOINED,
	USER_LINGERING,
	USER_TIMEWAIT,
	USER_OVER,
};

/**
 * struct user_request - the group as JOIN described it, checked
 * @join: the fixed part; without the key, once joined
 * @members: the hosts
 * @host_of_rank: the host of each rank
 */
struct user_request {
	struct collsock_join	join;
	struct collsock_member	*members;
	u32			*host_of_rank;
};

/**
 * struct user_raw - a post that the program has sent to its descriptor
 * @data: it, of @room bytes at most
 * @room: see there
 * @bytes: its length
 * @waits: there is one, which waits until the window has room for it
 */
struct user_raw {
	u8	*data;
	size_t	room;
	ssize_t	bytes;
	bool	waits;
};

struct user_member;

/**
 * struct user_wait - what a call waits for
 * @ready: has it happened? The member's lock is held
 * @what: its second argument
 * @option: SO_RCVTIMEO or SO_SNDTIMEO of the program's descriptor: for how long
 * @spin_us: how long to look for packets before sleeping, or before giving up
 */
struct user_wait {
	bool		(*ready)(struct user_member *m, void *what);
	void		*what;
	int		option;
	unsigned int	spin_us;
};

/**
 * struct user_handle - the program's hold of a member
 * @calls: number of its calls under way
 * @closing: it has closed the handle, which takes effect when the last of them returns
 * @closed: the handle is closed, or the process ends: completions go nowhere
 * @released: the program no longer has the handle
 * @exposed: the program may have changed whether its descriptor blocks
 */
struct user_handle {
	u32	calls;
	bool	closing;
	bool	closed;
	bool	released;
	bool	exposed;
};

/**
 * struct user_waiters - the program's threads that wait for a member
 * @changed: something has ended, or the window has room, or nobody drives the member any more
 * @driver: the wait of the one that receives the packets, or NULL
 * @count: number of them
 * @returns: how often, without a pause, the program has waited again soon
 * @rested_ns: it has waited until then
 */
struct user_waiters {
	pthread_cond_t			changed;
	const struct user_wait		*driver;
	u32				count;
	u32				returns;
	u64				rested_ns;
};

/**
 * struct user_current_event - the present event of a member
 * @now: its time
 * @woken: threads that wait are to be woken at its end
 * @turn: the core wants one
 */
struct user_current_event {
	u64	now;
	bool	woken;
	bool	turn;
};

/**
 * struct user_alarm - what wakes the thread of the library for a member
 * @epoll: readable if there is something to do
 * @timer: in it
 * @expires_ns: when that expires
 * @watched: its packets are in it, too
 */
struct user_alarm {
	int	epoll;
	int	timer;
	u64	expires_ns;
	bool	watched;
};

/**
 * struct user_linger - how long a member lingers
 * @until_ns: then it has lingered for long enough
 * @overdue: it has already lingered once
 */
struct user_linger {
	u64	until_ns;
	bool	overdue;
};

/**
 * struct user_member - see there
 * @group: the core's, from JOINED to LINGERING
 * @lock: of all that follows but @link
 * @state: enum user_state
 * @dead: see there; never changes but in a child that has just been forked
 * @number: for reports: which of the process it is, as long as there are few
 * @left: the rank has left the group
 * @failed: the failure of the group has been reported
 * @joined_ns: when it has joined
 * @deadline: when the core wants to be called
 * @handle: the program's hold of it
 * @waiters: threads of the program that wait
 * @event: the present one
 * @alarm: for the thread of the library
 * @linger: for how long
 * @link: in the list of the thread of the library, under the lock of that
 * @request: see there
 * @timewait: in TIMEWAIT
 * @udp: its socket
 * @pipe: the program's descriptor
 * @slots: completion slots
 * @raw: see there
 * @net: counters of packets
 */
struct user_member {
	struct coll_group		group;
	pthread_mutex_t			lock;
	enum user_state			state;
	bool				dead;
	u8				number;
	bool				left;
	bool				failed;
	u64				joined_ns;
	u64				deadline;
	struct user_handle		handle;
	struct user_waiters		waiters;
	struct user_current_event	event;
	struct user_alarm		alarm;
	struct user_linger		linger;
	struct list_head		link;
	struct user_request		request;
	struct coll_timewait		timewait;
	struct user_udp			udp;
	struct user_pipe		pipe;
	struct user_slots		slots;
	struct user_raw			raw;
	struct collsock_net_stats	net;
};

/* Longest structure that any kernel will ever know */
#define USER_MAX_STRUCT_BYTES	4096

/* Is this a possible length of a caller's structure? As the kernel answers: 0, -EINVAL, -E2BIG */
static inline int user_struct_check(u32 size, u32 first)
{
	if (size < first || size % sizeof(u64))
		return -EINVAL;
	return size > USER_MAX_STRUCT_BYTES ? -E2BIG : 0;
}

/* The member of a group */
static inline struct user_member *user_member_of(struct coll_group *g)
{
	return container_of(g, struct user_member, group);
}

/* Has the rank received all completions that there will be? Lock held */
static inline bool user_member_at_end(const struct user_member *m)
{
	return (m->failed || m->left) &&
	       !user_slots_have(&m->slots, USER_SLOT_POSTED, USER_SLOT_DONE);
}

#endif
