// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch_environment.h"
#include "user_directory.h"

static int directory_name(unsigned int which, char path[PATH_MAX])
{
	const char *runtime = launch_variable("XDG_RUNTIME_DIR");
	int length;

	if (which)
		length = snprintf(path, PATH_MAX, "/tmp/collsock-%u", geteuid());
	else if (runtime)
		length = snprintf(path, PATH_MAX, "%s/collsock", runtime);
	else
		length = snprintf(path, PATH_MAX, "/run/user/%u/collsock", geteuid());
	return *path == '/' && length < PATH_MAX ? 0 : -EINVAL;
}

/* Another user may have made it first, if all may write to its parent. */
static int directory_check(int fd)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	return status.st_uid == geteuid() && !(status.st_mode & 0077) ? 0 : -EPERM;
}

int user_directory_open(unsigned int which, bool make)
{
	char path[PATH_MAX] = "";
	int err = directory_name(which, path), fd;

	if (err)
		return err;
	if (make && mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = directory_check(fd);
	if (err)
		close(fd);
	return err ? err : fd;
}

/* It is not there, but a rank would make it. */
static bool directory_can_be_made(const char *name)
{
	char parent[PATH_MAX];

	if (errno != ENOENT)
		return false;
	snprintf(parent, sizeof(parent), "%s", name);
	*strrchr(parent, '/') = '\0';
	return !faccessat(AT_FDCWD, parent, W_OK | X_OK, AT_EACCESS);
}

bool user_directory_refused(char path[PATH_MAX], uid_t *owner)
{
	char name[PATH_MAX];
	bool refused = false;
	unsigned int which;
	struct stat status;
	int fd;

	for (which = 0; which < USER_DIRECTORIES; which++) {
		fd = user_directory_open(which, false);
		if (fd >= 0) {
			close(fd);
			return false;
		}
		if (directory_name(which, name))
			continue;
		if (lstat(name, &status)) {
			if (directory_can_be_made(name))
				return false;
			continue;
		}
		memcpy(path, name, sizeof(name));
		*owner = status.st_uid;
		refused = true;
	}
	return refused;
}

socklen_t user_directory_address(int directory, const char *name, struct sockaddr_un *address)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	snprintf(address->sun_path, sizeof(address->sun_path), "/proc/self/fd/%d/%s", directory,
		 name);
	return sizeof(*address);
}
