// SPDX-License-Identifier: GPL-2.0
#include <stdint.h>

#include "doctor_finding.h"
#include "doctor_port.h"
#include "port.h"
#include "process.h"
#include "user_port.h"
#include "userspace.h"

#define PORT_TAKEN_ADVICE \
	"end it, then collsock set hold_port 1; or collsock set port NUMBER, on all hosts"

static void port_say_taken(struct doctor *d, const struct port_holder *holder)
{
	struct port_process has;
	struct process process;

	port_find_process(holder->inode, &has);
	process_read(&process, has.pid ? has.pid : has.keeper);
	if (*process.command)
		doctor_say(d, DOCTOR_PROBLEM, PORT_TAKEN_ADVICE,
			   "no group can be joined: another program holds UDP port %u: %s (pid %ju)",
			   d->port, process.command, (uintmax_t)process.pid);
	else
		doctor_say(d, DOCTOR_PROBLEM, PORT_TAKEN_ADVICE,
			   "no group can be joined: another program, of user %u, holds UDP port %u; root sees which",
			   holder->uid, d->port);
}

void doctor_user_space(struct doctor *d)
{
	unsigned int first, last, ports, taken;
	char *hidden = userspace_hidden();

	if (hidden)
		doctor_say(d, DOCTOR_WARNING, USERSPACE_HIDDEN_ADVICE,
			   "ranks in user space cannot be seen: %s", hidden);
	free(hidden);
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
	else if (port_find_holder(d->port, &holder))
		port_say_taken(d, &holder);
	else
		doctor_say(d, DOCTOR_OK, NULL, "UDP port %u is free until a group is joined",
			   d->port);
}
