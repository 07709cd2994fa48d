/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Files in memory count against RLIMIT_FSIZE (ulimit -f), and to write more sends SIGXFSZ, which
 * ends a program that does not expect it. Between these two calls of a thread such a write is just
 * an error, EFBIG.
 */
#ifndef COLLSOCK_FILE_SIZE_H
#define COLLSOCK_FILE_SIZE_H

#include <signal.h>
#include <stdbool.h>

/**
 * struct file_size - what was before
 * @usual: signals that the thread blocked
 * @pending: one was pending, which is the program's
 */
struct file_size {
	sigset_t	usual;
	bool		pending;
};

void file_size_begin(struct file_size *before);

/* @err: of what was between, 0 or a negative errno. Return: the same */
int file_size_end(const struct file_size *before, int err);

#endif
