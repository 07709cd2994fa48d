// SPDX-License-Identifier: GPL-2.0
/* Who has the port? */
#include <ctype.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "process.h"
#include "text.h"
#include "user_port.h"

#define LINE_BYTES	512

/**
 * struct port_holder - a socket that is bound to the port
 * @inode: number of the socket
 * @uid: user who opened it
 */
struct port_holder {
	unsigned long	inode;
	unsigned int	uid;
};

/* Does a socket hold the port? */
static bool port_find_holder(const char *path, unsigned int port, struct port_holder *holder)
{
	FILE *file = fopen(path, "re");
	char line[LINE_BYTES];
	unsigned int bound;
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "%*s %*[0-9A-F]:%x %*s %*s %*s %*s %*s %u %*s %lu", &bound,
			       &holder->uid, &holder->inode) == 3 && bound == port;
	if (file)
		fclose(file);
	return found;
}

/* Is the socket among the files of this process? */
static bool port_process_has(const char *pid, const char *socket)
{
	char path[LINE_BYTES], target[TEXT_BYTES];
	struct dirent *entry;
	bool found = false;
	ssize_t bytes;
	DIR *files;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	files = opendir(path);
	while (files && !found && (entry = readdir(files))) {
		bytes = readlinkat(dirfd(files), entry->d_name, target, sizeof(target) - 1);
		if (bytes <= 0)
			continue;
		target[bytes] = '\0';
		found = !strcmp(target, socket);
	}
	if (files)
		closedir(files);
	return found;
}

/* The process that has the socket open, or 0: others' files are for root alone. */
static uint64_t port_find_process(unsigned long inode)
{
	DIR *processes = opendir("/proc");
	char socket[TEXT_BYTES];
	struct dirent *entry;
	uint64_t pid = 0;

	snprintf(socket, sizeof(socket), "socket:[%lu]", inode);
	while (processes && !pid && (entry = readdir(processes)))
		if (isdigit((unsigned char)*entry->d_name) &&
		    port_process_has(entry->d_name, socket))
			pid = strtoull(entry->d_name, NULL, 10);
	if (processes)
		closedir(processes);
	return pid;
}

static void port_say_taken(struct doctor *d, const struct port_holder *holder)
{
	static const char advice[] =
		"end it, then collsock set hold_port 1; or collsock set port NUMBER, on all hosts";
	struct process process;

	process_read(&process, port_find_process(holder->inode));
	if (*process.command)
		doctor_say(d, DOCTOR_PROBLEM, advice,
			   "no group can be joined: another program holds UDP port %u: %s (pid %ju)",
			   d->port, process.command, (uintmax_t)process.pid);
	else
		doctor_say(d, DOCTOR_PROBLEM, advice,
			   "no group can be joined: another program, of user %u, holds UDP port %u; root sees which",
			   holder->uid, d->port);
}

/* Ports from @first to @last that sockets hold; those of IPv4 and IPv6 may be of one rank. */
static unsigned int port_count_taken(unsigned int first, unsigned int last)
{
	struct port_holder holder;
	unsigned int port, taken = 0;

	for (port = first; port <= last; port++)
		taken += port_find_holder("/proc/self/net/udp", port, &holder) ||
			 port_find_holder("/proc/self/net/udp6", port, &holder);
	return taken;
}

void doctor_user_space(struct doctor *d)
{
	unsigned int first, last, ports, taken;

	if (user_ports_range(&first, &last)) {
		doctor_say(d, DOCTOR_PROBLEM, "unset it, or set it to 7608-7871, for instance",
			   "no rank can begin in user space: COLLSOCK_USER_PORTS is not FIRST-LAST");
		return;
	}
	ports = last - first + 1;
	taken = port_count_taken(first, last);
	if (taken == ports)
		doctor_say(d, DOCTOR_WARNING,
			   "name more ports in COLLSOCK_USER_PORTS, and open them in firewalls",
			   "no more rank can begin in user space: all of the %u UDP ports %u-%u are taken",
			   ports, first, last);
	else
		doctor_say(d, DOCTOR_OK, NULL,
			   "%u of the %u UDP ports %u-%u are free for ranks in user space",
			   ports - taken, ports, first, last);
}

void doctor_port(struct doctor *d)
{
	struct port_holder holder;

	if (json_object_get_boolean(json_object_object_get(d->net, "port_open")))
		doctor_say(d, DOCTOR_OK, NULL, "the module holds UDP port %u", d->port);
	else if (port_find_holder("/proc/self/net/udp", d->port, &holder) ||
		 port_find_holder("/proc/self/net/udp6", d->port, &holder))
		port_say_taken(d, &holder);
	else
		doctor_say(d, DOCTOR_OK, NULL, "UDP port %u is free until a group is joined",
			   d->port);
}
