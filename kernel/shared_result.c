// SPDX-License-Identifier: GPL-2.0
#include <linux/mm.h>
#include <linux/slab.h>

#include "netns.h"
#include "shared_result.h"

static u64 shared_result_charge(const struct coll_shared_result *result)
{
	return sizeof(*result) + result->bytes;
}

/**
 * coll_shared_result_new() - reserve memory for the result of a post
 * @cn: the namespace of the instance to which the calling process is about to post
 * @user: who is charged for it
 * @charged: grows by what is charged
 * @bytes: length of the result
 *
 * Return: the memory, with one reference; or an error pointer: -ENOMEM, or -EDQUOT if the groups
 * of the user would have too much. Context: process; takes the namespace's mutex.
 */
struct coll_shared_result *coll_shared_result_new(struct coll_net *cn, struct coll_user *user,
						  atomic64_t *charged, u32 bytes)
{
	struct coll_shared_result *result = kzalloc(sizeof(*result), GFP_KERNEL_ACCOUNT);
	int err;

	if (!result)
		return ERR_PTR(-ENOMEM);
	result->cn = cn;
	result->user = user;
	result->charged = charged;
	result->bytes = bytes;
	refcount_set(&result->references, 1);
	err = coll_net_charge(cn, user, shared_result_charge(result));
	if (err) {
		kfree(result);
		return ERR_PTR(err);
	}
	atomic64_add(shared_result_charge(result), charged);
	result->core.data = kvmalloc(bytes, GFP_KERNEL_ACCOUNT);
	if (!result->core.data) {
		coll_shared_result_put(result);
		return ERR_PTR(-ENOMEM);
	}
	return result;
}

/**
 * coll_shared_result_get() - take a reference
 * @result: kept by its operation meanwhile
 *
 * Context: any.
 */
void coll_shared_result_get(struct coll_shared_result *result)
{
	refcount_inc(&result->references);
}

/**
 * coll_shared_result_put() - drop a reference
 * @result: may be NULL
 *
 * Context: any but NMI, before the instance is freed.
 */
void coll_shared_result_put(struct coll_shared_result *result)
{
	if (!result || !refcount_dec_and_test(&result->references))
		return;
	atomic64_sub(shared_result_charge(result), result->charged);
	coll_net_uncharge(result->cn, result->user, shared_result_charge(result));
	kvfree(result->core.data);
	kfree(result);
}
