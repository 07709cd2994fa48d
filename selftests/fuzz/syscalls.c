// SPDX-License-Identifier: GPL-2.0
/*
 * Random and half-valid system calls on collective sockets, from many threads on several
 * hosts that share their sockets; among them groups that really work, and processes and
 * namespaces that end meanwhile.
 *
 *	syscalls SECONDS SEED HOSTS THREADS
 *
 * The only expectation is that calls return. At the end all sockets are closed, and a
 * summary line is printed. Then the scenario "syscalls" checks the kernel. A run lasts
 * longer than SECONDS until enough has happened.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/collsock.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define SLOTS		6	/* sockets of each host */
#define WORKERS		2	/* of each host */
#define MAX_HOSTS	8
#define MAX_THREADS	64
#define MAX_DATA	(COLLSOCK_DEFAULT_SEGMENT + 64)
#define LARGE_HOSTS	2000
#define MOST_LIVENESS_MS 1000	/* greatest value in a request */
#define GENERATION_MS	250	/* interval between new groups */
#define INTERRUPT_MS	60
#define TIMEOUT_US	50000
#define ENOUGH		10	/* joins, posts and successes */
#define AT_MOST_MS	30000	/* added to SECONDS on a slow machine */

/* File descriptor + 1, or 0. The first ones of a host belong to its workers. */
static atomic_int slots[MAX_HOSTS][SLOTS];
static atomic_bool over;
static atomic_ulong calls, joins, posts, successes, failures;
static unsigned int hosts, threads;
static __u64 seed;
static pthread_t thread_ids[MAX_THREADS];

/* A thread, or its copy in a child process */
struct fuzzer {
	unsigned int	host;
	__u64	chance;
	int		epoll;
	bool		child;
	unsigned int	worker;	/* from 0; WORKERS and above do anything */
	__u8		data[MAX_DATA + 256];
	__u8		memory[MAX_DATA];	/* payloads and results of RUN and WAIT */
};

/* SplitMix64 */
static __u64 mix(__u64 x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static __u64 draw(struct fuzzer *f)
{
	return mix(f->chance++);
}

static unsigned int below(struct fuzzer *f, unsigned int limit)
{
	return draw(f) % limit;
}

static bool one_in(struct fuzzer *f, unsigned int n)
{
	return !below(f, n);
}

static __u64 now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
}

/* Boundary values, and any numbers */
static __u32 odd_number(struct fuzzer *f)
{
	static const __u32 odd[] = { 0, 1, 2, 7, 48, 64, 65, 88, 1056, 8640, 65536, 0x7fffffff,
					0x80000000, 0xffffffff };

	return one_in(f, 3) ? draw(f) : odd[below(f, ARRAY_SIZE(odd))];
}

/* Overwrite parts of a structure. */
static void spoil(struct fuzzer *f, void *what, unsigned int bytes)
{
	__u8 *at = (__u8 *)what + below(f, bytes);
	__u32 value = odd_number(f);

	if (one_in(f, 2))
		*at ^= 1 << below(f, 8);
	else
		memcpy(at, &value, (size_t)(at - (__u8 *)what) + 4 <= bytes ? 4 : 1);
}

/* Memory that is unmapped, read-only, or too short */
static void *bad_pointer(struct fuzzer *f)
{
	static __u8 *page;

	if (!page) {
		__u8 *two = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		munmap(two + 4096, 4096);
		page = two;
	}
	switch (below(f, 4)) {
	case 0:
		return NULL;
	case 1:
		return (void *)(uintptr_t)draw(f);
	case 2:
		return (void *)"read-only";
	default:
		return page + 4096 - below(f, 100);
	}
}

/* ---- sockets ---- */

static int any_socket(struct fuzzer *f)
{
	unsigned int host = one_in(f, 10) ? below(f, hosts) : f->host;

	return atomic_load(&slots[host][below(f, SLOTS)]) - 1;
}

/* Put it in the place of another one, which is closed. */
static void keep(struct fuzzer *f, int fd)
{
	int before = atomic_exchange(&slots[f->host][WORKERS + below(f, SLOTS - WORKERS)], fd + 1);

	if (before)
		close(before - 1);
}

static void set_timeouts(int fd)
{
	struct timeval t = { .tv_usec = TIMEOUT_US };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t));
}

static int open_socket(struct fuzzer *f)
{
	int flags = SOCK_CLOEXEC | (one_in(f, 3) ? SOCK_NONBLOCK : 0), fd;

	if (one_in(f, 20))
		close(socket(AF_COLLSOCK, below(f, 12), below(f, 4)));
	fd = socket(AF_COLLSOCK, SOCK_SEQPACKET | flags, 0);
	if (fd >= 0 && !one_in(f, 10))
		set_timeouts(fd);
	return fd;
}

/* ---- joining ---- */

struct request {
	struct collsock_join	join;
	__u8			tables[MAX_HOSTS * (sizeof(struct collsock_member) + 2 * 4)];
};

/*
 * The members of all groups here: 10.1.0.n, or in a separate namespace 127.0.0.n. In half
 * of the groups each host has two ranks, as chosen by @turn.
 */
static unsigned int fill_request(struct request *r, __u64 generation, unsigned int count,
				 unsigned int host, unsigned int turn, const __u8 network[3])
{
	struct collsock_member *m = (struct collsock_member *)r->tables;
	__u64 what = mix(generation);
	unsigned int each = 1 + (what >> 10 & 1), i;
	__u32 *host_of_rank = (__u32 *)(m + count);

	memset(r, 0, sizeof(*r));
	r->join = (struct collsock_join){
		.size = sizeof(r->join), .id = generation, .nonce = what, .hosts = count,
		.ranks = each * count, .rank = host + turn % each * count,
		.window = 1 + what % 20, .segment_bytes = what >> 11 & 1 ? 48 : 0,
		.algorithm[COLLSOCK_BARRIER] = what >> 8 & 1, .max_bytes = what >> 9 & 1 ? 256 : 0,
		.max_result_bytes = what >> 12 & 1 ? 4096 : 0,
	};
	memcpy(r->join.key, &what, sizeof(what));
	for (i = 0; i < count; i++) {
		m[i].family = AF_INET;
		memcpy(m[i].address, network, 3);
		m[i].address[3] = 1 + i;
	}
	for (i = 0; i < each * count; i++)
		host_of_rank[i] = i % count;
	return sizeof(r->join) + count * (sizeof(*m) + each * sizeof(*host_of_rank));
}

static __u64 generation(struct fuzzer *f)
{
	return seed + now_ms() / GENERATION_MS - one_in(f, 8);
}

static const __u8 lan[3] = { 10, 1, 0 };

static void join_large(struct fuzzer *f, int fd)
{
	unsigned int bytes = sizeof(struct collsock_join) +
			     LARGE_HOSTS * (sizeof(struct collsock_member) + 4), i;
	struct collsock_join *j = calloc(1, bytes);
	struct collsock_member *m = (struct collsock_member *)(j + 1);
	__u32 *ranks = (__u32 *)(m + LARGE_HOSTS);

	if (!j)
		return;
	*j = (struct collsock_join){ .size = sizeof(*j), .id = 1, .nonce = draw(f), .key = "k",
				     .hosts = LARGE_HOSTS, .ranks = LARGE_HOSTS,
				     .rank = f->host, .window = 1, .max_bytes = 8 };
	for (i = 0; i < LARGE_HOSTS; i++) {
		m[i].family = AF_INET;
		m[i].address[0] = 10;
		m[i].address[1] = 1;
		m[i].address[2] = (i + 1) >> 8;
		m[i].address[3] = i + 1;
		ranks[i] = i;
	}
	if (one_in(f, 2))
		spoil(f, m, bytes - sizeof(*j));
	setsockopt(fd, SOL_COLLSOCK, COLLSOCK_JOIN, j, bytes);
	free(j);
}

static void join(struct fuzzer *f, int fd)
{
	struct request r;
	unsigned int bytes = fill_request(&r, generation(f), hosts, f->host, below(f, 2), lan);
	unsigned int spoiled = one_in(f, 3) ? 1 + below(f, 3) : 0;

	if (one_in(f, 100)) {
		join_large(f, fd);
		return;
	}
	while (spoiled--)
		spoil(f, &r, bytes);
	/*
	 * Such a group stays in time-wait for twice the time, and the final check waits for
	 * that.
	 */
	if (r.join.liveness_ms <= COLLSOCK_MAX_LIVENESS_MS)
		r.join.liveness_ms %= MOST_LIVENESS_MS;
	if (one_in(f, 15))
		bytes = one_in(f, 2) ? odd_number(f) : below(f, sizeof(r));
	if (!setsockopt(fd, SOL_COLLSOCK, one_in(f, 50) ? odd_number(f) : COLLSOCK_JOIN,
			one_in(f, 30) ? bad_pointer(f) : &r, bytes))
		atomic_fetch_add(&joins, 1);
}

static void open_and_join(struct fuzzer *f)
{
	int fd = open_socket(f);

	if (fd < 0)
		return;
	if (!one_in(f, 8))
		join(f, fd);
	keep(f, fd);
}

/* ---- operations ---- */

/* Of each enum collsock_type */
static const __u16 element_bytes[] = {
	0, 8, 8, 8, 1, 2, 4, 1, 2, 4, 4, 8, 12, 12, 8, 6, 1, sizeof(struct collsock_exact), 2, 2,
};

static void fill_post(struct fuzzer *f, struct collsock_post *p)
{
	*p = (struct collsock_post){ .size = sizeof(*p), .operation = COLLSOCK_BARRIER,
				     .cookie = below(f, 8) };
	/* Equal on all hosts, or hardly any operation would complete. */
	if (one_in(f, 60)) {
		p->operation = COLLSOCK_ALLREDUCE;
		p->type = 1 + below(f, COLLSOCK_INT16_INT + 2);
		p->op = 1 + below(f, COLLSOCK_MAXLOC);
		if (p->type > COLLSOCK_INT16_INT)
			p->type += COLLSOCK_EXACT - COLLSOCK_INT16_INT;
		else if (p->type >= COLLSOCK_FLOAT_INT)
			p->op = COLLSOCK_MINLOC + p->op % 2;
		p->count = 1 + below(f, 32);
		if (one_in(f, 16)) {
			p->type = COLLSOCK_EXACT;
			p->op = COLLSOCK_SUM;
			p->count = 1 + below(f, 3);
		}
	}
}

static void count_completion(const struct collsock_completion *c)
{
	atomic_fetch_add(c->error ? &failures : &successes, 1);
}

static void post(struct fuzzer *f, int fd)
{
	struct collsock_post *p = (struct collsock_post *)f->data;
	size_t bytes;

	fill_post(f, p);
	bytes = sizeof(*p) + p->count * element_bytes[p->type];
	if (one_in(f, 8))
		spoil(f, p, sizeof(*p));
	if (one_in(f, 20))
		bytes = below(f, sizeof(f->data));
	if (send(fd, one_in(f, 20) ? bad_pointer(f) : p, bytes,
		 one_in(f, 10) ? (int)odd_number(f) : one_in(f, 2) ? MSG_DONTWAIT : 0) > 0)
		atomic_fetch_add(&posts, 1);
}

static void receive(struct fuzzer *f, int fd)
{
	struct collsock_completion *c = (struct collsock_completion *)f->data;
	size_t room = one_in(f, 10) ? below(f, 100) : sizeof(f->data);
	int flags = one_in(f, 2) ? MSG_DONTWAIT : 0;

	if (one_in(f, 10))
		flags = one_in(f, 2) ? MSG_PEEK | MSG_DONTWAIT : odd_number(f);
	if (recv(fd, one_in(f, 20) ? bad_pointer(f) : c, room, flags) >= (ssize_t)sizeof(*c))
		count_completion(c);
}

/* The arguments of RUN and WAIT */
struct flat_run {
	struct collsock_run		head;
	struct collsock_post		post;
	struct collsock_completion	completion;
};

struct flat_wait {
	struct collsock_wait		head;
	struct collsock_completion	completion;
};

static struct flat_run *begin_run(struct fuzzer *f)
{
	struct flat_run *r = (struct flat_run *)f->data;

	memset(r, 0, sizeof(*r));
	r->head.size = sizeof(r->head);
	r->head.post_bytes = sizeof(r->post);
	r->head.completion_bytes = sizeof(r->completion);
	return r;
}

/* Run several, like a program. False if the group has failed. */
static bool run_barriers(struct fuzzer *f, int fd)
{
	unsigned int i, total = 1 + below(f, 20);
	struct flat_run *r;

	for (i = 0; i < total && !atomic_load(&over); i++) {
		r = begin_run(f);
		r->head.spin_us = one_in(f, 10) ? below(f, 2000) : 0;
		r->post.size = sizeof(r->post);
		r->post.operation = COLLSOCK_BARRIER;
		if (ioctl(fd, COLLSOCK_RUN, r))
			return errno != ENOTCONN && errno != EBADF;
		atomic_fetch_add(&posts, 1);
		count_completion(&r->completion);
		if (r->completion.error)
			return false;
	}
	return true;
}

static __u64 memory_address(struct fuzzer *f)
{
	return (uintptr_t)(one_in(f, 6) ? bad_pointer(f) : f->memory);
}

static void run_spoiled(struct fuzzer *f, int fd)
{
	struct flat_run *r = begin_run(f);

	r->head.payload = memory_address(f);
	r->head.payload_bytes = below(f, 2) ? MAX_DATA : below(f, MAX_DATA);
	r->head.result_bytes = below(f, 2) ? MAX_DATA : below(f, MAX_DATA);
	fill_post(f, &r->post);
	spoil(f, r, sizeof(*r));
	/* Not where the program has anything else. */
	r->head.result = memory_address(f);
	if (r->head.result_bytes > MAX_DATA)
		r->head.result_bytes = one_in(f, 2) ? 0 : MAX_DATA;
	ioctl(fd, COLLSOCK_RUN, one_in(f, 8) ? bad_pointer(f) : r);
}

static void wait_for(struct fuzzer *f, int fd)
{
	struct flat_wait *w = (struct flat_wait *)f->data;

	memset(w, 0, sizeof(*w));
	w->head.size = sizeof(w->head);
	w->head.completion_bytes = one_in(f, 4) ? 8 * below(f, 32) : sizeof(w->completion);
	w->head.result_bytes = one_in(f, 4) ? 0 : MAX_DATA;
	w->head.spin_us = one_in(f, 10) ? below(f, 2000) : 0;
	w->head.cookie = below(f, 8);
	if (one_in(f, 6))
		spoil(f, w, sizeof(*w));
	w->head.result = memory_address(f);
	if (w->head.result_bytes > MAX_DATA)
		w->head.result_bytes = MAX_DATA;
	if (!ioctl(fd, COLLSOCK_WAIT, one_in(f, 12) ? bad_pointer(f) : w))
		count_completion(&w->completion);
}

/* ---- other calls on a file descriptor ---- */

static void look(struct fuzzer *f, int fd)
{
	struct pollfd p = { .fd = fd, .events = draw(f) };
	struct epoll_event event = { .events = draw(f) & ~EPOLLEXCLUSIVE }, found[4];
	socklen_t length = one_in(f, 3) ? odd_number(f) : sizeof(f->data);

	switch (below(f, 4)) {
	case 0:
		poll(&p, 1, below(f, 3));
		break;
	case 1:
		epoll_ctl(f->epoll, 1 + below(f, 3), fd, &event);
		break;
	case 2:
		epoll_wait(f->epoll, found, 4, below(f, 3));
		break;
	default:
		getsockopt(fd, one_in(f, 8) ? (int)odd_number(f) : SOL_COLLSOCK, below(f, 8),
			   one_in(f, 10) ? bad_pointer(f) : f->data, &length);
	}
}

/*
 * Time stamps are enabled by patching the code that receives packets. An emulated processor
 * that is executing that code can hit the temporary int3 after it is no longer handled;
 * real ones cannot.
 */
static bool rewrites_code(unsigned int option)
{
	switch (option) {
	case SO_TIMESTAMP_OLD:
	case SO_TIMESTAMPNS_OLD:
	case SO_TIMESTAMPING_OLD:
	case SO_TIMESTAMP_NEW:
	case SO_TIMESTAMPNS_NEW:
	case SO_TIMESTAMPING_NEW:
		return true;
	default:
		return false;
	}
}

static void set_option(struct fuzzer *f, int fd)
{
	struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, one_in(f, 2) ? 0 : ~0U) };
	struct sock_fprog filter = { .len = 1, .filter = code };
	__u32 value[2] = { one_in(f, 2) ? 8 * below(f, 40) : odd_number(f), odd_number(f) };
	unsigned int option = below(f, 80);

	if (one_in(f, 10))
		setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter));
	else if (one_in(f, 10))
		setsockopt(fd, SOL_COLLSOCK, COLLSOCK_COMPLETION_BYTES, value,
			   one_in(f, 4) ? 8 : 4);
	else if (!rewrites_code(option))
		setsockopt(fd, SOL_SOCKET, option, value, one_in(f, 4) ? 8 : 4);
	if (one_in(f, 2))
		set_timeouts(fd);
}

static void call_the_unknown(struct fuzzer *f, int fd)
{
	struct sockaddr_in address = { .sin_family = below(f, 40), .sin_port = draw(f) };
	socklen_t length = one_in(f, 2) ? sizeof(address) : odd_number(f) % 256;
	struct iovec some[3] = { { f->data, below(f, 64) }, { bad_pointer(f), below(f, 64) },
				 { f->data + 64, below(f, 64) } };
	struct msghdr message = { .msg_iov = some, .msg_iovlen = below(f, 4),
				  .msg_control = f->data, .msg_controllen = below(f, 64) };

	switch (below(f, 14)) {
	case 0:
		bind(fd, (struct sockaddr *)&address, length);
		break;
	case 1:
		connect(fd, (struct sockaddr *)&address, length);
		break;
	case 2:
		listen(fd, below(f, 8));
		break;
	case 3:
		close(accept4(fd, NULL, NULL, SOCK_NONBLOCK));
		break;
	case 4:
		shutdown(fd, below(f, 4));
		break;
	case 5:
		getsockname(fd, (struct sockaddr *)f->data, &length);
		break;
	case 6:
		getpeername(fd, (struct sockaddr *)f->data, &length);
		break;
	case 7:
		ioctl(fd, one_in(f, 2) ? 0x8900 + below(f, 256) : odd_number(f), f->data);
		break;
	case 8:
		fcntl(fd, F_SETFL, one_in(f, 2) ? O_NONBLOCK : one_in(f, 2) ? O_ASYNC : 0);
		fcntl(fd, F_SETOWN, getpid());
		break;
	case 9:
		sendmsg(fd, &message, MSG_DONTWAIT);
		break;
	case 10:
		recvmsg(fd, &message, MSG_DONTWAIT);
		break;
	case 11:
		munmap(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0), 4096);
		break;
	case 12:
		sendto(fd, f->data, sizeof(struct collsock_post), MSG_DONTWAIT,
		       (struct sockaddr *)&address, sizeof(address));
		break;
	default:
		splice(fd, NULL, f->epoll, NULL, 64, SPLICE_F_NONBLOCK);
	}
}

/* Into a message that is never received, or received as another file descriptor */
static void pass(struct fuzzer *f, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = {};
	struct iovec byte = { f->data, 1 };
	struct msghdr message = { .msg_iov = &byte, .msg_iovlen = 1, .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	int pair[2], passed;

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair))
		return;
	*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
			       .cmsg_len = CMSG_LEN(sizeof(int)) };
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(pair[0], &message, MSG_DONTWAIT) == 1 && one_in(f, 2) &&
	    recvmsg(pair[1], &message, MSG_DONTWAIT) == 1 && CMSG_FIRSTHDR(&message)) {
		memcpy(&passed, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(passed));
		keep(f, passed);
	}
	close(pair[0]);
	close(pair[1]);
}

static void duplicate(struct fuzzer *f, int fd)
{
	int copy = dup(fd);

	if (copy >= 0)
		keep(f, copy);
}

static void close_one(struct fuzzer *f)
{
	int before = atomic_exchange(&slots[f->host][WORKERS + below(f, SLOTS - WORKERS)], 0);

	if (before)
		close(before - 1);
}

/* ---- processes and namespaces that end ---- */

static void one_call(struct fuzzer *f);

/* A child that shares all sockets until it exits or is killed. */
static void child_main(struct fuzzer *f)
{
	unsigned int i;

	for (i = below(f, 30); i; i--)
		one_call(f);
	_exit(0);
}

/* A child with all members of a group in one namespace, which ends with it. */
static void namespace_main(struct fuzzer *f)
{
	static const __u8 loopback[3] = { 127, 0, 0 };
	struct ifreq up = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	unsigned int rank, i, bytes;
	__u64 group = draw(f);
	struct collsock_post p;
	struct request r;
	int control, fd[3];

	if (unshare(CLONE_NEWNET))
		_exit(1);
	control = socket(AF_INET, SOCK_DGRAM, 0);
	ioctl(control, SIOCSIFFLAGS, &up);
	for (rank = 0; rank < 3; rank++) {
		fd[rank] = socket(AF_COLLSOCK, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
		bytes = fill_request(&r, group, 3, rank, 0, loopback);
		if (!setsockopt(fd[rank], SOL_COLLSOCK, COLLSOCK_JOIN, &r, bytes))
			atomic_fetch_add(&joins, 1);
	}
	for (i = below(f, 100); i; i--) {
		fill_post(f, &p);
		for (rank = 0; rank < 3; rank++)
			if (!one_in(f, 50))
				send(fd[rank], &p, sizeof(p), 0);
		for (rank = 0; rank < 3; rank++)
			recv(fd[rank], f->data, sizeof(f->data), 0);
	}
	_exit(0);
}

static void have_child(struct fuzzer *f, void (*child)(struct fuzzer *f))
{
	struct timespec life = { .tv_nsec = below(f, 10) * 1000000L };
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		f->chance ^= mix(f->chance);
		f->child = true;
		child(f);
	}
	if (pid < 0)
		return;
	nanosleep(&life, NULL);
	if (one_in(f, 2))
		kill(pid, SIGKILL);
	/* Nothing else interrupts it, and it may be waiting. */
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		kill(pid, SIGKILL);
}

/* ---- threads ---- */

static void one_call(struct fuzzer *f)
{
	unsigned int choice = below(f, 1000);
	int fd = any_socket(f);

	atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
	if (choice < 100 || fd < 0)
		open_and_join(f);
	else if (choice < 350)
		run_barriers(f, fd);
	else if (choice < 450)
		post(f, fd);
	else if (choice < 550)
		receive(f, fd);
	else if (choice < 600)
		run_spoiled(f, fd);
	else if (choice < 650)
		wait_for(f, fd);
	else if (choice < 750)
		look(f, fd);
	else if (choice < 800)
		set_option(f, fd);
	else if (choice < 880)
		call_the_unknown(f, fd);
	else if (choice < 900)
		pass(f, fd);
	else if (choice < 920)
		duplicate(f, fd);
	else if (choice < 950)
		close_one(f);
	else if (choice < 980)
		join(f, fd);
	else if (f->child)
		close_one(f);
	else if (choice < 990)
		pthread_kill(thread_ids[below(f, threads)], SIGUSR1);
	else if (choice < 996)
		have_child(f, child_main);
	else
		have_child(f, namespace_main);
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void enter(unsigned int host)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/h%u", host + 1);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die(path);
	close(fd);
}

/*
 * A rank that behaves correctly, in one group after the other, while other threads disturb
 * its socket.
 */
static void work(struct fuzzer *f)
{
	__u64 group = seed + now_ms() / GENERATION_MS;
	int fd = socket(AF_COLLSOCK, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), before;
	struct request r;
	unsigned int bytes = fill_request(&r, group, hosts, f->host, f->worker, lan);

	if (fd < 0)
		return;
	set_timeouts(fd);
	if (!setsockopt(fd, SOL_COLLSOCK, COLLSOCK_JOIN, &r, bytes))
		atomic_fetch_add(&joins, 1);
	before = atomic_exchange(&slots[f->host][f->worker], fd + 1);
	if (before)
		close(before - 1);
	while (group == seed + now_ms() / GENERATION_MS && !atomic_load(&over))
		if (!run_barriers(f, fd))
			usleep(10000);
}

static void *thread_main(void *argument)
{
	struct fuzzer *f = argument;

	enter(f->host);
	f->epoll = epoll_create1(EPOLL_CLOEXEC);
	while (!atomic_load(&over))
		if (f->worker < WORKERS)
			work(f);
		else
			one_call(f);
	close(f->epoll);
	return NULL;
}

static void ignore(int number)
{
	(void)number;
}

static void handle_signals(void)
{
	struct sigaction action = { .sa_handler = ignore };

	/* Signals interrupt calls: nothing is restarted. */
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGIO, &action, NULL);
	sigaction(SIGURG, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static void interrupt_all(void)
{
	unsigned int i;

	for (i = 0; i < threads; i++)
		pthread_kill(thread_ids[i], SIGUSR1);
}

/* On a slow machine little happens in a given time, and would prove little. */
static bool enough(void)
{
	return joins >= ENOUGH && posts >= ENOUGH && successes >= ENOUGH && failures;
}

/* Interrupt regularly: so calls without a time-out end. */
static void watch_over(__u64 until)
{
	while (now_ms() < until || (!enough() && now_ms() < until + AT_MOST_MS)) {
		usleep(INTERRUPT_MS * 1000);
		interrupt_all();
	}
	atomic_store(&over, true);
}

static void finish(void)
{
	unsigned int i, host;

	for (i = 0; i < threads; i++) {
		struct timespec soon;

		do {
			interrupt_all();
			clock_gettime(CLOCK_REALTIME, &soon);
			soon.tv_sec++;
		} while (pthread_timedjoin_np(thread_ids[i], NULL, &soon));
		thread_ids[i] = pthread_self();
	}
	for (host = 0; host < hosts; host++)
		for (i = 0; i < SLOTS; i++)
			if (slots[host][i])
				close(slots[host][i] - 1);
}

int main(int argc, char **argv)
{
	static struct fuzzer fuzzers[MAX_THREADS];
	unsigned int i;
	__u64 until;

	if (argc != 5)
		return 2;
	until = now_ms() + strtoull(argv[1], NULL, 0) * 1000;
	seed = strtoull(argv[2], NULL, 0);
	hosts = strtoul(argv[3], NULL, 0);
	threads = strtoul(argv[4], NULL, 0);
	if (!hosts || hosts > MAX_HOSTS || !threads || threads > MAX_THREADS)
		return 2;
	handle_signals();
	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < threads; i++)
		thread_ids[i] = pthread_self();
	for (i = 0; i < threads; i++) {
		fuzzers[i] = (struct fuzzer){ .host = i % hosts, .chance = mix(seed + i),
					      .worker = i / hosts };
		if (pthread_create(&thread_ids[i], NULL, thread_main, &fuzzers[i]))
			die("syscalls: thread");
	}
	watch_over(until);
	finish();
	printf("%lu calls, %lu joins, %lu posts, %lu successes, %lu failures\n", calls, joins,
	       posts, successes, failures);
	return 0;
}
