/* SPDX-License-Identifier: GPL-2.0 */
/* Multicast addresses of groups: do packets to them arrive? */
#ifndef DOCTOR_MULTICAST_H
#define DOCTOR_MULTICAST_H

struct doctor;

void doctor_multicast(struct doctor *d);

#endif
