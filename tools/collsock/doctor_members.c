// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "counters.h"
#include "doctor_finding.h"
#include "doctor_members.h"
#include "text.h"

#define EARLY_RECENT_MS 60000
#define ADVICE_EPROTO \
	"that rank posted another operation, or its host has another version of the module (see other_version in collsock stat on all hosts): correct it, then join a new group"

static bool doctor_object_is(struct json_object *object, const char *key, const char *value)
{
	return !strcmp(text_string(object, key, ""), value);
}

static const char *doctor_failure_advice(struct json_object *group)
{
	if (doctor_object_is(group, "error", "EPROTO"))
		return ADVICE_EPROTO;
	return "its processes get that error, and must join a new group";
}

static bool doctor_judge_failure(struct doctor *d, struct json_object *group)
{
	if (!doctor_object_is(group, "state", "failed"))
		return false;
	doctor_say(d, DOCTOR_WARNING, doctor_failure_advice(group),
		   "group %s (handle %s) has failed: %s because of rank %s",
		   text_string(group, "id", ""), text_string(group, "handle", ""),
		   text_string(group, "error", "?"), text_string(group, "failed_rank", "?"));
	return true;
}

/* Packets of a path with a smaller MTU than the interfaces */
static void doctor_judge_fragments(struct doctor *d, struct json_object *group)
{
	struct json_object *stats = json_object_object_get(group, "stats");

	if (text_number(stats, "peers_fragmented", 0))
		doctor_say(d, DOCTOR_WARNING,
			   "a device on the path has a smaller MTU: correct it, or join with a smaller segment_bytes",
			   "group %s (handle %s): long packets to %s of its hosts got lost where short ones passed, and are fragmented now",
			   text_string(group, "id", ""), text_string(group, "handle", ""),
			   text_string(stats, "peers_fragmented", "?"));
}

void doctor_groups(struct doctor *d)
{
	size_t i, count = json_object_array_length(d->groups), failed = 0;

	for (i = 0; i < count; i++) {
		struct json_object *group = json_object_array_get_idx(d->groups, i);

		failed += doctor_judge_failure(d, group);
		doctor_judge_fragments(d, group);
	}
	if (!failed)
		doctor_say(d, DOCTOR_OK, NULL, "%zu here, none has failed", count);
}

/* ---- early packets ---- */

/* Is the packet for a group that has been joined meanwhile? */
static bool doctor_is_of_a_group(struct doctor *d, struct json_object *packet)
{
	size_t i;

	for (i = 0; i < json_object_array_length(d->groups); i++)
		if (doctor_object_is(json_object_array_get_idx(d->groups, i), "tag",
				     text_string(packet, "tag", "-")))
			return true;
	return false;
}

/* The member of a group here that has this address and was never heard from, or NULL */
static struct json_object *doctor_unheard_member(struct doctor *d, const char *address)
{
	size_t i;

	for (i = 0; i < json_object_array_length(d->members); i++) {
		struct json_object *member = json_object_array_get_idx(d->members, i);

		if (doctor_object_is(member, "address", address) &&
		    (doctor_object_is(member, "state", "unheard") ||
		     doctor_object_is(member, "state", "unknown")))
			return member;
	}
	return NULL;
}

static void doctor_judge_early_packet(struct doctor *d, struct json_object *packet)
{
	const char *address = text_string(packet, "address", "");
	struct json_object *member = doctor_unheard_member(d, address);
	char text[TEXT_BYTES];

	text_ms(text, text_number(packet, "age_ms", 0));
	if (member)
		doctor_say(d, DOCTOR_PROBLEM,
			   "compare key, id and nonce of the group on both hosts, byte by byte",
			   "%s sent a packet for another group %s ago, and was never heard from as host %s of the group with handle %s: key, id or nonce differ",
			   address, text, text_string(member, "host", "?"),
			   text_string(member, "group", "?"));
	else if (doctor_has_host(d, address))
		doctor_say(d, DOCTOR_PROBLEM,
			   "start the program here, or compare key, id and nonce of the group on both hosts",
			   "%s sent a packet for an unknown group %s ago: no rank has joined here, or key, id or nonce differ",
			   address, text);
	else
		doctor_say(d, DOCTOR_WARNING, NULL,
			   "%s sent a packet for an unknown group %s ago", address, text);
}

void doctor_early_packets(struct doctor *d)
{
	size_t i, count = 0;

	for (i = 0; i < json_object_array_length(d->early_packets); i++) {
		struct json_object *packet = json_object_array_get_idx(d->early_packets, i);

		if (doctor_is_of_a_group(d, packet) ||
		    text_number(packet, "age_ms", 0) > EARLY_RECENT_MS)
			continue;
		count++;
		doctor_judge_early_packet(d, packet);
	}
	if (!count)
		doctor_say(d, DOCTOR_OK, NULL, "no packet for an unknown group");
}

/* ---- counters ---- */

/* Normal while ranks join; hosts that sent early packets are reported already. */
static bool doctor_is_usual(const struct counter *c)
{
	return !strcmp(c->key, "unknown_group");
}

void doctor_counters(struct doctor *d)
{
	const struct counter *c;
	unsigned int bad = 0;

	for (c = counters_net; c->key; c++) {
		if (!c->advice || doctor_is_usual(c) || !text_number(d->net, c->key, 0))
			continue;
		bad++;
		doctor_say(d, DOCTOR_WARNING, c->advice, "%s is %s: %s", c->key,
			   text_string(d->net, c->key, ""), c->help);
	}
	if (!bad)
		doctor_say(d, DOCTOR_OK, NULL, "no packet was refused");
}
