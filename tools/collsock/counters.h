/* SPDX-License-Identifier: GPL-2.0 */
/* The meaning of the counters of a namespace and of a group. */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stdbool.h>

/**
 * struct counter - one number
 * @key: its name in the object; NULL ends a list
 * @metric: name for Prometheus, without "collsock_", with its unit
 * @gauge: it also goes down
 * @help: its meaning
 * @advice: what to do if it is not 0, or NULL if that is harmless
 */
struct counter {
	const char	*key;
	const char	*metric;
	bool		gauge;
	const char	*help;
	const char	*advice;
};

/* Counters of decode_net, of decode_group, and of its "stats" */
extern const struct counter counters_net[];
extern const struct counter counters_group[];
extern const struct counter counters_stats[];

#endif
