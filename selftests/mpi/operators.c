// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "operators.h"

#define WORDS_MAX 4
#define GAP 0xa5a5a5a5
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Matrices of two rows and columns, whose product depends on the order. */
static void fold_matrices(__u32 *left, const __u32 *right)
{
	__u32 product[] = {
		left[0] * right[0] + left[1] * right[2], left[0] * right[1] + left[1] * right[3],
		left[2] * right[0] + left[3] * right[2], left[2] * right[1] + left[3] * right[3],
	};

	memcpy(left, product, sizeof(product));
}

/* Linear functions, one after the other. */
static void fold_lines(__u32 *left, const __u32 *right)
{
	left[1] = left[1] * right[0] + right[1];
	left[0] *= right[0];
}

static void fold_last(__u32 *left, const __u32 *right)
{
	left[0] = right[0];
}

static void fold_first(__u32 *left, const __u32 *right)
{
	(void)left;
	(void)right;
}

static void fold_sums(__u32 *left, const __u32 *right)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		left[i] += right[i];
}

/* The second vector is that of the higher ranks, and receives the result. */
static void apply(void *in, void *in_out, int count, unsigned int words, unsigned int extent,
		  void (*fold)(__u32 *left, const __u32 *right))
{
	__u32 *left = in, *right = in_out, result[WORDS_MAX];

	for (; count > 0; count--, left += extent, right += extent) {
		memcpy(result, left, words * sizeof(*left));
		fold(result, right);
		memcpy(right, result, words * sizeof(*left));
	}
}

static void apply_matrices(void *in, void *in_out, int *count, MPI_Datatype *type)
{
	(void)type;
	apply(in, in_out, *count, 4, 4, fold_matrices);
}

static void apply_lines(void *in, void *in_out, int *count, MPI_Datatype *type)
{
	(void)type;
	apply(in, in_out, *count, 2, 3, fold_lines);
}

static void apply_last(void *in, void *in_out, int *count, MPI_Datatype *type)
{
	(void)type;
	apply(in, in_out, *count, 1, 1, fold_last);
}

static void apply_first(void *in, void *in_out, int *count, MPI_Datatype *type)
{
	(void)type;
	apply(in, in_out, *count, 1, 1, fold_first);
}

static void apply_sums(void *in, void *in_out, int *count, MPI_Datatype *type)
{
	(void)type;
	apply(in, in_out, *count, 3, 3, fold_sums);
}

void own_operator_make(struct own_operator *own, struct random *random)
{
	static const struct {
		struct own_operator own;
		MPI_User_function *apply;
	} all[] = {
		{ { .name = "matrices", .words = 4, .extent = 4, .fold = fold_matrices },
		  apply_matrices },
		{ { .name = "lines", .words = 2, .extent = 3, .fold = fold_lines }, apply_lines },
		{ { .name = "last", .words = 1, .extent = 1, .fold = fold_last }, apply_last },
		{ { .name = "first", .words = 1, .extent = 1, .fold = fold_first }, apply_first },
		{ { .name = "sums", .is_commutative = true, .words = 3, .extent = 3,
		    .fold = fold_sums }, apply_sums },
	};
	unsigned int number = random_below(random, ARRAY_SIZE(all));
	MPI_Datatype plain;

	*own = all[number].own;
	CHECK_MPI(MPI_Op_create(all[number].apply, own->is_commutative, &own->op));
	/* User-defined operators on predefined types are common, too */
	if (own->words == 1) {
		own->type = MPI_UINT32_T;
		return;
	}
	CHECK_MPI(MPI_Type_contiguous(own->words, MPI_UINT32_T, &plain));
	CHECK_MPI(MPI_Type_create_resized(plain, 0, own->extent * sizeof(__u32), &own->type));
	CHECK_MPI(MPI_Type_free(&plain));
	CHECK_MPI(MPI_Type_commit(&own->type));
}

void own_operator_free(struct own_operator *own)
{
	if (own->words > 1)
		CHECK_MPI(MPI_Type_free(&own->type));
	CHECK_MPI(MPI_Op_free(&own->op));
}

static void contribution(__u32 *words, const struct own_operator *own, unsigned int i,
			 __u64 seed, int rank)
{
	unsigned int word;

	for (word = 0; word < own->words; word++)
		words[word] = mix(mix(seed, rank, i), word, 0);
}

void own_contribute(__u32 *buffer, const struct own_operator *own, unsigned int count,
		    __u64 seed, int rank)
{
	unsigned int i;

	for (i = 0; i < count * own->extent; i++)
		buffer[i] = GAP;
	for (i = 0; i < count; i++)
		contribution(buffer + i * own->extent, own, i, seed, rank);
}

bool own_result_right(const __u32 *result, const struct own_operator *own, unsigned int count,
		      __u64 seed, const int *ranks, int rank_count, char *text, size_t room)
{
	__u32 wanted[WORDS_MAX], next[WORDS_MAX];
	unsigned int i, word;
	int n;

	for (i = 0; i < count; i++, result += own->extent) {
		contribution(wanted, own, i, seed, ranks[0]);
		for (n = 1; n < rank_count; n++) {
			contribution(next, own, i, seed, ranks[n]);
			own->fold(wanted, next);
		}
		for (word = 0; word < own->words; word++) {
			if (result[word] != wanted[word]) {
				snprintf(text, room, "word %u of element %u is %x, not %x", word, i,
					 result[word], wanted[word]);
				return false;
			}
		}
	}
	return true;
}
