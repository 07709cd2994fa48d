// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Pairs are packed here, derived datatypes by MPI. In a broadcast ranks may describe the
 * same bytes by different datatypes, so derived ones are packed and are never a reason to
 * pass a call on: the other ranks cannot know about them.
 */
#include <limits.h>
#include <string.h>

#include "data.h"
#include "progress.h"

/* In derived datatypes addresses may be absolute. */
static bool data_has_place(const struct cm_data *d)
{
	return d->buffer != MPI_IN_PLACE && (d->buffer || !d->predefined || !d->bytes);
}

bool cm_data_describe(struct cm_data *d, const void *buffer, MPI_Count count,
		      MPI_Datatype datatype)
{
	MPI_Count bytes = 0;

	d->buffer = (void *)buffer;
	d->count = count;
	d->datatype = datatype;
	d->predefined = cm_type_of(datatype);
	if (count < 0 || datatype == MPI_DATATYPE_NULL)
		return false;
	if (d->predefined)
		bytes = d->predefined->bytes;
	else if (PMPI_Type_size_x(datatype, &bytes) || bytes < 0)
		return false;
	/* No buffer is that large, and no call with that much data is taken. */
	if (bytes && count > LLONG_MAX / bytes)
		return false;
	d->bytes = count * bytes;
	return data_has_place(d);
}

static void data_pack_pairs(const struct cm_data *d, char *packed)
{
	const struct cm_type *k = d->predefined;
	const __u32 value = k->bytes - sizeof(int);
	const char *pair = d->buffer;
	MPI_Count i;

	for (i = 0; i < d->count; i++, pair += k->extent, packed += k->bytes) {
		memcpy(packed, pair, value);
		memcpy(packed + value, pair + k->index_offset, sizeof(int));
	}
}

static void data_unpack_pairs(const struct cm_data *d, const char *packed)
{
	const struct cm_type *k = d->predefined;
	const __u32 value = k->bytes - sizeof(int);
	char *pair = d->buffer;
	MPI_Count i;

	for (i = 0; i < d->count; i++, pair += k->extent, packed += k->bytes) {
		memcpy(pair, packed, value);
		memcpy(pair + k->index_offset, packed + value, sizeof(int));
	}
}

/*
 * MPICH packs nothing from MPI_BOTTOM if a datatype has absolute addresses, so elements are
 * described relative to a buffer. Unlike a duplicate, the new datatype has no attributes of
 * the program's.
 */
int cm_data_seen_from(const struct cm_data *d, void *base, MPI_Datatype *type)
{
	MPI_Aint distance = (MPI_Aint)d->buffer - (MPI_Aint)base;
	int err, count = d->count;

	*type = MPI_DATATYPE_NULL;
	if (d->predefined)
		return MPI_SUCCESS;
	err = PMPI_Type_create_hindexed(1, &count, &distance, d->datatype, type);
	return err ? err : PMPI_Type_commit(type);
}

int cm_data_pack(const struct cm_data *d, void *packed, MPI_Datatype type)
{
	int position = 0;

	if (!d->predefined)
		return PMPI_Pack(packed, 1, type, packed, d->bytes, &position, cm_progress_comm);
	if (d->predefined->index_offset)
		data_pack_pairs(d, packed);
	else
		memcpy(packed, d->buffer, d->bytes);
	return MPI_SUCCESS;
}

int cm_data_unpack(const struct cm_data *d, void *packed, MPI_Datatype type)
{
	int position = 0;

	if (!d->predefined)
		return PMPI_Unpack(packed, d->bytes, &position, packed, 1, type, cm_progress_comm);
	if (d->predefined->index_offset)
		data_unpack_pairs(d, packed);
	else
		memcpy(d->buffer, packed, d->bytes);
	return MPI_SUCCESS;
}
