// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <time.h>

#include "file_size.h"

static sigset_t file_size_signal(void)
{
	sigset_t signal;

	sigemptyset(&signal);
	sigaddset(&signal, SIGXFSZ);
	return signal;
}

void file_size_begin(struct file_size *before)
{
	const sigset_t signal = file_size_signal();
	sigset_t pending;

	pthread_sigmask(SIG_BLOCK, &signal, &before->usual);
	before->pending = !sigpending(&pending) && sigismember(&pending, SIGXFSZ) == 1;
}

/* The kernel sends it to this thread with that error, and to no other. */
int file_size_end(const struct file_size *before, int err)
{
	const sigset_t signal = file_size_signal();
	const struct timespec at_once = { 0 };

	if (err == -EFBIG && !before->pending)
		sigtimedwait(&signal, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &before->usual, NULL);
	return err;
}
