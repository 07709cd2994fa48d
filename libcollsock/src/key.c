// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Keys are read from files, since command lines and environments are visible to others. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

#define KEY_DIGITS (2 * COLLSOCK_KEY_BYTES)
#define KEY_FILE_BYTES (KEY_DIGITS + 2)	/* plus a newline, and one to detect longer files */
#define ACCESS_OF_OTHERS 0077

static int key_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static int key_parse(const char *text, size_t bytes, __u8 key[COLLSOCK_KEY_BYTES])
{
	__u8 any = 0;
	int i;

	if (bytes == KEY_DIGITS + 1 && text[KEY_DIGITS] == '\n')
		bytes--;
	if (bytes != KEY_DIGITS)
		return -EBADMSG;
	for (i = 0; i < COLLSOCK_KEY_BYTES; i++) {
		int high = key_digit(text[2 * i]);
		int low = key_digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return -EBADMSG;
		key[i] = high << 4 | low;
		any |= key[i];
	}
	return any ? 0 : -EBADMSG;
}

static int key_read(int fd, __u8 key[COLLSOCK_KEY_BYTES])
{
	char text[KEY_FILE_BYTES];
	struct stat status;
	ssize_t bytes;
	int err;

	if (fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EBADMSG;
	if (status.st_mode & ACCESS_OF_OTHERS)
		return -EPERM;
	if (status.st_uid != geteuid() && status.st_uid != 0)
		return -EPERM;
	bytes = read(fd, text, sizeof(text));
	if (bytes < 0)
		return -errno;
	err = key_parse(text, bytes, key);
	explicit_bzero(text, sizeof(text));
	if (err)
		explicit_bzero(key, COLLSOCK_KEY_BYTES);
	return err;
}

COLLSOCK_PUBLIC int collsock_key_from_file(const char *path, __u8 key[COLLSOCK_KEY_BYTES])
{
	int fd, err;

	/* Opening a pipe without a writer must not block before its type is checked. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	err = key_read(fd, key);
	close(fd);
	return err;
}
