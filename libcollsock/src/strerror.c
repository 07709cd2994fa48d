// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What errors mean, and what to do */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/**
 * struct advice - about one error
 * @error: its number
 * @speaks_of_rank: the meaning continues "rank N "; 2: only where a rank is named
 * @meaning: what it means
 * @deed: what to do
 */
struct advice {
	int		error;
	int		speaks_of_rank;
	const char	*meaning;
	const char	*deed;
};

static const struct advice advices[] = {
	/* of an operation that has completed */
	{
		ECONNRESET, 1, "has left the group: it closed its socket, or its process ended",
		"see its output for the reason, then join a new group with a new nonce",
	}, {
		ETIMEDOUT, 1, "does not answer: it is down, cut off, or has never joined",
		"check that it runs, UDP port 7607 is open, large packets get through, and id, nonce, key, hosts are equal on all",
	}, {
		EPROTO, 1, "posted a different operation, or joined with a different description",
		"make all ranks join alike and post the same operations in the same order, with a new nonce",
	}, {
		EPERM, 2, "is on a host whose own filters refuse its packets",
		"see there nft list ruleset, IPAddressDeny= of systemd, and collsock stat (send_refused)",
	}, {
		ECANCELED, 1, "is on the host where the group was ended with collsock end",
		"find out why, then join a new group with a new nonce",
	},
	/* of posting and completing */
	{
		EAGAIN, 0, "not possible now, and nothing was posted",
		"poll() for POLLOUT before posting, for POLLIN before receiving a completion",
	}, {
		EINPROGRESS, 0, "posted, but not complete yet",
		"receive the completion later, with collsock_wait() or collsock_complete()",
	}, {
		EINTR, 0, "interrupted by a signal; nothing is lost",
		"repeat the call",
	}, {
		ENOBUFS, 0, "every completion slot of this socket is in use",
		"receive completions before you post more",
	}, {
		EPIPE, 0, "no completion will follow: the group failed, or this rank left it",
		"see collsock_self() for error and rank, then join a new group with a new nonce",
	}, {
		EBADF, 0, "the socket is closed, perhaps because this process is a forked child",
		"join after fork(), or open with COLLSOCK_OPEN_KEEP",
	}, {
		EOPNOTSUPP, 0, "this kernel does not support what was asked for",
		"compare with collsock_features(), or use a newer module",
	}, {
		ENOTCONN, 0, "this socket is not a rank of a group yet",
		"join first",
	}, {
		ENOENT, 0, "no such file, no operation with that cookie, or no such rank here",
		"check whether its completion was received already, or how many ranks this host has",
	}, {
		EMSGSIZE, 0, "too large for max_bytes of the group, for the buffer or the path",
		"post less, pass a larger buffer (nothing is lost), or join with small segments",
	},
	/* of opening and joining */
	{
		EAFNOSUPPORT, 0, "this kernel has no collective sockets, or no IPv6",
		"load the module (modprobe collsock)",
	}, {
		EISCONN, 0, "this socket has joined already",
		"open another: a socket is one rank of one group",
	}, {
		EPERM, 0, "not permitted here, or the key file is open to other users",
		"see collsock get join_gid_low join_gid_high; chmod 600 the key file",
	}, {
		EACCES, 0, "no key, another user or filter than a rank here, or a file may not be read",
		"give a key (a key file), or allow it: collsock set require_keys 0, or same_policy 0",
	}, {
		EADDRNOTAVAIL, 0, "not an address of this host, or not a host's address at all",
		"see ip address: the rank that joins needs an address and the UDP port of this host",
	}, {
		EADDRINUSE, 0, "rank already joined, group left a moment ago, or port in use",
		"give each process its own rank, and each run a new nonce; see collsock doctor",
	}, {
		EXDEV, 0, "the address of this host is in a VRF",
		"use an address outside of it, or a network namespace instead of the VRF",
	}, {
		EINVAL, 0, "an argument is not valid",
		"see the errors in its manual page",
	}, {
		ENOMEM, 0, "no memory, or the groups here have reached their memory limit",
		"lower window or max_bytes; see collsock get max_memory_kib, memory cgroup",
	}, {
		ENFILE, 0, "too many groups in this namespace, or too many open files",
		"list them with collsock group; allow more with collsock set max_groups",
	},
	{
		EDQUOT, 0, "the groups of this user have all the memory that they may",
		"lower window or max_bytes; see collsock user, collsock get user_memory_kib",
	}, {
		EMFILE, 0, "this user has all the groups that it may, or the process all files",
		"see collsock user, collsock get user_groups; ulimit -n",
	},
	/* of the library */
	{
		ENOTUNIQ, 0, "several members of the group have addresses of this host",
		"say which rank this is",
	}, {
		EPFNOSUPPORT, 0, "all hosts of a group have IPv4 addresses, or all have IPv6 ones",
		"use one of the two",
	}, {
		E2BIG, 0, "too many hosts, ranks, or ranks on one host",
		"65536 hosts, 1048576 ranks, 1024 on one host; these times max_bytes: 4 MiB",
	}, {
		ENODEV, 0, "there is no network interface of this name here",
		"see ip link",
	}, {
		EBADMSG, 0, "not a key file, or an answer of another version",
		"a key file is a plain file of 32 hexadecimal digits, not all zero",
	},
	{ }
};

COLLSOCK_PUBLIC const char *collsock_strerror(int error, __u32 failed_rank, char *text,
					      size_t bytes)
{
	const struct advice *a = advices;

	error = abs(error);
	while (a->error && (a->error != error ||
			    (a->speaks_of_rank == 2 && failed_rank == COLLSOCK_NO_RANK)))
		a++;
	if (!a->error)
		snprintf(text, bytes, "%s", strerror(error));
	else if (!a->speaks_of_rank)
		snprintf(text, bytes, "%s; %s", a->meaning, a->deed);
	else if (failed_rank == COLLSOCK_NO_RANK)
		snprintf(text, bytes, "a rank %s; %s", a->meaning, a->deed);
	else
		snprintf(text, bytes, "rank %u %s; %s", failed_rank, a->meaning, a->deed);
	return text;
}
