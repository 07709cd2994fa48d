// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Joining with an exchange, and finding out that packets arrive */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "internal.h"
#include "joining_text.h"
#include "socket.h"

#define MS_PER_S 1000
#define NS_PER_MS 1000000

static __s64 join_clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (__s64)t.tv_sec * MS_PER_S + t.tv_nsec / NS_PER_MS;
}

/*
 * Wait until a completion can be received, continuing after signals. Returns 1 if one can be
 * received, 0 on time-out, or a negative errno.
 */
static int join_await(const struct collsock *s, __u32 timeout_ms)
{
	struct pollfd readable = { .fd = s->fd, .events = POLLIN };
	__s64 end = join_clock_ms() + timeout_ms, left = timeout_ms;
	int ready;

	do {
		ready = poll(&readable, 1, left);
		left = end - join_clock_ms();
	} while (ready < 0 && errno == EINTR && left > 0);
	if (ready < 0 && errno != EINTR)
		return -errno;
	return ready > 0;
}

/*
 * Joining does not show whether packets arrive; a first barrier does. Its failure must not reach
 * the program as that of an operation.
 */
static struct joining_outcome join_try_out(struct collsock *s, const struct joining *j)
{
	__u64 cookie = atomic_fetch_add(&s->next_cookie, 1) | COLLSOCK_LIBRARY_COOKIES;
	struct collsock_completion completion = { .failed_rank = j->rank };
	int err = collsock_post_barrier(s, cookie);

	if (!err)
		err = join_await(s, j->options.timeout_ms);
	if (!err)
		return joining_unheard(j, s);
	if (err < 0)
		return (struct joining_outcome){ err, j->rank };
	do {
		err = collsock_wait(s, cookie, &completion, NULL, 0);
	} while (err == -EINTR);
	if (err)
		return (struct joining_outcome){ err, j->rank };
	return (struct joining_outcome){ -(int)completion.error, completion.failed_rank };
}

/* @error: of @s; @tried: out: all ranks have joined */
static struct joining_outcome join_group(struct joining *j, struct collsock *s, int error,
					 bool *tried)
{
	struct joining_outcome o = joining_prepare(j);

	if (!o.error)
		o = joining_enter(j, s, error);
	*tried = !o.error;
	return *tried ? joining_agree(j, join_try_out(s, j)) : o;
}

static struct joining_outcome join_steps(struct joining *j, struct collsock **s, int error,
					 bool *tried)
{
	struct joining_outcome o;

	if (!error)
		joining_find_devices(j, *s);
	o = joining_meet(j, error);
	if (!o.error)
		o = join_group(j, *s, 0, tried);
	if (!o.error || !joining_can_fall_back(j))
		return o;
	joining_fall_back(j);
	collsock_close(*s);
	*s = NULL;
	error = socket_open(s, j->options.open_flags, j->options.backend);
	return join_group(j, *s, error, tried);
}

static void join_report(const struct joining *j, struct joining_outcome o, bool tried)
{
	if (j->options.failed_rank)
		*j->options.failed_rank = o.rank;
	if (!j->options.text || !j->options.text_bytes)
		return;
	if (o.error)
		joining_text(j, o, tried, j->options.text, j->options.text_bytes);
	else
		j->options.text[0] = '\0';
}

static int join_refuse(const struct collsock_options *o, __u32 rank, __u32 ranks)
{
	if (o->failed_rank)
		*o->failed_rank = COLLSOCK_NO_RANK;
	if (o->text && o->text_bytes)
		snprintf(o->text, o->text_bytes,
			 "rank %u of %u: ranks count from 0, there are 1 to %u, and they need a function for the exchange",
			 rank, ranks, COLLSOCK_MAX_RANKS);
	return -EINVAL;
}

COLLSOCK_PUBLIC int collsock_join_with(struct collsock **joined,
				       const struct collsock_options *options, __u32 rank,
				       __u32 ranks, collsock_exchange exchange, void *ctx)
{
	struct collsock_options complete;
	struct joining_outcome o;
	struct collsock *s = NULL;
	struct user_ports ports;
	struct joining j;
	bool tried = false;
	int err;

	err = joining_options_complete(&complete, options);
	if (!exchange || rank >= ranks || ranks > COLLSOCK_MAX_RANKS) {
		explicit_bzero(complete.key, sizeof(complete.key));
		return join_refuse(&complete, rank, ranks);
	}
	/* The other ranks are told of an error. */
	if (!err)
		err = socket_open(&s, complete.open_flags, complete.backend);
	user_ports_init(&ports);
	o = (struct joining_outcome){
		joining_init(&j, &complete, rank, ranks, exchange, ctx), rank
	};
	j.ports = s && s->user ? &ports : NULL;
	if (!o.error)
		o = join_steps(&j, &s, err, &tried);
	join_report(&j, o, tried);
	joining_free(&j);
	user_ports_free(&ports);
	explicit_bzero(complete.key, sizeof(complete.key));
	if (o.error) {
		collsock_close(s);
		return o.error;
	}
	s->spin_us = complete.spin_us;
	*joined = s;
	return 0;
}
