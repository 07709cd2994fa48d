/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The launcher of this process. Launchers are tried in the order of a list, the innermost first.
 * Variables of a program with more rights than its user (setuid) are ignored.
 */
#ifndef COLLSOCK_LAUNCH_FIND_H
#define COLLSOCK_LAUNCH_FIND_H

#include "launch.h"

/**
 * launch_find() - read the launcher's variables
 * @launch: out
 * @text: receives why they are not enough, and what to do
 * @bytes: room there; MEETING_TEXT is enough
 *
 * Return: 0; -ENOENT if there is no launcher, or one that lacks something: @text lists what was
 * looked for, or what is missing; -EINVAL if some variables of a launcher are set and another one
 * is not, or is not valid: @text names it; -EBADF if the connection to the launcher is closed here.
 */
int launch_find(struct launch *launch, char *text, size_t bytes);

#endif
