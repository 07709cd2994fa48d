// SPDX-License-Identifier: GPL-2.0
/* Keys are accepted only from files that other users cannot access. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_kernel.h"
#include "../harness.h"

#define GOOD "000102030405060708090a0b0c0d0eFF"

FIXTURE(key)
{
	char	path[32];
	__u8	key[COLLSOCK_KEY_BYTES];
};

FIXTURE_SETUP(key)
{
	int fd;

	strcpy(self->path, "/tmp/collsock-key-XXXXXX");
	fd = mkstemp(self->path);
	ASSERT_LE(0, fd);
	close(fd);
}

FIXTURE_TEARDOWN(key)
{
	unlink(self->path);
}

static int read_key(const char *path, const char *text, __u8 *key)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return -EIO;
	fputs(text, file);
	fclose(file);
	return collsock_key_from_file(path, key);
}

TEST_F(key, is_32_hexadecimal_digits)
{
	int i;

	ASSERT_EQ(0, read_key(self->path, GOOD, self->key));
	for (i = 0; i < COLLSOCK_KEY_BYTES - 1; i++)
		EXPECT_EQ(i, self->key[i]);
	EXPECT_EQ(0xff, self->key[i]);
	EXPECT_EQ(0, read_key(self->path, GOOD "\n", self->key));
}

TEST_F(key, anything_else_is_refused)
{
	static const char * const bad[] = {
		"", "\n", "00", GOOD "0", GOOD "\n\n", " " GOOD,
		"000102030405060708090a0b0c0d0eFg", "00000000000000000000000000000000",
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-EBADMSG, read_key(self->path, bad[i], self->key))
			TH_LOG("entry %d", i);
	}
}

TEST_F(key, nothing_is_left_of_a_bad_key)
{
	static const __u8 zero[COLLSOCK_KEY_BYTES];

	memset(self->key, 0xa5, sizeof(self->key));
	ASSERT_EQ(-EBADMSG, read_key(self->path, "000102030405060708090a0b0c0d0eFg", self->key));
	EXPECT_EQ(0, memcmp(self->key, zero, sizeof(zero)));
}

TEST_F(key, file_open_to_others_is_refused)
{
	static const mode_t open_to_others[] = { 0640, 0604, 0620, 0610, 0601, 0644 };
	int i;

	ASSERT_EQ(0, read_key(self->path, GOOD, self->key));
	for (i = 0; i < ARRAY_SIZE(open_to_others); i++) {
		ASSERT_EQ(0, chmod(self->path, open_to_others[i]));
		EXPECT_EQ(-EPERM, collsock_key_from_file(self->path, self->key))
			TH_LOG("mode %o", open_to_others[i]);
	}
	ASSERT_EQ(0, chmod(self->path, 0400));
	EXPECT_EQ(0, collsock_key_from_file(self->path, self->key));
}

TEST_F(key, what_is_not_a_file_is_refused_at_once)
{
	EXPECT_EQ(-EBADMSG, collsock_key_from_file("/tmp", self->key));
	unlink(self->path);
	EXPECT_EQ(-ENOENT, collsock_key_from_file(self->path, self->key));
	ASSERT_EQ(0, mkfifo(self->path, 0600));
	EXPECT_EQ(-EBADMSG, collsock_key_from_file(self->path, self->key));
}

TEST_HARNESS_MAIN
