// SPDX-License-Identifier: GPL-2.0
/* What a rank in user space cannot be, and structures that it does not know in full */
#include <netinet/in.h>
#include <sys/socket.h>

#include "user_fixture.h"

static bool do_nothing(struct rank *r, struct collsock *s)
{
	return !collsock_barrier(s, NULL) || wrong(r, "barrier");
}

TEST(a_rank_without_a_port_says_so)
{
	struct shared *shared = shared_new(3);
	__u32 i;

	setenv("COLLSOCK_USER_PORTS", "17610-17611", 1);
	start_ranks(shared, NULL, 3, do_nothing);
	EXPECT_EQ(7, await_ranks(shared, 3));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(-EADDRINUSE, shared->err[i]);
		EXPECT_NE(NULL, strstr(shared->text[i],
				       "no UDP port of 17610-17611 (COLLSOCK_USER_PORTS) is free"))
			TH_LOG("rank %u: %s", i, shared->text[i]);
	}
}

TEST(what_the_environment_says_is_checked)
{
	static const char *const ports[] = { "0-5", "5", "9-8", "1-65536", "1-2x", " 1-2", "-1-2" };
	struct collsock *s;
	unsigned int i;
	char says[80];

	for (i = 0; i < ARRAY_SIZE(ports); i++) {
		struct shared *shared = shared_new(1);

		setenv("COLLSOCK_USER_PORTS", ports[i], 1);
		start_ranks(shared, NULL, 1, do_nothing);
		await_ranks(shared, 1);
		EXPECT_EQ(-EINVAL, shared->err[0]) TH_LOG("%s", ports[i]);
		snprintf(says, sizeof(says),
			 "rank 0: COLLSOCK_USER_PORTS: \"%s\" is not FIRST-LAST", ports[i]);
		EXPECT_NE(NULL, strstr(shared->text[0], says)) TH_LOG("%s", shared->text[0]);
	}
	setenv("COLLSOCK_BACKEND", "usr", 1);
	EXPECT_EQ(-EINVAL, collsock_open(&s, 0));
	setenv("COLLSOCK_BACKEND", "user", 1);
	EXPECT_EQ(0, collsock_open(&s, 0));
	EXPECT_EQ(-ENOTCONN, collsock_barrier(s, NULL));
	collsock_close(s);
	/* A rank ends with the process that joined. */
	EXPECT_EQ(-EOPNOTSUPP, collsock_open(&s, COLLSOCK_OPEN_INHERIT));
}

/* The other processes of a team would need the rank of the one that joins. */
TEST(a_team_of_processes_is_no_rank)
{
	struct collsock_team *threads[1], *process;
	int memfd = collsock_team_memfd(1, COLLSOCK_TEAM_AUTO, 0);
	struct collsock *s;

	setenv("COLLSOCK_BACKEND", "user", 1);
	ASSERT_EQ(0, collsock_open(&s, COLLSOCK_OPEN_KEEP));
	ASSERT_EQ(0, collsock_team_open(&process, memfd, 0));
	ASSERT_EQ(0, collsock_team_new(threads, 1, COLLSOCK_TEAM_AUTO, 0));
	EXPECT_EQ(-EOPNOTSUPP, collsock_team_combine(process, s));
	EXPECT_EQ(0, collsock_team_combine(threads[0], s));
	collsock_team_free(process);
	collsock_team_free(threads[0]);
	collsock_close(s);
	close(memfd);
}

static int join_by_hand(__u32 ranks_here, const __u8 *key, const char *multicast)
{
	struct collsock_group *group;
	struct collsock *s;
	int err;

	collsock_group_new(&group, 1, 2, key);
	while (ranks_here--)
		collsock_group_add_host(group, "127.0.0.1", 17620);
	collsock_group_add_host(group, "127.0.0.1", 17621);
	if (multicast)
		collsock_multicast_from_text(multicast, collsock_group_request(group)->multicast);
	err = collsock_open(&s, 0);
	if (!err)
		err = collsock_join(s, group, 0);
	collsock_group_free(group);
	collsock_close(s);
	return err;
}

TEST(what_a_rank_in_user_space_cannot_be_is_refused)
{
	static const __u8 key[COLLSOCK_KEY_BYTES] = { 1 };

	setenv("COLLSOCK_BACKEND", "user", 1);
	/* Anybody can send to its port. */
	EXPECT_EQ(-EACCES, join_by_hand(1, NULL, NULL));
	/* It has its port for itself. */
	EXPECT_EQ(-E2BIG, join_by_hand(2, key, NULL));
	EXPECT_EQ(-EOPNOTSUPP, join_by_hand(1, key, "239.7.7.7"));
	EXPECT_EQ(0, join_by_hand(1, key, NULL));
}

/* ---- structures that grow ---- */

#define MOST_STRUCT_BYTES	4096

static bool post_longer_structures(struct rank *r, struct collsock *s)
{
	union {
		struct collsock_post	post;
		__u8			bytes[MOST_STRUCT_BYTES + 8];
	} longer = {
		.post = { .size = MOST_STRUCT_BYTES, .operation = COLLSOCK_BARRIER },
	};
	int err = collsock_post(s, &longer.post, NULL, 0);

	if (err)
		return wrong(r, "the longest: %d", err);
	longer.post.size = sizeof(longer);
	err = collsock_post(s, &longer.post, NULL, 0);
	return err == -E2BIG || wrong(r, "too long: %d", err);
}

static int join_bytes(__u32 size)
{
	const struct collsock_join head = {
		.size = size, .id = 1, .nonce = 2, .key = { 1 }, .hosts = 1, .ranks = 1,
	};
	const struct collsock_member member = {
		.family = AF_INET, .port = 17622, .address = { 127, 0, 0, 1 },
	};
	__u8 request[MOST_STRUCT_BYTES + 8 + sizeof(member) + sizeof(__u32)] = { 0 };
	struct collsock *s;
	int err = collsock_open(&s, 0);

	memcpy(request, &head, sizeof(head));
	memcpy(request + size, &member, sizeof(member));
	if (!err)
		err = collsock_join_bytes(s, request, size + sizeof(member) + sizeof(__u32), -1);
	collsock_close(s);
	return err;
}

TEST(structures_are_as_long_as_with_the_kernel)
{
	setenv("COLLSOCK_BACKEND", "user", 1);
	EXPECT_EQ(0, join_bytes(MOST_STRUCT_BYTES));
	EXPECT_EQ(-E2BIG, join_bytes(MOST_STRUCT_BYTES + 8));
	EXPECT_EQ(-EINVAL, join_bytes(MOST_STRUCT_BYTES + 4));
	EXPECT_ALL_WELL(NULL, 1, post_longer_structures);
}

TEST_HARNESS_MAIN
