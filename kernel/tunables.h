/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tunables of a network namespace. The default of each is a module parameter, which may
 * change at any time (sysfs); a namespace follows it until it is given a value of its own
 * (netlink).
 *
 * They are read when a group is joined or a call begins, never while a group runs: changes
 * do not affect existing groups. None determines a schedule.
 */
#ifndef COLL_TUNABLES_H
#define COLL_TUNABLES_H

#include <linux/bitmap.h>

#include "core/group.h"

#define TUNABLE(identifier, ...)	COLL_TUNABLE_##identifier,
enum coll_tunable {
#include "tunable_list.h"
	COLL_TUNABLES
};

#undef TUNABLE

/**
 * struct coll_tunables - tunables of a namespace
 * @own: one bit for each that has a value here
 * @value: these values
 */
struct coll_tunables {
	DECLARE_BITMAP(own, COLL_TUNABLES);
	u32	value[COLL_TUNABLES];
};

/**
 * struct coll_tunable_info - description of a tunable
 * @name: name of the tunable and of the module parameter
 * @unit: us, ms, KiB or nothing
 * @description: one line of text
 * @least: smallest allowed value
 * @most: largest allowed value
 */
struct coll_tunable_info {
	const char	*name;
	const char	*unit;
	const char	*description;
	u32		least;
	u32		most;
};

extern const struct coll_tunable_info coll_tunable_info[COLL_TUNABLES];

/* Is it about the port? */
static inline bool coll_tunable_is_port(enum coll_tunable which)
{
	return which == COLL_TUNABLE_PORT || which == COLL_TUNABLE_HOLD_PORT;
}

void coll_tunables_init(void (*port_changed)(void));
bool coll_tunable_is_machines(enum coll_tunable which);
bool coll_tunable_is_interval(enum coll_tunable which);
u32 coll_tunable_default(enum coll_tunable which);
u32 coll_tunable(const struct coll_tunables *t, enum coll_tunable which);
u32 coll_tunable_user_memory(const struct coll_tunables *t, u32 own);
void coll_tunable_set(struct coll_tunables *t, enum coll_tunable which, u32 value);
void coll_tunable_reset(struct coll_tunables *t, enum coll_tunable which);
void coll_tunables_timing(const struct coll_tunables *t, struct coll_timing *timing);

#endif
