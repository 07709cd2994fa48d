/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The platform in user space, as the library's calls use it: a member of this process does the work
 * of a socket of the kernel. Functions return the same as the system calls, as negative errnos;
 * in a forked child -ECHILD.
 */
#ifndef COLLSOCK_USER_H
#define COLLSOCK_USER_H

#include <stdbool.h>

#include "internal.h"

struct user_member;

/* A rank that has not joined; @fd: out: its descriptor. 0, or a negative errno */
int user_open(struct user_member **made, bool nonblocking, int *fd);

/* The program knows its descriptor from now on, and may change its settings. */
void user_expose(struct user_member *m);

/*
 * The handle is closed, and @fd, its descriptor; the member lingers while operations are under way.
 * If calls of other threads wait, this takes effect when the last of them returns.
 */
void user_close(struct user_member *m, int fd);

/*
 * JOIN with these bytes. @fd: the socket that is bound to the address of this rank, which is the
 * member's from now on, even after an error; or -1: it is bound now.
 */
int user_join(struct user_member *m, const void *request, size_t bytes, int fd);

/* Once the member has left, keep answering packets to it for as long as this process lives. */
void user_answer_always(struct user_member *m);

int user_send(struct user_member *m, const struct collsock_post *post, const void *payload,
	      size_t payload_bytes);
int user_receive(struct user_member *m, struct collsock_completion *completion, void *result,
		 size_t result_bytes);

/**
 * struct user_run - a call that posts and waits, or only waits
 * @spin_us: as in struct collsock_run
 * @payload: see there
 * @payload_bytes: likewise
 * @result: likewise
 * @result_bytes: likewise
 */
struct user_run {
	unsigned int	spin_us;
	const void	*payload;
	size_t		payload_bytes;
	void		*result;
	size_t		result_bytes;
};

/* Post, and wait. Signals do not end this, unless posting may give up. */
int user_run(struct user_member *m, const struct collsock_post *post, const struct user_run *run,
	     struct collsock_completion *completion);
int user_wait_for(struct user_member *m, __u64 cookie, const struct user_run *run,
		  struct collsock_completion *completion);

/* getsockopt() of COLLSOCK_STATS and so on: bytes of the answer */
int user_query(struct user_member *m, int option, void *answer, size_t bytes);

/* A report on members of this user on this machine: a file (user_report.h); or a negative errno */
int user_report(void);

/* The page of a member that has joined */
int user_page(struct user_member *m, const struct collsock_page **page);

#endif
