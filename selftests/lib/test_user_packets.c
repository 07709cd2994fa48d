// SPDX-License-Identifier: GPL-2.0
/*
 * Ranks in user space on a bad network. The linker redirects what they send, so that packets are
 * lost, repeated, late, or accompanied by forged ones.
 */
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "user_fixture.h"

#define RANKS	5
#define ROUNDS	300
#define VALUES	40	/* 7 segments of the least length */
#define HELD	8

/**
 * struct network - what happens to packets of this process
 * @lost: per cent of them
 * @repeated: likewise
 * @late: likewise: sent after others
 * @forged: for each there are forged ones
 * @moved: they come from a socket that is no member's
 * @state: of the random numbers
 * @held_count: number of late packets
 * @held: these
 * @stranger: a socket that is no member's
 */
static struct network {
	unsigned int	lost;
	unsigned int	repeated;
	unsigned int	late;
	bool		forged;
	bool		moved;
	unsigned int	state;
	unsigned int	held_count;
	struct {
		struct sockaddr_storage	to;
		socklen_t		to_bytes;
		__u8			data[COLLSOCK_MAX_SEGMENT + COLLSOCK_PACKET_HEADERS];
		size_t			bytes;
	} held[HELD];
	int		stranger;
} network;

/* The library's thread sends, too. */
static pthread_mutex_t network_lock = PTHREAD_MUTEX_INITIALIZER;

static void set_network(struct network changed)
{
	pthread_mutex_lock(&network_lock);
	network = changed;
	pthread_mutex_unlock(&network_lock);
}

static bool happens(unsigned int per_cent)
{
	return (unsigned int)rand_r(&network.state) % 100 < per_cent;
}

static void send_copy(int fd, const struct msghdr *m, const void *data, size_t bytes)
{
	__real_sendto(fd, data, bytes, MSG_DONTWAIT, m->msg_name, m->msg_namelen);
}

static void hold(const struct msghdr *m)
{
	unsigned int i = network.held_count++;

	memcpy(&network.held[i].to, m->msg_name, m->msg_namelen);
	network.held[i].to_bytes = m->msg_namelen;
	network.held[i].bytes = m->msg_iov->iov_len;
	memcpy(network.held[i].data, m->msg_iov->iov_base, m->msg_iov->iov_len);
}

static void release_held(int fd)
{
	while (network.held_count) {
		unsigned int i = --network.held_count;

		__real_sendto(fd, network.held[i].data, network.held[i].bytes, MSG_DONTWAIT,
			      (struct sockaddr *)&network.held[i].to,
			      network.held[i].to_bytes);
	}
}

/* What others can send: from the address of this rank all but authentic packets. */
static void forge(int fd, const struct msghdr *m)
{
	__u8 copy[COLLSOCK_MAX_SEGMENT + COLLSOCK_PACKET_HEADERS] = { 0 };
	size_t bytes = m->msg_iov->iov_len;
	unsigned int flips = 1 + happens(50);

	/* One that is seen, from elsewhere */
	send_copy(network.stranger, m, m->msg_iov->iov_base, bytes);
	memcpy(copy, m->msg_iov->iov_base, bytes);
	while (flips--)
		copy[rand_r(&network.state) % bytes] ^= 1 << rand_r(&network.state) % 8;
	if (memcmp(copy, m->msg_iov->iov_base, bytes))
		send_copy(fd, m, copy, bytes);
	/* One that is cut off, one that is too long, and nothing */
	send_copy(fd, m, m->msg_iov->iov_base, rand_r(&network.state) % bytes);
	send_copy(fd, m, copy, sizeof(copy));
	send_copy(network.stranger, m, copy, 0);
}

int __wrap_sendmmsg(int fd, struct mmsghdr *m, unsigned int count, int flags)
{
	unsigned int i;

	pthread_mutex_lock(&network_lock);
	if (network.moved)
		fd = network.stranger;
	for (i = 0; i < count; i++) {
		if (network.forged)
			forge(fd, &m[i].msg_hdr);
		if (happens(network.lost))
			continue;
		if (network.held_count < HELD && happens(network.late)) {
			hold(&m[i].msg_hdr);
			continue;
		}
		__real_sendmmsg(fd, &m[i], 1, flags);
		if (happens(network.repeated))
			__real_sendmmsg(fd, &m[i], 1, flags);
	}
	if (network.held_count == HELD || happens(50))
		release_held(fd);
	pthread_mutex_unlock(&network_lock);
	return count;
}

ssize_t __wrap_sendto(int fd, const void *data, size_t bytes, int flags,
		      const struct sockaddr *to, socklen_t to_bytes)
{
	struct iovec part = { (void *)data, bytes };
	struct mmsghdr m = { .msg_hdr = {
		.msg_name = (void *)to, .msg_namelen = to_bytes, .msg_iov = &part, .msg_iovlen = 1,
	} };

	__wrap_sendmmsg(fd, &m, 1, flags);
	return bytes;
}

/* ---- what ranks do ---- */

static bool check_sums(struct rank *r, struct collsock *s)
{
	__u64 own[VALUES], sum[VALUES];
	struct collsock_completion c;
	int i, k, err;

	for (i = 0; i < ROUNDS; i++) {
		for (k = 0; k < VALUES; k++)
			own[k] = i * VALUES + k + r->rank;
		err = collsock_allreduce(s, own, sum, VALUES, COLLSOCK_UINT64, COLLSOCK_SUM, &c);
		if (err)
			return wrong(r, "allreduce %d: %d, rank %u", i, err, c.failed_rank);
		for (k = 0; k < VALUES; k++)
			if (sum[k] != RANKS * (i * VALUES + k) + RANKS * (RANKS - 1) / 2)
				return wrong(r, "allreduce %d, value %d: %llu", i, k, sum[k]);
		own[0] = i;
		err = collsock_broadcast(s, own, 1, COLLSOCK_UINT64, i % RANKS, &c);
		if (err || own[0] != i)
			return wrong(r, "broadcast %d: %d, rank %u", i, err, c.failed_rank);
		err = i % 8 ? 0 : collsock_barrier(s, &c);
		if (err)
			return wrong(r, "barrier %d: %d, rank %u", i, err, c.failed_rank);
	}
	return true;
}

static bool lose_packets(struct rank *r, struct collsock *s)
{
	struct collsock_stats stats;

	set_network((struct network){ .lost = 10, .repeated = 5, .late = 5, .state = r->rank });
	if (!check_sums(r, s))
		return false;
	/* Until all have what they need. */
	set_network((struct network){ .lost = 0 });
	collsock_stats(s, &stats, sizeof(stats));
	return stats.retransmits || wrong(r, "nothing was lost");
}

TEST(operations_complete_when_packets_are_lost_repeated_and_late)
{
	const struct collsock_options options = {
		.segment_bytes = COLLSOCK_MIN_SEGMENT, .liveness_ms = 60000,
	};

	EXPECT_ALL_WELL(&options, RANKS, lose_packets);
}

/* None of the packets of a post leaves, and no call of the library follows. */
static bool lose_posts(struct rank *r, struct collsock *s)
{
	struct pollfd readable = { .fd = collsock_fd(s), .events = POLLIN };
	struct collsock_completion c;
	__u64 i;

	for (i = 0; i < 10; i++) {
		set_network((struct network){ .lost = 100 });
		if (collsock_post_barrier(s, i))
			return wrong(r, "post %llu", i);
		set_network((struct network){ .lost = 0 });
		if (poll(&readable, 1, 120000) != 1)
			return wrong(r, "barrier %llu is not sent again", i);
		if (collsock_complete(s, &c, NULL, 0) || c.error)
			return wrong(r, "barrier %llu: error %u", i, c.error);
	}
	return true;
}

TEST(posts_that_are_lost_are_sent_again_without_a_call_of_the_library)
{
	const struct collsock_options options = { .liveness_ms = 60000 };

	EXPECT_ALL_WELL(&options, RANKS, lose_posts);
}

static bool be_attacked(struct rank *r, struct collsock *s)
{
	struct collsock_net_stats n;
	struct collsock_stats g;

	set_network((struct network){
		.forged = true, .state = r->rank, .stranger = socket(AF_INET, SOCK_DGRAM, 0),
	});
	if (!check_sums(r, s))
		return false;
	collsock_net_stats(s, &n, sizeof(n));
	collsock_stats(s, &g, sizeof(g));
	if (!n.forged || !n.wrong_source || !n.malformed || !n.too_long || !n.unknown_group)
		return wrong(r, "forged %llu, source %llu, form %llu, long %llu, group %llu",
			     n.forged, n.wrong_source, n.malformed, n.too_long, n.unknown_group);
	if (g.invalid || g.stale || g.failed || g.challenges)
		return wrong(r, "believed: invalid %llu, stale %llu, failed %llu, challenges %llu",
			     g.invalid, g.stale, g.failed, g.challenges);
	return true;
}

TEST(forged_packets_change_nothing)
{
	const struct collsock_options options = {
		.segment_bytes = COLLSOCK_MIN_SEGMENT, .liveness_ms = 60000,
	};

	EXPECT_ALL_WELL(&options, RANKS, be_attacked);
}

static bool speak_from_elsewhere(struct rank *r, struct collsock *s)
{
	struct collsock_completion c = { .failed_rank = 0 };
	int err;

	if (r->rank == 1)
		set_network((struct network){
			.moved = true, .stranger = socket(AF_INET, SOCK_DGRAM, 0),
		});
	err = collsock_barrier(s, &c);
	return r->rank == 1 || (err == -ETIMEDOUT && c.failed_rank == 1) ||
	       wrong(r, "barrier: %d, rank %u", err, c.failed_rank);
}

TEST(authentic_packets_from_elsewhere_are_not_believed)
{
	const struct collsock_options options = { .liveness_ms = 500 };

	EXPECT_ALL_WELL(&options, RANKS, speak_from_elsewhere);
}

/* ---- time ---- */

/* Whose next look for packets is held up until step 2, or NULL */
static struct rank *held_up;

int __wrap_recvmmsg(int fd, struct mmsghdr *m, unsigned int count, int flags, struct timespec *t)
{
	struct rank *r = __atomic_exchange_n(&held_up, NULL, __ATOMIC_SEQ_CST);

	if (r) {
		take_step(r, 1);
		await_step(r, 2);
	}
	return __real_recvmmsg(fd, m, count, flags, t);
}

/* Rank 1 posts when the library's thread of rank 0 is about to look for packets. */
static bool post_late(struct rank *r, struct collsock *s)
{
	struct collsock_completion c;
	__u64 posted;

	if (collsock_barrier(s, NULL))
		return wrong(r, "the first barrier");
	if (r->rank)
		await_step(r, 1);
	else
		__atomic_store_n(&held_up, r, __ATOMIC_SEQ_CST);
	if (collsock_post_barrier(s, 1))
		return wrong(r, "post");
	if (r->rank)
		take_step(r, 2);
	else
		await_step(r, 2);
	if (collsock_wait(s, 1, &c, NULL, 0) || c.error)
		return wrong(r, "wait: error %u", c.error);
	if (r->rank) {
		memcpy(r->shared->mine[1], &c.posted_ns, sizeof(c.posted_ns));
		take_step(r, 3);
		return true;
	}
	await_step(r, 3);
	memcpy(&posted, r->shared->mine[1], sizeof(posted));
	return c.completed_ns >= posted ||
	       wrong(r, "it has ended %llu ns before rank 1 has posted it",
		     posted - c.completed_ns);
}

TEST(an_operation_ends_after_all_have_posted_it)
{
	EXPECT_ALL_WELL(NULL, 2, post_late);
}

/* ---- the end ---- */

/*
 * None of the packets of the post leaves, nor what repeats them until the others wait; so it is
 * what the process does at its end that counts.
 */
static bool post_and_end(struct rank *r, struct collsock *s, bool closes)
{
	__u64 value = 1 + r->rank, got = 0;
	int err;

	if (r->rank) {
		await_step(r, 1);
		err = collsock_broadcast(s, &got, 1, COLLSOCK_UINT64, 0, NULL);
		return (!err && got == 1) || wrong(r, "broadcast: %d, value %llu", err, got);
	}
	set_network((struct network){ .lost = 100 });
	err = collsock_broadcast(s, &value, 1, COLLSOCK_UINT64, 0, NULL);
	if (err)
		return wrong(r, "broadcast: %d", err);
	r->shared->well[0] = true;
	take_step(r, 1);
	if (closes)
		collsock_close(s);
	set_network((struct network){ .lost = 0 });
	exit(0);
}

static bool post_and_exit(struct rank *r, struct collsock *s)
{
	return post_and_end(r, s, false);
}

static bool post_and_close(struct rank *r, struct collsock *s)
{
	return post_and_end(r, s, true);
}

TEST(what_was_posted_before_the_end_is_sent_until_it_arrives)
{
	EXPECT_ALL_WELL(NULL, RANKS, post_and_exit);
	EXPECT_ALL_WELL(NULL, RANKS, post_and_close);
}

TEST_HARNESS_MAIN
