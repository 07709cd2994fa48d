// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launch_environment.h"
#include "user_port.h"
#include "user_udp.h"

#define MOST_PORT	65535

void user_ports_init(struct user_ports *p)
{
	memset(p->fd, 0xff, sizeof(p->fd));
}

void user_ports_free(struct user_ports *p)
{
	unsigned int i;

	for (i = 0; i < JOINING_MOST_ADDRESSES; i++)
		if (p->fd[i] >= 0)
			close(p->fd[i]);
	user_ports_init(p);
}

int user_ports_take(struct user_ports *p, unsigned int address)
{
	int fd = p->fd[address];

	p->fd[address] = -1;
	return fd;
}

const char *user_ports_named(void)
{
	const char *text = launch_variable("COLLSOCK_USER_PORTS");

	return text ? text : USER_PORTS;
}

int user_ports_range(unsigned int *first, unsigned int *last)
{
	const char *text = user_ports_named();
	int end = 0;

	if (strspn(text, "0123456789-") != strlen(text) ||
	    sscanf(text, "%5u-%5u%n", first, last, &end) != 2 || text[end] || !*first ||
	    *first > *last || *last > MOST_PORT)
		return -EINVAL;
	return 0;
}

/* Bind a socket to this address. The host may have lost the address, or still check it. */
static int ports_bind(struct user_ports *p, const struct joining_host *host, unsigned int address,
		      unsigned int port, const struct collsock_options *o)
{
	struct sockaddr_storage storage;
	socklen_t bytes = joining_host_sockaddr(&host->address[address], port, o, &storage);
	union user_address a;

	memcpy(&a, &storage, sizeof(a));
	p->fd[address] = user_udp_bind(&a, bytes);
	return p->fd[address] == -EADDRNOTAVAIL || p->fd[address] >= 0 ? 0 : p->fd[address];
}

/* Bind sockets to the same port at all addresses. */
static int ports_bind_all(struct user_ports *p, const struct joining_host *host,
			  unsigned int port, const struct collsock_options *o)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < host->addresses; i++)
		err = ports_bind(p, host, i, port, o);
	if (err)
		user_ports_free(p);
	return err;
}

static int ports_remove_unusable(struct user_ports *p, struct joining_host *host)
{
	unsigned int i, kept = 0;

	for (i = 0; i < host->addresses; i++) {
		if (p->fd[i] < 0)
			continue;
		p->fd[kept] = p->fd[i];
		host->address[kept++] = host->address[i];
	}
	for (i = kept; i < host->addresses; i++) {
		p->fd[i] = -1;
		memset(&host->address[i], 0, sizeof(host->address[i]));
	}
	host->addresses = kept;
	return kept ? 0 : -EADDRNOTAVAIL;
}

/* Ranks that begin together begin to look at different ports. */
int user_ports_reserve(struct user_ports *p, struct joining_host *host,
		       const struct collsock_options *o)
{
	unsigned int first, last, count, try, port = 0;
	int err = user_ports_range(&first, &last);

	if (err)
		return err;
	if (o->bearer == COLLSOCK_BEARER_ETHERNET)
		return -EOPNOTSUPP;
	count = last - first + 1;
	err = -EADDRINUSE;
	for (try = 0; try < count && (err == -EADDRINUSE || err == -EACCES); try++) {
		port = first + ((unsigned int)getpid() + try) % count;
		err = ports_bind_all(p, host, port, o);
	}
	if (!err)
		err = ports_remove_unusable(p, host);
	host->port = err ? 0 : port;
	return err;
}

/* ---- errors ---- */

/* Another rank may have sent them: nothing of them may control a terminal. */
static void ports_clean(char clean[USER_PORTS_BYTES], const char *ports)
{
	snprintf(clean, USER_PORTS_BYTES, "%.*s", USER_PORTS_BYTES - 1, ports);
	for (; *clean; clean++)
		if (*clean < ' ' || *clean > '~')
			*clean = '?';
}

bool user_ports_explain(int error, const char *ports, char *text, size_t bytes)
{
	char clean[USER_PORTS_BYTES];

	ports_clean(clean, ports);
	switch (error) {
	case -EINVAL:
		snprintf(text, bytes,
			 "COLLSOCK_USER_PORTS: \"%s\" is not FIRST-LAST, of ports from 1 to 65535",
			 clean);
		return true;
	case -EACCES:
		snprintf(text, bytes,
			 "cannot use UDP ports %s (COLLSOCK_USER_PORTS): ports below 1024 need root",
			 clean);
		return true;
	case -EADDRINUSE:
		snprintf(text, bytes,
			 "no UDP port of %s (COLLSOCK_USER_PORTS) is free: name at least one for each rank of its host",
			 clean);
		return true;
	default:
		return false;
	}
}
