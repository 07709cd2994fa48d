// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdlib.h>

#include "user_post.h"

/* ---- vectors in the order of ranks, and in that of hosts ---- */

static void post_reorder(const struct coll_order *order, u8 *to, const u8 *from, u32 block,
			 bool to_hosts)
{
	u32 rank, run, position;

	for (rank = 0; rank < order->ranks; rank += run) {
		run = coll_order_run(order, rank, &position);
		memcpy(to + (size_t)(to_hosts ? position : rank) * block,
		       from + (size_t)(to_hosts ? rank : position) * block, (size_t)run * block);
	}
}

static void post_copy_payload(const struct user_member *m, u8 *to,
			      const struct coll_signature *sig, const void *payload, u32 bytes)
{
	u32 block = coll_signature_reordered(&m->group, sig);

	if (block && !coll_operations[sig->operation].own_in)
		post_reorder(&m->group.ranks.order, to, payload, block, true);
	else
		memcpy(to, payload, bytes);
}

void user_post_result(const struct user_member *m, const struct user_slot *slot, void *to)
{
	const u8 *from = user_slot_result(slot);

	if (slot->block)
		post_reorder(&m->group.ranks.order, to, from, slot->block, false);
	else
		memcpy(to, from, slot->completion.bytes);
}

/* ---- post ---- */

/* The structure as this library knows it, which may be shorter than the caller's. */
static int post_read(struct collsock_post *known, const struct collsock_post *post)
{
	int err = user_struct_check(post->size, COLLSOCK_POST_VER0);
	const u8 *bytes = (const u8 *)post;
	u32 size = post->size, i;

	if (err)
		return err;
	for (i = sizeof(*known); i < size; i++)
		if (bytes[i])
			return -E2BIG;
	memset(known, 0, sizeof(*known));
	memcpy(known, post, min_t(size_t, size, sizeof(*known)));
	known->size = sizeof(*known);
	return known->cookie == COLLSOCK_COOKIE_GROUP ? -EINVAL : 0;
}

/* Make the signature. Returns the bytes that the rank contributes, or a negative errno. */
static int post_sign(const struct user_member *m, const struct user_call *call,
		     const struct collsock_post *post, struct coll_signature *sig)
{
	int bytes;

	if (call->run && post->flags)
		return -EINVAL;
	bytes = coll_signature_of_post(&m->group, 0, post, sig);
	if (bytes < 0)
		return bytes;
	if (!call->run)
		return (size_t)bytes == call->payload_bytes ? bytes : -EINVAL;
	return (size_t)bytes <= call->payload_bytes &&
	       coll_signature_result_bytes(&m->group, 0, sig) <= call->result_bytes ?
	       bytes : -EMSGSIZE;
}

static int post_share(const struct user_member *m, struct user_slot *slot,
		      const struct coll_signature *sig)
{
	u32 bytes = coll_signature_receives(sig, m->group.ranks.local[0].rank) ?
		    coll_signature_shared(&m->group, sig) : 0;

	if (!bytes || !coll_group_wants_result(&m->group, 0))
		return 0;
	slot->shared = user_result_new(bytes);
	return slot->shared ? 0 : -ENOMEM;
}

/* Make the folds that the post has left to its caller. */
static void post_fold(struct user_member *m)
{
	struct coll_fold fold;

	while (coll_group_take_fold(&m->group, &fold)) {
		coll_locals_fold(&fold);
		coll_group_folded(&m->group, &fold, m->event.now);
	}
}

static int post_accept(struct user_member *m, struct user_slot *slot, const struct user_call *call,
		       const struct collsock_post *post, const struct coll_signature *sig,
		       const u8 *payload)
{
	u32 how = (call->run ? USER_CLAIMED : 0) | (post->flags & COLLSOCK_QUIET ? USER_QUIET : 0);
	int err = post_share(m, slot, sig);

	if (err)
		return err;
	slot->block = coll_operations[sig->operation].own_out ?
		      0 : coll_signature_reordered(&m->group, sig);
	user_slots_post(&m->slots, slot, post->cookie, how, m->event.now);
	err = coll_group_post(&m->group, 0, sig, payload, slot, m->event.now);
	if (err) {
		user_slots_unpost(&m->slots, slot);
		return err;
	}
	user_slots_posted(&m->slots);
	post_fold(m);
	return 0;
}

/* Post with a copy of the payload. A long payload has no room in the slot. */
static int post_with_payload(struct user_member *m, struct user_slot *slot,
			     const struct user_call *call, const struct collsock_post *post,
			     const struct coll_signature *sig, u32 bytes)
{
	bool is_long = bytes > m->group.payload.max_bytes;
	u8 *copy = is_long ? malloc(bytes) : slot->buffer;
	int err;

	if (!copy)
		return -ENOMEM;
	if (bytes)
		post_copy_payload(m, copy, sig, call->payload, bytes);
	err = post_accept(m, slot, call, post, sig, copy);
	/* The slot may have another buffer now. */
	if (is_long)
		free(copy);
	return err;
}

int user_post(struct user_member *m, const struct user_call *call, struct user_slot **posted)
{
	struct coll_signature sig;
	struct collsock_post post;
	struct user_slot *slot;
	int err = post_read(&post, call->post), bytes;

	if (err)
		return err;
	/* Another thread that ends the process may have freed the group meanwhile. */
	if (m->left)
		return -EPIPE;
	bytes = post_sign(m, call, &post, &sig);
	if (bytes < 0)
		return bytes;
	if (!call->run && user_member_at_end(m))
		return -EPIPE;
	slot = user_slots_find_free(&m->slots);
	if (!slot)
		return coll_group_writable(&m->group, 0) ? -ENOBUFS : -EAGAIN;
	err = post_with_payload(m, slot, call, &post, &sig, bytes);
	if (!err && posted)
		*posted = slot;
	return err;
}

/* ---- the program's descriptor ---- */

/* Report an error that send() would return with a socket of the kernel. */
static int post_report(struct user_member *m, u64 cookie, int error)
{
	struct user_slot *slot = user_slots_find_free(&m->slots);

	if (!slot)
		return -EAGAIN;
	user_slots_post(&m->slots, slot, cookie, 0, m->event.now);
	user_slots_posted(&m->slots);
	user_slots_finish(&m->slots, slot, NULL, 0, -error, COLLSOCK_NO_RANK, m->event.now);
	return 0;
}

int user_post_raw(struct user_member *m, const u8 *message, size_t bytes)
{
	struct collsock_post post = { .cookie = 0 };
	struct user_call call = { .post = (const struct collsock_post *)message };
	int err = -EINVAL;

	memcpy(&post, message, min(bytes, sizeof(post)));
	/* A post that was cut is longer than the group's largest. */
	if (bytes > m->raw.room) {
		err = -EMSGSIZE;
	} else if (bytes >= COLLSOCK_POST_VER0 && post.size <= bytes) {
		call.payload = message + post.size;
		call.payload_bytes = bytes - post.size;
		err = user_post(m, &call, NULL);
	}
	/* The program makes room by receiving completions, but there is no notification of that. */
	if (err == -ENOBUFS)
		err = -EAGAIN;
	return err && err != -EAGAIN ? post_report(m, post.cookie, err) : err;
}

int user_post_push(struct user_member *m, const struct user_slot *slot)
{
	u8 *copy;
	int err;

	if (!slot->block || !slot->completion.bytes)
		return user_pipe_push(&m->pipe, slot, user_slot_result(slot));
	copy = malloc(slot->completion.bytes);
	if (!copy)
		return -EAGAIN;
	user_post_result(m, slot, copy);
	err = user_pipe_push(&m->pipe, slot, copy);
	free(copy);
	return err;
}
