// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A communicator joins: in a collective call of all of its ranks. They exchange where
 * they live and a secret, each joins, and they agree on whether all have. What is
 * exchanged travels by the communicator itself; nobody waits without driving the MPI.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "below.h"
#include "comm.h"
#include "clock.h"
#include "error.h"
#include "hosts.h"
#include "op.h"
#include "progress.h"
#include "settings.h"

#define SPIN_US		100	/* a wait, where each rank has a processor of its own */
#define SPIN_ONCE_US	50	/* then the MPI below is driven */

#define TRY_OUT_S	10	/* for the first packets to arrive */
#define DESCRIPTORS_LEFT 64	/* for the program */

/**
 * struct record - what a rank tells the others
 * @id: of the group; that of rank 0 counts
 * @nonce: of it; the same
 * @key: of it; the same
 * @error: 0, or why it cannot join: a negative errno
 * @reserved: 0
 * @host: where the rank lives
 */
struct record {
	__u64	id;
	__u64	nonce;
	__u8		key[COLLSOCK_KEY_BYTES];
	__s32		error;
	__u32	reserved;
	struct cm_host	host;
};

/**
 * struct plan - what follows from all records, the same on all ranks
 * @records: of all ranks
 * @host_of_rank: index of the host of each
 * @hosts: of each, what its lowest rank has told
 * @chosen: index of its address
 * @host_count: hosts
 */
struct plan {
	struct record		*records;
	unsigned int		*host_of_rank;
	const struct cm_host	**hosts;
	unsigned int		*chosen;
	unsigned int		host_count;
};

/**
 * struct verdict - on joining, as MPI_2INT
 * @error: 0, or a negative errno
 * @rank: whom it speaks of
 */
struct verdict {
	int	error;
	int	rank;
};

/* What errors mean in joining; of all others the library below knows it. */
static const char *reason(const struct verdict *v, char *text, size_t bytes)
{
	switch (v->error) {
	case -EADDRNOTAVAIL:
		snprintf(text, bytes,
			 "no address that others could reach (COLLSOCK_MPI_NETWORK?), or groups there do not use UDP port %u (collsock get port; COLLSOCK_MPI_PORT)",
			 cm_settings.port);
		return text;
	case -EHOSTUNREACH:
		snprintf(text, bytes,
			 "nothing arrives from others: is UDP port %u open between all hosts?",
			 cm_settings.port);
		return text;
	case -EMFILE:
		return "too few file descriptors are left (ulimit -n)";
	default:
		return cm_strerror(-v->error, v->rank, text, bytes);
	}
}

/*
 * In one line: once, or for each communicator if the user wants to know. Rank 0 speaks for
 * all, and who has been spoken for is not rank 0 of another communicator to say it again.
 */
static void say_why(const struct cm_comm *c, const struct verdict *v)
{
	static atomic_bool said;
	bool again = atomic_exchange(&said, true);
	char text[512];

	if (c->rank || (again && !cm_settings.verbose))
		return;
	fprintf(stderr,
		"collsock: a communicator of %d ranks is left to the MPI library, because of rank %d: %s\n",
		c->size, v->rank, reason(v, text, sizeof(text)));
}

/* ---- the exchange ---- */

/*
 * Why no communicator of this process can join, as an earlier one has found out: a
 * negative errno. The next need not wait again, be it for packets or for the kernel, which
 * starts a program each time to look for a module.
 */
static atomic_int found_out;

/* What the program opens itself must not fail because of us. */
static int open_socket(struct cm_comm *c)
{
	struct rlimit most;
	int err;

	err = collsock_open(&c->socket, COLLSOCK_OPEN_NONBLOCK);
	if (err == -EAFNOSUPPORT)
		atomic_store(&found_out, err);
	if (err || getrlimit(RLIMIT_NOFILE, &most) ||
	    (rlim_t)collsock_fd(c->socket) + DESCRIPTORS_LEFT < most.rlim_cur)
		return err;
	collsock_close(c->socket);
	c->socket = NULL;
	return -EMFILE;
}

static void fill_record(struct cm_comm *c, struct record *r)
{
	memset(r, 0, sizeof(*r));
	r->error = cm_host_identify(&r->host);
	if (!r->error)
		r->error = atomic_load(&found_out);
	if (!r->error)
		r->error = open_socket(c);
	if (!r->error)
		r->error = cm_host_add_addresses(&r->host, &cm_settings);
	if (!r->error && !c->rank &&
	    (getrandom(&r->id, sizeof(r->id), 0) != sizeof(r->id) ||
	     getrandom(&r->nonce, sizeof(r->nonce), 0) != sizeof(r->nonce) ||
	     getrandom(r->key, sizeof(r->key), 0) != sizeof(r->key)))
		r->error = -errno;
}

/* What only this rank cannot do, the others would wait for. */
static void give_up(const struct cm_comm *c, const char *what)
{
	fprintf(stderr, "collsock: rank %d of a communicator of %d ranks: %s\n", c->rank, c->size,
		what);
	PMPI_Abort(c->handle, 1);
}

/* NULL only if the program is at its end. */
static struct record *exchange(struct cm_comm *c)
{
	struct record *records = calloc(c->size, sizeof(*records)), own;
	MPI_Request request;

	fill_record(c, &own);
	if (!records) {
		give_up(c, "no memory for addresses");
	} else if (PMPI_Iallgather(&own, sizeof(own), MPI_BYTE, records, sizeof(own), MPI_BYTE,
				   c->handle, &request) ||
		   cm_await_below(&request, "joining", c->rank, c->size)) {
		give_up(c, "addresses could not be exchanged");
		free(records);
		records = NULL;
	}
	explicit_bzero(&own, sizeof(own));
	return records;
}

/* All or none: the worst of what all ranks say. */
static struct verdict agree(struct cm_comm *c, struct verdict own)
{
	struct verdict worst;
	MPI_Request request;

	if (below.Iallreduce(&own, &worst, 1, MPI_2INT, MPI_MINLOC, c->handle, &request) ||
	    cm_await_below(&request, "agreement on joining", c->rank, c->size))
		return (struct verdict){ -EIO, c->rank };
	return worst;
}

/* ---- the plan ---- */

static void plan_free(struct plan *p, int ranks)
{
	if (p->records)
		explicit_bzero(p->records, ranks * sizeof(*p->records));
	free(p->records);
	free(p->host_of_rank);
	free(p->hosts);
	free(p->chosen);
}

/**
 * struct seen - to find a host by its identity
 * @host: as a rank has told it
 * @rank: which
 */
struct seen {
	const struct cm_host	*host;
	unsigned int		rank;
};

static int compare_seen(const void *one, const void *other)
{
	const struct seen *a = one, *b = other;
	int order = memcmp(a->host->identity, b->host->identity, sizeof(a->host->identity));

	return order ? order : a->rank < b->rank ? -1 : 1;
}

/* Hosts stand in the order of their lowest rank. */
static int plan_hosts(struct plan *p, unsigned int ranks)
{
	struct seen *seen = calloc(ranks, sizeof(*seen));
	unsigned int *lowest = calloc(ranks, sizeof(*lowest));
	unsigned int i;

	if (!seen || !lowest) {
		free(seen);
		free(lowest);
		return -ENOMEM;
	}
	for (i = 0; i < ranks; i++)
		seen[i] = (struct seen){ &p->records[i].host, i };
	qsort(seen, ranks, sizeof(*seen), compare_seen);
	for (i = 0; i < ranks; i++)
		lowest[seen[i].rank] = i && cm_host_same(seen[i - 1].host, seen[i].host) ?
				       lowest[seen[i - 1].rank] : seen[i].rank;
	for (i = 0; i < ranks; i++) {
		if (lowest[i] == i) {
			p->host_of_rank[i] = p->host_count;
			p->hosts[p->host_count++] = &p->records[i].host;
		} else {
			p->host_of_rank[i] = p->host_of_rank[lowest[i]];
		}
	}
	free(seen);
	free(lowest);
	return 0;
}

/* Memory for the plan: then hosts are known. */
static int plan_make(struct plan *p, unsigned int ranks)
{
	p->host_of_rank = calloc(ranks, sizeof(*p->host_of_rank));
	p->hosts = calloc(ranks, sizeof(*p->hosts));
	p->chosen = calloc(ranks, sizeof(*p->chosen));
	if (!p->host_of_rank || !p->hosts || !p->chosen)
		return -ENOMEM;
	return plan_hosts(p, ranks);
}

static struct verdict verdict_of_records(const struct plan *p, int ranks)
{
	int i;

	for (i = 0; i < ranks; i++)
		if (p->records[i].error)
			return (struct verdict){ p->records[i].error, i };
	return (struct verdict){ };
}

static unsigned int local_ranks(const struct plan *p, unsigned int rank, unsigned int ranks)
{
	unsigned int i, count = 0;

	for (i = 0; i < ranks; i++)
		count += p->host_of_rank[i] == p->host_of_rank[rank];
	return count;
}

/* ---- the group ---- */

static int add_rank(struct collsock_group *group, const struct cm_address *a)
{
	struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(cm_settings.port),
	};
	struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_port = htons(cm_settings.port),
	};

	if (a->family == AF_INET) {
		memcpy(&in.sin_addr, a->bytes, sizeof(in.sin_addr));
		return collsock_group_add_sockaddr(group, (struct sockaddr *)&in, sizeof(in));
	}
	memcpy(&in6.sin6_addr, a->bytes, sizeof(in6.sin6_addr));
	return collsock_group_add_sockaddr(group, (struct sockaddr *)&in6, sizeof(in6));
}

static void set_request(struct collsock_join *join)
{
	join->max_bytes = cm_settings.max_bytes;
	join->window = cm_settings.window;
	join->liveness_ms = cm_settings.liveness_ms;
	join->algorithm[COLLSOCK_BARRIER] = cm_settings.algorithm[0];
	join->algorithm[COLLSOCK_ALLREDUCE] = cm_settings.algorithm[1];
	join->algorithm[COLLSOCK_REDUCE] = cm_settings.algorithm[2];
	join->algorithm[COLLSOCK_BROADCAST] = cm_settings.algorithm[3];
	join->fanout = cm_settings.fanout;
}

static int join_group(struct cm_comm *c, const struct plan *p)
{
	const struct record *first = &p->records[0];
	struct collsock_group *group;
	int err, rank;

	err = collsock_group_new(&group, first->id, first->nonce, first->key);
	if (err)
		return err;
	for (rank = 0; !err && rank < c->size; rank++) {
		unsigned int host = p->host_of_rank[rank];

		err = add_rank(group, &p->hosts[host]->address[p->chosen[host]]);
	}
	if (!err) {
		set_request(collsock_group_request(group));
		err = collsock_join(c->socket, group, c->rank);
	}
	collsock_group_free(group);
	return err;
}

/* Where processors are short, spinning takes from others what they would need. */
static void set_spin(struct cm_comm *c, const struct plan *p)
{
	unsigned int spin_us = cm_settings.spin_us;

	if (spin_us == CM_SPIN_AUTO)
		spin_us = local_ranks(p, c->rank, c->size) <= sysconf(_SC_NPROCESSORS_ONLN) ?
			  SPIN_US : 0;
	collsock_set_spin(c->socket, spin_us < SPIN_ONCE_US ? spin_us : SPIN_ONCE_US);
	c->spins = spin_us / SPIN_ONCE_US;
}

static int join_this_rank(struct cm_comm *c, const struct plan *p)
{
	int err;

	c->scratch = malloc(cm_settings.max_bytes);
	err = c->scratch ? join_group(c, p) : -ENOMEM;
	if (!err)
		set_spin(c, p);
	return err;
}

/*
 * Joining asks nobody whether packets arrive: a first barrier does. Where they do not the
 * program shall not hear of it as a failure.
 */
static struct verdict try_out(struct cm_comm *c)
{
	struct cm_op op = { .call = CM_BARRIER, .post.operation = COLLSOCK_BARRIER };
	__u64 end = cm_now_ns() + TRY_OUT_S * CM_NS_PER_S;
	struct cm_comm *looked = NULL;
	struct cm_pace pace = { };

	cm_op_init(&op, c, NULL, NULL);
	cm_op_post(&op);
	while (!cm_op_test(&op, &looked) && cm_now_ns() < end) {
		cm_drive();
		cm_pace_sleep(&pace, NULL, 0);
		looked = NULL;
	}
	if (atomic_load(&op.state) != CM_OP_DONE) {
		cm_op_abandon(&op);
		return (struct verdict){ -EHOSTUNREACH, c->rank };
	}
	return (struct verdict){
		-op.error, op.failed_rank == COLLSOCK_NO_RANK ? c->rank : (int)op.failed_rank
	};
}

/* Each step is one of all ranks, or of none. */
static struct verdict join_all(struct cm_comm *c, struct plan *p)
{
	struct verdict v = { .rank = c->rank };

	if (!cm_hosts_choose(p->hosts, p->host_count, p->chosen))
		v.error = -EADDRNOTAVAIL;
	else
		v.error = join_this_rank(c, p);
	v = agree(c, v);
	return v.error ? v : agree(c, try_out(c));
}

static void pass_for_good(struct cm_comm *c, enum cm_reason reason)
{
	collsock_close(c->socket);
	c->socket = NULL;
	c->state = CM_PASSING;
	c->reason = reason;
}

/* The same on all ranks. */
static void pass_because(struct cm_comm *c, const struct verdict *v)
{
	pass_for_good(c, CM_UNABLE);
	if (v->error == -EHOSTUNREACH)
		atomic_store(&found_out, v->error);
	say_why(c, v);
	if (!c->rank && cm_settings.mode == CM_REQUIRE)
		give_up(c, "COLLSOCK_MPI=require does not allow that");
}

static void follow(struct cm_comm *c, struct plan *p)
{
	struct verdict v = verdict_of_records(p, c->size);

	if (plan_make(p, c->size)) {
		give_up(c, "no memory for joining");
		return;
	}
	if (p->host_count == 1) {
		pass_for_good(c, CM_ONE_HOST);
		return;
	}
	if (!v.error)
		v = join_all(c, p);
	if (v.error)
		pass_because(c, &v);
	else
		c->state = CM_JOINED;
}

static __thread bool joining;

void cm_join(struct cm_comm *c)
{
	struct plan plan = { };

	/* Whatever the MPI below calls meanwhile is its own business. */
	if (joining)
		return;
	joining = true;
	plan.records = exchange(c);
	if (plan.records)
		follow(c, &plan);
	if (c->state == CM_COUNTING)
		pass_for_good(c, CM_UNABLE);
	if (c->state == CM_JOINED && cm_settings.verbose && !c->rank)
		fprintf(stderr, "collsock: a communicator of %d ranks has joined\n", c->size);
	plan_free(&plan, c->size);
	joining = false;
}
