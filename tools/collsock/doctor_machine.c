// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <time.h>

#include "doctor_finding.h"
#include "doctor_machine.h"

#define COARSE_NS	10000
#define DEEP_US		100
#define STATES		16
#define PATH_BYTES	80
#define HEAD_BYTES	512
#define NEIGHBOURS_ADVICE(family)						\
	"sysctl net." family ".neigh.default.gc_thresh3, and gc_thresh2 and gc_thresh1 below it, " \
	"above the number of hosts on the networks of this machine"

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

/**
 * struct neighbours - a table of neighbours, which all network namespaces share
 * @entries: in use
 * @most: largest number of entries; 0 if it is not shown in this namespace
 * @refused: new entries since boot for which there was no room
 */
struct neighbours {
	unsigned long	entries;
	unsigned long	most;
	unsigned long	refused;
};

/* After a header, a line for each CPU: the first column is for the table, the last for that CPU. */
static struct neighbours neighbours_read(const char *statistics, const char *limit)
{
	FILE *file = fopen(statistics, "re");
	struct neighbours table = { };
	long number = doctor_read_number(limit);
	char head[HEAD_BYTES];
	unsigned long refused;

	if (!file)
		return table;
	table.most = number > 0 ? number : 0;
	if (fgets(head, sizeof(head), file))
		while (fscanf(file, "%lx %*x %*x %*x %*x %*x %*x %*x %*x %*x %*x %*x %lx",
			      &table.entries, &refused) == 2)
			table.refused += refused;
	fclose(file);
	return table;
}

static void doctor_neighbour_table(struct doctor *d, const char *what, const char *statistics,
				   const char *limit, const char *advice)
{
	struct neighbours table = neighbours_read(statistics, limit);

	if (!table.most)
		return;
	if (table.refused)
		doctor_say(d, DOCTOR_WARNING, advice,
			   "the table of %s, with room for %lu, was full %lu times since boot",
			   what, table.most, table.refused);
	else if (table.entries > table.most / 10 * 9)
		doctor_say(d, DOCTOR_WARNING, advice,
			   "the table of %s, with room for %lu, has %lu entries", what, table.most,
			   table.entries);
	else
		doctor_say(d, DOCTOR_OK, NULL,
			   "the table of %s, with room for %lu, has %lu entries", what, table.most,
			   table.entries);
}

/* Packets to a host without an entry are lost. Only the first namespace shows the numbers. */
void doctor_neighbours(struct doctor *d)
{
	doctor_neighbour_table(d, "IPv4 neighbours", "/proc/net/stat/arp_cache",
			       "/proc/sys/net/ipv4/neigh/default/gc_thresh3",
			       NEIGHBOURS_ADVICE("ipv4"));
	doctor_neighbour_table(d, "IPv6 neighbours", "/proc/net/stat/ndisc_cache",
			       "/proc/sys/net/ipv6/neigh/default/gc_thresh3",
			       NEIGHBOURS_ADVICE("ipv6"));
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
