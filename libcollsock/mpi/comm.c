// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "comm.h"
#include "fatal.h"

struct cm_comm *cm_comm_all;
static pthread_mutex_t comm_all_lock = PTHREAD_MUTEX_INITIALIZER;
/* The eventfd of the thread that waits for sockets of the list, or -1 */
static atomic_int comm_watcher = -1;

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

void cm_comm_watch(int event_fd)
{
	atomic_store(&comm_watcher, event_fd);
}

/* ---- its socket ---- */

static void comm_wake_watcher(void)
{
	int event_fd = atomic_load(&comm_watcher);
	const __u64 once = 1;

	if (event_fd >= 0 && write(event_fd, &once, sizeof(once)) < 0)
		abort();
}

/* The watcher waits for sockets that it has read from the list. */
static void comm_close_socket(struct cm_comm *c)
{
	struct collsock *socket;

	cm_comm_lock_all();
	socket = c->socket;
	c->socket = NULL;
	c->window.page = NULL;
	cm_comm_unlock_all();
	collsock_close(socket);
	comm_wake_watcher();
}

void cm_comm_close(struct cm_comm *c)
{
	comm_close_socket(c);
	memset(&c->spin, 0, sizeof(c->spin));
	atomic_store(&c->window.received, 0);
	atomic_store(&c->window.under_way, 0);
	atomic_store(&c->failure.seen, false);
	atomic_store(&c->failure.left, 0);
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
	comm_close_socket(c);
	pthread_mutex_destroy(&c->window.lock);
	free(c->window.scratch);
	free(c);
}

/* ---- creation ---- */

struct cm_comm *cm_comm_new(MPI_Comm handle, int rank, int size)
{
	struct cm_comm *c = calloc(1, sizeof(*c));

	/* Passing its calls on is no option: the other ranks would wait for this one. */
	if (!c) {
		cm_fatal_abort(handle, 1, "collsock: no memory for a communicator\n");
		return NULL;
	}
	c->handle = handle;
	c->rank = rank;
	c->size = size;
	c->window.queue_end = &c->window.queue;
	pthread_mutex_init(&c->window.lock, NULL);
	atomic_init(&c->references, 1);
	comm_list(c);
	return c;
}

/* ---- passing and leaving ---- */

void cm_comm_pass(struct cm_comm *c, enum cm_reason reason)
{
	comm_close_socket(c);
	free(c->window.scratch);
	c->window.scratch = NULL;
	c->state = CM_PASSING;
	c->reason = reason;
}

void cm_comm_leave(struct cm_comm *c, int error)
{
	int none = 0, fd;

	if (!atomic_compare_exchange_strong(&c->failure.left, &none, error))
		return;
	atomic_store(&c->failure.seen, true);
	/* The page holds the socket as a duplicate of the descriptor does, and may be in use. */
	shutdown(collsock_fd(c->socket), SHUT_RDWR);
	/* Other threads may be about to use the file descriptor, so it stays open. */
	fd = open("/dev/null", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || dup3(fd, collsock_fd(c->socket), O_CLOEXEC) < 0)
		cm_fatal_abort(MPI_COMM_WORLD, 1, "collsock: rank %d cannot leave its group\n",
			       c->rank);
	close(fd);
	comm_wake_watcher();
}

void cm_comm_abort(const struct cm_comm *c, const char *why)
{
	cm_fatal_abort(c->handle, 1, "collsock: rank %d of a communicator of %d ranks: %s\n",
		       c->rank, c->size, why);
}
