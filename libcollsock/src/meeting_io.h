/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Bytes of known number, in a few parts, sent or received over a nonblocking TCP connection: no
 * more are read than were announced, so nothing is buffered.
 */
#ifndef COLLSOCK_MEETING_IO_H
#define COLLSOCK_MEETING_IO_H

#include <stddef.h>
#include <sys/uio.h>

#define MEETING_PARTS 3

/**
 * struct meeting_io - what is still to be sent or received
 * @part: the parts
 * @first: the first that is not finished
 * @parts: number of parts; all are finished if @first is the same
 */
struct meeting_io {
	struct iovec	part[MEETING_PARTS];
	unsigned int	first;
	unsigned int	parts;
};

static inline int meeting_io_done(const struct meeting_io *io)
{
	return io->first == io->parts;
}

/* Forget what is left, then add parts: at most MEETING_PARTS. */
static inline void meeting_io_clear(struct meeting_io *io)
{
	io->first = 0;
	io->parts = 0;
}

void meeting_io_add(struct meeting_io *io, const void *data, size_t bytes);

/*
 * Return: 0 if all parts are finished; -EAGAIN if the rest has to wait; -ECONNRESET if the other
 * side has ended the connection; or another negative errno.
 */
int meeting_io_send(struct meeting_io *io, int fd);
int meeting_io_receive(struct meeting_io *io, int fd);

#endif
