// SPDX-License-Identifier: GPL-2.0
#include <linux/string.h>

#include "extensible.h"

/* Longest structure that any kernel will ever know */
#define EXTENSIBLE_MAX_BYTES	4096

/* Is this a possible length of a caller's structure? */
static int extensible_check(u32 size, u32 first)
{
	if (size < first || size % sizeof(u64))
		return -EINVAL;
	return size > EXTENSIBLE_MAX_BYTES ? -E2BIG : 0;
}

static int extensible_from_kernel(void *to, u32 known, const void *from, u32 size)
{
	if (size > known && memchr_inv(from + known, 0, size - known))
		return -E2BIG;
	memcpy(to, from, min(size, known));
	memset(to + min(size, known), 0, known - min(size, known));
	return 0;
}

/**
 * coll_extensible_from_sockptr() - copy a structure from the value of a socket option
 * @to: out; its size is set to @known, whatever the caller knows
 * @known: length that this kernel knows
 * @first: length of the first version
 * @from: the value
 * @room: length of the value
 *
 * Return: length that the caller knows, -EINVAL, -E2BIG, -EFAULT. Context: process.
 */
int coll_extensible_from_sockptr(void *to, u32 known, u32 first, sockptr_t from, u32 room)
{
	u32 size;
	int err;

	if (room < sizeof(size))
		return -EINVAL;
	if (copy_from_sockptr(&size, from, sizeof(size)))
		return -EFAULT;
	err = extensible_check(size, first);
	if (err)
		return err;
	if (size > room)
		return -EINVAL;
	if (sockptr_is_kernel(from))
		err = extensible_from_kernel(to, known, from.kernel, size);
	else
		err = copy_struct_from_user(to, known, from.user, size);
	*(u32 *)to = known;
	return err ?: size;
}

/**
 * coll_extensible_rest_from_user() - as coll_extensible_from_user(), for other lengths
 * @to: out; the first version is already copied
 * @known: length that this kernel knows
 * @first: length of the first version
 * @from: the structure
 *
 * Return: length that the caller knows, -EINVAL, -E2BIG, -EFAULT. Context: process.
 */
int coll_extensible_rest_from_user(void *to, u32 known, u32 first, const void __user *from)
{
	u32 size = *(u32 *)to;
	int err;

	err = extensible_check(size, first) ?: copy_struct_from_user(to, known, from, size);
	*(u32 *)to = known;
	return err ?: size;
}

/* Bytes that this kernel does not know must be zero. */
static int extensible_skip_zeros(struct iov_iter *from, u32 bytes)
{
	u8 chunk[64];
	u32 step;

	for (; bytes; bytes -= step) {
		step = min_t(u32, bytes, sizeof(chunk));
		if (!copy_from_iter_full(chunk, step, from))
			return -EFAULT;
		if (memchr_inv(chunk, 0, step))
			return -E2BIG;
	}
	return 0;
}

/**
 * coll_extensible_rest_from_iter() - as coll_extensible_from_iter(), for other lengths
 * @to: out; the first version is already copied
 * @known: length that this kernel knows
 * @first: length of the first version
 * @from: the message after the first version; on return at what follows the structure
 *
 * Return: length that the caller knows, -EINVAL, -E2BIG, -EFAULT. Context: process.
 */
int coll_extensible_rest_from_iter(void *to, u32 known, u32 first, struct iov_iter *from)
{
	u32 size = *(u32 *)to, copied = min(size, known);
	int err;

	err = extensible_check(size, first);
	if (err)
		return err;
	if (size - first > iov_iter_count(from))
		return -EINVAL;
	if (!copy_from_iter_full(to + first, copied - first, from))
		return -EFAULT;
	memset(to + copied, 0, known - copied);
	*(u32 *)to = known;
	return extensible_skip_zeros(from, size - copied) ?: size;
}
