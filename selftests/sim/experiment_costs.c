// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of each step. One instruction counts as one nanosecond, so these are counted
 * instructions (Linux 6.1, QEMU's -icount), and a chosen network. costs/measure counts
 * them; Documentation/model.md, "Costs", describes how.
 */
#include <stdlib.h>

#include "experiment.h"

const struct exp_costs exp_costs_default = {
	.wire		= 2000,
	.byte		= 800,
	.post		= 1990,
	.answered	= 1350,
	.send		= 2850,
	.receive	= 2850,
	.data		= 1040,
	.fold		= 45,
	.timer		= 1500,
	.sleep		= 2060,
	.wake		= 2060,
	.sendto		= 6540,
	.arrive		= 2230,
	.recv		= 1610,
	.poll		= 800,
	.element	= 35,
	.mpi		= 510,
	.message	= 930,
};

static const struct {
	const char	*name;
	size_t		at;
	const char	*about;
} known[] = {
#define COST(name, about) { #name, offsetof(struct exp_costs, name), about }
	COST(wire, "network: transit of a packet"),
	COST(byte, "network: each of its bytes, in ps"),
	COST(post, "collsock: a call, without its packets and its sleep"),
	COST(answered, "collsock: additional for the call of a rank without a result"),
	COST(send, "collsock: a packet is written and sent"),
	COST(receive, "collsock: a packet is received, its operation advances"),
	COST(data, "collsock: additional if it has data"),
	COST(fold, "collsock: and for each double of it"),
	COST(timer, "collsock: a deadline"),
	COST(sleep, "both: going to sleep"),
	COST(wake, "both: being woken"),
	COST(sendto, "host-based: a message is sent"),
	COST(arrive, "host-based: a message reaches the socket"),
	COST(recv, "host-based: it is received by the program"),
	COST(poll, "host-based: polling an empty socket"),
	COST(element, "host-based: a double is copied and added"),
	COST(mpi, "MPI: the library for MPI, in each call"),
	COST(message, "MPI: additional for a message sent and received"),
#undef COST
};

static u64 *cost(const struct exp_costs *costs, size_t i)
{
	return (u64 *)((char *)costs + known[i].at);
}

bool exp_costs_set(struct exp_costs *costs, const char *setting)
{
	const char *value = strchr(setting, '=');
	char *end;
	size_t i;

	if (!value || value[1] < '0' || value[1] > '9')
		return false;
	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (strlen(known[i].name) != value - setting ||
		    strncmp(known[i].name, setting, value - setting))
			continue;
		*cost(costs, i) = strtoull(value + 1, &end, 10);
		/* A call must take time, or a program that polls never ends */
		return !*end && (cost(costs, i) != &costs->poll || costs->poll);
	}
	return false;
}

void exp_costs_explain(FILE *to, const struct exp_costs *costs, const char *before)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		fprintf(to, "%s%-9s %5llu  %s\n", before, known[i].name,
			(unsigned long long)*cost(costs, i), known[i].about);
}
