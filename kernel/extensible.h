/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Extensible structures: the rule of copy_struct_from_user(), for all sources of a request.
 * A caller may know fewer fields than the kernel, which are then 0, or more, which must be
 * 0. Every structure begins with its size, a multiple of 8.
 */
#ifndef COLL_EXTENSIBLE_H
#define COLL_EXTENSIBLE_H

#include <linux/sockptr.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

/* From the value of a socket option. */
int coll_extensible_from_sockptr(void *to, u32 known, u32 first, sockptr_t from, u32 room);

/* For lengths other than the first version's; used by the functions below. */
int coll_extensible_rest_from_user(void *to, u32 known, u32 first, const void __user *from);
int coll_extensible_rest_from_iter(void *to, u32 known, u32 first, struct iov_iter *from);

/* Is the structure the first version, and does this kernel know no later one? */
static inline bool coll_extensible_is_first(const void *to, u32 known, u32 first)
{
	return *(const u32 *)to == first && first == known;
}

/**
 * coll_extensible_from_user() - copy a structure from the buffer of an ioctl
 * @to: out; its size is set to @known, whatever the caller knows
 * @known: length that this kernel knows
 * @first: length of the first version
 * @from: the structure
 *
 * Return: length that the caller knows, -EINVAL, -E2BIG, -EFAULT. Context: process.
 */
static inline int coll_extensible_from_user(void *to, u32 known, u32 first,
					    const void __user *from)
{
	if (copy_from_user(to, from, first))
		return -EFAULT;
	if (likely(coll_extensible_is_first(to, known, first)))
		return first;
	return coll_extensible_rest_from_user(to, known, first, from);
}

/**
 * coll_extensible_from_iter() - copy a structure from a message
 * @to: out; its size is set to @known, whatever the caller knows
 * @known: length that this kernel knows
 * @first: length of the first version
 * @from: the message; on return at what follows the structure
 *
 * Return: length that the caller knows, -EINVAL, -E2BIG, -EFAULT. Context: process.
 */
static inline int coll_extensible_from_iter(void *to, u32 known, u32 first, struct iov_iter *from)
{
	if (iov_iter_count(from) < first)
		return -EINVAL;
	if (!copy_from_iter_full(to, first, from))
		return -EFAULT;
	if (likely(coll_extensible_is_first(to, known, first)))
		return first;
	return coll_extensible_rest_from_iter(to, known, first, from);
}

#endif
