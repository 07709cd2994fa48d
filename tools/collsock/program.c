// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"
#include "text.h"

#define USUAL_PATH "/bin:/usr/bin"	/* of execvp(3), where PATH is not set */

static int program_check(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EACCES;
	return eaccess(path, X_OK) ? -errno : 0;
}

/* An empty folder is the current one. */
static int program_check_in(const char *folder, int bytes, const char *name)
{
	char *path = text_format("%.*s%s%s", bytes, folder, bytes ? "/" : "", name);
	int error = program_check(path);

	free(path);
	return error;
}

int program_find(const char *name)
{
	const char *folder = getenv("PATH");
	int error, found = -ENOENT;
	size_t bytes;

	if (!*name)
		return -ENOENT;
	if (strchr(name, '/'))
		return program_check(name);
	for (folder = folder ? folder : USUAL_PATH;; folder += bytes + 1) {
		bytes = strcspn(folder, ":");
		error = program_check_in(folder, bytes, name);
		if (!error)
			return 0;
		/* A program that may not be started is a better error than a missing one. */
		if (error == -EACCES)
			found = error;
		if (!folder[bytes])
			return found;
	}
}
