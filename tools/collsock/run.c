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

#include "group.h"
#include "latecomers.h"
#include "launch_find.h"
#include "launch_port.h"
#include "launch_prepare.h"
#include "meeting_clock.h"
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

/* How long the end of a rank in user space is told to those elsewhere that join later */
#define STAY_MS		COLLSOCK_DEFAULT_TIMEOUT_MS
#define MS_PER_S	1000
#define NS_PER_MS	1000000

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

/* ---- ranks ---- */

/**
 * struct run - the ranks that this process starts: all of a group, or one
 * @group: of them
 * @first: number of the first
 * @count: number of them
 * @port: UDP port of those with the kernel
 * @running: how many have not ended
 * @status: exit status of the first that failed, or 0
 * @asked_ms: when a signal asked this process to end, or 0
 * @stays: some time longer than its rank, to answer others
 * @names: of the hosts of all ranks, or NULL
 * @pid: of each
 * @ended: of each: its program has ended before it joined
 * @socket: of each in user space, else -1. All are kept until this process ends: the port of a rank
 *	that is killed would be free at once, and the others send to it for a while.
 */
struct run {
	struct collsock_group	*group;
	uint32_t	first;
	uint32_t	count;
	__u16		port;
	uint32_t	running;
	int		status;
	uint64_t	asked_ms;
	bool		stays;
	char *const	*names;
	pid_t		pid[COLLSOCK_MAX_LOCAL_RANKS];
	bool		ended[COLLSOCK_MAX_LOCAL_RANKS];
	int		socket[COLLSOCK_MAX_LOCAL_RANKS];
};

static bool run_has_all(const struct run *run)
{
	return run->count == run->group->request.ranks;
}

static void run_set_rank(const struct run *run, uint32_t i, const char *request)
{
	char socket[LAUNCH_REQUEST_BYTES] = "";

	if (run->socket[i] >= 0 && launch_request_pass_socket(run->socket[i], socket))
		err(RUN_FAILED, "socket of rank %u", run->first + i);
	run_set(LAUNCH_REQUEST, request);
	/* An empty variable is one that is not set. */
	run_set(LAUNCH_SOCKET, socket);
	run_set_number("COLLSOCK_RANK", run->first + i);
	run_set_number("COLLSOCK_RANKS", run->group->request.ranks);
}

/* @request: of the rank; @file: that it names */
static void run_start(struct run *run, uint32_t i, const char *request, int file,
		      const sigset_t *usual, char **words)
{
	pid_t parent = getpid();

	run->pid[i] = fork();
	if (run->pid[i] < 0)
		err(RUN_FAILED, "rank %u", run->first + i);
	if (run->pid[i]) {
		close(file);
		run->running++;
		return;
	}
	/* run blocks what would end it, so it was killed, or has failed. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* It may have ended before. */
	if (getppid() != parent)
		_exit(RUN_FAILED);
	sigprocmask(SIG_SETMASK, usual, NULL);
	run_set_rank(run, i, request);
	run_program(words);
}

static uint32_t run_find(const struct run *run, pid_t pid)
{
	uint32_t i = 0;

	while (i < run->count && run->pid[i] != pid)
		i++;
	return i;
}

static bool run_has_joined(const struct run *run, uint32_t i)
{
	return run->socket[i] >= 0 && user_udp_has_joined(run->socket[i]);
}

/*
 * Is this end of a rank to be told to the others? They may wait for it already, or join later. A
 * rank in user space that has joined may have ended silently.
 */
static bool run_is_told(const struct run *run, uint32_t i, int status)
{
	if (run_has_all(run))
		return run->running && (status || run_has_joined(run, i));
	return run_has_joined(run, i) ? WIFSIGNALED(status) : status;
}

/* Returns a text for the message. */
static const char *run_decline(struct run *run, uint32_t i, int status)
{
	bool answers = run->socket[i] >= 0 && !user_udp_is_used(run->socket[i]);
	int error;

	run->ended[i] = run->socket[i] >= 0 && !run_has_joined(run, i);
	if (!run_is_told(run, i, status))
		return "";
	error = launch_request_decline(run->group, run->first + i, run->socket[i]);
	run->stays = answers && (!error || error == -EADDRINUSE);
	if (error)
		return "";
	run->ended[i] = true;
	return ", before it joined";
}

static void run_report(struct run *run, uint32_t i, int status)
{
	uint32_t rank = run->first + i;
	const char *when;

	run->pid[i] = 0;
	run->running--;
	when = run_decline(run, i, status);
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
	uint32_t i;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		i = run_find(run, pid);
		if (i < run->count)
			run_report(run, i, status);
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

static void run_pass_signal(struct run *run, const siginfo_t *signal)
{
	uint32_t i;

	if (signal->si_signo == SIGCHLD)
		return;
	if (signal->si_signo != SIGUSR1 && signal->si_signo != SIGUSR2)
		run->asked_ms = meeting_clock_ms();
	for (i = 0; i < run->count; i++)
		if (run->pid[i] && !run_has_signal(run->pid[i], signal))
			kill(run->pid[i], signal->si_signo);
}

/* Blocks what would end this process, other than its own faults: the programs decide. */
static void run_begin(sigset_t *blocked, sigset_t *usual)
{
	static const int signals[] = {
		SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM,
		SIGPROF, SIGXCPU, SIGIO, SIGPWR,
	};
	sigset_t unread;
	unsigned int i;

	prctl(PR_SET_NAME, PORT_KEEPER);
	/* Without its default, there would be no status to wait for. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(blocked);
	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaddset(blocked, signals[i]);
	sigprocmask(SIG_BLOCK, blocked, usual);
	/* A report that nobody reads, or that has no room, must not end it. */
	sigemptyset(&unread);
	sigaddset(&unread, SIGPIPE);
	sigaddset(&unread, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &unread, NULL);
}

/* Programs survive some signals: one of long ago has not ended this rank. */
static bool run_is_asked(const struct run *run)
{
	return run->asked_ms && meeting_clock_ms() - run->asked_ms < STAY_MS;
}

/* Returns the number of a signal, or an error after some time if @looks. */
static int run_await_signal(const sigset_t *blocked, siginfo_t *signal, bool looks)
{
	const struct timespec pause = { .tv_nsec = LATECOMERS_EVERY_MS * 1000000 };

	return looks ? sigtimedwait(blocked, signal, &pause) : sigwaitinfo(blocked, signal);
}

/*
 * This process answers those that join later in place of its only rank. If it has several, it does
 * so while the others run.
 */
static void run_stay(struct run *run, const sigset_t *blocked)
{
	uint64_t end = meeting_clock_ms() + STAY_MS;
	struct timespec pause;
	siginfo_t signal;
	int left;

	while (run->stays && !run_has_all(run) && !run_is_asked(run)) {
		left = meeting_clock_left(end);
		if (!left)
			return;
		pause = (struct timespec){ left / MS_PER_S, left % MS_PER_S * NS_PER_MS };
		if (sigtimedwait(blocked, &signal, &pause) > 0) {
			run_pass_signal(run, &signal);
			run_reap(run);
		}
	}
}

/*
 * The ranks here have a terminal in common: that some wait for others is printed once, from here.
 * Returns the exit status.
 */
static int run_until_all_end(struct run *run, const sigset_t *blocked)
{
	const struct latecomers_ranks ranks = {
		.group = run->group, .first = run->first, .count = run->count,
		.socket = run->socket, .ended = run->ended, .names = run->names,
	};
	struct latecomers latecomers;
	siginfo_t signal;
	bool looks = true;

	latecomers_init(&latecomers, &ranks);
	while (run->running) {
		if (run_await_signal(blocked, &signal, looks) > 0) {
			run_pass_signal(run, &signal);
			run_reap(run);
		}
		looks = looks && run->running && latecomers_look(&latecomers);
	}
	latecomers_free(&latecomers);
	run_stay(run, blocked);
	collsock_group_free(run->group);
	return run->status;
}

/* ---- all ranks, on this host ---- */

/* Advice about an error of a rank that is to be started, to be printed after the error */
static const char *run_advice(int error)
{
	return error == -EMFILE ? ": see ulimit -n; each rank needs a file here" : "";
}

[[gnu::noreturn]] static void run_refuse_ports(const struct run *run, uint32_t rank, int error)
{
	char why[MEETING_TEXT];

	if (user_ports_explain(error, user_ports_named(), why, sizeof(why)))
		errx(RUN_FAILED, "rank %u of %u: %s", rank, run->count, why);
	errx(RUN_FAILED, "rank %u: %s%s", rank, strerror(-error), run_advice(error));
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
		run_refuse_ports(run, rank, error);
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
	for (rank = 0; !error && rank < run->count; rank++)
		error = collsock_group_add_host(group, "127.0.0.1", run_take_port(run, rank, user));
	if (error)
		errx(RUN_FAILED, "group of %u ranks: %s", run->count, strerror(-error));
	collsock_group_request(group)->max_bytes = COLLSOCK_DEFAULT_MAX_BYTES;
	explicit_bzero(&random, sizeof(random));
	return group;
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

static void run_start_here(struct run *run, uint32_t rank, const sigset_t *usual, char **words)
{
	char request[LAUNCH_REQUEST_BYTES];
	int file = launch_request_write(run->group, rank, request);

	if (file < 0)
		errx(RUN_FAILED, "request of rank %u: %s%s", rank, strerror(-file),
		     run_advice(file));
	run_start(run, rank, request, file, usual, words);
}

static int run_all(uint32_t ranks, char **words)
{
	struct run run = { .count = ranks, .port = run_read_port() };
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
	run_begin(&blocked, &usual);
	for (rank = 0; rank < ranks; rank++)
		run_start_here(&run, rank, &usual, words);
	return run_until_all_end(&run, &blocked);
}

/* ---- one rank ---- */

/* Return: 0, or why no program can be started here. */
static int run_find_program(const char *name)
{
	int error = program_find(name);
	pid_t pid;

	if (error)
		return error;
	/* There may be too many processes, of the user (RLIMIT_NPROC) or of the cgroup. */
	pid = fork();
	if (!pid)
		_exit(0);
	if (pid < 0)
		return -errno;
	waitpid(pid, NULL, 0);
	return 0;
}

static void run_prepare(struct launch *launch, struct launch_prepared *prepared, char **words)
{
	char text[MEETING_TEXT];
	int error = launch_find(launch, text, sizeof(text)), no_program, status = RUN_FAILED;

	if (error)
		errx(RUN_FAILED, "%s", text);
	no_program = run_find_program(*words);
	if (no_program)
		status = run_say_error(*words, no_program);
	error = launch_prepare(launch, no_program, prepared, text, sizeof(text));
	if (no_program)
		exit(status);
	if (error)
		errx(RUN_FAILED, "%s", text);
}

static int run_rank(const struct start *start, char **words)
{
	struct launch_prepared prepared;
	sigset_t blocked, usual;
	struct launch launch;
	struct run run;

	run_prepare(&launch, &prepared, words);
	run = (struct run){
		.group = prepared.group, .first = launch.rank, .count = 1,
		.names = start->names, .socket = { prepared.socket },
	};
	run_begin(&blocked, &usual);
	run_start(&run, 0, prepared.request, prepared.file, &usual, words);
	return run_until_all_end(&run, &blocked);
}

int run_command(int argc, char **argv)
{
	struct start start = { .usage = RUN_FAILED };
	char **words = start_parse(&start, argc, argv, "lrnRHpN");

	if (!*words)
		errx(RUN_FAILED, "run: which program? collsock run [OPTIONS] -- PROGRAM [WORD...]");
	return start.local ? run_all(start.local, words) : run_rank(&start, words);
}
