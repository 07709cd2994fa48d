/* SPDX-License-Identifier: GPL-2.0 */
#ifndef START_PORT_H
#define START_PORT_H

/*
 * If neither an option nor the environment names the port of groups, and ranks are to be with the
 * kernel, set COLLSOCK_PORT to that of this network namespace.
 */
void start_port(void);

#endif
