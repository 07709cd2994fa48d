/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between the kernels that the module is built for, from 6.1 on.
 * Nothing outside this file asks for the version of the kernel.
 */
#ifndef COLL_COMPAT_H
#define COLL_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/version.h>
#include <net/genetlink.h>

/* 6.6: what a dump was asked is kept in a struct genl_info. */
static inline struct nlattr **coll_genl_dump_attrs(struct netlink_callback *cb)
{
#if KERNEL_VERSION(6, 6, 0) <= LINUX_VERSION_CODE
	return genl_info_dump(cb)->attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

/* 6.13: the function of a timer is given when it is set up. */
static inline void coll_hrtimer_setup(struct hrtimer *timer,
				      enum hrtimer_restart (*function)(struct hrtimer *),
				      clockid_t clock, enum hrtimer_mode mode)
{
#if KERNEL_VERSION(6, 13, 0) <= LINUX_VERSION_CODE
	hrtimer_setup(timer, function, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = function;
#endif
}

#endif
