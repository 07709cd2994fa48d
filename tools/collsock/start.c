// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <getopt.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/collsock.h>

#include "command.h"
#include "launch_network.h"
#include "launch_port.h"
#include "launch_request.h"
#include "start.h"
#include "text.h"
#include "usage.h"

#define MOST_TIMEOUT_S 86400

static const struct option known[] = {
	{ "local",	required_argument,	NULL,	'l' },
	{ "rank",	required_argument,	NULL,	'r' },
	{ "ranks",	required_argument,	NULL,	'n' },
	{ "rendezvous",	required_argument,	NULL,	'R' },
	{ "host",	required_argument,	NULL,	'H' },
	{ "port",	required_argument,	NULL,	'p' },
	{ "network",	required_argument,	NULL,	'N' },
	{ "timeout",	required_argument,	NULL,	't' },
	{ "op",		required_argument,	NULL,	'o' },
	{ "help",	no_argument,		NULL,	'h' },
	{ }
};

/* ---- the hosts by name ---- */

/**
 * struct start_unresolved - the first name that cannot be resolved
 * @host: the name, or NULL
 * @error: of getaddrinfo()
 */
struct start_unresolved {
	const char	*host;
	int		error;
};

/* Only an address of this host can be bound to. */
static bool start_is_here(const char *host, struct start_unresolved *unresolved)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_DGRAM };
	struct addrinfo *found, *i;
	bool here = false;
	int fd, error = getaddrinfo(host, NULL, &hints, &found);

	if (error) {
		if (!unresolved->host)
			*unresolved = (struct start_unresolved){ host, error };
		return false;
	}
	for (i = found; i && !here; i = i->ai_next) {
		fd = socket(i->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		here = fd >= 0 && !bind(fd, i->ai_addr, i->ai_addrlen);
		if (fd >= 0)
			close(fd);
	}
	freeaddrinfo(found);
	return here;
}

static void start_set(const char *name, const char *value)
{
	if (setenv(name, value, 1))
		err(EXIT_ERROR, "%s", name);
}

static void start_set_number(const char *name, uint32_t number)
{
	char *text = text_format("%u", number);

	start_set(name, text);
	free(text);
}

[[gnu::noreturn]] static void start_refuse_hosts(const struct start *start,
						 const struct start_unresolved *unresolved)
{
	static const char none[] = "-H: none of the names means this host; give --rank";

	if (unresolved->host)
		errx(start->usage, "%s; %s: %s", none, unresolved->host,
		     gai_strerror(unresolved->error));
	errx(start->usage, "%s", none);
}

/* A rank on each host; the first is where they meet. Nothing is started on the others. */
static void start_set_hosts(struct start *start)
{
	struct start_unresolved unresolved = { };
	uint32_t ranks = 0, here = 0;
	char *host;

	start->names = calloc(strlen(start->hosts) + 1, sizeof(*start->names));
	if (!start->names)
		err(EXIT_ERROR, "-H");
	for (host = strtok(start->hosts, ","); host; host = strtok(NULL, ","), ranks++) {
		start->names[ranks] = host;
		if (!ranks)
			start_set("COLLSOCK_RENDEZVOUS", host);
		if (!start->has_rank && start_is_here(host, &unresolved)) {
			start_set_number("COLLSOCK_RANK", ranks);
			here++;
		}
	}
	if (here > 1)
		errx(start->usage, "-H: %u of the names mean this host; give --rank", here);
	if (!here && !start->has_rank)
		start_refuse_hosts(start, &unresolved);
	start_set_number("COLLSOCK_RANKS", ranks);
}

/* ---- the options ---- */

static uint32_t start_number(const struct start *start, const char *what, const char *text,
			     uint32_t least, uint32_t most)
{
	unsigned long number;
	char *end;

	number = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || number < least || number > most)
		errx(start->usage, "--%s: \"%s\" is not a whole number from %u to %u", what, text,
		     least, most);
	return number;
}

static void start_set_network(const struct start *start, const char *text)
{
	struct collsock_options options;

	if (launch_network_parse(text, &options))
		errx(start->usage, "--network: \"%s\" is not " LAUNCH_NETWORK_FORM, text);
	start_set(LAUNCH_NETWORK, text);
}

static void start_set_option(struct start *start, int letter)
{
	switch (letter) {
	case 'l':
		start->local = start_number(start, "local", optarg, 1, COLLSOCK_MAX_LOCAL_RANKS);
		break;
	case 'r':
		start_set_number("COLLSOCK_RANK",
				 start_number(start, "rank", optarg, 0, COLLSOCK_MAX_RANKS - 1));
		start->has_rank = true;
		break;
	case 'n':
		start_set_number("COLLSOCK_RANKS",
				 start_number(start, "ranks", optarg, 1, COLLSOCK_MAX_RANKS));
		break;
	case 'R':
		start_set("COLLSOCK_RENDEZVOUS", optarg);
		break;
	case 'H':
		start->hosts = optarg;
		break;
	case 'p':
		start_set_number(LAUNCH_PORT, start_number(start, "port", optarg, 1, UINT16_MAX));
		break;
	case 'N':
		start_set_network(start, optarg);
		break;
	case 't':
		start->timeout_s = start_number(start, "timeout", optarg, 1, MOST_TIMEOUT_S);
		break;
	case 'o':
		start->operator = optarg;
		break;
	}
}

static const char *start_name(char letter)
{
	const struct option *o = known;

	while (o->val != letter)
		o++;
	return o->name;
}

/* @given: the letters of the options */
static void start_refuse_contradictions(const struct start *start, const char *command,
					const char *given)
{
	/* Options that determine the ranks by themselves; ranks of one host need no network. */
	static const char exclusive[][3] = { "lr", "ln", "lR", "lH", "lN", "Hn", "HR" };
	const char *pair;
	unsigned int i;

	for (i = 0; i < sizeof(exclusive) / sizeof(*exclusive); i++) {
		pair = exclusive[i];
		if (strchr(given, pair[0]) && strchr(given, pair[1]))
			errx(start->usage, "%s: --%s and --%s exclude each other", command,
			     start_name(pair[0]), start_name(pair[1]));
	}
}

/* A rank may run this command: the request is for that rank's group, and would override options. */
static void start_forget_request(void)
{
	unsetenv(LAUNCH_REQUEST);
	unsetenv(LAUNCH_SOCKET);
}

static bool start_is_negative_number(const char *word)
{
	char *end;

	if (!word || *word != '-')
		return false;
	strtod(word, &end);
	return end != word && !*end;
}

/* Returns its letter, or -1 at a word that is not an option. @numbers: that may be a number */
static int start_next_option(int argc, char **argv, bool numbers)
{
	if (numbers && start_is_negative_number(argv[optind]))
		return -1;
	return getopt_long(argc, argv, "+H:h", known, NULL);
}

char **start_parse(struct start *start, int argc, char **argv, const char *letters)
{
	const char *command = argv[0];
	char given[sizeof(known) / sizeof(*known)] = "", *end = given;
	bool numbers = strchr(letters, 'o');
	int letter;

	/* Options of the program are left unchanged. */
	while ((letter = start_next_option(argc, argv, numbers)) != -1) {
		if (letter == '?')
			errx(start->usage, "try collsock --help");
		if (letter == 'h') {
			usage_print(stdout);
			exit(EXIT_SUCCESS);
		}
		if (!strchr(letters, letter))
			errx(start->usage, "%s does not accept that option: collsock --help",
			     command);
		start_set_option(start, letter);
		if (!strchr(given, letter))
			*end++ = letter;
	}
	start_refuse_contradictions(start, command, given);
	if (strpbrk(given, "rnRH"))
		start_forget_request();
	if (start->hosts)
		start_set_hosts(start);
	return argv + optind;
}
