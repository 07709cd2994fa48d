// SPDX-License-Identifier: GPL-2.0
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "elements.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Any element, decomposed. Integers are sign- or zero-extended to 64 bits. */
struct value {
	long double real;
	long double imaginary;
	long double magnitude;	/* base of the relative error of a result */
	__s64 integer;
	int index;
};

#define PAIR(name, type)	\
	struct name {		\
		type value;	\
		int index;	\
	}

PAIR(float_int, float);
PAIR(double_int, double);
PAIR(long_double_int, long double);
PAIR(long_int, long);
PAIR(short_int, short);
PAIR(int_int, int);

static struct element elements[48];
static unsigned int element_count;

static struct reducer reducers[12];

static void add(const char *name, MPI_Datatype type, enum form form, size_t bytes)
{
	elements[element_count++] = (struct element){ name, type, form, bytes };
}

#define ADD(type, form, bytes) add(#type, type, form, bytes)

static void add_integers(void)
{
	ADD(MPI_SIGNED_CHAR, FORM_SIGNED, sizeof(signed char));
	ADD(MPI_SHORT, FORM_SIGNED, sizeof(short));
	ADD(MPI_INT, FORM_SIGNED, sizeof(int));
	ADD(MPI_LONG, FORM_SIGNED, sizeof(long));
	ADD(MPI_LONG_LONG, FORM_SIGNED, sizeof(long long));
	ADD(MPI_INT8_T, FORM_SIGNED, 1);
	ADD(MPI_INT16_T, FORM_SIGNED, 2);
	ADD(MPI_INT32_T, FORM_SIGNED, 4);
	ADD(MPI_INT64_T, FORM_SIGNED, 8);
	ADD(MPI_UNSIGNED_CHAR, FORM_UNSIGNED, sizeof(unsigned char));
	ADD(MPI_UNSIGNED_SHORT, FORM_UNSIGNED, sizeof(unsigned short));
	ADD(MPI_UNSIGNED, FORM_UNSIGNED, sizeof(unsigned int));
	ADD(MPI_UNSIGNED_LONG, FORM_UNSIGNED, sizeof(unsigned long));
	ADD(MPI_UNSIGNED_LONG_LONG, FORM_UNSIGNED, sizeof(unsigned long long));
	ADD(MPI_UINT8_T, FORM_UNSIGNED, 1);
	ADD(MPI_UINT16_T, FORM_UNSIGNED, 2);
	ADD(MPI_UINT32_T, FORM_UNSIGNED, 4);
	ADD(MPI_UINT64_T, FORM_UNSIGNED, 8);
	ADD(MPI_INTEGER, FORM_SIGNED, 4);
	ADD(MPI_C_BOOL, FORM_BOOL, sizeof(bool));
	ADD(MPI_BYTE, FORM_BYTE, 1);
}

void elements_begin(void)
{
	const struct reducer all[] = {
		{ "MPI_MIN", MPI_MIN, CLASS_ORDER }, { "MPI_MAX", MPI_MAX, CLASS_ORDER },
		{ "MPI_SUM", MPI_SUM, CLASS_ARITHMETIC },
		{ "MPI_PROD", MPI_PROD, CLASS_ARITHMETIC },
		{ "MPI_LAND", MPI_LAND, CLASS_LOGICAL }, { "MPI_LOR", MPI_LOR, CLASS_LOGICAL },
		{ "MPI_LXOR", MPI_LXOR, CLASS_LOGICAL }, { "MPI_BAND", MPI_BAND, CLASS_BITWISE },
		{ "MPI_BOR", MPI_BOR, CLASS_BITWISE }, { "MPI_BXOR", MPI_BXOR, CLASS_BITWISE },
		{ "MPI_MINLOC", MPI_MINLOC, CLASS_LOCATION },
		{ "MPI_MAXLOC", MPI_MAXLOC, CLASS_LOCATION },
	};

	memcpy(reducers, all, sizeof(all));
	add_integers();
	ADD(MPI_FLOAT, FORM_FLOAT, sizeof(float));
	ADD(MPI_DOUBLE, FORM_DOUBLE, sizeof(double));
	ADD(MPI_LONG_DOUBLE, FORM_LONG_DOUBLE, sizeof(long double));
	ADD(MPI_REAL, FORM_FLOAT, sizeof(float));
	ADD(MPI_DOUBLE_PRECISION, FORM_DOUBLE, sizeof(double));
	ADD(MPI_C_FLOAT_COMPLEX, FORM_FLOAT_COMPLEX, 2 * sizeof(float));
	ADD(MPI_C_DOUBLE_COMPLEX, FORM_DOUBLE_COMPLEX, 2 * sizeof(double));
	ADD(MPI_FLOAT_INT, FORM_FLOAT_INT, sizeof(struct float_int));
	ADD(MPI_DOUBLE_INT, FORM_DOUBLE_INT, sizeof(struct double_int));
	ADD(MPI_LONG_DOUBLE_INT, FORM_LONG_DOUBLE_INT, sizeof(struct long_double_int));
	ADD(MPI_LONG_INT, FORM_LONG_INT, sizeof(struct long_int));
	ADD(MPI_SHORT_INT, FORM_SHORT_INT, sizeof(struct short_int));
	ADD(MPI_2INT, FORM_INT_INT, sizeof(struct int_int));
}

const struct element *element_random(struct random *random)
{
	return &elements[random_below(random, element_count)];
}

static bool form_is_pair(enum form form)
{
	return form >= FORM_FLOAT_INT;
}

static bool form_is_complex(enum form form)
{
	return form == FORM_FLOAT_COMPLEX || form == FORM_DOUBLE_COMPLEX;
}

static bool form_is_integer(enum form form)
{
	return form <= FORM_BYTE;
}

/* MPI 4.0, 6.9.2: which operators a type has. */
static bool allowed(enum operation_class class, enum form form)
{
	switch (class) {
	case CLASS_ORDER:
		return form != FORM_BOOL && form != FORM_BYTE && !form_is_complex(form) &&
		       !form_is_pair(form);
	case CLASS_ARITHMETIC:
		return form != FORM_BOOL && form != FORM_BYTE && !form_is_pair(form);
	case CLASS_LOGICAL:
		return form_is_integer(form) && form != FORM_BYTE;
	case CLASS_BITWISE:
		return form_is_integer(form) && form != FORM_BOOL;
	default:
		return form_is_pair(form);
	}
}

const struct reducer *reducer_random(struct random *random, const struct element *element)
{
	const struct reducer *reducer;

	do {
		reducer = &reducers[random_below(random, ARRAY_SIZE(reducers))];
		/* MPI_INTEGER is Fortran's: its logical type is another */
	} while (!allowed(reducer->class, element->form) ||
		 (element->type == MPI_INTEGER && reducer->class == CLASS_LOGICAL));
	return reducer;
}

/* ---- storing and loading ---- */

static void store_integer(void *at, size_t bytes, __s64 integer)
{
	memcpy(at, &integer, bytes);
}

static __s64 load_integer(const void *at, const struct element *element)
{
	unsigned int unused = 64 - 8 * element->bytes;
	__s64 integer = 0;

	memcpy(&integer, at, element->bytes);
	if (element->form == FORM_SIGNED)
		return (__s64)((__u64)integer << unused) >> unused;
	return integer;
}

/* Reads or writes one element, member by member. */
#define TRANSFER_PAIR(type)								\
	do {										\
		type *pair = at;							\
											\
		if (write) {								\
			pair->value = value->real;					\
			pair->index = value->index;					\
		} else {								\
			value->real = pair->value;					\
			value->index = pair->index;					\
		}									\
	} while (0)

static void transfer_real(void *at, enum form form, long double *real, bool write)
{
	long double *wide = at;
	double *twice = at;
	float *single = at;

	if (form == FORM_FLOAT) {
		if (write)
			*single = *real;
		*real = *single;
	} else if (form == FORM_DOUBLE) {
		if (write)
			*twice = *real;
		*real = *twice;
	} else {
		if (write)
			*wide = *real;
		*real = *wide;
	}
}

static void transfer_complex(void *at, enum form form, size_t bytes, struct value *value,
			     bool write)
{
	transfer_real(at, form, &value->real, write);
	transfer_real((char *)at + bytes, form, &value->imaginary, write);
}

static void transfer(void *at, const struct element *element, struct value *value, bool write)
{
	switch (element->form) {
	case FORM_FLOAT:
	case FORM_DOUBLE:
	case FORM_LONG_DOUBLE:
		transfer_real(at, element->form, &value->real, write);
		break;
	case FORM_FLOAT_COMPLEX:
		transfer_complex(at, FORM_FLOAT, sizeof(float), value, write);
		break;
	case FORM_DOUBLE_COMPLEX:
		transfer_complex(at, FORM_DOUBLE, sizeof(double), value, write);
		break;
	case FORM_FLOAT_INT:
		TRANSFER_PAIR(struct float_int);
		break;
	case FORM_DOUBLE_INT:
		TRANSFER_PAIR(struct double_int);
		break;
	case FORM_LONG_DOUBLE_INT:
		TRANSFER_PAIR(struct long_double_int);
		break;
	case FORM_LONG_INT:
		TRANSFER_PAIR(struct long_int);
		break;
	case FORM_SHORT_INT:
		TRANSFER_PAIR(struct short_int);
		break;
	case FORM_INT_INT:
		TRANSFER_PAIR(struct int_int);
		break;
	default:
		if (write)
			store_integer(at, element->bytes, value->integer);
		else
			value->integer = load_integer(at, element);
	}
}

/* ---- contributions ---- */

static long double random_real(struct random *random, const struct reducer *reducer)
{
	long double fraction = (long double)(random_bits(random) >> 1) / ((__u64)1 << 63);
	long double sign = random_one_in(random, 2) ? -1 : 1;

	/* Products of many stay within the range of a float */
	if (reducer->class == CLASS_ARITHMETIC && reducer->op == MPI_PROD)
		return sign * (0.5L + 1.25L * fraction);
	return sign * ldexpl(1 + fraction, (int)random_below(random, 40) - 20);
}

/* Rounded to what the element can hold. */
static struct value contribution(const struct element *element, const struct reducer *reducer,
				 unsigned int i, __u64 seed, int rank)
{
	struct long_double_int memory = { 0 };	/* the largest type */
	struct random random = { mix(seed, rank, i) };
	struct value value = { 0 };

	if (form_is_pair(element->form)) {
		/* Few values, so that many are equal and the index decides */
		value.real = (int)random_below(&random, 5) - 2;
		value.index = random_below(&random, 1000) - 500;
	} else if (element->form == FORM_BOOL) {
		value.integer = random_below(&random, 2);
	} else if (form_is_integer(element->form)) {
		value.integer = random_one_in(&random, 4) ? (int)random_below(&random, 3) - 1 :
							    (__s64)random_bits(&random);
	} else {
		value.real = random_real(&random, reducer);
		value.imaginary = random_real(&random, reducer);
	}
	/* MPICH 4.0, and Open MPI 4.1 for some types, compare them as if they were signed */
	if (element->form == FORM_UNSIGNED && reducer->class == CLASS_ORDER && !strict)
		value.integer &= ((__u64)1 << (8 * element->bytes - 1)) - 1;
	transfer(&memory, element, &value, true);
	transfer(&memory, element, &value, false);
	if (!form_is_complex(element->form))
		value.imaginary = 0;
	value.magnitude = hypotl(value.real, value.imaginary);
	return value;
}

void contribute(void *buffer, const struct element *element, const struct reducer *reducer,
		unsigned int count, __u64 seed, int rank)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		struct value value = contribution(element, reducer, i, seed, rank);

		transfer((char *)buffer + i * element->bytes, element, &value, true);
	}
}

/* ---- the expected result ---- */

static bool integer_less(const struct element *element, __s64 a, __s64 b)
{
	return element->form == FORM_SIGNED ? a < b : (__u64)a < (__u64)b;
}

static __s64 fold_integers(const struct element *element, const struct reducer *reducer,
			   __s64 a, __s64 b)
{
	if (reducer->op == MPI_SUM)
		return (__u64)a + (__u64)b;
	if (reducer->op == MPI_PROD)
		return (__u64)a * (__u64)b;
	if (reducer->op == MPI_MIN)
		return integer_less(element, b, a) ? b : a;
	if (reducer->op == MPI_MAX)
		return integer_less(element, a, b) ? b : a;
	if (reducer->op == MPI_LAND)
		return a && b;
	if (reducer->op == MPI_LOR)
		return a || b;
	if (reducer->op == MPI_LXOR)
		return !a != !b;
	if (reducer->op == MPI_BAND)
		return a & b;
	return reducer->op == MPI_BOR ? (a | b) : (a ^ b);
}

static void fold_reals(const struct reducer *reducer, struct value *a, const struct value *b)
{
	long double real = a->real;

	if (reducer->op == MPI_MIN || reducer->op == MPI_MAX) {
		if (reducer->op == MPI_MIN ? b->real < a->real : b->real > a->real)
			*a = *b;
	} else if (reducer->op == MPI_SUM) {
		a->real += b->real;
		a->imaginary += b->imaginary;
		a->magnitude += b->magnitude;
	} else {
		a->real = real * b->real - a->imaginary * b->imaginary;
		a->imaginary = real * b->imaginary + a->imaginary * b->real;
		a->magnitude *= b->magnitude;
	}
}

static void fold_pairs(const struct reducer *reducer, struct value *a, const struct value *b)
{
	if (a->real == b->real)
		a->index = b->index < a->index ? b->index : a->index;
	else if (reducer->op == MPI_MINLOC ? b->real < a->real : b->real > a->real)
		*a = *b;
}

static void fold(const struct element *element, const struct reducer *reducer,
		 struct value *a, const struct value *b)
{
	if (form_is_pair(element->form))
		fold_pairs(reducer, a, b);
	else if (form_is_integer(element->form))
		a->integer = fold_integers(element, reducer, a->integer, b->integer);
	else
		fold_reals(reducer, a, b);
}

static long double epsilon(enum form form)
{
	switch (form) {
	case FORM_FLOAT:
	case FORM_FLOAT_COMPLEX:
		return FLT_EPSILON;
	case FORM_LONG_DOUBLE:
		return LDBL_EPSILON;
	default:
		return DBL_EPSILON;
	}
}

/* Sums and products may be taken in any order; each step adds a rounding. */
static long double allowed_error(const struct element *element, const struct reducer *reducer,
				 const struct value *value, int steps)
{
	if (reducer->class != CLASS_ARITHMETIC)
		return 0;
	return 8 * steps * epsilon(element->form) * value->magnitude;
}

/* A logical result need not be 1 to be true, as in C. */
static bool integers_equal(const struct element *element, const struct reducer *reducer,
			   __s64 found, __s64 wanted)
{
	unsigned char memory[8] = { 0 };

	store_integer(memory, element->bytes, wanted);
	wanted = load_integer(memory, element);
	return reducer->class == CLASS_LOGICAL ? !found == !wanted : found == wanted;
}

bool result_right(const void *result, const struct element *element,
		  const struct reducer *reducer, unsigned int i, __u64 seed,
		  const int *ranks, int rank_count, char *text, size_t room)
{
	long double error;
	struct value wanted = contribution(element, reducer, i, seed, ranks[0]), found = { 0 };
	int n;

	for (n = 1; n < rank_count; n++) {
		struct value next = contribution(element, reducer, i, seed, ranks[n]);

		/* Truncated results stay truncated */
		fold(element, reducer, &wanted, &next);
		if (form_is_integer(element->form)) {
			unsigned char memory[8] = { 0 };

			store_integer(memory, element->bytes, wanted.integer);
			wanted.integer = load_integer(memory, element);
		}
	}
	transfer((char *)result + i * element->bytes, element, &found, false);
	if (form_is_integer(element->form)) {
		snprintf(text, room, "element %u is %lld, not %lld", i, (long long)found.integer,
			 (long long)wanted.integer);
		return integers_equal(element, reducer, found.integer, wanted.integer);
	}
	snprintf(text, room, "element %u is %.20Lg %+.20Lg i, %d, not %.20Lg %+.20Lg i, %d", i,
		 found.real, found.imaginary, found.index, wanted.real, wanted.imaginary,
		 wanted.index);
	error = allowed_error(element, reducer, &wanted, rank_count);
	return fabsl(found.real - wanted.real) <= error &&
	       fabsl(found.imaginary - wanted.imaginary) <= error && found.index == wanted.index;
}

__u64 elements_checksum(const void *buffer, const struct element *element, unsigned int count)
{
	__u64 sum = 1;
	unsigned int i;

	for (i = 0; i < count; i++) {
		struct long_double_int memory = { 0 };
		struct value value = { 0 };

		transfer((char *)buffer + i * element->bytes, element, &value, false);
		transfer(&memory, element, &value, true);
		/* A long double has padding bytes */
		if (element->form == FORM_LONG_DOUBLE || element->form == FORM_LONG_DOUBLE_INT)
			memset((char *)&memory + 10, 0, 6);
		sum = checksum(&memory, element->bytes, sum);
	}
	return sum;
}
