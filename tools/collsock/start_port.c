// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <linux/collsock.h>
#include <linux/collsock_netlink.h>

#include "command.h"
#include "decode.h"
#include "launch_environment.h"
#include "launch_port.h"
#include "launch_prepare.h"
#include "netlink.h"
#include "start_port.h"
#include "text.h"

static bool start_needs_port(void)
{
	enum collsock_backend backend;

	return !launch_variable(LAUNCH_PORT) && !launch_choose_backend(&backend) &&
	       backend == COLLSOCK_BACKEND_KERNEL;
}

/* COLLSOCK_PORT if the module does not say; then joining tells what is wrong. */
static uint16_t start_ask_port(void)
{
	struct json_object *net = NULL;
	uint16_t port;
	struct netlink n;

	if (!netlink_connect(&n))
		net = netlink_try_get(&n, COLLSOCK_CMD_NET_GET, decode_net);
	port = text_number(net, "port", COLLSOCK_PORT);
	json_object_put(net);
	netlink_close(&n);
	return port;
}

void start_port(void)
{
	uint16_t port = start_needs_port() ? start_ask_port() : COLLSOCK_PORT;
	char *text;

	if (port == COLLSOCK_PORT)
		return;
	text = text_format("%u", port);
	if (setenv(LAUNCH_PORT, text, 1))
		err(EXIT_ERROR, "%s", LAUNCH_PORT);
	free(text);
}
