// SPDX-License-Identifier: GPL-2.0
/* Messages that wait: which goes first, whatever is added and removed. */
#include "../harness.h"

#include "held.h"
#include "seed.h"

#define OPERATIONS	65	/* the first one stands for a goodbye */
#define EACH		8
#define STEPS		20000

/**
 * struct waiting - messages to one host
 * @held: under test
 * @heads: of the operations
 * @messages: of each, which wait if @waits
 * @count: of those that wait
 */
struct waiting {
	struct list_head		held;
	struct coll_message_head	heads[OPERATIONS];
	struct coll_message		messages[OPERATIONS][EACH];
	bool				waits[OPERATIONS][EACH];
	u32				count;
};

static void begin(struct waiting *w)
{
	u32 i, j;

	memset(w, 0, sizeof(*w));
	INIT_LIST_HEAD(&w->held);
	for (i = 0; i < OPERATIONS; i++) {
		w->heads[i].type = i ? COLL_PACKET_MESSAGE : COLL_PACKET_GOODBYE;
		/* A goodbye is not ordered by its number, and numbers are compared by distance. */
		w->heads[i].number = i ? ~0ULL - OPERATIONS / 2 + i : OPERATIONS / 2;
		for (j = 0; j < EACH; j++)
			w->messages[i][j].head = &w->heads[i];
	}
}

static void change(struct waiting *w, u32 operation, u32 index)
{
	bool *waits = &w->waits[operation][index];

	if (*waits)
		coll_held_remove(&w->held, &w->messages[operation][index]);
	else
		coll_held_add(&w->held, &w->messages[operation][index]);
	w->count += *waits ? -1 : 1;
	*waits = !*waits;
}

/* All that wait are there, those of older operations first; the last ones form a chain. */
static void check(struct __test_metadata *_metadata, const struct waiting *w)
{
	const struct coll_message *m, *last = NULL, *before = NULL;
	u32 count = 0;

	list_for_each_entry(m, &w->held, link) {
		ASSERT_TRUE(!before || before->head <= m->head);
		if (before && before->head != m->head) {
			ASSERT_EQ(last, before->older);
			ASSERT_TRUE(!last || last->newer == before);
			last = before;
		}
		before = m;
		ASSERT_GE(w->count, ++count);
	}
	ASSERT_EQ(w->count, count);
	if (before) {
		ASSERT_EQ(last, before->older);
		ASSERT_EQ(NULL, before->newer);
	}
}

TEST(older_operations_go_first_whatever_is_added_and_removed)
{
	static struct waiting w;
	u64 random = seed_start();
	u32 step;

	begin(&w);
	for (step = 0; step < STEPS; step++) {
		change(&w, seed_next(&random) % OPERATIONS, seed_next(&random) % EACH);
		check(_metadata, &w);
	}
}

TEST(a_message_goes_behind_those_of_its_operation)
{
	static struct waiting w;
	const struct coll_message *m;
	u32 i, j = 0;

	begin(&w);
	for (i = 0; i < EACH; i++) {
		change(&w, 3, i);
		change(&w, 2, i);
		change(&w, 4, i);
	}
	list_for_each_entry(m, &w.held, link) {
		ASSERT_EQ(&w.messages[2 + j / EACH][j % EACH], m);
		j++;
	}
}

TEST_HARNESS_MAIN
