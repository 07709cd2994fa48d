// SPDX-License-Identifier: GPL-2.0
/* How ranks in user space end: joins that fail, closing, shutting down, the end of the process */
#include <arpa/inet.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/un.h>

#include "user_fixture.h"

#define RANKS	3
#define POSTS	100	/* more than the window has room for */
#define WATCHED_MS	300

/* At a port that is free now */
static struct collsock_group *group_of_one(void)
{
	static const __u8 key[COLLSOCK_KEY_BYTES] = { 1 };
	struct sockaddr_in address = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t bytes = sizeof(address);
	struct collsock_group *group;

	bind(fd, (struct sockaddr *)&address, bytes);
	getsockname(fd, (struct sockaddr *)&address, &bytes);
	close(fd);
	collsock_group_new(&group, 1, 2, key);
	collsock_group_add_host(group, "127.0.0.1", ntohs(address.sin_port));
	return group;
}

static __s64 processor_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (__s64)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* How much processor time the library's thread uses while the program sleeps, in ms */
static __s64 idle_ms(void)
{
	const struct timespec pause = { .tv_nsec = WATCHED_MS * 1000000 };
	__s64 before = processor_ms();

	nanosleep(&pause, NULL);
	return processor_ms() - before;
}

/* ---- joins that fail ---- */

static bool short_of_room;	/* as a host whose net.core.wmem_max is the usual one */

int __wrap_getsockopt(int fd, int level, int option, void *value, socklen_t *bytes)
{
	int err = __real_getsockopt(fd, level, option, value, bytes);

	if (!err && short_of_room && level == SOL_SOCKET && option == SO_SNDBUF)
		*(int *)value = min(*(int *)value, 425984);
	return err;
}

/* A handle, and its group with results for which there is no room */
static struct collsock *open_for_long_results(struct collsock_group **group)
{
	struct collsock *s = NULL;

	short_of_room = true;
	*group = group_of_one();
	collsock_group_request(*group)->max_result_bytes = COLLSOCK_MAX_RESULT;
	collsock_open_backend(&s, 0, COLLSOCK_BACKEND_USER);
	return s;
}

TEST(a_join_whose_results_are_too_long_can_be_tried_again)
{
	struct collsock_group *group;
	struct collsock *s = open_for_long_results(&group);

	EXPECT_EQ(-EMSGSIZE, collsock_join(s, group, 0));
	EXPECT_EQ(-EMSGSIZE, collsock_join(s, group, 0));
	collsock_group_request(group)->max_result_bytes = 0;
	EXPECT_EQ(0, collsock_join(s, group, 0));
	EXPECT_EQ(0, collsock_barrier(s, NULL));
	collsock_close(s);
	collsock_group_free(group);
}

TEST(a_handle_is_closed_after_a_join_whose_results_are_too_long)
{
	struct collsock_group *group;
	struct collsock *s = open_for_long_results(&group);

	EXPECT_EQ(-EMSGSIZE, collsock_join(s, group, 0));
	collsock_close(s);
	collsock_group_free(group);
}

TEST(the_library_s_thread_is_idle_after_a_join_that_fails)
{
	struct collsock_group *group = group_of_one();
	struct collsock *first, *second;

	EXPECT_EQ(0, collsock_open_backend(&first, 0, COLLSOCK_BACKEND_USER));
	EXPECT_EQ(0, collsock_open_backend(&second, 0, COLLSOCK_BACKEND_USER));
	EXPECT_EQ(0, collsock_join(first, group, 0));
	EXPECT_EQ(-EADDRINUSE, collsock_join(second, group, 0));
	EXPECT_GT(WATCHED_MS / 3, idle_ms());
	collsock_close(second);
	collsock_close(first);
	collsock_group_free(group);
}

/* ---- what is in the descriptor ---- */

static bool held;	/* the library's thread, before it reads what was sent */

ssize_t __wrap_recv(int fd, void *data, size_t bytes, int flags)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	while (flags & MSG_DONTWAIT && __atomic_load_n(&held, __ATOMIC_SEQ_CST))
		nanosleep(&pause, NULL);
	return __real_recv(fd, data, bytes, flags);
}

static bool post_alone(struct rank *r, struct collsock *s)
{
	struct collsock_post post = { .size = sizeof(post), .operation = COLLSOCK_BARRIER };
	struct collsock_completion c;
	int fd = collsock_fd(s), i;

	__atomic_store_n(&held, true, __ATOMIC_SEQ_CST);
	for (i = 0; i < POSTS; i++)
		if (send(fd, &post, sizeof(post), MSG_NOSIGNAL) != sizeof(post))
			return wrong(r, "send %d: %s", i, strerror(errno));
	__atomic_store_n(&held, false, __ATOMIC_SEQ_CST);
	for (i = 0; i < POSTS; i++)
		if (recv(fd, &c, sizeof(c), 0) != sizeof(c) || c.error)
			return wrong(r, "completion %d: %s, error %u", i, strerror(errno), c.error);
	return true;
}

static bool post_often(struct rank *r, struct collsock *s)
{
	int round;

	for (round = 0; round < 20; round++)
		if (!post_alone(r, s))
			return false;
	return true;
}

TEST(posts_of_a_lone_rank_wait_for_no_packet)
{
	/* Where each window waits for the next timer, they take longer than a rank may. */
	const struct collsock_options options = { .window = 4 };

	EXPECT_ALL_WELL(&options, 1, post_often);
}

static bool send_and_close(struct rank *r, struct collsock *s)
{
	struct {
		struct collsock_post	post;
		__u64			value;
	} message = {
		.post = { .size = sizeof(message.post), .operation = COLLSOCK_BROADCAST,
			  .type = COLLSOCK_UINT64, .count = 1 },
	};
	struct collsock_completion c;
	__u64 i, value;
	int err;

	for (i = 0; r->rank == 0 && i < POSTS; i++) {
		message.value = 3 * i;
		if (send(collsock_fd(s), &message, sizeof(message), MSG_NOSIGNAL) !=
		    sizeof(message))
			return wrong(r, "send %llu: %s", i, strerror(errno));
	}
	for (i = 0; r->rank && i < POSTS; i++) {
		value = 0;
		message.post.flags = 0;
		err = collsock_post(s, &message.post, NULL, 0);
		err = err ? err : collsock_complete(s, &c, &value, sizeof(value));
		if (err || c.error || value != 3 * i)
			return wrong(r, "result %llu: %d, error %u of rank %u, %llu", i, err,
				     c.error, c.failed_rank, value);
	}
	return true;
}

TEST(what_was_sent_to_the_descriptor_is_posted_before_a_close)
{
	EXPECT_ALL_WELL(NULL, RANKS, send_and_close);
}

static struct rank *ended;	/* this rank, if others wait for the end of its process */

/* Runs after the library's own exit handler, which was registered later. */
static void tell_the_end(void)
{
	if (ended)
		take_step(ended, 1);
}

static bool end_before_others_post(struct rank *r, struct collsock *s)
{
	const struct collsock_post post = { .size = sizeof(post), .operation = COLLSOCK_BARRIER };
	static struct rank self;
	struct collsock_completion c;
	int err, i;

	if (r->rank) {
		await_step(r, 1);
		err = collsock_barrier(s, &c);
		return (err == -ECONNRESET && !c.failed_rank) || wrong(r, "barrier: %d", err);
	}
	for (i = 0; i < POSTS; i++)
		if (send(collsock_fd(s), &post, sizeof(post), MSG_NOSIGNAL) != sizeof(post))
			return wrong(r, "send %d: %s", i, strerror(errno));
	self = *r;
	ended = &self;
	return true;
}

TEST(posts_that_others_do_not_join_in_time_are_given_up)
{
	EXPECT_EQ(0, atexit(tell_the_end));
	EXPECT_ALL_WELL(NULL, RANKS, end_before_others_post);
}

/* ---- a descriptor that another thread reads ---- */

#define LONG_COUNT	512	/* elements of a message that is longer than the others */

static int robbed = -1;	/* a descriptor of which another thread receives the next message first */

ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags)
{
	struct collsock_completion c;

	if (fd == robbed) {
		robbed = -1;
		__real_recv(fd, &c, sizeof(c), MSG_DONTWAIT);
	}
	return __real_recvmsg(fd, m, flags);
}

/* Short, long, short: with cookies 1, 2 and 3. All are in the descriptor then. */
static bool fill_descriptor(struct rank *r, struct collsock *s)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	__u64 values[LONG_COUNT];
	int i, bytes = 0;

	for (i = 0; i < LONG_COUNT; i++)
		values[i] = 7 * i;
	if (collsock_post_barrier(s, 1) ||
	    collsock_post_allreduce(s, values, LONG_COUNT, COLLSOCK_UINT64, COLLSOCK_SUM, 2) ||
	    collsock_post_barrier(s, 3))
		return wrong(r, "posts");
	while (bytes != 3 * sizeof(struct collsock_completion) + sizeof(values)) {
		nanosleep(&pause, NULL);
		if (ioctl(collsock_fd(s), FIONREAD, &bytes))
			return wrong(r, "FIONREAD: %s", strerror(errno));
	}
	return true;
}

static bool is_long(struct rank *r, int err, const struct collsock_completion *c,
		    const __u64 *values)
{
	int i;

	if (err || c->error || c->cookie != 2 || c->bytes != LONG_COUNT * sizeof(*values))
		return wrong(r, "the long one: %d, error %u, cookie %llu, %u bytes", err, c->error,
			     c->cookie, c->bytes);
	for (i = 0; i < LONG_COUNT; i++)
		if (values[i] != 7 * i)
			return wrong(r, "element %d is %llu", i, values[i]);
	return true;
}

static bool is_last(struct rank *r, struct collsock *s)
{
	struct collsock_completion c = { .cookie = 0 };
	int err = collsock_complete(s, &c, NULL, 0);

	return (!err && c.cookie == 3) || wrong(r, "the last: %d, cookie %llu", err, c.cookie);
}

static bool wait_beside_a_reader(struct rank *r, struct collsock *s)
{
	struct collsock_completion c = { .cookie = 0 };
	__u64 values[LONG_COUNT];
	int err;

	if (!fill_descriptor(r, s))
		return false;
	robbed = collsock_fd(s);
	err = collsock_wait(s, 2, &c, values, sizeof(values));
	return is_long(r, err, &c, values) && is_last(r, s);
}

TEST(a_wait_is_not_misled_by_a_thread_that_reads_the_descriptor)
{
	const struct collsock_options options = { .max_bytes = LONG_COUNT * sizeof(__u64) };

	EXPECT_ALL_WELL(&options, 1, wait_beside_a_reader);
}

static bool complete_beside_a_reader(struct rank *r, struct collsock *s)
{
	struct collsock_completion c = { .cookie = 0 };
	__u64 values[LONG_COUNT];
	int err;

	if (!fill_descriptor(r, s))
		return false;
	robbed = collsock_fd(s);
	err = collsock_complete(s, &c, values, sizeof(*values));
	if (err != -EMSGSIZE)
		return wrong(r, "too little room: %d, %u bytes", err, c.bytes);
	err = collsock_complete(s, &c, values, sizeof(values));
	return is_long(r, err, &c, values) && is_last(r, s);
}

TEST(no_completion_is_lost_to_a_thread_that_reads_the_descriptor)
{
	const struct collsock_options options = { .max_bytes = LONG_COUNT * sizeof(__u64) };

	EXPECT_ALL_WELL(&options, 1, complete_beside_a_reader);
}

/* ---- a descriptor that receives nothing any more ---- */

static bool shut_down_receiving(struct rank *r, struct collsock *s)
{
	struct pollfd descriptor = { .fd = collsock_fd(s), .events = POLLIN };
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct collsock_completion c = { .cookie = 0 };
	const struct collsock_page *page;
	__u64 i;
	int err;

	if (collsock_map_page(s, &page) || collsock_barrier(s, NULL) ||
	    collsock_post_barrier(s, 1))
		return wrong(r, "barriers");
	/* One is in the descriptor, the others are not. */
	if (poll(&descriptor, 1, -1) != 1)
		return wrong(r, "poll: %s", strerror(errno));
	if (r->rank == 1 && shutdown(collsock_fd(s), SHUT_RD))
		return wrong(r, "shutdown: %s", strerror(errno));
	for (i = 2; i < 6; i++)
		if (collsock_post_barrier(s, i))
			return wrong(r, "post %llu", i);
	while (!collsock_have_ended(page, collsock_posted(page)))
		nanosleep(&pause, NULL);
	for (i = 1; i < 6; i++) {
		err = collsock_complete(s, &c, NULL, 0);
		if (err || c.error || c.cookie != i)
			return wrong(r, "completion %llu: %d, error %u, cookie %llu", i, err,
				     c.error, c.cookie);
	}
	if (r->rank == 1 && recv(collsock_fd(s), &c, sizeof(c), 0))
		return wrong(r, "recv() does not end");
	return (!collsock_barrier(s, NULL) && idle_ms() < WATCHED_MS / 3) ||
	       wrong(r, "afterwards");
}

TEST(calls_go_on_when_the_descriptor_receives_nothing)
{
	EXPECT_ALL_WELL(NULL, 2, shut_down_receiving);
}

static bool shut_down_all(struct rank *r, struct collsock *s)
{
	struct collsock_completion c = { .cookie = 0 };
	int err;

	if (r->rank != 1)
		return !collsock_barrier(s, NULL) || wrong(r, "barrier");
	if (collsock_post_barrier(s, 1) || shutdown(collsock_fd(s), SHUT_RDWR))
		return wrong(r, "post, shutdown");
	err = collsock_complete(s, &c, NULL, 0);
	if (err || c.error || c.cookie != 1)
		return wrong(r, "completion: %d, error %u", err, c.error);
	err = collsock_complete(s, &c, NULL, 0);
	return (err == -EPIPE && idle_ms() < WATCHED_MS / 3) || wrong(r, "afterwards: %d", err);
}

TEST(what_was_posted_completes_after_both_directions_are_shut_down)
{
	EXPECT_ALL_WELL(NULL, 2, shut_down_all);
}

/* ---- others who ask, and no descriptor is left ---- */

static int lowest_free_descriptor(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* In a child, which asks and waits */
static void ask(const char *path, pid_t pid)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/collsock/%d", path, pid);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		_exit(1);
	_exit(0);
}

static bool be_asked(struct rank *r, struct collsock *s)
{
	const char *folder = getenv("XDG_RUNTIME_DIR");
	struct rlimit limit;
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		const struct timespec pause = { .tv_nsec = 50 * 1000000 };

		nanosleep(&pause, NULL);
		ask(folder, getppid());
	}
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = lowest_free_descriptor();
	if (setrlimit(RLIMIT_NOFILE, &limit))
		return wrong(r, "setrlimit");
	waitpid(pid, &status, 0);
	if (status)
		return wrong(r, "nobody could ask: %d", status);
	return idle_ms() < WATCHED_MS / 3 || wrong(r, "the library's thread does not sleep");
}

TEST(the_library_s_thread_is_idle_while_nobody_can_be_answered)
{
	char folder[] = "/tmp/collsock-test-XXXXXX", path[64];

	EXPECT_NE(NULL, mkdtemp(folder));
	setenv("XDG_RUNTIME_DIR", folder, 1);
	EXPECT_ALL_WELL(NULL, 1, be_asked);
	snprintf(path, sizeof(path), "%s/collsock", folder);
	rmdir(path);
	rmdir(folder);
}

/* ---- the end of the process ---- */

static struct collsock *unjoined;

/* After the library's own exit handler, too */
static void close_late(void)
{
	const struct timespec pause = { .tv_nsec = 50 * 1000000 };

	nanosleep(&pause, NULL);
	collsock_close(unjoined);
}

static bool keep_a_handle(struct rank *r, struct collsock *s)
{
	return (!collsock_open_backend(&unjoined, 0, COLLSOCK_BACKEND_USER) &&
		!collsock_barrier(s, NULL)) || wrong(r, "open, barrier");
}

TEST(a_handle_can_be_closed_after_the_library_has_ended)
{
	EXPECT_EQ(0, atexit(close_late));
	EXPECT_ALL_WELL(NULL, 2, keep_a_handle);
}

TEST_HARNESS_MAIN
