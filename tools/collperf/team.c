// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "team.h"

#define TEXT_BYTES 512

enum {
	NO_TEAM, CENTRAL, MCS, DISSEMINATION, BARE_FUTEX, BARE_FUTEX_IOCTL,
};

static const char *const names[] = {
	[CENTRAL]	= "central",
	[MCS]		= "mcs",
	[DISSEMINATION]	= "dissemination",
	[BARE_FUTEX]	= "futex",
	[BARE_FUTEX_IOCTL] = "futex-ioctl",
};

static const char *const kinds[] = { "threads", "processes" };

/**
 * struct bare - the bare futex barrier
 * @arrived: members that have arrived
 * @sequence: number of barriers that are over
 * @null: a device without ioctls, for members that call one before; or 0
 */
struct bare {
	atomic_uint	arrived;
	atomic_uint	sequence;
	int		null;
};

/**
 * struct member - a member of the team
 * @team: or NULL
 * @bare: instead of it
 * @socket: of the rank that the team is
 * @plan: which team
 * @options: what to measure
 */
struct member {
	struct collsock_team		*team;
	struct bare			*bare;
	struct collsock			*socket;
	const struct team_options	*plan;
	const struct options		*options;
};

void team_parse(struct team_options *team, const char *text)
{
	char name[32] = "", *kind;

	strncpy(name, text, sizeof(name) - 1);
	kind = strchr(name, ':');
	if (kind)
		*kind++ = '\0';
	team->algorithm = options_parse_name("--team", name, names,
					     sizeof(names) / sizeof(*names));
	team->processes = kind && options_parse_name("--team", kind, kinds, 2);
}

const char *team_name(const struct team_options *team)
{
	return names[team->algorithm];
}

static void check(int error, __u32 failed_rank)
{
	char text[TEXT_BYTES];

	if (error)
		errx(EXIT_FAILED, "team: %s",
		     collsock_strerror(error, failed_rank, text, sizeof(text)));
}

static void run_team(void *context)
{
	struct collsock_team_culprit culprit;
	struct member *m = context;
	int error = collsock_team_barrier(m->team, &culprit);

	check(error, culprit.rank);
}

static void run_bare(void *context)
{
	struct member *m = context;
	unsigned int now = m->bare->sequence;
	int private = m->plan->processes ? 0 : FUTEX_PRIVATE_FLAG;

	if (m->bare->null)
		ioctl(m->bare->null, 0);
	if (++m->bare->arrived < m->plan->members) {
		while (m->bare->sequence == now)
			syscall(SYS_futex, &m->bare->sequence, FUTEX_WAIT | private, now, NULL,
				NULL, 0);
		return;
	}
	check(collsock_barrier(m->socket, NULL), COLLSOCK_NO_RANK);
	m->bare->arrived = 0;
	m->bare->sequence = now + 1;
	syscall(SYS_futex, &m->bare->sequence, FUTEX_WAKE | private, INT_MAX, NULL, NULL, 0);
}

static void member_measure(struct figures *figures, struct member *m)
{
	const struct work work = { .operation = m->team ? run_team : run_bare, .context = m };

	measure_warm_up(m->options, &work);
	measure(figures, m->options, &work);
}

static void *thread_main(void *context)
{
	struct figures figures;

	member_measure(&figures, context);
	return NULL;
}

static void combine(struct member *m)
{
	int error;

	if (!m->team)
		return;
	error = collsock_team_combine(m->team, m->socket);
	if (error == -EOPNOTSUPP)
		errx(EXIT_FAILED,
		     "--team: a rank in user space ends with its process, and cannot be a team of processes: use threads, or the module");
	check(error, COLLSOCK_NO_RANK);
	check(collsock_team_set_spin(m->team, m->options->spin_us), COLLSOCK_NO_RANK);
}

static void measure_threads(struct figures *figures, const struct member *model)
{
	struct collsock_team *teams[TEAM_MAX_MEMBERS] = { };
	static struct member members[TEAM_MAX_MEMBERS];
	pthread_t threads[TEAM_MAX_MEMBERS];
	unsigned int i, count = model->plan->members;

	if (!model->bare)
		check(collsock_team_new(teams, count, model->plan->algorithm, 0),
		      COLLSOCK_NO_RANK);
	for (i = 0; i < count; i++) {
		members[i] = *model;
		members[i].team = teams[i];
		combine(&members[i]);
		if (i && pthread_create(&threads[i], NULL, thread_main, &members[i]))
			errx(EXIT_FAILED, "no thread");
	}
	member_measure(figures, &members[0]);
	for (i = 1; i < count; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < count; i++)
		collsock_team_free(teams[i]);
}

static void member_open(struct member *m, int memfd, unsigned int number)
{
	if (!m->bare)
		check(collsock_team_open(&m->team, memfd, number), COLLSOCK_NO_RANK);
	combine(m);
}

static void on_child(int signal, siginfo_t *child, void *context)
{
	static const char text[] = "collperf: team: a member has ended\n";

	(void)signal;
	(void)context;
	if (child->si_code == CLD_EXITED && !child->si_status)
		return;
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(EXIT_FAILED);
}

/* Nothing else ends the wait for a member of a bare futex barrier. */
static void end_with_children(void)
{
	struct sigaction action = { .sa_sigaction = on_child, .sa_flags = SA_SIGINFO | SA_RESTART };

	sigaction(SIGCHLD, &action, NULL);
}

static void start_member(const struct member *model, int memfd, unsigned int number)
{
	struct member m = *model;
	struct figures figures;
	pid_t pid = fork();

	if (pid < 0)
		err(EXIT_FAILED, "team: a member cannot be started");
	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	member_open(&m, memfd, number);
	member_measure(&figures, &m);
	_exit(EXIT_DONE);
}

static void measure_processes(struct figures *figures, const struct member *model)
{
	unsigned int i, count = model->plan->members;
	struct member m = *model;
	int memfd = -1, status;

	if (!m.bare) {
		memfd = collsock_team_memfd(count, m.plan->algorithm, 0);
		check(memfd < 0 ? memfd : 0, COLLSOCK_NO_RANK);
	}
	if (m.bare)
		end_with_children();
	/* If this fails, it does so once. */
	member_open(&m, memfd, 0);
	for (i = 1; i < count; i++)
		start_member(&m, memfd, i);
	member_measure(figures, &m);
	for (i = 1; i < count; i++)
		if (wait(&status) < 0 || status)
			errx(EXIT_FAILED, "a member has ended");
	collsock_team_free(m.team);
}

static struct bare *bare_make(bool with_ioctl)
{
	struct bare *bare = mmap(NULL, sizeof(*bare), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (bare == MAP_FAILED)
		err(EXIT_FAILED, "memory");
	if (with_ioctl) {
		bare->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (bare->null < 0)
			err(EXIT_FAILED, "/dev/null");
	}
	return bare;
}

void team_measure(struct figures *figures, const struct options *options,
		  const struct team_options *team, struct collsock *socket)
{
	struct member model = { .socket = socket, .plan = team, .options = options };

	if (team->algorithm >= BARE_FUTEX)
		model.bare = bare_make(team->algorithm == BARE_FUTEX_IOCTL);
	if (team->processes)
		measure_processes(figures, &model);
	else
		measure_threads(figures, &model);
}
