// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <err.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hosts.h"
#include "number.h"
#include "status.h"

#define MAX_PORT 65535

static struct sockaddr_storage *hosts_add(struct hosts *hosts, sa_family_t family)
{
	struct sockaddr_storage *added;

	hosts->address = realloc(hosts->address, (hosts->count + 1) * sizeof(*hosts->address));
	if (!hosts->address)
		err(EXIT_FAILED, "%u hosts", hosts->count + 1);
	hosts->bytes = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	added = &hosts->address[hosts->count++];
	*added = (struct sockaddr_storage){ .ss_family = family };
	return added;
}

void hosts_number(struct hosts *hosts, unsigned int count, bool ipv6)
{
	unsigned int i;

	*hosts = (struct hosts){ };
	for (i = 1; i <= count; i++) {
		struct sockaddr_storage *added = hosts_add(hosts, ipv6 ? AF_INET6 : AF_INET);
		struct in6_addr *address6 = &((struct sockaddr_in6 *)added)->sin6_addr;
		struct in_addr *address4 = &((struct sockaddr_in *)added)->sin_addr;
		char text[INET6_ADDRSTRLEN];

		/*
		 * Decimal digits are used as hexadecimal ones, like tools/vm does: host 10
		 * is fd00:1::10
		 */
		snprintf(text, sizeof(text), ipv6 ? "fd00:1::%u" : "10.1.0.%u", i);
		inet_pton(added->ss_family, text, ipv6 ? (void *)address6 : address4);
	}
}

static bool parse_ipv6(struct sockaddr_in6 *parsed, char *text)
{
	char *percent = strchr(text, '%');

	if (percent) {
		*percent = '\0';
		parsed->sin6_scope_id = if_nametoindex(percent + 1);
		if (!parsed->sin6_scope_id)
			return false;
	}
	return inet_pton(AF_INET6, text, &parsed->sin6_addr) == 1;
}

static void hosts_add_line(struct hosts *hosts, char *line, const char *path, unsigned int number)
{
	struct sockaddr_storage *added;
	char *address, *port, *rest;
	unsigned long value = 0;
	sa_family_t family;
	bool parsed;

	line[strcspn(line, "#")] = '\0';
	address = strtok_r(line, " \t\r\n", &rest);
	if (!address)
		return;
	port = strtok_r(NULL, " \t\r\n", &rest);
	if (strtok_r(NULL, " \t\r\n", &rest))
		errx(EXIT_USAGE, "%s, line %u: want ADDRESS [PORT]", path, number);
	if (port)
		value = number_parse("port", port, 1, MAX_PORT);

	family = strchr(address, ':') ? AF_INET6 : AF_INET;
	if (hosts->count && hosts->address[0].ss_family != family)
		errx(EXIT_USAGE, "%s, line %u: IPv4 and IPv6 do not mix", path, number);
	added = hosts_add(hosts, family);
	if (family == AF_INET6) {
		((struct sockaddr_in6 *)added)->sin6_port = htons(value);
		parsed = parse_ipv6((struct sockaddr_in6 *)added, address);
	} else {
		((struct sockaddr_in *)added)->sin_port = htons(value);
		parsed = inet_pton(AF_INET, address, &((struct sockaddr_in *)added)->sin_addr) == 1;
	}
	if (!parsed)
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

/* An address is local if a socket can be bound to it. */
static bool is_local(const struct sockaddr_storage *address, socklen_t bytes)
{
	struct sockaddr_storage any_port = *address;
	bool local;
	int fd;

	if (address->ss_family == AF_INET6)
		((struct sockaddr_in6 *)&any_port)->sin6_port = 0;
	else
		((struct sockaddr_in *)&any_port)->sin_port = 0;
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
