/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A program's data, which travels without gaps. */
#ifndef COLLSOCK_MPI_DATA_H
#define COLLSOCK_MPI_DATA_H

#include <stddef.h>

#include "kinds.h"

/**
 * struct cm_data - elements as the program describes them
 * @buffer: where they are; never MPI_IN_PLACE
 * @count: of elements
 * @datatype: of each
 * @kind: of it, or NULL for a derived one
 * @bytes: of all, without gaps
 */
struct cm_data {
	void			*buffer;
	MPI_Count		count;
	MPI_Datatype		datatype;
	const struct cm_kind	*kind;
	MPI_Count		bytes;
};

/* False if the arguments make no sense: MPI shall say so. */
bool cm_data_describe(struct cm_data *data, const void *buffer, MPI_Count count,
		      MPI_Datatype datatype);

/* Do the elements lie in memory as they travel? */
static inline bool cm_data_plain(const struct cm_data *data)
{
	return data->kind && !data->kind->index_offset;
}

/*
 * How elements of a derived datatype lie seen from @base, as one element of @type: it is
 * committed, the caller's to free, and outlives @data->datatype. MPI_DATATYPE_NULL for a
 * predefined one. An MPI error code.
 */
int cm_data_seen_from(const struct cm_data *data, void *base, MPI_Datatype *type);

/*
 * @packed has @data->bytes bytes; @type is as seen from it, and is not freed. Both return
 * an MPI error code.
 */
int cm_data_pack(const struct cm_data *data, void *packed, MPI_Datatype type);
int cm_data_unpack(const struct cm_data *data, void *packed, MPI_Datatype type);

#endif
