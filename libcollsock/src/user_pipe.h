/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The descriptor that the program has (collsock_fd()): one end of a pair of sockets, which carries
 * the same bytes as a socket of the kernel, so that poll(), send() and recv() work on it. Messages
 * of the program are posted, and completions that no call waits for are sent to it.
 *
 * A completion that is in the pair belongs to the first thread that receives it, be it by recv(),
 * which the member's lock does not keep away: what was seen there may be gone, and another one be
 * next. A call that looks for the completion of one cookie draws all of them out, and puts the
 * others back.
 */
#ifndef COLLSOCK_USER_PIPE_H
#define COLLSOCK_USER_PIPE_H

#include "user_slots.h"

/**
 * struct user_pipe - the pair
 * @inner: the library's end
 * @outer: the program's end, which the library's handle owns
 * @most: bytes of the longest result
 * @watched: events of the library's end that are watched, as of epoll
 * @pushed: there may be a completion in the pair
 * @ended: no other completion follows
 * @drawn: completions that were drawn out, and could not be put back, or that were never in the
 *	pair; oldest first, and newer than those in the pair
 */
struct user_pipe {
	int			inner;
	int			outer;
	size_t			most;
	u32			watched;
	bool			pushed;
	bool			ended;
	struct list_head	drawn;
};

/* 0, or a negative errno. @nonblocking: the program's end */
int user_pipe_open(struct user_pipe *pipe, bool nonblocking);
/* All but the program's end */
void user_pipe_close(struct user_pipe *pipe);

/*
 * Make room for messages of @bytes, at most; completions have results of @most bytes, at most.
 * -EMSGSIZE if the host does not allow so much
 */
int user_pipe_reserve(struct user_pipe *pipe, size_t bytes, size_t most);

/*
 * Send a completion to the program; if it has shut down the receiving side of its end, keep it for
 * calls of the library. -EAGAIN if there is no room now, -ENOMEM
 */
int user_pipe_push(struct user_pipe *pipe, const struct user_slot *slot, const void *result);

/* No other completion follows: the program sees the end after the last one. */
void user_pipe_end(struct user_pipe *pipe);

/*
 * Read a message of the program. Returns its bytes, -EAGAIN if there is none, -EPIPE if none
 * follows. Longer than @room: it was cut.
 */
ssize_t user_pipe_read(struct user_pipe *pipe, void *data, size_t room);

/**
 * struct user_pipe_room - where a completion goes
 * @completion: the structure
 * @result: its result
 * @result_bytes: bytes there
 */
struct user_pipe_room {
	struct collsock_completion	*completion;
	void				*result;
	size_t				result_bytes;
};

/*
 * Receive the oldest completion that is in the pair. -EAGAIN if there is none, -EMSGSIZE if there
 * is no room for the result: then it stays where it is; -ENOMEM
 */
int user_pipe_pull(struct user_pipe *pipe, const struct user_pipe_room *room);

/* Receive the completion of a cookie, like user_pipe_pull(). -ENOMEM: nothing has changed */
int user_pipe_find(struct user_pipe *pipe, u64 cookie, const struct user_pipe_room *room);

#endif
