/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DOCTOR_H
#define DOCTOR_H

/* The sub-command "doctor": checks with findings and advice */
int doctor_command(char **words);

#endif
