// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Two datatypes are equivalent in a reduction if their family and width are: MPI_LONG is
 * MPI_INT64_T. MPI 4.0, 6.9.2 and 6.9.4, defines which operators a family has; the
 * underlying MPI refuses all others.
 */
#include <stddef.h>

#include "types.h"
#include "settings.h"
#include "underlying.h"

#define BIT(op) (1U << (op))

#define ARITHMETIC (BIT(COLLSOCK_SUM) | BIT(COLLSOCK_PRODUCT) | BIT(COLLSOCK_MIN) | \
		    BIT(COLLSOCK_MAX))
#define LOGICAL (BIT(COLLSOCK_LOGICAL_AND) | BIT(COLLSOCK_LOGICAL_OR) | BIT(COLLSOCK_LOGICAL_XOR))
#define BITWISE (BIT(COLLSOCK_BITWISE_AND) | BIT(COLLSOCK_BITWISE_OR) | BIT(COLLSOCK_BITWISE_XOR))
#define LOCATING (BIT(COLLSOCK_MINLOC) | BIT(COLLSOCK_MAXLOC))

enum type_family {
	RAW,		/* broadcast only */
	SIGNED,		/* of C */
	UNSIGNED,
	OTHER_INTEGER,	/* of Fortran, and addresses: no logical operators */
	FLOATING,
	BOOLEAN,
	BYTES,
	PAIR,
};

#define MOST_TYPES 96

/**
 * struct type_entry - a predefined datatype
 * @datatype: its handle
 * @type: its description
 */
struct type_entry {
	MPI_Datatype	datatype;
	struct cm_type	type;
};

static struct type_entry type_entries[MOST_TYPES];
static unsigned int type_count;

/* Indexed by the logarithm of the width */
static unsigned int type_step(unsigned int bytes)
{
	return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
}

static enum collsock_type type_number(enum type_family family, unsigned int bytes)
{
	static const enum collsock_type with_sign[] = {
		COLLSOCK_INT8, COLLSOCK_INT16, COLLSOCK_INT32, COLLSOCK_INT64,
	};
	static const enum collsock_type without_sign[] = {
		COLLSOCK_UINT8, COLLSOCK_UINT16, COLLSOCK_UINT32, COLLSOCK_UINT64,
	};

	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
		return COLLSOCK_NONE;
	switch (family) {
	case SIGNED:
	case OTHER_INTEGER:
		return with_sign[type_step(bytes)];
	case UNSIGNED:
	case BOOLEAN:
	case BYTES:
		return without_sign[type_step(bytes)];
	case FLOATING:
		return bytes == 8 ? COLLSOCK_DOUBLE : bytes == 4 ? COLLSOCK_FLOAT : COLLSOCK_NONE;
	default:
		return COLLSOCK_NONE;
	}
}

static __u32 type_operators(enum type_family family)
{
	switch (family) {
	case SIGNED:
	case UNSIGNED:
		return ARITHMETIC | LOGICAL | BITWISE;
	case OTHER_INTEGER:
		return ARITHMETIC | BITWISE;
	case FLOATING:
		return ARITHMETIC;
	case BOOLEAN:
		return LOGICAL;
	case BYTES:
		return BITWISE;
	default:
		return 0;
	}
}

/* Without Fortran, or without a width, MPI's datatype is null or empty. */
static void type_add(MPI_Datatype datatype, struct cm_type type)
{
	if (datatype == MPI_DATATYPE_NULL || !type.bytes || type_count == MOST_TYPES)
		return;
	type_entries[type_count].datatype = datatype;
	type_entries[type_count].type = type;
	type_count++;
}

static bool type_is_null(MPI_Datatype datatype)
{
	return datatype == MPI_DATATYPE_NULL;
}

static void type_add_plain(MPI_Datatype datatype, enum type_family family)
{
	int bytes = 0;

	if (type_is_null(datatype) || PMPI_Type_size(datatype, &bytes) || bytes <= 0)
		return;
	type_add(datatype, (struct cm_type){
		.type		= type_number(family, bytes),
		.operators	= type_operators(family),
		.bytes		= bytes,
		.extent		= bytes,
	});
}

/* A C structure of a value and an int, as compilers lay it out */
#define TYPE_ADD_PAIR(datatype, value, collsock_type) do { \
	struct pair { value v; int i; }; \
	const __u32 packed = sizeof(value) + sizeof(int); \
	type_add(datatype, (struct cm_type){ \
		.type		= collsock_type, \
		.operators	= LOCATING, \
		.bytes		= packed, \
		.extent		= sizeof(struct pair), \
		.index_offset	= sizeof(struct pair) == packed ? 0 : offsetof(struct pair, i), \
	}); \
} while (0)

static void type_add_c(void)
{
	type_add_plain(MPI_DOUBLE, FLOATING);
	type_add_plain(MPI_INT, SIGNED);
	type_add_plain(MPI_FLOAT, FLOATING);
	type_add_plain(MPI_LONG, SIGNED);
	type_add_plain(MPI_BYTE, BYTES);
	type_add_plain(MPI_CHAR, RAW);
	type_add_plain(MPI_SIGNED_CHAR, SIGNED);
	type_add_plain(MPI_SHORT, SIGNED);
	type_add_plain(MPI_LONG_LONG_INT, SIGNED);
	type_add_plain(MPI_UNSIGNED_CHAR, UNSIGNED);
	type_add_plain(MPI_UNSIGNED_SHORT, UNSIGNED);
	type_add_plain(MPI_UNSIGNED, UNSIGNED);
	type_add_plain(MPI_UNSIGNED_LONG, UNSIGNED);
	type_add_plain(MPI_UNSIGNED_LONG_LONG, UNSIGNED);
	type_add_plain(MPI_INT8_T, SIGNED);
	type_add_plain(MPI_INT16_T, SIGNED);
	type_add_plain(MPI_INT32_T, SIGNED);
	type_add_plain(MPI_INT64_T, SIGNED);
	type_add_plain(MPI_UINT8_T, UNSIGNED);
	type_add_plain(MPI_UINT16_T, UNSIGNED);
	type_add_plain(MPI_UINT32_T, UNSIGNED);
	type_add_plain(MPI_UINT64_T, UNSIGNED);
	type_add_plain(MPI_C_BOOL, BOOLEAN);
	type_add_plain(MPI_AINT, OTHER_INTEGER);
	type_add_plain(MPI_OFFSET, OTHER_INTEGER);
	type_add_plain(MPI_COUNT, OTHER_INTEGER);
	type_add_plain(MPI_WCHAR, RAW);
	type_add_plain(MPI_LONG_DOUBLE, RAW);
	type_add_plain(MPI_C_FLOAT_COMPLEX, RAW);
	type_add_plain(MPI_C_DOUBLE_COMPLEX, RAW);
	type_add_plain(MPI_C_LONG_DOUBLE_COMPLEX, RAW);
	type_add_plain(MPI_PACKED, RAW);
}

static void type_add_fortran(void)
{
	type_add_plain(MPI_INTEGER, OTHER_INTEGER);
	type_add_plain(MPI_INTEGER1, OTHER_INTEGER);
	type_add_plain(MPI_INTEGER2, OTHER_INTEGER);
	type_add_plain(MPI_INTEGER4, OTHER_INTEGER);
	type_add_plain(MPI_INTEGER8, OTHER_INTEGER);
	type_add_plain(MPI_REAL, FLOATING);
	type_add_plain(MPI_REAL4, FLOATING);
	type_add_plain(MPI_REAL8, FLOATING);
	type_add_plain(MPI_DOUBLE_PRECISION, FLOATING);
	type_add_plain(MPI_CHARACTER, RAW);
	type_add_plain(MPI_LOGICAL, RAW);
	type_add_plain(MPI_COMPLEX, RAW);
	type_add_plain(MPI_DOUBLE_COMPLEX, RAW);
}

static void type_add_pairs(void)
{
	int bytes = 0;

	TYPE_ADD_PAIR(MPI_FLOAT_INT, float, COLLSOCK_FLOAT_INT);
	TYPE_ADD_PAIR(MPI_DOUBLE_INT, double, COLLSOCK_DOUBLE_INT);
	TYPE_ADD_PAIR(MPI_LONG_INT, long,
		      sizeof(long) == 8 ? COLLSOCK_INT64_INT : COLLSOCK_INT32_INT);
	TYPE_ADD_PAIR(MPI_2INT, int, COLLSOCK_INT32_INT);
	TYPE_ADD_PAIR(MPI_SHORT_INT, short, COLLSOCK_INT16_INT);
	/* Two Fortran integers, which may be wider */
	if (!type_is_null(MPI_2INTEGER) && !PMPI_Type_size(MPI_2INTEGER, &bytes) &&
	    bytes == 2 * sizeof(int))
		TYPE_ADD_PAIR(MPI_2INTEGER, int, COLLSOCK_INT32_INT);
}

void cm_types_init(void)
{
	type_add_c();
	type_add_fortran();
	type_add_pairs();
}

static const struct cm_type *type_predefined(MPI_Datatype datatype)
{
	unsigned int i;

	for (i = 0; i < type_count; i++)
		if (type_entries[i].datatype == datatype)
			return &type_entries[i].type;
	return NULL;
}

/* The datatype of which this is a duplicate, or MPI_DATATYPE_NULL */
static MPI_Datatype type_duplicated(MPI_Datatype datatype)
{
	int integers, addresses, datatypes, combiner;
	MPI_Datatype original;

	if (PMPI_Type_get_envelope(datatype, &integers, &addresses, &datatypes, &combiner) ||
	    combiner != MPI_COMBINER_DUP ||
	    PMPI_Type_get_contents(datatype, 0, 0, 1, NULL, NULL, &original))
		return MPI_DATATYPE_NULL;
	return original;
}

/* The description of a duplicate is that of its original. */
static const struct cm_type *type_derived(MPI_Datatype datatype)
{
	const struct cm_type *type;
	MPI_Datatype original;

	if (datatype == MPI_DATATYPE_NULL || !cm_underlying_has_record(datatype))
		return NULL;
	original = type_duplicated(datatype);
	if (original == MPI_DATATYPE_NULL)
		return NULL;
	type = type_predefined(original);
	if (type)
		return type;
	/* For a derived datatype MPI has created a handle, which must be freed. */
	type = cm_type_of(original);
	PMPI_Type_free(&original);
	return type;
}

const struct cm_type *cm_type_of(MPI_Datatype datatype)
{
	const struct cm_type *type = type_predefined(datatype);

	return type ? type : type_derived(datatype);
}

enum collsock_operator cm_type_operator(MPI_Op op)
{
	static const struct {
		MPI_Op			mpi;
		enum collsock_operator	collsock;
	} operators[] = {
		{ MPI_SUM, COLLSOCK_SUM },
		{ MPI_MAX, COLLSOCK_MAX },
		{ MPI_MIN, COLLSOCK_MIN },
		{ MPI_PROD, COLLSOCK_PRODUCT },
		{ MPI_LAND, COLLSOCK_LOGICAL_AND },
		{ MPI_LOR, COLLSOCK_LOGICAL_OR },
		{ MPI_LXOR, COLLSOCK_LOGICAL_XOR },
		{ MPI_BAND, COLLSOCK_BITWISE_AND },
		{ MPI_BOR, COLLSOCK_BITWISE_OR },
		{ MPI_BXOR, COLLSOCK_BITWISE_XOR },
		{ MPI_MINLOC, COLLSOCK_MINLOC },
		{ MPI_MAXLOC, COLLSOCK_MAXLOC },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(operators); i++)
		if (operators[i].mpi == op)
			return operators[i].collsock;
	return COLLSOCK_NOP;
}
