// SPDX-License-Identifier: GPL-2.0
/*
 * launched [--times N] [--absent RANK] [--fence RANK] [--leave SECONDS] [--load LIBRARY]: a rank
 * that some launcher has started. It exchanges blocks with the others, as joining does, N times
 * from the beginning, and prints what it has found out. An absent RANK stays away until the
 * launcher ends it; one with a fence takes part in one of PMIx before, and gives nothing. Rank 0
 * leaves that many seconds after it could. The library is loaded before.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch_exchange.h"
#include "launch_find.h"
#include "meeting_self.h"
#include "pmix_library.h"

#define MOST_RANKS 64
#define RECORD_BYTES 512
#define ANSWER_BYTES 24
#define EXCHANGES 4

static void fail(int error, const char *text)
{
	printf("%s: %s\n", strerrorname_np(-error), text);
	exit(1);
}

/* What a rank gives: other bytes in each exchange, and at each position */
static void fill(unsigned char *block, size_t bytes, unsigned int rank, unsigned int exchange)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		block[i] = 31 * i + 7 * rank + exchange;
}

static void exchange(struct launch_exchange *x, const struct launch *l, unsigned int number)
{
	static unsigned char mine[RECORD_BYTES], all[MOST_RANKS * RECORD_BYTES];
	size_t bytes = number % EXCHANGES ? ANSWER_BYTES : RECORD_BYTES;
	unsigned int rank;
	int err;

	fill(mine, bytes, l->rank, number);
	err = launch_exchange_call(x, mine, all, bytes);
	if (err)
		fail(err, launch_exchange_text(x));
	for (rank = 0; rank < l->ranks; rank++) {
		fill(mine, bytes, rank, number);
		if (memcmp(mine, all + rank * bytes, bytes))
			fail(-EILSEQ, "another block than the rank has given");
	}
}

static void stay_away(void)
{
	while (1)
		pause();
}

/* Ranks that wait for a fence of all ranks wait for this one, too. */
static void take_part_in_fence(void)
{
	struct pmix_info with_values = {
		.key = PMIX_WITH_VALUES, .value = { .type = PMIX_TYPE_BOOL, .flag = true },
	};
	void *library = dlopen(PMIX_LIBRARY, RTLD_NOW);
	int (*fence)(const struct pmix_process *of, size_t processes, const struct pmix_info *info,
		     size_t infos);

	fence = library ? dlsym(library, "PMIx_Fence") : NULL;
	if (!fence || fence(NULL, 0, &with_values, 1))
		fail(-ELIBACC, "no fence");
}

/**
 * struct options - what is not as usual
 * @absent: this rank stays away; -1: none
 * @fence: this one after a fence; -1: none
 * @leave: seconds after which rank 0 leaves
 */
struct options {
	long		absent;
	long		fence;
	unsigned int	leave;
};

static void join(const struct options *options, unsigned int time)
{
	static const char * const names[] = { "meeting", "PMIx", "PMI" };
	struct launch_exchange x;
	char text[MEETING_TEXT];
	struct launch launch;
	unsigned int i;
	int err = launch_find(&launch, text, sizeof(text));

	if (!err)
		err = launch_exchange_open(&x, &launch, 0, text, sizeof(text));
	if (err)
		fail(err, text);
	if (launch.ranks > MOST_RANKS)
		fail(-E2BIG, "too many ranks");
	if (launch.rank == options->fence)
		take_part_in_fence();
	if (launch.rank == options->fence || launch.rank == options->absent)
		stay_away();
	for (i = 0; i < EXCHANGES; i++)
		exchange(&x, &launch, time * EXCHANGES + i);
	printf("rank %u of %u by %s, %s\n", launch.rank, launch.ranks, names[launch.by],
	       x.keyed ? "keyed" : "without a key");
	if (x.keyed)
		printf("begin of the key: %02x%02x%02x%02x\n", x.key[0], x.key[1], x.key[2],
		       x.key[3]);
	if (!launch.rank)
		sleep(options->leave);
	launch_exchange_close(&x);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct options options = { .absent = -1, .fence = -1 };
	unsigned int times = 1, time;
	int i;

	for (i = 1; i + 1 < argc; i += 2)
		if (!strcmp(argv[i], "--times"))
			times = atoi(argv[i + 1]);
		else if (!strcmp(argv[i], "--absent"))
			options.absent = atol(argv[i + 1]);
		else if (!strcmp(argv[i], "--fence"))
			options.fence = atol(argv[i + 1]);
		else if (!strcmp(argv[i], "--leave"))
			options.leave = atoi(argv[i + 1]);
		else if (!dlopen(argv[i + 1], RTLD_NOW))
			fail(-ELIBACC, dlerror());
	for (time = 0; time < times; time++)
		join(&options, time);
	return 0;
}
