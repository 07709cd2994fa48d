// SPDX-License-Identifier: GPL-2.0
#include <linux/collsock_netlink.h>

#include "doctor_finding.h"
#include "doctor_multicast.h"
#include "text.h"

/* After this many operations there are packets to the address if any kind of them sends some. */
#define OPERATIONS	32
/* A source that sends fewer has pauses, as no host has reported that it receives them. */
#define SENT_SHARE	2

#define MULTICAST_ADVICE \
	"a firewall drops them, or a switch with snooping has no querier (ip maddress shows whether this host has the address); a group without barriers, broadcasts and short all-reduces needs none"

/* Returns 1 if there was a finding. */
static unsigned int doctor_judge_multicast(struct doctor *d, struct json_object *group)
{
	struct json_object *stats = json_object_object_get(group, "stats");
	uint64_t operations = text_number(stats, "completed", 0);
	uint64_t sent = text_number(stats, "copies_sent", 0);
	uint64_t came = text_number(stats, "copies_received", 0) +
			text_number(stats, "copies_unused", 0);
	const char *id = text_string(group, "id", ""), *handle = text_string(group, "handle", "");
	const char *address = text_string(group, "multicast", "");

	if (operations < OPERATIONS)
		return 0;
	if (!sent && !came)
		doctor_say(d, DOCTOR_NOTE, MULTICAST_ADVICE,
			   "group %s (handle %s): no packets to %s come here, though it has completed %llu operations",
			   id, handle, address, (unsigned long long)operations);
	else if (!came && sent < operations / SENT_SHARE)
		doctor_say(d, DOCTOR_NOTE, MULTICAST_ADVICE,
			   "group %s (handle %s): other hosts rarely report that packets to %s reach them, so few are sent",
			   id, handle, address);
	else
		return 0;
	return 1;
}

void doctor_multicast(struct doctor *d)
{
	size_t i, count = json_object_array_length(d->groups);
	unsigned int with = 0, said = 0;

	for (i = 0; i < count; i++) {
		struct json_object *group = json_object_array_get_idx(d->groups, i);

		if (!text_has(group, "multicast"))
			continue;
		with++;
		said += doctor_judge_multicast(d, group);
	}
	if (!said)
		doctor_say(d, DOCTOR_OK, NULL, "%u groups have a multicast address", with);
}
