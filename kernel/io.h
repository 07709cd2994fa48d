/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Posting and completing: send, recv, RUN and WAIT. Documentation/uapi.md has the details;
 * in short:
 *
 * - A post is either accepted or has no effect. EAGAIN always means the
 *   latter, ENOBUFS that completions must be received first.
 * - Once RUN has posted it returns the completion, or EINPROGRESS or EINTR;
 *   then recv or WAIT receives the completion. It is never restarted.
 * - A completion that does not fit is kept.
 *
 * Nothing here takes lock_sock.
 */
#ifndef COLL_IO_H
#define COLL_IO_H

#include <linux/net.h>

struct coll_sock;

int coll_io_send(struct socket *sock, struct msghdr *msg, size_t bytes);
int coll_io_recv(struct socket *sock, struct msghdr *msg, size_t room, int flags);
int coll_io_run(struct socket *sock, void __user *arg);
int coll_io_wait(struct socket *sock, void __user *arg);
void coll_io_shut_down(struct coll_sock *csk);

#endif
