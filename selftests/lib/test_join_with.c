// SPDX-License-Identifier: GPL-2.0
/*
 * Joining with an exchange: processes that share memory are the ranks, and a substitute for the
 * kernel answers each. All ranks describe one group, or all get one error.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../libcollsock/src/joining_record.h"
#include "../harness.h"
#include "fake_kernel.h"

#define RANKS 6
#define MOST_ROUND_BYTES 4096
#define MOST_HOSTS 8
#define RECORDS 0	/* numbers of the exchanges */
#define PREPARED 1
#define ENTERED 2
#define TRIED 3
#define ROUNDS 4
#define ENTERED_AGAIN 5
#define ROUNDS_OF_BOTH 7

/**
 * struct request - what JOIN got
 * @head: see there
 * @members: follow
 * @host_of_rank: follow, wherever they were
 */
struct request {
	struct collsock_join	head;
	struct collsock_member	members[MOST_HOSTS];
	__u32			host_of_rank[RANKS];
};

/**
 * struct rank - a rank, in memory that all share
 * @mine: what it gives to the exchange
 * @former: what it gave in each round of a former run
 * @err: what collsock_join_with() returned
 * @failed_rank: what it stored
 * @text: likewise
 * @rounds: calls of the exchange
 * @request: what JOIN got
 * @first: if it got two requests, the first
 * @descriptors: more than there were before
 * @socket_type: of the socket that was opened
 * @shown: the key of its options was in what it gave
 */
struct rank {
	__u8		mine[MOST_ROUND_BYTES];
	__u8		former[ROUNDS][JOINING_RECORD_BYTES];
	int		err;
	__u32		failed_rank;
	char		text[512];
	int		rounds;
	struct request	request;
	struct request	first;
	int		descriptors;
	int		socket_type;
	bool		shown;
};

/**
 * struct shared - of all ranks
 * @all_here: for the exchange
 * @rank: the ranks
 */
struct shared {
	pthread_barrier_t	all_here;
	struct rank		rank[RANKS];
};

/**
 * struct plot - what a test has in mind for one rank
 * @shared: of all ranks
 * @rank: number of the rank
 * @per_host: ranks of a host
 * @options: of the rank
 * @fails_in: the exchange fails in this round, unless it is 0
 * @refused_after: round after which the kernel refuses everything, or -1
 * @refusal: with this errno
 * @damage: changes what the exchange delivers to this rank in a round
 */
struct plot {
	struct shared		*shared;
	__u32			rank;
	__u32			per_host;
	struct collsock_options	options;
	int			fails_in;
	int			refused_after;
	int			refusal;
	void			(*damage)(const struct plot *p, int round, __u8 *all, size_t bytes);
};

FIXTURE(join)
{
	struct shared	*shared;
};

FIXTURE_SETUP(join)
{
	pthread_barrierattr_t shared;

	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&self->shared->all_here, &shared, RANKS);
}

FIXTURE_TEARDOWN(join)
{
	munmap(self->shared, sizeof(*self->shared));
}

/* ---- one rank ---- */

static void record_request(struct request *r)
{
	const __u8 *at = fake.sent;

	memcpy(&r->head, at, sizeof(r->head));
	at += sizeof(r->head);
	if (r->head.hosts > MOST_HOSTS || r->head.ranks != RANKS)
		return;
	memcpy(r->members, at, r->head.hosts * sizeof(*r->members));
	memcpy(r->host_of_rank, at + r->head.hosts * sizeof(*r->members),
	       sizeof(r->host_of_rank));
}

/* All processes are on this machine: the ranks of another host have another identity. */
static __u32 host_of_process;

int __wrap_joining_host_identify(struct joining_host *host)
{
	memset(host, 0, sizeof(*host));
	host->identity[0] = 1 + host_of_process;
	return 0;
}

static int exchange(void *ctx, const void *mine, void *all, size_t bytes)
{
	struct plot *p = ctx;
	struct rank *r = &p->shared->rank[p->rank];
	int round = r->rounds++;
	__u32 i;

	if (p->fails_in && round == p->fails_in)
		return -ECONNREFUSED;
	if (bytes > sizeof(r->mine))
		abort();
	memcpy(r->mine, mine, bytes);
	r->shown |= !!memmem(mine, bytes, p->options.key, sizeof(p->options.key) / 2);
	pthread_barrier_wait(&p->shared->all_here);
	for (i = 0; i < RANKS; i++)
		memcpy((__u8 *)all + i * bytes, p->shared->rank[i].mine, bytes);
	pthread_barrier_wait(&p->shared->all_here);
	if (p->damage)
		p->damage(p, round, all, bytes);
	if (round == ENTERED || round == ENTERED_AGAIN) {
		r->first = r->request;
		record_request(&r->request);
	}
	if (round == p->refused_after)
		fake.error = p->refusal;
	return 0;
}

/* A rank that has given up does not keep the others waiting. */
static void leave_exchange(struct plot *p)
{
	int round;

	for (round = p->shared->rank[p->rank].rounds; round < ROUNDS; round++) {
		pthread_barrier_wait(&p->shared->all_here);
		pthread_barrier_wait(&p->shared->all_here);
	}
}

static int open_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static void be_rank(struct plot *p)
{
	struct rank *r = &p->shared->rank[p->rank];
	struct collsock *socket = NULL;
	int before = open_descriptors();
	static char address[64], mac[64];

	host_of_process = p->rank / p->per_host;
	snprintf(mac, sizeof(mac), "eth0=02:00:00:00:00:%02x", 1 + p->rank / p->per_host);
	snprintf(address, sizeof(address), "eth0=10.1.%u.%u/16", p->rank,
		 1 + p->rank / p->per_host);
	fake.addresses[0] = "docker0=172.17.0.1/16";
	fake.addresses[1] = "lo=127.0.0.1/8";
	fake.addresses[2] = address;
	fake.addresses[3] = mac;
	p->options.failed_rank = &r->failed_rank;
	p->options.text = r->text;
	p->options.text_bytes = sizeof(r->text);
	r->failed_rank = 12345;
	strcpy(r->text, "untouched");
	r->err = collsock_join_with(&socket, &p->options, p->rank, RANKS, exchange, p);
	leave_exchange(p);
	r->socket_type = fake.type;
	if (!r->err == !socket)
		r->err = -EDOM;
	collsock_close(socket);
	r->descriptors = open_descriptors() - before;
}

/* ---- all of them ---- */

/* @vary: changes what is in mind for a rank */
static void run(struct shared *shared, __u32 per_host, void (*vary)(struct plot *p))
{
	struct plot p = { .shared = shared, .per_host = per_host, .refused_after = -1 };
	__u32 rank;

	p.options.size = sizeof(p.options);
	for (rank = 0; rank < RANKS; rank++) {
		p.rank = rank;
		if (fork())
			continue;
		/* If the harness ends a test that hangs */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (vary)
			vary(&p);
		be_rank(&p);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
}

/* On all ranks */
#define EXPECT_FAILURE(wanted_err, wanted_rank, wanted_words) do { \
	const char *words = wanted_words; \
	__u32 _i; \
	for (_i = 0; _i < RANKS; _i++) { \
		struct rank *_r = &self->shared->rank[_i]; \
		EXPECT_EQ(wanted_err, _r->err); \
		EXPECT_EQ(wanted_rank, _r->failed_rank); \
		EXPECT_EQ(0, _r->descriptors); \
		EXPECT_NE(NULL, strstr(_r->text, words)) { \
			TH_LOG("rank %u: \"%s\" without \"%s\"", _i, _r->text, words); \
		} \
	} \
} while (0)

TEST_F(join, all_ranks_describe_one_group)
{
	const struct request *first = &self->shared->rank[0].request;
	static const __u8 no_key[COLLSOCK_KEY_BYTES];
	__u32 i;

	run(self->shared, 2, NULL);
	EXPECT_NE(0, memcmp(no_key, first->head.key, sizeof(no_key)));
	for (i = 0; i < RANKS; i++) {
		struct rank *r = &self->shared->rank[i];

		EXPECT_EQ(0, r->err);
		EXPECT_STREQ("", r->text);
		EXPECT_EQ(COLLSOCK_NO_RANK, r->failed_rank);
		EXPECT_EQ(ROUNDS, r->rounds);
		EXPECT_EQ(0, r->descriptors);
		EXPECT_EQ(i, r->request.head.rank);
		r->request.head.rank = 0;
		EXPECT_EQ(0, memcmp(first, &r->request, sizeof(*first)));
		EXPECT_EQ(i / 2, first->host_of_rank[i]);
	}
	EXPECT_EQ(RANKS / 2, first->head.hosts);
	EXPECT_EQ(COLLSOCK_DEFAULT_MAX_BYTES, first->head.max_bytes);
	EXPECT_EQ(COLLSOCK_DEFAULT_SEGMENT, first->head.segment_bytes);
}

TEST_F(join, hosts_have_the_address_of_their_network)
{
	const struct collsock_member *members = self->shared->rank[RANKS - 1].request.members;
	char text[INET_ADDRSTRLEN];

	run(self->shared, 2, NULL);
	EXPECT_STREQ("10.1.0.1", inet_ntop(AF_INET, members[0].address, text, sizeof(text)));
	EXPECT_STREQ("10.1.2.2", inet_ntop(AF_INET, members[1].address, text, sizeof(text)));
	EXPECT_STREQ("10.1.4.3", inet_ntop(AF_INET, members[2].address, text, sizeof(text)));
	EXPECT_EQ(COLLSOCK_PORT, members[2].port);
}

TEST_F(join, ranks_of_one_machine_use_loopback)
{
	const struct request *first = &self->shared->rank[0].request;
	char text[INET_ADDRSTRLEN];

	run(self->shared, RANKS, NULL);
	EXPECT_EQ(0, self->shared->rank[0].err);
	EXPECT_EQ(1, first->head.hosts);
	EXPECT_STREQ("127.0.0.1", inet_ntop(AF_INET, first->members[0].address, text,
					    sizeof(text)));
}

static void vary_options(struct plot *p)
{
	memset(p->options.key, 0xa7, sizeof(p->options.key));
	p->options.open_flags = COLLSOCK_OPEN_NONBLOCK;
	p->options.port = 7700;
	p->options.window = 9;
	p->options.segment_bytes = 480;
	p->options.degree = 8;
	p->options.mac = COLLSOCK_MAC_NH_SIPHASH;
	p->options.liveness_ms = 500;
	p->options.max_bytes = 1024;
	p->options.max_result_bytes = 8192;
	p->options.algorithms = 1 << COLLSOCK_KARY;
	p->options.degrees = COLLSOCK_DEGREE(4);
	p->options.algorithm[COLLSOCK_BARRIER] = COLLSOCK_KARY;
}

TEST_F(join, options_are_those_of_the_request)
{
	const struct request *r = &self->shared->rank[3].request;
	const struct collsock_join *head = &r->head;
	static const __u8 key[COLLSOCK_KEY_BYTES] = { [0 ... COLLSOCK_KEY_BYTES - 1] = 0xa7 };

	run(self->shared, 2, vary_options);
	EXPECT_EQ(0, self->shared->rank[3].err);
	EXPECT_EQ(0, memcmp(key, head->key, sizeof(key)));
	EXPECT_NE(0, self->shared->rank[3].socket_type & SOCK_NONBLOCK);
	EXPECT_EQ(7700, r->members[1].port);
	EXPECT_EQ(9, head->window);
	EXPECT_EQ(480, head->segment_bytes);
	EXPECT_EQ(8, head->degree);
	EXPECT_EQ(COLLSOCK_MAC_NH_SIPHASH, head->mac);
	EXPECT_EQ(500, head->liveness_ms);
	EXPECT_EQ(1024, head->max_bytes);
	EXPECT_EQ(8192, head->max_result_bytes);
	EXPECT_EQ(1 << COLLSOCK_KARY, head->algorithms);
	EXPECT_EQ(COLLSOCK_DEGREE(4), head->degrees);
	EXPECT_EQ(COLLSOCK_KARY, head->algorithm[COLLSOCK_BARRIER]);
}

/* ---- Ethernet, if every user may use it ---- */

/* The device is the fourth of the addresses above. */
static void vary_bearer(struct plot *p)
{
	p->options.bearer = COLLSOCK_BEARER_AUTO;
	p->options.port = 7700;
	fake.devices = (struct collsock_devices){
		offsetof(struct collsock_devices, ifindex[1]), { 4 },
	};
}

TEST_F(join, ethernet_is_used_where_every_user_may)
{
	const struct collsock_member *members = self->shared->rank[RANKS - 1].request.members;
	static const __u8 wanted[16] = { 2, [5] = 2 };

	run(self->shared, 2, vary_bearer);
	EXPECT_EQ(0, self->shared->rank[RANKS - 1].err);
	EXPECT_EQ(ROUNDS, self->shared->rank[0].rounds);
	EXPECT_EQ(AF_PACKET, members[1].family);
	EXPECT_EQ(COLLSOCK_ETHERTYPE, members[1].port);
	EXPECT_EQ(0, memcmp(wanted, members[1].address, sizeof(wanted)));
}

static void vary_bearer_but_for_one(struct plot *p)
{
	vary_bearer(p);
	if (p->rank == 3)
		fake.devices.size = 0;
}

/* The rank is not the one whose record tells of its host. */
TEST_F(join, udp_is_used_where_the_kernel_of_a_rank_does_not_tell)
{
	__u32 i;

	run(self->shared, 2, vary_bearer_but_for_one);
	for (i = 0; i < RANKS; i++) {
		EXPECT_EQ(0, self->shared->rank[i].err);
		EXPECT_EQ(ROUNDS, self->shared->rank[i].rounds);
		EXPECT_EQ(AF_INET, self->shared->rank[i].request.members[2].family);
		EXPECT_EQ(7700, self->shared->rank[i].request.members[2].port);
	}
}

static void vary_bearer_and_completion(struct plot *p)
{
	vary_bearer(p);
	if (p->rank == 4)
		fake.answers[0].completion.error = ETIMEDOUT;
}

TEST_F(join, udp_is_used_where_packets_do_not_arrive_over_ethernet)
{
	__u32 i;

	run(self->shared, 2, vary_bearer_and_completion);
	for (i = 0; i < RANKS; i++) {
		struct rank *r = &self->shared->rank[i];

		EXPECT_EQ(0, r->err);
		EXPECT_STREQ("", r->text);
		EXPECT_EQ(0, r->descriptors);
		EXPECT_EQ(ROUNDS_OF_BOTH, r->rounds);
		EXPECT_EQ(AF_PACKET, r->first.members[0].family);
		EXPECT_EQ(AF_INET, r->request.members[0].family);
		EXPECT_EQ(7700, r->request.members[0].port);
		EXPECT_NE(r->first.head.nonce, r->request.head.nonce);
		EXPECT_EQ(self->shared->rank[0].request.head.nonce, r->request.head.nonce);
	}
}

static void vary_bearer_and_descriptors(struct plot *p)
{
	vary_bearer_and_completion(p);
	p->refused_after = p->rank == 2 ? TRIED : -1;
	p->refusal = EMFILE;
}

TEST_F(join, a_rank_without_another_socket_is_named_on_all_ranks)
{
	run(self->shared, 2, vary_bearer_and_descriptors);
	EXPECT_FAILURE(-EMFILE, 2, "rank 2: this user has all the groups that it may");
}

static void vary_bearer_and_multicast(struct plot *p)
{
	vary_bearer(p);
	collsock_multicast_from_text("239.7.7.7", p->options.multicast);
}

TEST_F(join, udp_is_used_with_a_multicast_address)
{
	run(self->shared, 2, vary_bearer_and_multicast);
	EXPECT_EQ(0, self->shared->rank[0].err);
	EXPECT_EQ(AF_INET, self->shared->rank[0].request.members[2].family);
}

/* ---- ranks that disagree ---- */

static void vary_window(struct plot *p)
{
	p->options.window = p->rank == 4 ? 3 : 5;
}

TEST_F(join, another_option_is_named_on_all_ranks)
{
	run(self->shared, 2, vary_window);
	EXPECT_FAILURE(-EPROTO, 4, "rank 4 has window 3 in its options, and rank 0 5");
	EXPECT_EQ(1, self->shared->rank[0].rounds);
}

static void vary_key(struct plot *p)
{
	memset(p->options.key, p->rank == 5 ? 1 : 2, sizeof(p->options.key));
}

TEST_F(join, another_key_is_named_on_all_ranks_and_none_is_shown)
{
	__u32 i;

	run(self->shared, 2, vary_key);
	EXPECT_FAILURE(-EPROTO, 5, "rank 5 has another key in its options than rank 0");
	for (i = 0; i < RANKS; i++)
		EXPECT_FALSE(self->shared->rank[i].shown);
}

/* ---- ranks that cannot ---- */

static void vary_descriptors(struct plot *p)
{
	fake.error = p->rank == 3 ? EMFILE : 0;
}

TEST_F(join, a_rank_without_a_socket_is_named_on_all_ranks)
{
	run(self->shared, 2, vary_descriptors);
	EXPECT_FAILURE(-EMFILE, 3, "rank 3: this user has all the groups that it may");
}

static void vary_options_of_one(struct plot *p)
{
	p->options.segment_bytes = p->rank == 1 ? 47 : 48;
}

TEST_F(join, a_rank_whose_options_make_no_sense_is_named_on_all_ranks)
{
	run(self->shared, 2, vary_options_of_one);
	EXPECT_FAILURE(-EINVAL, 1, "rank 1: an argument is not valid");
}

static void vary_refusal(struct plot *p)
{
	p->refused_after = p->rank == 2 ? PREPARED : -1;
	p->refusal = EACCES;
}

TEST_F(join, a_rank_whose_kernel_refuses_is_named_on_all_ranks)
{
	run(self->shared, 2, vary_refusal);
	EXPECT_FAILURE(-EACCES, 2, "rank 2: this namespace refuses groups without a key");
	EXPECT_EQ(TRIED, self->shared->rank[0].rounds);
}

static void vary_completion(struct plot *p)
{
	if (p->rank)
		return;
	fake.answers[0].completion.error = ECONNRESET;
	fake.answers[0].completion.failed_rank = 4;
}

TEST_F(join, what_fails_when_it_is_tried_out_is_named_on_all_ranks)
{
	run(self->shared, 2, vary_completion);
	EXPECT_FAILURE(-ECONNRESET, 4, "rank 4 has left the group");
}

static void vary_signals(struct plot *p)
{
	fake.answers[0].error = EINTR;
	fake.answers[1].error = EINTR;
}

TEST_F(join, signals_do_not_matter)
{
	run(self->shared, 2, vary_signals);
	EXPECT_EQ(0, self->shared->rank[0].err);
	EXPECT_EQ(0, self->shared->rank[RANKS - 1].err);
}

/* ---- exchanges ---- */

static void vary_exchange(struct plot *p)
{
	p->fails_in = PREPARED;
}

TEST_F(join, an_exchange_that_fails_is_not_called_again)
{
	run(self->shared, 2, vary_exchange);
	EXPECT_FAILURE(-ECONNREFUSED, COLLSOCK_NO_RANK,
		       "the exchange of addresses failed: Connection refused");
	EXPECT_EQ(PREPARED + 1, self->shared->rank[0].rounds);
}

static int exchange_nonsense(void *ctx, const void *mine, void *all, size_t bytes)
{
	return *(int *)ctx;
}

TEST_F(join, what_an_exchange_returns_is_an_error_if_it_is_not_0)
{
	static int nonsense[] = { 1, EIO, -5000, INT32_MIN };
	struct collsock *socket = NULL;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(nonsense); i++)
		EXPECT_EQ(-EIO, collsock_join_with(&socket, NULL, 0, 1, exchange_nonsense,
						   &nonsense[i]));
	EXPECT_EQ(NULL, socket);
}

static void fill_with_ones(const struct plot *p, int round, __u8 *all, size_t bytes)
{
	if (round == PREPARED)
		memset(all + 3 * bytes, 0xff, bytes);
}

static void vary_damage(struct plot *p)
{
	p->damage = fill_with_ones;
}

TEST_F(join, an_answer_that_no_rank_gives_is_named)
{
	run(self->shared, 2, vary_damage);
	EXPECT_FAILURE(-EBADMSG, 3, "rank 3 gave an answer that no rank gives");
}

static void swap_two(const struct plot *p, int round, __u8 *all, size_t bytes)
{
	struct joining_record *r = (struct joining_record *)all, first = r[1];

	if (round != RECORDS)
		return;
	r[1] = r[2];
	r[2] = first;
}

static void vary_order(struct plot *p)
{
	p->damage = swap_two;
}

TEST_F(join, an_exchange_that_mixes_ranks_up_is_found_out)
{
	run(self->shared, 2, vary_order);
	EXPECT_FAILURE(-EPROTO, 1, "rank 1 was told that it is rank 2");
}

/* Of rank 1, to rank 4 */
static void alter_record(const struct plot *p, int round, __u8 *all, size_t bytes)
{
	if (round == RECORDS && p->rank == 4)
		((struct joining_record *)all)[1].fresh++;
}

static void vary_record(struct plot *p)
{
	p->damage = alter_record;
}

TEST_F(join, an_exchange_that_gives_ranks_different_records_is_found_out)
{
	run(self->shared, 2, vary_record);
	EXPECT_FAILURE(-EPROTO, 4, "rank 4 received other records than rank 0");
}

/* ---- exchanges that an attacker without the key alters ---- */

static void record_former(const struct plot *p, int round, __u8 *all, size_t bytes)
{
	memcpy(p->shared->rank[p->rank].former[round], all + p->rank * bytes, bytes);
}

static void vary_former(struct plot *p)
{
	memset(p->options.key, 0xa7, sizeof(p->options.key));
	p->damage = record_former;
}

/* To each rank: all say what you say. */
static void copy_own(const struct plot *p, int round, __u8 *all, size_t bytes)
{
	__u32 i;

	if (round == PREPARED)
		for (i = 0; i < RANKS; i++)
			memcpy(all + i * bytes, all + p->rank * bytes, bytes);
}

/* To rank 0 copies; to each other rank, what the others gave in a former run */
static void replay_others(const struct plot *p, int round, __u8 *all, size_t bytes)
{
	__u32 i;

	if (!p->rank)
		copy_own(p, round, all, bytes);
	for (i = 0; p->rank && i < RANKS; i++)
		if (i != p->rank)
			memcpy(all + i * bytes, p->shared->rank[i].former[round], bytes);
}

static void vary_replay_of_others(struct plot *p)
{
	vary_former(p);
	p->damage = replay_others;
}

/* All records, and later the answers of the others */
static void replay_all(const struct plot *p, int round, __u8 *all, size_t bytes)
{
	replay_others(p, round, all, bytes);
	if (round == RECORDS && p->rank)
		memcpy(all + p->rank * bytes, p->shared->rank[p->rank].former[round], bytes);
}

static void vary_replay_of_all(struct plot *p)
{
	vary_former(p);
	p->damage = replay_all;
}

/* No rank joins with the nonce of a former run, or says that it has joined. */
#define EXPECT_NO_FORMER_NONCE(vary) do { \
	__u64 _former; \
	__u32 _i; \
	run(self->shared, 2, vary_former); \
	ASSERT_EQ(0, self->shared->rank[0].err); \
	_former = self->shared->rank[0].request.head.nonce; \
	for (_i = 0; _i < RANKS; _i++) { \
		memset(&self->shared->rank[_i].request, 0, sizeof(struct request)); \
		self->shared->rank[_i].rounds = 0; \
	} \
	run(self->shared, 2, vary); \
	for (_i = 0; _i < RANKS; _i++) { \
		EXPECT_NE(0, self->shared->rank[_i].err); \
		EXPECT_NE(_former, self->shared->rank[_i].request.head.nonce); \
	} \
} while (0)

TEST_F(join, messages_of_a_former_run_give_no_rank_its_nonce)
{
	EXPECT_NO_FORMER_NONCE(vary_replay_of_others);
}

TEST_F(join, a_rank_whose_own_record_is_of_a_former_run_notices_it)
{
	EXPECT_NO_FORMER_NONCE(vary_replay_of_all);
	EXPECT_EQ(-EBADMSG, self->shared->rank[1].err);
	EXPECT_NE(NULL, strstr(self->shared->rank[1].text,
			       "rank 1 did not get back what it gave to the exchange"));
}

/* Rank 1 and its options, as if they were others'; to all ranks alike */
static void alter_options(const struct plot *p, int round, __u8 *all, size_t bytes)
{
	if (round == RECORDS)
		((struct joining_record *)all)[1].terms = ((struct joining_record *)all)[0].terms;
}

static void vary_name(struct plot *p)
{
	memset(p->options.key, 0xa7, sizeof(p->options.key));
	strcpy(p->options.name, p->rank == 1 ? "red" : "blue");
	p->damage = alter_options;
}

/* As if the host of rank 1 were on another network */
static void alter_address(const struct plot *p, int round, __u8 *all, size_t bytes)
{
	if (round == RECORDS)
		((struct joining_record *)all)[1].host.address[0].prefix++;
}

static void vary_address(struct plot *p)
{
	memset(p->options.key, 0xa7, sizeof(p->options.key));
	p->damage = alter_address;
}

TEST_F(join, options_that_are_altered_alike_for_all_ranks_are_found_out)
{
	run(self->shared, 2, vary_name);
	EXPECT_FAILURE(-EBADMSG, 1, "rank 1 did not get back what it gave to the exchange");
}

TEST_F(join, addresses_that_are_altered_alike_for_all_ranks_are_found_out)
{
	run(self->shared, 2, vary_address);
	EXPECT_FAILURE(-EBADMSG, 1, "rank 1 did not get back what it gave to the exchange");
}

static void vary_copies(struct plot *p)
{
	vary_key(p);
	p->damage = copy_own;
}

TEST_F(join, a_copy_of_an_own_proof_proves_nothing)
{
	__u32 i;

	run(self->shared, 2, vary_copies);
	for (i = 0; i < RANKS; i++) {
		EXPECT_EQ(-EBADMSG, self->shared->rank[i].err);
		EXPECT_NE(NULL, strstr(self->shared->rank[i].text,
				       "has not proved that it has the key"));
	}
}

/* To each rank: nobody has an error. */
static void hide_errors(const struct plot *p, int round, __u8 *all, size_t bytes)
{
	__u32 i;

	if (round == TRIED)
		for (i = 0; i < RANKS; i++)
			memset(all + i * bytes, 0, bytes);
}

static void vary_errors(struct plot *p)
{
	vary_completion(p);
	p->damage = hide_errors;
}

TEST_F(join, a_rank_believes_its_own_failure_whatever_the_exchange_says)
{
	run(self->shared, 2, vary_errors);
	EXPECT_NE(0, self->shared->rank[0].err);
}

/* ---- arguments ---- */

TEST(arguments_are_checked_before_anything_is_done)
{
	struct collsock *socket = NULL;

	EXPECT_EQ(-EINVAL, collsock_join_with(&socket, NULL, 0, 1, NULL, NULL));
	EXPECT_EQ(-EINVAL, collsock_join_with(&socket, NULL, 0, 0, exchange, NULL));
	EXPECT_EQ(-EINVAL, collsock_join_with(&socket, NULL, 3, 3, exchange, NULL));
	EXPECT_EQ(-EINVAL, collsock_join_with(&socket, NULL, 0, COLLSOCK_MAX_RANKS + 1, exchange,
					      NULL));
	EXPECT_EQ(NULL, socket);
}

TEST(whatever_is_refused_is_explained)
{
	__u32 failed_rank = 0;
	char text[512] = "";
	const struct collsock_options options = {
		.size = sizeof(options), .text = text, .text_bytes = sizeof(text),
		.failed_rank = &failed_rank,
	};
	struct collsock *socket = NULL;

	EXPECT_EQ(-EINVAL, collsock_join_with(&socket, &options, 3, 3, exchange, NULL));
	EXPECT_EQ(COLLSOCK_NO_RANK, failed_rank);
	EXPECT_NE(NULL, strstr(text, "rank 3 of 3: ranks count from 0")) TH_LOG("%s", text);
}

TEST_HARNESS_MAIN
