/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A program's data, which is packed without gaps for sending */
#ifndef COLLSOCK_MPI_DATA_H
#define COLLSOCK_MPI_DATA_H

#include <stddef.h>

#include "types.h"

/**
 * struct cm_data - elements as the program describes them
 * @buffer: where they are; never MPI_IN_PLACE
 * @count: number of elements
 * @datatype: of each
 * @predefined: what is known of the datatype; NULL if it is derived
 * @bytes: total size without gaps
 */
struct cm_data {
	void			*buffer;
	MPI_Count		count;
	MPI_Datatype		datatype;
	const struct cm_type	*predefined;
	MPI_Count		bytes;
};

/* False if the arguments are invalid: the underlying MPI reports that. */
bool cm_data_describe(struct cm_data *data, const void *buffer, MPI_Count count,
		      MPI_Datatype datatype);

/* Can the elements be sent as they are in memory? */
static inline bool cm_data_plain(const struct cm_data *data)
{
	return data->predefined && !data->predefined->index_offset;
}

/*
 * Describe elements of a derived datatype relative to @base, as one element of @type, which
 * is committed, freed by the caller, and may outlive @data->datatype. It is
 * MPI_DATATYPE_NULL for elements of a predefined datatype. Returns an MPI error code.
 */
int cm_data_seen_from(const struct cm_data *data, void *base, MPI_Datatype *type);

/*
 * @packed has @data->bytes bytes; @type is relative to it, and is not freed. Both return an
 * MPI error code.
 */
int cm_data_pack(const struct cm_data *data, void *packed, MPI_Datatype type);
int cm_data_unpack(const struct cm_data *data, void *packed, MPI_Datatype type);

#endif
