// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "user_member.h"
#include "user_thread.h"
#include "user_wait.h"

/* Read anew each time, as programs may change the settings of their descriptor. */
u64 user_wait_patience(const struct user_member *m, int option)
{
	struct timeval t = { };
	socklen_t bytes = sizeof(t);

	if (!__atomic_load_n(&m->handle.exposed, __ATOMIC_RELAXED))
		return COLL_NEVER;
	if (fcntl(m->pipe.outer, F_GETFL) & O_NONBLOCK)
		return 0;
	if (getsockopt(m->pipe.outer, SOL_SOCKET, option, &t, &bytes) || (!t.tv_sec && !t.tv_usec))
		return COLL_NEVER;
	return (u64)t.tv_sec * NSEC_PER_SEC + t.tv_usec * NSEC_PER_USEC;
}

static u64 wait_left(u64 until)
{
	u64 now = user_clock_ns();

	return until > now ? until - now : 0;
}

/* The library's thread handles anything that is due meanwhile. */
static int wait_drive(struct user_member *m, const struct user_wait *w, u64 until)
{
	bool limited = until != COLL_NEVER;
	int got;

	m->waiters.driver = w;
	user_thread_mind(m);
	pthread_mutex_unlock(&m->lock);
	got = limited ? user_udp_poll(&m->udp, wait_left(until)) : user_udp_sleep(&m->udp);
	pthread_mutex_lock(&m->lock);
	m->waiters.driver = NULL;
	if (got >= 0 && limited)
		user_member_progress(m);
	else if (got >= 0)
		user_member_arrive(m, got);
	return got < 0 && got != -EAGAIN ? got : 0;
}

static void wait_follow(struct user_member *m, u64 until)
{
	const struct timespec end = { until / NSEC_PER_SEC, until % NSEC_PER_SEC };

	if (until == COLL_NEVER)
		pthread_cond_wait(&m->waiters.changed, &m->lock);
	else
		pthread_cond_timedwait(&m->waiters.changed, &m->lock, &end);
}

/* Look for packets without sleeping, unless another thread does. */
static bool wait_look(struct user_member *m, const struct user_wait *w)
{
	if (!m->waiters.driver)
		user_member_progress(m);
	return w->ready(m, w->what);
}

static bool wait_spin(struct user_member *m, const struct user_wait *w)
{
	u64 end = user_clock_ns() + w->spin_us * NSEC_PER_USEC;

	do {
		if (wait_look(m, w))
			return true;
		/* Others may want to post. */
		pthread_mutex_unlock(&m->lock);
		pthread_mutex_lock(&m->lock);
	} while (user_clock_ns() < end);
	return false;
}

static int wait_until(struct user_member *m, const struct user_wait *w, u64 until)
{
	int err = 0;

	while (!w->ready(m, w->what)) {
		if (m->handle.closed)
			return -EPIPE;
		if (err || (until != COLL_NEVER && user_clock_ns() >= until))
			return err ? err : -EAGAIN;
		if (m->waiters.driver)
			wait_follow(m, until);
		else
			err = wait_drive(m, w, until);
	}
	return 0;
}

static int wait_asleep(struct user_member *m, const struct user_wait *w)
{
	u64 patience = user_wait_patience(m, w->option);

	if (!patience)
		return wait_look(m, w) ? 0 : -EAGAIN;
	return wait_until(m, w, patience == COLL_NEVER ? patience : user_clock_ns() + patience);
}

int user_wait(struct user_member *m, const struct user_wait *w)
{
	int err = 0;

	if (w->ready(m, w->what))
		return 0;
	if (!m->waiters.count++)
		user_thread_hand_out(m);
	if (!w->spin_us || !wait_spin(m, w))
		err = wait_asleep(m, w);
	/* Let another waiting thread drive now. */
	if (--m->waiters.count)
		pthread_cond_broadcast(&m->waiters.changed);
	else
		user_thread_take_back(m);
	return err;
}
