// SPDX-License-Identifier: GPL-2.0
/* Which packet numbers are new: the window against a list of all that have come. */
#include "../harness.h"

#include "replay.h"
#include "seed.h"

#define NUMBERS	(64 * COLL_REPLAY_WINDOW)
#define STEPS	20000

/* Where counters of fewer bits end. */
static const u64 bases[] = { 0, 1 << 15, 1 << 16, 1ULL << 31, 1ULL << 32, 1ULL << 62 };

/**
 * struct replayed - numbers that have come
 * @window: under test
 * @base: number 0 of @came
 * @came: which have
 * @highest: of them, counted from @base
 */
struct replayed {
	struct coll_replay	window;
	u64			base;
	bool			came[NUMBERS];
	u32			highest;
};

static enum coll_freshness expected_of(const struct replayed *r, u32 number)
{
	if (number > r->highest)
		return COLL_FRESH;
	if (r->highest - number >= COLL_REPLAY_WINDOW)
		return COLL_TOO_OLD;
	return r->came[number] ? COLL_REPEATED : COLL_FRESH;
}

static void comes(struct __test_metadata *_metadata, struct replayed *r, u32 number)
{
	enum coll_freshness expected = expected_of(r, number);

	/* To ask is not to note. */
	ASSERT_EQ(expected == COLL_FRESH, coll_replay_is_new(&r->window, r->base + number)) {
		TH_LOG("is it new? %u above %llx, highest %u", number,
		       (unsigned long long)r->base, r->highest);
	}
	ASSERT_EQ(expected, coll_replay_check(&r->window, r->base + number)) {
		TH_LOG("%u above %llx, highest %u", number, (unsigned long long)r->base,
		       r->highest);
	}
	r->came[number] = true;
	r->highest = max(r->highest, number);
}

static void begin(struct __test_metadata *_metadata, struct replayed *r, u64 base)
{
	memset(r, 0, sizeof(*r));
	/* Numbers pass it soon. */
	r->base = base - min(base, (u64)(COLL_REPLAY_WINDOW / 2));
	comes(_metadata, r, 1);
}

/* Mostly the next one; some are skipped, overtaken, repeated, or very late. */
static u32 choose_number(const struct replayed *r, u64 *random)
{
	u64 how = seed_next(random) % 100, some = seed_next(random);

	if (how < 50)
		return r->highest + 1;
	if (how < 60)
		return r->highest + 1 + some % 100;
	if (how < 61)
		return r->highest + 1 + some % (3 * COLL_REPLAY_WINDOW);
	if (how < 90)
		return r->highest - some % min(r->highest, 70U);
	return r->highest - some % min(r->highest, 2U * COLL_REPLAY_WINDOW);
}

TEST(a_packet_number_is_new_once_and_none_is_that_is_older_than_the_window)
{
	static struct replayed r;
	u64 random = seed_start();
	u32 i, number, step;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		begin(_metadata, &r, bases[i]);
		for (step = 0; step < STEPS; step++) {
			number = choose_number(&r, &random);
			if (number >= NUMBERS)
				break;
			comes(_metadata, &r, number);
		}
		EXPECT_GT(r.highest, 2 * COLL_REPLAY_WINDOW);
	}
}

/* A number that was skipped stands where one that has come stood a window before. */
TEST(numbers_that_were_skipped_are_new_when_they_come_late)
{
	static struct replayed r;
	u32 gap, number;

	for (gap = 2; gap <= COLL_REPLAY_WINDOW + 2; gap += 7) {
		begin(_metadata, &r, 1 << 16);
		for (number = 2; number <= 2 * COLL_REPLAY_WINDOW; number++)
			comes(_metadata, &r, number);
		comes(_metadata, &r, r.highest + gap);
		for (number = r.highest - COLL_REPLAY_WINDOW - 1; number < r.highest; number++)
			comes(_metadata, &r, number);
	}
}

TEST(the_oldest_number_of_the_window_is_told_from_one_that_is_older)
{
	static struct replayed r;

	begin(_metadata, &r, 0);
	comes(_metadata, &r, 2 + COLL_REPLAY_WINDOW);
	EXPECT_EQ(COLL_TOO_OLD, coll_replay_check(&r.window, r.base + 2));
	EXPECT_EQ(COLL_FRESH, coll_replay_check(&r.window, r.base + 3));
	EXPECT_EQ(COLL_REPEATED, coll_replay_check(&r.window, r.base + 3));
}

TEST_HARNESS_MAIN
