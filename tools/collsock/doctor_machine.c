// SPDX-License-Identifier: GPL-2.0
/* Timers, queues and processors of this host. */
#include <stdio.h>
#include <time.h>

#include "doctor.h"

#define COARSE_NS	10000
#define DEEP_US		100
#define STATES		16
#define PATH_BYTES	80

void doctor_timers(struct doctor *d)
{
	struct timespec resolution;

	clock_getres(CLOCK_MONOTONIC, &resolution);
	if (resolution.tv_sec || resolution.tv_nsec > COARSE_NS)
		doctor_say(d, DOCTOR_WARNING,
			   "boot without highres=off, with a capable clock source (CONFIG_HIGH_RES_TIMERS)",
			   "not of high resolution: retransmissions are %ld us late",
			   resolution.tv_nsec / 1000);
	else
		doctor_say(d, DOCTOR_OK, NULL, "of high resolution");
}

/* Second column of each CPU's line: packets for which the queue had no room. */
void doctor_backlog(struct doctor *d)
{
	FILE *file = fopen("/proc/net/softnet_stat", "re");
	unsigned long dropped = 0, some;

	while (file && fscanf(file, "%*x %lx%*[^\n]", &some) == 1)
		dropped += some;
	if (file)
		fclose(file);
	if (dropped)
		doctor_say(d, DOCTOR_WARNING,
			   "if it grows: sysctl net.core.netdev_max_backlog=10000",
			   "%lu packets were dropped since boot at a processor's queue",
			   dropped);
	else
		doctor_say(d, DOCTOR_OK, NULL, "no packet was dropped at a processor's queue");
}

void doctor_idle_states(struct doctor *d)
{
	long deepest = 0, latency;
	char path[PATH_BYTES];
	int i;

	for (i = 0; i < STATES; i++) {
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu0/cpuidle/state%d/disable", i);
		if (doctor_read_number(path))
			continue;
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu0/cpuidle/state%d/latency", i);
		latency = doctor_read_number(path);
		if (latency > deepest)
			deepest = latency;
	}
	if (deepest > DEEP_US)
		doctor_say(d, DOCTOR_NOTE, "for the lowest latency: cpupower idle-set -D 50",
			   "a processor takes up to %ld us to wake up", deepest);
	else
		doctor_say(d, DOCTOR_OK, NULL, "a processor wakes up within %ld us", deepest);
}
