/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Texts for errors of joining: their meaning, and what to do */
#ifndef COLLSOCK_JOINING_TEXT_H
#define COLLSOCK_JOINING_TEXT_H

#include "joining.h"

/*
 * @tried: all ranks have joined, and the first barrier failed. Stores a text in @text, always
 * terminated if there is room.
 */
void joining_text(const struct joining *j, struct joining_outcome outcome, bool tried, char *text,
		  size_t bytes);

#endif
