/* SPDX-License-Identifier: GPL-2.0 */
/* Is the module loaded, and does it match this command? */
#ifndef DOCTOR_MODULE_H
#define DOCTOR_MODULE_H

struct doctor;

void doctor_module(struct doctor *d);
void doctor_signatures(struct doctor *d);
void doctor_family(struct doctor *d);
void doctor_version(struct doctor *d);

#endif
