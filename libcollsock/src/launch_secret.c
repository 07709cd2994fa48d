// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launch_environment.h"
#include "launch_secret.h"

#define PATH_ROOM	512
#define KEY_AT_HOME	"/.config/collsock/key"

bool launch_secret_is_named(void)
{
	return launch_variable("COLLSOCK_KEY_FILE");
}

static int secret_find(char path[PATH_ROOM])
{
	const char *named = launch_variable("COLLSOCK_KEY_FILE");
	const char *home = launch_variable("HOME");
	const struct passwd *user;
	int length;

	if (!named && !home) {
		user = getpwuid(geteuid());
		home = user ? user->pw_dir : "";
	}
	length = named ? snprintf(path, PATH_ROOM, "%s", named) :
			 snprintf(path, PATH_ROOM, "%s" KEY_AT_HOME, home);
	return length < PATH_ROOM ? 0 : -ENAMETOOLONG;
}

int launch_secret_read(__u8 secret[COLLSOCK_KEY_BYTES], char *text, size_t bytes)
{
	char path[PATH_ROOM];
	int err = secret_find(path);

	if (!err)
		err = collsock_key_from_file(path, secret);
	if (err == -ENOENT) {
		snprintf(text, bytes,
			 "no secret: %.160s does not exist; make it with: (umask 077; mkdir -p ~/.config/collsock; collsock keygen ~/.config/collsock/key), and copy it to all hosts, or name a file in COLLSOCK_KEY_FILE",
			 path);
		return -ENOKEY;
	}
	if (err == -EPERM)
		snprintf(text, bytes,
			 "%.320s: other users may access it, or it is not yours: chmod 600", path);
	else if (err == -EACCES)
		snprintf(text, bytes,
			 "%.320s: Permission denied: make it yours (chown, chmod 600), or name a file of yours in COLLSOCK_KEY_FILE",
			 path);
	else if (err == -EBADMSG)
		snprintf(text, bytes, "%.320s is not a file of 32 hexadecimal digits, not all zero",
			 path);
	else if (err)
		snprintf(text, bytes, "%.320s: %s", path, strerror(-err));
	return err;
}
