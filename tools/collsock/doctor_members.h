/* SPDX-License-Identifier: GPL-2.0 */
/* What the module knows about other hosts: groups, early packets, counters */
#ifndef DOCTOR_MEMBERS_H
#define DOCTOR_MEMBERS_H

struct doctor;

void doctor_groups(struct doctor *d);
void doctor_early_packets(struct doctor *d);
void doctor_counters(struct doctor *d);

#endif
