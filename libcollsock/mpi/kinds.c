// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Datatypes are the same for a reduction if kind and width are: MPI_LONG is MPI_INT64_T.
 * Which operators a kind has is told by MPI 4.0, 6.9.2 and 6.9.4; what MPI does not know
 * is left to it to refuse.
 */
#include <stddef.h>

#include "kinds.h"
#include "settings.h"

#define BIT(op) (1U << (op))

#define ARITHMETIC (BIT(COLLSOCK_SUM) | BIT(COLLSOCK_PRODUCT) | BIT(COLLSOCK_MIN) | \
		    BIT(COLLSOCK_MAX))
#define LOGICAL (BIT(COLLSOCK_LOGICAL_AND) | BIT(COLLSOCK_LOGICAL_OR) | BIT(COLLSOCK_LOGICAL_XOR))
#define BITWISE (BIT(COLLSOCK_BITWISE_AND) | BIT(COLLSOCK_BITWISE_OR) | BIT(COLLSOCK_BITWISE_XOR))
#define LOCATING (BIT(COLLSOCK_MINLOC) | BIT(COLLSOCK_MAXLOC))

enum family {
	RAW,		/* broadcast only */
	SIGNED,		/* of C */
	UNSIGNED,
	OTHER_INTEGER,	/* of Fortran, and addresses: no logical operators */
	FLOATING,
	BOOLEAN,
	BYTES,
	PAIR,
};

#define MOST_KINDS 96

/**
 * struct entry - a predefined datatype and its kind
 * @datatype: as programs name it
 * @kind: of it
 */
struct entry {
	MPI_Datatype	datatype;
	struct cm_kind	kind;
};

static struct entry entries[MOST_KINDS];
static unsigned int count;

/* By the logarithm of the width */
static unsigned int step_of(unsigned int bytes)
{
	return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
}

static enum collsock_type type_of(enum family family, unsigned int bytes)
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
		return with_sign[step_of(bytes)];
	case UNSIGNED:
	case BOOLEAN:
	case BYTES:
		return without_sign[step_of(bytes)];
	case FLOATING:
		return bytes == 8 ? COLLSOCK_DOUBLE : bytes == 4 ? COLLSOCK_FLOAT : COLLSOCK_NONE;
	default:
		return COLLSOCK_NONE;
	}
}

static __u32 operators_of(enum family family)
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

/* An MPI without Fortran, or without a width, has a null or empty datatype there. */
static void add(MPI_Datatype datatype, struct cm_kind kind)
{
	if (datatype == MPI_DATATYPE_NULL || !kind.bytes || count == MOST_KINDS)
		return;
	entries[count].datatype = datatype;
	entries[count].kind = kind;
	count++;
}

static bool is_null(MPI_Datatype datatype)
{
	return datatype == MPI_DATATYPE_NULL;
}

static void add_plain(MPI_Datatype datatype, enum family family)
{
	int bytes = 0;

	if (is_null(datatype) || PMPI_Type_size(datatype, &bytes) || bytes <= 0)
		return;
	add(datatype, (struct cm_kind){
		.type		= type_of(family, bytes),
		.operators	= operators_of(family),
		.bytes		= bytes,
		.extent		= bytes,
	});
}

/* A C structure of a value and an int, as compilers lay it out */
#define ADD_PAIR(datatype, value, collsock_type) do { \
	struct pair { value v; int i; }; \
	const __u32 packed = sizeof(value) + sizeof(int); \
	add(datatype, (struct cm_kind){ \
		.type		= collsock_type, \
		.operators	= LOCATING, \
		.bytes		= packed, \
		.extent		= sizeof(struct pair), \
		.index_offset	= sizeof(struct pair) == packed ? 0 : offsetof(struct pair, i), \
	}); \
} while (0)

static void add_c(void)
{
	add_plain(MPI_DOUBLE, FLOATING);
	add_plain(MPI_INT, SIGNED);
	add_plain(MPI_FLOAT, FLOATING);
	add_plain(MPI_LONG, SIGNED);
	add_plain(MPI_BYTE, BYTES);
	add_plain(MPI_CHAR, RAW);
	add_plain(MPI_SIGNED_CHAR, SIGNED);
	add_plain(MPI_SHORT, SIGNED);
	add_plain(MPI_LONG_LONG_INT, SIGNED);
	add_plain(MPI_UNSIGNED_CHAR, UNSIGNED);
	add_plain(MPI_UNSIGNED_SHORT, UNSIGNED);
	add_plain(MPI_UNSIGNED, UNSIGNED);
	add_plain(MPI_UNSIGNED_LONG, UNSIGNED);
	add_plain(MPI_UNSIGNED_LONG_LONG, UNSIGNED);
	add_plain(MPI_INT8_T, SIGNED);
	add_plain(MPI_INT16_T, SIGNED);
	add_plain(MPI_INT32_T, SIGNED);
	add_plain(MPI_INT64_T, SIGNED);
	add_plain(MPI_UINT8_T, UNSIGNED);
	add_plain(MPI_UINT16_T, UNSIGNED);
	add_plain(MPI_UINT32_T, UNSIGNED);
	add_plain(MPI_UINT64_T, UNSIGNED);
	add_plain(MPI_C_BOOL, BOOLEAN);
	add_plain(MPI_AINT, OTHER_INTEGER);
	add_plain(MPI_OFFSET, OTHER_INTEGER);
	add_plain(MPI_COUNT, OTHER_INTEGER);
	add_plain(MPI_WCHAR, RAW);
	add_plain(MPI_LONG_DOUBLE, RAW);
	add_plain(MPI_C_FLOAT_COMPLEX, RAW);
	add_plain(MPI_C_DOUBLE_COMPLEX, RAW);
	add_plain(MPI_C_LONG_DOUBLE_COMPLEX, RAW);
	add_plain(MPI_PACKED, RAW);
}

static void add_fortran(void)
{
	add_plain(MPI_INTEGER, OTHER_INTEGER);
	add_plain(MPI_INTEGER1, OTHER_INTEGER);
	add_plain(MPI_INTEGER2, OTHER_INTEGER);
	add_plain(MPI_INTEGER4, OTHER_INTEGER);
	add_plain(MPI_INTEGER8, OTHER_INTEGER);
	add_plain(MPI_REAL, FLOATING);
	add_plain(MPI_REAL4, FLOATING);
	add_plain(MPI_REAL8, FLOATING);
	add_plain(MPI_DOUBLE_PRECISION, FLOATING);
	add_plain(MPI_CHARACTER, RAW);
	add_plain(MPI_LOGICAL, RAW);
	add_plain(MPI_COMPLEX, RAW);
	add_plain(MPI_DOUBLE_COMPLEX, RAW);
}

static void add_pairs(void)
{
	int bytes = 0;

	ADD_PAIR(MPI_FLOAT_INT, float, COLLSOCK_FLOAT_INT);
	ADD_PAIR(MPI_DOUBLE_INT, double, COLLSOCK_DOUBLE_INT);
	ADD_PAIR(MPI_LONG_INT, long,
		 sizeof(long) == 8 ? COLLSOCK_INT64_INT : COLLSOCK_INT32_INT);
	ADD_PAIR(MPI_2INT, int, COLLSOCK_INT32_INT);
	ADD_PAIR(MPI_SHORT_INT, short, COLLSOCK_INT16_INT);
	/* Two Fortran integers; they may be wider. */
	if (!is_null(MPI_2INTEGER) && !PMPI_Type_size(MPI_2INTEGER, &bytes) &&
	    bytes == 2 * sizeof(int))
		ADD_PAIR(MPI_2INTEGER, int, COLLSOCK_INT32_INT);
}

void cm_kinds_init(void)
{
	add_c();
	add_fortran();
	add_pairs();
}

static const struct cm_kind *predefined(MPI_Datatype datatype)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (entries[i].datatype == datatype)
			return &entries[i].kind;
	return NULL;
}

/* The datatype of which this is a duplicate, or MPI_DATATYPE_NULL */
static MPI_Datatype duplicated(MPI_Datatype datatype)
{
	int integers, addresses, datatypes, combiner;
	MPI_Datatype original;

	if (PMPI_Type_get_envelope(datatype, &integers, &addresses, &datatypes, &combiner) ||
	    combiner != MPI_COMBINER_DUP ||
	    PMPI_Type_get_contents(datatype, 0, 0, 1, NULL, NULL, &original))
		return MPI_DATATYPE_NULL;
	return original;
}

const struct cm_kind *cm_kind_of(MPI_Datatype datatype)
{
	const struct cm_kind *kind = predefined(datatype);
	MPI_Datatype original;

	if (kind || datatype == MPI_DATATYPE_NULL)
		return kind;
	original = duplicated(datatype);
	if (original == MPI_DATATYPE_NULL)
		return NULL;
	kind = predefined(original);
	if (kind)
		return kind;
	/* MPI made a handle of a derived datatype for us. */
	kind = cm_kind_of(original);
	PMPI_Type_free(&original);
	return kind;
}

enum collsock_operator cm_operator_of(MPI_Op op)
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
