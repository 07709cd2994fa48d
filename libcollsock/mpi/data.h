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
 * @predefined: description of the datatype; NULL if it is derived
 * @bytes: total size without gaps
 */
struct cm_data {
	void			*buffer;
	MPI_Count		count;
	MPI_Datatype		datatype;
	const struct cm_type	*predefined;
	MPI_Count		bytes;
};

/**
 * struct cm_parts - where the blocks of an allgather are, if they are not consecutive
 * @ranks: number of blocks
 * @block: bytes of each as it is sent, which may be more than it has
 * @part: a block
 * @part.count: number of elements
 * @part.bytes: their size without gaps
 * @part.place: distance in memory from the buffer
 */
struct cm_parts {
	unsigned int	ranks;
	__u32		block;
	struct {
		int		count;
		__u32		bytes;
		MPI_Aint	place;
	}		part[];
};

/* False if the arguments are invalid: the underlying MPI reports that. */
bool cm_data_describe(struct cm_data *data, const void *buffer, MPI_Count count,
		      MPI_Datatype datatype);

/* In derived datatypes addresses may be absolute. */
static inline bool cm_data_has_place(const struct cm_data *data)
{
	return data->buffer != MPI_IN_PLACE &&
	       (data->buffer || !data->predefined || !data->bytes);
}

/* As cm_data_describe(), if all but the buffer is the same as of @other. */
static inline bool cm_data_elsewhere(struct cm_data *data, const struct cm_data *other,
				     const void *buffer)
{
	*data = *other;
	data->buffer = (void *)buffer;
	return cm_data_has_place(data);
}

/* Bytes from one element to the next in memory. Returns an MPI error code. */
int cm_data_extent(MPI_Datatype datatype, MPI_Aint *extent);

/*
 * The elements that follow @distance bytes after these. Addresses may be absolute, so this
 * is not a pointer's arithmetic.
 */
static inline void cm_data_move(struct cm_data *data, MPI_Aint distance)
{
	data->buffer = (void *)((MPI_Aint)data->buffer + distance);
}

/* @times as many elements. There is a limit of bytes, so this cannot overflow. */
static inline void cm_data_repeat(struct cm_data *data, int times)
{
	data->count *= times;
	data->bytes *= times;
}

/* Can the elements be sent as they are in memory? */
static inline bool cm_data_plain(const struct cm_data *data)
{
	return data->predefined && !data->predefined->index_offset;
}

/*
 * Describe where elements are to be unpacked, relative to @base: as one element of @type,
 * which is committed, freed by the caller, and may outlive @data->datatype. With @parts,
 * of any datatype; otherwise MPI_DATATYPE_NULL for elements of a predefined one. Returns an
 * MPI error code.
 */
int cm_data_describe_from(const struct cm_data *data, const struct cm_parts *parts, void *base,
			  MPI_Datatype *type);

/* @packed has room for @data->bytes. Returns an MPI error code. */
int cm_data_pack(const struct cm_data *data, void *packed);

/*
 * The same back; @type is what was described relative to @packed, and is not freed. With
 * @parts, @packed has a block for each.
 */
int cm_data_unpack(const struct cm_data *data, const struct cm_parts *parts, void *packed,
		   MPI_Datatype type);

#endif
