// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdint.h>

#include "launch_environment.h"
#include "launch_port.h"

int launch_port(struct collsock_options *o, char *text, size_t bytes)
{
	__u32 port = 0;
	int err = launch_number(LAUNCH_PORT, UINT16_MAX, &port, text, bytes);

	if (!o->port && o->bearer != COLLSOCK_BEARER_ETHERNET)
		o->port = port;
	return err == -ENOENT ? 0 : err;
}
