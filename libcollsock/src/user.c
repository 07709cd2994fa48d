// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <unistd.h>

#include "user.h"
#include "user_ask.h"
#include "user_member.h"
#include "user_post.h"
#include "user_thread.h"
#include "user_wait.h"

/* ---- life ---- */

int user_open(struct user_member **made, bool nonblocking, int *fd)
{
	struct user_member *m;
	int err = user_member_new(&m, nonblocking);

	if (err)
		return err;
	user_thread_add(m);
	*fd = m->pipe.outer;
	*made = m;
	return 0;
}

void user_expose(struct user_member *m)
{
	__atomic_store_n(&m->handle.exposed, true, __ATOMIC_RELAXED);
}

void user_answer_always(struct user_member *m)
{
	pthread_mutex_lock(&m->lock);
	m->group.timing.liveness = USER_ALWAYS_NS;
	pthread_mutex_unlock(&m->lock);
}

static void user_end(struct user_member *m, int fd)
{
	user_thread_close(m);
	close(fd);
}

void user_close(struct user_member *m, int fd)
{
	bool busy;

	/* In a forked child nobody else has it, and the descriptor is closed. */
	if (m->dead) {
		user_thread_close(m);
		return;
	}
	pthread_mutex_lock(&m->lock);
	busy = m->handle.calls;
	m->handle.closing = true;
	pthread_mutex_unlock(&m->lock);
	if (!busy)
		user_end(m, fd);
}

/* ---- calls ---- */

/* Begin a call. After an error there is nothing to leave. */
static int user_enter(struct user_member *m)
{
	int err;

	if (m->dead)
		return -ECHILD;
	pthread_mutex_lock(&m->lock);
	err = m->state == USER_JOINED ? 0 : m->state == USER_NEW ? -ENOTCONN : -EPIPE;
	if (err)
		pthread_mutex_unlock(&m->lock);
	else
		user_member_begin(m);
	m->handle.calls += !err;
	return err;
}

static void user_leave(struct user_member *m)
{
	int fd = m->pipe.outer;
	bool last;

	user_member_settle(m);
	user_thread_mind(m);
	last = !--m->handle.calls && m->handle.closing;
	pthread_mutex_unlock(&m->lock);
	if (last)
		user_end(m, fd);
}

static bool user_is_writable(struct user_member *m, void *unused)
{
	return m->left || coll_group_writable(&m->group, 0);
}

static int user_post_waiting(struct user_member *m, const struct user_call *call,
			     struct user_slot **slot)
{
	const struct user_wait room = { .ready = user_is_writable, .option = SO_SNDTIMEO };
	int err;

	for (;;) {
		err = user_post(m, call, slot);
		user_member_settle(m);
		if (err != -EAGAIN)
			return err;
		err = user_wait(m, &room);
		if (err)
			return err;
		user_member_begin(m);
	}
}

int user_send(struct user_member *m, const struct collsock_post *post, const void *payload,
	      size_t payload_bytes)
{
	const struct user_call call = {
		.post = post, .payload = payload, .payload_bytes = payload_bytes,
	};
	int err = user_enter(m);

	if (err)
		return err;
	err = user_post_waiting(m, &call, NULL);
	user_leave(m);
	return err;
}

/* ---- completions ---- */

static bool user_is_readable(struct user_member *m, void *unused)
{
	return m->pipe.pushed || !list_empty(&m->pipe.drawn) || m->pipe.ended;
}

int user_receive(struct user_member *m, struct collsock_completion *completion, void *result,
		 size_t result_bytes)
{
	const struct user_wait wait = { .ready = user_is_readable, .option = SO_RCVTIMEO };
	const struct user_pipe_room room = { completion, result, result_bytes };
	int err = user_enter(m);

	if (err)
		return err;
	for (;;) {
		err = user_pipe_pull(&m->pipe, &room);
		if (err != -EAGAIN)
			break;
		err = m->pipe.ended ? -EPIPE : user_wait(m, &wait);
		if (err)
			break;
	}
	user_leave(m);
	return err;
}

static bool user_is_done(struct user_member *m, void *slot)
{
	return ((struct user_slot *)slot)->state == USER_SLOT_DONE;
}

/*
 * Wait for a slot that this call has claimed, and give up the claim after an error. @on: wait on
 * after signals
 */
static int user_finish(struct user_member *m, struct user_slot *slot, const struct user_run *run,
		       struct collsock_completion *completion, bool on)
{
	const struct user_wait wait = {
		.ready = user_is_done, .what = slot, .option = SO_RCVTIMEO,
		.spin_us = run->spin_us,
	};
	int err;

	do {
		err = user_wait(m, &wait);
	} while (err == -EINTR && on);
	if (!err && slot->completion.bytes > run->result_bytes)
		err = -EMSGSIZE;
	if (err) {
		user_slots_unclaim(&m->slots, slot);
		return err;
	}
	*completion = slot->completion;
	if (slot->completion.bytes)
		user_post_result(m, slot, run->result);
	user_slots_release(&m->slots, slot);
	m->event.woken = true;
	return 0;
}

/* Is the call to go on posting after this error? */
static bool user_insists(const struct user_member *m, int err)
{
	return err == -EINTR && user_wait_patience(m, SO_SNDTIMEO) == COLL_NEVER;
}

/* EAGAIN means that nothing was posted, even after a signal. It is not returned after a post. */
int user_run(struct user_member *m, const struct collsock_post *post, const struct user_run *run,
	     struct collsock_completion *completion)
{
	const struct user_call call = {
		.post = post, .payload = run->payload, .payload_bytes = run->payload_bytes,
		.result_bytes = run->result_bytes, .run = true,
	};
	struct user_slot *slot;
	int err = user_enter(m);

	if (err)
		return err;
	do {
		err = user_post_waiting(m, &call, &slot);
	} while (user_insists(m, err));
	if (err == -EINTR)
		err = -EAGAIN;
	if (!err) {
		err = user_finish(m, slot, run, completion, true);
		if (err == -EAGAIN)
			err = -EINPROGRESS;
	}
	user_leave(m);
	return err;
}

/* Wait for the completion of a cookie, which may be in the descriptor already. */
static int user_seek(struct user_member *m, u64 cookie, const struct user_run *run,
		     struct collsock_completion *completion)
{
	const struct user_pipe_room room = { completion, run->result, run->result_bytes };
	struct user_slot *slot;
	int err = -EAGAIN;

	if (m->pipe.pushed || !list_empty(&m->pipe.drawn))
		err = user_pipe_find(&m->pipe, cookie, &room);
	if (err != -EAGAIN)
		return err;
	slot = user_slots_claim(&m->slots, cookie);
	return slot ? user_finish(m, slot, run, completion, false) : -ENOENT;
}

int user_wait_for(struct user_member *m, __u64 cookie, const struct user_run *run,
		  struct collsock_completion *completion)
{
	int err = user_enter(m);

	if (err)
		return err;
	err = user_seek(m, cookie, run, completion);
	user_leave(m);
	return err;
}

static void user_take_report(void *report, pid_t pid, void *messages, size_t bytes)
{
	user_report_add(report, messages, bytes);
}

int user_report(void)
{
	struct user_report report = { .failed = false };
	const struct user_ask ask = {
		.but = getpid(), .take = user_take_report, .ctx = &report,
	};

	user_thread_report(&report);
	user_ask(&ask);
	return user_report_file(&report);
}

int user_page(struct user_member *m, const struct collsock_page **page)
{
	int err = user_enter(m);

	if (err)
		return err;
	*page = &m->slots.page;
	user_leave(m);
	return 0;
}
