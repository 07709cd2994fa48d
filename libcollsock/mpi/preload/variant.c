// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Settings are environment variables. */
#include <stdlib.h>

#include "settings.h"
#include "variant.h"

const struct cm_variant cm_variant = {
	.name		= "libcollsock-mpi",
	.suspicion	= "Is this library preloaded in all of them?",
	.require	= "COLLSOCK_MPI=require",
};

const char *const cm_setting_names[CM_SETTINGS] = {
	[CM_SETTING_MODE] = "COLLSOCK_MPI",
	[CM_SETTING_AFTER] = "COLLSOCK_MPI_AFTER",
	[CM_SETTING_MAX_BYTES] = "COLLSOCK_MPI_MAX_BYTES",
	[CM_SETTING_WINDOW] = "COLLSOCK_MPI_WINDOW",
	[CM_SETTING_PORT] = "COLLSOCK_MPI_PORT",
	[CM_SETTING_LIVENESS] = "COLLSOCK_MPI_LIVENESS",
	[CM_SETTING_SPIN] = "COLLSOCK_MPI_SPIN",
	[CM_SETTING_VERBOSE] = "COLLSOCK_MPI_VERBOSE",
	[CM_SETTING_SUMMARY] = "COLLSOCK_MPI_SUMMARY",
	[CM_SETTING_ALGORITHM] = "COLLSOCK_MPI_ALGORITHM",
	[CM_SETTING_NETWORK] = "COLLSOCK_MPI_NETWORK",
	[CM_SETTING_BEARER] = "COLLSOCK_MPI_BEARER",
};

const char *cm_setting_text(enum cm_setting setting)
{
	return getenv(cm_setting_names[setting]);
}
