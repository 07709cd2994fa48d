// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "team_failure.h"
#include "team_flag.h"
#include "team_futex.h"

#define SPINS_PER_LOOK 64	/* at the clock */

static unsigned int flag_word(const struct collsock_team *team)
{
	return team->operation << 1;
}

static bool flag_is_set(const struct collsock_team *team, unsigned int word)
{
	return (int)((word & ~TEAM_SLEEPS) - flag_word(team)) >= 0;
}

void collsock_flag_set(const struct collsock_team *team, struct team_flag *flag)
{
	unsigned int before = atomic_exchange_explicit(&flag->word, flag_word(team),
						       memory_order_acq_rel);

	if (before & TEAM_SLEEPS)
		team_futex_wake(team, flag);
}

static void flag_relax(void)
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
			flag_relax();
		}
	} while (team_now_us() < end);
	return false;
}

/* Sleep until the flag is no longer @word. Returns the team's failure. */
static int flag_sleep(struct collsock_team *team, struct team_flag *flag, unsigned int word)
{
	/* A member that notes a failure after this sees that somebody sleeps. */
	int err = collsock_team_failure(team);

	if (!err)
		team_futex_wait(team, flag, word);
	else
		/* It may have set TEAM_SLEEPS again for one that is about to sleep. */
		collsock_team_wake(team, flag);
	return err;
}

int collsock_flag_wait(struct collsock_team *team, struct team_flag *flag)
{
	unsigned int word = atomic_load_explicit(&flag->word, memory_order_acquire);
	int err = 0;

	if (flag_is_set(team, word) || (team->spin_us && flag_spin(team, flag)))
		return 0;
	while (!flag_is_set(team, word) && !err) {
		if (word & TEAM_SLEEPS || atomic_compare_exchange_strong(&flag->word, &word,
									 word | TEAM_SLEEPS))
			err = flag_sleep(team, flag, word | TEAM_SLEEPS);
		word = atomic_load_explicit(&flag->word, memory_order_acquire);
		if (!err && !flag_is_set(team, word))
			err = collsock_team_look(team);
	}
	return err;
}
