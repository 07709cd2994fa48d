/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * libcollsock: a thin layer over the socket interface of collsock, and a substitute for it where
 * there is no module (COLLSOCK_BACKEND_USER).
 *
 * A struct collsock is one socket: one rank of a group. A struct collsock_group
 * is a join request under construction; it is not needed after the join. All
 * other structures are those of the kernel, <linux/collsock.h>.
 *
 * Functions return 0 (or as documented), or a negative error number; the variable errno is
 * not used. All functions are thread-safe, even on the same socket, except
 * collsock_close(), which must be the last call; a struct collsock_group or collsock_team may
 * be used by one thread at a time.
 */
#ifndef COLLSOCK_H
#define COLLSOCK_H

#include <stddef.h>
#include <sys/socket.h>
#include <linux/collsock.h>

#ifdef __cplusplus
extern "C" {
#endif

struct collsock;
struct collsock_group;

/* ---- the socket ---- */

#define COLLSOCK_OPEN_NONBLOCK	1U	/* calls return at once with EAGAIN, EINPROGRESS */
#define COLLSOCK_OPEN_INHERIT	2U	/* stay open across execve(), and fork() before it */
#define COLLSOCK_OPEN_KEEP	4U	/* stay open in a forked child (default: closed) */

/* Where a rank is */
enum collsock_backend {
	COLLSOCK_BACKEND_AUTO	= 0,	/* that of COLLSOCK_BACKEND; else the kernel if it can */
	COLLSOCK_BACKEND_KERNEL	= 1,	/* the module */
	COLLSOCK_BACKEND_USER	= 2,	/* this process: neither root nor module */
};

int collsock_open(struct collsock **socket, unsigned int flags);
/* The same with a backend that the program chooses */
int collsock_open_backend(struct collsock **socket, unsigned int flags,
			  enum collsock_backend backend);
void collsock_close(struct collsock *socket);

/* For poll(), epoll and setsockopt(). The library owns it: do not close it. */
int collsock_fd(const struct collsock *socket);

/*
 * How long collsock_wait() and functions that post and wait spin before they sleep or, if
 * the socket is nonblocking, give up: initially 0, at most COLLSOCK_MAX_SPIN_US.
 */
int collsock_set_spin(struct collsock *socket, unsigned int spin_us);

/* The number of the socket family on this host: AF_COLLSOCK by default. */
int collsock_family(void);

/* ---- the group ---- */

#define COLLSOCK_KEY_BYTES	16

/* Read a key from a file of 32 hexadecimal digits that only its owner may access. */
int collsock_key_from_file(const char *path, __u8 key[COLLSOCK_KEY_BYTES]);

/* @key may be NULL: a group without a key, if the host allows it. */
int collsock_group_new(struct collsock_group **group, __u64 id, __u64 nonce,
		       const __u8 key[COLLSOCK_KEY_BYTES]);
void collsock_group_free(struct collsock_group *group);

/*
 * Add the next rank, on the host with this address and port; ranks with equal address and
 * port share a host. @port may be 0: COLLSOCK_PORT.
 */
int collsock_group_add_host(struct collsock_group *group, const char *address, __u16 port);
int collsock_group_add_sockaddr(struct collsock_group *group, const struct sockaddr *address,
				socklen_t bytes);

/*
 * The fixed part of the request, to be changed in place: max_bytes, max_result_bytes, window,
 * segment_bytes, liveness_ms, features, algorithms, degrees, algorithm[], degree, mac, multicast.
 * The library sets size, hosts, ranks and rank.
 */
struct collsock_join *collsock_group_request(struct collsock_group *group);

/*
 * A multicast address as text, of IPv4, of IPv6, or of Ethernet as six pairs of hexadecimal digits:
 * for the field multicast of the request, or of struct collsock_options.
 */
int collsock_multicast_from_text(const char *text, __u8 address[16]);

/* The rank at @index, from 0, of the ranks of this host, which is found by its addresses. */
int collsock_rank_of_local(const struct collsock_group *group, __u32 index);

int collsock_join(struct collsock *socket, const struct collsock_group *group, __u32 rank);

/*
 * The same with the bytes that JOIN takes, for other languages. @udp: for a rank in user space, the
 * UDP socket that is bound to its address and port, which is the library's from now on, even after
 * an error; or -1.
 */
int collsock_join_bytes(struct collsock *socket, const void *request, size_t bytes, int udp);

/* ---- join with an exchange ---- */

/*
 * An allgather of a launcher, for collsock_join_with(): each rank gives the @bytes at @mine,
 * as many on all ranks, and @all receives those of all ranks, in their order. It is called up to
 * seven times, in the same order on all ranks. Returns 0 or a negative error number, and is not
 * called again after an error. Unless the options have a key, it carries that of the group, and
 * must be confidential.
 */
typedef int (*collsock_exchange)(void *ctx, const void *mine, void *all, size_t bytes);

#define COLLSOCK_NAME_BYTES		32
#define COLLSOCK_DEFAULT_TIMEOUT_MS	10000
#define COLLSOCK_DEFAULT_MAX_BYTES	4096	/* fits COLLSOCK_MAX_LOCAL_RANKS */

enum collsock_bearer {
	COLLSOCK_BEARER_UDP		= 0,
	COLLSOCK_BEARER_ETHERNET	= 1,
	COLLSOCK_BEARER_AUTO		= 2,	/* Ethernet where all may use it, else UDP */
};

/**
 * struct collsock_options - how to join; 0 is the default of each field
 * @size: sizeof(struct collsock_options); 0 if all is 0
 * @open_flags: of this rank's socket, as for collsock_open()
 * @spin_us: of this rank's socket, as for collsock_set_spin()
 * @timeout_ms: how long to wait for the first packets of all ranks, once all have joined;
 *	0: COLLSOCK_DEFAULT_TIMEOUT_MS
 * @name: of the group, less than COLLSOCK_NAME_BYTES long: its number (id) is made from it; empty:
 *	the number is random
 * @key: of the group; zero: rank 0 draws one, and the exchange carries it
 * @network: an address in network byte order, of which @prefix bits count: hosts communicate by
 *	addresses in this network
 * @prefix: see there
 * @bearer: enum collsock_bearer; with a multicast address COLLSOCK_BEARER_AUTO is UDP
 * @family: AF_INET or AF_INET6, of @network and of the hosts' addresses; 0: IPv4 where all hosts
 *	have it, and @prefix is 0
 * @port: UDP port, or with COLLSOCK_BEARER_ETHERNET its EtherType; 0: that of the module, or for
 *	collsock_join_env() the UDP port of the environment's COLLSOCK_PORT, if that is set
 * @window: this and all that follow are as in struct collsock_join
 * @segment_bytes: but 0 means as many as the smallest MTU allows that a rank knows
 * @max_bytes: but 0 means COLLSOCK_DEFAULT_MAX_BYTES, whatever the length of segments
 * @failed_rank: receives the rank to blame for an error, or COLLSOCK_NO_RANK; may be NULL
 * @text: receives what the error means and what to do; may be NULL
 * @text_bytes: room there; 512 bytes are enough for every text
 * @backend: enum collsock_backend, of this rank
 * @reserved: 0
 * @multicast: as in struct collsock_join, see collsock_multicast_from_text(); for
 *	collsock_join_env(), all zero means that of the variable COLLSOCK_MULTICAST, if it is set
 *
 * A rank of collsock run has its key and the addresses of all from there: then @name, @key,
 * @network, @prefix, @bearer, @family, @port, @timeout_ms and @multicast do not matter.
 * Fields are only ever added, at the end. All ranks must have the same, except in @open_flags,
 * @spin_us, @timeout_ms, @failed_rank, @text, @text_bytes and @backend.
 */
struct collsock_options {
	__u32	size;
	__u32	open_flags;
	__u32	spin_us;
	__u32	timeout_ms;
	char	name[COLLSOCK_NAME_BYTES];
	__u8	key[COLLSOCK_KEY_BYTES];
	__u8	network[16];
	__u8	prefix;
	__u8	bearer;
	__u16	family;
	__u16	port;
	__u16	window;
	__u16	segment_bytes;
	__u8	degree;
	__u8	mac;
	__u32	liveness_ms;
	__u32	max_bytes;
	__u32	max_result_bytes;
	__u64	features;
	__u64	algorithms;
	__u64	degrees;
	__u8	algorithm[COLLSOCK_MAX_OPERATIONS];
	__u32	*failed_rank;
	char	*text;
	size_t	text_bytes;
	__u32	backend;
	__u32	reserved;
	__u8	multicast[16];
};

/*
 * Join a group of @ranks ranks as @rank: they find each other through @exchange, which is called
 * with @ctx. @options may be NULL. When this returns 0, packets of all ranks have arrived. All
 * ranks get the same error, and none has joined then, unless the exchange failed on some only, or
 * altered blocks.
 */
int collsock_join_with(struct collsock **joined, const struct collsock_options *options,
		       __u32 rank, __u32 ranks, collsock_exchange exchange, void *ctx);

/*
 * The same with ranks and exchange of the launcher: collsock run, variables set by hand, torchrun,
 * PMIx, PMI or Slurm (see collsock_join_env(3)). Reports on standard error whom it waits for.
 * -ENOENT if there is no launcher; the options' text lists what was looked for.
 */
int collsock_join_env(struct collsock **joined, const struct collsock_options *options);

/* The rank of this socket, and the number of ranks, or -ENOTCONN before it has joined */
int collsock_rank(struct collsock *socket);
int collsock_size(struct collsock *socket);

/* ---- elements ---- */

/* Pairs for COLLSOCK_MINLOC and COLLSOCK_MAXLOC, without padding */
#pragma pack(push, 2)

struct collsock_float_int {
	float	value;
	__s32	index;
};

struct collsock_double_int {
	double	value;
	__s32	index;
};

struct collsock_int64_int {
	__s64	value;
	__s32	index;
};

struct collsock_int32_int {
	__s32	value;
	__s32	index;
};

struct collsock_int16_int {
	__s16	value;
	__s32	index;
};

#pragma pack(pop)

/*
 * Exact sums: struct collsock_exact, zero at first. Add numbers, sum the structures with
 * COLLSOCK_EXACT and COLLSOCK_SUM, and round once.
 */
void collsock_exact_add(struct collsock_exact *sum, double number);
double collsock_exact_round(const struct collsock_exact *sum);
float collsock_exact_round_float(const struct collsock_exact *sum);

/* Bit patterns, as not every compiler has these types */
__u16 collsock_exact_round_float16(const struct collsock_exact *sum);
__u16 collsock_exact_round_bfloat16(const struct collsock_exact *sum);

/* ---- post, complete later ---- */

/* Cookies from here on are reserved for functions that post and wait. */
#define COLLSOCK_LIBRARY_COOKIES	0x8000000000000000ULL

int collsock_post(struct collsock *socket, const struct collsock_post *post,
		  const void *payload, size_t payload_bytes);
int collsock_post_barrier(struct collsock *socket, __u64 cookie);
int collsock_post_allreduce(struct collsock *socket, const void *data, __u32 count,
			    enum collsock_type type, enum collsock_operator op,
			    __u64 cookie);

/*
 * @flags is 0 or COLLSOCK_QUIET, which a rank that receives no result may set: no
 * completion on success. The operation of such a rank completes at once in any case.
 */
int collsock_post_reduce(struct collsock *socket, const void *data, __u32 count,
			 enum collsock_type type, enum collsock_operator op,
			 __u32 root, unsigned int flags, __u64 cookie);

/* @data is that of the root, and NULL on all other ranks. */
int collsock_post_broadcast(struct collsock *socket, const void *data, __u32 count,
			    enum collsock_type type, __u32 root, unsigned int flags,
			    __u64 cookie);

/*
 * With a block of @count elements for each rank. @data is the block of this rank; in a scatter
 * the blocks of all ranks, in their order, at the root, and NULL on all other ranks; in a
 * reduce_scatter_block the vector, of a block for each rank. The result, with the completion,
 * is the blocks of all ranks (in a gather at the root alone), or in the last two this rank's.
 */
int collsock_post_allgather(struct collsock *socket, const void *data, __u32 count,
			    enum collsock_type type, __u64 cookie);
int collsock_post_gather(struct collsock *socket, const void *data, __u32 count,
			 enum collsock_type type, __u32 root, unsigned int flags,
			 __u64 cookie);
int collsock_post_scatter(struct collsock *socket, const void *data, __u32 count,
			  enum collsock_type type, __u32 root, __u64 cookie);
int collsock_post_reduce_scatter_block(struct collsock *socket, const void *data, __u32 count,
				       enum collsock_type type, enum collsock_operator op,
				       __u64 cookie);

/*
 * The result, with the completion, is @data of all ranks up to this one, combined in their order,
 * or of those below it (exscan: nothing at rank 0). Ranks must be placed on hosts in their order:
 * else -EOPNOTSUPP.
 */
int collsock_post_scan(struct collsock *socket, const void *data, __u32 count,
		       enum collsock_type type, enum collsock_operator op, __u64 cookie);
int collsock_post_exscan(struct collsock *socket, const void *data, __u32 count,
			 enum collsock_type type, enum collsock_operator op, __u64 cookie);

/*
 * Receive the next completion, or that of a cookie. 0 means that one was received; the
 * outcome of the operation is in @completion->error. The cookie COLLSOCK_COOKIE_GROUP means
 * that the group has failed while no operation was under way. After a failure of the group,
 * and after shutdown(), collsock_complete() returns -EPIPE when no completion is left.
 */
int collsock_complete(struct collsock *socket, struct collsock_completion *completion,
		      void *result, size_t result_bytes);
int collsock_wait(struct collsock *socket, __u64 cookie,
		  struct collsock_completion *completion, void *result,
		  size_t result_bytes);

/*
 * The page of a socket that has joined, until collsock_close(): counts of posted and ended
 * operations, without a system call. Read it only with the three functions below. A forked child
 * has no page until it calls this.
 */
int collsock_map_page(struct collsock *socket, const struct collsock_page **page);

/* How many operations were posted so far; those of this thread are among them. */
static inline __u64 collsock_posted(const struct collsock_page *page)
{
	return __atomic_load_n(&page->posted, __ATOMIC_ACQUIRE);
}

/* Have the first @posted operations ended, well or not? */
static inline int collsock_have_ended(const struct collsock_page *page, __u64 posted)
{
	return __atomic_load_n(&page->completed, __ATOMIC_ACQUIRE) >= posted;
}

/* How many operations have ended, in whatever order */
static inline __u64 collsock_ended(const struct collsock_page *page)
{
	return __atomic_load_n(&page->ended, __ATOMIC_ACQUIRE);
}

/* ---- post and wait ---- */

/*
 * Return 0, or the negative error of the call or of the operation. @completion may be NULL;
 * it has the rank that failed.
 */
int collsock_barrier(struct collsock *socket, struct collsock_completion *completion);
int collsock_allreduce(struct collsock *socket, const void *data, void *result,
		       __u32 count, enum collsock_type type,
		       enum collsock_operator op, struct collsock_completion *completion);

/* @result may be NULL on all ranks but the root; those ranks return at once. */
int collsock_reduce(struct collsock *socket, const void *data, void *result, __u32 count,
		    enum collsock_type type, enum collsock_operator op, __u32 root,
		    struct collsock_completion *completion);

/* From @data of the root, which returns at once, to @data of all others. */
int collsock_broadcast(struct collsock *socket, void *data, __u32 count,
		       enum collsock_type type, __u32 root,
		       struct collsock_completion *completion);

/*
 * With a block of @count elements for each rank: from @data of each rank to @result of all,
 * which has @count elements for each rank, in the order of ranks.
 */
int collsock_allgather(struct collsock *socket, const void *data, void *result, __u32 count,
		       enum collsock_type type, struct collsock_completion *completion);

/* The same for the root alone. @result may be NULL on all other ranks, which return at once. */
int collsock_gather(struct collsock *socket, const void *data, void *result, __u32 count,
		    enum collsock_type type, __u32 root,
		    struct collsock_completion *completion);

/* From @data of the root, a block for each rank, which may be NULL on others, to @result of all. */
int collsock_scatter(struct collsock *socket, const void *data, void *result, __u32 count,
		     enum collsock_type type, __u32 root,
		     struct collsock_completion *completion);

/* Combine vectors of a block for each rank; @result is the block of this rank. */
int collsock_reduce_scatter_block(struct collsock *socket, const void *data, void *result,
				  __u32 count, enum collsock_type type,
				  enum collsock_operator op,
				  struct collsock_completion *completion);

/*
 * Combine @data of all ranks up to this one, or of those below it: then @result of rank 0 is left
 * as it is, and may be NULL. Ranks must be placed on hosts in their order: else -EOPNOTSUPP.
 */
int collsock_scan(struct collsock *socket, const void *data, void *result, __u32 count,
		  enum collsock_type type, enum collsock_operator op,
		  struct collsock_completion *completion);
int collsock_exscan(struct collsock *socket, const void *data, void *result, __u32 count,
		    enum collsock_type type, enum collsock_operator op,
		    struct collsock_completion *completion);

/*
 * The general form: @post as for collsock_post(); the completion has its cookie. Returns 0
 * if a completion was received, like collsock_wait(); -EINPROGRESS if the socket is
 * nonblocking and the operation has only been posted.
 */
int collsock_run(struct collsock *socket, const struct collsock_post *post,
		 const void *payload, size_t payload_bytes,
		 struct collsock_completion *completion, void *result, size_t result_bytes);

/* ---- teams: threads or processes of one host ---- */

/*
 * Members of a team meet in the memory of their host, without the kernel module. A struct
 * collsock_team is one member, and used by one thread at a time.
 */
struct collsock_team;

#define COLLSOCK_MAX_MEMBERS	1024U
#define COLLSOCK_NO_MEMBER	0xffffffffU

enum collsock_team_algorithm {
	COLLSOCK_TEAM_AUTO		= 0,
	COLLSOCK_TEAM_CENTRAL		= 1,	/* sense-reversing: one counter, one flag */
	COLLSOCK_TEAM_MCS		= 2,	/* a tree of four up, a tree of two down */
	COLLSOCK_TEAM_DISSEMINATION	= 3,
};

/*
 * Make a team of threads. @members receives @count members, one for each thread. A member may
 * contribute @max_bytes to an all-reduce; 0: COLLSOCK_DEFAULT_SEGMENT.
 */
int collsock_team_new(struct collsock_team *members[], __u32 count,
		      enum collsock_team_algorithm algorithm, __u32 max_bytes);

/* Make the memory of a team of processes. Returns a file descriptor for all of them. */
int collsock_team_memfd(__u32 count, enum collsock_team_algorithm algorithm, __u32 max_bytes);

/* Be a member, from 0, of the team whose memory is @memfd, which may be closed afterwards. */
int collsock_team_open(struct collsock_team **team, int memfd, __u32 member);

void collsock_team_free(struct collsock_team *team);

/*
 * How long operations spin before they sleep: initially 0 if the calling thread may use
 * fewer processors than there are members, else 50; at most COLLSOCK_MAX_SPIN_US.
 */
int collsock_team_set_spin(struct collsock_team *team, unsigned int spin_us);

/*
 * Let the team be one rank: its operations are those of the socket, too, which the last member
 * to arrive runs for all. All members must be combined before the first operation; the socket
 * must block, and be open until the team is freed.
 */
int collsock_team_combine(struct collsock_team *team, struct collsock *socket);

/* Who is to blame for an error: a member, a rank of the socket's group, or neither */
struct collsock_team_culprit {
	__u32	member;		/* or COLLSOCK_NO_MEMBER */
	__u32	rank;		/* or COLLSOCK_NO_RANK */
};

/* Return when all members have called it: 0, or a negative error. @culprit may be NULL. */
int collsock_team_barrier(struct collsock_team *team, struct collsock_team_culprit *culprit);

/* The same, and combine the data of all members. @result may be @data. */
int collsock_team_allreduce(struct collsock_team *team, const void *data, void *result,
			    __u32 count, enum collsock_type type, enum collsock_operator op,
			    struct collsock_team_culprit *culprit);

/* ---- queries ---- */

/* @bytes is the size of the structure as the caller knows it. */
int collsock_stats(const struct collsock *socket, struct collsock_stats *stats, size_t bytes);
int collsock_net_stats(const struct collsock *socket, struct collsock_net_stats *stats,
		       size_t bytes);

/* The rank of this socket, and its group's limits and failure. */
int collsock_self(const struct collsock *socket, struct collsock_self *self, size_t bytes);

/*
 * A report on this user's ranks in user space on this machine: a file, which the caller closes,
 * with messages of generic netlink like the module's answers to dumps; or a negative error number.
 */
int collsock_report(void);

/* Features that this kernel supports; the socket need not have joined. */
int collsock_features(const struct collsock *socket, struct collsock_features *features,
		      size_t bytes);

/*
 * Describe @error (of either sign), concerning @failed_rank (or COLLSOCK_NO_RANK), and what
 * to do. Returns @text, always terminated; 512 bytes are enough for every text.
 */
const char *collsock_strerror(int error, __u32 failed_rank, char *text, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
