// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdatomic.h>
#include <stdio.h>

#include "summary.h"

#define NS_PER_US 1000.0

#define SUMMARY_REASON(name, meaning) \
	[CM_##name] = (meaning),

static const char *const summary_reasons[CM_REASONS] = { CM_REASON_LIST(SUMMARY_REASON) };

static atomic_ullong summary_counts[CM_CALLS][CM_REASONS];
static atomic_ullong summary_times[CM_CALLS];

void cm_summary_count(enum cm_call call, enum cm_reason reason)
{
	atomic_fetch_add_explicit(&summary_counts[call][reason], 1, memory_order_relaxed);
}

void cm_summary_add(enum cm_call call, __u64 ns)
{
	atomic_fetch_add_explicit(&summary_times[call], ns, memory_order_relaxed);
}

static unsigned long long summary_passed(enum cm_call call)
{
	unsigned long long sum = 0;
	unsigned int reason;

	for (reason = CM_HANDLED + 1; reason < CM_REASONS; reason++)
		sum += summary_counts[call][reason];
	return sum;
}

static void summary_print_call(enum cm_call call)
{
	unsigned long long handled = summary_counts[call][CM_HANDLED];
	unsigned long long passed = summary_passed(call);
	unsigned int reason;

	if (!handled && !passed)
		return;
	fprintf(stderr, "collsock: %-25s %12llu handled %12llu passed on", cm_call_names[call],
		handled, passed);
	if (handled && !cm_call_is_nonblocking(call))
		fprintf(stderr, "   %10.1f us on average",
			summary_times[call] / NS_PER_US / handled);
	fprintf(stderr, "\n");
	for (reason = CM_HANDLED + 1; reason < CM_REASONS; reason++)
		if (summary_counts[call][reason])
			fprintf(stderr, "collsock: %53llu %s\n",
				(unsigned long long)summary_counts[call][reason],
				summary_reasons[reason]);
}

void cm_summary_print(void)
{
	unsigned int call;

	fprintf(stderr, "collsock: collectives of rank 0, and why they were passed on:\n");
	for (call = 0; call < CM_CALLS; call++)
		summary_print_call(call);
}
