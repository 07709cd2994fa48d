// SPDX-License-Identifier: GPL-2.0
/*
 * Teams of threads, under ThreadSanitizer: what members write before an operation the others
 * may read after it, without any other synchronisation.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake_kernel.h"

#include "../harness.h"

#define MOST_THREADS 33
#define ODD_NUMBERS	16	/* elements whose sums depend on their order */
#define ROUNDS 200
#define SPIN_US 20
#define PATIENCE_S 60

/**
 * struct crew - threads that are a team
 * @team: its members
 * @count: number of members
 * @arrived: the round in which each is, in even rounds and in odd ones; not atomic
 * @early: how often one left before another arrived
 * @failed: how often an operation failed
 */
struct crew {
	struct collsock_team	*team[MOST_THREADS];
	unsigned int		count;
	unsigned int		arrived[2][MOST_THREADS];
	unsigned int		early[MOST_THREADS];
	unsigned int		failed[MOST_THREADS];
};

struct worker {
	pthread_t	thread;
	struct crew	*crew;
	unsigned int	member;
	void		(*job)(struct worker *worker);
};

static void *work(void *context)
{
	struct worker *worker = context;

	worker->job(worker);
	return NULL;
}

static void crew_run(struct crew *crew, void (*job)(struct worker *worker))
{
	struct worker workers[MOST_THREADS];
	unsigned int i;

	for (i = 0; i < crew->count; i++) {
		workers[i] = (struct worker){ .crew = crew, .member = i, .job = job };
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (i = 0; i < crew->count; i++)
		pthread_join(workers[i].thread, NULL);
}

static unsigned int crew_sum(const struct crew *crew, const unsigned int *of_member)
{
	unsigned int i, sum = 0;

	for (i = 0; i < crew->count; i++)
		sum += of_member[i];
	return sum;
}

static void crew_free(struct crew *crew)
{
	unsigned int i;

	for (i = 0; i < crew->count; i++)
		collsock_team_free(crew->team[i]);
}

static void barriers(struct worker *worker)
{
	struct crew *crew = worker->crew;
	unsigned int round, i, me = worker->member;
	struct collsock_team_culprit failed;

	for (round = 1; round <= ROUNDS; round++) {
		crew->arrived[round % 2][me] = round;
		if (collsock_team_barrier(crew->team[me], &failed) ||
		    failed.member != COLLSOCK_NO_MEMBER)
			crew->failed[me]++;
		for (i = 0; i < crew->count; i++)
			crew->early[me] += crew->arrived[round % 2][i] != round;
	}
}

FIXTURE(threads)
{
	struct crew	crew;
};

FIXTURE_VARIANT(threads)
{
	enum collsock_team_algorithm	algorithm;
};

FIXTURE_VARIANT_ADD(threads, automatic)
{
	.algorithm	= COLLSOCK_TEAM_AUTO,
};

FIXTURE_VARIANT_ADD(threads, central)
{
	.algorithm	= COLLSOCK_TEAM_CENTRAL,
};

FIXTURE_VARIANT_ADD(threads, mcs)
{
	.algorithm	= COLLSOCK_TEAM_MCS,
};

FIXTURE_VARIANT_ADD(threads, dissemination)
{
	.algorithm	= COLLSOCK_TEAM_DISSEMINATION,
};

FIXTURE_SETUP(threads)
{
}

FIXTURE_TEARDOWN(threads)
{
}

static int crew_new(struct crew *crew, unsigned int count,
		    enum collsock_team_algorithm algorithm)
{
	*crew = (struct crew){ .count = count };
	return collsock_team_new(crew->team, count, algorithm, 0);
}

TEST_F(threads, none_leaves_before_all_have_arrived)
{
	static const unsigned int counts[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, MOST_THREADS };
	int i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		ASSERT_EQ(0, crew_new(&self->crew, counts[i], variant->algorithm));
		crew_run(&self->crew, barriers);
		EXPECT_EQ(0, crew_sum(&self->crew, self->crew.early)) TH_LOG("%u", counts[i]);
		EXPECT_EQ(0, crew_sum(&self->crew, self->crew.failed)) TH_LOG("%u", counts[i]);
		crew_free(&self->crew);
	}
}

static void spinning_barriers(struct worker *worker)
{
	collsock_team_set_spin(worker->crew->team[worker->member], SPIN_US);
	barriers(worker);
}

TEST_F(threads, nor_when_they_spin)
{
	ASSERT_EQ(0, crew_new(&self->crew, 3, variant->algorithm));
	crew_run(&self->crew, spinning_barriers);
	EXPECT_EQ(0, crew_sum(&self->crew, self->crew.early));
	EXPECT_EQ(0, crew_sum(&self->crew, self->crew.failed));
	crew_free(&self->crew);
}

/* The member's number, and a number that no sum of fewer has exactly */
static void allreduces(struct worker *worker)
{
	struct crew *crew = worker->crew;
	__s64 n = crew->count, me = worker->member, round, got[2];
	struct collsock_team_culprit failed;

	for (round = 1; round <= ROUNDS; round++) {
		got[0] = me + round;
		got[1] = 1LL << 40;
		if (collsock_team_allreduce(crew->team[me], got, got, 2, COLLSOCK_INT64,
					    COLLSOCK_SUM, &failed) ||
		    failed.member != COLLSOCK_NO_MEMBER)
			crew->failed[me]++;
		crew->early[me] += got[0] != n * (n - 1) / 2 + n * round || got[1] != n << 40;
		if (round % 3 == 0 && collsock_team_barrier(crew->team[me], NULL))
			crew->failed[me]++;
	}
}

TEST_F(threads, all_get_what_all_contribute)
{
	static const unsigned int counts[] = { 1, 2, 3, 5, 8, 17, MOST_THREADS };
	int i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		ASSERT_EQ(0, crew_new(&self->crew, counts[i], variant->algorithm));
		crew_run(&self->crew, allreduces);
		EXPECT_EQ(0, crew_sum(&self->crew, self->crew.early)) TH_LOG("%u", counts[i]);
		EXPECT_EQ(0, crew_sum(&self->crew, self->crew.failed)) TH_LOG("%u", counts[i]);
		crew_free(&self->crew);
	}
}

/* Any bits of a mantissa, so that many sums depend on the order in which they are made. */
static double odd_number(unsigned int member, unsigned int element)
{
	__u32 bits = (member * ODD_NUMBERS + element + 1) * 2654435761U;

	return 1 + (bits ^ bits >> 15) / 3e9;
}

/* By the rule for ranks of a host: five are ((0 1) (2 3)) 4. */
static double sum_by_rule(unsigned int first, unsigned int count, unsigned int element)
{
	unsigned int lower = 1;

	if (count == 1)
		return odd_number(first, element);
	while (2 * lower < count)
		lower *= 2;
	return sum_by_rule(first, lower, element) +
	       sum_by_rule(first + lower, count - lower, element);
}

static double sum_in_line(unsigned int count, unsigned int element)
{
	double sum = odd_number(0, element);
	unsigned int member;

	for (member = 1; member < count; member++)
		sum += odd_number(member, element);
	return sum;
}

/* Of how many of the sums does another order give other bits? */
static unsigned int sums_that_depend_on_order(unsigned int count)
{
	unsigned int element, number = 0;

	for (element = 0; element < ODD_NUMBERS; element++)
		number += sum_by_rule(0, count, element) != sum_in_line(count, element);
	return number;
}

static void sum_odd_numbers(struct worker *worker)
{
	struct crew *crew = worker->crew;
	double mine[ODD_NUMBERS], wanted[ODD_NUMBERS], got[ODD_NUMBERS];
	unsigned int round, element, me = worker->member;

	for (element = 0; element < ODD_NUMBERS; element++) {
		mine[element] = odd_number(me, element);
		wanted[element] = sum_by_rule(0, crew->count, element);
	}
	for (round = 0; round < ROUNDS / 10; round++) {
		crew->failed[me] += collsock_team_allreduce(crew->team[me], mine, got, ODD_NUMBERS,
							    COLLSOCK_DOUBLE, COLLSOCK_SUM,
							    NULL) != 0;
		crew->early[me] += memcmp(wanted, got, sizeof(got)) != 0;
	}
}

TEST_F(threads, sums_are_made_in_the_order_of_members_as_those_of_ranks)
{
	unsigned int count;

	for (count = 1; count <= 12; count++) {
		EXPECT_EQ(count >= 4, sums_that_depend_on_order(count) > 0) TH_LOG("%u", count);
		ASSERT_EQ(0, crew_new(&self->crew, count, variant->algorithm));
		crew_run(&self->crew, sum_odd_numbers);
		EXPECT_EQ(0, crew_sum(&self->crew, self->crew.early)) TH_LOG("%u", count);
		EXPECT_EQ(0, crew_sum(&self->crew, self->crew.failed)) TH_LOG("%u", count);
		crew_free(&self->crew);
	}
}

/* Which member does something else, and what */
static unsigned int odd_one;
static int odd_deed;

static int operate(struct collsock_team *team, int deed, struct collsock_team_culprit *failed)
{
	__s64 data[2] = { 1, 1 };

	switch (deed) {
	case 0:
		return collsock_team_allreduce(team, data, data, 2, COLLSOCK_INT64, COLLSOCK_SUM,
					       failed);
	case 1:
		return collsock_team_allreduce(team, data, data, 1, COLLSOCK_INT64, COLLSOCK_SUM,
					       failed);
	case 2:
		return collsock_team_allreduce(team, data, data, 2, COLLSOCK_INT64, COLLSOCK_MAX,
					       failed);
	case 3:
		return collsock_team_allreduce(team, data, data, 2, COLLSOCK_UINT64, COLLSOCK_SUM,
					       failed);
	default:
		return collsock_team_barrier(team, failed);
	}
}

static void disagree(struct worker *worker)
{
	struct crew *crew = worker->crew;
	unsigned int me = worker->member;
	bool odd = me == odd_one;
	struct collsock_team_culprit failed = { };
	int err;

	if (operate(crew->team[me], 0, NULL))
		crew->failed[me]++;
	err = operate(crew->team[me], odd ? odd_deed : 0, &failed);
	/* A member in a barrier may have left it before another finds that they disagree. */
	if (err != -EPROTO && (!odd || odd_deed < 4))
		crew->failed[me]++;
	if (operate(crew->team[me], 0, &failed) != -EPROTO || failed.member >= crew->count)
		crew->failed[me]++;
}

TEST_F(threads, disagreement_is_an_error_of_all_and_stays)
{
	for (odd_deed = 1; odd_deed <= 4; odd_deed++) {
		for (odd_one = 0; odd_one < 3; odd_one++) {
			ASSERT_EQ(0, crew_new(&self->crew, 3, variant->algorithm));
			crew_run(&self->crew, disagree);
			EXPECT_EQ(0, crew_sum(&self->crew, self->crew.failed))
				TH_LOG("member %u does %d", odd_one, odd_deed);
			crew_free(&self->crew);
		}
	}
}

TEST_F(threads, what_cannot_be_reduced_is_refused_and_harms_nothing)
{
	struct collsock_team *team[1];
	__u8 data[COLLSOCK_DEFAULT_SEGMENT + 8] = { };
	struct collsock_team_culprit failed = { };

	ASSERT_EQ(0, collsock_team_new(team, 1, variant->algorithm, 0));
	EXPECT_EQ(-EINVAL, collsock_team_allreduce(team[0], data, data, 0, COLLSOCK_INT64,
						   COLLSOCK_SUM, &failed));
	EXPECT_EQ(COLLSOCK_NO_MEMBER, failed.member);
	EXPECT_EQ(-EINVAL, collsock_team_allreduce(team[0], data, data, 1, COLLSOCK_DOUBLE,
						   COLLSOCK_BITWISE_OR, NULL));
	EXPECT_EQ(-EINVAL, collsock_team_allreduce(team[0], data, data, 1, 256 + COLLSOCK_INT64,
						   COLLSOCK_SUM, NULL));
	EXPECT_EQ(-EINVAL, collsock_team_allreduce(team[0], data, data, 1, COLLSOCK_INT64,
						   256 + COLLSOCK_SUM, NULL));
	EXPECT_EQ(-EMSGSIZE, collsock_team_allreduce(team[0], data, data,
						     COLLSOCK_DEFAULT_SEGMENT / 8 + 1,
						     COLLSOCK_INT64, COLLSOCK_SUM, NULL));
	EXPECT_EQ(-EMSGSIZE, collsock_team_allreduce(team[0], data, data, ~0U, COLLSOCK_INT64,
						     COLLSOCK_SUM, NULL));
	EXPECT_EQ(0, collsock_team_allreduce(team[0], data, data, COLLSOCK_DEFAULT_SEGMENT / 8,
					     COLLSOCK_INT64, COLLSOCK_SUM, NULL));
	collsock_team_free(team[0]);
}

/* ---- combined with a socket ---- */

static int combine(struct crew *crew, struct collsock *socket)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < crew->count && !err; i++)
		err = collsock_team_combine(crew->team[i], socket);
	return err;
}

static void combined_barriers(struct worker *worker)
{
	struct crew *crew = worker->crew;
	unsigned int me = worker->member, i;

	for (i = 0; i < FAKE_ANSWERS / 2; i++)
		crew->failed[me] += collsock_team_barrier(crew->team[me], NULL) != 0;
}

TEST_F(threads, one_member_posts_for_all)
{
	struct collsock *socket;

	memset(&fake, 0, sizeof(fake));
	ASSERT_EQ(0, collsock_open(&socket, 0));
	ASSERT_EQ(0, crew_new(&self->crew, 5, variant->algorithm));
	ASSERT_EQ(0, combine(&self->crew, socket));
	crew_run(&self->crew, combined_barriers);
	EXPECT_EQ(0, crew_sum(&self->crew, self->crew.failed));
	EXPECT_EQ(FAKE_ANSWERS / 2, fake.calls);
	crew_free(&self->crew);
	collsock_close(socket);
}

static void combined_failure(struct worker *worker)
{
	struct crew *crew = worker->crew;
	unsigned int me = worker->member;
	struct collsock_team_culprit culprit;
	__s64 data = 1;

	crew->failed[me] += collsock_team_allreduce(crew->team[me], &data, &data, 1,
						    COLLSOCK_INT64, COLLSOCK_SUM,
						    &culprit) != -ECONNRESET;
	crew->failed[me] += culprit.rank != 7 || culprit.member != COLLSOCK_NO_MEMBER;
	crew->early[me] += data != 1;
}

TEST_F(threads, error_of_the_group_is_every_members)
{
	struct collsock *socket;

	memset(&fake, 0, sizeof(fake));
	fake.answers[0].completion = (struct collsock_completion){
		.size = sizeof(fake.answers[0].completion), .error = ECONNRESET,
		.failed_rank = 7,
	};
	ASSERT_EQ(0, collsock_open(&socket, 0));
	ASSERT_EQ(0, crew_new(&self->crew, 5, variant->algorithm));
	ASSERT_EQ(0, combine(&self->crew, socket));
	crew_run(&self->crew, combined_failure);
	EXPECT_EQ(0, crew_sum(&self->crew, self->crew.failed));
	EXPECT_EQ(0, crew_sum(&self->crew, self->crew.early));
	EXPECT_EQ(1, fake.calls);
	crew_free(&self->crew);
	collsock_close(socket);
}

/* The other end of a stream in place of the socket sees that it is shut down. */
TEST_F(threads, team_that_fails_leaves_the_group)
{
	struct collsock *socket;
	int ends[2];
	char byte;

	memset(&fake, 0, sizeof(fake));
	ASSERT_EQ(0, collsock_open(&socket, 0));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	ASSERT_EQ(collsock_fd(socket), dup2(ends[0], collsock_fd(socket)));
	ASSERT_EQ(0, crew_new(&self->crew, 3, variant->algorithm));
	ASSERT_EQ(0, combine(&self->crew, socket));
	odd_one = 1;
	odd_deed = 1;
	crew_run(&self->crew, disagree);
	EXPECT_EQ(0, crew_sum(&self->crew, self->crew.failed));
	EXPECT_EQ(0, recv(ends[1], &byte, 1, MSG_DONTWAIT));
	crew_free(&self->crew);
	collsock_close(socket);
	close(ends[0]);
	close(ends[1]);
}

TEST_F(threads, sockets_that_do_not_wait_and_teams_that_have_begun_cannot_be_combined)
{
	struct collsock *socket, *impatient;
	struct collsock_team *team[1];

	memset(&fake, 0, sizeof(fake));
	ASSERT_EQ(0, collsock_open(&socket, 0));
	ASSERT_EQ(0, collsock_open(&impatient, 0));
	ASSERT_EQ(0, fcntl(collsock_fd(impatient), F_SETFL, O_RDWR | O_NONBLOCK));
	ASSERT_EQ(0, collsock_team_new(team, 1, variant->algorithm, 0));
	EXPECT_EQ(-EINVAL, collsock_team_combine(team[0], impatient));
	ASSERT_EQ(0, collsock_team_barrier(team[0], NULL));
	EXPECT_EQ(-EINVAL, collsock_team_combine(team[0], socket));
	collsock_team_free(team[0]);
	collsock_close(socket);
	collsock_close(impatient);
}

TEST_F(threads, team_of_the_parent_is_none_of_a_forked_child)
{
	int status;
	pid_t pid;

	ASSERT_EQ(0, crew_new(&self->crew, 1, variant->algorithm));
	ASSERT_EQ(0, collsock_team_barrier(self->crew.team[0], NULL));
	pid = fork();
	if (!pid) {
		status = collsock_team_barrier(self->crew.team[0], NULL) != -ECHILD;
		crew_free(&self->crew);
		_exit(status);
	}
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, collsock_team_barrier(self->crew.team[0], NULL));
	crew_free(&self->crew);
}

/* ---- a failure while others fall asleep ---- */

/* Where a thread stops, once, until the test lets it go on */
struct stop {
	sem_t	reached;
	sem_t	go;
};

static __thread struct stop *stop_at_clock, *stop_before_sleep;

static void stop_here(struct stop *stop)
{
	sem_post(&stop->reached);
	sem_wait(&stop->go);
}

static void stop_once(struct stop **stop)
{
	struct stop *here = *stop;

	*stop = NULL;
	if (here)
		stop_here(here);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	stop_once(&stop_at_clock);
	return __real_clock_gettime(clock, now);
}

long __wrap_syscall(long number, ...)
{
	va_list list;
	long a[6];
	int i;

	va_start(list, number);
	for (i = 0; i < ARRAY_SIZE(a); i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_futex && (int)a[1] == FUTEX_WAIT_PRIVATE)
		stop_once(&stop_before_sleep);
	return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/**
 * struct sleeper - a member that stops
 * @thread: its thread
 * @team: the member
 * @stop: where it stops
 * @first: result of its first operation
 * @second: of its second one, if there is one
 */
struct sleeper {
	pthread_t		thread;
	struct collsock_team	*team;
	struct stop		stop;
	int			first;
	int			second;
};

static void sleeper_start(struct sleeper *s, struct collsock_team *team, unsigned int spin_us,
			  void *(*job)(void *))
{
	s->team = team;
	sem_init(&s->stop.reached, 0, 0);
	sem_init(&s->stop.go, 0, 0);
	collsock_team_set_spin(team, spin_us);
	pthread_create(&s->thread, NULL, job, s);
}

/* Does it end? */
static bool sleeper_go_on(struct sleeper *s)
{
	struct timespec end;

	sem_post(&s->stop.go);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += PATIENCE_S;
	return !pthread_timedjoin_np(s->thread, NULL, &end);
}

/* Finds out late that the others are in a barrier, and so the team fails. */
static void *reduces(void *context)
{
	struct sleeper *s = context;

	stop_before_sleep = &s->stop;
	s->first = operate(s->team, 0, NULL);
	return NULL;
}

static void *spins_in_the_second(void *context)
{
	struct sleeper *s = context;

	s->first = collsock_team_barrier(s->team, NULL);
	stop_at_clock = &s->stop;
	s->second = collsock_team_barrier(s->team, NULL);
	return NULL;
}

static void *sleeps_in_the_second(void *context)
{
	struct sleeper *s = context;

	s->first = collsock_team_barrier(s->team, NULL);
	stop_here(&s->stop);
	stop_before_sleep = &s->stop;
	s->second = collsock_team_barrier(s->team, NULL);
	return NULL;
}

/* All wait for the same flag, and nobody will set it. */
TEST(none_sleeps_that_was_about_to_when_the_team_failed)
{
	struct sleeper fails, late, sleeps;
	struct collsock_team *team[3];

	ASSERT_EQ(0, collsock_team_new(team, 3, COLLSOCK_TEAM_CENTRAL, 0));
	sleeper_start(&fails, team[0], 0, reduces);
	sem_wait(&fails.stop.reached);
	sleeper_start(&late, team[1], SPIN_US, spins_in_the_second);
	sleeper_start(&sleeps, team[2], 0, sleeps_in_the_second);
	/* One has read the flag when nobody sleeps yet. */
	sem_wait(&late.stop.reached);
	sem_wait(&sleeps.stop.reached);
	sem_post(&sleeps.stop.go);
	/* Another has announced that it sleeps, and has seen that the team has not failed. */
	sem_wait(&sleeps.stop.reached);
	ASSERT_TRUE(sleeper_go_on(&fails));
	EXPECT_EQ(-EPROTO, fails.first);
	/* It announces that it sleeps, and then sees the failure. */
	ASSERT_TRUE(sleeper_go_on(&late));
	EXPECT_EQ(0, late.first);
	EXPECT_EQ(-EPROTO, late.second);
	/* What it expects is in the flag again. */
	ASSERT_TRUE(sleeper_go_on(&sleeps));
	EXPECT_EQ(0, sleeps.first);
	EXPECT_EQ(-EPROTO, sleeps.second);
	collsock_team_free(team[0]);
	collsock_team_free(team[1]);
	collsock_team_free(team[2]);
}

TEST(what_a_team_cannot_be_is_refused)
{
	struct collsock_team *team[1] = { NULL };

	EXPECT_EQ(-EINVAL, collsock_team_new(team, 0, COLLSOCK_TEAM_AUTO, 0));
	EXPECT_EQ(-EINVAL, collsock_team_new(team, COLLSOCK_MAX_MEMBERS + 1, COLLSOCK_TEAM_AUTO,
					     0));
	EXPECT_EQ(-EINVAL, collsock_team_new(team, 1, COLLSOCK_TEAM_AUTO,
					     COLLSOCK_MAX_PAYLOAD + 1));
	EXPECT_EQ(-EINVAL, collsock_team_new(team, 1, 4, 0));
	EXPECT_EQ(NULL, team[0]);
	ASSERT_EQ(0, collsock_team_new(team, 1, COLLSOCK_TEAM_AUTO, 0));
	EXPECT_EQ(0, collsock_team_set_spin(team[0], COLLSOCK_MAX_SPIN_US));
	EXPECT_EQ(-EINVAL, collsock_team_set_spin(team[0], COLLSOCK_MAX_SPIN_US + 1));
	collsock_team_free(team[0]);
	collsock_team_free(NULL);
}

TEST_HARNESS_MAIN
