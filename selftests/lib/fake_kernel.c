// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/ether.h>
#include <netpacket/packet.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>

#include "fake_kernel.h"

struct fake_kernel fake;

static int answer(int error, int good)
{
	errno = error;
	return error ? -1 : good;
}

static void *pointer(__u64 address)
{
	return (void *)(uintptr_t)address;
}

int __wrap_socket(int family, int type, int protocol)
{
	fake.family = family;
	fake.type = type;
	if (fake.error)
		return answer(fake.error, 0);
	/* Memory, so that it can be mapped */
	return memfd_create("socket", MFD_CLOEXEC);
}

int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t bytes)
{
	fake.option = option;
	fake.sent_bytes = bytes;
	memcpy(fake.sent, value, bytes);
	return answer(fake.error, 0);
}

int __wrap_getsockopt(int fd, int level, int option, void *value, socklen_t *bytes)
{
	if (level == SOL_SOCKET) {
		*(struct timeval *)value = (struct timeval){ .tv_sec = fake.send_timeout_s };
		return 0;
	}
	fake.option = option;
	memset(value, 0xa5, *bytes);
	if (option == COLLSOCK_DEVICES && !fake.devices.size)
		return answer(ENOPROTOOPT, 0);
	if (option == COLLSOCK_DEVICES)
		memcpy(value, &fake.devices, fake.devices.size);
	if (option == COLLSOCK_SELF && fake.self.size)
		memcpy(value, &fake.self, sizeof(fake.self));
	return answer(fake.error, 0);
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags)
{
	size_t i;

	fake.flags = flags;
	fake.sent_bytes = 0;
	for (i = 0; i < m->msg_iovlen; i++) {
		memcpy(fake.sent + fake.sent_bytes, m->msg_iov[i].iov_base, m->msg_iov[i].iov_len);
		fake.sent_bytes += m->msg_iov[i].iov_len;
	}
	return answer(fake.error, fake.sent_bytes);
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags)
{
	const struct fake_answer *a = &fake.answers[fake.calls++];
	size_t room = m->msg_iovlen > 1 ? m->msg_iov[1].iov_len : 0;

	if (a->error)
		return answer(a->error, 0);
	if (a->is_end)
		return 0;
	if (a->completion.bytes > room)
		return answer(EMSGSIZE, 0);
	memcpy(m->msg_iov[0].iov_base, &a->completion, sizeof(a->completion));
	if (a->completion.bytes)
		memcpy(m->msg_iov[1].iov_base, a->result, a->completion.bytes);
	return sizeof(a->completion) + a->completion.bytes;
}

/* RUN: the payload is recorded after the structures. */
static void record_run(const __u8 *buffer, size_t structures)
{
	const struct collsock_run *run = (const struct collsock_run *)buffer;

	memcpy(fake.sent, buffer, structures);
	if (run->payload_bytes)
		memcpy(fake.sent + structures, pointer(run->payload), run->payload_bytes);
	fake.sent_bytes = structures + run->payload_bytes;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	const struct fake_answer *a = &fake.answers[fake.calls];
	const struct collsock_wait *wait;
	const struct collsock_run *run;
	__u32 head, room;
	va_list arguments;
	__u64 result;
	__u8 *buffer;

	va_start(arguments, request);
	buffer = va_arg(arguments, __u8 *);
	va_end(arguments);
	/* Of interfaces only addresses are known. */
	if (request == SIOCGIFMTU)
		return answer(ENODEV, 0);
	fake.requests[fake.calls++] = request;
	if (request == COLLSOCK_RUN) {
		run = (const struct collsock_run *)buffer;
		head = run->size + run->post_bytes;
		room = run->result_bytes;
		result = run->result;
		record_run(buffer, head + sizeof(a->completion));
	} else {
		wait = (const struct collsock_wait *)buffer;
		head = wait->size;
		room = wait->result_bytes;
		result = wait->result;
		memcpy(fake.sent, buffer, head);
	}
	if (a->error)
		return answer(a->error, 0);
	if (a->completion.bytes > room)
		return answer(EMSGSIZE, 0);
	memcpy(buffer + head, &a->completion, sizeof(a->completion));
	if (a->completion.bytes)
		memcpy(pointer(result), a->result, a->completion.bytes);
	return 0;
}

static struct sockaddr *fake_ipv4(const char *text)
{
	struct sockaddr_in *ipv4 = calloc(1, sizeof(*ipv4));

	ipv4->sin_family = AF_INET;
	inet_pton(AF_INET, text, &ipv4->sin_addr);
	return (struct sockaddr *)ipv4;
}

static struct sockaddr *fake_device(const char *text, int index)
{
	struct sockaddr_ll *ll = calloc(1, sizeof(*ll));

	ll->sll_family = AF_PACKET;
	ll->sll_ifindex = index;
	ll->sll_hatype = ARPHRD_ETHER;
	ll->sll_halen = ETH_ALEN;
	memcpy(ll->sll_addr, ether_aton(text), ETH_ALEN);
	return (struct sockaddr *)ll;
}

/* eth0=10.1.0.1/24: the address of an interface with a name, and a network */
static void fake_interface(struct ifaddrs *a, const char *text)
{
	struct sockaddr_in6 *address = calloc(1, sizeof(*address));
	struct sockaddr_in6 *mask = calloc(1, sizeof(*mask));
	bool ipv4 = !strchr(text, ':');
	unsigned int prefix, bit;
	char number[64];
	__u8 *bytes;

	if (sscanf(text, "%m[^=]=%63[^/]/%u", &a->ifa_name, number, &prefix) != 3)
		abort();
	a->ifa_flags = IFF_UP | (strcmp(a->ifa_name, "lo") ? 0 : IFF_LOOPBACK) |
		       (strncmp(a->ifa_name, "unplugged", 9) ? IFF_RUNNING : 0);
	address->sin6_family = ipv4 ? AF_INET : AF_INET6;
	bytes = ipv4 ? (void *)&((struct sockaddr_in *)mask)->sin_addr : (void *)&mask->sin6_addr;
	inet_pton(address->sin6_family, number, ipv4 ?
		  (void *)&((struct sockaddr_in *)address)->sin_addr : &address->sin6_addr);
	for (bit = 0; bit < prefix; bit++)
		bytes[bit / 8] |= 0x80 >> bit % 8;
	a->ifa_addr = (struct sockaddr *)address;
	a->ifa_netmask = (struct sockaddr *)mask;
}

static void fake_address(struct ifaddrs *a, const char *text, int index)
{
	const char *address = strchr(text, '=');

	if (address && strchr(text, '/')) {
		fake_interface(a, text);
		return;
	}
	if (address)
		a->ifa_name = strndup(text, address++ - text);
	else
		address = text;
	a->ifa_addr = strchr(address, ':') ? fake_device(address, index) : fake_ipv4(address);
}

/* An interface without an address first, as real hosts have. */
int __wrap_getifaddrs(struct ifaddrs **addresses)
{
	struct ifaddrs *list = calloc(1, sizeof(*list)), *a, *last = list;
	int i;

	for (i = 0; fake.addresses[i]; i++) {
		a = calloc(1, sizeof(*a));
		fake_address(a, fake.addresses[i], 1 + i);
		last->ifa_next = a;
		last = a;
	}
	*addresses = list;
	return 0;
}

void __wrap_freeifaddrs(struct ifaddrs *addresses)
{
	struct ifaddrs *next;

	for (; addresses; addresses = next) {
		next = addresses->ifa_next;
		free(addresses->ifa_addr);
		free(addresses->ifa_netmask);
		free(addresses->ifa_name);
		free(addresses);
	}
}
