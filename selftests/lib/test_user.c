// SPDX-License-Identifier: GPL-2.0
/* What a rank in user space promises besides the results of operations */
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "user_fixture.h"

#define RANKS		4
#define PATIENCE_MS	60000	/* for what must happen */

static __s64 now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (__s64)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- posting and completing ---- */

static bool complete_in_any_order(struct rank *r, struct collsock *s)
{
	static const __u64 order[] = { 5, 2, 7, 0, 1, 6, 3, 4 };
	const struct collsock_page *page;
	struct collsock_completion c;
	__u64 value, sum, posted, i;
	int err;

	err = collsock_map_page(s, &page);
	if (err)
		return wrong(r, "no page: %d", err);
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		value = i + r->rank;
		err = collsock_post_allreduce(s, &value, 1, COLLSOCK_UINT64, COLLSOCK_SUM, i);
		if (err)
			return wrong(r, "post %llu: %d", i, err);
	}
	posted = collsock_posted(page);
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		err = collsock_wait(s, order[i], &c, &sum, sizeof(sum));
		if (err || c.error || c.cookie != order[i])
			return wrong(r, "wait for %llu: %d, error %u", order[i], err, c.error);
		if (sum != RANKS * order[i] + RANKS * (RANKS - 1) / 2)
			return wrong(r, "operation %llu: %llu", order[i], sum);
	}
	if (!collsock_have_ended(page, posted))
		return wrong(r, "the page says that %llu of %llu have ended", page->completed,
			     posted);
	err = collsock_wait(s, 3, &c, &sum, sizeof(sum));
	return err == -ENOENT || wrong(r, "a completion was received again: %d", err);
}

TEST(completions_are_received_in_any_order_each_once)
{
	EXPECT_ALL_WELL(NULL, RANKS, complete_in_any_order);
}

/* Without a call of the library: its thread does the work. */
static bool poll_for_completions(struct rank *r, struct collsock *s)
{
	struct pollfd readable = { .fd = collsock_fd(s), .events = POLLIN };
	struct collsock_completion c;
	__u64 i;

	for (i = 0; i < 10; i++) {
		/* After a call that has driven the rank itself */
		if (collsock_barrier(s, NULL))
			return wrong(r, "barrier %llu", i);
		if (collsock_post_barrier(s, i))
			return wrong(r, "post %llu", i);
		if (poll(&readable, 1, PATIENCE_MS) != 1)
			return wrong(r, "poll() sees no completion");
		if (collsock_complete(s, &c, NULL, 0) || c.error || c.cookie != i)
			return wrong(r, "completion of %llu: error %u, cookie %llu", i, c.error,
				     c.cookie);
	}
	return true;
}

TEST(poll_sees_completions_without_a_call_of_the_library)
{
	EXPECT_ALL_WELL(NULL, RANKS, poll_for_completions);
}

static bool do_not_block(struct rank *r, struct collsock *s)
{
	struct pollfd readable = { .fd = collsock_fd(s), .events = POLLIN };
	struct collsock_post post = {
		.size = sizeof(post), .operation = COLLSOCK_BARRIER, .cookie = 9,
	};
	struct collsock_completion c;
	int err;

	err = collsock_complete(s, &c, NULL, 0);
	if (err != -EAGAIN)
		return wrong(r, "complete without a completion: %d", err);
	if (!r->rank)
		await_step(r, 1);
	err = collsock_run(s, &post, NULL, 0, &c, NULL, 0);
	/* Nobody else can complete it before rank 0 has posted. */
	if (r->rank == 1 && err != -EINPROGRESS)
		return wrong(r, "run before others: %d", err);
	if (r->rank == 1)
		take_step(r, 1);
	while (err == -EINPROGRESS || err == -EAGAIN) {
		if (poll(&readable, 1, PATIENCE_MS) != 1)
			return wrong(r, "no completion");
		err = collsock_wait(s, 9, &c, NULL, 0);
	}
	return (!err && !c.error) || wrong(r, "wait: %d, error %u", err, c.error);
}

TEST(a_nonblocking_rank_does_not_wait)
{
	const struct collsock_options options = { .open_flags = COLLSOCK_OPEN_NONBLOCK };

	EXPECT_ALL_WELL(&options, RANKS, do_not_block);
}

static void ignore(int signal)
{
}

static bool be_interrupted(struct rank *r, struct collsock *s)
{
	const struct sigaction action = { .sa_handler = ignore };
	const struct itimerspec soon = { { 0, 20000000 }, { 0, 20000000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct collsock_completion c;
	timer_t timer;
	int err = 0;

	if (r->rank) {
		await_step(r, 1);
		return !collsock_barrier(s, NULL) || wrong(r, "barrier");
	}
	sigaction(SIGUSR1, &action, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &soon, NULL);
	if (collsock_post_barrier(s, 1))
		return wrong(r, "post");
	err = collsock_wait(s, 1, &c, NULL, 0);
	if (err != -EINTR)
		return wrong(r, "wait: %d instead of -EINTR", err);
	take_step(r, 1);
	do {
		err = collsock_wait(s, 1, &c, NULL, 0);
	} while (err == -EINTR);
	timer_delete(timer);
	return (!err && !c.error) || wrong(r, "wait: %d, error %u", err, c.error);
}

TEST(a_signal_interrupts_a_wait_and_nothing_is_lost)
{
	EXPECT_ALL_WELL(NULL, RANKS, be_interrupted);
}

/* ---- the descriptor ---- */

static bool use_the_descriptor(struct rank *r, struct collsock *s)
{
	struct {
		struct collsock_post	post;
		__u64			value;
	} out = {
		.post = {
			.size = sizeof(out.post), .operation = COLLSOCK_ALLREDUCE,
			.type = COLLSOCK_UINT64, .op = COLLSOCK_SUM, .count = 1, .cookie = 77,
		},
		.value = 10 + r->rank,
	};
	struct {
		struct collsock_completion	completion;
		__u64				value;
	} in;
	int fd = collsock_fd(s);
	ssize_t bytes;

	if (send(fd, &out, sizeof(out), MSG_NOSIGNAL) != sizeof(out))
		return wrong(r, "send: %s", strerror(errno));
	bytes = recv(fd, &in, sizeof(in), 0);
	if (bytes != sizeof(in) || in.completion.error || in.completion.cookie != 77 ||
	    in.completion.bytes != 8 || in.completion.size != sizeof(in.completion))
		return wrong(r, "recv: %zd bytes, error %u", bytes, in.completion.error);
	if (in.value != RANKS * 10 + RANKS * (RANKS - 1) / 2)
		return wrong(r, "the result is %llu", in.value);
	/* What send() would refuse with a socket of the kernel */
	out.post.type = 200;
	send(fd, &out, sizeof(out), MSG_NOSIGNAL);
	bytes = recv(fd, &in, sizeof(in), 0);
	if (bytes != sizeof(in.completion) || in.completion.error != EINVAL ||
	    in.completion.cookie != 77)
		return wrong(r, "no such type: %zd bytes, error %u", bytes, in.completion.error);
	send(fd, &out, 3, MSG_NOSIGNAL);
	bytes = recv(fd, &in, sizeof(in), 0);
	if (bytes != sizeof(in.completion) || in.completion.error != EINVAL)
		return wrong(r, "3 bytes: %zd bytes, error %u", bytes, in.completion.error);
	return !collsock_barrier(s, NULL) || wrong(r, "barrier after errors");
}

TEST(the_descriptor_carries_the_bytes_of_a_socket)
{
	EXPECT_ALL_WELL(NULL, RANKS, use_the_descriptor);
}

/* More posts than the window has room for wait in the descriptor. */
static bool post_many(struct rank *r, struct collsock *s)
{
	struct collsock_post post = { .size = sizeof(post), .operation = COLLSOCK_BARRIER };
	struct collsock_completion c;
	int fd = collsock_fd(s);
	__u64 i;

	for (i = 0; i < 100; i++) {
		post.cookie = i;
		if (send(fd, &post, sizeof(post), MSG_NOSIGNAL) != sizeof(post))
			return wrong(r, "send %llu: %s", i, strerror(errno));
	}
	for (i = 0; i < 100; i++)
		if (recv(fd, &c, sizeof(c), 0) != sizeof(c) || c.error || c.cookie != i)
			return wrong(r, "completion %llu: error %u, cookie %llu", i, c.error,
				     c.cookie);
	return true;
}

TEST(posts_beyond_the_window_wait_in_the_descriptor)
{
	EXPECT_ALL_WELL(NULL, RANKS, post_many);
}

/* ---- failure ---- */

#define LIVENESS_MS 500
#define NAMED_AFTER_MS 2000

static bool lose_rank_2(struct rank *r, struct collsock *s)
{
	struct collsock_completion c = { .failed_rank = 0 };
	struct collsock_self self;
	__s64 begin = now_ms(), took;
	int err;

	if (r->rank == 2) {
		raise(SIGKILL);
		return false;
	}
	err = collsock_barrier(s, &c);
	took = now_ms() - begin;
	if (err != -ETIMEDOUT || c.failed_rank != 2)
		return wrong(r, "barrier: %d, rank %u", err, c.failed_rank);
	/* Not before, either: a rank that is late is not dead. */
	if (took < NAMED_AFTER_MS / 2 || took > 10 * NAMED_AFTER_MS)
		return wrong(r, "rank 2 was found dead after %lld ms", took);
	err = collsock_barrier(s, &c);
	if (err != -ETIMEDOUT || c.failed_rank != 2)
		return wrong(r, "the next barrier: %d, rank %u", err, c.failed_rank);
	if (collsock_self(s, &self, sizeof(self)) || self.error != ETIMEDOUT ||
	    self.failed_rank != 2)
		return wrong(r, "self: error %u, rank %u", self.error, self.failed_rank);
	return true;
}

TEST(a_killed_process_is_named_by_all_others_after_the_liveness_time)
{
	const struct collsock_options options = { .liveness_ms = NAMED_AFTER_MS };
	struct shared *shared = shared_new(RANKS);
	__u32 i;

	start_ranks(shared, &options, RANKS, lose_rank_2);
	EXPECT_EQ(1U << 2, await_ranks(shared, RANKS));
	for (i = 0; i < RANKS; i++) {
		if (i == 2)
			continue;
		EXPECT_TRUE(shared->well[i]) TH_LOG("rank %u: %s", i, shared->text[i]);
	}
}

/* Neither the rank nor any file of it is passed on. */
static bool execute_a_program(struct rank *r, struct collsock *s)
{
	struct collsock_completion c = { .failed_rank = 0 };
	int err;

	if (r->rank == 1) {
		execl("/bin/sh", "sh", "-c",
		      "for f in /proc/$$/fd/*; do\n"
		      "	case ${f##*/}:$(readlink $f) in\n"
		      "	[012]:*) ;;\n"
		      "	*:socket:*|*:anon_inode:*|*:/memfd:*) exit 1;;\n"
		      "	esac\n"
		      "done\n"
		      "exec sleep 1", NULL);
		return false;
	}
	err = collsock_barrier(s, &c);
	return (err == -ETIMEDOUT && c.failed_rank == 1) ||
	       wrong(r, "barrier: %d, rank %u", err, c.failed_rank);
}

TEST(a_program_that_is_executed_is_not_the_rank)
{
	const struct collsock_options options = { .liveness_ms = LIVENESS_MS };
	struct shared *shared = shared_new(2);

	start_ranks(shared, &options, 2, execute_a_program);
	EXPECT_EQ(0, await_ranks(shared, 2));
	EXPECT_TRUE(shared->well[0]) TH_LOG("%s", shared->text[0]);
	munmap(shared, sizeof(*shared));
}

static bool see_rank_1_leave(struct rank *r, struct collsock *s)
{
	struct collsock_completion c = { .failed_rank = 0 };
	struct collsock_post post = { .size = sizeof(post), .operation = COLLSOCK_BARRIER };
	int err;

	if (r->rank == 1)
		return true;
	err = collsock_barrier(s, &c);
	if (err != -ECONNRESET || c.failed_rank != 1)
		return wrong(r, "barrier: %d, rank %u", err, c.failed_rank);
	/* The failure has been reported, and no completion follows. */
	err = collsock_post(s, &post, NULL, 0);
	if (err != -EPIPE)
		return wrong(r, "post after the failure: %d", err);
	err = collsock_complete(s, &c, NULL, 0);
	if (err != -EPIPE)
		return wrong(r, "complete after the failure: %d", err);
	return recv(collsock_fd(s), &c, sizeof(c), 0) == 0 || wrong(r, "recv() does not end");
}

TEST(a_rank_that_leaves_is_named_by_all_others)
{
	EXPECT_ALL_WELL(NULL, RANKS, see_rank_1_leave);
}

static bool hear_of_failure(struct rank *r, struct collsock *s)
{
	struct collsock_completion c = { .failed_rank = 0 };

	if (r->rank == 1)
		return true;
	/* Nobody has posted: the failure has a completion of its own. */
	if (recv(collsock_fd(s), &c, sizeof(c), 0) != sizeof(c) ||
	    c.cookie != COLLSOCK_COOKIE_GROUP || c.error != ECONNRESET || c.failed_rank != 1)
		return wrong(r, "cookie %llu, error %u, rank %u", c.cookie, c.error,
			     c.failed_rank);
	return recv(collsock_fd(s), &c, sizeof(c), 0) == 0 || wrong(r, "recv() does not end");
}

TEST(a_failure_that_no_operation_reports_has_one_completion)
{
	EXPECT_ALL_WELL(NULL, RANKS, hear_of_failure);
}

static bool shut_down(struct rank *r, struct collsock *s)
{
	struct collsock_completion c = { .failed_rank = 0 };
	int err;

	if (r->rank == 3) {
		if (shutdown(collsock_fd(s), SHUT_WR))
			return wrong(r, "shutdown: %s", strerror(errno));
		if (recv(collsock_fd(s), &c, sizeof(c), 0))
			return wrong(r, "recv() does not end");
		err = collsock_barrier(s, NULL);
		return err == -EPIPE || wrong(r, "barrier after shutdown: %d", err);
	}
	err = collsock_barrier(s, &c);
	return (err == -ECONNRESET && c.failed_rank == 3) ||
	       wrong(r, "barrier: %d, rank %u", err, c.failed_rank);
}

TEST(a_descriptor_that_is_shut_down_leaves_the_group)
{
	EXPECT_ALL_WELL(NULL, RANKS, shut_down);
}

/* ---- fork ---- */

static bool child_finds_it_dead(struct collsock *s)
{
	struct collsock_completion c;
	struct collsock_self self;
	bool well;

	well = collsock_barrier(s, NULL) == -ECHILD && collsock_post_barrier(s, 1) == -ECHILD &&
	       collsock_wait(s, 1, &c, NULL, 0) == -ECHILD &&
	       collsock_self(s, &self, sizeof(self)) == -ECHILD && collsock_fd(s) == -1;
	collsock_close(s);
	return well;
}

static int open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static bool fork_a_child(struct rank *r, struct collsock *s)
{
	int status, before = open_files();
	pid_t pid;

	/* The thread may be at work. */
	if (collsock_post_barrier(s, 1))
		return wrong(r, "post");
	pid = fork();
	if (!pid)
		/* All that the rank had open is closed: more than three files. */
		_exit(child_finds_it_dead(s) && open_files() <= before - 4 ? 0 : 1);
	waitpid(pid, &status, 0);
	if (status)
		return wrong(r, "status %x of the child, %d files here", status, before);
	return !collsock_barrier(s, NULL) || wrong(r, "barrier after fork");
}

TEST(a_forked_child_is_not_the_rank)
{
	EXPECT_ALL_WELL(NULL, RANKS, fork_a_child);
}

/* ---- threads ---- */

#define THREADS	4
#define ROUNDS	50

struct thread {
	struct rank	*r;
	struct collsock	*s;
	pthread_t	id;
	__u64		sum;
	bool		well;
};

/* Operations of a rank have one order, by whatever thread: all have the same value. */
static void *run_rounds(void *arg)
{
	struct thread *t = arg;
	__u64 one = 1, sum;
	int i;

	t->well = true;
	for (i = 0; i < ROUNDS && t->well; i++)
		t->well = !collsock_allreduce(t->s, &one, &sum, 1, COLLSOCK_UINT64, COLLSOCK_SUM,
					      NULL) && sum == t->r->ranks;
	return NULL;
}

static bool use_threads(struct rank *r, struct collsock *s)
{
	struct thread t[THREADS];
	bool well = true;
	int i;

	for (i = 0; i < THREADS; i++) {
		t[i] = (struct thread){ .r = r, .s = s };
		pthread_create(&t[i].id, NULL, run_rounds, &t[i]);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(t[i].id, NULL);
		well &= t[i].well;
	}
	return well || wrong(r, "an operation of a thread");
}

TEST(threads_share_a_rank)
{
	EXPECT_ALL_WELL(NULL, RANKS, use_threads);
}

static void *run_barrier(void *arg)
{
	struct thread *t = arg;

	t->well = !collsock_barrier(t->s, NULL);
	return NULL;
}

/* ---- who wakes a thread that sleeps until a packet comes ---- */

/* A sleep ends after 200 ms by itself. After this number of those, nothing has woken the thread. */
#define MOST_IN_VAIN	150

/**
 * struct sleeps - those of this process until a packet comes
 * @filtered: no empty packet leaves the process, as with a filter
 * @began: how many there were
 * @in_vain: how many ended by themselves, and were hidden from the library unless @filtered
 * @left_alone: nothing has woken a thread
 */
static struct sleeps {
	bool	filtered;
	int	began;
	int	in_vain;
	bool	left_alone;
} sleeps;

ssize_t __wrap_sendto(int fd, const void *data, size_t bytes, int flags, const struct sockaddr *to,
		      socklen_t to_bytes)
{
	if (sleeps.filtered && !bytes)
		return 0;
	return __real_sendto(fd, data, bytes, flags, to, to_bytes);
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags)
{
	int in_vain = 0;
	ssize_t got;

	__atomic_add_fetch(&sleeps.began, 1, __ATOMIC_SEQ_CST);
	do {
		got = __real_recvmsg(fd, m, flags);
		if (got >= 0 || errno != EAGAIN)
			return got;
		__atomic_add_fetch(&sleeps.in_vain, 1, __ATOMIC_SEQ_CST);
	} while (!sleeps.filtered && ++in_vain < MOST_IN_VAIN);
	sleeps.left_alone = !sleeps.filtered;
	errno = EAGAIN;
	return -1;
}

static void *take_completion(void *arg)
{
	struct collsock_completion c;
	struct thread *t = arg;

	t->well = !collsock_complete(t->s, &c, NULL, 0) && !c.error && c.cookie == 7;
	return NULL;
}

/* Of a group of one, nobody else sends packets. */
static bool wake_by_a_post(struct rank *r, struct collsock *s)
{
	struct thread t = { .r = r, .s = s };
	int before = __atomic_load_n(&sleeps.began, __ATOMIC_SEQ_CST);

	pthread_create(&t.id, NULL, take_completion, &t);
	while (__atomic_load_n(&sleeps.began, __ATOMIC_SEQ_CST) == before)
		sched_yield();
	if (collsock_post_barrier(s, 7))
		return wrong(r, "post");
	pthread_join(t.id, NULL);
	if (sleeps.left_alone)
		return wrong(r, "the thread that slept was not woken");
	return t.well || wrong(r, "the completion");
}

TEST(a_thread_that_sleeps_is_woken_by_what_another_completes)
{
	EXPECT_ALL_WELL(NULL, 1, wake_by_a_post);
}

static bool wake_in_spite_of_a_filter(struct rank *r, struct collsock *s)
{
	sleeps.filtered = true;
	return wake_by_a_post(r, s) &&
	       (sleeps.in_vain || wrong(r, "the thread slept until something came"));
}

TEST(a_thread_that_a_filter_keeps_asleep_looks_by_itself)
{
	EXPECT_ALL_WELL(NULL, 1, wake_in_spite_of_a_filter);
}

static bool wake_by_a_failure(struct rank *r, struct collsock *s)
{
	struct collsock_completion c;
	int err;

	if (r->rank) {
		raise(SIGKILL);
		return false;
	}
	err = collsock_barrier(s, &c);
	if (sleeps.left_alone)
		return wrong(r, "the thread that slept was not woken");
	return (err == -ETIMEDOUT && c.failed_rank == 1) || wrong(r, "barrier: %d", err);
}

/* Only a time-out, which the library's thread keeps, says that the other is dead. */
TEST(a_thread_that_sleeps_is_woken_by_a_failure)
{
	const struct collsock_options options = { .liveness_ms = 500 };
	struct shared *shared = shared_new(2);

	start_ranks(shared, &options, 2, wake_by_a_failure);
	EXPECT_EQ(1U << 1, await_ranks(shared, 2));
	EXPECT_TRUE(shared->well[0]) TH_LOG("%s", shared->text[0]);
	munmap(shared, sizeof(*shared));
}

static bool close_while_a_thread_waits(struct rank *r)
{
	struct thread t = { .r = r };
	const struct collsock_page *page;
	__u64 before;
	bool well;

	well = !collsock_join_with(&t.s, &r->options, r->rank, r->ranks, exchange, r) &&
	       !collsock_map_page(t.s, &page);
	if (!well)
		return wrong(r, "join");
	before = collsock_posted(page);
	pthread_create(&t.id, NULL, run_barrier, &t);
	while (collsock_posted(page) == before)
		sched_yield();
	collsock_close(t.s);
	take_step(r, 1);
	pthread_join(t.id, NULL);
	return t.well || wrong(r, "the barrier that waited");
}

/* The call of rank 0 goes on, and then it has left. */
static bool outlive_a_close(struct rank *r, struct collsock *s)
{
	struct collsock_completion c;
	int err;

	await_step(r, 1);
	err = collsock_barrier(s, NULL);
	if (err)
		return wrong(r, "barrier: %d", err);
	err = collsock_barrier(s, &c);
	return (err == -ECONNRESET && !c.failed_rank) || wrong(r, "after it: %d", err);
}

TEST(a_call_that_waits_goes_on_when_another_thread_closes)
{
	struct shared *shared = shared_new(2);
	struct rank closer = { .shared = shared, .ranks = 2 };

	closer.options.size = sizeof(closer.options);
	closer.options.backend = COLLSOCK_BACKEND_USER;
	fflush(stdout);
	shared->pid[1] = fork();
	if (!shared->pid[1]) {
		closer.rank = 1;
		exit(be_rank(&closer, outlive_a_close));
	}
	shared->pid[0] = fork();
	if (!shared->pid[0])
		exit(!close_while_a_thread_waits(&closer));
	EXPECT_EQ(0, await_ranks(shared, 2));
	EXPECT_TRUE(shared->well[1]) TH_LOG("%s", shared->text[1]);
	EXPECT_STREQ("", shared->text[0]);
	munmap(shared, sizeof(*shared));
}

/* Two groups in one process, and neither waits for the other */
static bool use_two_groups(struct rank *r, struct collsock *first)
{
	struct collsock *second;
	struct collsock_completion c;
	__u64 i;

	if (collsock_join_with(&second, &r->options, r->rank, r->ranks, exchange, r))
		return false;
	for (i = 0; i < ROUNDS; i++) {
		if (collsock_post_barrier(first, i) || collsock_barrier(second, NULL) ||
		    collsock_wait(first, i, &c, NULL, 0) || c.error)
			return wrong(r, "round %llu", i);
	}
	collsock_close(second);
	return true;
}

TEST(a_process_is_in_several_groups)
{
	EXPECT_ALL_WELL(NULL, RANKS, use_two_groups);
}

/* ---- the library's thread, and signals ---- */

#ifndef __SANITIZE_THREAD__		/* which has threads of its own */
/* Signals that the program's own threads do not block are not for the library's. */
static bool blocks_signals(const char *task)
{
	unsigned long long blocked = 0;
	char path[300], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", task);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "SigBlk: %llx", &blocked);
	if (file)
		fclose(file);
	/* SIGKILL and SIGSTOP cannot be. */
	return (blocked | 1ULL << (SIGKILL - 1) | 1ULL << (SIGSTOP - 1) | ~0x7fffffffULL) == ~0ULL;
}

static bool look_at_threads(struct rank *r, struct collsock *s)
{
	DIR *folder = opendir("/proc/self/task");
	int others = 0, blocking = 0;
	struct dirent *entry;

	while ((entry = readdir(folder))) {
		if (*entry->d_name == '.' || atoi(entry->d_name) == getpid())
			continue;
		others++;
		blocking += blocks_signals(entry->d_name);
	}
	closedir(folder);
	/* A sanitizer may have one, too, which is not ours. */
	return blocking == 1 || wrong(r, "%d of %d threads block all signals", blocking, others);
}

TEST(the_library_has_one_thread_which_blocks_all_signals)
{
	EXPECT_ALL_WELL(NULL, RANKS, look_at_threads);
}
#endif

/* Of a process before it joins, which a rank that it forks has, too */
static struct sigaction before_joining[NSIG];

static bool look_at_signals(struct rank *r, struct collsock *s)
{
	struct sigaction now;
	int i;

	for (i = 1; i < NSIG; i++)
		/* Two are glibc's. */
		if (!sigaction(i, NULL, &now) &&
		    (now.sa_handler != before_joining[i].sa_handler ||
		     now.sa_flags != before_joining[i].sa_flags))
			return wrong(r, "signal %d has another disposition", i);
	return true;
}

TEST(no_signal_has_another_disposition_after_joining)
{
	int i;

	for (i = 1; i < NSIG; i++)
		sigaction(i, NULL, &before_joining[i]);
	EXPECT_ALL_WELL(NULL, 2, look_at_signals);
}

static bool report_beyond_the_limit(struct rank *r, struct collsock *s)
{
	struct rlimit usual, few;
	int file;

	getrlimit(RLIMIT_FSIZE, &usual);
	few = (struct rlimit){ 64, usual.rlim_max };
	setrlimit(RLIMIT_FSIZE, &few);
	file = collsock_report();
	setrlimit(RLIMIT_FSIZE, &usual);
	if (file != -EFBIG)
		return wrong(r, "a report in 64 bytes: %d", file);
	file = collsock_report();
	return file >= 0 || wrong(r, "a report without that limit: %d", file);
}

TEST(a_report_beyond_the_limit_of_files_is_an_error_and_no_signal)
{
	EXPECT_ALL_WELL(NULL, 1, report_beyond_the_limit);
}

static __s64 processor_ms(clockid_t whose)
{
	struct timespec t;

	clock_gettime(whose, &t);
	return (__s64)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#define COMPUTED_MS	300

/* A thread that never sleeps would get as much as the one that computes. */
static bool compute(struct rank *r, struct collsock *s)
{
	__s64 begin = processor_ms(CLOCK_THREAD_CPUTIME_ID), others;

	if (collsock_barrier(s, NULL))
		return wrong(r, "barrier");
	others = processor_ms(CLOCK_PROCESS_CPUTIME_ID) -
		 processor_ms(CLOCK_THREAD_CPUTIME_ID);
	while (processor_ms(CLOCK_THREAD_CPUTIME_ID) < begin + COMPUTED_MS)
		;
	others = processor_ms(CLOCK_PROCESS_CPUTIME_ID) -
		 processor_ms(CLOCK_THREAD_CPUTIME_ID) - others;
	return others < COMPUTED_MS / 3 ||
	       wrong(r, "the library's thread has used %lld ms of processor time", others);
}

TEST(the_library_s_thread_is_idle_while_its_program_computes)
{
	EXPECT_ALL_WELL(NULL, 2, compute);
}

TEST_HARNESS_MAIN
