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
#include "user_place.h"

static int place_name(unsigned int place, char path[PATH_MAX])
{
	const char *runtime = launch_variable("XDG_RUNTIME_DIR");
	int length;

	if (place)
		length = snprintf(path, PATH_MAX, "/tmp/collsock-%u", geteuid());
	else if (runtime)
		length = snprintf(path, PATH_MAX, "%s/collsock", runtime);
	else
		length = snprintf(path, PATH_MAX, "/run/user/%u/collsock", geteuid());
	return *path == '/' && length < PATH_MAX ? 0 : -EINVAL;
}

/* In a folder that all may write to, another user may have been the first. */
static int place_check(int fd)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	return status.st_uid == geteuid() && !(status.st_mode & 0077) ? 0 : -EPERM;
}

int user_place_open(unsigned int place, bool make)
{
	char path[PATH_MAX] = "";
	int err = place_name(place, path), fd;

	if (err)
		return err;
	if (make && mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = place_check(fd);
	if (err)
		close(fd);
	return err ? err : fd;
}

socklen_t user_place_address(int folder, const char *name, struct sockaddr_un *address)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	snprintf(address->sun_path, sizeof(address->sun_path), "/proc/self/fd/%d/%s", folder, name);
	return sizeof(*address);
}
