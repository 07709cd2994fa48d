// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "command.h"
#include "keygen.h"

#define KEY_BYTES 16
#define KEY_TEXT_BYTES (2 * KEY_BYTES + 1)

/* 32 hexadecimal digits and the end of the line */
static void keygen_draw(char text[KEY_TEXT_BYTES + 1])
{
	unsigned char key[KEY_BYTES];
	unsigned int i;

	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		err(EXIT_ERROR, "no random numbers");
	for (i = 0; i < KEY_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", key[i]);
	text[KEY_TEXT_BYTES - 1] = '\n';
	text[KEY_TEXT_BYTES] = '\0';
}

/* An existing file is left unchanged: groups may use it. */
static int keygen_open(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 && errno == ENOENT)
		errx(EXIT_ERROR, "%s: no key was made: there is no such folder (mkdir -p -m 700)",
		     path);
	if (fd < 0)
		err(EXIT_ERROR, "%s: no key was made", path);
	return fd;
}

static void keygen_write(int fd, const char *text, const char *path)
{
	if (write(fd, text, KEY_TEXT_BYTES) == KEY_TEXT_BYTES && !fsync(fd) && !close(fd))
		return;
	warn("%s", path);
	unlink(path);
	exit(EXIT_ERROR);
}

int keygen_command(char **words)
{
	char text[KEY_TEXT_BYTES + 1];

	if (*words)
		command_no_more(words + 1);
	keygen_draw(text);
	if (*words)
		keygen_write(keygen_open(*words), text, *words);
	else if (fputs(text, stdout) < 0 || fflush(stdout))
		err(EXIT_ERROR, "standard output");
	return EXIT_DONE;
}
