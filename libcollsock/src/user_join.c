// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* JOIN: checks the request, and makes a NEW member JOINED */
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../kernel/core/descriptor.h"
#include "user.h"
#include "user_thread.h"

/* A post may have a longer structure than this library knows. */
#define POST_ROOM	256

/* ---- the request ---- */

static bool join_is_zero(const u8 *bytes, size_t count)
{
	while (count && !*bytes) {
		bytes++;
		count--;
	}
	return !count;
}

/* Copy the fixed part, of which the caller may know more or less. Returns its length there. */
static int join_copy_fixed(struct collsock_join *j, const u8 *request, size_t bytes)
{
	u32 size;
	int err;

	if (bytes < sizeof(size))
		return -EINVAL;
	memcpy(&size, request, sizeof(size));
	err = user_struct_check(size, COLLSOCK_JOIN_VER0);
	if (err)
		return err;
	if (size > bytes)
		return -EINVAL;
	if (size > sizeof(*j) && !join_is_zero(request + sizeof(*j), size - sizeof(*j)))
		return -E2BIG;
	memset(j, 0, sizeof(*j));
	memcpy(j, request, min_t(size_t, size, sizeof(*j)));
	j->size = sizeof(*j);
	return size;
}

static int join_copy_tables(struct user_request *r, const u8 *tables)
{
	size_t members = r->join.hosts * sizeof(*r->members);
	size_t ranks = r->join.ranks * sizeof(*r->host_of_rank);

	r->members = malloc(members);
	r->host_of_rank = malloc(ranks);
	if (!r->members || !r->host_of_rank)
		return -ENOMEM;
	memcpy(r->members, tables, members);
	memcpy(r->host_of_rank, tables + members, ranks);
	return 0;
}

/* Ranks of one host would share a core, and its port. */
static bool join_is_alone(const struct user_request *r)
{
	u32 own = r->host_of_rank[r->join.rank], rank;

	for (rank = 0; rank < r->join.ranks; rank++)
		if (rank != r->join.rank && r->host_of_rank[rank] == own)
			return false;
	return true;
}

static int join_copy(struct user_request *r, const u8 *request, size_t bytes)
{
	int size = join_copy_fixed(&r->join, request, bytes), err;

	if (size < 0)
		return size;
	err = coll_descriptor_normalise(&r->join);
	if (err)
		return err;
	/* Copies go to the same port on all hosts, but here each rank has its own. */
	if (coll_menu_multicasts(&r->join))
		return -EOPNOTSUPP;
	if (bytes != size + coll_descriptor_tables(&r->join))
		return -EINVAL;
	/* Anybody on the network can send to the port. */
	if (join_is_zero(r->join.key, sizeof(r->join.key)))
		return -EACCES;
	err = join_copy_tables(r, request + size);
	if (!err)
		err = coll_descriptor_check(&r->join, r->members, r->host_of_rank);
	if (!err && !join_is_alone(r))
		err = -E2BIG;
	return err;
}

static void join_drop(struct user_request *r)
{
	free(r->members);
	free(r->host_of_rank);
	explicit_bzero(r, sizeof(*r));
}

/* ---- the socket ---- */

/* The process that bound the socket need not have set its options. */
static int join_adopt_socket(int fd, const struct collsock_member *self)
{
	union user_address bound;
	socklen_t bytes = sizeof(bound);

	if (getsockname(fd, &bound.any, &bytes))
		return -errno;
	return user_address_is(&bound, self) ? user_udp_set_up(fd, self->family) : -EADDRNOTAVAIL;
}

/* The socket is the member's, even after an error. */
static int join_set_up_udp(struct user_member *m, const struct user_request *r, int fd)
{
	const struct collsock_member *self = &r->members[r->host_of_rank[r->join.rank]];
	union user_address address;
	socklen_t bytes = user_address_of(&address, self);
	int err = 0;

	if (fd < 0)
		fd = user_udp_bind(&address, bytes);
	else
		err = join_adopt_socket(fd, self);
	if (fd < 0)
		return fd;
	m->udp.fd = fd;
	if (!err)
		err = user_udp_init(&m->udp, fd, coll_descriptor_packet_bytes(&r->join));
	return err;
}

/* ---- the group ---- */

static u32 join_incarnation(void)
{
	u32 incarnation;

	do {
		if (getrandom(&incarnation, sizeof(incarnation), 0) != sizeof(incarnation))
			return 0;
	} while (!incarnation);
	return incarnation;
}

static int join_make_group(struct user_member *m, const struct user_request *r)
{
	const struct coll_request request = { &r->join, r->members, r->host_of_rank };
	struct coll_config config = {
		.join		= &r->join,
		.host_of_rank	= r->host_of_rank,
		.timing		= coll_timing_default,
		.incarnation	= join_incarnation(),
	};
	struct coll_identity identity;
	int err;

	if (!config.incarnation)
		return -EIO;
	coll_endpoint_identify(&request, &identity);
	config.secret = &identity.secret;
	config.descriptor = identity.descriptor;
	config.self = identity.self;
	if (r->join.liveness_ms)
		config.timing.liveness = r->join.liveness_ms * (u64)NSEC_PER_MSEC;
	err = coll_group_init(&m->group, &config);
	if (!err)
		err = coll_group_join(&m->group, r->join.rank);
	explicit_bzero(&identity, sizeof(identity));
	return err < 0 ? err : 0;
}

static int join_make_buffers(struct user_member *m, const struct user_request *r)
{
	size_t most = sizeof(struct collsock_completion) + POST_ROOM + r->join.max_result_bytes;
	int err = user_pipe_reserve(&m->pipe, most, r->join.max_result_bytes);

	if (!err)
		err = user_slots_init(&m->slots, r->join.window, m->group.payload.room);
	if (err)
		return err;
	m->raw.room = most;
	m->raw.data = malloc(most);
	return m->raw.data ? 0 : -ENOMEM;
}

static int join_make(struct user_member *m, const struct user_request *r, int fd)
{
	int err = join_set_up_udp(m, r, fd);

	if (!err)
		err = join_make_group(m, r);
	if (!err)
		err = join_make_buffers(m, r);
	return err;
}

/* Another JOIN may follow. */
static void join_undo(struct user_member *m)
{
	coll_group_destroy(&m->group);
	explicit_bzero(&m->group, sizeof(m->group));
	user_slots_free(&m->slots);
	memset(&m->slots, 0, sizeof(m->slots));
	user_udp_free(&m->udp);
	free(m->raw.data);
	memset(&m->raw, 0, sizeof(m->raw));
	m->deadline = COLL_NEVER;
}

/* From now on packets reach the group; those that came before wait in the socket. */
static void join_begin(struct user_member *m, struct user_request *r)
{
	m->request = *r;
	explicit_bzero(m->request.join.key, sizeof(m->request.join.key));
	explicit_bzero(r, sizeof(*r));
	user_udp_mark_joined(m->udp.fd);
	m->state = USER_JOINED;
	m->joined_ns = user_member_begin(m);
	user_member_settle(m);
	user_thread_take_back(m);
	user_thread_mind(m);
}

static int join_locked(struct user_member *m, struct user_request *r, int fd)
{
	int err;

	if (m->state != USER_NEW) {
		if (fd >= 0)
			close(fd);
		return -EISCONN;
	}
	err = join_make(m, r, fd);
	if (err)
		join_undo(m);
	else
		join_begin(m, r);
	return err;
}

int user_join(struct user_member *m, const void *request, size_t bytes, int fd)
{
	struct user_request r = { .members = NULL };
	int err = m->dead ? -ECHILD : join_copy(&r, request, bytes);

	if (!err)
		err = user_thread_drive(m);
	if (!err) {
		pthread_mutex_lock(&m->lock);
		err = join_locked(m, &r, fd);
		pthread_mutex_unlock(&m->lock);
	} else if (fd >= 0) {
		close(fd);
	}
	join_drop(&r);
	return err;
}
