// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Pairs are packed here, derived datatypes by MPI. Where nothing is combined, ranks may
 * describe the same bytes by different datatypes, so derived ones are packed and are never a
 * reason to pass a call on: the other ranks cannot know about them.
 */
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "underlying.h"

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
	/* No buffer is that large, and no call with that much data is handled. */
	if (__builtin_mul_overflow(count, bytes, &d->bytes))
		return false;
	return cm_data_has_place(d);
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

int cm_data_extent(MPI_Datatype datatype, MPI_Aint *extent)
{
	MPI_Aint lower;

	return PMPI_Type_get_extent(datatype, &lower, extent);
}

/* ---- derived datatypes ---- */

/*
 * MPICH packs nothing from MPI_BOTTOM if a datatype has absolute addresses, so elements are
 * described relative to a buffer. Unlike a duplicate, the new datatype has no attributes of
 * the program's.
 */
static int data_describe_whole(const struct cm_data *d, void *base, MPI_Datatype *type)
{
	MPI_Aint distance = (MPI_Aint)d->buffer - (MPI_Aint)base;
	int count = d->count;

	return cm_underlying_hindexed(1, &count, &distance, d->datatype, type);
}

static int data_describe_parts(const struct cm_data *d, const struct cm_parts *parts, void *base,
			       MPI_Datatype *type)
{
	MPI_Aint *places = calloc(parts->ranks, sizeof(*places));
	int *counts = calloc(parts->ranks, sizeof(*counts));
	int err = MPI_ERR_NO_MEM;
	unsigned int i;

	if (places && counts) {
		for (i = 0; i < parts->ranks; i++) {
			counts[i] = parts->part[i].count;
			places[i] = (MPI_Aint)d->buffer - (MPI_Aint)base + parts->part[i].place;
		}
		err = cm_underlying_hindexed(parts->ranks, counts, places, d->datatype, type);
	}
	free(places);
	free(counts);
	return err;
}

int cm_data_describe_from(const struct cm_data *d, const struct cm_parts *parts, void *base,
			  MPI_Datatype *type)
{
	int err;

	*type = MPI_DATATYPE_NULL;
	if (d->predefined && !parts)
		return MPI_SUCCESS;
	err = parts ? data_describe_parts(d, parts, base, type) :
		      data_describe_whole(d, base, type);
	return err ? err : PMPI_Type_commit(type);
}

/* ---- packing ---- */

static int data_pack_derived(const struct cm_data *d, void *packed)
{
	MPI_Datatype type;
	int err;

	err = cm_data_describe_from(d, NULL, packed, &type);
	if (!err)
		err = cm_underlying_pack(packed, type, packed, d->bytes);
	if (type != MPI_DATATYPE_NULL)
		PMPI_Type_free(&type);
	return err;
}

int cm_data_pack(const struct cm_data *d, void *packed)
{
	if (!d->predefined)
		return data_pack_derived(d, packed);
	if (d->predefined->index_offset)
		data_pack_pairs(d, packed);
	else
		memcpy(packed, d->buffer, d->bytes);
	return MPI_SUCCESS;
}

/* Remove the padding between blocks. */
static void data_join_parts(const struct cm_parts *parts, char *packed)
{
	char *end = packed;
	unsigned int i;

	for (i = 0; i < parts->ranks; i++) {
		memmove(end, packed + (size_t)i * parts->block, parts->part[i].bytes);
		end += parts->part[i].bytes;
	}
}

int cm_data_unpack(const struct cm_data *d, const struct cm_parts *parts, void *packed,
		   MPI_Datatype type)
{
	if (parts)
		data_join_parts(parts, packed);
	if (type != MPI_DATATYPE_NULL)
		return cm_underlying_unpack(packed, d->bytes, packed, type);
	if (d->predefined->index_offset)
		data_unpack_pairs(d, packed);
	else
		memcpy(d->buffer, packed, d->bytes);
	return MPI_SUCCESS;
}
