/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Posting and completing: send, recv, RUN and WAIT. What they promise is in
 * Documentation/uapi.md; in short:
 *
 * - A post either is accepted, or has changed nothing. EAGAIN always means the
 *   latter, ENOBUFS that completions must be received first.
 * - Once RUN has posted it ends with the completion, or with EINPROGRESS or
 *   EINTR; then the completion comes by recv or WAIT. It is never restarted.
 * - A completion that does not fit stays.
 *
 * Nothing here takes lock_sock.
 */
#ifndef COLL_IO_H
#define COLL_IO_H

#include <linux/net.h>

int coll_io_send(struct socket *sock, struct msghdr *msg, size_t bytes);
int coll_io_recv(struct socket *sock, struct msghdr *msg, size_t room, int flags);
int coll_io_run(struct socket *sock, void __user *arg);
int coll_io_wait(struct socket *sock, void __user *arg);

#endif
