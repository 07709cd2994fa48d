/* SPDX-License-Identifier: GPL-2.0 */
/* The sub-command for the devices of groups over Ethernet. */
#ifndef DEVICE_H
#define DEVICE_H

int device_command(char **words);

#endif
