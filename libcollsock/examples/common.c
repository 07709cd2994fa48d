// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

#define TEXT_BYTES 512
#define MAX_PORT 65535
#define DEFAULT_ID 1
#define PATIENCE_MS 2000
#define NO_TIMEOUT (-1)

static void print_usage(const struct example *e, const char *purpose)
{
	printf("%s: %s\n\n"
	       "usage: collsock run --local N | -H HOST,... -- %s [-c N]\n"
	       "       %s [OPTION]... --nonce N HOSTS-FILE [RANK]\n\n"
	       "Ranks find each other as collsock run, or another launcher, has told them. Or\n"
	       "HOSTS-FILE has one line for each rank, its host: ADDRESS [PORT]; the rest of a line\n"
	       "after a # is a comment. A host may be listed several times. Start this\n"
	       "once for each line, on that host, with the same file. Without RANK it is one of\n"
	       "the ranks whose address is local: the first, unless --local says which.\n\n"
	       "  -c, --count N       number of repetitions (default 1)\n"
	       "  -h, --help          this text\n\n"
	       "with HOSTS-FILE:\n"
	       "  -n, --nonce N       of this instance of the group, equal on all ranks; use\n"
	       "                      a new one for every run with this key\n"
	       "  -k, --key-file FILE shared secret: 32 hexadecimal digits, mode 600; without it\n"
	       "                      hosts must allow it: collsock set require_keys 0\n"
	       "  -i, --id N          number of the group (default %d)\n"
	       "  -l, --local N       be the Nth of the ranks of this host, from 0\n\n"
	       "exit code: 0 done, 1 joining or an operation failed, 2 wrong usage\n",
	       e->name, purpose, e->name, e->name, DEFAULT_ID);
}

static unsigned long long parse_number(const char *what, const char *text)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 0);
	if (errno || end == text || *end || strchr(text, '-'))
		errx(EXIT_USAGE, "%s: \"%s\" is not a number; try --help", what, text);
	return number;
}

static __u32 parse_rank(const char *what, const char *text)
{
	unsigned long long number = parse_number(what, text);

	if (number >= COLLSOCK_MAX_RANKS)
		errx(EXIT_USAGE, "%s: %s is too large", what, text);
	return number;
}

void example_parse(struct example *e, int argc, char **argv, const char *purpose)
{
	static const struct option options[] = {
		{ "id",		required_argument, NULL, 'i' },
		{ "nonce",	required_argument, NULL, 'n' },
		{ "key-file",	required_argument, NULL, 'k' },
		{ "local",	required_argument, NULL, 'l' },
		{ "count",	required_argument, NULL, 'c' },
		{ "help",	no_argument,	   NULL, 'h' },
		{ }
	};
	const char *slash = strrchr(argv[0], '/');
	int option;

	*e = (struct example){ .name = slash ? slash + 1 : argv[0], .rank = -1,
			       .id = DEFAULT_ID, .count = 1 };
	while ((option = getopt_long(argc, argv, "i:n:k:l:c:h", options, NULL)) != -1) {
		switch (option) {
		case 'i':
			e->id = parse_number("--id", optarg);
			break;
		case 'n':
			e->nonce = parse_number("--nonce", optarg);
			e->has_nonce = 1;
			break;
		case 'k':
			e->key_file = optarg;
			break;
		case 'l':
			e->local = parse_rank("--local", optarg);
			break;
		case 'c':
			e->count = parse_number("--count", optarg);
			break;
		case 'h':
			print_usage(e, purpose);
			exit(EXIT_DONE);
		default:
			errx(EXIT_USAGE, "try --help");
		}
	}
	if (argc - optind > 2)
		errx(EXIT_USAGE, "more than HOSTS-FILE and RANK; try --help");
	if (argc - optind > 0)
		e->hosts_file = argv[optind];
	if (argc - optind > 1)
		e->rank = parse_rank("RANK", argv[optind + 1]);
	if (e->hosts_file && !e->has_nonce)
		errx(EXIT_USAGE,
		     "--nonce N: a number that was never used with this key, equal on all ranks");
}

noreturn void example_fail(const char *what, int error, __u32 failed_rank)
{
	char text[TEXT_BYTES];

	errx(EXIT_FAILED, "%s: %s", what,
	     collsock_strerror(error, failed_rank, text, sizeof(text)));
}

/* Parse one line of the hosts file, which is modified. */
static void add_line(const struct example *e, struct collsock_group *group, char *line,
		     unsigned int number)
{
	char *address, *port, *rest = NULL;
	char text[TEXT_BYTES];
	unsigned long long value = 0;
	int err;

	line[strcspn(line, "#")] = '\0';
	address = strtok_r(line, " \t\r\n", &rest);
	if (!address)
		return;
	port = strtok_r(NULL, " \t\r\n", &rest);
	if (port)
		value = parse_number("port", port);
	if (value > MAX_PORT || strtok_r(NULL, " \t\r\n", &rest))
		errx(EXIT_USAGE, "%s, line %u: want ADDRESS [PORT]", e->hosts_file, number);
	err = collsock_group_add_host(group, address, value);
	if (err == -EINVAL)
		errx(EXIT_USAGE, "%s, line %u: %s is not an IPv4, IPv6 or MAC address (no names)",
		     e->hosts_file, number, address);
	if (err)
		errx(EXIT_USAGE, "%s, line %u: %s", e->hosts_file, number,
		     collsock_strerror(err, COLLSOCK_NO_RANK, text, sizeof(text)));
}

static void add_hosts(const struct example *e, struct collsock_group *group)
{
	FILE *file = fopen(e->hosts_file, "re");
	unsigned int number = 0;
	size_t bytes = 0;
	char *line = NULL;

	if (!file)
		errx(EXIT_USAGE, "%s: %s", e->hosts_file, strerror(errno));
	while (getline(&line, &bytes, file) >= 0)
		add_line(e, group, line, ++number);
	free(line);
	fclose(file);
}

/* Whatever has started the ranks tells them about each other. */
static struct collsock *join_launched(struct example *e, unsigned int open_flags)
{
	char text[TEXT_BYTES];
	struct collsock_options options = {
		.size		= sizeof(options),
		.open_flags	= open_flags,
		.text		= text,
		.text_bytes	= sizeof(text),
	};
	struct collsock *socket;

	if (collsock_join_env(&socket, &options))
		errx(EXIT_FAILED, "%s", text);
	e->rank = collsock_rank(socket);
	return socket;
}

/* Joining does not show that the other ranks are there, but a first barrier does. */
static void meet(const struct example *e, struct collsock *socket)
{
	struct pollfd readable = { .fd = collsock_fd(socket), .events = POLLIN };
	struct collsock_completion completion = { };
	int err = collsock_post_barrier(socket, 0);

	if (!err && !poll(&readable, 1, PATIENCE_MS))
		fprintf(stderr, "rank %ld: waiting for other ranks; collsock wait says for which\n",
			e->rank);
	while (!err && poll(&readable, 1, NO_TIMEOUT) < 0 && errno == EINTR)
		;
	if (!err)
		err = collsock_wait(socket, 0, &completion, NULL, 0);
	if (err || completion.error)
		example_fail("barrier", err ? err : (int)completion.error, completion.failed_rank);
}

static struct collsock *join_hosts(struct example *e, unsigned int open_flags)
{
	__u8 key[COLLSOCK_KEY_BYTES];
	struct collsock_group *group;
	struct collsock *socket;
	int err;

	if (e->key_file) {
		err = collsock_key_from_file(e->key_file, key);
		if (err)
			example_fail(e->key_file, err, COLLSOCK_NO_RANK);
	}
	err = collsock_group_new(&group, e->id, e->nonce, e->key_file ? key : NULL);
	if (err)
		example_fail("group", err, COLLSOCK_NO_RANK);
	add_hosts(e, group);
	if (e->rank < 0)
		e->rank = collsock_rank_of_local(group, e->local);
	if (e->rank < 0)
		example_fail("rank of this host", e->rank, COLLSOCK_NO_RANK);
	if (e->rank >= collsock_group_request(group)->ranks)
		errx(EXIT_USAGE, "rank %ld, but %s names %u: ranks count from 0", e->rank,
		     e->hosts_file, collsock_group_request(group)->ranks);
	err = collsock_open(&socket, open_flags);
	if (err)
		example_fail("socket", err, COLLSOCK_NO_RANK);
	err = collsock_join(socket, group, e->rank);
	if (err)
		example_fail("join", err, COLLSOCK_NO_RANK);
	collsock_group_free(group);
	explicit_bzero(key, sizeof(key));
	meet(e, socket);
	return socket;
}

struct collsock *example_join(struct example *e, unsigned int open_flags)
{
	return e->hosts_file ? join_hosts(e, open_flags) : join_launched(e, open_flags);
}
