// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "user_member.h"
#include "user_thread.h"
#include "user_wait.h"

/* How long the program's descriptor lets a call wait, in ns: programs change its settings. */
static u64 wait_patience(const struct user_member *m, int option)
{
	struct timeval t = { };
	socklen_t bytes = sizeof(t);

	if (fcntl(m->pipe.outer, F_GETFL) & O_NONBLOCK)
		return 0;
	if (getsockopt(m->pipe.outer, SOL_SOCKET, option, &t, &bytes) || (!t.tv_sec && !t.tv_usec))
		return COLL_NEVER;
	return (u64)t.tv_sec * NSEC_PER_SEC + t.tv_usec * NSEC_PER_USEC;
}

/* Sleep until there is something to do, or a signal: -EINTR. @posts: out: of the descriptor, too */
static int wait_sleep(struct user_member *m, u64 until, bool *posts)
{
	struct pollfd fds[] = {
		{ .fd = m->udp.fd, .events = POLLIN },
		{ .fd = m->pipe.watched ? m->pipe.inner : -1, .events = m->pipe.watched },
	};
	u64 due = min(until, user_member_due(m)), now = user_clock_ns();
	u64 left = due > now ? due - now : 0;
	const struct timespec timeout = { left / NSEC_PER_SEC, left % NSEC_PER_SEC };
	int ready, err;

	m->sleeps_ns = due;
	pthread_mutex_unlock(&m->lock);
	ready = ppoll(fds, 2, due == COLL_NEVER ? NULL : &timeout, NULL);
	err = ready < 0 && errno == EINTR ? -EINTR : 0;
	*posts = ready > 0 && fds[1].revents;
	pthread_mutex_lock(&m->lock);
	return err;
}

static int wait_drive(struct user_member *m, u64 until)
{
	bool posts;
	int err;

	m->driven = true;
	err = wait_sleep(m, until, &posts);
	m->driven = false;
	user_member_progress(m, posts);
	return err;
}

static void wait_follow(struct user_member *m, u64 until)
{
	const struct timespec end = { until / NSEC_PER_SEC, until % NSEC_PER_SEC };

	if (until == COLL_NEVER)
		pthread_cond_wait(&m->changed, &m->lock);
	else
		pthread_cond_timedwait(&m->changed, &m->lock, &end);
}

/* Look for packets without sleeping. */
static bool wait_spin(struct user_member *m, const struct user_wait *w)
{
	u64 end = w->spin_us ? user_clock_ns() + w->spin_us * NSEC_PER_USEC : 0;

	do {
		user_member_progress(m, false);
		if (w->ready(m, w->what))
			return true;
		/* Others may want to post. */
		pthread_mutex_unlock(&m->lock);
		pthread_mutex_lock(&m->lock);
	} while (w->spin_us && user_clock_ns() < end);
	return false;
}

static int wait_until(struct user_member *m, const struct user_wait *w, u64 until)
{
	int err = 0;

	while (!w->ready(m, w->what)) {
		if (m->closed)
			return -EPIPE;
		if (err || user_clock_ns() >= until)
			return err ? err : -EAGAIN;
		if (m->driven)
			wait_follow(m, until);
		else
			err = wait_drive(m, until);
	}
	return 0;
}

static int wait_asleep(struct user_member *m, const struct user_wait *w)
{
	u64 patience = wait_patience(m, w->option);

	if (!patience)
		return -EAGAIN;
	return wait_until(m, w, patience == COLL_NEVER ? patience : user_clock_ns() + patience);
}

int user_wait(struct user_member *m, const struct user_wait *w)
{
	int err = 0;

	if (w->ready(m, w->what))
		return 0;
	if (!m->waiters++)
		user_thread_hand_out(m);
	if (!wait_spin(m, w))
		err = wait_asleep(m, w);
	/* Another one of those who wait drives now. */
	if (--m->waiters)
		pthread_cond_broadcast(&m->changed);
	else
		user_thread_take_back(m);
	return err;
}
