// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a fuzz target without a fuzzer, on the bytes of each file, or of all files in a
 * folder. For "make check", and to examine findings of the fuzzer.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"

#define FILE_BYTES	65536

static u32 replay_file(const char *path)
{
	static u8 data[FILE_BYTES];
	FILE *file = fopen(path, "rb");
	size_t bytes;
	u8 *exact;

	if (!file) {
		perror(path);
		exit(1);
	}
	bytes = fread(data, 1, sizeof(data), file);
	fclose(file);
	/* The last name printed is that of the file that breaks a promise. */
	fprintf(stderr, "# %s: %zu bytes\n", path, bytes);
	exact = fuzz_exact(data, bytes);
	fuzz_target(exact, bytes);
	free(exact);
	return 1;
}

static u32 replay(const char *path)
{
	struct dirent **names;
	char inside[4096];
	struct stat about;
	u32 done = 0;
	int i, count;

	if (stat(path, &about) || !S_ISDIR(about.st_mode))
		return replay_file(path);
	count = scandir(path, &names, NULL, alphasort);
	for (i = 0; i < count; i++) {
		snprintf(inside, sizeof(inside), "%s/%s", path, names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			done += replay_file(inside);
		free(names[i]);
	}
	free(names);
	return done;
}

int main(int argc, char **argv)
{
	u32 done = 0;
	int i;

	for (i = 1; i < argc; i++)
		done += replay(argv[i]);
	printf("%u inputs\n", done);
	return !done;
}
