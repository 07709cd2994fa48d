/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A substitute for the kernel: it records the library's requests and returns the answers
 * that a test has prepared. The linker redirects the calls here.
 */
#ifndef FAKE_KERNEL_H
#define FAKE_KERNEL_H

#include <ifaddrs.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include <collsock.h>

#define FAKE_BYTES (2 * COLLSOCK_MAX_RESULT)
#define FAKE_ANSWERS 8

/**
 * struct fake_run - the buffer of RUN, and its payload
 * @head: its head
 * @post: follows
 * @completion: follows
 * @data: the payload
 */
struct fake_run {
	struct collsock_run		head;
	struct collsock_post		post;
	struct collsock_completion	completion;
	__u8				data[];
};

/**
 * struct fake_answer - answer to one ioctl() or recvmsg()
 * @error: errno, or 0
 * @is_end: recvmsg() returns 0
 * @completion: completion to return
 * @result: its result, of @completion.bytes
 */
struct fake_answer {
	int				error;
	bool				is_end;
	struct collsock_completion	completion;
	const void			*result;
};

/**
 * struct fake_kernel - state of the substitute
 * @sent: the last setsockopt() or sendmsg(), or the buffer of the last ioctl() and its payload
 * @family: argument of socket()
 * @type: argument of socket()
 * @send_timeout_s: SO_SNDTIMEO of the socket
 * @error: errno of socket(), setsockopt(), getsockopt() and sendmsg()
 * @option: of the last setsockopt() or getsockopt()
 * @self: answer to getsockopt(COLLSOCK_SELF), if its size is not 0
 * @devices: answer to getsockopt(COLLSOCK_DEVICES); without a size it is unknown
 * @sent_bytes: its length
 * @flags: of the last sendmsg()
 * @answers: to ioctl() and recvmsg(), in order
 * @requests: requests of the ioctl()s made
 * @calls: number of ioctl()s and recvmsg()s made
 * @addresses: of this host, as text: 10.1.0.1, 52:54:00:12:34:01, or with interface and network,
 *	eth0=10.1.0.1/24, eth0=52:54:00:12:34:01; ends with NULL. Interfaces
 *	whose names begin with "unplugged" have no carrier.
 */
struct fake_kernel {
	__u8			sent[FAKE_BYTES];
	int			family;
	int			type;
	int			send_timeout_s;
	int			error;
	int			option;
	struct collsock_self	self;
	struct collsock_devices	devices;
	size_t			sent_bytes;
	int			flags;
	struct fake_answer	answers[FAKE_ANSWERS];
	unsigned long		requests[FAKE_ANSWERS];
	unsigned int		calls;
	const char		*addresses[8];
};

extern struct fake_kernel fake;

/* Redirected here by the linker */
int __wrap_socket(int family, int type, int protocol);
int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t bytes);
int __wrap_getsockopt(int fd, int level, int option, void *value, socklen_t *bytes);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags);
int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_getifaddrs(struct ifaddrs **addresses);
void __wrap_freeifaddrs(struct ifaddrs *addresses);

/* In test_team_threads alone, which passes them on */
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __real_clock_gettime(clockid_t clock, struct timespec *now);
long __wrap_syscall(long number, ...);
long __real_syscall(long number, ...);

#endif
