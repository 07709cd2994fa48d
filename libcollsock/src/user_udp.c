// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "user_udp.h"

#define ECN_MASK	3
#define ECN_CAPABLE	2	/* ECT(0): routers may mark packets instead of dropping them */
#define ECN_CE		3
#define BUFFER_BYTES	(4 << 20)	/* as much of it as the host allows */

/* More packets than the buffer holds, even if others send at the same time */
#define MOST_DISCARDED	(BUFFER_BYTES / 256)

/* Longest sleep: a filter, or the loss of its address, may keep the host from interrupting it. */
#define SLEEP_MS	200

#define ARRIVALS	(USER_UDP_BATCH + 1)

union udp_control {
	struct cmsghdr	head;
	u8		room[CMSG_SPACE(sizeof(int))];
};

/**
 * struct user_udp_arrivals - arguments of recvmmsg(), and of the one who sleeps: the last ones
 * @message: those
 * @part: where contents go
 * @from: where sources go
 * @control: where marks go
 */
struct user_udp_arrivals {
	struct mmsghdr		message[ARRIVALS];
	struct iovec		part[ARRIVALS];
	union user_address	from[ARRIVALS];
	union udp_control	control[ARRIVALS];
};

/* ---- the socket ---- */

static int udp_set(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) ? -errno : 0;
}

int user_udp_set_up(int fd, int family)
{
	const struct timeval longest = { .tv_usec = SLEEP_MS * 1000 };
	int err;

	udp_set(fd, SOL_SOCKET, SO_RCVBUF, BUFFER_BYTES);
	if (fcntl(fd, F_SETFL, 0) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof(longest)))
		return -errno;
	if (family == AF_INET) {
		err = udp_set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_INTERFACE);
		err = err ? err : udp_set(fd, IPPROTO_IP, IP_TOS, ECN_CAPABLE);
		return err ? err : udp_set(fd, IPPROTO_IP, IP_RECVTOS, 1);
	}
	err = udp_set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_INTERFACE);
	err = err ? err : udp_set(fd, IPPROTO_IPV6, IPV6_TCLASS, ECN_CAPABLE);
	return err ? err : udp_set(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
}

void user_udp_mark_joined(int fd)
{
	struct flock lock = { .l_type = F_WRLCK };

	udp_set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	/* A process need not have it locked to be a rank. */
	fcntl(fd, F_SETLK, &lock);
}

bool user_udp_has_joined(int fd)
{
	socklen_t bytes = sizeof(int);
	int joined = 0;

	return !getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &joined, &bytes) && joined;
}

static bool udp_find_lock(int fd, struct flock *lock)
{
	*lock = (struct flock){ .l_type = F_WRLCK };
	return !fcntl(fd, F_GETLK, lock) && lock->l_type != F_UNLCK;
}

bool user_udp_is_used(int fd)
{
	struct flock lock;

	return udp_find_lock(fd, &lock);
}

pid_t user_udp_user(int fd)
{
	struct flock lock;

	return udp_find_lock(fd, &lock) && lock.l_pid > 0 ? lock.l_pid : 0;
}

void user_udp_discard(int fd)
{
	unsigned int i = 0;

	while (i++ < MOST_DISCARDED && recv(fd, NULL, 0, MSG_DONTWAIT) >= 0)
		;
}

int user_udp_bind(const union user_address *a, socklen_t bytes)
{
	int fd = socket(a->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	err = user_udp_set_up(fd, a->any.sa_family);
	if (!err && a->any.sa_family == AF_INET6)
		err = udp_set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	if (!err && bind(fd, &a->any, bytes))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

static u8 *udp_contents(u8 *all, const struct user_udp *udp, u32 index)
{
	return all + (size_t)index * udp->stride;
}

static void udp_set_up_arrivals(struct user_udp *udp)
{
	struct user_udp_arrivals *a = udp->arrivals;
	u32 i;

	for (i = 0; i < ARRIVALS; i++) {
		a->part[i] = (struct iovec){ udp_contents(udp->received, udp, i), udp->stride };
		a->message[i].msg_hdr = (struct msghdr){
			.msg_name = &a->from[i], .msg_namelen = sizeof(a->from[i]),
			.msg_iov = &a->part[i], .msg_iovlen = 1,
			.msg_control = &a->control[i], .msg_controllen = sizeof(a->control[i]),
		};
	}
}

int user_udp_init(struct user_udp *udp, int fd, u32 packet_bytes)
{
	udp->fd = fd;
	/* One byte more, so that a longer packet is noticed. */
	udp->stride = round_up(packet_bytes + 1, 8);
	udp->sent = calloc(USER_UDP_BATCH, udp->stride);
	udp->received = calloc(ARRIVALS, udp->stride);
	udp->arrivals = calloc(1, sizeof(*udp->arrivals));
	if (!udp->sent || !udp->received || !udp->arrivals)
		return -ENOMEM;
	udp_set_up_arrivals(udp);
	udp->self_bytes = sizeof(udp->self);
	return getsockname(fd, &udp->self.any, &udp->self_bytes) ? -errno : 0;
}

void user_udp_free(struct user_udp *udp)
{
	free(udp->sent);
	free(udp->received);
	free(udp->arrivals);
	if (udp->fd >= 0)
		close(udp->fd);
	memset(udp, 0, sizeof(*udp));
	udp->fd = -1;
}

/* ---- send ---- */

u8 *user_udp_blank(struct user_udp *udp, u32 bytes)
{
	if (udp->count == USER_UDP_BATCH)
		user_udp_flush(udp);
	udp->packet[udp->count].bytes = bytes;
	return udp_contents(udp->sent, udp, udp->count);
}

void user_udp_send(struct user_udp *udp, u32 host, const struct collsock_member *to)
{
	struct user_udp_packet *p = &udp->packet[udp->count++];

	p->to_bytes = user_address_of(&p->to, to);
	p->host = host;
}

/* Note a packet that was not sent. Without room for the note, the packet is lost like any other. */
static void udp_note_unsent(struct user_udp *udp, u32 host, int error)
{
	if (udp->unsent_count < USER_UDP_BATCH)
		udp->unsent[udp->unsent_count++] = (struct user_udp_unsent){ host, error };
}

/* Most packets are alone, and need no message header. */
static void udp_send_one(struct user_udp *udp)
{
	const struct user_udp_packet *p = &udp->packet[0];

	if (sendto(udp->fd, udp->sent, p->bytes, MSG_DONTWAIT, &p->to.any, p->to_bytes) < 0)
		udp_note_unsent(udp, p->host, errno);
}

static void udp_send_several(struct user_udp *udp)
{
	struct mmsghdr m[USER_UDP_BATCH];
	struct iovec part[USER_UDP_BATCH];
	u32 i, first = 0;
	int sent;

	for (i = 0; i < udp->count; i++) {
		struct user_udp_packet *p = &udp->packet[i];

		part[i] = (struct iovec){ udp_contents(udp->sent, udp, i), p->bytes };
		m[i].msg_hdr = (struct msghdr){
			.msg_name = &p->to, .msg_namelen = p->to_bytes,
			.msg_iov = &part[i], .msg_iovlen = 1,
		};
	}
	while (first < udp->count) {
		sent = sendmmsg(udp->fd, m + first, udp->count - first, MSG_DONTWAIT);
		/* The error is that of the first packet. */
		if (sent <= 0)
			udp_note_unsent(udp, udp->packet[first].host, errno);
		first += sent > 0 ? sent : 1;
	}
}

void user_udp_flush(struct user_udp *udp)
{
	if (udp->count == 1)
		udp_send_one(udp);
	else if (udp->count)
		udp_send_several(udp);
	udp->count = 0;
}

u32 user_udp_queued(const struct user_udp *udp)
{
	int bytes = 0;

	return ioctl(udp->fd, SIOCOUTQ, &bytes) ? 0 : bytes;
}

/* ---- receive ---- */

static bool udp_is_marked(struct msghdr *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	u8 tos;

	/* With IPv4 it is a byte, with IPv6 a number in the byte order of the host. */
	if (!c)
		return false;
	if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) {
		memcpy(&tos, CMSG_DATA(c), sizeof(tos));
		return (tos & ECN_MASK) == ECN_CE;
	}
	if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS) {
		int class;

		memcpy(&class, CMSG_DATA(c), sizeof(class));
		return (class & ECN_MASK) == ECN_CE;
	}
	return false;
}

/*
 * Does it interrupt a sleep? An empty packet of a stranger is not a packet of a group, and does no
 * harm.
 */
static bool udp_is_interrupt(const struct user_udp *udp, const struct msghdr *m, u32 bytes)
{
	return !bytes && m->msg_namelen == udp->self_bytes &&
	       !memcmp(m->msg_name, &udp->self, udp->self_bytes);
}

static void udp_take(struct user_udp *udp, u32 index, u32 bytes,
		     void (*receive)(void *ctx, const struct user_udp_arrival *arrival), void *ctx)
{
	struct user_udp_arrivals *all = udp->arrivals;
	struct msghdr *m = &all->message[index].msg_hdr;
	const struct user_udp_arrival a = {
		.from = &all->from[index], .packet = all->part[index].iov_base,
		.bytes = bytes, .ce = udp_is_marked(m),
	};
	bool interrupt = udp_is_interrupt(udp, m, bytes);

	/* Reset these lengths, which the call has changed. */
	m->msg_namelen = sizeof(all->from[index]);
	m->msg_controllen = sizeof(all->control[index]);
	if (!interrupt)
		receive(ctx, &a);
}

u32 user_udp_receive(struct user_udp *udp)
{
	int count = recvmmsg(udp->fd, udp->arrivals->message, USER_UDP_BATCH, MSG_DONTWAIT, NULL);

	return count > 0 ? count : 0;
}

void user_udp_take_all(struct user_udp *udp, u32 count,
		       void (*receive)(void *ctx, const struct user_udp_arrival *arrival),
		       void *ctx)
{
	u32 i;

	for (i = 0; i < count; i++)
		udp_take(udp, i, udp->arrivals->message[i].msg_len, receive, ctx);
}

int user_udp_sleep(struct user_udp *udp)
{
	int bytes = recvmsg(udp->fd, &udp->arrivals->message[USER_UDP_BATCH].msg_hdr, 0);

	return bytes < 0 ? -errno : bytes;
}

int user_udp_poll(struct user_udp *udp, u64 ns)
{
	struct pollfd packets = { .fd = udp->fd, .events = POLLIN };
	const struct timespec most = { 0, min_t(u64, ns, SLEEP_MS * NSEC_PER_MSEC) };

	return ppoll(&packets, 1, &most, NULL) < 0 ? -errno : 0;
}

void user_udp_take(struct user_udp *udp, u32 bytes,
		   void (*receive)(void *ctx, const struct user_udp_arrival *arrival), void *ctx)
{
	udp_take(udp, USER_UDP_BATCH, bytes, receive, ctx);
}

void user_udp_interrupt(struct user_udp *udp)
{
	sendto(udp->fd, NULL, 0, MSG_DONTWAIT, &udp->self.any, udp->self_bytes);
}
