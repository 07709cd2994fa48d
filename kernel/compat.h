/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between the kernels that the module is built for, from 6.1 on.
 * Nothing outside this file asks for the version of the kernel.
 */
#ifndef COLL_COMPAT_H
#define COLL_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/sysctl.h>
#include <linux/version.h>
#include <net/net_namespace.h>

/* 6.11: handlers of sysctls get a constant table. */
#if KERNEL_VERSION(6, 11, 0) <= LINUX_VERSION_CODE
#define COLL_CTL_TABLE	const struct ctl_table
#else
#define COLL_CTL_TABLE	struct ctl_table
#endif

/* 6.6: tables are counted, and need no empty entry at their end any more. */
static inline struct ctl_table_header *
coll_register_net_sysctl(struct net *net, const char *path, struct ctl_table *table,
			 size_t entries)
{
#if KERNEL_VERSION(6, 6, 0) <= LINUX_VERSION_CODE
	return register_net_sysctl_sz(net, path, table, entries);
#else
	return register_net_sysctl(net, path, table);
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
