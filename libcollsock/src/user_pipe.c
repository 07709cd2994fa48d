// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "user_pipe.h"

/* Overhead that the kernel counts for each message */
#define OVERHEAD_BYTES	1024

/* A message that was drawn out of the pair */
struct pipe_message {
	struct list_head		link;
	struct collsock_completion	completion;
	u8				result[];
};

/* ---- life ---- */

int user_pipe_open(struct user_pipe *p, bool nonblocking)
{
	int ends[2];

	INIT_LIST_HEAD(&p->drawn);
	p->inner = -1;
	p->outer = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | (nonblocking ? SOCK_NONBLOCK : 0),
		       0, ends))
		return -errno;
	p->outer = ends[0];
	p->inner = ends[1];
	return 0;
}

void user_pipe_close(struct user_pipe *p)
{
	struct pipe_message *m, *next;

	list_for_each_entry_safe(m, next, &p->drawn, link)
		free(m);
	INIT_LIST_HEAD(&p->drawn);
	if (p->inner >= 0)
		close(p->inner);
	p->inner = -1;
}

static int pipe_reserve(int fd, int bytes)
{
	int half = bytes / 2;	/* the kernel doubles it */
	socklen_t length = sizeof(bytes);
	int room = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, &length))
		return -errno;
	if (room >= bytes)
		return 0;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &half, sizeof(half)) ||
	    getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, &length))
		return -errno;
	return room >= bytes ? 0 : -EMSGSIZE;
}

int user_pipe_reserve(struct user_pipe *p, size_t bytes, size_t most)
{
	int err = pipe_reserve(p->inner, bytes + OVERHEAD_BYTES);

	p->most = most;
	return err ? err : pipe_reserve(p->outer, bytes + OVERHEAD_BYTES);
}

/* ---- to the program ---- */

/* Send a completion. Returns -EPIPE if the program receives nothing any more. */
static int pipe_send(struct user_pipe *p, const struct collsock_completion *c, const void *result)
{
	struct iovec parts[] = {
		{ (void *)c, sizeof(*c) }, { (void *)result, c->bytes },
	};
	const struct msghdr m = { .msg_iov = parts, .msg_iovlen = c->bytes ? 2 : 1 };

	if (sendmsg(p->inner, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return -errno;
	p->pushed = true;
	return 0;
}

void user_pipe_end(struct user_pipe *p)
{
	if (!p->ended)
		shutdown(p->inner, SHUT_RDWR);
	p->ended = true;
}

/* ---- from the program ---- */

/* An empty message has no bytes either, so poll() decides whether it is the end. */
static bool pipe_is_at_end(const struct user_pipe *p)
{
	struct pollfd inner = { .fd = p->inner, .events = POLLRDHUP };

	return poll(&inner, 1, 0) > 0 && inner.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

ssize_t user_pipe_read(struct user_pipe *p, void *data, size_t room)
{
	ssize_t bytes;

	do {
		bytes = recv(p->inner, data, room, MSG_DONTWAIT | MSG_TRUNC);
		/* The program has closed its end, with completions in it; what it sent is there. */
	} while (bytes < 0 && (errno == EINTR || errno == ECONNRESET));
	if (bytes < 0)
		return errno == EAGAIN ? -EAGAIN : -EPIPE;
	return bytes || !pipe_is_at_end(p) ? bytes : -EPIPE;
}

/* ---- completions back from the pair ---- */

/* Bytes of the next message, or -EAGAIN. */
static ssize_t pipe_peek(struct user_pipe *p)
{
	ssize_t bytes = recv(p->outer, NULL, 0, MSG_DONTWAIT | MSG_PEEK | MSG_TRUNC);

	return bytes > 0 ? bytes : -EAGAIN;
}

/*
 * Draw the next message out, and insert it behind @last. Any length may come, as another thread of
 * the program may have received the one that was seen. -EAGAIN if there is none, -ENOMEM
 */
static int pipe_draw(struct user_pipe *p, struct list_head *last)
{
	struct pipe_message *m = malloc(sizeof(*m) + p->most), *shrunk;
	struct iovec parts[2];
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

	if (!m)
		return -ENOMEM;
	parts[0] = (struct iovec){ &m->completion, sizeof(m->completion) };
	parts[1] = (struct iovec){ m->result, p->most };
	if (recvmsg(p->outer, &message, MSG_DONTWAIT) < (ssize_t)sizeof(m->completion)) {
		free(m);
		return -EAGAIN;
	}
	shrunk = realloc(m, sizeof(*m) + m->completion.bytes);
	list_add(shrunk ? &shrunk->link : &m->link, last);
	return 0;
}

/* Draw all messages out, behind @last. -ENOMEM: perhaps not all were */
static int pipe_draw_all(struct user_pipe *p, struct list_head *last)
{
	int err = 0;

	while (!err && pipe_peek(p) > 0) {
		err = pipe_draw(p, last);
		if (!err)
			last = last->next;
		else if (err == -EAGAIN)
			err = 0;
	}
	if (!err)
		p->pushed = false;
	return err;
}

/* Put all drawn messages back into the pair. Returns 0, or why some could not be. */
static int pipe_put_back(struct user_pipe *p)
{
	struct pipe_message *m, *next;
	int err;

	list_for_each_entry_safe(m, next, &p->drawn, link) {
		err = p->ended ? -EPIPE : pipe_send(p, &m->completion, m->result);
		if (err)
			return err;
		list_del(&m->link);
		free(m);
	}
	return 0;
}

/*
 * Keep a completion: the program has shut down its end, but calls of the library still receive it.
 */
static int pipe_keep(struct user_pipe *p, const struct collsock_completion *c, const void *result)
{
	struct pipe_message *m = malloc(sizeof(*m) + c->bytes);

	if (!m)
		return -ENOMEM;
	m->completion = *c;
	if (c->bytes)
		memcpy(m->result, result, c->bytes);
	list_add_tail(&m->link, &p->drawn);
	return 0;
}

int user_pipe_push(struct user_pipe *p, const struct user_slot *slot, const void *result)
{
	int err = pipe_put_back(p);

	if (!err)
		err = pipe_send(p, &slot->completion, result);
	return err == -EPIPE ? pipe_keep(p, &slot->completion, result) : err;
}

static int pipe_deliver(struct pipe_message *m, const struct user_pipe_room *room)
{
	if (m->completion.bytes > room->result_bytes)
		return -EMSGSIZE;
	*room->completion = m->completion;
	if (m->completion.bytes)
		memcpy(room->result, m->result, m->completion.bytes);
	list_del(&m->link);
	free(m);
	return 0;
}

static int pipe_deliver_drawn(struct user_pipe *p, const u64 *cookie,
			      const struct user_pipe_room *room)
{
	struct pipe_message *m;

	list_for_each_entry(m, &p->drawn, link)
		if (!cookie || m->completion.cookie == *cookie)
			return pipe_deliver(m, room);
	return -EAGAIN;
}

static int pipe_pull(struct user_pipe *p, const u64 *cookie, const struct user_pipe_room *room)
{
	int err = 0;

	/* What is in the pair is older. */
	if (p->pushed)
		err = pipe_draw_all(p, &p->drawn);
	if (!err)
		err = pipe_deliver_drawn(p, cookie, room);
	if (!list_empty(&p->drawn))
		pipe_put_back(p);
	return err;
}

int user_pipe_find(struct user_pipe *p, u64 cookie, const struct user_pipe_room *room)
{
	return pipe_pull(p, &cookie, room);
}

/* Receive the next message where it belongs: none is too long. */
static int pipe_receive(struct user_pipe *p, const struct user_pipe_room *room)
{
	struct iovec parts[] = {
		{ room->completion, sizeof(*room->completion) },
		{ room->result, room->result_bytes },
	};
	struct msghdr m = { .msg_iov = parts, .msg_iovlen = room->result_bytes ? 2 : 1 };

	return recvmsg(p->outer, &m, MSG_DONTWAIT) > 0 ? 0 : -EAGAIN;
}

/*
 * Receive the next message, which may be too long; none was drawn before. If it is, those behind
 * it are drawn out, too, so that all are put back in their order.
 */
static int pipe_receive_any(struct user_pipe *p, const struct user_pipe_room *room)
{
	int err = pipe_draw(p, &p->drawn);

	if (!err)
		err = pipe_deliver_drawn(p, NULL, room);
	if (err == -EMSGSIZE) {
		pipe_draw_all(p, p->drawn.next);
		pipe_put_back(p);
	}
	return err;
}

int user_pipe_pull(struct user_pipe *p, const struct user_pipe_room *room)
{
	ssize_t bytes;

	if (!list_empty(&p->drawn))
		return pipe_pull(p, NULL, room);
	bytes = p->pushed ? pipe_peek(p) : -EAGAIN;
	if (bytes < 0) {
		p->pushed = false;
		return -EAGAIN;
	}
	if ((size_t)bytes > sizeof(*room->completion) + room->result_bytes)
		return -EMSGSIZE;
	return room->result_bytes < p->most ? pipe_receive_any(p, room) : pipe_receive(p, room);
}
