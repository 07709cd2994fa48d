// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "joining_path.h"

/* Headers of UDP and IP */
#define IPV4_HEADERS 28
#define IPV6_HEADERS 48

/* The MTU of the route to a host; 0 if it is not known. Nothing is sent. */
static int path_mtu(int fd, const struct joining_address *a, const struct collsock_options *o)
{
	bool ipv4 = a->family == AF_INET;
	struct sockaddr_storage address;
	socklen_t bytes = joining_host_sockaddr(a, 0, o, &address);
	int mtu = 0;

	if (connect(fd, (struct sockaddr *)&address, bytes))
		return 0;
	bytes = sizeof(mtu);
	if (getsockopt(fd, ipv4 ? IPPROTO_IP : IPPROTO_IPV6, ipv4 ? IP_MTU : IPV6_MTU, &mtu,
		       &bytes))
		return 0;
	return mtu;
}

static unsigned int path_segment_of_mtu(int mtu, int headers)
{
	int bytes = mtu - headers - COLLSOCK_PACKET_HEADERS;

	if (bytes < COLLSOCK_MIN_SEGMENT)
		return COLLSOCK_DEFAULT_SEGMENT;
	if (bytes > COLLSOCK_MAX_SEGMENT)
		return COLLSOCK_MAX_SEGMENT;
	return bytes - bytes % COLLSOCK_SEGMENT_QUANTUM;
}

/* The MTU of a device of this host; 0 if it is not known. */
static int path_device_mtu(const struct joining_address *a)
{
	struct ifreq request = { };
	int fd, mtu = 0;

	if (!if_indextoname(a->device, request.ifr_name))
		return 0;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	if (!ioctl(fd, SIOCGIFMTU, &request))
		mtu = request.ifr_mtu;
	close(fd);
	return mtu;
}

static unsigned int path_segment_of_routes(const struct joining_plan *plan,
					   const struct collsock_options *o, unsigned int rank)
{
	unsigned int i, own = plan->host_of_rank[rank], least = COLLSOCK_MAX_SEGMENT, segment;
	int family = joining_plan_address(plan, rank)->family, mtu;
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return COLLSOCK_DEFAULT_SEGMENT;
	for (i = 0; i < plan->host_count; i++) {
		if (i == own)
			continue;
		mtu = path_mtu(fd, joining_plan_address_of_host(plan, i), o);
		segment = path_segment_of_mtu(mtu, family == AF_INET ? IPV4_HEADERS : IPV6_HEADERS);
		least = segment < least ? segment : least;
	}
	close(fd);
	return least;
}

unsigned int joining_path_segment(const struct joining_plan *plan,
				  const struct collsock_options *o, unsigned int rank)
{
	if (o->bearer != COLLSOCK_BEARER_ETHERNET)
		return path_segment_of_routes(plan, o, rank);
	return path_segment_of_mtu(path_device_mtu(joining_plan_address(plan, rank)), 0);
}
