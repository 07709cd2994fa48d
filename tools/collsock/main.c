// SPDX-License-Identifier: GPL-2.0
/* collsock: show and control the collective sockets of a network namespace, see collsock(8). */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/collsock.h>

#include "collective.h"
#include "command.h"
#include "device.h"
#include "doctor.h"
#include "end.h"
#include "keygen.h"
#include "match.h"
#include "monitor.h"
#include "run.h"
#include "show.h"
#include "stat.h"
#include "text.h"
#include "tunable.h"
#include "usage.h"
#include "wait.h"

#define NAMESPACES "/run/netns/"
#define INTERVAL_MOST_S 86400

/* Sub-commands, and the letters of options that only they accept. */
static const struct {
	const char	*name;
	int		(*run)(char **words);
	const char	*letters;
} commands[] = {
	{ "group",	show_group,	   "" },
	{ "host",	show_host,	   "" },
	{ "rank",	show_rank,	   "" },
	{ "peer",	show_peer,	   "" },
	{ "op",		show_operation, "" },
	{ "user",	show_user,	   "" },
	{ "device",	device_command,	   "" },
	{ "stat",	stat_command,	   "P" },
	{ "get",	tunable_get,	   "" },
	{ "set",	tunable_set,	   "" },
	{ "monitor",	monitor_command,   "t" },
	{ "end",	end_command,	   "" },
	{ "wait",	wait_command,	   "liN" },
	{ "doctor",	doctor_command,	   "" },
	{ "keygen",	keygen_command,	   "" },
};

/* Those that start ranks have options of their own, and come first. */
static const struct {
	const char	*name;
	int		(*run)(int argc, char **argv);
} starters[] = {
	{ "run",	run_command },
	{ "barrier",	collective_barrier },
	{ "allreduce",	collective_allreduce },
};

#define STARTERS (sizeof(starters) / sizeof(*starters))
#define COMMANDS (sizeof(commands) / sizeof(*commands))

static const char *command_names[COMMANDS + 1];

static const struct option known[] = {
	{ "json",	no_argument,		NULL,	'j' },
	{ "pretty",	no_argument,		NULL,	'p' },
	{ "statistics",	no_argument,		NULL,	's' },
	{ "netns",	required_argument,	NULL,	'n' },
	{ "color",	optional_argument,	NULL,	'c' },
	{ "timestamp",	no_argument,		NULL,	't' },
	{ "last",	no_argument,		NULL,	'l' },
	{ "interval",	required_argument,	NULL,	'i' },
	{ "count",	required_argument,	NULL,	'N' },
	{ "prometheus",	no_argument,		NULL,	'P' },
	{ "version",	no_argument,		NULL,	'V' },
	{ "help",	no_argument,		NULL,	'h' },
	{ }
};

static double main_parse_interval(const char *text)
{
	double seconds;
	char *end;

	seconds = strtod(text, &end);
	/* Written so that NaN is refused */
	if (end == text || *end || !(seconds > 0 && seconds <= INTERVAL_MOST_S))
		errx(EXIT_ERROR, "--interval: \"%s\" is not a time from 0 to %u s", text,
		     INTERVAL_MOST_S);
	return seconds;
}

static bool main_parse_color(const char *when)
{
	if (!when || !strcmp(when, "always"))
		return true;
	if (!strcmp(when, "never"))
		return false;
	if (strcmp(when, "auto"))
		errx(EXIT_ERROR, "--color: \"%s\" is not always, auto or never", when);
	return isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
}

/* A name as in ip-netns(8), or a path */
static void main_enter(const char *name)
{
	char *path = text_format("%s%s", strchr(name, '/') ? "" : NAMESPACES, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		err(EXIT_ERROR, "network namespace %s", path);
	if (setns(fd, CLONE_NEWNET))
		err(EXIT_ERROR, "network namespace %s: %s", path,
		    errno == EPERM ? "needs CAP_SYS_ADMIN (sudo)" : "cannot be entered");
	close(fd);
	free(path);
}

static int main_flush(int status)
{
	if (fflush(stdout) || ferror(stdout))
		err(EXIT_ERROR, "standard output");
	return status;
}

static void main_take(int letter)
{
	switch (letter) {
	case 'j':
		options.json = true;
		break;
	case 'p':
		options.json = true;
		options.pretty = true;
		break;
	case 's':
		options.statistics = true;
		break;
	case 'n':
		main_enter(optarg);
		break;
	case 'c':
		options.color = main_parse_color(optarg);
		break;
	case 't':
		options.timestamps = true;
		break;
	case 'l':
		options.last = true;
		break;
	case 'i':
		options.interval_s = main_parse_interval(optarg);
		break;
	case 'N':
		options.count = command_number("--count", optarg, UINT32_MAX);
		if (!options.count)
			errx(EXIT_ERROR, "--count: \"%s\" is no look at all: 1 or more", optarg);
		break;
	case 'P':
		options.prometheus = true;
		break;
	case 'V':
		puts("collsock " COLLSOCK_VERSION);
		exit(main_flush(EXIT_DONE));
	case 'h':
		usage_print(stdout);
		exit(EXIT_DONE);
	default:
		errx(EXIT_ERROR, "try collsock --help");
	}
}

/* Returns its number, or -1 */
static int main_find_starter(const char *word)
{
	size_t i;

	for (i = 0; word && i < STARTERS; i++)
		if (!strcmp(word, starters[i].name))
			return i;
	return -1;
}

static int main_find(const char *word)
{
	int found, nearest;
	size_t i;

	if (main_find_starter(word) >= 0)
		errx(EXIT_ERROR, "%s has to be the first word", word);
	for (i = 0; i < COMMANDS; i++)
		command_names[i] = commands[i].name;
	found = match_prefix(word, command_names);
	if (found == MATCH_SEVERAL)
		errx(EXIT_ERROR, "\"%s\" may be several commands: collsock --help", word);
	nearest = match_nearest(word, command_names);
	if (found == MATCH_NONE && nearest != MATCH_NONE)
		errx(EXIT_ERROR, "\"%s\" is not a command; is it \"%s\"?", word,
		     command_names[nearest]);
	if (found == MATCH_NONE)
		errx(EXIT_ERROR, "\"%s\" is not a command: collsock --help lists them", word);
	return found;
}

/*
 * If standard input, output or error is closed, keep files opened later from taking its place.
 * Output to a closed descriptor is lost, which is an error.
 */
static void main_fill_descriptors(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR);
}

int main(int argc, char **argv)
{
	static const char letters[] = "jpsn:c::tVh", common[] = "jpsncVh";
	char own[COMMANDS * 2] = "", letter[] = " ", *word;
	int taken, found, starter = main_find_starter(argv[1]);

	main_fill_descriptors();
	/* Messages do not depend on the name of the executable. */
	program_invocation_short_name = "collsock";
	if (starter >= 0)
		return main_flush(starters[starter].run(argc - 1, argv + 1));
	/* If the caller ignores it, there is no status of a child to wait for. */
	signal(SIGCHLD, SIG_DFL);
	if (isatty(STDOUT_FILENO))
		options.color = main_parse_color("auto");
	while ((taken = getopt_long(argc, argv, letters, known, NULL)) != -1) {
		main_take(taken);
		*letter = taken;
		if (!strchr(common, taken) && !strchr(own, taken))
			strcat(own, letter);
	}
	if (optind == argc) {
		usage_print(stderr);
		return EXIT_ERROR;
	}
	found = main_find(argv[optind]);
	for (word = own; *word; word++)
		if (!strchr(commands[found].letters, *word))
			errx(EXIT_ERROR, "%s does not accept that option: collsock --help",
			     commands[found].name);
	return main_flush(commands[found].run(argv + optind + 1));
}
