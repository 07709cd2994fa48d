// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdio.h>

#include "error.h"
#include "outcome.h"
#include "settings.h"

/* The text for an error that differs without a UDP port; false if it is none of these. */
static bool outcome_of_ethernet(const struct joining_outcome *o, char *text, size_t bytes)
{
	switch (o->error) {
	case -EADDRNOTAVAIL:
		snprintf(text, bytes,
			 "no Ethernet interface with an address in a network that all hosts share (%s?), or groups there have another EtherType (collsock get ethertype)",
			 cm_setting_names[CM_SETTING_NETWORK]);
		return true;
	case -EPERM:
		snprintf(text, bytes,
			 "this user may not use the Ethernet interface: collsock device NAME allow, on all hosts");
		return true;
	case -EHOSTUNREACH:
		snprintf(text, bytes,
			 "no packets arrive on its host: are all hosts in one Ethernet network?");
		return true;
	case -ENETUNREACH:
		snprintf(text, bytes,
			 "packets of some do not arrive: are all hosts in one Ethernet network?");
		return true;
	default:
		return false;
	}
}

/* The same for ranks in user space, whose ports are their own */
static bool outcome_in_user_space(const struct joining_outcome *o, char *text, size_t bytes)
{
	switch (o->error) {
	case -EADDRINUSE:
		snprintf(text, bytes,
			 "no UDP port is free for a rank in user space: name more in COLLSOCK_USER_PORTS");
		return true;
	case -EHOSTUNREACH:
		snprintf(text, bytes,
			 "no packets arrive from others: are the UDP ports of ranks in user space (COLLSOCK_USER_PORTS) open between all hosts?");
		return true;
	default:
		return false;
	}
}

/*
 * Explanations specific to joining; libcollsock explains all other errors: those of a call, or
 * those of an operation, with its rank.
 */
static const char *outcome_text(const struct joining *j, const struct joining_outcome *o,
				bool tried, char *text, size_t bytes)
{
	if (j->detail[0])
		return j->detail;
	if (j->options.bearer == COLLSOCK_BEARER_ETHERNET && outcome_of_ethernet(o, text, bytes))
		return text;
	if (joining_plan_user_ranks(&j->plan) && outcome_in_user_space(o, text, bytes))
		return text;
	switch (o->error) {
	case -EADDRNOTAVAIL:
		snprintf(text, bytes,
			 "no address that others can reach (%s?), or groups there do not use UDP port %u (collsock get port; %s)",
			 cm_setting_names[CM_SETTING_NETWORK], j->options.port,
			 cm_setting_names[CM_SETTING_PORT]);
		return text;
	case -EHOSTUNREACH:
		snprintf(text, bytes,
			 "no packets arrive on its host: is UDP port %u open there for all others?",
			 j->options.port);
		return text;
	case -ENETUNREACH:
		snprintf(text, bytes,
			 "packets of some do not arrive: is UDP port %u open between all hosts?",
			 j->options.port);
		return text;
	case -EMFILE:
		return "too few file descriptors are left (ulimit -n)";
	default:
		return cm_error_text(-o->error, tried ? o->rank : COLLSOCK_NO_RANK,
				     text, bytes);
	}
}

void cm_outcome_fall_back(const struct cm_comm *c, const struct joining *j,
			  struct joining_outcome o, bool tried)
{
	char text[512];

	/* The program has waited for it. */
	if (!c->rank && (tried || cm_settings.verbose))
		fprintf(stderr,
			"collsock: a communicator of %d ranks tries UDP instead of Ethernet, because of rank %u: %s\n",
			c->size, o.rank, outcome_text(j, &o, tried, text, sizeof(text)));
}

void cm_outcome_report(const struct cm_comm *c, const struct joining *j, struct joining_outcome o,
		       bool tried)
{
	static atomic_bool said;
	bool again = atomic_exchange(&said, true);
	char text[512];

	if (c->rank || (again && !cm_settings.verbose))
		return;
	fprintf(stderr,
		"collsock: a communicator of %d ranks %s, because of rank %u: %s\n", c->size,
		cm_settings.mode == CM_REQUIRE ? "cannot join" : "is left to the MPI library",
		o.rank, outcome_text(j, &o, tried, text, sizeof(text)));
}
