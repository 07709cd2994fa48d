// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Threads of OpenMP that are a team: the sums of 1 to each of their numbers. In round k each
 * adds what the thread at distance 2^k had before, so a barrier must follow each round.
 *
 *	cc -fopenmp team.c $(pkg-config --cflags --libs collsock)
 */
#include <stdio.h>
#include <stdlib.h>

#include <omp.h>

#include <collsock.h>

#define MAX_THREADS 64
#define TEXT_BYTES 512

static struct collsock_team *team[MAX_THREADS];
static int sums[2][MAX_THREADS];	/* those of even rounds, and of odd ones */

static void check(int error)
{
	char text[TEXT_BYTES];

	if (!error)
		return;
	puts(collsock_strerror(error, COLLSOCK_NO_RANK, text, sizeof(text)));
	exit(1);
}

static void add_up(int me, int threads)
{
	int round, distance = 1;

	sums[0][me] = me + 1;
	check(collsock_team_barrier(team[me], NULL));
	for (round = 0; distance < threads; round++, distance *= 2) {
		const int *now = sums[round % 2];

		sums[(round + 1) % 2][me] = now[me] + (me >= distance ? now[me - distance] : 0);
		check(collsock_team_barrier(team[me], NULL));
	}
	/* Every thread may read what all have written. */
	if (!me)
		for (me = 0; me < threads; me++)
			printf("1 to %d: %d\n", me + 1, sums[round % 2][me]);
}

int main(int argc, char **argv)
{
	int i, threads = argc > 1 ? atoi(argv[1]) : 4;

	if (threads < 1 || threads > MAX_THREADS) {
		printf("usage: team [THREADS [ALGORITHM]], 1 to %d threads\n", MAX_THREADS);
		return 2;
	}
	omp_set_dynamic(0);
	check(collsock_team_new(team, threads, argc > 2 ? atoi(argv[2]) : COLLSOCK_TEAM_AUTO,
				0));
	#pragma omp parallel num_threads(threads)
	add_up(omp_get_thread_num(), threads);
	for (i = 0; i < threads; i++)
		collsock_team_free(team[i]);
	return 0;
}
