// SPDX-License-Identifier: GPL-2.0
/*
 * Teams of threads, under ThreadSanitizer: what members write before an operation the others
 * may read after it, without any other synchronization.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <collsock.h>

#include "../harness.h"

#define MOST_THREADS 33
#define ROUNDS 200
#define SPIN_US 20

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
	__u32 failed;

	for (round = 1; round <= ROUNDS; round++) {
		crew->arrived[round % 2][me] = round;
		if (collsock_team_barrier(crew->team[me], &failed) || failed != COLLSOCK_NO_MEMBER)
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
	return collsock_team_new(crew->team, count, algorithm);
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

TEST(what_a_team_cannot_be_is_refused)
{
	struct collsock_team *team[1] = { NULL };

	EXPECT_EQ(-EINVAL, collsock_team_new(team, 0, COLLSOCK_TEAM_AUTO));
	EXPECT_EQ(-EINVAL, collsock_team_new(team, COLLSOCK_MAX_MEMBERS + 1, COLLSOCK_TEAM_AUTO));
	EXPECT_EQ(-EINVAL, collsock_team_new(team, 1, 4));
	EXPECT_EQ(NULL, team[0]);
	ASSERT_EQ(0, collsock_team_new(team, 1, COLLSOCK_TEAM_AUTO));
	EXPECT_EQ(0, collsock_team_set_spin(team[0], COLLSOCK_MAX_SPIN_US));
	EXPECT_EQ(-EINVAL, collsock_team_set_spin(team[0], COLLSOCK_MAX_SPIN_US + 1));
	collsock_team_free(team[0]);
	collsock_team_free(NULL);
}

TEST_HARNESS_MAIN
