// SPDX-License-Identifier: GPL-2.0
/*
 * registers THREADS: does a program that computes keep its floating-point registers and
 * settings? Each thread computes the same chain of numbers again and again, in which any
 * change of one bit changes all that follow, with its own rounding mode, so that all registers
 * are in use.
 *
 * It computes each chain once and prints "ready", and "enough" when each thread has computed its
 * chain again. It goes on until the end of its input, and prints how many chains there were, how
 * many were wrong, and in how many the settings had changed.
 */
#include <emmintrin.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_THREADS	64
#define STEPS		20000
#define ROWS		6	/* registers of numbers, and as many of factors */
#define MASKED		0x1f80	/* exceptions */
#define ROUNDING	0x2000	/* the lowest bit of the mode */
#define FLAGS		0x003f	/* which exceptions there have been */

struct chain {
	pthread_t	thread;
	unsigned int	settings;
	unsigned long	expected;
	unsigned long	done;
	unsigned long	wrong;
	unsigned long	changed;
};

static atomic_bool ended;
static atomic_int late;	/* threads that have not computed their chain again */

/* The logistic map, which is chaotic for these factors */
static unsigned long compute(void)
{
	const __m128d one = _mm_set1_pd(1);
	__m128d x[ROWS], factor[ROWS];
	unsigned long words[2 * ROWS], hash = 0;
	int i, step;

	for (i = 0; i < ROWS; i++) {
		x[i] = _mm_set_pd(0.1 + i * 0.05, 0.6 + i * 0.05);
		factor[i] = _mm_set_pd(3.9 + i * 0.01, 3.99 - i * 0.01);
	}
	for (step = 0; step < STEPS; step++)
		for (i = 0; i < ROWS; i++)
			x[i] = _mm_mul_pd(_mm_mul_pd(factor[i], x[i]), _mm_sub_pd(one, x[i]));
	memcpy(words, x, sizeof(words));
	for (i = 0; i < 2 * ROWS; i++)
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ULL;
	return hash;
}

static void say(const char *line)
{
	puts(line);
	fflush(stdout);
}

static void *repeat(void *argument)
{
	struct chain *c = argument;

	_mm_setcsr(c->settings);
	while (!atomic_load(&ended)) {
		c->wrong += compute() != c->expected;
		c->changed += (_mm_getcsr() & ~FLAGS) != c->settings;
		if (!c->done++ && atomic_fetch_sub(&late, 1) == 1)
			say("enough");
	}
	return NULL;
}

static void expect(struct chain *c, int number)
{
	unsigned int before = _mm_getcsr();

	c->settings = MASKED | number % 4 * ROUNDING;
	_mm_setcsr(c->settings);
	c->expected = compute();
	_mm_setcsr(before);
}

int main(int argc, char **argv)
{
	static struct chain chains[MOST_THREADS];
	int threads = argc == 2 ? atoi(argv[1]) : 0, i;
	unsigned long done = 0, wrong = 0, changed = 0;
	char unused;

	if (threads < 1 || threads > MOST_THREADS)
		return 2;
	for (i = 0; i < threads; i++)
		expect(&chains[i], i);
	say("ready");
	atomic_store(&late, threads);
	for (i = 0; i < threads; i++)
		if (pthread_create(&chains[i].thread, NULL, repeat, &chains[i]))
			return 1;
	while (read(STDIN_FILENO, &unused, 1) > 0)
		;
	atomic_store(&ended, true);
	for (i = 0; i < threads; i++) {
		pthread_join(chains[i].thread, NULL);
		done += chains[i].done;
		wrong += chains[i].wrong;
		changed += chains[i].changed;
	}
	printf("%lu done, %lu wrong, %lu changed\n", done, wrong, changed);
	return 0;
}
