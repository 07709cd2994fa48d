// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "user_listener.h"
#include "user_thread.h"

/* How long the end of a process waits for acknowledgments: as long as each member lingers */
#define EXIT_NS		((USER_EXIT_LINGER_MS + USER_TELL_LINGER_MS) * NSEC_PER_MSEC)

/*
 * For how long the thread leaves packets to a program that has just waited for some: it may well
 * wait for the next ones, and waking the thread for them costs two context switches. If the program
 * computes instead, its packets are handled that much later, once.
 */
#define REST_NS		(100 * NSEC_PER_USEC)

/*
 * After RETURNS waits, each of which began before that time was over, the thread leaves packets to
 * the program for this longer time, so that the timer need not be set for each wait. Not while a
 * post is under way, as then the timer is set earlier for other reasons.
 */
#define LONG_REST_NS	(2 * NSEC_PER_MSEC)
#define RETURNS		16

#define EVENTS		16	/* that wake the thread at once */

/**
 * struct thread - of the process
 * @lock: of the list, and of what begins the thread
 * @changed: a member of the list has gone, or has nothing under way any more
 * @members: the list
 * @runs: the thread has begun
 * @exits: the end of the process is provided for
 * @epoll: of what wakes it: members that have something to do, and the next two
 * @kick: an eventfd: look at all members now
 * @listener: where others ask what this process does, or -1 (user_listener.h)
 * @number: of the latest member
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
};

static struct thread thread = {
	.lock		= PTHREAD_MUTEX_INITIALIZER,
	.changed	= PTHREAD_COND_INITIALIZER,
	.members	= { &thread.members, &thread.members },
	.epoll		= -1,
	.kick		= -1,
	.listener	= -1,
};

/* ---- which members it drives ---- */

static void thread_kick(void)
{
	const u64 one = 1;

	/* If the counter is full it is readable as well. */
	if (write(thread.kick, &one, sizeof(one)) < 0)
		return;
}

/* May packets of the member wake the thread? */
static void thread_watch(struct user_member *m, bool watch)
{
	struct epoll_event e = { .events = EPOLLIN };

	epoll_ctl(m->alarm.epoll, watch ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, m->udp.fd, &e);
	m->alarm.watched = watch;
}

void user_thread_hand_out(struct user_member *m)
{
	struct user_waiters *w = &m->waiters;

	w->returns = m->event.now - w->rested_ns < REST_NS ? w->returns + 1 : 0;
	if (m->alarm.watched)
		thread_watch(m, false);
}

void user_thread_take_back(struct user_member *m)
{
	m->waiters.rested_ns = m->event.now;
}

static u64 thread_rests_until(const struct user_member *m)
{
	bool longer = m->waiters.returns >= RETURNS && m->slots.posted == m->slots.ended;

	return m->waiters.rested_ns + (longer ? LONG_REST_NS : REST_NS);
}

/* When must it look at the member, if nothing comes before? */
static u64 thread_due(struct user_member *m)
{
	u64 due;

	if (!user_member_is_alive(m))
		return COLL_NEVER;
	due = user_member_due(m);
	return m->waiters.count || m->alarm.watched ? due : min(due, thread_rests_until(m));
}

/* Set the timer of a member. COLL_NEVER: it does not expire. */
static void thread_set_timer(struct user_member *m, u64 at)
{
	struct itimerspec end = { .it_value = { 0 } };

	if (at != COLL_NEVER)
		end.it_value = (struct timespec){ at / NSEC_PER_SEC, at % NSEC_PER_SEC };
	m->alarm.expires_ns = at;
	timerfd_settime(m->alarm.timer, TFD_TIMER_ABSTIME, &end, NULL);
}

/*
 * A timer that expires too early is left alone, as it is set again when it expires. But before it
 * wakes the thread in vain again and again, it is set to a later time.
 */
void user_thread_mind(struct user_member *m)
{
	u64 due = thread_due(m), later = min(due, m->event.now + LONG_REST_NS);

	if (due < m->alarm.expires_ns)
		thread_set_timer(m, due);
	else if (m->alarm.expires_ns < later - LONG_REST_NS / 4)
		thread_set_timer(m, later);
}

/* ---- the thread ---- */

static void thread_forget(struct user_member *m)
{
	list_del(&m->link);
	user_member_free(m);
}

/* Drive a member; it is freed when it is OVER, unless the program still has its handle. */
static void thread_drive(struct user_member *m)
{
	enum user_state before;
	bool over, expired;
	u64 now;

	pthread_mutex_lock(&m->lock);
	before = m->state;
	now = user_clock_ns();
	expired = m->alarm.expires_ns <= now;
	if (user_member_is_alive(m) && !m->waiters.count && !m->alarm.watched &&
	    thread_rests_until(m) <= now)
		thread_watch(m, true);
	if (m->alarm.watched)
		user_member_progress(m);
	user_member_attend(m);
	if (expired)
		thread_set_timer(m, thread_due(m));
	else
		user_thread_mind(m);
	if (m->alarm.watched && !user_member_is_alive(m))
		thread_watch(m, false);
	over = m->state == USER_OVER && m->handle.released;
	if (m->state != before)
		pthread_cond_broadcast(&thread.changed);
	pthread_mutex_unlock(&m->lock);
	if (over)
		thread_forget(m);
}

static void thread_drive_all(void)
{
	struct user_member *m, *next;

	pthread_mutex_lock(&thread.lock);
	list_for_each_entry_safe(m, next, &thread.members, link)
		thread_drive(m);
	pthread_mutex_unlock(&thread.lock);
}

void user_thread_report(struct user_report *report)
{
	struct user_member *m;

	pthread_mutex_lock(&thread.lock);
	list_for_each_entry(m, &thread.members, link) {
		pthread_mutex_lock(&m->lock);
		if (m->state == USER_JOINED || m->state == USER_LINGERING)
			user_report_member(report, m);
		pthread_mutex_unlock(&m->lock);
	}
	pthread_mutex_unlock(&thread.lock);
}

static void thread_answer(int client)
{
	struct user_report report = { .failed = false };
	int file;

	user_thread_report(&report);
	file = user_report_file(&report);
	if (file >= 0)
		user_listener_answer(client, file);
	else
		close(client);
}

/* Clients that could not be accepted for lack of descriptors wait until another client asks. */
static void thread_answer_all(void)
{
	int client;

	while ((client = user_listener_accept(thread.listener)) >= 0)
		thread_answer(client);
}

static void thread_forget_kicks(void)
{
	u64 kicks;

	if (read(thread.kick, &kicks, sizeof(kicks)) < 0)
		return;
}

/* All members are looked at, so it does not matter which one has woken the thread. */
static void thread_sleep(void)
{
	struct epoll_event woken[EVENTS];
	int count = epoll_wait(thread.epoll, woken, EVENTS, -1), i;

	for (i = 0; i < count; i++) {
		if (woken[i].data.fd == thread.kick)
			thread_forget_kicks();
		else if (woken[i].data.fd == thread.listener)
			thread_answer_all();
	}
}

static void *thread_main(void *unused)
{
	for (;;) {
		thread_drive_all();
		thread_sleep();
	}
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
		user_member_abandon(m, USER_EXIT_LINGER_MS);
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

/* The descriptor may have been added by a JOIN that failed. */
static int thread_add(int fd, u32 events)
{
	struct epoll_event e = { .events = events, .data.fd = fd };

	return epoll_ctl(thread.epoll, EPOLL_CTL_ADD, fd, &e) && errno != EEXIST ? -errno : 0;
}

static int thread_open_files(void)
{
	int err;

	thread.epoll = epoll_create1(EPOLL_CLOEXEC);
	thread.kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (thread.epoll < 0 || thread.kick < 0)
		return -errno;
	err = thread_add(thread.kick, EPOLLIN);
	thread.listener = user_listener_open();
	if (!err && thread.listener >= 0)
		err = thread_add(thread.listener, EPOLLIN | EPOLLET);
	return err;
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
		err = thread_add(m->alarm.epoll, EPOLLIN);
	if (!err)
		err = thread_add(m->alarm.timer, EPOLLIN);
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
	user_member_abandon(m, USER_CLOSE_LINGER_MS);
	m->handle.released = true;
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
		bool closed = m->handle.released || m->handle.closing;

		if (m->handle.closing && !m->handle.released)
			close(m->pipe.outer);
		user_member_die(m);
		if (closed)
			free(m);
	}
	INIT_LIST_HEAD(&thread.members);
	thread_close_files();
	thread.runs = false;
	pthread_mutex_unlock(&thread.lock);
}
