// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "joining_record.h"

/* The version includes the byte order, as the numbers of a record are in that of its host. */
#define RECORD_VERSION 0xc0110106U

#define RECORD_STRANGE \
	"has another version of the library, or another byte order, than rank 0: install the same on all hosts"
#define RECORD_NONSENSE "sent what no rank sends: does the exchange deliver what it was given?"

static_assert(sizeof(struct joining_record) == JOINING_RECORD_BYTES, "length of a record");

/* ---- this rank's ---- */

static int record_draw(void *random, size_t bytes)
{
	return getrandom(random, bytes, 0) == (ssize_t)bytes ? 0 : -EIO;
}

/* The number of a group with a name, which is the same each time (FNV-1a) */
static __u64 record_id_of(const char *name)
{
	__u64 id = 0xcbf29ce484222325ULL;

	for (; *name; name++)
		id = (id ^ (__u8)*name) * 0x100000001b3ULL;
	return id;
}

static int record_draw_secrets(struct joining_record *r)
{
	if (r->terms.name[0])
		r->id = record_id_of(r->terms.name);
	else if (record_draw(&r->id, sizeof(r->id)))
		return -EIO;
	return r->terms.keyed ? 0 : record_draw(r->key, sizeof(r->key));
}

void joining_record_fill(struct joining_record *r, const struct collsock_options *options,
			 const struct collsock_devices *devices, __u32 rank, __u32 ranks,
			 int error)
{
	memset(r, 0, sizeof(*r));
	r->version = RECORD_VERSION;
	r->rank = rank;
	r->ranks = ranks;
	joining_options_terms(&r->terms, options);
	r->error = joining_host_identify(&r->host);
	if (!r->error)
		r->error = error;
	if (!r->error)
		r->error = joining_host_add_addresses(&r->host, options, devices);
	if (!r->error)
		r->error = record_draw(&r->fresh, sizeof(r->fresh));
	if (!r->error && !rank)
		r->error = record_draw_secrets(r);
}

/* ---- those of all ranks ---- */

static const struct joining_outcome record_is_fine = { 0, COLLSOCK_NO_RANK };

static struct joining_outcome record_blame(int error, __u32 rank, const char *why, char *detail)
{
	snprintf(detail, JOINING_DETAIL_BYTES, "rank %u %s", rank, why);
	return (struct joining_outcome){ error, rank };
}

static struct joining_outcome record_error(const struct joining_record *r, char *detail)
{
	char why[JOINING_DETAIL_BYTES - 32];

	if (r->no_program)
		snprintf(detail, JOINING_DETAIL_BYTES,
			 "rank %u: its program cannot be started: %s", r->rank,
			 strerror(-r->error));
	else if (*r->ports && user_ports_explain(r->error, r->ports, why, sizeof(why)))
		snprintf(detail, JOINING_DETAIL_BYTES, "rank %u: %s", r->rank, why);
	return (struct joining_outcome){ r->error, r->rank };
}

/*
 * Describe the difference between a record and that of rank 0, or return NULL if there is none. The
 * record of rank 0 counts as right, so that all ranks blame the same one.
 */
static const char *record_strangeness(const struct joining_record *records, __u32 rank, char *text,
				      size_t bytes)
{
	const struct joining_record *first = &records[0], *r = &records[rank];

	if (r->version != first->version)
		return RECORD_STRANGE;
	if (r->ranks != first->ranks)
		snprintf(text, bytes,
			 "was told that there are %u ranks, and rank 0 %u: start all alike",
			 r->ranks, first->ranks);
	else if (r->rank != rank)
		snprintf(text, bytes,
			 "was told that it is rank %u: give each rank its own number, and let the exchange keep their order",
			 r->rank);
	else
		return NULL;
	return text;
}

static bool record_is_valid(const struct joining_record *r, __u32 ranks)
{
	return r->version == RECORD_VERSION && r->ranks == ranks &&
	       (!r->error || joining_outcome_is_error(r->error)) &&
	       memchr(r->terms.name, '\0', sizeof(r->terms.name));
}

static struct joining_outcome record_check_heads(const struct joining_record *records, __u32 ranks,
						 char *detail)
{
	char text[JOINING_DETAIL_BYTES - 32];
	const char *why;
	__u32 i;

	for (i = 0; i < ranks; i++) {
		why = record_strangeness(records, i, text, sizeof(text));
		if (why)
			return record_blame(-EPROTO, i, why, detail);
	}
	for (i = 0; i < ranks; i++)
		if (!record_is_valid(&records[i], ranks))
			return record_blame(-EBADMSG, i, RECORD_NONSENSE, detail);
	/* A rank that cannot join reports why, and need not have the terms of the others. */
	for (i = 0; i < ranks; i++)
		if (records[i].error)
			return record_error(&records[i], detail);
	return record_is_fine;
}

static struct joining_outcome record_check_bodies(const struct joining_record *records,
						  const struct collsock_options *options,
						  __u32 ranks, char *detail)
{
	char text[JOINING_DETAIL_BYTES - 32];
	__u32 i;

	for (i = 1; i < ranks; i++)
		if (joining_options_difference(&records[0].terms, &records[i].terms, text,
					       sizeof(text)))
			return record_blame(-EPROTO, i, text, detail);
	for (i = 0; i < ranks; i++)
		if (!joining_host_is_valid(&records[i].host, options))
			return record_blame(-EBADMSG, i, RECORD_NONSENSE, detail);
	return record_is_fine;
}

struct joining_outcome joining_record_check(const struct joining_record *records,
					    const struct collsock_options *options, __u32 ranks,
					    char detail[JOINING_DETAIL_BYTES])
{
	struct joining_outcome o;

	*detail = '\0';
	o = record_check_heads(records, ranks, detail);
	return o.error ? o : record_check_bodies(records, options, ranks, detail);
}
