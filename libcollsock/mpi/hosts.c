// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hosts.h"

#define BITS_PER_BYTE 8
#define ADDRESS_BITS 128

/* ---- this host ---- */

static int host_read_identity(__u64 identity[4])
{
	unsigned char id[16];
	char text[64] = "";
	struct stat space;
	ssize_t bytes;
	int fd, i, k = 0;

	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	bytes = read(fd, text, sizeof(text) - 1);
	close(fd);
	for (i = 0; i < bytes && k < 16; i++)
		if (text[i] != '-' && sscanf(text + i++, "%2hhx", &id[k++]) != 1)
			return -EBADMSG;
	if (k < 16 || stat("/proc/self/ns/net", &space))
		return -ENOENT;
	memcpy(identity, id, sizeof(id));
	identity[2] = space.st_dev;
	identity[3] = space.st_ino;
	return 0;
}

static bool host_same_network(const __u8 *one, const __u8 *other, unsigned int prefix)
{
	unsigned int whole = prefix / BITS_PER_BYTE, rest = prefix % BITS_PER_BYTE;

	if (prefix > ADDRESS_BITS)
		return false;
	if (memcmp(one, other, whole))
		return false;
	return !rest || !((one[whole] ^ other[whole]) >> (BITS_PER_BYTE - rest));
}

static bool host_is_wanted(const struct cm_address *a, const struct cm_settings *s)
{
	return !s->network_family || (a->family == s->network_family &&
				      host_same_network(a->bytes, s->network, s->network_prefix));
}

static unsigned int host_prefix_of(const __u8 *mask, unsigned int bytes)
{
	unsigned int bit;

	for (bit = 0; bit < bytes * BITS_PER_BYTE; bit++)
		if (!(mask[bit / BITS_PER_BYTE] << bit % BITS_PER_BYTE & 0x80))
			break;
	return bit;
}

/* False if other hosts cannot reach the address. */
static bool host_read_address(const struct ifaddrs *i, struct cm_address *a)
{
	const struct sockaddr_in6 *in6 = (const void *)i->ifa_addr;
	const struct sockaddr_in *in = (const void *)i->ifa_addr;

	memset(a, 0, sizeof(*a));
	if (!i->ifa_addr || !i->ifa_netmask || !(i->ifa_flags & IFF_UP) ||
	    i->ifa_flags & IFF_LOOPBACK)
		return false;
	a->family = i->ifa_addr->sa_family;
	if (a->family == AF_INET) {
		memcpy(a->bytes, &in->sin_addr, sizeof(in->sin_addr));
		in = (const void *)i->ifa_netmask;
		a->prefix = host_prefix_of((const void *)&in->sin_addr, sizeof(in->sin_addr));
		return true;
	}
	if (a->family != AF_INET6 || IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr))
		return false;
	memcpy(a->bytes, &in6->sin6_addr, sizeof(in6->sin6_addr));
	in6 = (const void *)i->ifa_netmask;
	a->prefix = host_prefix_of((const void *)&in6->sin6_addr, sizeof(in6->sin6_addr));
	return true;
}

/* Is it the interface of that name? An alias has the name of its interface before a colon. */
static bool host_is_device(const struct ifaddrs *i, const char *name)
{
	const struct sockaddr_ll *ll = (const void *)i->ifa_addr;
	size_t length = strcspn(name, ":");

	return ll && ll->sll_family == AF_PACKET && !strncmp(i->ifa_name, name, length) &&
	       !i->ifa_name[length];
}

/* The interface of an address; false if it has no MAC address. */
static bool host_read_device(const struct ifaddrs *all, const char *name, struct cm_address *a)
{
	const struct sockaddr_ll *ll;

	for (; all && !host_is_device(all, name); all = all->ifa_next)
		;
	if (!all)
		return false;
	ll = (const void *)all->ifa_addr;
	if (ll->sll_hatype != ARPHRD_ETHER || ll->sll_halen != sizeof(a->mac))
		return false;
	a->device = ll->sll_ifindex;
	memcpy(a->mac, ll->sll_addr, sizeof(a->mac));
	return true;
}

/* Can hosts communicate by this address as they are to? */
static bool host_can_use(const struct ifaddrs *all, const struct ifaddrs *i, struct cm_address *a,
			 const struct cm_settings *s)
{
	return host_is_wanted(a, s) && (!s->ethernet || host_read_device(all, i->ifa_name, a));
}

int cm_host_identify(struct cm_host *host)
{
	memset(host, 0, sizeof(*host));
	return host_read_identity(host->identity);
}

int cm_host_add_addresses(struct cm_host *host, const struct cm_settings *s)
{
	struct ifaddrs *all, *i;
	struct cm_address a;
	int family;

	if (getifaddrs(&all))
		return -errno;
	/* IPv4 first: its headers are shorter. */
	for (family = AF_INET; family; family = family == AF_INET ? AF_INET6 : 0)
		for (i = all; i && host->addresses < CM_MOST_ADDRESSES; i = i->ifa_next)
			if (host_read_address(i, &a) && a.family == family &&
			    host_can_use(all, i, &a, s))
				host->address[host->addresses++] = a;
	freeifaddrs(all);
	return host->addresses ? 0 : -EADDRNOTAVAIL;
}

/* ---- all hosts ---- */

static unsigned int host_addresses(const struct cm_host *host)
{
	return host->addresses < CM_MOST_ADDRESSES ? host->addresses : CM_MOST_ADDRESSES;
}

/* The first address of a host in a network; any of its family if @prefix is 0 */
static int host_find_address(const struct cm_host *host, const struct cm_address *network,
			     unsigned int prefix)
{
	unsigned int i;

	for (i = 0; i < host_addresses(host); i++)
		if (host->address[i].family == network->family &&
		    host_same_network(host->address[i].bytes, network->bytes, prefix))
			return i;
	return -1;
}

static int hosts_compare_bytes(const void *one, const void *other)
{
	return memcmp(one, other, sizeof(((struct cm_address *)NULL)->bytes));
}

/* Addresses of private networks, such as those of containers, may be the same on each host. */
static bool hosts_all_differ(const struct cm_host *const *hosts, unsigned int count,
			     const unsigned int *chosen)
{
	__u8 (*sorted)[16] = calloc(count, sizeof(*sorted));
	bool differ = sorted;
	unsigned int i;

	if (!sorted)
		return false;
	for (i = 0; i < count; i++)
		memcpy(sorted[i], hosts[i]->address[chosen[i]].bytes, sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), hosts_compare_bytes);
	for (i = 1; i < count && differ; i++)
		differ = hosts_compare_bytes(sorted[i - 1], sorted[i]);
	free(sorted);
	return differ;
}

static bool hosts_choose_in(const struct cm_host *const *hosts, unsigned int count,
			    unsigned int *chosen, const struct cm_address *network,
			    unsigned int prefix)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		int found = host_find_address(hosts[i], network, prefix);

		if (found < 0)
			return false;
		chosen[i] = found;
	}
	return hosts_all_differ(hosts, count, chosen);
}

bool cm_hosts_choose(const struct cm_host *const *hosts, unsigned int count, bool direct,
		     unsigned int *chosen)
{
	const struct cm_host *first = hosts[0];
	const struct cm_address *network = first->address;
	unsigned int i, addresses = host_addresses(first);

	for (i = 0; i < addresses; i++)
		if (hosts_choose_in(hosts, count, chosen, &network[i], network[i].prefix))
			return true;
	/* Networks connected by routers */
	for (i = 0; i < addresses && !direct; i++)
		if (hosts_choose_in(hosts, count, chosen, &network[i], 0))
			return true;
	return false;
}
