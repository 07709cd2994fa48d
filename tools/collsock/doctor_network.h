/* SPDX-License-Identifier: GPL-2.0 */
/* The path to other hosts: firewall, route, packet size, reachability */
#ifndef DOCTOR_NETWORK_H
#define DOCTOR_NETWORK_H

struct doctor;

/*
 * Add the hosts named on the command line, or if there are none, hosts that groups here
 * have never heard from.
 */
void doctor_take_hosts(struct doctor *d, char **names);

void doctor_firewall(struct doctor *d);
void doctor_route(struct doctor *d);
void doctor_mtu(struct doctor *d);
void doctor_reach(struct doctor *d);
void doctor_coalescing(struct doctor *d);

/* For how long a device delays packets */
void doctor_check_delays(struct doctor *d, const char *device);

#endif
