// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layouts.h"

#define GAP 0xa5
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* The layout of an element: offsets of its parts, and its extent */
struct shape {
	int offset[PARTS_MAX];
	int extent;
};

const struct signature *signature_random(struct random *random)
{
	static struct signature signatures[6];

	if (!signatures[0].parts) {
		const struct signature all[ARRAY_SIZE(signatures)] = {
			{ "bytes", 1, { MPI_BYTE }, { 1 } },
			{ "chars", 1, { MPI_CHAR }, { sizeof(char) } },
			{ "shorts", 1, { MPI_SHORT }, { sizeof(short) } },
			{ "ints", 1, { MPI_INT }, { sizeof(int) } },
			{ "doubles", 1, { MPI_DOUBLE }, { sizeof(double) } },
			{ "ints and doubles", 2, { MPI_INT, MPI_DOUBLE },
			  { sizeof(int), sizeof(double) } },
		};

		memcpy(signatures, all, sizeof(all));
	}
	return &signatures[random_below(random, ARRAY_SIZE(signatures))];
}

/* Two parts as in C, without a gap, or in reverse order */
static MPI_Datatype element_make(const struct signature *signature, struct random *random,
				 struct shape *shape)
{
	static const struct shape shapes[] = {
		{ { 0, 8 }, 16 }, { { 0, 4 }, 12 }, { { 8, 0 }, 12 }, { { 16, 4 }, 24 },
	};
	MPI_Datatype type, resized;
	MPI_Aint displacements[PARTS_MAX];
	int lengths[PARTS_MAX] = { 1, 1 };

	if (signature->parts == 1) {
		*shape = (struct shape){ { 0 }, signature->part_bytes[0] };
		return signature->part[0];
	}
	*shape = shapes[random_below(random, ARRAY_SIZE(shapes))];
	displacements[0] = shape->offset[0];
	displacements[1] = shape->offset[1];
	CHECK_MPI(MPI_Type_create_struct(2, lengths, displacements, signature->part, &type));
	CHECK_MPI(MPI_Type_create_resized(type, 0, shape->extent, &resized));
	CHECK_MPI(MPI_Type_free(&type));
	return resized;
}

/* Consecutive elements */
static void make_plain(struct layout *layout, MPI_Datatype element, const struct shape *shape,
		       unsigned int blocks)
{
	unsigned int i;

	layout->name = blocks ? "contiguous" : "basic";
	if (blocks) {
		CHECK_MPI(MPI_Type_contiguous(layout->elements, element, &layout->type));
		layout->count = 1;
	} else {
		CHECK_MPI(MPI_Type_dup(element, &layout->type));
		layout->count = layout->elements;
	}
	for (i = 0; i < layout->elements; i++)
		layout->element_offset[i] = i * shape->extent;
}

/* Blocks of one or two elements with gaps between them. */
static void make_vector(struct layout *layout, MPI_Datatype element, const struct shape *shape)
{
	unsigned int length = layout->elements % 2 ? 1 : 2, i;

	layout->name = "vector";
	CHECK_MPI(MPI_Type_vector(layout->elements / length, length, length + 1, element,
				  &layout->type));
	layout->count = 1;
	for (i = 0; i < layout->elements; i++)
		layout->element_offset[i] = (i / length * (length + 1) + i % length) *
					    shape->extent;
}

/* Separate elements, each followed by a gap */
static void make_resized(struct layout *layout, MPI_Datatype element, const struct shape *shape)
{
	unsigned int i;

	layout->name = "resized";
	CHECK_MPI(MPI_Type_create_resized(element, 0, 3 * shape->extent, &layout->type));
	layout->count = layout->elements;
	for (i = 0; i < layout->elements; i++)
		layout->element_offset[i] = i * 3 * shape->extent;
}

/* The last element is the first in memory. */
static void make_reversed(struct layout *layout, MPI_Datatype element, const struct shape *shape)
{
	int *places = allocate(layout->elements * sizeof(*places));
	unsigned int i;

	layout->name = "reversed";
	for (i = 0; i < layout->elements; i++) {
		places[i] = layout->elements - 1 - i;
		layout->element_offset[i] = places[i] * shape->extent;
	}
	CHECK_MPI(MPI_Type_create_indexed_block(layout->elements, 1, places, element,
						&layout->type));
	layout->count = 1;
	free(places);
}

/* Structures of two elements, the second before the first. */
static void make_struct(struct layout *layout, MPI_Datatype element, const struct shape *shape)
{
	MPI_Aint places[] = { 2 * shape->extent, 0 };
	MPI_Datatype types[] = { element, element }, type;
	int lengths[] = { 1, 1 };
	unsigned int i;

	layout->name = "struct";
	CHECK_MPI(MPI_Type_create_struct(2, lengths, places, types, &type));
	CHECK_MPI(MPI_Type_create_resized(type, 0, 5 * shape->extent, &layout->type));
	CHECK_MPI(MPI_Type_free(&type));
	layout->count = layout->elements / 2;
	for (i = 0; i < layout->elements; i++)
		layout->element_offset[i] = i / 2 * 5 * shape->extent + places[i % 2];
}

void layout_make(struct layout *layout, const struct signature *signature,
		 unsigned int elements, struct random *random)
{
	unsigned int kind = random_below(random, 6), i;
	struct shape shape;
	MPI_Datatype element = element_make(signature, random, &shape);

	*layout = (struct layout){ .signature = signature, .elements = elements };
	layout->element_offset = allocate(elements * sizeof(int));
	memcpy(layout->part_offset, shape.offset, sizeof(shape.offset));
	if (kind == 2)
		make_vector(layout, element, &shape);
	else if (kind == 3)
		make_resized(layout, element, &shape);
	else if (kind == 4)
		make_reversed(layout, element, &shape);
	else if (kind == 5 && elements % 2 == 0)
		make_struct(layout, element, &shape);
	else
		make_plain(layout, element, &shape, kind == 1);
	if (signature->parts > 1)
		CHECK_MPI(MPI_Type_free(&element));
	if (signature->parts == 1 && kind == 0) {
		/* The predefined type itself */
		CHECK_MPI(MPI_Type_free(&layout->type));
		layout->type = element;
	} else {
		CHECK_MPI(MPI_Type_commit(&layout->type));
		layout->free_type = true;
	}
	for (i = 0; i < elements; i++) {
		size_t end = layout->element_offset[i] + 3 * shape.extent;

		layout->bytes = end > layout->bytes ? end : layout->bytes;
	}
}

void layout_free_type(struct layout *layout)
{
	if (layout->free_type)
		CHECK_MPI(MPI_Type_free(&layout->type));
	layout->free_type = false;
}

void layout_free(struct layout *layout)
{
	layout_free_type(layout);
	free(layout->element_offset);
}

void layout_clear(const struct layout *layout, void *buffer)
{
	memset(buffer, GAP, layout->bytes);
}

void layout_put(const struct layout *layout, void *buffer, __u64 seed, unsigned int first)
{
	const struct signature *signature = layout->signature;
	unsigned int i, part;

	for (i = 0; i < layout->elements; i++) {
		for (part = 0; part < signature->parts; part++) {
			__u64 bits = mix(seed, first + i, part);

			size_t at = layout->element_offset[i] + layout->part_offset[part];

			memcpy((char *)buffer + at, &bits, signature->part_bytes[part]);
		}
	}
}

void layout_fill(const struct layout *layout, void *buffer, __u64 seed)
{
	layout_clear(layout, buffer);
	layout_put(layout, buffer, seed, 0);
}

bool layout_right(const struct layout *layout, const void *buffer, __u64 seed, char *text,
		  size_t room)
{
	unsigned char *wanted = allocate(layout->bytes);
	const unsigned char *found = buffer;
	size_t i;

	layout_fill(layout, wanted, seed);
	for (i = 0; i < layout->bytes && found[i] == wanted[i]; i++)
		;
	if (i < layout->bytes)
		snprintf(text, room, "byte %zu of %zu is %02x, not %02x", i, layout->bytes,
			 found[i], wanted[i]);
	free(wanted);
	return i == layout->bytes;
}
