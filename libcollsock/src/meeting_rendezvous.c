// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "meeting_rendezvous.h"

#define FIRST_PORT	7607
#define LAST_PORT	7670
#define MOST_PORT	65535
#define BACKLOG		4096	/* the kernel has a limit of its own */

/* ---- text ---- */

/* The digits at @text, up to @end; 0 if they are not a port */
static unsigned int rendezvous_read_port(const char *text, const char *end)
{
	unsigned int port = 0;

	for (; text < end && port <= MOST_PORT; text++) {
		if (*text < '0' || *text > '9')
			return 0;
		port = 10 * port + *text - '0';
	}
	return port <= MOST_PORT ? port : 0;
}

static int rendezvous_read_range(const char *range, unsigned int *first, unsigned int *last)
{
	const char *dash = strchrnul(range, '-');

	*first = rendezvous_read_port(range, dash);
	*last = *dash ? rendezvous_read_port(dash + 1, dash + strlen(dash)) : *first;
	return *first && *first <= *last ? 0 : -ERANGE;
}

/* Ports of one job, beginning with any of the range */
static int rendezvous_choose_ports(struct meeting_rendezvous *rendezvous, const char *range,
				   const __u8 job[MEETING_BYTES])
{
	unsigned int first = FIRST_PORT, last = LAST_PORT, count, i;
	__be32 be;

	if (range && rendezvous_read_range(range, &first, &last))
		return -ERANGE;
	count = last - first + 1;
	rendezvous->ports = count < MEETING_PORTS ? count : MEETING_PORTS;
	memcpy(&be, job, sizeof(be));
	for (i = 0; i < rendezvous->ports; i++)
		rendezvous->port[i] = first + (be32toh(be) + i) % count;
	return 0;
}

static int rendezvous_set_port(struct meeting_rendezvous *rendezvous, const char *text)
{
	rendezvous->port[0] = rendezvous_read_port(text, text + strlen(text));
	rendezvous->ports = 1;
	return rendezvous->port[0] ? 0 : -EINVAL;
}

static int rendezvous_set_host(struct meeting_rendezvous *rendezvous, const char *text,
			       size_t bytes)
{
	if (!bytes || bytes >= sizeof(rendezvous->host))
		return -EINVAL;
	memcpy(rendezvous->host, text, bytes);
	rendezvous->host[bytes] = '\0';
	return 0;
}

/* Returns the rest after the host: nothing, or a colon and a port; NULL if there is no host. */
static const char *rendezvous_read_host(struct meeting_rendezvous *rendezvous, const char *text)
{
	const char *colon = strchr(text, ':'), *end = text + strlen(text);

	if (*text == '[') {
		end = strchr(++text, ']');
		if (!end || rendezvous_set_host(rendezvous, text, end - text))
			return NULL;
		return end + 1;
	}
	/* An IPv6 address without brackets is all of the text. */
	if (colon && !strchr(colon + 1, ':'))
		end = colon;
	return rendezvous_set_host(rendezvous, text, end - text) ? NULL : end;
}

static void rendezvous_write(struct meeting_rendezvous *rendezvous, __u16 port)
{
	const char *format = strchr(rendezvous->host, ':') ? "[%s]:%u" : "%s:%u";

	snprintf(rendezvous->text, sizeof(rendezvous->text), format, rendezvous->host, port);
}

int meeting_rendezvous_parse(struct meeting_rendezvous *rendezvous, const char *text,
			     const char *range, const __u8 job[MEETING_BYTES])
{
	const char *rest = rendezvous_read_host(rendezvous, text);
	int err;

	if (!rest || (*rest && *rest != ':'))
		return -EINVAL;
	rendezvous->ranged = !*rest;
	err = *rest ? rendezvous_set_port(rendezvous, rest + 1) :
		      rendezvous_choose_ports(rendezvous, range, job);
	rendezvous_write(rendezvous, rendezvous->port[0]);
	return err;
}

/* ---- sockets ---- */

static int rendezvous_resolve(const struct meeting_rendezvous *rendezvous, __u16 port, int flags,
			      struct addrinfo **found)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | flags,
	};
	char service[8];
	int error;

	snprintf(service, sizeof(service), "%u", port);
	error = getaddrinfo(rendezvous->host, service, &hints, found);
	if (error == EAI_SYSTEM)
		return -errno;
	return -error;
}

/* Notice that the other side's host is gone, even if neither side sends anything. */
static void rendezvous_notice_silence(int fd)
{
	static const int yes = 1, idle = 5, interval = 2, count = 3, unanswered_ms = 11000;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered_ms, sizeof(unanswered_ms));
}

static int rendezvous_socket(int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
	static const int yes = 1;

	if (fd < 0)
		return -errno;
	/* Accepted connections inherit all of this. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	rendezvous_notice_silence(fd);
	return fd;
}

static int rendezvous_listen_at(const struct sockaddr *address, socklen_t bytes)
{
	static const int yes = 1, no;
	int fd = rendezvous_socket(address->sa_family), err;

	if (fd < 0)
		return fd;
	/* Connections of an earlier meeting that have ended do not keep the port. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (address->sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	if (!bind(fd, address, bytes) && !listen(fd, BACKLOG))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* On all addresses; only those of IPv4 if there is no IPv6 */
static int rendezvous_listen_at_all(__u16 port)
{
	const struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	const struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = rendezvous_listen_at((const struct sockaddr *)&in6, sizeof(in6));

	if (fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL)
		fd = rendezvous_listen_at((const struct sockaddr *)&in, sizeof(in));
	return fd;
}

static int rendezvous_listen_on(const struct meeting_rendezvous *rendezvous, __u16 port)
{
	bool local = !strcmp(rendezvous->host, "localhost");
	struct addrinfo *found;
	int fd;

	if (rendezvous_resolve(rendezvous, port, local ? 0 : AI_NUMERICHOST, &found))
		return rendezvous_listen_at_all(port);
	fd = rendezvous_listen_at(found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	/* The address may be a translated one, or another host's by now. */
	return fd == -EADDRNOTAVAIL ? rendezvous_listen_at_all(port) : fd;
}

int meeting_rendezvous_listen(struct meeting_rendezvous *rendezvous)
{
	int fd = -EADDRINUSE;
	unsigned int i;

	for (i = 0; i < rendezvous->ports && fd == -EADDRINUSE; i++) {
		fd = rendezvous_listen_on(rendezvous, rendezvous->port[i]);
		if (fd >= 0)
			rendezvous_write(rendezvous, rendezvous->port[i]);
	}
	return fd;
}

static int rendezvous_connect_to(const struct addrinfo *to, int *fd)
{
	int err;

	*fd = rendezvous_socket(to->ai_family);
	if (*fd < 0)
		return *fd;
	if (!connect(*fd, to->ai_addr, to->ai_addrlen) || errno == EINPROGRESS)
		return 0;
	err = -errno;
	close(*fd);
	return err;
}

int meeting_rendezvous_connect(const struct meeting_rendezvous *rendezvous, unsigned int try,
			       int *fd)
{
	const struct addrinfo *to;
	struct addrinfo *found;
	unsigned int count = 0;
	int err;

	err = rendezvous_resolve(rendezvous, rendezvous->port[try % rendezvous->ports], 0, &found);
	if (err)
		return err;
	for (to = found; to; to = to->ai_next)
		count++;
	try = try / rendezvous->ports % count;
	for (to = found; try; to = to->ai_next)
		try--;
	err = rendezvous_connect_to(to, fd);
	freeaddrinfo(found);
	return err;
}

bool meeting_rendezvous_is_self(int fd)
{
	struct sockaddr_storage own = { }, other = { };
	socklen_t own_bytes = sizeof(own), other_bytes = sizeof(other);

	return !getsockname(fd, (struct sockaddr *)&own, &own_bytes) &&
	       !getpeername(fd, (struct sockaddr *)&other, &other_bytes) &&
	       own_bytes == other_bytes && !memcmp(&own, &other, own_bytes);
}

void meeting_rendezvous_name(const struct sockaddr_storage *address, char *text, size_t bytes)
{
	char host[NI_MAXHOST], port[NI_MAXSERV];

	if (getnameinfo((const struct sockaddr *)address, sizeof(*address), host, sizeof(host),
			port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		snprintf(text, bytes, "an unknown address");
	else
		snprintf(text, bytes, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}
