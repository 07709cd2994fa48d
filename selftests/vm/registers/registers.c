// SPDX-License-Identifier: GPL-2.0
/*
 * registers THREADS: does a program that computes keep its floating-point registers and
 * settings? Each thread computes the same chains of numbers again and again, in which any
 * change of one bit changes all that follow, with its own rounding mode, so that all registers
 * are in use: those of SSE, of the x87 unit, and of AVX if the processor has it.
 *
 * It computes each chain once and prints "ready", and "enough" when each thread has computed its
 * chains again. It goes on until the end of its input, and prints how often that was, how many
 * chains were wrong, how often the settings had changed, and how many kinds of registers there
 * are.
 */
#include <immintrin.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_THREADS	64
#define STEPS		10000
#define VECTORS		6	/* registers of numbers, and as many of factors */
#define WORDS		(VECTORS * sizeof(__m256d) / sizeof(unsigned long))
#define MODE(number)	((number) % 4)	/* of rounding */
#define MASKED		0x1f80	/* exceptions, and where the mode is: of SSE and AVX */
#define MODE_AT		13
#define FLAGS		0x003f	/* which exceptions there have been */
#define X87_MASKED	0x037f	/* the same of the x87 unit, whose numbers have all their bits */
#define X87_MODE_AT	10

struct settings {
	unsigned int	vectors;
	unsigned short	x87;
};

enum kind { SSE, X87, AVX, KINDS };

union results {
	long double	x87[2];
	__m128d		sse[VECTORS];
	__m256d		avx[VECTORS];
	unsigned long	words[WORDS];
};

struct thread {
	pthread_t	thread;
	struct settings	settings;
	unsigned long	expected[KINDS];
	unsigned long	done;
	unsigned long	wrong;
	unsigned long	changed;
};

static atomic_bool ended;
static atomic_int late;	/* threads that have not computed their chains again */

/*
 * The logistic map, which is chaotic for these factors, once for each kind of registers. Nothing
 * is known of a function where it is called, so it computes each time; loops over registers are
 * unrolled, or numbers would be in memory.
 */
static void __attribute__((noipa)) compute_sse(__m128d result[VECTORS])
{
	const __m128d lane = { 0, 0.02 };
	__m128d x[VECTORS], factor[VECTORS];
	int i, step;

#pragma GCC unroll 8
	for (i = 0; i < VECTORS; i++) {
		x[i] = 0.1 + 0.1 * i + lane;
		factor[i] = 3.9 + 0.01 * i + 0.1 * lane;
	}
	for (step = 0; step < STEPS; step++)
#pragma GCC unroll 8
		for (i = 0; i < VECTORS; i++)
			x[i] = factor[i] * x[i] * (1 - x[i]);
#pragma GCC unroll 8
	for (i = 0; i < VECTORS; i++)
		result[i] = x[i];
}

static void __attribute__((noipa, target("avx"))) compute_avx(__m256d result[VECTORS])
{
	const __m256d lane = { 0, 0.02, 0.04, 0.06 };
	__m256d x[VECTORS], factor[VECTORS];
	int i, step;

#pragma GCC unroll 8
	for (i = 0; i < VECTORS; i++) {
		x[i] = 0.1 + 0.1 * i + lane;
		factor[i] = 3.9 + 0.01 * i + 0.1 * lane;
	}
	for (step = 0; step < STEPS; step++)
#pragma GCC unroll 8
		for (i = 0; i < VECTORS; i++)
			x[i] = factor[i] * x[i] * (1 - x[i]);
#pragma GCC unroll 8
	for (i = 0; i < VECTORS; i++)
		result[i] = x[i];
}

/* As many numbers as its eight registers have room for, with factors and what is computed */
static void __attribute__((noipa)) compute_x87(long double result[2])
{
	long double x = 0.1L, y = 0.2L, x_factor = 3.9L, y_factor = 3.95L;
	int step;

	for (step = 0; step < STEPS; step++) {
		x = x_factor * x * (1 - x);
		y = y_factor * y * (1 - y);
	}
	result[0] = x;
	result[1] = y;
}

static int kinds(void)
{
	return __builtin_cpu_supports("avx") ? KINDS : AVX;
}

static unsigned long compute(enum kind kind)
{
	union results results;
	unsigned long hash = 0;
	unsigned int i;

	memset(&results, 0, sizeof(results));
	if (kind == SSE)
		compute_sse(results.sse);
	else if (kind == X87)
		compute_x87(results.x87);
	else
		compute_avx(results.avx);
	for (i = 0; i < WORDS; i++)
		hash = (hash ^ results.words[i]) * 0x9e3779b97f4a7c15UL;
	return hash;
}

static struct settings get_settings(void)
{
	struct settings settings = { .vectors = _mm_getcsr() & ~FLAGS };

	asm volatile("fnstcw %0" : "=m"(settings.x87));
	return settings;
}

static void set_settings(struct settings settings)
{
	_mm_setcsr(settings.vectors);
	asm volatile("fldcw %0" : : "m"(settings.x87));
}

static bool have_changed(struct settings settings)
{
	struct settings now = get_settings();

	return now.vectors != settings.vectors || now.x87 != settings.x87;
}

static void say(const char *line)
{
	puts(line);
	fflush(stdout);
}

static void *repeat(void *argument)
{
	struct thread *t = argument;
	int kind;

	set_settings(t->settings);
	while (!atomic_load(&ended)) {
		for (kind = 0; kind < kinds(); kind++)
			t->wrong += compute(kind) != t->expected[kind];
		t->changed += have_changed(t->settings);
		if (!t->done++ && atomic_fetch_sub(&late, 1) == 1)
			say("enough");
	}
	return NULL;
}

static void expect(struct thread *t, int number)
{
	struct settings before = get_settings();
	int kind;

	t->settings.vectors = MASKED | MODE(number) << MODE_AT;
	t->settings.x87 = X87_MASKED | MODE(number) << X87_MODE_AT;
	set_settings(t->settings);
	for (kind = 0; kind < kinds(); kind++)
		t->expected[kind] = compute(kind);
	set_settings(before);
}

int main(int argc, char **argv)
{
	static struct thread threads[MOST_THREADS];
	int count = argc == 2 ? atoi(argv[1]) : 0, i;
	unsigned long done = 0, wrong = 0, changed = 0;
	char unused;

	if (count < 1 || count > MOST_THREADS)
		return 2;
	for (i = 0; i < count; i++)
		expect(&threads[i], i);
	say("ready");
	atomic_store(&late, count);
	for (i = 0; i < count; i++)
		if (pthread_create(&threads[i].thread, NULL, repeat, &threads[i]))
			return 1;
	while (read(STDIN_FILENO, &unused, 1) > 0)
		;
	atomic_store(&ended, true);
	for (i = 0; i < count; i++) {
		pthread_join(threads[i].thread, NULL);
		done += threads[i].done;
		wrong += threads[i].wrong;
		changed += threads[i].changed;
	}
	printf("%lu done, %lu wrong, %lu changed, %d kinds\n", done, wrong, changed, kinds());
	return 0;
}
