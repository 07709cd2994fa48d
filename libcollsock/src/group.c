// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The group: builds JOIN's request and finds the ranks of this host. */
#include <errno.h>
#include <ifaddrs.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "group.h"
#include "internal.h"
#include "member.h"
#include "user.h"

#define FIRST_CAPACITY 16

COLLSOCK_PUBLIC int collsock_group_new(struct collsock_group **made, __u64 id, __u64 nonce,
				       const __u8 key[COLLSOCK_KEY_BYTES])
{
	struct collsock_group *group = calloc(1, sizeof(*group));

	if (!group)
		return -ENOMEM;
	group->request.size = sizeof(group->request);
	group->request.id = id;
	group->request.nonce = nonce;
	if (key)
		memcpy(group->request.key, key, sizeof(group->request.key));
	*made = group;
	return 0;
}

COLLSOCK_PUBLIC void collsock_group_free(struct collsock_group *group)
{
	if (!group)
		return;
	tdestroy(group->tree, free);
	free(group->host_of_rank);
	explicit_bzero(group, sizeof(*group));
	free(group);
}

COLLSOCK_PUBLIC struct collsock_join *collsock_group_request(struct collsock_group *group)
{
	return &group->request;
}

/* ---- hosts and ranks ---- */

static int group_host_order(const void *left, const void *right)
{
	const struct group_host *a = left, *b = right;

	return memcmp(&a->member, &b->member, sizeof(a->member));
}

/* Make room for one more rank. */
static int group_reserve(struct collsock_group *group)
{
	struct group_host **host_of_rank;
	__u32 capacity;

	if (group->request.ranks < group->capacity)
		return 0;
	capacity = group->capacity ? 2 * group->capacity : FIRST_CAPACITY;
	host_of_rank = realloc(group->host_of_rank, capacity * sizeof(*host_of_rank));
	if (!host_of_rank)
		return -ENOMEM;
	group->host_of_rank = host_of_rank;
	group->capacity = capacity;
	return 0;
}

/* Add a host that is not in the group yet. All hosts of a group are of one address family. */
static int group_add_new(struct collsock_group *group, const struct group_host *sought,
			 struct group_host **added)
{
	struct group_host *host;

	if (group->request.hosts &&
	    group->host_of_rank[0]->member.family != sought->member.family)
		return -EPFNOSUPPORT;
	if (group->request.hosts == COLLSOCK_MAX_HOSTS)
		return -E2BIG;
	host = malloc(sizeof(*host));
	if (!host)
		return -ENOMEM;
	*host = *sought;
	if (!tsearch(host, &group->tree, group_host_order)) {
		free(host);
		return -ENOMEM;
	}
	host->index = group->request.hosts++;
	*added = host;
	return 0;
}

/* Add the next rank. This puts hosts in the order of their lowest rank. */
static int group_add(struct collsock_group *group, const struct collsock_member *member)
{
	struct group_host sought = { .member = *member }, *host, **found;
	int err;

	if (group->request.ranks == COLLSOCK_MAX_RANKS)
		return -E2BIG;
	err = group_reserve(group);
	if (err)
		return err;
	found = tfind(&sought, &group->tree, group_host_order);
	if (found) {
		host = *found;
		if (host->ranks == COLLSOCK_MAX_LOCAL_RANKS)
			return -E2BIG;
	} else {
		err = group_add_new(group, &sought, &host);
		if (err)
			return err;
	}
	host->ranks++;
	group->host_of_rank[group->request.ranks++] = host;
	return 0;
}

COLLSOCK_PUBLIC int collsock_group_add_host(struct collsock_group *group, const char *address,
					    __u16 port)
{
	struct collsock_member member;
	int err = member_from_text(&member, address, port);

	return err ? err : group_add(group, &member);
}

COLLSOCK_PUBLIC int collsock_group_add_sockaddr(struct collsock_group *group,
						const struct sockaddr *address, socklen_t bytes)
{
	struct collsock_member member;
	int err = member_from_sockaddr(&member, address, bytes);

	return err ? err : group_add(group, &member);
}

/* ---- ranks of this host ---- */

static int group_host_is_here(const struct group_host *host, const struct ifaddrs *addresses)
{
	const struct ifaddrs *a;

	for (a = addresses; a; a = a->ifa_next)
		if (a->ifa_addr && member_is(&host->member, a->ifa_addr))
			return 1;
	return 0;
}

/* It is an error if several members have addresses of this host. */
static int group_find_local(const struct collsock_group *group, const struct ifaddrs *addresses,
			    const struct group_host **local)
{
	const struct group_host *host;
	__u32 rank, seen = 0;

	*local = NULL;
	for (rank = 0; rank < group->request.ranks; rank++) {
		host = group->host_of_rank[rank];
		if (host->index < seen)
			continue;
		seen++;
		if (!group_host_is_here(host, addresses))
			continue;
		if (*local)
			return -ENOTUNIQ;
		*local = host;
	}
	return *local ? 0 : -EADDRNOTAVAIL;
}

COLLSOCK_PUBLIC int collsock_rank_of_local(const struct collsock_group *group, __u32 index)
{
	const struct group_host *local;
	struct ifaddrs *addresses;
	__u32 rank;
	int err;

	if (getifaddrs(&addresses))
		return -errno;
	err = group_find_local(group, addresses, &local);
	freeifaddrs(addresses);
	if (err)
		return err;
	for (rank = 0; rank < group->request.ranks; rank++)
		if (group->host_of_rank[rank] == local && !index--)
			return rank;
	return -ENOENT;
}

/* ---- join ---- */

size_t group_flatten(const struct collsock_group *group, __u32 rank, __u8 **request)
{
	struct collsock_join head = group->request;
	size_t members = head.hosts * sizeof(struct collsock_member);
	size_t bytes = sizeof(head) + members + head.ranks * sizeof(__u32);
	const struct group_host *host;
	__u8 *at, *table;
	__u32 i;

	*request = malloc(bytes);
	if (!*request)
		return 0;
	head.rank = rank;
	memcpy(*request, &head, sizeof(head));
	table = *request + sizeof(head);
	at = table + members;
	for (i = 0; i < head.ranks; i++, at += sizeof(host->index)) {
		host = group->host_of_rank[i];
		memcpy(table + host->index * sizeof(host->member), &host->member,
		       sizeof(host->member));
		memcpy(at, &host->index, sizeof(host->index));
	}
	explicit_bzero(&head, sizeof(head));
	return bytes;
}

int group_join_request(struct collsock *s, const void *request, size_t bytes, int fd)
{
	if (s->user)
		return user_join(s->user, request, bytes, fd);
	return setsockopt(s->fd, SOL_COLLSOCK, COLLSOCK_JOIN, request, bytes) ? -errno : 0;
}

int group_join(struct collsock *s, const struct collsock_group *group, __u32 rank, int fd)
{
	__u8 *request;
	size_t bytes = group_flatten(group, rank, &request);
	int err;

	if (!request) {
		if (fd >= 0)
			close(fd);
		return -ENOMEM;
	}
	err = group_join_request(s, request, bytes, fd);
	explicit_bzero(request, sizeof(struct collsock_join));
	free(request);
	return err;
}

COLLSOCK_PUBLIC int collsock_join_bytes(struct collsock *s, const void *request, size_t bytes,
					int udp)
{
	if (s->user || udp < 0)
		return group_join_request(s, request, bytes, udp);
	close(udp);
	return -EINVAL;
}

COLLSOCK_PUBLIC int collsock_join(struct collsock *s, const struct collsock_group *group,
				  __u32 rank)
{
	return rank < group->request.ranks ? group_join(s, group, rank, -1) : -EINVAL;
}
