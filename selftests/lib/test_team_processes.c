// SPDX-License-Identifier: GPL-2.0
/*
 * Teams of processes: a member that ends is an error of all others, which names it; and
 * whatever one writes to their memory, no other leaves its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <collsock.h>

#include "../../libcollsock/src/team_memory.h"
#include "../harness.h"

#define MOST 17
#define ROUNDS 100
#define WRONG_ROUND 99		/* exit codes of members */
#define SEVERAL_LOOKS_US 350000
#define PATIENCE_MS 10000
#define FIRST_SIGNALS 50

/* What all processes of a test can see */
struct board {
	unsigned int	arrived[2][MOST];
	atomic_uint	rounds[MOST];
	int		error[MOST];
	int		again[MOST];
	struct collsock_team_culprit failed[MOST];
};

struct stage {
	struct board	*board;
	int		memfd;
	pid_t		child[MOST];
};

FIXTURE(processes)
{
	struct stage	stage;
};

FIXTURE_VARIANT(processes)
{
	enum collsock_team_algorithm	algorithm;
};

FIXTURE_VARIANT_ADD(processes, central)
{
	.algorithm	= COLLSOCK_TEAM_CENTRAL,
};

FIXTURE_VARIANT_ADD(processes, mcs)
{
	.algorithm	= COLLSOCK_TEAM_MCS,
};

FIXTURE_VARIANT_ADD(processes, dissemination)
{
	.algorithm	= COLLSOCK_TEAM_DISSEMINATION,
};

FIXTURE_SETUP(processes)
{
	self->stage.board = mmap(NULL, sizeof(*self->stage.board), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->stage.board);
}

FIXTURE_TEARDOWN(processes)
{
	munmap(self->stage.board, sizeof(*self->stage.board));
}

/* Returns how many members had not arrived. */
static unsigned int one_round(struct board *board, struct collsock_team *team, unsigned int members,
			      unsigned int me, unsigned int round)
{
	unsigned int i, early = 0;

	board->arrived[round % 2][me] = round;
	board->error[me] = collsock_team_barrier(team, &board->failed[me]);
	for (i = 0; i < members && !board->error[me]; i++)
		early += board->arrived[round % 2][i] != round;
	board->rounds[me] = round;
	return early;
}

/* A member that runs @rounds barriers, or until one fails; never returns */
static void member(struct board *board, int memfd, unsigned int members, unsigned int me,
		   unsigned int rounds)
{
	struct collsock_team *team;
	unsigned int round, early = 0;
	int err;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	err = collsock_team_open(&team, memfd, me);
	if (err)
		_exit(-err);
	for (round = 1; round <= rounds && !board->error[me]; round++)
		early += one_round(board, team, members, me, round);
	board->again[me] = collsock_team_barrier(team, NULL);
	collsock_team_free(team);
	_exit(early ? WRONG_ROUND : 0);
}

static pid_t start(struct board *board, int memfd, unsigned int members, unsigned int me,
		   unsigned int rounds)
{
	pid_t pid = fork();

	if (!pid)
		member(board, memfd, members, me, rounds);
	return pid;
}

/* One that does not end is killed, long after others would have. */
static int wait_for(pid_t pid)
{
	int status, ms;

	for (ms = 0; !waitpid(pid, &status, WNOHANG); ms++) {
		usleep(1000);
		if (ms == PATIENCE_MS)
			kill(pid, SIGKILL);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* A payload of the greatest size */
static bool sums_are_right(struct collsock_team *team, unsigned int members, unsigned int me)
{
	static __u32 data[COLLSOCK_MAX_PAYLOAD / sizeof(__u32)];
	const __u32 wanted = members * (members - 1) / 2;
	bool right = true;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(data); i++)
		data[i] = me + i;
	if (collsock_team_allreduce(team, data, data, ARRAY_SIZE(data), COLLSOCK_UINT32,
				    COLLSOCK_SUM, NULL))
		return false;
	for (i = 0; i < ARRAY_SIZE(data); i++)
		right &= data[i] == wanted + i * members;
	return right;
}

/* Each ends as soon as it has left the last barrier. Others may still be in it. */
static void last_member(struct board *board, int memfd, unsigned int members, unsigned int me)
{
	struct collsock_team *team;
	unsigned int round, early = 0, errors = 0;

	errors = collsock_team_open(&team, memfd, me) != 0;
	for (round = 1; round <= ROUNDS && !errors; round++) {
		early += one_round(board, team, members, me, round);
		errors += board->error[me] != 0;
		errors += round % 10 == 0 && !sums_are_right(team, members, me);
	}
	_exit(early || errors ? WRONG_ROUND : 0);
}

TEST_F(processes, none_leaves_before_all_have_arrived_and_sums_are_right)
{
	static const unsigned int counts[] = { 1, 2, 3, 5, 8, MOST };
	unsigned int i, k;

	for (k = 0; k < ARRAY_SIZE(counts); k++) {
		self->stage.memfd = collsock_team_memfd(counts[k], variant->algorithm,
							COLLSOCK_MAX_PAYLOAD);
		ASSERT_LE(0, self->stage.memfd);
		for (i = 0; i < counts[k]; i++) {
			self->stage.child[i] = fork();
			if (!self->stage.child[i])
				last_member(self->stage.board, self->stage.memfd, counts[k], i);
		}
		for (i = 0; i < counts[k]; i++) {
			EXPECT_EQ(0, wait_for(self->stage.child[i]))
				TH_LOG("%u of %u", i, counts[k]);
		}
		close(self->stage.memfd);
	}
}

/* ---- a member ends ---- */

#define LOST 2			/* the member that is killed */
#define FEW 6

static void wait_for_rounds(struct board *board, unsigned int me, unsigned int rounds)
{
	while (board->rounds[me] < rounds)
		usleep(1000);
}

static void expect_owner_dead(struct __test_metadata *_metadata, const struct board *board,
			      unsigned int me)
{
	EXPECT_EQ(-EOWNERDEAD, board->error[me]) TH_LOG("member %u", me);
	EXPECT_EQ(LOST, board->failed[me].member) TH_LOG("member %u", me);
	EXPECT_EQ(-EOWNERDEAD, board->again[me]) TH_LOG("member %u", me);
}

static void start_few(struct __test_metadata *_metadata, struct stage *stage,
		      enum collsock_team_algorithm algorithm)
{
	unsigned int i;

	stage->memfd = collsock_team_memfd(FEW, algorithm, 0);
	ASSERT_LE(0, stage->memfd);
	for (i = 0; i < FEW; i++)
		stage->child[i] = start(stage->board, stage->memfd, FEW, i, ~0U);
	for (i = 0; i < FEW; i++)
		wait_for_rounds(stage->board, i, 3);
}

static void expect_few_know(struct __test_metadata *_metadata, struct stage *stage)
{
	unsigned int i;

	for (i = 0; i < FEW; i++) {
		if (i == LOST)
			continue;
		EXPECT_EQ(0, wait_for(stage->child[i]));
		expect_owner_dead(_metadata, stage->board, i);
	}
	close(stage->memfd);
}

TEST_F(processes, killed_member_is_named_by_all_even_if_nobody_waits_for_it)
{
	start_few(_metadata, &self->stage, variant->algorithm);
	kill(self->stage.child[LOST], SIGKILL);
	expect_few_know(_metadata, &self->stage);
	EXPECT_EQ(-SIGKILL, wait_for(self->stage.child[LOST]));
}

TEST_F(processes, killed_member_of_which_nothing_is_left_is_named_by_all)
{
	start_few(_metadata, &self->stage, variant->algorithm);
	kill(self->stage.child[LOST], SIGSTOP);
	kill(self->stage.child[LOST], SIGKILL);
	EXPECT_EQ(-SIGKILL, wait_for(self->stage.child[LOST]));
	expect_few_know(_metadata, &self->stage);
}

TEST_F(processes, stopped_member_is_waited_for)
{
	start_few(_metadata, &self->stage, variant->algorithm);
	kill(self->stage.child[LOST], SIGSTOP);
	usleep(SEVERAL_LOOKS_US);
	EXPECT_EQ(0, self->stage.board->error[0]);
	kill(self->stage.child[LOST], SIGCONT);
	wait_for_rounds(self->stage.board, 0, self->stage.board->rounds[0] + 3);
	kill(self->stage.child[LOST], SIGKILL);
	wait_for(self->stage.child[LOST]);
	expect_few_know(_metadata, &self->stage);
}

/* The second member is the parent, and has another member at work: a view of the memory. */
static pid_t start_two(struct __test_metadata *_metadata, struct stage *stage,
		       enum collsock_team_algorithm algorithm, struct team_memory *memory)
{
	struct team_head head;

	stage->memfd = collsock_team_memfd(2, algorithm, 0);
	ASSERT_LE(0, stage->memfd);
	ASSERT_EQ(0, collsock_team_memory_map(memory, &head, stage->memfd));
	return start(stage->board, stage->memfd, 2, 0, 1);
}

static pid_t ended_process(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

/* All flags that the first of two members waits for */
static void let_go(struct team_memory *memory)
{
	struct team_flag *flags[] = { &memory->common->release, &memory->up[1],
				      &memory->rounds[0] };
	int i;

	atomic_fetch_add(&memory->common->arrived, 1);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		atomic_store(&flags[i]->word, 2);
		syscall(SYS_futex, &flags[i]->word, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

TEST_F(processes, member_that_ends_after_the_operation_does_not_fail_it)
{
	struct team_memory memory;
	pid_t pid = start_two(_metadata, &self->stage, variant->algorithm, &memory);

	atomic_store(&memory.record[1].done, 1);
	atomic_store(&memory.record[1].pid, ended_process());
	usleep(SEVERAL_LOOKS_US);
	EXPECT_EQ(0, self->stage.board->error[0]);
	let_go(&memory);
	EXPECT_EQ(WRONG_ROUND, wait_for(pid));
	EXPECT_EQ(0, self->stage.board->error[0]);
	EXPECT_EQ(-EOWNERDEAD, self->stage.board->again[0]);
	collsock_team_memory_unmap(&memory);
	close(self->stage.memfd);
}

TEST_F(processes, another_process_with_the_pid_of_a_member_is_none)
{
	struct team_memory memory;
	pid_t pid = start_two(_metadata, &self->stage, variant->algorithm, &memory);

	atomic_store(&memory.record[1].start, 1);
	atomic_store(&memory.record[1].pid, getpid());
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(-EOWNERDEAD, self->stage.board->error[0]);
	EXPECT_EQ(1, self->stage.board->failed[0].member);
	collsock_team_memory_unmap(&memory);
	close(self->stage.memfd);
}

TEST_F(processes, member_that_leaves_is_named_like_one_that_ends)
{
	struct collsock_team *second;
	pid_t pid;

	self->stage.memfd = collsock_team_memfd(2, variant->algorithm, 0);
	ASSERT_LE(0, self->stage.memfd);
	ASSERT_EQ(0, collsock_team_open(&second, self->stage.memfd, 1));
	pid = start(self->stage.board, self->stage.memfd, 2, 0, 1);
	collsock_team_free(second);
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(-EOWNERDEAD, self->stage.board->error[0]);
	EXPECT_EQ(1, self->stage.board->failed[0].member);
	EXPECT_EQ(-EBUSY, collsock_team_open(&second, self->stage.memfd, 1));
	close(self->stage.memfd);
}

/* Where a member needs none of the others, too */
TEST_F(processes, failure_stays)
{
	struct team_memory memory;
	struct collsock_team *team;
	struct collsock_team_culprit failed;

	self->stage.memfd = collsock_team_memfd(1, variant->algorithm, 0);
	ASSERT_LE(0, self->stage.memfd);
	ASSERT_EQ(0, collsock_team_open(&team, self->stage.memfd, 0));
	EXPECT_EQ(0, collsock_team_barrier(team, &failed));
	EXPECT_EQ(COLLSOCK_NO_MEMBER, failed.member);
	ASSERT_EQ(0, collsock_team_memory_map(&memory, &(struct team_head){ }, self->stage.memfd));
	atomic_store(&memory.common->failure, ~0U);
	EXPECT_EQ(-EOWNERDEAD, collsock_team_barrier(team, &failed));
	EXPECT_EQ(-EOWNERDEAD, collsock_team_barrier(team, NULL));
	collsock_team_memory_unmap(&memory);
	collsock_team_free(team);
	close(self->stage.memfd);
}

static void ignore(int signal)
{
}

/* Signals that come more often than a member looks */
TEST_F(processes, signals_do_not_hide_that_a_member_has_ended)
{
	struct sigaction action = { .sa_handler = ignore };
	struct team_memory memory;
	unsigned int i;
	pid_t pid;

	sigaction(SIGUSR1, &action, NULL);
	pid = start_two(_metadata, &self->stage, variant->algorithm, &memory);
	while (!atomic_load(&memory.record[0].pid))
		usleep(1000);
	for (i = 0; !self->stage.board->error[0] && i < PATIENCE_MS; i++) {
		if (i == FIRST_SIGNALS)
			atomic_store(&memory.record[1].pid, ended_process());
		kill(pid, SIGUSR1);
		usleep(1000);
	}
	EXPECT_GT(PATIENCE_MS, i);
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(-EOWNERDEAD, self->stage.board->error[0]);
	EXPECT_EQ(1, self->stage.board->failed[0].member);
	collsock_team_memory_unmap(&memory);
	close(self->stage.memfd);
}

/* ---- hostile memory ---- */

/*
 * Another member overwrites all that it can while this one runs barriers, and in the end says
 * that the team has failed.
 */
static void overwrite(struct team_memory *memory, size_t bytes)
{
	char *base = (char *)memory->common;
	unsigned int seed = 1, i;

	for (i = 0; i < 200000; i++) {
		size_t at = rand_r(&seed) % bytes;

		base[at] = rand_r(&seed);
	}
	memset(base, 0xff, bytes);
}

TEST_F(processes, whatever_another_writes_a_member_goes_on_or_fails)
{
	struct team_memory memory;
	pid_t pid;

	self->stage.memfd = collsock_team_memfd(MOST, variant->algorithm, 0);
	ASSERT_LE(0, self->stage.memfd);
	ASSERT_EQ(0, collsock_team_memory_map(&memory, &(struct team_head){ }, self->stage.memfd));
	pid = fork();
	if (!pid) {
		struct collsock_team *team;
		int err = collsock_team_open(&team, self->stage.memfd, 5);
		double data[4] = { };
		struct collsock_team_culprit failed;

		while (!err) {
			err = collsock_team_barrier(team, &failed);
			if (!err)
				err = collsock_team_allreduce(team, data, data, 4, COLLSOCK_DOUBLE,
							      COLLSOCK_SUM, &failed);
		}
		_exit((err != -EOWNERDEAD && err != -EPROTO) ||
		      (failed.member >= MOST && failed.member != COLLSOCK_NO_MEMBER));
	}
	while (!atomic_load(&memory.record[5].pid))
		usleep(1000);
	overwrite(&memory, memory.bytes);
	EXPECT_EQ(0, wait_for(pid));
	collsock_team_memory_unmap(&memory);
	close(self->stage.memfd);
}

/* A memfd like that of a team, but for one thing */
static int fake_memfd(const struct team_head *head, size_t bytes, int seals)
{
	int memfd = memfd_create("fake", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (ftruncate(memfd, bytes) || pwrite(memfd, head, sizeof(*head), 0) != sizeof(*head) ||
	    fcntl(memfd, F_ADD_SEALS, seals))
		return -1;
	return memfd;
}

static int open_fake(const struct team_head *head, size_t bytes, int seals)
{
	int memfd = fake_memfd(head, bytes, seals), err;
	struct collsock_team *team;

	err = collsock_team_open(&team, memfd, 0);
	if (!err)
		collsock_team_free(team);
	close(memfd);
	return err;
}

FIXTURE(memfd)
{
	struct team_head	head;
	size_t			bytes;
};

FIXTURE_SETUP(memfd)
{
	struct stat status;
	int memfd = collsock_team_memfd(3, COLLSOCK_TEAM_MCS, 0);

	ASSERT_LE(0, memfd);
	ASSERT_EQ(0, fstat(memfd, &status));
	self->bytes = status.st_size;
	ASSERT_EQ(sizeof(self->head), pread(memfd, &self->head, sizeof(self->head), 0));
	close(memfd);
}

FIXTURE_TEARDOWN(memfd)
{
}

TEST_F(memfd, cannot_be_made_shorter)
{
	int memfd = collsock_team_memfd(3, COLLSOCK_TEAM_MCS, 0);

	ASSERT_LE(0, memfd);
	EXPECT_NE(0, fcntl(memfd, F_GET_SEALS) & F_SEAL_SHRINK);
	EXPECT_EQ(-1, ftruncate(memfd, 0));
	EXPECT_EQ(EPERM, errno);
	close(memfd);
}

/* Return: what the call returned under the limit, which is lifted again */
static int memfd_within(rlim_t bytes)
{
	struct rlimit usual, few;
	int memfd;

	getrlimit(RLIMIT_FSIZE, &usual);
	few = (struct rlimit){ bytes, usual.rlim_max };
	setrlimit(RLIMIT_FSIZE, &few);
	memfd = collsock_team_memfd(3, COLLSOCK_TEAM_MCS, 0);
	setrlimit(RLIMIT_FSIZE, &usual);
	if (memfd >= 0)
		close(memfd);
	return memfd;
}

static atomic_int limit_signals;

static void count_signal(int signal)
{
	limit_signals++;
}

TEST_F(memfd, beyond_the_limit_of_files_is_an_error_and_no_signal)
{
	sigset_t of_limit, seen;

	EXPECT_EQ(-EFBIG, memfd_within(0));
	EXPECT_LE(0, memfd_within(self->bytes));
	signal(SIGXFSZ, count_signal);
	EXPECT_EQ(-EFBIG, memfd_within(self->bytes - 1));
	EXPECT_EQ(0, limit_signals);
	sigemptyset(&of_limit);
	sigaddset(&of_limit, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &of_limit, NULL);
	EXPECT_EQ(-EFBIG, memfd_within(0));
	sigpending(&seen);
	EXPECT_EQ(0, sigismember(&seen, SIGXFSZ));
	sigprocmask(SIG_UNBLOCK, &of_limit, NULL);
	EXPECT_EQ(0, limit_signals);
}

TEST_F(memfd, beyond_the_limit_leaves_a_signal_that_was_pending)
{
	sigset_t of_limit;

	signal(SIGXFSZ, count_signal);
	sigemptyset(&of_limit);
	sigaddset(&of_limit, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &of_limit, NULL);
	raise(SIGXFSZ);
	EXPECT_EQ(-EFBIG, memfd_within(0));
	sigprocmask(SIG_UNBLOCK, &of_limit, NULL);
	EXPECT_EQ(1, limit_signals);
}

TEST_F(memfd, that_could_be_made_shorter_is_refused)
{
	EXPECT_EQ(0, open_fake(&self->head, self->bytes, F_SEAL_SHRINK));
	EXPECT_EQ(-EBADMSG, open_fake(&self->head, self->bytes, 0));
	EXPECT_EQ(-EBADMSG, open_fake(&self->head, self->bytes, F_SEAL_GROW | F_SEAL_SEAL));
}

TEST_F(memfd, that_is_too_short_is_refused)
{
	EXPECT_EQ(-EBADMSG, open_fake(&self->head, self->bytes - 1, F_SEAL_SHRINK));
	EXPECT_EQ(-EBADMSG, open_fake(&self->head, sizeof(self->head), F_SEAL_SHRINK));
	self->head.max_bytes *= 2;
	EXPECT_EQ(-EBADMSG, open_fake(&self->head, self->bytes, F_SEAL_SHRINK));
	self->head.max_bytes /= 2;
	self->head.members = COLLSOCK_MAX_MEMBERS;
	EXPECT_EQ(-EBADMSG, open_fake(&self->head, self->bytes, F_SEAL_SHRINK));
}

TEST_F(memfd, with_an_impossible_head_is_refused)
{
	static const __u32 members[] = { 0, COLLSOCK_MAX_MEMBERS + 1, ~0U, 1U << 31 };
	static const __u32 algorithms[] = { COLLSOCK_TEAM_AUTO, COLLSOCK_TEAM_DISSEMINATION + 1,
					    ~0U };
	struct team_head head;
	int i;

	for (i = 0; i < ARRAY_SIZE(members); i++) {
		head = self->head;
		head.members = members[i];
		EXPECT_EQ(-EBADMSG, open_fake(&head, self->bytes, F_SEAL_SHRINK));
	}
	for (i = 0; i < ARRAY_SIZE(algorithms); i++) {
		head = self->head;
		head.algorithm = algorithms[i];
		EXPECT_EQ(-EBADMSG, open_fake(&head, self->bytes, F_SEAL_SHRINK));
	}
	head = self->head;
	head.max_bytes = 0;
	EXPECT_EQ(-EBADMSG, open_fake(&head, self->bytes, F_SEAL_SHRINK));
	head.max_bytes = COLLSOCK_MAX_PAYLOAD + 1;
	EXPECT_EQ(-EBADMSG, open_fake(&head, 200 * self->bytes, F_SEAL_SHRINK));
	self->head.magic++;
	EXPECT_EQ(-EBADMSG, open_fake(&self->head, self->bytes, F_SEAL_SHRINK));
}

TEST_F(memfd, of_another_namespace_is_refused)
{
	struct team_head head = self->head;

	head.pid_namespace++;
	EXPECT_EQ(-ESRCH, open_fake(&head, self->bytes, F_SEAL_SHRINK));
	self->head.time_namespace++;
	EXPECT_EQ(-ESRCH, open_fake(&self->head, self->bytes, F_SEAL_SHRINK));
}

TEST_F(memfd, has_to_be_one)
{
	struct collsock_team *team = NULL;
	char path[] = "/tmp/collsock-team-XXXXXX";
	int fd = mkstemp(path), pipes[2];

	ASSERT_LE(0, fd);
	unlink(path);
	ASSERT_EQ(0, pipe(pipes));
	EXPECT_EQ(-EBADMSG, collsock_team_open(&team, fd, 0));
	EXPECT_EQ(-EBADMSG, collsock_team_open(&team, pipes[0], 0));
	close(fd);
	EXPECT_EQ(-EBADF, collsock_team_open(&team, fd, 0));
	EXPECT_EQ(NULL, team);
	close(pipes[0]);
	close(pipes[1]);
}

TEST_F(memfd, member_is_one_process)
{
	int memfd = collsock_team_memfd(3, COLLSOCK_TEAM_AUTO, 0);
	struct collsock_team *team, *other;

	ASSERT_LE(0, memfd);
	ASSERT_EQ(0, collsock_team_open(&team, memfd, 2));
	EXPECT_EQ(-EBUSY, collsock_team_open(&other, memfd, 2));
	EXPECT_EQ(-EINVAL, collsock_team_open(&other, memfd, 3));
	EXPECT_EQ(-EINVAL, collsock_team_memfd(0, COLLSOCK_TEAM_AUTO, 0));
	collsock_team_free(team);
	close(memfd);
}

TEST_HARNESS_MAIN
