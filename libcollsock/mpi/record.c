// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>

#include "record.h"
#include "settings.h"
#include "underlying.h"

#define DESCRIPTORS_LEFT 64	/* left for the program */

static atomic_int record_known_error;

void cm_record_remember(int error)
{
	atomic_store(&record_known_error, error);
}

/* Leave enough file descriptors for the program. */
static int record_open_socket(struct cm_comm *c)
{
	struct rlimit most;
	int err;

	err = collsock_open(&c->socket, COLLSOCK_OPEN_NONBLOCK);
	if (err == -EAFNOSUPPORT)
		cm_record_remember(err);
	if (err || getrlimit(RLIMIT_NOFILE, &most) ||
	    (rlim_t)collsock_fd(c->socket) + DESCRIPTORS_LEFT < most.rlim_cur)
		return err;
	collsock_close(c->socket);
	c->socket = NULL;
	return -EMFILE;
}

static int record_draw_random(struct cm_record *r)
{
	if (getrandom(&r->id, sizeof(r->id), 0) != sizeof(r->id) ||
	    getrandom(&r->nonce, sizeof(r->nonce), 0) != sizeof(r->nonce) ||
	    getrandom(r->key, sizeof(r->key), 0) != sizeof(r->key))
		return -errno;
	return 0;
}

static void record_fill(struct cm_comm *c, struct cm_record *r)
{
	memset(r, 0, sizeof(*r));
	r->error = cm_host_identify(&r->host);
	if (!r->error)
		r->error = atomic_load(&record_known_error);
	if (!r->error)
		r->error = record_open_socket(c);
	if (!r->error)
		r->error = cm_host_add_addresses(&r->host, &cm_settings);
	if (!r->error && !c->rank)
		r->error = record_draw_random(r);
}

struct cm_record *cm_record_exchange(struct cm_comm *c)
{
	struct cm_record *records = calloc(c->size, sizeof(*records)), own;

	record_fill(c, &own);
	if (!records) {
		cm_comm_abort(c, "no memory for addresses");
	} else if (cm_underlying_allgather(c, &own, sizeof(own), records)) {
		cm_comm_abort(c, "addresses could not be exchanged");
		free(records);
		records = NULL;
	}
	explicit_bzero(&own, sizeof(own));
	return records;
}

void cm_record_free(struct cm_record *records, int ranks)
{
	if (records)
		explicit_bzero(records, ranks * sizeof(*records));
	free(records);
}
