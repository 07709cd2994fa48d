/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the files of the library share. All symbols are hidden but those marked
 * COLLSOCK_PUBLIC, which collsock.map lists too.
 */
#ifndef COLLSOCK_INTERNAL_H
#define COLLSOCK_INTERNAL_H

#include <stdatomic.h>

#include "collsock.h"

#define COLLSOCK_PUBLIC __attribute__((visibility("default")))

/**
 * struct collsock - a socket
 * @fd: of the socket; -1 in a forked child
 * @spin_us: how long to spin before sleeping
 * @next_cookie: for the next collective that posts and waits
 * @next: among the sockets that are closed in a forked child
 * @link: where that list points to it; NULL if it stays open there
 */
struct collsock {
	int		fd;
	atomic_uint	spin_us;
	atomic_ullong	next_cookie;
	struct collsock	*next;
	struct collsock	**link;
};

/**
 * struct group_host - a host of a group
 * @member: its address; the port is never 0
 * @index: of it in the group
 * @ranks: that live on it
 */
struct group_host {
	struct collsock_member	member;
	__u32		index;
	__u32		ranks;
};

/**
 * struct collsock_group - a join request under construction
 * @request: its fixed part
 * @tree: the hosts, to be found by address and port: tsearch(3)
 * @host_of_rank: the host of each rank
 * @capacity: room in @host_of_rank
 */
struct collsock_group {
	struct collsock_join	request;
	void			*tree;
	struct group_host	**host_of_rank;
	__u32		capacity;
};

#endif
