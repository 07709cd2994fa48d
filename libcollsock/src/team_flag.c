// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "team_failure.h"
#include "team_flag.h"

#define SLEEPS 1U		/* the lowest bit of a flag */
#define SPINS_PER_LOOK 64	/* at the clock */

static unsigned int flag_word(const struct collsock_team *team)
{
	return team->operation << 1;
}

static bool flag_is_set(const struct collsock_team *team, unsigned int word)
{
	return (int)((word & ~SLEEPS) - flag_word(team)) >= 0;
}

static int futex(const struct collsock_team *team, struct team_flag *flag, int command,
		 unsigned int value, const struct timespec *timeout)
{
	if (!team->is_process)
		command |= FUTEX_PRIVATE_FLAG;
	return syscall(SYS_futex, &flag->word, command, value, timeout, NULL, 0);
}

void collsock_flag_set(const struct collsock_team *team, struct team_flag *flag)
{
	unsigned int before = atomic_exchange_explicit(&flag->word, flag_word(team),
						       memory_order_acq_rel);

	if (before & SLEEPS)
		futex(team, flag, FUTEX_WAKE, INT_MAX, NULL);
}

static void relax(void)
{
#if __has_builtin(__builtin_ia32_pause)
	__builtin_ia32_pause();
#endif
}

static bool flag_spin(const struct collsock_team *team, struct team_flag *flag)
{
	__u64 end = team_now_us() + team->spin_us;
	int i;

	do {
		for (i = 0; i < SPINS_PER_LOOK; i++) {
			if (flag_is_set(team, atomic_load_explicit(&flag->word,
								   memory_order_acquire)))
				return true;
			relax();
		}
	} while (team_now_us() < end);
	return false;
}

/*
 * Sleep until the flag is no longer @word, which says that somebody sleeps. Processes wake up
 * to look whether another has ended.
 */
static void flag_sleep(const struct collsock_team *team, struct team_flag *flag,
		       unsigned int word)
{
	static const struct timespec look = { .tv_nsec = TEAM_LOOK_US * 1000 };

	futex(team, flag, FUTEX_WAIT, word, team->is_process ? &look : NULL);
}

int collsock_flag_wait(struct collsock_team *team, struct team_flag *flag)
{
	unsigned int word = atomic_load_explicit(&flag->word, memory_order_acquire);
	int err = 0;

	if (flag_is_set(team, word) || (team->spin_us && flag_spin(team, flag)))
		return 0;
	while (!flag_is_set(team, word) && !err) {
		if (word & SLEEPS || atomic_compare_exchange_strong(&flag->word, &word,
								    word | SLEEPS))
			flag_sleep(team, flag, word | SLEEPS);
		word = atomic_load_explicit(&flag->word, memory_order_acquire);
		if (!flag_is_set(team, word))
			err = collsock_team_look(team);
	}
	return err;
}
