/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Shared by the files of the library. All symbols are hidden except those marked
 * COLLSOCK_PUBLIC, which collsock.map lists, too.
 */
#ifndef COLLSOCK_INTERNAL_H
#define COLLSOCK_INTERNAL_H

#include <stdatomic.h>

#include "collsock.h"

#define COLLSOCK_PUBLIC __attribute__((visibility("default")))

/**
 * struct collsock - a socket
 * @fd: file descriptor; -1 in a forked child
 * @user: the rank, if it is not the kernel's (user.h); else NULL
 * @spin_us: how long to spin before sleeping
 * @next_cookie: for the next function that posts and waits
 * @ranks: ranks of the group, once asked for; 0 before
 * @rank: the rank of this socket, when @ranks is known
 * @page: once mapped; under the lock of forks, like the next
 * @forks: of the process that has mapped it
 * @next: in the list of sockets that are closed in a forked child
 * @link: the list's pointer to it; NULL if it stays open in a child
 */
struct collsock {
	int		fd;
	struct user_member	*user;
	atomic_uint	spin_us;
	atomic_ullong	next_cookie;
	atomic_uint	ranks;
	atomic_uint	rank;
	void		*page;
	unsigned int	forks;
	struct collsock	*next;
	struct collsock	**link;
};

/**
 * struct group_host - a host of a group
 * @member: its address; the port is never 0
 * @index: index of the host in the group
 * @ranks: number of ranks on the host
 */
struct group_host {
	struct collsock_member	member;
	__u32		index;
	__u32		ranks;
};

/**
 * struct collsock_group - a join request under construction
 * @request: fixed part of the request
 * @tree: the hosts by address and port, for tsearch(3)
 * @host_of_rank: the host of each rank
 * @capacity: allocated length of @host_of_rank
 */
struct collsock_group {
	struct collsock_join	request;
	void			*tree;
	struct group_host	**host_of_rank;
	__u32		capacity;
};

#endif
