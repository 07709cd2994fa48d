// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "port.h"
#include "process.h"
#include "text.h"

#define LINE_BYTES	512
#define PORTS		65536

static const char *const port_tables[] = { "/proc/self/net/udp", "/proc/self/net/udp6" };

/* The next socket of the table that is bound. Return: is there one? */
static bool port_read(FILE *table, unsigned int *port, struct port_holder *holder)
{
	char line[LINE_BYTES];

	while (fgets(line, sizeof(line), table))
		if (sscanf(line, "%*s %*[0-9A-F]:%x %*s %*s %*s %*s %*s %u %*s %lu", port,
			   &holder->uid, &holder->inode) == 3)
			return true;
	return false;
}

/* In the table of one family */
static bool port_find_in(const char *path, unsigned int port, struct port_holder *holder)
{
	FILE *table = fopen(path, "re");
	unsigned int bound;
	bool found = false;

	while (table && !found && port_read(table, &bound, holder))
		found = bound == port;
	if (table)
		fclose(table);
	return found;
}

bool port_find_holder(unsigned int port, struct port_holder *holder)
{
	return port_find_in(port_tables[0], port, holder) ||
	       port_find_in(port_tables[1], port, holder);
}

static void port_mark_in(const char *path, bool taken[PORTS])
{
	FILE *table = fopen(path, "re");
	struct port_holder holder;
	unsigned int port;

	while (table && port_read(table, &port, &holder))
		if (port < PORTS)
			taken[port] = true;
	if (table)
		fclose(table);
}

unsigned int port_count_taken(unsigned int first, unsigned int last)
{
	bool taken[PORTS] = { };
	unsigned int port, count = 0;

	port_mark_in(port_tables[0], taken);
	port_mark_in(port_tables[1], taken);
	for (port = first; port <= last && port < PORTS; port++)
		count += taken[port];
	return count;
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

static bool port_is_keeper(uint64_t pid)
{
	struct process process;

	process_read(&process, pid);
	return !strcmp(process.command, PORT_KEEPER);
}

bool port_find_process(unsigned long inode, struct port_process *found)
{
	DIR *processes = opendir("/proc");
	char socket[TEXT_BYTES];
	struct dirent *entry;
	uint64_t pid;

	*found = (struct port_process){ };
	snprintf(socket, sizeof(socket), "socket:[%lu]", inode);
	while (processes && !found->pid && (entry = readdir(processes))) {
		if (!isdigit((unsigned char)*entry->d_name) ||
		    !port_process_has(entry->d_name, socket))
			continue;
		pid = strtoull(entry->d_name, NULL, 10);
		*(port_is_keeper(pid) ? &found->keeper : &found->pid) = pid;
	}
	if (processes)
		closedir(processes);
	return found->pid || found->keeper;
}
