/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Handles: sockets of the kernel, or their substitute in this process (user.h) */
#ifndef COLLSOCK_SOCKET_H
#define COLLSOCK_SOCKET_H

#include "internal.h"

/*
 * The backend to use: @wanted, or if that is COLLSOCK_BACKEND_AUTO, that of the variable
 * COLLSOCK_BACKEND. 0; -EINVAL if the variable is invalid.
 */
int socket_choose_backend(enum collsock_backend wanted, enum collsock_backend *chosen);

/* collsock_open() with this backend. COLLSOCK_BACKEND_AUTO: the kernel's where there is one */
int socket_open(struct collsock **opened, unsigned int flags, enum collsock_backend backend);

/* The UDP port of groups in this network namespace, if it has the module, else COLLSOCK_PORT */
__u16 socket_port(void);

#endif
