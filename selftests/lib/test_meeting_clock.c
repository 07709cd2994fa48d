// SPDX-License-Identifier: GPL-2.0
/* What depends on the time of a meeting. The clock stands still unless the test moves it. */
#include <stdatomic.h>
#include <time.h>

#include "meeting_fixture.h"

#define EXCHANGE_MS 60000

/* Of all processes */
static atomic_ullong *clock_ms;

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	__u64 ms = clock_ms ? *clock_ms : 0;

	*now = (struct timespec){ ms / 1000, ms % 1000 * 1000000 };
	return 0;
}

static void clock_start(void)
{
	clock_ms = mmap(NULL, sizeof(*clock_ms), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*clock_ms = 1000000;
}

/* Rank 1 is late for each exchange, so rank 0 waits. */
static void be_rank_1(struct rank *rank)
{
	char text[MEETING_TEXT];
	struct meeting *meeting;
	__u8 all[2];
	int i;

	if (meeting_open(&meeting, &rank->options, text, sizeof(text)))
		_exit(1);
	for (i = 0; i < 4; i++) {
		usleep(100000);
		if (meeting_exchange(meeting, "1", all, 1))
			_exit(1);
	}
	meeting_close(meeting);
	_exit(0);
}

TEST(each_exchange_has_time_of_its_own)
{
	char rendezvous[32], text[MEETING_TEXT];
	struct meeting *meeting;
	struct rank rank[2];
	__u8 all[2];
	int i;

	clock_start();
	snprintf(rendezvous, sizeof(rendezvous), "127.0.0.1:%u", free_port());
	for (i = 0; i < 2; i++) {
		rank_init(&rank[i], rendezvous, i, 2);
		rank[i].options.timeout_ms = 1;
		rank[i].options.exchange_ms = EXCHANGE_MS;
	}
	rank[1].pid = fork_child();
	if (!rank[1].pid)
		be_rank_1(&rank[1]);
	ASSERT_EQ(0, meeting_open(&meeting, &rank[0].options, text, sizeof(text)))
		TH_LOG("%s", text);
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(0, meeting_exchange(meeting, "0", all, 1))
			TH_LOG("exchange %d: %s", i, meeting_text(meeting));
		*clock_ms += EXCHANGE_MS - 1;
	}
	EXPECT_EQ(0, rank_end(&rank[1]));
	meeting_close(meeting);
}

TEST_HARNESS_MAIN
