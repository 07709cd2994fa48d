/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ranks in user space: each is a process of this machine, which joins through memory that all
 * share, and then does what a test wants. No kernel module is needed.
 */
#ifndef USER_FIXTURE_H
#define USER_FIXTURE_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <collsock.h>

#include "../../kernel/core/base.h"
#include "../attributes.h"
#include "../harness.h"

#define MOST_RANKS	16
#define ROUND_BYTES	4096
#define MOST_SECONDS	120	/* that a rank takes */

/* To which the linker redirects what ranks call: test_user, _ends and _packets */
struct mmsghdr;
ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags);
ssize_t __real_recvmsg(int fd, struct msghdr *m, int flags);
ssize_t __wrap_sendto(int fd, const void *data, size_t bytes, int flags,
		      const struct sockaddr *to, socklen_t to_bytes);
ssize_t __real_sendto(int fd, const void *data, size_t bytes, int flags,
		      const struct sockaddr *to, socklen_t to_bytes);
int __wrap_sendmmsg(int fd, struct mmsghdr *m, unsigned int count, int flags);
int __real_sendmmsg(int fd, struct mmsghdr *m, unsigned int count, int flags);
int __wrap_recvmmsg(int fd, struct mmsghdr *m, unsigned int count, int flags, struct timespec *t);
int __real_recvmmsg(int fd, struct mmsghdr *m, unsigned int count, int flags, struct timespec *t);
/* In test_user_ends */
int __wrap_getsockopt(int fd, int level, int option, void *value, socklen_t *bytes);
int __real_getsockopt(int fd, int level, int option, void *value, socklen_t *bytes);
ssize_t __wrap_recv(int fd, void *data, size_t bytes, int flags);
ssize_t __real_recv(int fd, void *data, size_t bytes, int flags);

struct rank;

/* What a rank does once it has joined. It says what is wrong; returns whether nothing is. */
typedef bool (*rank_deed)(struct rank *r, struct collsock *s);

/**
 * struct shared - what all ranks see
 * @all_here: for the exchange
 * @mine: what each gives to it
 * @step: for a test
 * @pid: process of each
 * @err: what joining returned
 * @well: the deed was
 * @text: else why not
 */
struct shared {
	pthread_barrier_t	all_here;
	__u8			mine[MOST_RANKS][ROUND_BYTES];
	int			step;
	pid_t			pid[MOST_RANKS];
	int			err[MOST_RANKS];
	bool			well[MOST_RANKS];
	char			text[MOST_RANKS][512];
};

/**
 * struct rank - one of them
 * @shared: see there
 * @options: with which it joins
 * @rank: its number
 * @ranks: how many there are
 */
struct rank {
	struct shared		*shared;
	struct collsock_options	options;
	__u32			rank;
	__u32			ranks;
};

/* Say why not all is well. */
static inline __printf(2, 3) bool wrong(const struct rank *r, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(r->shared->text[r->rank], sizeof(r->shared->text[0]), format, arguments);
	va_end(arguments);
	return false;
}

static inline int exchange(void *ctx, const void *mine, void *all, size_t bytes)
{
	struct rank *r = ctx;
	__u32 i;

	memcpy(r->shared->mine[r->rank], mine, bytes);
	pthread_barrier_wait(&r->shared->all_here);
	for (i = 0; i < r->ranks; i++)
		memcpy((__u8 *)all + i * bytes, r->shared->mine[i], bytes);
	pthread_barrier_wait(&r->shared->all_here);
	return 0;
}

/* A step of a test, which a rank takes and others wait for */
static inline void take_step(struct rank *r, int step)
{
	__atomic_store_n(&r->shared->step, step, __ATOMIC_SEQ_CST);
}

static inline void await_step(const struct rank *r, int step)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	while (__atomic_load_n(&r->shared->step, __ATOMIC_SEQ_CST) < step)
		nanosleep(&pause, NULL);
}

static inline int be_rank(struct rank *r, rank_deed deed)
{
	struct shared *shared = r->shared;
	struct collsock *s;

	r->options.text = shared->text[r->rank];
	r->options.text_bytes = sizeof(shared->text[0]);
	shared->err[r->rank] = collsock_join_with(&s, &r->options, r->rank, r->ranks, exchange, r);
	if (shared->err[r->rank])
		return 1;
	shared->well[r->rank] = deed(r, s);
	collsock_close(s);
	/* What is under way lingers. */
	exit(0);
}

static inline struct shared *shared_new(__u32 ranks)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_t attributes;

	pthread_barrierattr_init(&attributes);
	pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->all_here, &attributes, ranks);
	return shared;
}

static inline void start_ranks(struct shared *shared, const struct collsock_options *options,
			       __u32 ranks, rank_deed deed)
{
	pid_t pid;
	__u32 i;

	fflush(stdout);
	for (i = 0; i < ranks; i++) {
		struct rank r = { .shared = shared, .rank = i, .ranks = ranks };

		if (options)
			r.options = *options;
		r.options.size = sizeof(r.options);
		r.options.backend = COLLSOCK_BACKEND_USER;
		pid = fork();
		if (pid) {
			shared->pid[i] = pid;
			continue;
		}
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(MOST_SECONDS);
		exit(be_rank(&r, deed));
	}
}

/* Bits of the ranks whose process did not end with 0 */
static inline unsigned int await_ranks(const struct shared *shared, __u32 ranks)
{
	unsigned int bad = 0;
	int status;
	__u32 i;

	for (i = 0; i < ranks; i++) {
		waitpid(shared->pid[i], &status, 0);
		if (status)
			bad |= 1U << i;
	}
	return bad;
}

/* All ranks join, do the same, and all is well. */
#define EXPECT_ALL_WELL(options, count, deed) do { \
	const __u32 _ranks = count; \
	struct shared *_shared = shared_new(_ranks); \
	__u32 _i; \
	\
	start_ranks(_shared, options, _ranks, deed); \
	EXPECT_EQ(0, await_ranks(_shared, _ranks)); \
	for (_i = 0; _i < _ranks; _i++) { \
		EXPECT_EQ(0, _shared->err[_i]) TH_LOG("rank %u: %s", _i, _shared->text[_i]); \
		EXPECT_TRUE(_shared->well[_i]) TH_LOG("rank %u: %s", _i, _shared->text[_i]); \
	} \
	munmap(_shared, sizeof(*_shared)); \
} while (0)

#endif
