// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdio.h>

#include "joining_options.h"
#include "launch_environment.h"
#include "launch_multicast.h"

int launch_multicast(struct collsock_options *o, char *text, size_t bytes)
{
	const char *value = launch_variable("COLLSOCK_MULTICAST");
	__u8 address[16];

	if (!value || joining_options_multicast(o))
		return 0;
	if (collsock_multicast_from_text(value, address)) {
		snprintf(text, bytes, "COLLSOCK_MULTICAST: \"%.64s\" is no multicast address",
			 value);
		return -EINVAL;
	}
	joining_options_set_multicast(o, address);
	return 0;
}
