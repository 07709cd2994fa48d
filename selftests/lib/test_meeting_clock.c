// SPDX-License-Identifier: GPL-2.0
/* What depends on the time of a meeting. The clock stands still unless the test moves it. */
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <time.h>

#include "meeting_fixture.h"
#include "meeting_listener.h"

#define FEW		(MEETING_PENDING / 8)	/* connections of one origin */
#define FLOOD		200
#define EXCHANGE_MS	60000

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

/* ---- exchanges ---- */

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

/* ---- connections ---- */

FIXTURE(listener)
{
	__u16			port;
	struct meeting_self	self;
	struct meeting_listener	listener;
};

FIXTURE_SETUP(listener)
{
	char rendezvous[32];
	struct rank rank;

	clock_start();
	self->port = free_port();
	snprintf(rendezvous, sizeof(rendezvous), "127.0.0.1:%u", self->port);
	rank_init(&rank, rendezvous, 0, 2);
	ASSERT_EQ(0, meeting_self_init(&self->self, &rank.options));
	ASSERT_EQ(0, meeting_listener_init(&self->listener, &self->self));
	ASSERT_EQ(0, meeting_listener_open(&self->listener));
}

FIXTURE_TEARDOWN(listener)
{
	meeting_listener_close(&self->listener);
}

/* A connection from 127.0.0.@host, which ends with the test */
static int connect_from(FIXTURE_DATA(listener) * self, unsigned int host)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + host);
	if (bind(fd, (struct sockaddr *)&in, sizeof(in)))
		return -1;
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	in.sin_port = htons(self->port);
	return connect(fd, (struct sockaddr *)&in, sizeof(in)) ? -1 : fd;
}

static void proved_by_none(void *ctx, struct meeting_pending *pending)
{
}

/* Serve as often as there can be connections to accept. */
static void serve(FIXTURE_DATA(listener) * self)
{
	struct pollfd polls[MEETING_LISTENER_POLLS];
	int i;

	for (i = 0; i < FLOOD; i++) {
		meeting_listener_poll(&self->listener, polls);
		poll(polls, MEETING_LISTENER_POLLS, 0);
		meeting_listener_serve(&self->listener, polls, proved_by_none, NULL);
	}
}

static unsigned int count_from(const struct meeting_listener *listener, unsigned int host)
{
	__be32 origin = htonl(INADDR_LOOPBACK - 1 + host);
	unsigned int i, count = 0;

	for (i = 0; i < MEETING_PENDING; i++)
		count += listener->pending[i].fd >= 0 &&
			 !memcmp(listener->pending[i].origin, &origin, sizeof(origin));
	return count;
}

static void flood_from(struct __test_metadata *_metadata, FIXTURE_DATA(listener) * self,
		       unsigned int host)
{
	int i;

	for (i = 0; i < FLOOD; i++)
		ASSERT_LE(0, connect_from(self, host));
}

TEST_F(listener, one_origin_does_not_make_others_wait)
{
	flood_from(_metadata, self, 2);
	ASSERT_LE(0, connect_from(self, 3));
	serve(self);
	EXPECT_EQ(1, count_from(&self->listener, 3));
	flood_from(_metadata, self, 2);
	serve(self);
	EXPECT_EQ(1, count_from(&self->listener, 3));
	EXPECT_EQ(MEETING_PENDING - 1, count_from(&self->listener, 2));
}

TEST_F(listener, ranks_of_many_hosts_do_not_displace_each_other_at_once)
{
	unsigned int i, host, hosts = MEETING_PENDING / FEW;

	for (host = 2; host < 2 + hosts; host++)
		for (i = 0; i < FEW; i++)
			ASSERT_LE(0, connect_from(self, host));
	serve(self);
	ASSERT_LE(0, connect_from(self, 2 + hosts));
	serve(self);
	EXPECT_EQ(0, count_from(&self->listener, 2 + hosts));
	for (host = 2; host < 2 + hosts; host++) {
		EXPECT_EQ(FEW, count_from(&self->listener, host))
			TH_LOG("host %u", host);
	}
	*clock_ms += 50;
	serve(self);
	EXPECT_EQ(1, count_from(&self->listener, 2 + hosts));
}

/* ---- connections of one network of IPv6 ---- */

static void set_address(struct sockaddr_in6 *in6, unsigned int host)
{
	memset(in6, 0, sizeof(*in6));
	in6->sin6_family = AF_INET6;
	in6->sin6_addr.s6_addr32[0] = htonl(0xfd000000);
	in6->sin6_addr.s6_addr32[3] = htonl(host);
}

/* Put a connection of fd00::@host, which sends nothing, into a slot. */
static void put(FIXTURE_DATA(listener) * self, unsigned int slot, unsigned int host)
{
	struct sockaddr_storage from = { };

	set_address((struct sockaddr_in6 *)&from, host);
	meeting_pending_begin(&self->listener.pending[slot], eventfd(0, EFD_CLOEXEC), &from);
}

static unsigned int count_in6(const struct meeting_listener *listener, unsigned int host)
{
	unsigned int i, count = 0;
	char name[MEETING_PEER];
	struct sockaddr_storage from = { };

	set_address((struct sockaddr_in6 *)&from, host);
	meeting_rendezvous_name(&from, name, sizeof(name));
	for (i = 0; i < MEETING_PENDING; i++)
		count += listener->pending[i].fd >= 0 && !strcmp(listener->pending[i].peer, name);
	return count;
}

TEST_F(listener, a_stranger_of_the_network_displaces_itself)
{
	unsigned int i;

	put(self, 0, 2);
	*clock_ms += 1;
	for (i = 1; i < MEETING_PENDING; i++)
		put(self, i, 1);
	for (i = 2; i < 6; i++) {
		ASSERT_LE(0, connect_from(self, i));
		serve(self);
		EXPECT_EQ(1, count_from(&self->listener, i));
		EXPECT_EQ(1, count_in6(&self->listener, 2));
	}
	EXPECT_EQ(MEETING_PENDING - 5, count_in6(&self->listener, 1));
}

TEST_F(listener, ranks_of_one_network_do_not_displace_each_other_at_once)
{
	unsigned int i;

	for (i = 0; i < MEETING_PENDING; i++) {
		put(self, i, i + 1);
		*clock_ms += i == 0;
	}
	ASSERT_LE(0, connect_from(self, 2));
	serve(self);
	EXPECT_EQ(0, count_from(&self->listener, 2));
	*clock_ms += 49;
	serve(self);
	EXPECT_EQ(1, count_from(&self->listener, 2));
	EXPECT_EQ(0, count_in6(&self->listener, 1));
}

TEST_HARNESS_MAIN
