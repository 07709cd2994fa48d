// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "joining_host.h"
#include "member.h"

#define BITS_PER_BYTE 8
#define ADDRESS_BITS 128
#define IPV4_BITS 32

/* ---- its identity ---- */

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

int joining_host_identify(struct joining_host *host)
{
	memset(host, 0, sizeof(*host));
	return host_read_identity(host->identity);
}

/* ---- its addresses ---- */

bool joining_host_same_network(const __u8 *one, const __u8 *other, unsigned int prefix)
{
	unsigned int whole = prefix / BITS_PER_BYTE, rest = prefix % BITS_PER_BYTE;

	if (memcmp(one, other, whole))
		return false;
	return !rest || !((one[whole] ^ other[whole]) >> (BITS_PER_BYTE - rest));
}

static bool host_is_wanted(const struct joining_address *a, const struct collsock_options *o)
{
	return !o->family || (a->family == o->family &&
			      joining_host_same_network(a->bytes, o->network, o->prefix));
}

static unsigned int host_prefix_of(const __u8 *mask, unsigned int bytes)
{
	unsigned int bit;

	for (bit = 0; bit < bytes * BITS_PER_BYTE; bit++)
		if (!(mask[bit / BITS_PER_BYTE] << bit % BITS_PER_BYTE & 0x80))
			break;
	return bit;
}

/*
 * Is it the name of a bridge of docker, podman, Kubernetes, libvirt or lxd? Many hosts have the
 * same addresses there, and none can be reached from outside.
 */
static bool host_is_bridge(const char *name)
{
	static const char hexadecimal[] = "0123456789abcdef";
	static const char *const patterns[] = {
		"docker*", "podman*", "cni*", "cbr*", "nerdctl*", "virbr*", "lxcbr*", "lxdbr*",
		"incusbr*",
	};
	size_t i;

	for (i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
		if (!fnmatch(patterns[i], name, 0))
			return true;
	/* docker network create */
	return !strncmp(name, "br-", 3) && strlen(name) == 15 &&
	       strspn(name + 3, hexadecimal) == 12;
}

static enum joining_reach host_reach_of(const struct ifaddrs *i)
{
	if (i->ifa_flags & IFF_LOOPBACK)
		return JOINING_REACH_HOST;
	if (!(i->ifa_flags & IFF_RUNNING))
		return JOINING_REACH_UNPLUGGED;
	return host_is_bridge(i->ifa_name) ? JOINING_REACH_BRIDGE : JOINING_REACH_NETWORK;
}

/* Read an address. Returns false if no rank can use it. */
static bool host_read_address(const struct ifaddrs *i, struct joining_address *a)
{
	const struct sockaddr_in6 *in6 = (const void *)i->ifa_addr;
	const struct sockaddr_in *in = (const void *)i->ifa_addr;

	memset(a, 0, sizeof(*a));
	if (!i->ifa_addr || !i->ifa_netmask || !(i->ifa_flags & IFF_UP))
		return false;
	a->family = i->ifa_addr->sa_family;
	a->reach = host_reach_of(i);
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

/* Find the interface of an address. Returns false if it has no MAC address. */
static bool host_read_device(const struct ifaddrs *all, const char *name,
			     struct joining_address *a)
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

static socklen_t host_device_sockaddr(const struct joining_address *a, __u16 ethertype,
				      struct sockaddr_ll *ll)
{
	ll->sll_family = AF_PACKET;
	ll->sll_protocol = htons(ethertype);
	ll->sll_ifindex = a->device;
	ll->sll_halen = sizeof(a->mac);
	memcpy(ll->sll_addr, a->mac, sizeof(a->mac));
	return sizeof(*ll);
}

static bool host_has_mac(const struct joining_address *a)
{
	struct collsock_member member;
	struct sockaddr_ll ll = { };
	socklen_t bytes = host_device_sockaddr(a, COLLSOCK_ETHERTYPE, &ll);

	return !member_from_sockaddr(&member, (struct sockaddr *)&ll, bytes);
}

static bool host_lists_device(const struct collsock_devices *d, __u32 device)
{
	unsigned int i;

	for (i = 0; offsetof(struct collsock_devices, ifindex[i + 1]) <= d->size; i++)
		if (d->ifindex[i] == device)
			return true;
	return false;
}

/* Can hosts communicate by this address, according to the options? */
static bool host_can_use(const struct ifaddrs *all, const struct ifaddrs *i,
			 struct joining_address *a, const struct collsock_options *o,
			 const struct collsock_devices *devices)
{
	bool has_device;

	if (!host_is_wanted(a, o))
		return false;
	if (o->bearer == COLLSOCK_BEARER_UDP)
		return true;
	has_device = host_read_device(all, i->ifa_name, a);
	if (o->bearer == COLLSOCK_BEARER_ETHERNET)
		return has_device;
	a->open = has_device && host_has_mac(a) && host_lists_device(devices, a->device);
	return true;
}

static void host_add_some(struct joining_host *host, const struct ifaddrs *all, int reach,
			  int family, const struct collsock_options *o,
			  const struct collsock_devices *devices)
{
	const struct ifaddrs *i;
	struct joining_address a;

	for (i = all; i && host->addresses < JOINING_MOST_ADDRESSES; i = i->ifa_next)
		if (host_read_address(i, &a) && a.family == family && a.reach == reach &&
		    host_can_use(all, i, &a, o, devices))
			host->address[host->addresses++] = a;
}

int joining_host_add_addresses(struct joining_host *host, const struct collsock_options *o,
			       const struct collsock_devices *devices)
{
	struct ifaddrs *all;
	int reach;

	if (getifaddrs(&all))
		return -errno;
	for (reach = 0; reach < JOINING_REACHES; reach++) {
		/* IPv4 first: its headers are shorter. */
		host_add_some(host, all, reach, AF_INET, o, devices);
		host_add_some(host, all, reach, AF_INET6, o, devices);
	}
	freeifaddrs(all);
	return host->addresses ? 0 : -EADDRNOTAVAIL;
}

bool joining_host_is_open(const struct joining_host *host)
{
	unsigned int i;

	for (i = 0; i < host->addresses; i++)
		if (host->address[i].open)
			return true;
	return false;
}

/* ---- as other sockets have them ---- */

socklen_t joining_host_sockaddr(const struct joining_address *a, __u16 port,
				const struct collsock_options *o, struct sockaddr_storage *storage)
{
	struct sockaddr_in6 *in6 = (void *)storage;
	struct sockaddr_in *in = (void *)storage;

	memset(storage, 0, sizeof(*storage));
	if (o->bearer == COLLSOCK_BEARER_ETHERNET)
		return host_device_sockaddr(a, o->port, (void *)storage);
	storage->ss_family = a->family;
	if (a->family == AF_INET) {
		in->sin_port = htons(port ? port : o->port);
		memcpy(&in->sin_addr, a->bytes, sizeof(in->sin_addr));
		return sizeof(*in);
	}
	in6->sin6_port = htons(port ? port : o->port);
	memcpy(&in6->sin6_addr, a->bytes, sizeof(in6->sin6_addr));
	return sizeof(*in6);
}

/* ---- of another rank ---- */

static bool host_is_zero(const __u8 *bytes, unsigned int from, unsigned int to)
{
	while (from < to && !bytes[from])
		from++;
	return from == to;
}

static bool host_is_loopback(const struct joining_address *a)
{
	const struct in6_addr *in6 = (const void *)a->bytes;

	return a->family == AF_INET ? a->bytes[0] == IN_LOOPBACKNET : IN6_IS_ADDR_LOOPBACK(in6);
}

static bool host_address_is_valid(const struct joining_address *a,
				  const struct collsock_options *o)
{
	unsigned int bits = a->family == AF_INET ? IPV4_BITS : ADDRESS_BITS;
	struct sockaddr_storage storage;
	struct collsock_member member;
	socklen_t bytes;

	if ((a->family != AF_INET && a->family != AF_INET6) || a->prefix > bits ||
	    !host_is_zero(a->bytes, bits / BITS_PER_BYTE, sizeof(a->bytes)))
		return false;
	if (a->reach >= JOINING_REACHES ||
	    (host_is_loopback(a) && a->reach != JOINING_REACH_HOST))
		return false;
	if (a->open && (a->open > 1 || o->bearer != COLLSOCK_BEARER_AUTO || !host_has_mac(a)))
		return false;
	bytes = joining_host_sockaddr(a, 0, o, &storage);
	return !member_from_sockaddr(&member, (struct sockaddr *)&storage, bytes);
}

bool joining_host_is_valid(const struct joining_host *host, const struct collsock_options *o)
{
	unsigned int i;

	if (host->addresses > JOINING_MOST_ADDRESSES || host->port > UINT16_MAX ||
	    (host->port && (o->bearer == COLLSOCK_BEARER_ETHERNET || joining_host_is_open(host))))
		return false;
	for (i = 0; i < host->addresses; i++)
		if (!host_address_is_valid(&host->address[i], o) ||
		    (i && host->address[i].reach < host->address[i - 1].reach))
			return false;
	return true;
}
