// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The meaning of errors, and what to do */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Is it an error of a call, or of an operation, which names a rank? */
enum whose {
	CALL,		/* the meaning is a sentence */
	RANK,		/* the meaning continues "rank N ", or "a rank " if none is named */
	NAMED_RANK,	/* likewise, but a call may return it too: then there is another line */
};

/**
 * struct advice - about one error
 * @error: its number
 * @whose: see there
 * @meaning: what it means
 * @deed: what to do
 */
struct advice {
	int		error;
	enum whose	whose;
	const char	*meaning;
	const char	*deed;
};

static const struct advice advices[] = {
	/* of an operation that has completed */
	{
		ECONNRESET, RANK, "has left the group: it closed its socket, or its process ended",
		"see its output for the reason, then join a new group with a new nonce",
	}, {
		ETIMEDOUT, RANK,
		"does not answer: it is down, stopped, cut off, or has never joined",
		"check that it runs and is not stopped, UDP port 7607 (in user space COLLSOCK_USER_PORTS) is open, large packets get through, and id, nonce, key, hosts are equal on all",
	}, {
		EPROTO, RANK,
		"posted a different operation, joined with a different description, or has another version of the module",
		"make all ranks join alike and post the same operations in the same order, with a new nonce; if collsock stat counts other_version, install the same module on all hosts",
	}, {
		EPERM, NAMED_RANK, "is on a host whose own filters refuse its packets",
		"see there nft list ruleset, IPAddressDeny= of systemd, and what collsock stat says of refused",
	}, {
		ECANCELED, RANK, "is on the host where the group was ended with collsock end",
		"find out why, then join a new group with a new nonce",
	},
	/* of posting and completing */
	{
		EAGAIN, CALL, "not possible now, and nothing was posted",
		"poll() for POLLOUT before posting, for POLLIN before receiving a completion",
	}, {
		EINPROGRESS, CALL, "posted, but not complete yet",
		"receive the completion later, with collsock_wait() or collsock_complete()",
	}, {
		EINTR, CALL, "interrupted by a signal; nothing is lost",
		"repeat the call",
	}, {
		ENOBUFS, CALL, "every completion slot of this socket is in use",
		"receive completions before you post more",
	}, {
		EPIPE, CALL, "no completion will follow: the group failed, or this rank left it",
		"see collsock_self() for error and rank, then join a new group with a new nonce",
	}, {
		EBADF, CALL, "the socket is closed, perhaps because this process is a forked child",
		"join after fork(), or open with COLLSOCK_OPEN_KEEP",
	}, {
		EOPNOTSUPP, CALL,
		"this kernel does not support what was asked for, or this group has no scans as its ranks are not placed on hosts in their order, or ranks in user space have no multicast address and cannot be teams of processes",
		"compare with collsock_features(), or use a newer module; number ranks host by host; join without a multicast address; use a team of threads",
	}, {
		ERANGE, CALL, "the group has reserved nothing for the degree that the post names",
		"name the degree of the group or one of its degrees, or join with this one among them",
	}, {
		ENOTCONN, CALL, "this socket is not a rank of a group yet",
		"join first",
	}, {
		ENOENT, CALL,
		"no launcher has started this program; or there is no such file, or a call names a completion or a rank that is not here",
		"start it with collsock run; or check the name of the file, whether the completion was received already, how many ranks this host has",
	}, {
		EMSGSIZE, CALL, "too large for the limits of the group, for the buffer or the path",
		"post less, pass a larger buffer (nothing is lost), or join with larger max_bytes, max_result_bytes, or small segments",
	},
	/* of opening and joining */
	{
		EAFNOSUPPORT, CALL, "this kernel has no collective sockets, or no IPv6",
		"load the module (modprobe collsock), or do without it (COLLSOCK_BACKEND=user)",
	}, {
		EISCONN, CALL, "this socket has joined already",
		"open another: a socket is one rank of one group",
	}, {
		EPERM, CALL, "not permitted here, or the key file is open to other users",
		"see collsock get join_gid_low join_gid_high; for MAC addresses collsock device NAME allow; chmod 600 the key file",
	}, {
		EACCES, CALL,
		"this namespace refuses groups without a key, or with ranks here of several users or filters; or a file may not be read",
		"give a key (a key file), start all ranks of a host alike, or allow it: collsock set require_keys 0, same_policy 0",
	}, {
		EADDRNOTAVAIL, CALL, "not an address of this host, or not a host's address at all",
		"see ip address: the rank that joins needs an address and the UDP port of this host; with a multicast address, that of a network that has multicast",
	}, {
		EADDRINUSE, CALL, "rank already joined, group left a moment ago, or port in use",
		"give each process its own rank, and each run a new nonce; see collsock doctor",
	}, {
		EXDEV, CALL, "the address of this host is in a VRF, or of a port of a bridge",
		"use an address outside of the VRF, or a network namespace instead; or the address of the bridge or the bond",
	}, {
		ENOTUNIQ, CALL, "several devices, or hosts of a group, have one address here",
		"name the device (52:54:00:12:34:01%eth0); list this host once, or say which rank this is",
	}, {
		EINVAL, CALL, "an argument is not valid",
		"see the errors in its manual page; COLLSOCK_BACKEND is kernel, user or auto, COLLSOCK_USER_PORTS is FIRST-LAST",
	}, {
		ENOMEM, CALL, "no memory, or the groups here have reached their memory limit",
		"receive completions, or join with a lower window first, which multiplies the memory, then with lower max_bytes or max_result_bytes; see collsock get max_memory_kib, memory cgroup",
	}, {
		ENFILE, CALL, "too many groups in this namespace, or too many open files",
		"list them with collsock group; allow more with collsock set max_groups",
	},
	{
		EDQUOT, CALL, "the groups of this user have all the memory that they may",
		"receive completions, or join with a lower window first, which multiplies the memory, then with lower max_bytes or max_result_bytes; see collsock user, collsock get user_memory_kib",
	}, {
		EMFILE, CALL, "this user has all the groups that it may, or the process all files",
		"see collsock user, collsock get user_groups; ulimit -n",
	},
	/* of joining as a launcher says, or with an exchange */
	{
		ENOKEY, CALL, "no secret, which ranks on several hosts need",
		"make it with collsock keygen ~/.config/collsock/key, copy it to all hosts, or name a file in COLLSOCK_KEY_FILE",
	}, {
		EHOSTUNREACH, CALL,
		"all ranks have joined, but no packet arrives at one of their hosts",
		"let UDP port 7607 (in user space COLLSOCK_USER_PORTS) through firewalls between all hosts; see ip route get",
	}, {
		ENETUNREACH, CALL,
		"all ranks have joined, but packets do not arrive between some of their hosts",
		"let UDP port 7607 (in user space COLLSOCK_USER_PORTS) through firewalls between all hosts; see ip route get",
	}, {
		ESTALE, CALL, "a later attempt of this job has replaced this one",
		"end this process; COLLSOCK_ATTEMPT, or the launcher, counts attempts",
	}, {
		EEXIST, CALL, "another process has connected as this rank",
		"give each process a rank of its own, and each job that runs at the same time a name of its own (COLLSOCK_JOB)",
	}, {
		ECONNREFUSED, CALL, "the launcher does not answer by PMIx",
		"start all ranks with one command of the launcher",
	}, {
		EREMOTEIO, CALL, "PMIx, by which the launcher lets ranks meet, has failed",
		"see what the launcher printed; or start the ranks with collsock run",
	},
	/* of the library */
	{
		EOWNERDEAD, CALL, "a member of the team has ended or left it",
		"see its output for the reason, then make a new team",
	}, {
		EBUSY, CALL, "another process has opened this member of the team",
		"give each process a member of its own, and each run a new team",
	}, {
		ECHILD, CALL,
		"this process is a forked child, and not the rank, or not the member of the team",
		"fork first, then join, or open the team, in each process",
	}, {
		ESRCH, CALL,
		"the processes of this team are in another pid or time namespace",
		"make the team in the namespaces of its members",
	},
	{
		ENOTUNIQ, CALL, "several members of the group have addresses of this host",
		"say which rank this is",
	}, {
		EPFNOSUPPORT, CALL,
		"all hosts of a group have IPv4 addresses, or all have IPv6 ones",
		"use one of the two",
	}, {
		E2BIG, CALL, "too many hosts, ranks, or ranks on one host",
		"65536 hosts, 1048576 ranks, 1024 on one host; these times max_bytes: 4 MiB. In user space one rank for each address and port",
	}, {
		ENODEV, CALL, "there is no network interface of this name here",
		"see ip link",
	}, {
		EBADMSG, CALL,
		"not a key file, not the memory of a team, or an answer of another version",
		"a key file is a plain file of 32 hexadecimal digits, not all zero; collsock_team_memfd() makes the memory of a team",
	},
	{ }
};

static bool strerror_is_about(const struct advice *a, int error, __u32 failed_rank)
{
	return a->error == error && (a->whose != NAMED_RANK || failed_rank != COLLSOCK_NO_RANK);
}

COLLSOCK_PUBLIC const char *collsock_strerror(int error, __u32 failed_rank, char *text,
					      size_t bytes)
{
	const struct advice *a = advices;

	error = abs(error);
	while (a->error && !strerror_is_about(a, error, failed_rank))
		a++;
	if (!a->error)
		snprintf(text, bytes, "%s", strerror(error));
	else if (a->whose == CALL)
		snprintf(text, bytes, "%s; %s", a->meaning, a->deed);
	else if (failed_rank == COLLSOCK_NO_RANK)
		snprintf(text, bytes, "a rank %s; %s", a->meaning, a->deed);
	else
		snprintf(text, bytes, "rank %u %s; %s", failed_rank, a->meaning, a->deed);
	return text;
}
