// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/collsock_netlink.h>

#include "doctor_ethernet.h"
#include "doctor_finding.h"
#include "doctor_network.h"
#include "link.h"
#include "text.h"

/* Flags of the device, or 0 */
static unsigned int doctor_device_flags(const char *name)
{
	struct ifreq request = { };
	int fd, status;

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%.15s", name);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	status = ioctl(fd, SIOCGIFFLAGS, &request);
	close(fd);
	return status ? 0 : (unsigned short)request.ifr_flags;
}

static void doctor_check_ethernet(struct doctor *d, struct json_object *device)
{
	const char *use = text_flag(device, "open") ? "which groups use" : "which groups may use";
	unsigned int index = text_number(device, "ifindex", 0), flags;
	char name[IF_NAMESIZE], master[IF_NAMESIZE];

	if (!if_indextoname(index, name))
		return;
	flags = doctor_device_flags(name);
	if (!(flags & IFF_UP))
		doctor_say(d, DOCTOR_PROBLEM, "ip link set DEVICE up", "%s, %s, is down", name,
			   use);
	else if (link_find_master(index, master))
		doctor_say(d, DOCTOR_PROBLEM, "allow that device instead, and join groups over it",
			   "%s, %s, is a port of %s, which gets its packets", name, use, master);
	else if (!(flags & IFF_RUNNING))
		doctor_say(d, DOCTOR_PROBLEM, "look at the cable and the switch",
			   "%s, %s, has no carrier", name, use);
	else
		doctor_say(d, DOCTOR_OK, NULL, "%s, %s, is up", name, use);
	doctor_check_delays(d, name);
}

void doctor_ethernet(struct doctor *d)
{
	struct json_object *all;
	size_t i, count;

	all = netlink_list(&d->n, COLLSOCK_CMD_DEVICE_GET, 0, 0, decode_device);
	count = json_object_array_length(all);
	if (!count)
		doctor_say(d, DOCTOR_OK, NULL,
			   "no group uses a device, and none is allowed for all users");
	for (i = 0; i < count; i++)
		doctor_check_ethernet(d, json_object_array_get_idx(all, i));
	json_object_put(all);
}
