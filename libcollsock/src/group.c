// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The group: builds what JOIN takes, and says which of the hosts this one is. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

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
	free(group->members);
	explicit_bzero(group, sizeof(*group));
	free(group);
}

COLLSOCK_PUBLIC struct collsock_join *collsock_group_request(struct collsock_group *group)
{
	return &group->request;
}

static int group_reserve(struct collsock_group *group)
{
	struct collsock_member *members;
	__u32 capacity;

	if (group->request.hosts < group->capacity)
		return 0;
	capacity = group->capacity ? 2 * group->capacity : FIRST_CAPACITY;
	members = realloc(group->members, capacity * sizeof(*members));
	if (!members)
		return -ENOMEM;
	group->members = members;
	group->capacity = capacity;
	return 0;
}

/* All hosts of a group are of one address family. */
static int group_add(struct collsock_group *group, const struct collsock_member *member)
{
	struct collsock_join *request = &group->request;
	int err;

	if (request->hosts && group->members[0].family != member->family)
		return -EPFNOSUPPORT;
	if (request->hosts == COLLSOCK_MAX_HOSTS)
		return -E2BIG;
	err = group_reserve(group);
	if (err)
		return err;
	group->members[request->hosts++] = *member;
	request->ranks = request->hosts;
	return 0;
}

static int add_ipv4(struct collsock_group *group, const struct in_addr *address, __u16 port)
{
	struct collsock_member member = { .family = AF_INET, .port = port };

	if (address->s_addr == htonl(INADDR_ANY) || IN_MULTICAST(ntohl(address->s_addr)) ||
	    address->s_addr == htonl(INADDR_BROADCAST))
		return -EADDRNOTAVAIL;
	memcpy(member.address, address, sizeof(*address));
	return group_add(group, &member);
}

static int add_ipv6(struct collsock_group *group, const struct in6_addr *address, __u16 port,
		    __u32 scope_id)
{
	struct collsock_member member = { .family = AF_INET6, .port = port };

	if (IN6_IS_ADDR_UNSPECIFIED(address) || IN6_IS_ADDR_MULTICAST(address) ||
	    IN6_IS_ADDR_V4MAPPED(address))
		return -EADDRNOTAVAIL;
	if (IN6_IS_ADDR_LINKLOCAL(address)) {
		if (!scope_id)
			return -EADDRNOTAVAIL;
		member.scope_id = scope_id;
	}
	memcpy(member.address, address, sizeof(*address));
	return group_add(group, &member);
}

/* An IPv6 address, of a link-local one also the interface: fe80::1%eth0 */
static int add_ipv6_text(struct collsock_group *group, const char *text, __u16 port)
{
	char address[INET6_ADDRSTRLEN];
	const char *percent = strchr(text, '%');
	size_t bytes = percent ? (size_t)(percent - text) : strlen(text);
	struct in6_addr parsed;
	__u32 scope_id = 0;

	if (bytes >= sizeof(address))
		return -EINVAL;
	memcpy(address, text, bytes);
	address[bytes] = '\0';
	if (inet_pton(AF_INET6, address, &parsed) != 1)
		return -EINVAL;
	if (percent) {
		scope_id = if_nametoindex(percent + 1);
		if (!scope_id)
			return -ENODEV;
	}
	return add_ipv6(group, &parsed, port, scope_id);
}

COLLSOCK_PUBLIC int collsock_group_add_host(struct collsock_group *group, const char *address,
					    __u16 port)
{
	struct in_addr ipv4;

	if (inet_pton(AF_INET, address, &ipv4) == 1)
		return add_ipv4(group, &ipv4, port);
	return add_ipv6_text(group, address, port);
}

COLLSOCK_PUBLIC int collsock_group_add_sockaddr(struct collsock_group *group,
						const struct sockaddr *address, socklen_t bytes)
{
	struct sockaddr_in6 ipv6;
	struct sockaddr_in ipv4;

	if (bytes < sizeof(address->sa_family))
		return -EINVAL;
	switch (address->sa_family) {
	case AF_INET:
		if (bytes < sizeof(ipv4))
			return -EINVAL;
		memcpy(&ipv4, address, sizeof(ipv4));
		return add_ipv4(group, &ipv4.sin_addr, ntohs(ipv4.sin_port));
	case AF_INET6:
		if (bytes < sizeof(ipv6))
			return -EINVAL;
		memcpy(&ipv6, address, sizeof(ipv6));
		return add_ipv6(group, &ipv6.sin6_addr, ntohs(ipv6.sin6_port),
				ipv6.sin6_scope_id);
	default:
		return -EPFNOSUPPORT;
	}
}

/* ---- which rank are we? ---- */

static int member_is(const struct collsock_member *member, const struct sockaddr *address)
{
	struct sockaddr_in6 ipv6;
	struct sockaddr_in ipv4;

	if (member->family != address->sa_family)
		return 0;
	if (member->family == AF_INET) {
		memcpy(&ipv4, address, sizeof(ipv4));
		return !memcmp(member->address, &ipv4.sin_addr, sizeof(ipv4.sin_addr));
	}
	memcpy(&ipv6, address, sizeof(ipv6));
	if (member->scope_id && member->scope_id != ipv6.sin6_scope_id)
		return 0;
	return !memcmp(member->address, &ipv6.sin6_addr, sizeof(ipv6.sin6_addr));
}

/* A host with several addresses may be a member once only. */
COLLSOCK_PUBLIC int collsock_rank_of_local(const struct collsock_group *group)
{
	struct ifaddrs *addresses, *a;
	int rank = -EADDRNOTAVAIL;
	__u32 i;

	if (getifaddrs(&addresses))
		return -errno;
	for (a = addresses; a && rank != -ENOTUNIQ; a = a->ifa_next) {
		if (!a->ifa_addr)
			continue;
		for (i = 0; i < group->request.hosts; i++) {
			if (!member_is(&group->members[i], a->ifa_addr) || rank == (int)i)
				continue;
			rank = rank < 0 ? (int)i : -ENOTUNIQ;
			if (rank == -ENOTUNIQ)
				break;
		}
	}
	freeifaddrs(addresses);
	return rank;
}

/* ---- join ---- */

static int member_order(const void *left, const void *right)
{
	return memcmp(left, right, sizeof(struct collsock_member));
}

/* The kernel does not look for a host that stands twice; such a group never forms. */
static int members_differ(const struct collsock_member *members, __u32 count)
{
	struct collsock_member *sorted;
	int err = 0;
	__u32 i;

	sorted = malloc(count * sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, members, count * sizeof(*sorted));
	for (i = 0; i < count; i++)
		if (!sorted[i].port)
			sorted[i].port = COLLSOCK_PORT;
	qsort(sorted, count, sizeof(*sorted), member_order);
	for (i = 1; i < count && !err; i++)
		if (!member_order(&sorted[i - 1], &sorted[i]))
			err = -EEXIST;
	free(sorted);
	return err;
}

/* The request, the hosts, and the host of each rank, which is its own. */
static size_t group_flatten(const struct collsock_group *group, __u32 rank, __u8 **request)
{
	struct collsock_join head = group->request;
	size_t members = head.hosts * sizeof(*group->members);
	size_t bytes = sizeof(head) + members + head.hosts * sizeof(__u32);
	__u8 *at = malloc(bytes);
	__u32 host;

	*request = at;
	if (!at)
		return 0;
	head.rank = rank;
	memcpy(at, &head, sizeof(head));
	at += sizeof(head);
	memcpy(at, group->members, members);
	at += members;
	for (host = 0; host < head.hosts; host++, at += sizeof(host))
		memcpy(at, &host, sizeof(host));
	explicit_bzero(&head, sizeof(head));
	return bytes;
}

COLLSOCK_PUBLIC int collsock_join(struct collsock *s, const struct collsock_group *group,
				  __u32 rank)
{
	__u32 hosts = group->request.hosts;
	__u8 *request;
	size_t bytes;
	int err;

	if (!hosts || rank >= hosts)
		return -EINVAL;
	err = members_differ(group->members, hosts);
	if (err)
		return err;
	bytes = group_flatten(group, rank, &request);
	if (!request)
		return -ENOMEM;
	if (setsockopt(s->fd, SOL_COLLSOCK, COLLSOCK_JOIN, request, bytes))
		err = -errno;
	explicit_bzero(request, sizeof(struct collsock_join));
	free(request);
	return err;
}
