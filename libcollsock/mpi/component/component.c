// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A component of Open MPI's framework for collectives, which Open MPI loads */
#include "ompi.h"

#include "nbc.h"
#include "parameters.h"
#include "poster.h"
#include "select.h"
#include "settings.h"
#include "summary.h"

static int component_register(void);
static int component_close(void);

/* Internal structures are those of the release series whose headers it is built with. */
static int component_open(void)
{
	char built_for[32], running[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	int length;

	snprintf(built_for, sizeof(built_for), "Open MPI v%d.%d.", OMPI_MAJOR_VERSION,
		 OMPI_MINOR_VERSION);
	PMPI_Get_library_version(running, &length);
	return strncmp(running, built_for, strlen(built_for)) ? OMPI_ERR_NOT_AVAILABLE :
	       OMPI_SUCCESS;
}

static int component_init_query(bool progress_threads, bool threads)
{
	(void)progress_threads;
	(void)threads;
	return OMPI_SUCCESS;
}

__attribute__((visibility("default")))
mca_coll_base_component_t mca_coll_collsock_component = {
	.collm_version = {
		MCA_COLL_BASE_VERSION_2_0_0,
		.mca_component_name = "collsock",
		MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION,
				      OMPI_RELEASE_VERSION),
		.mca_open_component = component_open,
		.mca_close_component = component_close,
		.mca_register_component_params = component_register,
	},
	.collm_data = {
		MCA_BASE_METADATA_PARAM_CHECKPOINT
	},
	.collm_init_query = component_init_query,
	.collm_comm_query = cm_select_query,
};

static int component_register(void)
{
	return cm_parameters_register(&mca_coll_collsock_component.collm_version);
}

/* In MPI_Finalize, when all ranks are there and communicators have been freed. */
static int component_close(void)
{
	int rank = cm_select_world_rank();

	if (rank < 0)
		return OMPI_SUCCESS;
	cm_poster_stop();
	cm_nbc_end();
	if (cm_settings.summary && !rank)
		cm_summary_print();
	return OMPI_SUCCESS;
}
