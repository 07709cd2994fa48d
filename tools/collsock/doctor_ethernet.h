/* SPDX-License-Identifier: GPL-2.0 */
/* Network devices of groups over Ethernet */
#ifndef DOCTOR_ETHERNET_H
#define DOCTOR_ETHERNET_H

struct doctor;

void doctor_ethernet(struct doctor *d);

#endif
