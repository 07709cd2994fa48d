// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <err.h>
#include <ifaddrs.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hosts.h"
#include "number.h"
#include "status.h"

#define MAX_PORT 65535
#define MAC_TEXT_LENGTH 17

static socklen_t hosts_address_bytes(sa_family_t family)
{
	switch (family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	default:
		return sizeof(struct sockaddr_ll);
	}
}

static struct sockaddr_storage *hosts_add(struct hosts *hosts, sa_family_t family)
{
	struct sockaddr_storage *added;

	hosts->address = realloc(hosts->address, (hosts->count + 1) * sizeof(*hosts->address));
	if (!hosts->address)
		err(EXIT_FAILED, "%u hosts", hosts->count + 1);
	hosts->bytes = hosts_address_bytes(family);
	added = &hosts->address[hosts->count++];
	*added = (struct sockaddr_storage){ .ss_family = family };
	return added;
}

static bool parse_ipv6(struct sockaddr_in6 *parsed, char *text, unsigned int scope)
{
	parsed->sin6_scope_id = scope;
	return inet_pton(AF_INET6, text, &parsed->sin6_addr) == 1;
}

/* Six pairs of digits; @rest: out: the text after them */
static bool read_mac(unsigned char mac[ETH_ALEN], const char *text, const char **rest)
{
	int length = 0;

	if (sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1], &mac[2],
		   &mac[3], &mac[4], &mac[5], &length) != ETH_ALEN || length != MAC_TEXT_LENGTH)
		return false;
	*rest = text + length;
	return true;
}

static bool parse_mac(struct sockaddr_ll *parsed, const char *text, unsigned int scope)
{
	const char *rest;

	parsed->sll_ifindex = scope;
	parsed->sll_halen = ETH_ALEN;
	return read_mac(parsed->sll_addr, text, &rest) && !*rest;
}

static bool parse(struct sockaddr_storage *parsed, char *text)
{
	char *percent = strchr(text, '%');
	unsigned int scope = 0;

	if (percent) {
		*percent = '\0';
		scope = if_nametoindex(percent + 1);
		/* The interface of a MAC address may be another host's. */
		if (!scope && parsed->ss_family != AF_PACKET)
			return false;
	}
	switch (parsed->ss_family) {
	case AF_INET:
		return inet_pton(AF_INET, text, &((struct sockaddr_in *)parsed)->sin_addr) == 1;
	case AF_INET6:
		return parse_ipv6((struct sockaddr_in6 *)parsed, text, scope);
	default:
		return parse_mac((struct sockaddr_ll *)parsed, text, scope);
	}
}

/* A text with six pairs of digits is a MAC address, not one of IPv6. */
static sa_family_t family_of(const char *text)
{
	unsigned char mac[ETH_ALEN];
	const char *rest;

	if (!strchr(text, ':'))
		return AF_INET;
	return read_mac(mac, text, &rest) && (!*rest || *rest == '%') ? AF_PACKET : AF_INET6;
}

/* Addresses of tools/vm. In IPv6 decimal digits are taken as hexadecimal: host 10 is fd00:1::10. */
static const char *number_format(sa_family_t family)
{
	switch (family) {
	case AF_INET:
		return "10.1.0.%u";
	case AF_INET6:
		return "fd00:1::%u";
	default:
		return "02:00:00:00:00:%02x";
	}
}

void hosts_number(struct hosts *hosts, unsigned int count, sa_family_t family)
{
	char text[INET6_ADDRSTRLEN];
	unsigned int i;

	*hosts = (struct hosts){ };
	for (i = 1; i <= count; i++) {
		snprintf(text, sizeof(text), number_format(family), i);
		parse(hosts_add(hosts, family), text);
	}
}

static void set_port(struct sockaddr_storage *address, unsigned int port)
{
	if (address->ss_family == AF_INET)
		((struct sockaddr_in *)address)->sin_port = htons(port);
	else if (address->ss_family == AF_INET6)
		((struct sockaddr_in6 *)address)->sin6_port = htons(port);
	else
		((struct sockaddr_ll *)address)->sll_protocol = htons(port);
}

static void hosts_add_line(struct hosts *hosts, char *line, const char *path, unsigned int number)
{
	struct sockaddr_storage *added;
	char *address, *port, *rest;
	unsigned long value = 0;
	sa_family_t family;

	line[strcspn(line, "#")] = '\0';
	address = strtok_r(line, " \t\r\n", &rest);
	if (!address)
		return;
	port = strtok_r(NULL, " \t\r\n", &rest);
	if (strtok_r(NULL, " \t\r\n", &rest))
		errx(EXIT_USAGE, "%s, line %u: want ADDRESS [PORT]", path, number);
	if (port)
		value = number_parse("port", port, 1, MAX_PORT);

	family = family_of(address);
	if (hosts->count && hosts->address[0].ss_family != family)
		errx(EXIT_USAGE, "%s, line %u: IPv4, IPv6 and MAC addresses do not mix", path,
		     number);
	added = hosts_add(hosts, family);
	set_port(added, value);
	if (!parse(added, address))
		errx(EXIT_USAGE, "%s, line %u: \"%s\" is not an address; names are not looked up",
		     path, number, address);
}

void hosts_read(struct hosts *hosts, const char *path)
{
	unsigned int number = 0;
	char *line = NULL;
	size_t bytes = 0;
	FILE *file;

	*hosts = (struct hosts){ };
	file = fopen(path, "re");
	if (!file)
		err(EXIT_USAGE, "%s", path);
	while (getline(&line, &bytes, file) >= 0)
		hosts_add_line(hosts, line, path, ++number);
	free(line);
	fclose(file);
	if (!hosts->count)
		errx(EXIT_USAGE, "%s names no host", path);
}

void hosts_default_port(struct hosts *hosts, unsigned int port)
{
	unsigned int i;

	for (i = 0; i < hosts->count; i++) {
		struct sockaddr_in6 *address6 = (struct sockaddr_in6 *)&hosts->address[i];
		struct sockaddr_in *address4 = (struct sockaddr_in *)&hosts->address[i];

		if (hosts->address[i].ss_family == AF_INET6 && !address6->sin6_port)
			address6->sin6_port = htons(port);
		if (hosts->address[i].ss_family == AF_INET && !address4->sin_port)
			address4->sin_port = htons(port);
	}
}

bool hosts_text(const struct hosts *hosts, unsigned int host, char text[NI_MAXHOST])
{
	const struct sockaddr *address = (const struct sockaddr *)&hosts->address[host];
	const struct sockaddr_ll *ll = (const struct sockaddr_ll *)address;

	if (address->sa_family != AF_PACKET)
		return !getnameinfo(address, hosts->bytes, text, NI_MAXHOST, NULL, 0,
				    NI_NUMERICHOST);
	snprintf(text, NI_MAXHOST, "%02x:%02x:%02x:%02x:%02x:%02x", ll->sll_addr[0],
		 ll->sll_addr[1], ll->sll_addr[2], ll->sll_addr[3], ll->sll_addr[4],
		 ll->sll_addr[5]);
	return true;
}

static bool has_mac(const struct ifaddrs *own, const struct sockaddr_ll *address)
{
	const struct sockaddr_ll *ll = (const struct sockaddr_ll *)own->ifa_addr;

	return ll && ll->sll_family == AF_PACKET && ll->sll_halen == address->sll_halen &&
	       (!address->sll_ifindex || address->sll_ifindex == ll->sll_ifindex) &&
	       !memcmp(ll->sll_addr, address->sll_addr, ll->sll_halen);
}

static bool is_device(const struct sockaddr_storage *address)
{
	struct ifaddrs *all, *own;
	bool found = false;

	if (getifaddrs(&all))
		err(EXIT_FAILED, "getifaddrs");
	for (own = all; own && !found; own = own->ifa_next)
		found = has_mac(own, (const struct sockaddr_ll *)address);
	freeifaddrs(all);
	return found;
}

/* An address of IP is local if a socket can be bound to it. */
static bool is_local(const struct sockaddr_storage *address, socklen_t bytes)
{
	struct sockaddr_storage any_port = *address;
	bool local;
	int fd;

	if (address->ss_family == AF_PACKET)
		return is_device(address);
	set_port(&any_port, 0);
	fd = socket(address->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		err(EXIT_FAILED, "socket");
	local = !bind(fd, (struct sockaddr *)&any_port, bytes);
	close(fd);
	return local;
}

unsigned int hosts_find_local(const struct hosts *hosts)
{
	unsigned int i, found = 0, rank = 0;

	for (i = 0; i < hosts->count; i++) {
		if (is_local(&hosts->address[i], hosts->bytes)) {
			rank = i;
			found++;
		}
	}
	if (found != 1)
		errx(EXIT_USAGE, "%u of the %u hosts are this machine: give --rank", found,
		     hosts->count);
	return rank;
}
