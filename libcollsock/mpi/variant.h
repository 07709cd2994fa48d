/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Names of the preloaded library or the component of Open MPI in its messages */
#ifndef COLLSOCK_MPI_VARIANT_H
#define COLLSOCK_MPI_VARIANT_H

/**
 * struct cm_variant - words for messages
 * @name: what users install
 * @suspicion: why some ranks may not answer, as a question
 * @require: the setting because of which a communicator must join
 */
struct cm_variant {
	const char *name;
	const char *suspicion;
	const char *require;
};

extern const struct cm_variant cm_variant;

#endif
