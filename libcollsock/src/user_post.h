/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Posts of a member, and delivery of their results; its lock is held */
#ifndef COLLSOCK_USER_POST_H
#define COLLSOCK_USER_POST_H

#include "user_state.h"

/**
 * struct user_call - a post by a call
 * @post: from the program
 * @payload: its payload
 * @payload_bytes: bytes there; unless it is a run, exactly those that the rank contributes
 * @result_bytes: of a run: room for the result
 * @run: the caller waits for it, and the failure of the group is reported each time
 */
struct user_call {
	const struct collsock_post	*post;
	const void			*payload;
	size_t				payload_bytes;
	size_t				result_bytes;
	bool				run;
};

/*
 * Post. @posted: out: its slot, if it is a run. -EAGAIN if the window is full, -ENOBUFS if no slot
 * is free, -EPIPE if the group has ended; else as coll_signature_of_post(). The caller settles.
 */
int user_post(struct user_member *m, const struct user_call *call, struct user_slot **posted);

/* Post a message to the descriptor. Errors other than -EAGAIN are reported by a completion. */
int user_post_raw(struct user_member *m, const u8 *message, size_t bytes);

/* Copy the result of a slot that is DONE, in the order of ranks. */
void user_post_result(const struct user_member *m, const struct user_slot *slot, void *to);

/* Send the completion of a slot to the program's descriptor. -EAGAIN if that is not possible now */
int user_post_push(struct user_member *m, const struct user_slot *slot);

#endif
