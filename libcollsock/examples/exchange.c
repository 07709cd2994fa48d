// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Ranks find each other through a folder that all can access, over NFS for instance: they need
 * neither a list of hosts nor a key, only a number each. Users who can read the folder can read
 * the key of the group.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <collsock.h>

#define TEXT_BYTES 512
#define PATIENCE_MS 60000	/* with ranks that start late */
#define LATE_MS 2000		/* then it says for which rank it waits */
#define LOOK_MS 50
#define NS_PER_MS 1000000

enum {
	EXIT_DONE	= 0,
	EXIT_FAILED	= 1,
	EXIT_USAGE	= 2,
};

/**
 * struct folder - where ranks meet
 * @path: of the folder
 * @rank: of this process
 * @ranks: how many there are
 * @exchanges: how many there were
 */
struct folder {
	const char	*path;
	__u32		rank;
	__u32		ranks;
	unsigned int	exchanges;
};

/* ---- the exchange: a file of each rank ---- */

static int name_file(char *name, const struct folder *f, __u32 rank, const char *suffix)
{
	int length = snprintf(name, PATH_MAX, "%s/%u-%u%s", f->path, f->exchanges, rank, suffix);

	return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* The file has its name when it is complete; it must be new. */
static int write_mine(const struct folder *f, const void *mine, size_t bytes)
{
	char name[PATH_MAX], draft[PATH_MAX];
	int err = 0, fd;

	if (name_file(name, f, f->rank, "") || name_file(draft, f, f->rank, ".draft"))
		return -ENAMETOOLONG;
	fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (write(fd, mine, bytes) != (ssize_t)bytes || fsync(fd))
		err = -EIO;
	if (close(fd) && !err)
		err = -errno;
	if (!err && link(draft, name))
		err = -errno;
	unlink(draft);
	return err;
}

static int read_one(const struct folder *f, __u32 rank, void *one, size_t bytes)
{
	char name[PATH_MAX];
	ssize_t got;
	int fd;

	if (name_file(name, f, rank, ""))
		return -ENAMETOOLONG;
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	got = read(fd, one, bytes);
	close(fd);
	return got == (ssize_t)bytes ? 0 : -EBADMSG;
}

static int await_one(const struct folder *f, __u32 rank, void *one, size_t bytes)
{
	const struct timespec look = { .tv_nsec = LOOK_MS * NS_PER_MS };
	int waited_ms, err;

	for (waited_ms = 0; waited_ms < PATIENCE_MS; waited_ms += LOOK_MS) {
		err = read_one(f, rank, one, bytes);
		if (err != -ENOENT)
			return err;
		if (waited_ms == LATE_MS)
			warnx("rank %u: waiting for rank %u", f->rank, rank);
		nanosleep(&look, NULL);
	}
	warnx("rank %u: rank %u is not there after %d s", f->rank, rank, PATIENCE_MS / 1000);
	return -ETIMEDOUT;
}

static int exchange(void *ctx, const void *mine, void *all, size_t bytes)
{
	struct folder *f = ctx;
	int err = write_mine(f, mine, bytes);
	__u32 i;

	for (i = 0; i < f->ranks && !err; i++)
		err = await_one(f, i, (char *)all + i * bytes, bytes);
	f->exchanges++;
	return err;
}

/* ---- the program ---- */

static void print_usage(const char *program)
{
	printf("usage: %s [OPTION]... FOLDER RANK RANKS\n\n"
	       "Start this RANKS times, on any hosts, each with its RANK from 0. FOLDER is one that\n"
	       "all can access, empty, new for each run, and closed to others (chmod 700): the ranks\n"
	       "leave the key of their group there, unless all have a file with one.\n\n"
	       "  -6, --ipv6           hosts have IPv6 addresses\n"
	       "  -k, --key-file FILE  a key: 32 hexadecimal digits, mode 600\n"
	       "  -n, --name NAME      of the group; its number is made from it\n"
	       "  -t, --timeout MS     how long to wait for the first packets\n"
	       "  -c, --count N        number of barriers (default 1)\n"
	       "  -h, --help           this text\n\n"
	       "exit code: 0 done, 1 joining or an operation failed, 2 wrong usage\n", program);
}

static unsigned long parse_number(const char *what, const char *text)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || number > UINT_MAX)
		errx(EXIT_USAGE, "%s: \"%s\" is not a number; try --help", what, text);
	return number;
}

static void set_name(struct collsock_options *o, const char *name)
{
	if (strlen(name) >= sizeof(o->name))
		errx(EXIT_USAGE, "--name: at most %zu characters", sizeof(o->name) - 1);
	strcpy(o->name, name);
}

static void read_key(struct collsock_options *o, const char *path)
{
	char text[TEXT_BYTES];
	int err = collsock_key_from_file(path, o->key);

	if (err)
		errx(EXIT_USAGE, "%s: %s", path,
		     collsock_strerror(err, COLLSOCK_NO_RANK, text, sizeof(text)));
}

static unsigned long parse(int argc, char **argv, struct collsock_options *o, struct folder *f)
{
	static const struct option options[] = {
		{ "ipv6",	no_argument,	   NULL, '6' },
		{ "key-file",	required_argument, NULL, 'k' },
		{ "name",	required_argument, NULL, 'n' },
		{ "timeout",	required_argument, NULL, 't' },
		{ "count",	required_argument, NULL, 'c' },
		{ "help",	no_argument,	   NULL, 'h' },
		{ }
	};
	unsigned long count = 1;
	int option;

	while ((option = getopt_long(argc, argv, "6k:n:t:c:h", options, NULL)) != -1) {
		switch (option) {
		case '6':
			o->family = AF_INET6;
			break;
		case 'k':
			read_key(o, optarg);
			break;
		case 'n':
			set_name(o, optarg);
			break;
		case 't':
			o->timeout_ms = parse_number("--timeout", optarg);
			break;
		case 'c':
			count = parse_number("--count", optarg);
			break;
		case 'h':
			print_usage(argv[0]);
			exit(EXIT_DONE);
		default:
			errx(EXIT_USAGE, "try --help");
		}
	}
	if (argc - optind != 3)
		errx(EXIT_USAGE, "need FOLDER RANK RANKS; try --help");
	f->path = argv[optind];
	f->rank = parse_number("RANK", argv[optind + 1]);
	f->ranks = parse_number("RANKS", argv[optind + 2]);
	return count;
}

static void check(const char *what, int rank, int error, __u32 failed_rank)
{
	char text[TEXT_BYTES];

	if (error)
		errx(EXIT_FAILED, "rank %d: %s: %s", rank, what,
		     collsock_strerror(error, failed_rank, text, sizeof(text)));
}

static void work(struct collsock *socket, unsigned long count)
{
	int rank = collsock_rank(socket), size = collsock_size(socket), err;
	struct collsock_completion done;
	const __s64 mine = rank;
	unsigned long i;
	__s64 sum;

	for (i = 0; i < count; i++) {
		err = collsock_barrier(socket, &done);
		check("barrier", rank, err, done.failed_rank);
	}
	err = collsock_allreduce(socket, &mine, &sum, 1, COLLSOCK_INT64, COLLSOCK_SUM, &done);
	check("allreduce", rank, err, done.failed_rank);
	printf("rank %d of %d: %lu barriers done, the sum of ranks is %lld\n", rank, size, count,
	       (long long)sum);
}

int main(int argc, char **argv)
{
	char text[TEXT_BYTES] = "no such rank";
	struct collsock_options options = {
		.size = sizeof(options), .text = text, .text_bytes = sizeof(text),
	};
	struct folder folder = { };
	struct collsock *socket;
	unsigned long count;

	count = parse(argc, argv, &options, &folder);
	if (collsock_join_with(&socket, &options, folder.rank, folder.ranks, exchange, &folder))
		errx(EXIT_FAILED, "rank %u: join: %s", folder.rank, text);
	explicit_bzero(options.key, sizeof(options.key));
	work(socket, count);
	collsock_close(socket);
	return EXIT_DONE;
}
