/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turns: what groups do in softirq besides receiving, when a timer has expired or an event has
 * left work. One such turn is short, but there may be thousands of groups. So each CPU has a
 * queue, which a tasklet works through, for at most half of each millisecond; packets and processes
 * have the rest. Turns go round-robin over users, and within a user over groups, however many
 * groups a user has. In a container that root has made, its root can be any number of users, so all
 * of them count as one here (user.h). While few timers expire, and nothing is queued, their turns
 * begin at once.
 */
#ifndef COLL_TURNS_H
#define COLL_TURNS_H

#include <linux/list.h>
#include <linux/types.h>

struct turns_cpu;

/**
 * struct coll_turn - of one group
 * @link: in the queue of its user on a CPU; empty if it is not queued
 * @cpu: the CPU on which it was queued last
 * @user: number of the queue of its user
 * @take: called for each turn, in softirq and under RCU, when it is not queued
 */
struct coll_turn {
	struct list_head	link;
	struct turns_cpu	*cpu;
	u32			user;
	void			(*take)(struct coll_turn *turn);
};

void coll_turns_init(void);
void coll_turns_uninit(void);

void coll_turns_set_up(struct coll_turn *turn, u64 share, void (*take)(struct coll_turn *turn));
void coll_turns_release(struct coll_turn *turn);
void coll_turns_add(struct coll_turn *turn);
void coll_turns_expire(struct coll_turn *turn);
void coll_turns_cancel(struct coll_turn *turn);

#endif
