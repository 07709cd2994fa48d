// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <string.h>

#include "attribute.h"
#include "export.h"
#include "fatal.h"

static int attribute_keyval = MPI_KEYVAL_INVALID;
static MPI_Group attribute_world;
static bool attribute_ready;

/* Changes when a communicator is freed, as another one may get its handle. */
static atomic_uint attribute_generation;

/*
 * The communicator that this thread used last. The library is loaded with the program, so that
 * the place of this need not be looked up.
 */
static __attribute__((tls_model("initial-exec"))) __thread struct {
	MPI_Comm		handle;
	struct cm_comm		*comm;
	unsigned int		generation;
} attribute_last;

/*
 * The last character of the name of a communicator that is being freed. MPICH frees it when
 * its last request has ended, perhaps much later than MPI_Comm_free, and calls callbacks
 * then; another communicator with the same handle has another name.
 */
#define FREED_MARK '\1'

/* Represents any communicator that is being freed */
static struct cm_comm attribute_freed = { .state = CM_PASSING, .reason = CM_FREED };

static bool attribute_is_known(MPI_Comm handle)
{
	struct cm_comm *c;

	cm_comm_lock_all();
	for (c = cm_comm_all; c && c->handle != handle; c = c->next)
		;
	cm_comm_unlock_all();
	return c;
}

/* ---- the end of a handle ---- */

/* The handle must not be used any more. */
static void attribute_forget_handle(struct cm_comm *c)
{
	atomic_fetch_add(&attribute_generation, 1);
	cm_comm_lock_all();
	c->handle = MPI_COMM_NULL;
	cm_comm_unlock_all();
}

/* MPI deletes the attribute. Requests may still hold references. */
static int attribute_deleted(MPI_Comm handle, int key, void *value, void *extra)
{
	struct cm_comm *c = value;

	(void)handle;
	(void)key;
	(void)extra;
	attribute_forget_handle(c);
	cm_comm_put(c);
	return MPI_SUCCESS;
}

/* ---- creation ---- */

/* Does it contain ranks of other programs, whose settings may differ? */
static bool attribute_spans_worlds(MPI_Comm handle)
{
	MPI_Group group, foreign;
	int size;

	if (handle == MPI_COMM_WORLD)
		return false;
	PMPI_Comm_group(handle, &group);
	PMPI_Group_difference(group, attribute_world, &foreign);
	PMPI_Group_size(foreign, &size);
	PMPI_Group_free(&group);
	if (foreign != MPI_GROUP_EMPTY)
		PMPI_Group_free(&foreign);
	return size > 0;
}

/* Why collsock can never serve it, or CM_HANDLED */
static enum cm_reason attribute_obstacle(struct cm_comm *c)
{
	int inter;

	PMPI_Comm_test_inter(c->handle, &inter);
	if (inter)
		return CM_INTER;
	if (c->size == 1)
		return CM_ALONE;
	return attribute_spans_worlds(c->handle) ? CM_FOREIGN : CM_HANDLED;
}

static struct cm_comm *attribute_new(MPI_Comm handle)
{
	struct cm_comm *c;
	int rank, size;

	PMPI_Comm_rank(handle, &rank);
	PMPI_Comm_size(handle, &size);
	c = cm_comm_new(handle, rank, size);
	if (!c)
		return NULL;
	c->reason = attribute_obstacle(c);
	c->state = c->reason == CM_HANDLED ? CM_COUNTING : CM_PASSING;
	if (!PMPI_Comm_set_attr(handle, attribute_keyval, c))
		return c;
	cm_comm_put(c);
	cm_fatal_abort(handle, 1, "collsock: no memory for a communicator\n");
	return NULL;
}

static bool attribute_is_being_freed(MPI_Comm handle)
{
	char name[MPI_MAX_OBJECT_NAME] = "";
	int length = 0;

	return !PMPI_Comm_get_name(handle, name, &length) && length &&
	       name[length - 1] == FREED_MARK;
}

static struct cm_comm *attribute_look_up(MPI_Comm handle, unsigned int now)
{
	struct cm_comm *c;
	int found;

	if (handle == MPI_COMM_NULL || PMPI_Comm_get_attr(handle, attribute_keyval, &c, &found))
		return NULL;
	if (!found && attribute_is_being_freed(handle))
		return &attribute_freed;
	if (!found)
		c = attribute_new(handle);
	attribute_last.handle = handle;
	attribute_last.comm = c;
	attribute_last.generation = now;
	return c;
}

struct cm_comm *cm_attribute_find(MPI_Comm handle)
{
	unsigned int now = atomic_load(&attribute_generation);

	if (!attribute_ready)
		return NULL;
	if (handle == attribute_last.handle && now == attribute_last.generation &&
	    attribute_last.comm)
		return attribute_last.comm;
	return attribute_look_up(handle, now);
}

/* ---- freeing ---- */

/* Returns an MPI error code, and in @name the previous name. */
static int attribute_mark_freed(MPI_Comm handle, char name[MPI_MAX_OBJECT_NAME])
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

/*
 * The program frees it, with the given function of the underlying MPI. The attribute is
 * deleted first, and calls from callbacks of the program are passed on: MPI deletes
 * attributes in an order that depends on when each rank has set them.
 */
static int attribute_free_with(int (*underlying_free)(MPI_Comm *), MPI_Comm *handle)
{
	char name[MPI_MAX_OBJECT_NAME];
	MPI_Comm given;
	int err;

	/* MPI refuses these. */
	if (!attribute_ready || !handle || *handle == MPI_COMM_NULL || *handle == MPI_COMM_WORLD)
		return underlying_free(handle);
	given = *handle;
	if (attribute_mark_freed(given, name))
		return underlying_free(handle);
	if (attribute_is_known(given))
		PMPI_Comm_delete_attr(given, attribute_keyval);
	err = underlying_free(handle);
	if (err)
		PMPI_Comm_set_name(given, name);
	return err;
}

static int attribute_free(MPI_Comm *handle)
{
	return attribute_free_with(cm_functions.Comm_free, handle);
}

static int attribute_disconnect(MPI_Comm *handle)
{
	return attribute_free_with(cm_functions.Comm_disconnect, handle);
}

CM_EXPORT(Comm_free, (MPI_Comm *comm), (comm), attribute_free)
CM_EXPORT(Comm_disconnect, (MPI_Comm *comm), (comm), attribute_disconnect)

/* ---- init and exit ---- */

int cm_attribute_init(void)
{
	int err;

	err = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, attribute_deleted, &attribute_keyval,
				      NULL);
	if (!err)
		err = PMPI_Comm_group(MPI_COMM_WORLD, &attribute_world);
	attribute_ready = !err;
	return err;
}

/* MPI_Finalize deletes the attributes of communicators that were not freed later. */
void cm_attribute_exit(void)
{
	if (!attribute_ready)
		return;
	attribute_ready = false;
	PMPI_Group_free(&attribute_world);
	PMPI_Comm_free_keyval(&attribute_keyval);
}
