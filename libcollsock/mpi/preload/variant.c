// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Settings are environment variables. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "settings.h"
#include "variant.h"

#define VARIANT_PREFIX "COLLSOCK_MPI"

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
	[CM_SETTING_MULTICAST] = "COLLSOCK_MPI_MULTICAST",
};

const char *cm_setting_text(enum cm_setting setting)
{
	return secure_getenv(cm_setting_names[setting]);
}

static size_t variant_common_bytes(const char *a, const char *b)
{
	size_t bytes = 0;

	while (a[bytes] && a[bytes] == b[bytes])
		bytes++;
	return bytes;
}

/* A variable is NAME=VALUE, which ends this name if @bytes are its length. */
static bool variant_is(const char *variable, const char *name, size_t bytes)
{
	return !name[bytes] && variable[bytes] == '=';
}

/* Is the variable a setting? Otherwise @meant has the setting that begins most like it. */
static bool variant_is_setting(const char *variable, const char **meant)
{
	size_t most = strlen(VARIANT_PREFIX "_"), bytes;
	enum cm_setting setting;

	*meant = NULL;
	for (setting = 0; setting < CM_SETTINGS; setting++) {
		bytes = variant_common_bytes(variable, cm_setting_names[setting]);
		if (variant_is(variable, cm_setting_names[setting], bytes))
			return true;
		if (bytes > most) {
			most = bytes;
			*meant = cm_setting_names[setting];
		}
	}
	return false;
}

const char *cm_setting_unknown(const char **meant)
{
	static char name[64];
	char **variable;

	for (variable = environ; variable && *variable; variable++) {
		if (strncmp(*variable, VARIANT_PREFIX, strlen(VARIANT_PREFIX)) ||
		    variant_is_setting(*variable, meant))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(*variable, "="), *variable);
		return name;
	}
	return NULL;
}
