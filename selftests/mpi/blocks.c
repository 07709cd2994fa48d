// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"

#define GAP 0xa5

static const char *const blocks_names[] = { "allgather", "allgatherv", "gather", "scatter" };

static bool is_root(const struct blocks *b)
{
	return b->in->rank == b->root;
}

static bool is_rooted(const struct blocks *b)
{
	return b->kind == BLOCKS_GATHER || b->kind == BLOCKS_SCATTER;
}

/* Whose blocks a rank has in each buffer: all, its own, or none */
static bool sends_all(const struct blocks *b)
{
	return b->kind == BLOCKS_SCATTER && is_root(b);
}

static bool sends_own(const struct blocks *b)
{
	return b->kind != BLOCKS_SCATTER && !b->is_in_place;
}

static bool receives_all(const struct blocks *b)
{
	return b->kind != BLOCKS_SCATTER && (!is_rooted(b) || is_root(b));
}

static bool receives_own(const struct blocks *b)
{
	return b->kind == BLOCKS_SCATTER && !b->is_in_place;
}

/* ---- buffers ---- */

static size_t block_offset(const struct blocks_side *side, unsigned int block)
{
	return side->place[block] * (size_t)side->stride;
}

/* The elements of a block, whose values follow from the seed and its rank */
static void put_block(const struct blocks *b, const struct blocks_side *side,
		      unsigned char *buffer, unsigned int block, int rank)
{
	unsigned char *at = buffer + block_offset(side, block);
	unsigned int i;

	for (i = 0; i < side->units[block]; i++, at += side->stride)
		layout_put(&side->unit, at, mix(b->seed, rank, 7), i * side->unit.elements);
}

static void allocate_buffer(struct blocks_side *side)
{
	unsigned int i;

	side->bytes = 0;
	for (i = 0; i < side->blocks; i++) {
		size_t end = block_offset(side, i) + side->units[i] * (size_t)side->stride +
			     side->unit.bytes;

		side->bytes = end > side->bytes ? end : side->bytes;
	}
	side->buffer = allocate(side->bytes);
	memset(side->buffer, GAP, side->bytes);
}

/* ---- making one ---- */

/* @elements: of a unit, of which the blocks have @units each */
static void make_side(struct blocks_side *side, const struct signature *signature,
		      unsigned int elements, unsigned int blocks, struct random *random)
{
	MPI_Aint lower;

	layout_make(&side->unit, signature, elements, random);
	CHECK_MPI(MPI_Type_get_extent(side->unit.type, &lower, &side->stride));
	side->stride *= side->unit.count;
	side->blocks = blocks;
	side->units = allocate(blocks * sizeof(*side->units));
	side->place = allocate(blocks * sizeof(*side->place));
}

/* Consecutive, or in any other order and with gaps, which only an allgatherv can have */
static void place_blocks(struct blocks_side *side, bool apart, struct random *random)
{
	bool backwards = apart && random_below(random, 2);
	unsigned int i, block, next = 0;

	for (i = 0; i < side->blocks; i++) {
		block = backwards ? side->blocks - 1 - i : i;
		side->place[block] = next;
		next += side->units[block] + (apart ? random_below(random, 3) : 0);
	}
}

/* MPICH 4.0 leaves parts of the buffer of a long MPI_Iallgatherv as they were. */
static unsigned int random_units(struct random *random)
{
	bool is_long = strict && random_one_in(random, 12);

	return random_below(random, is_long ? 200 : 4);
}

/* The blocks of all ranks; in an allgatherv of different lengths, some of them empty */
static void make_units(const struct blocks *b, unsigned int *units, struct random *common)
{
	unsigned int all = 1 + random_below(common, 3);
	int i;

	for (i = 0; i < b->in->size; i++)
		units[i] = b->kind == BLOCKS_ALLGATHERV ? random_units(common) : all;
}

static void make_own(struct blocks_side *side, const struct signature *signature,
		     unsigned int elements, unsigned int units, struct random *random)
{
	make_side(side, signature, elements, 1, random);
	side->units[0] = units;
	place_blocks(side, false, random);
}

static void make_all(const struct blocks *b, struct blocks_side *side,
		     const struct signature *signature, unsigned int elements,
		     const unsigned int *units, struct random *random)
{
	make_side(side, signature, elements, b->in->size, random);
	memcpy(side->units, units, b->in->size * sizeof(*units));
	place_blocks(side, b->kind == BLOCKS_ALLGATHERV, random);
}

static void fill_buffers(struct blocks *b)
{
	int i;

	allocate_buffer(&b->from);
	allocate_buffer(&b->to);
	if (sends_own(b))
		put_block(b, &b->from, b->from.buffer, 0, b->in->rank);
	for (i = 0; sends_all(b) && i < b->in->size; i++)
		put_block(b, &b->from, b->from.buffer, i, i);
	if (b->is_in_place && receives_all(b))
		put_block(b, &b->to, b->to.buffer, b->in->rank, b->in->rank);
}

/* MPI wants their arrays in two forms. */
static void make_arguments(struct blocks *b)
{
	unsigned int i;

	b->counts = allocate(b->to.blocks * sizeof(MPI_Count));
	b->places = allocate(b->to.blocks * sizeof(MPI_Aint));
	for (i = 0; i < b->to.blocks; i++) {
		if (b->is_large) {
			((MPI_Count *)b->counts)[i] = b->to.units[i] * b->to.unit.count;
			((MPI_Aint *)b->places)[i] = b->to.place[i] * b->to.unit.count;
		} else {
			((int *)b->counts)[i] = b->to.units[i] * b->to.unit.count;
			((int *)b->places)[i] = b->to.place[i] * b->to.unit.count;
		}
	}
}

/*
 * Of 16 ranks the root of a long MPI_Gather at times fails in MPICH 4.0, as a message is longer
 * than it expects, and that of an MPI_Igather keeps blocks as they were.
 */
static bool may_be_long(enum blocks_kind kind)
{
#ifdef MPICH_VERSION
	if (kind == BLOCKS_GATHER)
		return strict;
#endif
	return strict || kind != BLOCKS_ALLGATHERV;
}

/*
 * In MPICH 4.0 a rank that describes no data by a count of 0 does not wait for one that
 * describes it by an empty datatype, which waits indefinitely.
 */
static unsigned int random_elements(struct random *common, enum blocks_kind kind)
{
	bool is_long = random_one_in(common, 15) && may_be_long(kind);
	unsigned int elements = is_long ? random_below(common, 1000) :
							    random_below(common, 6);

	return elements || strict ? elements : 1;
}

/*
 * MPI allows each rank to describe the elements differently. The algorithm that Open MPI 4.1
 * chooses for an allgatherv depends on the datatype of what is sent, so that its ranks must
 * agree on that.
 */
#ifdef OPEN_MPI
#define DATATYPES_MAY_DIFFER(kind) (strict || (kind) != BLOCKS_ALLGATHERV)
#else
#define DATATYPES_MAY_DIFFER(kind) true
#endif

void blocks_make(struct blocks *b, const struct communicator *in, enum blocks_kind kind,
		 int root, struct random *common, struct random *own)
{
	const struct signature *signature = signature_random(common);
	unsigned int elements = random_elements(common, kind);
	unsigned int *units = allocate(in->size * sizeof(*units));
	bool differ = DATATYPES_MAY_DIFFER(kind);
	struct random layouts = { random_bits(differ ? own : common) };

	*b = (struct blocks){ .in = in, .kind = kind, .root = root, .seed = random_bits(common) };
	b->is_in_place = random_one_in(common, 3) && (!is_rooted(b) || is_root(b));
#if MPI_VERSION >= 4
	b->is_large = random_below(own, 2);
#endif
	make_units(b, units, common);
	if (kind == BLOCKS_SCATTER) {
		make_all(b, &b->from, signature, elements, units, &layouts);
		make_own(&b->to, signature, elements * units[0], 1, &layouts);
	} else {
		/* A block may be described as one unit, too. */
		if (differ)
			make_own(&b->from, signature, elements * units[in->rank], 1, &layouts);
		else
			make_own(&b->from, signature, elements, units[in->rank], &layouts);
		make_all(b, &b->to, signature, elements, units, &layouts);
	}
	free(units);
	fill_buffers(b);
	make_arguments(b);
}

/* ---- calling MPI ---- */

#if MPI_VERSION >= 4
#define CALL(function, ...) (b->is_large ? function##_c(__VA_ARGS__) : function(__VA_ARGS__))
#else
#define CALL(function, ...) function(__VA_ARGS__)
#endif
#define POST(blocking, nonblocking, ...) \
	CHECK_MPI(request ? CALL(nonblocking, __VA_ARGS__, request) : CALL(blocking, __VA_ARGS__))

void blocks_post(struct blocks *b, MPI_Request *request)
{
	const int from_count = b->from.units[0] * b->from.unit.count;
	const int to_count = b->to.units[0] * b->to.unit.count;
	const bool from_place = b->is_in_place && b->kind != BLOCKS_SCATTER;
	const bool to_place = b->is_in_place && b->kind == BLOCKS_SCATTER;
	const void *from = from_place ? MPI_IN_PLACE : b->from.buffer;
	void *to = to_place ? MPI_IN_PLACE : b->to.buffer;
	MPI_Datatype from_type = b->from.unit.type, to_type = b->to.unit.type;
	MPI_Comm comm = b->in->comm;

	switch (b->kind) {
	case BLOCKS_ALLGATHER:
		POST(MPI_Allgather, MPI_Iallgather, from, from_count, from_type, to,
		     to_count, to_type, comm);
		break;
	case BLOCKS_ALLGATHERV:
		POST(MPI_Allgatherv, MPI_Iallgatherv, from, from_count, from_type, to, b->counts,
		     b->places, to_type, comm);
		break;
	case BLOCKS_GATHER:
		POST(MPI_Gather, MPI_Igather, from, from_count, from_type, to,
		     to_count, to_type, b->root, comm);
		break;
	default:
		POST(MPI_Scatter, MPI_Iscatter, from, from_count, from_type, to,
		     to_count, to_type, b->root, comm);
	}
}

void blocks_free_types(struct blocks *b)
{
	layout_free_type(&b->from.unit);
	layout_free_type(&b->to.unit);
}

/* ---- checking the result ---- */

static bool buffer_right(const char *name, const unsigned char *found,
			 const unsigned char *wanted, size_t bytes, char *text, size_t room)
{
	size_t i;

	for (i = 0; i < bytes && found[i] == wanted[i]; i++)
		;
	if (i < bytes)
		snprintf(text, room, "byte %zu of %zu of the %s buffer is %02x, not %02x", i,
			 bytes, name, found[i], wanted[i]);
	return i == bytes;
}

/* With all gaps, and all that this rank was not sent, unchanged. */
bool blocks_right(const struct blocks *b, char *text, size_t room)
{
	unsigned char *from = allocate(b->from.bytes), *to = allocate(b->to.bytes);
	bool right;
	int i;

	memset(from, GAP, b->from.bytes);
	memset(to, GAP, b->to.bytes);
	for (i = 0; sends_all(b) && i < b->in->size; i++)
		put_block(b, &b->from, from, i, i);
	if (sends_own(b))
		put_block(b, &b->from, from, 0, b->in->rank);
	for (i = 0; receives_all(b) && i < b->in->size; i++)
		put_block(b, &b->to, to, i, i);
	if (receives_own(b))
		put_block(b, &b->to, to, 0, b->in->rank);
	right = buffer_right("send", b->from.buffer, from, b->from.bytes, text, room) &&
		buffer_right("receive", b->to.buffer, to, b->to.bytes, text, room);
	free(from);
	free(to);
	return right;
}

void blocks_describe(const struct blocks *b, char *text, size_t room)
{
	snprintf(text, room, "%s of %u %s for rank 0, %s here, %s there%s%s", blocks_names[b->kind],
		 b->to.units[0] * b->to.unit.elements, b->to.unit.signature->name,
		 b->from.unit.name, b->to.unit.name, b->is_in_place ? ", in place" : "",
		 b->is_large ? ", large counts" : "");
}

static void free_side(struct blocks_side *side)
{
	layout_free(&side->unit);
	free(side->units);
	free(side->place);
	free(side->buffer);
}

void blocks_free(struct blocks *b)
{
	free_side(&b->from);
	free_side(&b->to);
	free(b->counts);
	free(b->places);
}
