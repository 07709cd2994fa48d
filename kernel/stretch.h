/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long the module's functions run with bottom halves off, in one stretch: from entering a
 * packet's hook, a timer, a turn or a call until leaving it. What the stack does with packets
 * handed over or freed is counted separately. Only in a module built with COLL_STRETCH=1, for
 * "bench stretch" (selftests/bench/stretch.c); otherwise all of it is compiled out.
 */
#ifndef COLL_STRETCH_H
#define COLL_STRETCH_H

enum coll_stretch_kind {
	COLL_STRETCH_PACKET,
	COLL_STRETCH_TIMER,
	COLL_STRETCH_TURN,
	COLL_STRETCH_CALL,
	COLL_STRETCH_KINDS,
};

#ifdef COLL_STRETCH

/* Bottom halves are off from the first to the second. */
void coll_stretch_begin(void);
void coll_stretch_end(enum coll_stretch_kind kind);

/* The stack is at work between these. */
void coll_stretch_stack_begin(void);
void coll_stretch_stack_end(void);

#else

static inline void coll_stretch_begin(void)
{
}

static inline void coll_stretch_end(enum coll_stretch_kind kind)
{
}

static inline void coll_stretch_stack_begin(void)
{
}

static inline void coll_stretch_stack_end(void)
{
}

#endif

#endif
