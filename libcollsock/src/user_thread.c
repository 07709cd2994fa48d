// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "user_listener.h"
#include "user_report.h"
#include "user_thread.h"

/* How long the end of a process waits for acknowledgments: what each member lingers, twice */
#define EXIT_NS	(2 * USER_LINGER_MS * NSEC_PER_MSEC)

/*
 * For how long the thread leaves packets to a program that has just waited for some: it may well
 * wait for the next ones, and to wake the thread for them costs two switches of processes. A
 * program that computes instead gets its packets handled that much later, once.
 */
#define REST_NS	(100 * NSEC_PER_USEC)

/**
 * struct thread - of the process
 * @lock: of the list, and of what begins the thread
 * @changed: a member of the list has gone, or has nothing under way any more
 * @members: the list
 * @runs: the thread has begun
 * @exits: the end of the process is provided for
 * @epoll: readable if a member that it drives has something to do
 * @kick: an eventfd in it: look at all members now
 * @listener: where others ask what this process does, or -1 (user_listener.h)
 * @number: of the latest member
 * @wakes_ns: when it wakes by itself
 */
struct thread {
	pthread_mutex_t		lock;
	pthread_cond_t		changed;
	struct list_head	members;
	bool			runs;
	bool			exits;
	int			epoll;
	int			kick;
	int			listener;
	u8			number;
	u64			wakes_ns;
};

static struct thread thread = {
	.lock		= PTHREAD_MUTEX_INITIALIZER,
	.changed	= PTHREAD_COND_INITIALIZER,
	.members	= { &thread.members, &thread.members },
	.epoll		= -1,
	.kick		= -1,
	.listener		= -1,
};

/* ---- which members it drives ---- */

static void thread_kick(void)
{
	const u64 one = 1;

	/* If the counter is full it is readable, too. */
	if (write(thread.kick, &one, sizeof(one)) < 0)
		return;
}

/* May packets of the member wake the thread? */
static void thread_watch(struct user_member *m, bool watch)
{
	struct epoll_event e = { .events = watch ? EPOLLIN : 0 };

	if (watch != m->watched)
		epoll_ctl(thread.epoll, EPOLL_CTL_MOD, m->epoll, &e);
	m->watched = watch;
}

/* Wake the thread in @ns; 0: do not. */
static void thread_rest(struct user_member *m, u64 ns)
{
	const struct itimerspec end = { .it_value = { 0, ns } };

	m->rests_ns = ns ? user_clock_ns() + ns : COLL_NEVER;
	timerfd_settime(m->rest, 0, &end, NULL);
}

void user_thread_hand_out(struct user_member *m)
{
	if (m->watched)
		thread_watch(m, false);
	else
		thread_rest(m, 0);
}

/*
 * Is it due when none of the threads that wait for it knows? After a rest this thread looks at it
 * anyway.
 */
static bool thread_is_due_here(const struct user_member *m)
{
	if (m->driven)
		return user_member_due(m) < m->sleeps_ns;
	return !m->waiters && m->rests_ns == COLL_NEVER;
}

/*
 * The thread sees deadlines under the member's lock after it has said that it wakes never, so
 * either it sees this one, or it is kicked.
 */
void user_thread_mind(struct user_member *m)
{
	if (thread_is_due_here(m) &&
	    user_member_due(m) < __atomic_load_n(&thread.wakes_ns, __ATOMIC_SEQ_CST))
		thread_kick();
}

void user_thread_take_back(struct user_member *m)
{
	thread_rest(m, REST_NS);
}

/* ---- the thread ---- */

static void thread_forget(struct user_member *m)
{
	list_del(&m->link);
	user_member_free(m);
}

/* Drive a member; it is freed when it is OVER. Returns when it is due next. */
static u64 thread_drive(struct user_member *m)
{
	enum user_state before;
	u64 due = COLL_NEVER;
	bool over;

	pthread_mutex_lock(&m->lock);
	before = m->state;
	if (!m->waiters && m->rests_ns <= user_clock_ns()) {
		thread_watch(m, true);
		thread_rest(m, 0);
	}
	if (m->watched || (thread_is_due_here(m) && user_member_due(m) <= user_clock_ns()))
		user_member_progress(m, true);
	if (thread_is_due_here(m))
		due = user_member_due(m);
	over = m->state == USER_OVER;
	if (m->state != before)
		pthread_cond_broadcast(&thread.changed);
	pthread_mutex_unlock(&m->lock);
	if (over)
		thread_forget(m);
	return over ? COLL_NEVER : due;
}

static u64 thread_drive_all(void)
{
	struct user_member *m, *next;
	u64 due = COLL_NEVER;

	pthread_mutex_lock(&thread.lock);
	__atomic_store_n(&thread.wakes_ns, COLL_NEVER, __ATOMIC_SEQ_CST);
	list_for_each_entry_safe(m, next, &thread.members, link)
		due = min(due, thread_drive(m));
	__atomic_store_n(&thread.wakes_ns, due, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&thread.lock);
	return due;
}

int user_thread_report(void)
{
	struct user_report report = { .failed = false };
	struct user_member *m;

	pthread_mutex_lock(&thread.lock);
	list_for_each_entry(m, &thread.members, link) {
		pthread_mutex_lock(&m->lock);
		if (m->state == USER_JOINED || m->state == USER_LINGERING)
			user_report_member(&report, m);
		pthread_mutex_unlock(&m->lock);
	}
	pthread_mutex_unlock(&thread.lock);
	return user_report_file(&report);
}

static void thread_answer(void)
{
	int client = user_listener_accept(thread.listener), file;

	if (client < 0)
		return;
	file = user_thread_report();
	if (file >= 0)
		user_listener_answer(client, file);
	else
		close(client);
}

/* Which member it is does not matter: all are looked at. */
static void thread_sleep(u64 due)
{
	u64 now = user_clock_ns(), left = due > now ? due - now : 0;
	const struct timespec timeout = { left / NSEC_PER_SEC, left % NSEC_PER_SEC };
	struct pollfd work[] = {
		{ .fd = thread.epoll, .events = POLLIN },
		{ .fd = thread.listener, .events = POLLIN },
	};
	u64 kicks;

	if (ppoll(work, 2, due == COLL_NEVER ? NULL : &timeout, NULL) > 0 && work[1].revents)
		thread_answer();
	if (read(thread.kick, &kicks, sizeof(kicks)) < 0)
		return;
}

static void *thread_main(void *unused)
{
	for (;;)
		thread_sleep(thread_drive_all());
	return unused;
}

/* ---- the end of the process ---- */

static bool thread_is_quiet(void)
{
	struct user_member *m;
	bool quiet = true;

	list_for_each_entry(m, &thread.members, link) {
		pthread_mutex_lock(&m->lock);
		quiet &= m->state != USER_JOINED && m->state != USER_LINGERING;
		pthread_mutex_unlock(&m->lock);
	}
	return quiet;
}

static void thread_abandon_all(void)
{
	struct user_member *m;

	list_for_each_entry(m, &thread.members, link) {
		pthread_mutex_lock(&m->lock);
		user_member_abandon(m);
		pthread_mutex_unlock(&m->lock);
	}
	thread_kick();
}

/* The ranks of this process leave, and what they have posted is acknowledged. */
static void thread_exit(void)
{
	u64 end = user_clock_ns() + EXIT_NS;
	struct timespec until = { end / NSEC_PER_SEC, end % NSEC_PER_SEC };

	pthread_mutex_lock(&thread.lock);
	if (thread.runs) {
		thread_abandon_all();
		while (!thread_is_quiet() &&
		       !pthread_cond_clockwait(&thread.changed, &thread.lock, CLOCK_MONOTONIC,
					       &until))
			;
		user_listener_remove();
	}
	pthread_mutex_unlock(&thread.lock);
}

/* ---- begin ---- */

static int thread_start(void)
{
	sigset_t all, usual;
	pthread_t id;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &usual);
	err = -pthread_create(&id, NULL, thread_main, NULL);
	pthread_sigmask(SIG_SETMASK, &usual, NULL);
	if (!err)
		pthread_detach(id);
	return err;
}

static void thread_close_files(void)
{
	if (thread.epoll >= 0)
		close(thread.epoll);
	if (thread.kick >= 0)
		close(thread.kick);
	if (thread.listener >= 0)
		close(thread.listener);
	thread.epoll = -1;
	thread.kick = -1;
	thread.listener = -1;
}

static int thread_open_files(void)
{
	struct epoll_event e = { .events = EPOLLIN };

	thread.epoll = epoll_create1(EPOLL_CLOEXEC);
	thread.kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (thread.epoll < 0 || thread.kick < 0 ||
	    epoll_ctl(thread.epoll, EPOLL_CTL_ADD, thread.kick, &e))
		return -errno;
	thread.listener = user_listener_open();
	return 0;
}

static int thread_begin(void)
{
	int err;

	if (thread.runs)
		return 0;
	if (!thread.exits && atexit(thread_exit))
		return -ENOMEM;
	thread.exits = true;
	err = thread_open_files();
	if (!err)
		err = thread_start();
	if (err)
		thread_close_files();
	thread.runs = !err;
	return err;
}

/* It may be in it from a JOIN that failed. */
static int thread_add(int fd, u32 events)
{
	struct epoll_event e = { .events = events };

	return epoll_ctl(thread.epoll, EPOLL_CTL_ADD, fd, &e) && errno != EEXIST ? -errno : 0;
}

void user_thread_add(struct user_member *m)
{
	pthread_mutex_lock(&thread.lock);
	list_add_tail(&m->link, &thread.members);
	m->number = ++thread.number;
	pthread_mutex_unlock(&thread.lock);
}

int user_thread_drive(struct user_member *m)
{
	int err;

	pthread_mutex_lock(&thread.lock);
	err = thread_begin();
	if (!err)
		err = thread_add(m->epoll, 0);
	if (!err)
		err = thread_add(m->rest, EPOLLIN);
	pthread_mutex_unlock(&thread.lock);
	return err;
}

void user_thread_close(struct user_member *m)
{
	bool over;

	if (m->dead) {
		free(m);
		return;
	}
	pthread_mutex_lock(&thread.lock);
	pthread_mutex_lock(&m->lock);
	user_member_abandon(m);
	over = m->state == USER_OVER;
	pthread_mutex_unlock(&m->lock);
	if (over)
		thread_forget(m);
	else
		thread_kick();
	pthread_mutex_unlock(&thread.lock);
}

/* ---- fork ---- */

void user_thread_before_fork(void)
{
	struct user_member *m;

	pthread_mutex_lock(&thread.lock);
	list_for_each_entry(m, &thread.members, link)
		pthread_mutex_lock(&m->lock);
}

void user_thread_after_fork(void)
{
	struct user_member *m;

	list_for_each_entry(m, &thread.members, link)
		pthread_mutex_unlock(&m->lock);
	pthread_mutex_unlock(&thread.lock);
}

void user_thread_in_child(void)
{
	struct user_member *m, *next;

	list_for_each_entry_safe(m, next, &thread.members, link) {
		bool closed = m->closed;

		user_member_die(m);
		if (closed)
			free(m);
	}
	INIT_LIST_HEAD(&thread.members);
	thread_close_files();
	thread.runs = false;
	pthread_mutex_unlock(&thread.lock);
}
