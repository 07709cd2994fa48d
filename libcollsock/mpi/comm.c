// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm.h"
#include "export.h"
#include "fatal.h"

struct cm_comm *cm_comm_all;
static pthread_mutex_t comm_all_lock = PTHREAD_MUTEX_INITIALIZER;

static int comm_keyval = MPI_KEYVAL_INVALID;
static MPI_Group comm_world;
static bool comm_ready;

/* Changes when a communicator is freed, as another one may get its handle. */
static atomic_uint comm_generation;

/* The communicator that this thread used last */
static __thread struct {
	MPI_Comm		handle;
	struct cm_comm		*comm;
	unsigned int		generation;
} comm_last;

/*
 * The last character of the name of a communicator that is being freed. MPICH frees it when
 * its last request has ended, perhaps much later than MPI_Comm_free, and calls callbacks
 * then; another communicator with the same handle has another name.
 */
#define COMM_FREED_MARK '\1'

/* Represents any communicator that is being freed */
static struct cm_comm comm_freed = { .state = CM_PASSING, .reason = CM_FREED };

/* ---- the list of communicators ---- */

void cm_comm_lock_all(void)
{
	pthread_mutex_lock(&comm_all_lock);
}

void cm_comm_unlock_all(void)
{
	pthread_mutex_unlock(&comm_all_lock);
}

static void comm_list(struct cm_comm *c)
{
	cm_comm_lock_all();
	c->next = cm_comm_all;
	if (c->next)
		c->next->link = &c->next;
	c->link = &cm_comm_all;
	cm_comm_all = c;
	cm_comm_unlock_all();
}

static void comm_unlist(struct cm_comm *c)
{
	cm_comm_lock_all();
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	cm_comm_unlock_all();
}

static bool comm_is_known(MPI_Comm handle)
{
	struct cm_comm *c;

	cm_comm_lock_all();
	for (c = cm_comm_all; c && c->handle != handle; c = c->next)
		;
	cm_comm_unlock_all();
	return c;
}

/* ---- references ---- */

void cm_comm_get(struct cm_comm *c)
{
	atomic_fetch_add(&c->references, 1);
}

void cm_comm_put(struct cm_comm *c)
{
	if (atomic_fetch_sub(&c->references, 1) > 1)
		return;
	comm_unlist(c);
	collsock_close(c->socket);
	pthread_mutex_destroy(&c->window.lock);
	free(c->window.scratch);
	free(c);
}

/* The handle must not be used any more. */
static void comm_forget_handle(struct cm_comm *c)
{
	atomic_fetch_add(&comm_generation, 1);
	cm_comm_lock_all();
	c->handle = MPI_COMM_NULL;
	cm_comm_unlock_all();
}

/* MPI deletes the attribute. Requests may still hold references. */
static int comm_deleted(MPI_Comm handle, int key, void *value, void *extra)
{
	struct cm_comm *c = value;

	(void)handle;
	(void)key;
	(void)extra;
	comm_forget_handle(c);
	cm_comm_put(c);
	return MPI_SUCCESS;
}

/* ---- creation ---- */

/* Does it contain ranks of other programs, whose settings may differ? */
static bool comm_spans_worlds(MPI_Comm handle)
{
	MPI_Group group, foreign;
	int size;

	if (handle == MPI_COMM_WORLD)
		return false;
	PMPI_Comm_group(handle, &group);
	PMPI_Group_difference(group, comm_world, &foreign);
	PMPI_Group_size(foreign, &size);
	PMPI_Group_free(&group);
	if (foreign != MPI_GROUP_EMPTY)
		PMPI_Group_free(&foreign);
	return size > 0;
}

/* Why collsock can never serve it, or CM_TAKEN */
static enum cm_reason comm_obstacle(struct cm_comm *c)
{
	int inter;

	PMPI_Comm_test_inter(c->handle, &inter);
	if (inter)
		return CM_INTER;
	if (c->size == 1)
		return CM_ALONE;
	return comm_spans_worlds(c->handle) ? CM_FOREIGN : CM_TAKEN;
}

/* Passing its calls on is no option: the other ranks would wait for this one. */
static struct cm_comm *comm_no_memory(MPI_Comm handle)
{
	cm_fatal_abort(handle, 1, "collsock: no memory for a communicator\n");
	return NULL;
}

static struct cm_comm *comm_new(MPI_Comm handle)
{
	struct cm_comm *c = calloc(1, sizeof(*c));

	if (!c)
		return comm_no_memory(handle);
	c->handle = handle;
	PMPI_Comm_rank(handle, &c->rank);
	PMPI_Comm_size(handle, &c->size);
	c->reason = comm_obstacle(c);
	c->state = c->reason == CM_TAKEN ? CM_COUNTING : CM_PASSING;
	c->window.queue_end = &c->window.queue;
	pthread_mutex_init(&c->window.lock, NULL);
	atomic_init(&c->references, 1);
	comm_list(c);
	if (PMPI_Comm_set_attr(handle, comm_keyval, c)) {
		cm_comm_put(c);
		return comm_no_memory(handle);
	}
	return c;
}

static bool comm_is_being_freed(MPI_Comm handle)
{
	char name[MPI_MAX_OBJECT_NAME] = "";
	int length = 0;

	return !PMPI_Comm_get_name(handle, name, &length) && length &&
	       name[length - 1] == COMM_FREED_MARK;
}

struct cm_comm *cm_comm_find(MPI_Comm handle)
{
	unsigned int now = atomic_load(&comm_generation);
	struct cm_comm *c;
	int found;

	if (!comm_ready)
		return NULL;
	if (handle == comm_last.handle && now == comm_last.generation && comm_last.comm)
		return comm_last.comm;
	if (handle == MPI_COMM_NULL || PMPI_Comm_get_attr(handle, comm_keyval, &c, &found))
		return NULL;
	if (!found && comm_is_being_freed(handle))
		return &comm_freed;
	if (!found)
		c = comm_new(handle);
	comm_last.handle = handle;
	comm_last.comm = c;
	comm_last.generation = now;
	return c;
}

/* ---- leaving and freeing ---- */

void cm_comm_pass(struct cm_comm *c, enum cm_reason reason)
{
	collsock_close(c->socket);
	c->socket = NULL;
	c->state = CM_PASSING;
	c->reason = reason;
}

void cm_comm_leave(struct cm_comm *c, int error)
{
	int none = 0, fd;

	if (!atomic_compare_exchange_strong(&c->failure.left, &none, error))
		return;
	atomic_store(&c->failure.seen, true);
	/* Other threads may be about to use the file descriptor, so it stays open. */
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (fd < 0 || dup3(fd, collsock_fd(c->socket), O_CLOEXEC) < 0)
		cm_fatal_abort(MPI_COMM_WORLD, 1, "collsock: rank %d cannot leave its group\n",
			       c->rank);
	close(fd);
}

void cm_comm_abort(const struct cm_comm *c, const char *why)
{
	cm_fatal_abort(c->handle, 1, "collsock: rank %d of a communicator of %d ranks: %s\n",
		       c->rank, c->size, why);
}

/* Returns an MPI error code, and in @name the previous name. */
static int comm_mark_freed(MPI_Comm handle, char name[MPI_MAX_OBJECT_NAME])
{
	char marked[MPI_MAX_OBJECT_NAME] = "";
	int err, length;

	err = PMPI_Comm_get_name(handle, name, &length);
	if (err)
		return err;
	if (length > MPI_MAX_OBJECT_NAME - 2)
		length = MPI_MAX_OBJECT_NAME - 2;
	memcpy(marked, name, length);
	marked[length] = COMM_FREED_MARK;
	return PMPI_Comm_set_name(handle, marked);
}

/*
 * The program frees it, with the given function of the underlying MPI. The attribute is
 * deleted first, and calls from callbacks of the program are passed on: MPI deletes
 * attributes in an order that depends on when each rank has set them.
 */
static int comm_free_with(int (*underlying_free)(MPI_Comm *), MPI_Comm *handle)
{
	char name[MPI_MAX_OBJECT_NAME];
	MPI_Comm given;
	int err;

	/* MPI refuses these. */
	if (!comm_ready || !handle || *handle == MPI_COMM_NULL || *handle == MPI_COMM_WORLD)
		return underlying_free(handle);
	given = *handle;
	if (comm_mark_freed(given, name))
		return underlying_free(handle);
	if (comm_is_known(given))
		PMPI_Comm_delete_attr(given, comm_keyval);
	err = underlying_free(handle);
	if (err)
		PMPI_Comm_set_name(given, name);
	return err;
}

static int comm_free(MPI_Comm *handle)
{
	return comm_free_with(cm_underlying.Comm_free, handle);
}

static int comm_disconnect(MPI_Comm *handle)
{
	return comm_free_with(cm_underlying.Comm_disconnect, handle);
}

CM_EXPORT(Comm_free, (MPI_Comm *comm), (comm), comm_free)
CM_EXPORT(Comm_disconnect, (MPI_Comm *comm), (comm), comm_disconnect)

/* ---- init and exit ---- */

int cm_comm_init(void)
{
	int err;

	err = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_deleted, &comm_keyval, NULL);
	if (!err)
		err = PMPI_Comm_group(MPI_COMM_WORLD, &comm_world);
	comm_ready = !err;
	return err;
}

/* MPI_Finalize deletes the attributes of communicators that were not freed later. */
void cm_comm_exit(void)
{
	if (!comm_ready)
		return;
	comm_ready = false;
	PMPI_Group_free(&comm_world);
	PMPI_Comm_free_keyval(&comm_keyval);
}
