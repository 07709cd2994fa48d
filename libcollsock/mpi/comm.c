// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm.h"
#include "settings.h"

struct cm_comm *cm_comm_all;
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;

static int keyval = MPI_KEYVAL_INVALID;
static MPI_Group world;
static bool ready;

/* Changes when a communicator is freed: its handle may be given to another one. */
static atomic_uint generation;

/* The communicator that this thread used last */
static __thread struct {
	MPI_Comm		handle;
	struct cm_comm		*comm;
	unsigned int		generation;
} last;

/*
 * The last character of the name of a communicator that is being freed. MPICH does so when
 * its last request has ended, perhaps much later than MPI_Comm_free, and calls callbacks
 * then; another communicator with the same handle has another name.
 */
#define FREED_MARK '\1'

/* What is being freed passes everything. */
static struct cm_comm freed = { .state = CM_PASSING, .reason = CM_FREED };

void cm_comm_lock_all(void)
{
	pthread_mutex_lock(&all_lock);
}

void cm_comm_unlock_all(void)
{
	pthread_mutex_unlock(&all_lock);
}

static void list(struct cm_comm *c)
{
	cm_comm_lock_all();
	c->next = cm_comm_all;
	if (c->next)
		c->next->link = &c->next;
	c->link = &cm_comm_all;
	cm_comm_all = c;
	cm_comm_unlock_all();
}

static void unlist(struct cm_comm *c)
{
	cm_comm_lock_all();
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	cm_comm_unlock_all();
}

void cm_comm_put(struct cm_comm *c)
{
	if (atomic_fetch_sub(&c->references, 1) > 1)
		return;
	unlist(c);
	collsock_close(c->socket);
	pthread_mutex_destroy(&c->lock);
	free(c->scratch);
	free(c);
}

/* Nobody has any business with the handle any more. */
static void unname(struct cm_comm *c)
{
	atomic_fetch_add(&generation, 1);
	cm_comm_lock_all();
	c->handle = MPI_COMM_NULL;
	cm_comm_unlock_all();
}

/* The attribute goes. Requests may still need what hung on the communicator. */
static int forget(MPI_Comm handle, int key, void *value, void *extra)
{
	struct cm_comm *c = value;

	(void)handle;
	(void)key;
	(void)extra;
	unname(c);
	cm_comm_put(c);
	return MPI_SUCCESS;
}

static bool is_known(MPI_Comm handle)
{
	struct cm_comm *c;

	cm_comm_lock_all();
	for (c = cm_comm_all; c && c->handle != handle; c = c->next)
		;
	cm_comm_unlock_all();
	return c;
}

static bool is_being_freed(MPI_Comm handle)
{
	char name[MPI_MAX_OBJECT_NAME] = "";
	int length = 0;

	return !PMPI_Comm_get_name(handle, name, &length) && length &&
	       name[length - 1] == FREED_MARK;
}

/* @name is what it was. */
static int mark_freed(MPI_Comm handle, char name[MPI_MAX_OBJECT_NAME])
{
	char marked[MPI_MAX_OBJECT_NAME] = "";
	int err, length;

	err = PMPI_Comm_get_name(handle, name, &length);
	if (err)
		return err;
	if (length > MPI_MAX_OBJECT_NAME - 2)
		length = MPI_MAX_OBJECT_NAME - 2;
	memcpy(marked, name, length);
	marked[length] = FREED_MARK;
	return PMPI_Comm_set_name(handle, marked);
}

int cm_comm_free(MPI_Comm *handle, int (*free_below)(MPI_Comm *handle))
{
	char name[MPI_MAX_OBJECT_NAME];
	MPI_Comm given;
	int err;

	/* What cannot be freed is only refused. */
	if (!ready || !handle || *handle == MPI_COMM_NULL || *handle == MPI_COMM_WORLD)
		return free_below(handle);
	given = *handle;
	if (mark_freed(given, name))
		return free_below(handle);
	if (is_known(given))
		PMPI_Comm_delete_attr(given, keyval);
	err = free_below(handle);
	if (err)
		PMPI_Comm_set_name(given, name);
	return err;
}

void cm_comm_break(struct cm_comm *c, int error)
{
	int none = 0, fd;

	if (!atomic_compare_exchange_strong(&c->broken, &none, error))
		return;
	atomic_store(&c->failed, true);
	/* Other threads may just be about to use the descriptor: it stays one. */
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (fd < 0 || dup3(fd, collsock_fd(c->socket), O_CLOEXEC) < 0) {
		fprintf(stderr, "collsock: rank %d cannot leave its group\n", c->rank);
		PMPI_Abort(MPI_COMM_WORLD, 1);
	}
	close(fd);
}

/* Does it reach into the world of other programs, whose settings may differ? */
static bool spans_worlds(MPI_Comm handle)
{
	MPI_Group group, foreign;
	int size;

	if (handle == MPI_COMM_WORLD)
		return false;
	PMPI_Comm_group(handle, &group);
	PMPI_Group_difference(group, world, &foreign);
	PMPI_Group_size(foreign, &size);
	PMPI_Group_free(&group);
	if (foreign != MPI_GROUP_EMPTY)
		PMPI_Group_free(&foreign);
	return size > 0;
}

/* Is there anything that keeps collsock from ever serving it? */
static enum cm_reason obstacle_of(struct cm_comm *c)
{
	int inter;

	PMPI_Comm_test_inter(c->handle, &inter);
	if (inter)
		return CM_INTER;
	if (c->size == 1)
		return CM_ALONE;
	return spans_worlds(c->handle) ? CM_FOREIGN : CM_TAKEN;
}

/* The others would wait for a rank that passes for want of memory. */
static struct cm_comm *no_memory(MPI_Comm handle)
{
	fprintf(stderr, "collsock: no memory for a communicator\n");
	PMPI_Abort(handle, 1);
	return NULL;
}

static struct cm_comm *comm_new(MPI_Comm handle)
{
	struct cm_comm *c = calloc(1, sizeof(*c));

	if (!c)
		return no_memory(handle);
	c->handle = handle;
	PMPI_Comm_rank(handle, &c->rank);
	PMPI_Comm_size(handle, &c->size);
	c->reason = obstacle_of(c);
	c->state = c->reason == CM_TAKEN ? CM_COUNTING : CM_PASSING;
	c->queue_end = &c->queue;
	pthread_mutex_init(&c->lock, NULL);
	atomic_init(&c->references, 1);
	list(c);
	if (PMPI_Comm_set_attr(handle, keyval, c)) {
		cm_comm_put(c);
		return no_memory(handle);
	}
	return c;
}

static struct cm_comm *comm_find(MPI_Comm handle)
{
	unsigned int now = atomic_load(&generation);
	struct cm_comm *c;
	int found;

	if (handle == last.handle && now == last.generation && last.comm)
		return last.comm;
	if (handle == MPI_COMM_NULL || PMPI_Comm_get_attr(handle, keyval, &c, &found))
		return NULL;
	if (!found && is_being_freed(handle))
		return &freed;
	if (!found)
		c = comm_new(handle);
	last.handle = handle;
	last.comm = c;
	last.generation = now;
	return c;
}

/* Nonblocking calls never join: their callers need not wait for one another. */
static enum cm_reason count_call(struct cm_comm *c, enum cm_call call)
{
	if (++c->calls < cm_settings.after || cm_call_is_nonblocking(call))
		return CM_NOT_YET;
	cm_join(c);
	return c->state == CM_COUNTING ? CM_NOT_YET : c->reason;
}

struct cm_comm *cm_comm_find(MPI_Comm handle, enum cm_call call)
{
	struct cm_comm *c;

	if (!ready)
		return NULL;
	c = comm_find(handle);
	if (!c || c->state != CM_PASSING)
		return c;
	cm_summary_count(call, c->reason);
	return NULL;
}

bool cm_comm_take(struct cm_comm *c, enum cm_call call, enum cm_reason obstacle)
{
	if (c->state == CM_COUNTING && obstacle == CM_TAKEN)
		obstacle = count_call(c, call);
	cm_summary_count(call, obstacle);
	return obstacle == CM_TAKEN;
}

void cm_comm_join_world(void)
{
	struct cm_comm *c;

	if (!ready)
		return;
	c = comm_find(MPI_COMM_WORLD);
	if (c && c->state == CM_COUNTING)
		cm_join(c);
}

int cm_comm_init(void)
{
	int err;

	err = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL);
	if (!err)
		err = PMPI_Comm_group(MPI_COMM_WORLD, &world);
	ready = !err;
	return err;
}

/* Attributes of communicators that were not freed go later in MPI_Finalize. */
void cm_comm_exit(void)
{
	if (!ready)
		return;
	ready = false;
	PMPI_Group_free(&world);
	PMPI_Comm_free_keyval(&keyval);
}
