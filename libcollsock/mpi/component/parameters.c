// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "parameters.h"
#include "settings.h"
#include "variant.h"

const struct cm_variant cm_variant = {
	.name		= "coll_collsock",
	.suspicion	=
		"Do all of them use coll_collsock (installed, with the same priority, and without libcollsock-mpi)?",
	.require	= "coll_collsock_require",
};

#define PREFIX "coll_collsock_"

const char *const cm_setting_names[CM_SETTINGS] = {
	[CM_SETTING_MODE] = PREFIX "require",
	[CM_SETTING_AFTER] = PREFIX "after",
	[CM_SETTING_MAX_BYTES] = PREFIX "max_bytes",
	[CM_SETTING_WINDOW] = PREFIX "window",
	[CM_SETTING_PORT] = PREFIX "port",
	[CM_SETTING_LIVENESS] = PREFIX "liveness",
	[CM_SETTING_SPIN] = PREFIX "spin",
	[CM_SETTING_VERBOSE] = PREFIX "verbose",
	[CM_SETTING_SUMMARY] = PREFIX "summary",
	[CM_SETTING_ALGORITHM] = PREFIX "algorithm",
	[CM_SETTING_NETWORK] = PREFIX "network",
	[CM_SETTING_BEARER] = PREFIX "bearer",
	[CM_SETTING_MULTICAST] = PREFIX "multicast",
};

/* For ompi_info; the manual page has more. */
static const char *const parameters_help[CM_SETTINGS] = {
	[CM_SETTING_MODE] =
		"End the program if a communicator of several hosts cannot join",
	[CM_SETTING_AFTER] =
		"A communicator joins in its first blocking collective from this one on; with 0 MPI_COMM_WORLD joins in MPI_Init",
	[CM_SETTING_MAX_BYTES] =
		"The most data of a call that is handled",
	[CM_SETTING_WINDOW] =
		"Operations of a communicator that may be under way at once",
	[CM_SETTING_PORT] =
		"UDP port of collective sockets on all hosts; by default the module's",
	[CM_SETTING_LIVENESS] =
		"Seconds of silence after which a host counts as dead",
	[CM_SETTING_SPIN] =
		"Microseconds for which a wait spins before it sleeps",
	[CM_SETTING_VERBOSE] =
		"Print for each communicator that it has joined, or why it cannot",
	[CM_SETTING_SUMMARY] =
		"In MPI_Finalize, rank 0 prints which calls were handled and why others were not",
	[CM_SETTING_ALGORITHM] =
		"Algorithms, as barrier=exchange,allreduce=kary,degree=4",
	[CM_SETTING_NETWORK] =
		"Hosts communicate over this network, as 10.1.0.0/16",
	[CM_SETTING_BEARER] =
		"How packets travel: udp; ethernet, without IP; or auto: that where it is open to all users",
	[CM_SETTING_MULTICAST] =
		"Multicast address for what all hosts get, as 239.7.7.7",
};

static int parameters_priority;
static bool parameters_flag[CM_SETTINGS];
static char *parameters_text[CM_SETTINGS];

int cm_parameters_priority(void)
{
	return parameters_priority;
}

static bool parameters_is_flag(enum cm_setting setting)
{
	return setting == CM_SETTING_MODE || setting == CM_SETTING_VERBOSE ||
	       setting == CM_SETTING_SUMMARY;
}

const char *cm_setting_text(enum cm_setting setting)
{
	if (setting == CM_SETTING_MODE)
		return parameters_flag[setting] ? "require" : "on";
	if (parameters_is_flag(setting))
		return parameters_flag[setting] ? "1" : "0";
	return parameters_text[setting];
}

/* Open MPI has parameters of all components, and reports none as unknown. */
const char *cm_setting_unknown(const char **meant)
{
	*meant = NULL;
	return NULL;
}

static int parameters_register_one(const mca_base_component_t *component, const char *name,
				   const char *help, mca_base_var_type_t type, void *storage)
{
	int index = mca_base_component_var_register(component, name, help, type, NULL, 0, 0,
						    OPAL_INFO_LVL_3, MCA_BASE_VAR_SCOPE_READONLY,
						    storage);

	return index < 0 ? index : OMPI_SUCCESS;
}

static int parameters_register_setting(const mca_base_component_t *component,
				       enum cm_setting setting)
{
	const char *name = cm_setting_names[setting] + strlen(PREFIX);
	const char *help = parameters_help[setting];

	return parameters_is_flag(setting) ?
	       parameters_register_one(component, name, help, MCA_BASE_VAR_TYPE_BOOL,
				       &parameters_flag[setting]) :
	       parameters_register_one(component, name, help, MCA_BASE_VAR_TYPE_STRING,
				       &parameters_text[setting]);
}

int cm_parameters_register(const mca_base_component_t *component)
{
	enum cm_setting setting;
	int err;

	err = parameters_register_one(component, "priority",
				      "Priority of the component, which must be the highest; 0: not used",
				      MCA_BASE_VAR_TYPE_INT, &parameters_priority);
	for (setting = 0; !err && setting < CM_SETTINGS; setting++)
		err = parameters_register_setting(component, setting);
	return err;
}
