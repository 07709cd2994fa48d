// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "latecomers.h"
#include "launch_find.h"
#include "launch_port.h"
#include "launch_prepare.h"
#include "meeting_self.h"
#include "port.h"
#include "program.h"
#include "run.h"
#include "socket.h"
#include "start.h"
#include "user_port.h"
#include "user_udp.h"

/* Exit status, as of env(1) and others that start a program */
#define RUN_FAILED	125	/* run itself has failed */
#define RUN_CANNOT	126	/* the program cannot be started */
#define RUN_NOT_FOUND	127	/* there is no such program */
#define RUN_SIGNALED	128	/* plus the number of the signal that ended it */

/* ---- the program ---- */

/* Returns the exit status. */
static int run_say_error(const char *program, int error)
{
	/* Whole lines, as other ranks may print there, too. */
	setlinebuf(stderr);
	warnx("%s: %s", program, strerror(-error));
	return error == -ENOENT ? RUN_NOT_FOUND : RUN_CANNOT;
}

[[gnu::noreturn]] static void run_program(char **words)
{
	execvp(*words, words);
	_exit(run_say_error(*words, -errno));
}

static void run_set(const char *name, const char *value)
{
	if (setenv(name, value, 1))
		err(RUN_FAILED, "%s", name);
}

static void run_set_number(const char *name, uint32_t number)
{
	char value[16];

	snprintf(value, sizeof(value), "%u", number);
	run_set(name, value);
}

static void run_set_rank(const struct launch_values *values, uint32_t rank, uint32_t ranks)
{
	run_set(LAUNCH_REQUEST, values->request);
	/* An empty variable is one that is not set. */
	run_set(LAUNCH_SOCKET, values->socket);
	run_set_number("COLLSOCK_RANK", rank);
	run_set_number("COLLSOCK_RANKS", ranks);
}

/* ---- one rank ---- */

/* The program takes the place of this process. */
static int run_rank(char **words)
{
	struct launch_values values;
	char text[MEETING_TEXT];
	struct launch launch;
	int error = launch_find(&launch, text, sizeof(text)), no_program, status;

	if (error)
		errx(RUN_FAILED, "%s", text);
	no_program = program_find(*words);
	if (no_program)
		status = run_say_error(*words, no_program);
	error = launch_prepare(&launch, no_program, &values, text, sizeof(text));
	if (no_program)
		return status;
	if (error)
		errx(RUN_FAILED, "%s", text);
	run_set_rank(&values, launch.rank, launch.ranks);
	run_program(words);
}

/* ---- all ranks, on this host ---- */

/**
 * struct run - the ranks
 * @group: of them
 * @ranks: number of them
 * @port: UDP port of those with the kernel
 * @running: how many have not ended
 * @status: exit status of the first that failed, or 0
 * @pid: of each
 * @socket: of each in user space, else -1. All are kept until this process ends: the port of a rank
 *	that is killed would be free at once, and the others send to it for a while.
 */
struct run {
	struct collsock_group	*group;
	uint32_t	ranks;
	__u16		port;
	uint32_t	running;
	int		status;
	pid_t		pid[COLLSOCK_MAX_LOCAL_RANKS];
	int		socket[COLLSOCK_MAX_LOCAL_RANKS];
};

/* Advice about an error of a rank that is to be started, to be printed after the error */
static const char *run_advice(int error)
{
	switch (-error) {
	case EADDRINUSE:
	case EINVAL:
		return ": COLLSOCK_USER_PORTS, by default " USER_PORTS;
	case EMFILE:
		return ": see ulimit -n; each rank needs a file here";
	default:
		return "";
	}
}

/* With the kernel all ranks share a port. */
static __u16 run_read_port(void)
{
	struct collsock_options options = { .size = sizeof(options) };
	char text[MEETING_TEXT];

	if (launch_port(&options, text, sizeof(text)))
		errx(RUN_FAILED, "%s", text);
	return options.port ? options.port : socket_port();
}

/* In user space each rank has a port of its own. Returns its port. */
static __u16 run_take_port(struct run *run, uint32_t rank, bool user)
{
	static const struct collsock_options options = { .bearer = COLLSOCK_BEARER_UDP };
	struct joining_host here = {
		.addresses = 1,
		.address = { { .family = AF_INET, .reach = JOINING_REACH_HOST,
			       .bytes = { 127, 0, 0, 1 } } },
	};
	struct user_ports ports;
	int error;

	run->socket[rank] = -1;
	if (!user)
		return run->port;
	user_ports_init(&ports);
	error = user_ports_reserve(&ports, &here, &options);
	if (error)
		errx(RUN_FAILED, "rank %u: %s%s", rank, strerror(-error), run_advice(error));
	run->socket[rank] = user_ports_take(&ports, 0);
	return here.port;
}

/* Nobody else needs to know the key: it is random, and goes to the ranks only. */
static struct collsock_group *run_make_group(struct run *run, bool user)
{
	struct {
		__u64	id;
		__u64	nonce;
		__u8	key[COLLSOCK_KEY_BYTES];
	} random;
	struct collsock_group *group;
	uint32_t rank;
	int error;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		err(RUN_FAILED, "no random numbers");
	error = collsock_group_new(&group, random.id, random.nonce, random.key);
	for (rank = 0; !error && rank < run->ranks; rank++)
		error = collsock_group_add_host(group, "127.0.0.1", run_take_port(run, rank, user));
	if (error)
		errx(RUN_FAILED, "group of %u ranks: %s", run->ranks, strerror(-error));
	collsock_group_request(group)->max_bytes = COLLSOCK_DEFAULT_MAX_BYTES;
	explicit_bzero(&random, sizeof(random));
	return group;
}

static void run_start(struct run *run, uint32_t rank, const sigset_t *usual, char **words)
{
	struct launch_values values = { .socket = "" };
	int fd = launch_request_write(run->group, rank, values.request);
	pid_t parent = getpid();

	if (fd < 0)
		errx(RUN_FAILED, "request of rank %u: %s%s", rank, strerror(-fd), run_advice(fd));
	run->pid[rank] = fork();
	if (run->pid[rank] < 0)
		err(RUN_FAILED, "rank %u", rank);
	if (run->pid[rank]) {
		close(fd);
		run->running++;
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* It may have ended before. */
	if (getppid() != parent)
		_exit(RUN_FAILED);
	sigprocmask(SIG_SETMASK, usual, NULL);
	if (run->socket[rank] >= 0 &&
	    launch_request_pass_socket(run->socket[rank], values.socket))
		err(RUN_FAILED, "socket of rank %u", rank);
	run_set_rank(&values, rank, run->ranks);
	run_program(words);
}

static uint32_t run_find(const struct run *run, pid_t pid)
{
	uint32_t rank = 0;

	while (rank < run->ranks && run->pid[rank] != pid)
		rank++;
	return rank;
}

static bool run_has_joined(const struct run *run, uint32_t rank)
{
	return run->socket[rank] >= 0 && user_udp_has_joined(run->socket[rank]);
}

/*
 * The others may wait for it already, or join later: for one that has failed before it joined, or
 * has joined in user space, and then perhaps ended silently. Returns a text for the message.
 */
static const char *run_decline(const struct run *run, uint32_t rank, int status)
{
	if (!run->running || (!status && !run_has_joined(run, rank)) ||
	    launch_request_decline(run->group, rank, run->socket[rank]))
		return "";
	return ", before it joined";
}

static void run_report(struct run *run, uint32_t rank, int status)
{
	const char *when;

	run->pid[rank] = 0;
	run->running--;
	when = run_decline(run, rank, status);
	if (!status)
		return;
	if (WIFSIGNALED(status))
		warnx("rank %u was ended by signal %d (%s)%s", rank, WTERMSIG(status),
		      strsignal(WTERMSIG(status)), when);
	else
		warnx("rank %u: exit status %d%s", rank, WEXITSTATUS(status), when);
	if (!run->status)
		run->status = WIFSIGNALED(status) ? RUN_SIGNALED + WTERMSIG(status) :
						    WEXITSTATUS(status);
}

static void run_reap(struct run *run)
{
	uint32_t rank;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		rank = run_find(run, pid);
		if (rank < run->ranks)
			run_report(run, rank, status);
	}
}

/*
 * Has the kernel sent it to that rank, too? Signals of keys go to the process group, but SIGHUP at
 * the end of the terminal only to the leader of its session.
 */
static bool run_has_signal(pid_t rank, const siginfo_t *signal)
{
	if (signal->si_code != SI_KERNEL ||
	    (signal->si_signo == SIGHUP && getsid(0) == getpid()))
		return false;
	return getpgid(rank) == getpgrp();
}

static void run_pass_signal(const struct run *run, const siginfo_t *signal)
{
	uint32_t rank;

	if (signal->si_signo == SIGCHLD)
		return;
	for (rank = 0; rank < run->ranks; rank++)
		if (run->pid[rank] && !run_has_signal(run->pid[rank], signal))
			kill(run->pid[rank], signal->si_signo);
}

static void run_block_signals(sigset_t *blocked, sigset_t *usual)
{
	static const int signals[] = {
		SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2,
	};
	unsigned int i;

	/* Without its default, there would be no status to wait for. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(blocked);
	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaddset(blocked, signals[i]);
	sigprocmask(SIG_BLOCK, blocked, usual);
}

/* Loopback is down in a new network namespace: the ranks would wait for each other. */
static void run_check_loopback(void)
{
	const struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(1),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof(to)))
		err(RUN_FAILED, "127.0.0.1 is not reached here: is lo up (ip link set lo up)?");
	close(fd);
}

/* Returns the number of a signal, or an error after some time if @looks. */
static int run_await_signal(const sigset_t *blocked, siginfo_t *signal, bool looks)
{
	const struct timespec pause = { .tv_nsec = LATECOMERS_EVERY_MS * 1000000 };

	return looks ? sigtimedwait(blocked, signal, &pause) : sigwaitinfo(blocked, signal);
}

/* The ranks have a terminal in common: that some wait for others is printed once, from here. */
static void run_until_all_end(struct run *run, const sigset_t *blocked)
{
	struct latecomers latecomers = {
		.id = collsock_group_request(run->group)->id, .ranks = run->ranks
	};
	siginfo_t signal;
	bool looks = true;

	while (run->running) {
		if (run_await_signal(blocked, &signal, looks) > 0) {
			run_pass_signal(run, &signal);
			run_reap(run);
		}
		looks = looks && run->running &&
			latecomers_look(&latecomers, run->socket);
	}
}

static int run_all(uint32_t ranks, char **words)
{
	struct run run = { .ranks = ranks, .port = run_read_port() };
	enum collsock_backend backend;
	sigset_t blocked, usual;
	uint32_t rank;
	int error = launch_choose_backend(&backend);

	if (error == -EINVAL)
		errx(RUN_FAILED, "COLLSOCK_BACKEND is none of kernel, user, auto");
	if (error)
		errx(RUN_FAILED, "no rank can have a socket: %s", strerror(-error));
	run_check_loopback();
	run.group = run_make_group(&run, backend == COLLSOCK_BACKEND_USER);
	prctl(PR_SET_NAME, PORT_KEEPER);
	run_block_signals(&blocked, &usual);
	for (rank = 0; rank < ranks; rank++)
		run_start(&run, rank, &usual, words);
	run_until_all_end(&run, &blocked);
	collsock_group_free(run.group);
	return run.status;
}

int run_command(int argc, char **argv)
{
	struct start start = { .usage = RUN_FAILED };
	char **words = start_parse(&start, argc, argv, "lrnRHpN");

	if (!*words)
		errx(RUN_FAILED, "run: which program? collsock run [OPTIONS] -- PROGRAM [WORD...]");
	return start.local ? run_all(start.local, words) : run_rank(words);
}
