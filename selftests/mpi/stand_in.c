// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into the ranks of an MPI program on one machine, in place of the kernel: it
 * answers the calls of libcollsock-mpi on sockets of the family, and injects faults that
 * cannot be provoked in the kernel. All other calls go to the C library.
 *
 * Each rank is a separate host, or each STAND_IN_RANKS of them are one. All hosts have the kernel
 * of this machine, or one of their own if STAND_IN_KERNELS is set. Groups are in a file
 * shared by all ranks, STAND_IN_FILE; there are no packets. File descriptors refer to
 * /dev/null. It supports the operations that faults.c uses: barriers, and sums and broadcasts
 * of a few integers.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <linux/collsock.h>

#include "stand_in.h"

#define MOST_GROUPS 64
#define MOST_OPERATIONS 1024	/* of a group, from its beginning to its end */
#define MOST_RANKS 8
#define MOST_BYTES 32
#define MOST_DESCRIPTORS 1024
#define MOST_POLLED 128
#define LOOK_AGAIN_NS 200000L
#define NS_PER_MS 1000000ULL
#define NS_PER_S 1000000000ULL

/* The next definition of a function; the C library declares its name. */
#define NEXT(name) ({ \
	static __typeof__(name) *next; \
	if (!next) \
		next = dlsym(RTLD_NEXT, #name); \
	next; \
})

/**
 * struct operation - operation of a group
 * @post: post of the first rank
 * @arrived: ranks that have posted, one bit each
 * @last_ns: when the last rank posted
 * @data: sum so far, or the root's contribution
 */
struct operation {
	struct collsock_post	post;
	__u32		arrived;
	__u64		last_ns;
	__s32			data[MOST_BYTES / sizeof(__s32)];
};

/**
 * struct group - shared by all processes
 * @id: its id; 0 if the entry is free
 * @nonce: its nonce
 * @ranks: number of ranks
 * @left: ranks that have left, one bit each
 * @posted: number of operations that each rank has posted
 * @error: error from @failed_from on, or 0
 * @failed_from: number of the first operation that fails
 * @failed_rank: the rank that caused it
 * @operations: all operations
 */
struct group {
	__u64		id;
	__u64		nonce;
	__u32		ranks;
	__u32		left;
	__u32		posted[MOST_RANKS];
	__u32		error;
	__u32		failed_from;
	__u32		failed_rank;
	struct operation	operations[MOST_OPERATIONS];
};

/**
 * struct pending - a completion that has not been received
 * @cookie: of the post
 * @number: of the operation
 * @looks: number of times that the rank has looked whether it is complete
 */
struct pending {
	__u64	cookie;
	__u32	number;
	__u32	looks;
};

/**
 * struct member - a socket of this process
 * @group: NULL before it has joined
 * @rank: in the group
 * @window: of the group
 * @waits: number of COLLSOCK_WAIT calls so far
 * @count: number of @pending
 * @polls: number of calls that wait for it
 * @closed: the file descriptor is; the last of @polls releases it
 * @pending: in the order of posting
 */
struct member {
	struct group	*group;
	__u32		rank;
	__u32		window;
	__u32		waits;
	__u32		count;
	__u32		polls;
	bool		closed;
	struct pending	pending[COLLSOCK_MAX_WINDOW];
};

static struct member *members[MOST_DESCRIPTORS];
static struct group *groups;
static struct stand_in_fault fault;
static unsigned long taken;
static unsigned long slept;
static unsigned long longest_ns;
static unsigned long open_members;
static int file = -1;
static unsigned int own_rank;
static unsigned int own_host;
static bool own_kernel;
static pthread_mutex_t threads = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((constructor)) void begin(void)
{
	const size_t bytes = MOST_GROUPS * sizeof(struct group);
	const char *name = getenv("STAND_IN_FILE"), *rank = getenv("OMPI_COMM_WORLD_RANK");
	const char *ranks = getenv("STAND_IN_RANKS");

	if (!rank)
		rank = getenv("PMI_RANK");
	if (!name || !rank)
		return;
	own_rank = atoi(rank);
	own_host = own_rank / (ranks ? atoi(ranks) : 1);
	own_kernel = getenv("STAND_IN_KERNELS");
	file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (file < 0 || ftruncate(file, bytes))
		abort();
	groups = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (groups == MAP_FAILED)
		abort();
}

static void lock(void)
{
	pthread_mutex_lock(&threads);
	flock(file, LOCK_EX);
}

static void unlock(void)
{
	flock(file, LOCK_UN);
	pthread_mutex_unlock(&threads);
}

static __u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* Return value of a system call; @err is 0 or a negative errno. */
static int answer(int err)
{
	errno = -err;
	return err ? -1 : 0;
}

static struct member *member_of(int fd)
{
	return fd >= 0 && fd < MOST_DESCRIPTORS ? members[fd] : NULL;
}

/* ---- faults ---- */

__attribute__((visibility("default"))) void stand_in_fail(const struct stand_in_fault *wanted)
{
	fault = *wanted;
	taken = 0;
}

__attribute__((visibility("default"))) unsigned long stand_in_taken(void)
{
	return taken;
}

__attribute__((visibility("default"))) unsigned long stand_in_slept(unsigned long *longest)
{
	*longest = longest_ns;
	longest_ns = 0;
	return __atomic_exchange_n(&slept, 0, __ATOMIC_RELAXED);
}

__attribute__((visibility("default"))) unsigned long stand_in_open(void)
{
	return __atomic_load_n(&open_members, __ATOMIC_ACQUIRE);
}

/* Does the current fault apply here? */
static bool fails(enum stand_in_place place, unsigned int number)
{
	return fault.place == place && fault.rank == own_rank && fault.number == number;
}

/* Is this rank, or are all, cut off from messages? */
static bool is_cut_off(unsigned int number)
{
	return fault.place == STAND_IN_SILENT && number >= fault.number &&
	       (fault.rank == own_rank || fault.rank == STAND_IN_EVERY_RANK);
}

/* ---- groups ---- */

static struct group *group_find(const struct collsock_join *join)
{
	unsigned int i;

	for (i = 0; i < MOST_GROUPS; i++) {
		struct group *g = &groups[i];

		if (!g->id) {
			g->id = join->id;
			g->nonce = join->nonce;
			g->ranks = join->ranks;
		}
		if (g->id == join->id && g->nonce == join->nonce)
			return g;
	}
	return NULL;
}

static void group_fail(struct group *g, __u32 error, __u32 from, __u32 rank)
{
	if (g->error && g->failed_from <= from)
		return;
	g->error = error;
	g->failed_from = from;
	g->failed_rank = rank;
}

static int join(struct member *s, const struct collsock_join *join)
{
	if (fails(STAND_IN_JOIN, 0))
		return -(int)fault.error;
	if (join->ranks > MOST_RANKS)
		return -E2BIG;
	s->group = group_find(join);
	if (!s->group)
		return -ENOMEM;
	s->rank = join->rank;
	s->window = join->window;
	return 0;
}

/* Operations that it has posted complete; all others cannot. The lock is held. */
static void leave(struct member *s)
{
	if (s->group) {
		s->group->left |= 1U << s->rank;
		group_fail(s->group, ECONNRESET, s->group->posted[s->rank], s->rank);
	}
	free(s);
	__atomic_sub_fetch(&open_members, 1, __ATOMIC_RELEASE);
}

/* As in the kernel, it leaves only when no call waits for it any more. */
static void close_member(int fd)
{
	struct member *s = members[fd];

	lock();
	members[fd] = NULL;
	s->closed = true;
	if (!s->polls)
		leave(s);
	unlock();
}

/* ---- operations ---- */

static bool is_other(const struct collsock_post *one, const struct collsock_post *other)
{
	return one->operation != other->operation || one->type != other->type ||
	       one->op != other->op || one->root != other->root || one->count != other->count;
}

static size_t bytes_of(const struct collsock_post *post)
{
	return post->type == COLLSOCK_INT32 ? post->count * sizeof(__s32) : post->count;
}

static int check(const struct member *s, const struct collsock_post *post)
{
	bool sums = post->operation == COLLSOCK_ALLREDUCE || post->operation == COLLSOCK_REDUCE;

	if (!s->group)
		return -ENOTCONN;
	if (s->count == s->window || fault.place == STAND_IN_FULL)
		return -EAGAIN;
	if (s->group->posted[s->rank] == MOST_OPERATIONS || bytes_of(post) > MOST_BYTES)
		return -EMSGSIZE;
	return sums && (post->type != COLLSOCK_INT32 || post->op != COLLSOCK_SUM) ? -EINVAL : 0;
}

static void contribute(struct operation *o, const struct collsock_post *post,
		       const __u8 *payload, __u32 rank)
{
	__s32 value;
	__u32 i;

	if (post->operation == COLLSOCK_BROADCAST) {
		if (rank == post->root)
			memcpy(o->data, payload, bytes_of(post));
		return;
	}
	for (i = 0; i < post->count; i++) {
		memcpy(&value, payload + i * sizeof(value), sizeof(value));
		o->data[i] += value;
	}
}

/* @payload is not read if this rank does not contribute. */
static int post(struct member *s, const struct collsock_post *post, const __u8 *payload)
{
	struct group *g = s->group;
	struct operation *o;
	__u32 number;
	int err = check(s, post);

	if (err)
		return err;
	number = g->posted[s->rank];
	if (fails(STAND_IN_POST, number)) {
		fault.place = STAND_IN_NOWHERE;	/* once */
		return -(int)fault.error;
	}
	if (fault.place == STAND_IN_END && fault.number == number)
		group_fail(g, fault.error, number, fault.rank);
	o = &g->operations[number];
	if (!o->arrived)
		o->post = *post;
	else if (is_other(&o->post, post))
		group_fail(g, EPROTO, number, s->rank);
	contribute(o, post, payload, s->rank);
	o->arrived |= 1U << s->rank;
	o->last_ns = now_ns();
	g->posted[s->rank]++;
	s->pending[s->count++] = (struct pending){ post->cookie, number, 0 };
	return 0;
}

/* Can this rank receive the completion? Counts as a look. */
static bool is_complete(const struct member *s, struct pending *p)
{
	__u32 number = p->number;
	const struct operation *o = &s->group->operations[number];
	__u32 all = (1U << s->group->ranks) - 1, needed = all;

	if (is_cut_off(number))
		return false;
	if (fault.place == STAND_IN_LOOKS && ++p->looks < fault.number)
		return false;
	if (s->group->error && number >= s->group->failed_from)
		return true;
	if (o->post.operation == COLLSOCK_BROADCAST)
		needed = 1U << o->post.root;
	else if (o->post.operation == COLLSOCK_REDUCE && s->rank != o->post.root)
		needed = 1U << s->rank;
	if ((o->arrived & needed) != needed)
		return false;
	return fault.place != STAND_IN_SLOW || now_ns() >= o->last_ns + fault.number * NS_PER_MS;
}

static size_t result_bytes(const struct member *s, const struct collsock_post *post)
{
	switch (post->operation) {
	case COLLSOCK_ALLREDUCE:
		return bytes_of(post);
	case COLLSOCK_REDUCE:
		return s->rank == post->root ? bytes_of(post) : 0;
	case COLLSOCK_BROADCAST:
		return s->rank == post->root ? 0 : bytes_of(post);
	default:
		return 0;
	}
}

/* The completion of a pending operation that is complete. */
static int take(struct member *s, __u32 index, struct collsock_completion *c, void *result,
		size_t room)
{
	struct pending p = s->pending[index];
	const struct group *g = s->group;
	const struct operation *o = &g->operations[p.number];

	*c = (struct collsock_completion){
		.size		= sizeof(*c),
		.failed_rank	= COLLSOCK_NO_RANK,
		.cookie		= p.cookie,
		.completed_ns	= now_ns(),
	};
	if (g->error && p.number >= g->failed_from) {
		c->error = g->error;
		c->failed_rank = g->failed_rank;
	} else {
		c->bytes = result_bytes(s, &o->post);
	}
	if (c->bytes > room)
		return -EMSGSIZE;
	if (c->bytes)
		memcpy(result, o->data, c->bytes);
	memmove(&s->pending[index], &s->pending[index + 1],
		(--s->count - index) * sizeof(*s->pending));
	taken++;
	return 0;
}

/* The first one whose completion can be received; @s->count if there is none */
static __u32 first_complete(struct member *s)
{
	__u32 i;

	for (i = 0; i < s->count; i++)
		if (is_complete(s, &s->pending[i]))
			break;
	return i;
}

static int take_cookie(struct member *s, __u64 cookie, struct collsock_completion *c,
		       void *result, size_t room)
{
	__u32 i;

	for (i = 0; i < s->count; i++)
		if (s->pending[i].cookie == cookie)
			return is_complete(s, &s->pending[i]) ?
			       take(s, i, c, result, room) : -EAGAIN;
	return -ENOENT;
}

static int run(struct member *s, struct collsock_run *r)
{
	struct collsock_post *p = (void *)((__u8 *)r + r->size);
	struct collsock_completion *completion = (void *)((__u8 *)p + r->post_bytes);
	int err = post(s, p, (void *)(uintptr_t)r->payload);

	if (err)
		return err;
	/*
	 * RUN may always report that the operation is not complete yet, so that the fault
	 * can be in WAIT.
	 */
	if (fault.place == STAND_IN_WAIT)
		return -EINPROGRESS;
	err = take_cookie(s, p->cookie, completion, (void *)(uintptr_t)r->result,
			  r->result_bytes);
	return err == -EAGAIN ? -EINPROGRESS : err;
}

static int wait_for(struct member *s, struct collsock_wait *w)
{
	if (fails(STAND_IN_WAIT, s->waits++))
		return -(int)fault.error;
	return take_cookie(s, w->cookie, (void *)((__u8 *)w + w->size),
			   (void *)(uintptr_t)w->result, w->result_bytes);
}

/* ---- calls of the C library ---- */

int socket(int family, int type, int protocol)
{
	int fd;

	if (family != AF_COLLSOCK || file < 0)
		return NEXT(socket)(family, type, protocol);
	if (fails(STAND_IN_SOCKET, 0))
		return answer(-(int)fault.error);
	fd = open("/dev/null", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd >= MOST_DESCRIPTORS)
		abort();
	if (fd < 0)
		return fd;
	members[fd] = calloc(1, sizeof(*members[fd]));
	__atomic_add_fetch(&open_members, 1, __ATOMIC_RELAXED);
	return fd;
}

int close(int fd)
{
	if (member_of(fd))
		close_member(fd);
	return NEXT(close)(fd);
}

int dup3(int from, int to, int flags)
{
	if (member_of(to))
		close_member(to);
	return NEXT(dup3)(from, to, flags);
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t bytes)
{
	struct member *s = member_of(fd);
	int err;

	if (!s || level != SOL_COLLSOCK || option != COLLSOCK_JOIN)
		return NEXT(setsockopt)(fd, level, option, value, bytes);
	lock();
	err = join(s, value);
	unlock();
	return answer(err);
}

/* Reports only whether the group has failed for the rank */
int getsockopt(int fd, int level, int option, void *value, socklen_t *bytes)
{
	struct collsock_self *self = value;
	struct member *s = member_of(fd);

	if (!s || level != SOL_COLLSOCK || option != COLLSOCK_SELF)
		return NEXT(getsockopt)(fd, level, option, value, bytes);
	lock();
	if (s->group && s->group->error && s->group->posted[s->rank] >= s->group->failed_from) {
		self->error = s->group->error;
		self->failed_rank = s->group->failed_rank;
	}
	unlock();
	return 0;
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	struct member *s = member_of(fd);
	int err;

	if (!s)
		return NEXT(sendmsg)(fd, m, flags);
	lock();
	err = post(s, m->msg_iov[0].iov_base,
		   m->msg_iovlen > 1 ? m->msg_iov[1].iov_base : NULL);
	unlock();
	return answer(err) ? -1 : (ssize_t)m->msg_iov[0].iov_len;
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	struct member *s = member_of(fd);
	int err = -EAGAIN;
	__u32 i;

	if (!s)
		return NEXT(recvmsg)(fd, m, flags);
	lock();
	i = first_complete(s);
	if (i < s->count)
		err = take(s, i, m->msg_iov[0].iov_base,
			   m->msg_iovlen > 1 ? m->msg_iov[1].iov_base : NULL,
			   m->msg_iovlen > 1 ? m->msg_iov[1].iov_len : 0);
	unlock();
	return answer(err) ? -1 : (ssize_t)m->msg_iov[0].iov_len;
}

int ioctl(int fd, unsigned long request, ...)
{
	struct member *s = member_of(fd);
	va_list arguments;
	void *buffer;
	int err;

	va_start(arguments, request);
	buffer = va_arg(arguments, void *);
	va_end(arguments);
	if (!s)
		return NEXT(ioctl)(fd, request, buffer);
	lock();
	err = request == COLLSOCK_RUN ? run(s, buffer) : wait_for(s, buffer);
	unlock();
	return answer(err);
}

static short events_of(struct member *s, short wanted)
{
	short events = 0;

	if (!s->group)
		return POLLHUP;
	if (first_complete(s) < s->count)
		events |= wanted & POLLIN;
	if (s->count < s->window && fault.place != STAND_IN_FULL)
		events |= wanted & POLLOUT;
	return events;
}

static void hold(struct member **held, const struct pollfd *fds, nfds_t count)
{
	nfds_t i;

	lock();
	for (i = 0; i < count; i++) {
		held[i] = member_of(fds[i].fd);
		if (held[i])
			held[i]->polls++;
	}
	unlock();
}

static void let_go(struct member **held, nfds_t count)
{
	nfds_t i;

	lock();
	for (i = 0; i < count; i++)
		if (held[i] && !--held[i]->polls && held[i]->closed)
			leave(held[i]);
	unlock();
}

/* Check all once; returns the number of those with events, or -1. */
static int look(struct member **held, struct pollfd *fds, nfds_t count)
{
	int found = NEXT(poll)(fds, count, 0);
	nfds_t i;

	for (i = 0; found >= 0 && i < count; i++) {
		if (!held[i])
			continue;
		found -= !!fds[i].revents;
		lock();
		fds[i].revents = events_of(held[i], fds[i].events);
		unlock();
		found += !!fds[i].revents;
	}
	return found;
}

static bool has_member(const struct pollfd *fds, nfds_t count)
{
	nfds_t i;

	for (i = 0; i < count; i++)
		if (member_of(fds[i].fd))
			return true;
	return false;
}

static int look_until(struct pollfd *fds, nfds_t count, __u64 end)
{
	const struct timespec nap = { .tv_nsec = LOOK_AGAIN_NS };
	struct member *held[MOST_POLLED];
	int found;

	if (count > MOST_POLLED)
		abort();
	hold(held, fds, count);
	for (;;) {
		found = look(held, fds, count);
		if (found || now_ns() >= end)
			break;
		nanosleep(&nap, NULL);
	}
	let_go(held, count);
	return found;
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (!has_member(fds, count))
		return NEXT(poll)(fds, count, timeout);
	return look_until(fds, count, timeout < 0 ? ~0ULL : now_ns() + timeout * NS_PER_MS);
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	if (!has_member(fds, count))
		return NEXT(ppoll)(fds, count, timeout, mask);
	__atomic_add_fetch(&slept, 1, __ATOMIC_RELAXED);
	if (timeout && longest_ns < timeout->tv_sec * NS_PER_S + timeout->tv_nsec)
		longest_ns = timeout->tv_sec * NS_PER_S + timeout->tv_nsec;
	return look_until(fds, count, timeout ? now_ns() + timeout->tv_sec * NS_PER_S +
						timeout->tv_nsec : ~0ULL);
}

/* ---- hosts ---- */

int stat(const char *restrict path, struct stat *restrict found)
{
	int err = NEXT(stat)(path, found);

	if (!err && file >= 0 && !strcmp(path, "/proc/self/ns/net"))
		found->st_ino = own_host + 1;
	return err;
}

static int open_boot_id(void)
{
	int id = memfd_create("boot_id", MFD_CLOEXEC);

	if (id < 0 || dprintf(id, "%08x-0000-0000-0000-000000000000\n", own_host + 1) < 0 ||
	    lseek(id, 0, SEEK_SET))
		abort();
	return id;
}

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list more;

	if (own_kernel && !strcmp(path, "/proc/sys/kernel/random/boot_id"))
		return open_boot_id();
	if (flags & (O_CREAT | O_TMPFILE)) {
		va_start(more, flags);
		mode = va_arg(more, mode_t);
		va_end(more);
	}
	return NEXT(open)(path, flags, mode);
}

/**
 * struct interface - the only one of a host; freeifaddrs() frees it at once
 * @list: the list of interfaces, of one
 * @address: its address
 * @netmask: its netmask
 */
struct interface {
	struct ifaddrs		list;
	struct sockaddr_in	address;
	struct sockaddr_in	netmask;
};

int getifaddrs(struct ifaddrs **addresses)
{
	struct interface *i;

	if (file < 0)
		return NEXT(getifaddrs)(addresses);
	i = calloc(1, sizeof(*i));
	if (!i)
		return answer(-ENOMEM);
	i->address.sin_family = AF_INET;
	i->address.sin_addr.s_addr = htonl(0x0a630001 + own_host);	/* 10.99.0.1 */
	i->netmask.sin_addr.s_addr = htonl(0xffffff00);
	i->list = (struct ifaddrs){
		.ifa_name	= "stand-in",
		.ifa_flags	= IFF_UP,
		.ifa_addr	= (struct sockaddr *)&i->address,
		.ifa_netmask	= (struct sockaddr *)&i->netmask,
	};
	*addresses = &i->list;
	return 0;
}
