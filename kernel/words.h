/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Short structures from and to user space, a word at a time. Their lengths are constants, so
 * the compiler unrolls the loops; copy_from_user() would take a step for each byte.
 */
#ifndef COLL_WORDS_H
#define COLL_WORDS_H

#include <linux/build_bug.h>
#include <linux/uaccess.h>

/**
 * coll_words_from_user() - copy a short structure from user space
 * @to: out; incomplete on failure
 * @from: the structure
 * @bytes: its length, a constant and a multiple of 8
 *
 * Return: true if all was copied. Context: process.
 */
static __always_inline bool coll_words_from_user(u64 *to, const u64 __user *from, u32 bytes)
{
	u32 i;

	BUILD_BUG_ON(!__builtin_constant_p(bytes) || bytes % sizeof(*to));
	might_fault();
	if (!user_read_access_begin(from, bytes))
		return false;
#pragma GCC unroll 16
	for (i = 0; i < bytes / sizeof(*to); i++)
		unsafe_get_user(to[i], from + i, fault);
	user_read_access_end();
	return true;
fault:
	user_read_access_end();
	return false;
}

/**
 * coll_words_to_user() - copy a short structure to user space
 * @to: where it goes
 * @from: the structure
 * @bytes: its length, a constant and a multiple of 8
 *
 * Return: true if all was copied. Context: process.
 */
static __always_inline bool coll_words_to_user(u64 __user *to, const u64 *from, u32 bytes)
{
	u32 i;

	BUILD_BUG_ON(!__builtin_constant_p(bytes) || bytes % sizeof(*to));
	might_fault();
	if (!user_write_access_begin(to, bytes))
		return false;
#pragma GCC unroll 16
	for (i = 0; i < bytes / sizeof(*to); i++)
		unsafe_put_user(from[i], to + i, fault);
	user_write_access_end();
	return true;
fault:
	user_write_access_end();
	return false;
}

#endif
