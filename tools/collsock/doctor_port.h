/* SPDX-License-Identifier: GPL-2.0 */
/* Who has the port? */
#ifndef DOCTOR_PORT_H
#define DOCTOR_PORT_H

struct doctor;

void doctor_port(struct doctor *d);
void doctor_user_space(struct doctor *d);

#endif
