/* SPDX-License-Identifier: GPL-2.0 */
/* Timers, queues and processors of this host. */
#ifndef DOCTOR_MACHINE_H
#define DOCTOR_MACHINE_H

struct doctor;

void doctor_timers(struct doctor *d);
void doctor_backlog(struct doctor *d);
void doctor_neighbours(struct doctor *d);
void doctor_idle_states(struct doctor *d);

#endif
