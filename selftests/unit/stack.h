/* SPDX-License-Identifier: GPL-2.0 */
/* What a function leaves on its stack, which is memory that others are given */
#ifndef UNIT_STACK_H
#define UNIT_STACK_H

#include <pthread.h>

#include "base.h"

static u8 unit_stack[1 << 18] __aligned(4096);
static void (*unit_on_stack)(void);

/* The end of a thread overwrites what is next to the stack's beginning. */
static void *unit_stack_enter(void *unused)
{
	u8 distance[1 << 16];

	explicit_bzero(distance, 1);
	unit_on_stack();
	return distance[0] ? unused : NULL;
}

/* Call @function on a stack of its own, which is empty before. False if that fails. */
static bool unit_stack_run(void (*function)(void))
{
	pthread_attr_t attributes;
	pthread_t thread;

	memset(unit_stack, 0, sizeof(unit_stack));
	unit_on_stack = function;
	return !pthread_attr_init(&attributes) &&
	       !pthread_attr_setstack(&attributes, unit_stack, sizeof(unit_stack)) &&
	       !pthread_create(&thread, &attributes, unit_stack_enter, NULL) &&
	       !pthread_join(thread, NULL);
}

/* Has that stack one of these words of 8 bytes, at any address? */
static bool unit_stack_has(const void *words, size_t count)
{
	size_t at, i;

	for (at = 0; at + 8 <= sizeof(unit_stack); at++)
		for (i = 0; i < count; i++)
			if (!memcmp(unit_stack + at, (const u8 *)words + 8 * i, 8))
				return true;
	return false;
}

#endif
