// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "group.h"
#include "joining.h"
#include "joining_options.h"
#include "joining_path.h"
#include "joining_proof.h"

/**
 * struct joining_answer - what a rank sends in a step
 * @error: 0, or a negative errno
 * @rank: the rank that caused it, or COLLSOCK_NO_RANK
 * @common: proof of its key and the records that it has got: all ranks must have the same
 * @proof: its own proof of these, different from those of all other ranks
 * @segment: length of segments that it can send and receive
 * @reserved: 0
 */
struct joining_answer {
	__s32	error;
	__u32	rank;
	__u64	common;
	__u64	proof;
	__u32	segment;
	__u32	reserved;
};

#define JOINING_OTHER_KEY "has another key in its options than rank 0: all must have the same"
#define JOINING_OTHER_RECORDS \
	"received other records than rank 0: does the exchange deliver what it was given?"
#define JOINING_NO_PROOF "has not proved that it has the key: the exchange altered its answer"

static const struct joining_outcome joining_is_fine = { 0, COLLSOCK_NO_RANK };

int joining_init(struct joining *j, const struct collsock_options *options, __u32 rank,
		 __u32 ranks, collsock_exchange exchange, void *context)
{
	int err;

	*j = (struct joining){
		.options = *options, .rank = rank, .ranks = ranks, .exchange = exchange,
		.context = context,
	};
	joining_options_find_port(&j->options);
	err = joining_plan_init(&j->plan, ranks);
	j->records = calloc(ranks, sizeof(*j->records));
	j->answers = calloc(ranks, sizeof(*j->answers));
	return !err && j->records && j->answers ? 0 : -ENOMEM;
}

void joining_free(struct joining *j)
{
	joining_plan_free(&j->plan);
	if (j->records)
		explicit_bzero(j->records, j->ranks * sizeof(*j->records));
	free(j->records);
	free(j->answers);
	explicit_bzero(j, sizeof(*j));
}

/* ---- what ranks send each other ---- */

static struct joining_outcome joining_exchange(struct joining *j, const void *own, void *all,
					       size_t bytes)
{
	int err = j->exchange(j->context, own, all, bytes);

	if (!err)
		return joining_is_fine;
	/* An exchange may return anything. */
	j->exchange_error = joining_outcome_is_error(err) ? err : -EIO;
	return (struct joining_outcome){ j->exchange_error, COLLSOCK_NO_RANK };
}

static struct joining_outcome joining_blame(struct joining *j, int error, __u32 rank,
					    const char *why)
{
	snprintf(j->detail, sizeof(j->detail), "rank %u %s", rank, why);
	return (struct joining_outcome){ error, rank };
}

static bool joining_is_answer(const struct joining *j, const struct joining_answer *a)
{
	return (!a->error || joining_outcome_is_error(a->error)) &&
	       (a->rank < j->ranks || a->rank == COLLSOCK_NO_RANK) &&
	       joining_is_segment(a->segment);
}

/*
 * Send an answer, and return the worst outcome among the answers of all ranks, this one's included.
 */
static struct joining_outcome joining_ask(struct joining *j, const struct joining_answer *own)
{
	struct joining_outcome o = joining_exchange(j, own, j->answers, sizeof(*own));
	const struct joining_answer *a = j->answers;
	__u32 i;

	if (o.error)
		return o;
	for (i = 0; i < j->ranks; i++) {
		if (!joining_is_answer(j, &a[i]))
			return joining_blame(j, -EBADMSG, i, "gave an answer that no rank gives");
		if (i == j->rank && memcmp(&a[i], own, sizeof(*own)))
			return (struct joining_outcome){ -EBADMSG, i };
		if (a[i].error < o.error)
			o = (struct joining_outcome){ a[i].error, a[i].rank };
	}
	return o;
}

struct joining_outcome joining_unheard(const struct joining *j, const struct collsock *socket)
{
	struct collsock_stats stats = { };
	bool some = collsock_stats(socket, &stats, sizeof(stats)) >= 0 && stats.messages_received;

	return (struct joining_outcome){ some ? -ENETUNREACH : -EHOSTUNREACH, j->rank };
}

struct joining_outcome joining_agree(struct joining *j, struct joining_outcome own)
{
	const struct joining_answer answer = { .error = own.error, .rank = own.rank };

	return joining_ask(j, &answer);
}

/* ---- meet ---- */

static const __u8 *joining_key(const struct joining *j)
{
	return joining_options_keyed(&j->options) ? j->options.key : j->records[0].key;
}

/* An older kernel does not report devices, and a rank in user space has none. */
void joining_find_devices(struct joining *j, const struct collsock *socket)
{
	socklen_t bytes = sizeof(j->devices);

	if (j->options.bearer != COLLSOCK_BEARER_AUTO || socket->user)
		return;
	if (getsockopt(socket->fd, SOL_COLLSOCK, COLLSOCK_DEVICES, &j->devices, &bytes))
		j->devices.size = 0;
}

/* The others are told of which ports it can have none. */
static void joining_reserve_port(struct joining *j, struct joining_record *own)
{
	own->error = user_ports_reserve(j->ports, &own->host, &j->options);
	if (own->error)
		snprintf(own->ports, sizeof(own->ports), "%s", user_ports_named());
}

struct joining_outcome joining_meet(struct joining *j, int error)
{
	struct joining_outcome o;
	struct joining_record own;

	joining_record_fill(&own, &j->options, &j->devices, j->rank, j->ranks, error);
	own.no_program = j->no_program && own.error == error;
	if (!own.error && j->ports)
		joining_reserve_port(j, &own);
	o = joining_exchange(j, &own, j->records, sizeof(own));
	j->altered = memcmp(&j->records[j->rank], &own, sizeof(own));
	explicit_bzero(&own, sizeof(own));
	if (o.error)
		return o;
	joining_plan_make(&j->plan, j->records);
	j->nonce = joining_nonce(joining_key(j), j->records, j->ranks * sizeof(*j->records));
	return joining_record_check(j->records, &j->options, j->ranks, j->detail);
}

/* ---- prepare ---- */

static void joining_set_bearer(struct joining *j, enum collsock_bearer bearer)
{
	j->options.bearer = bearer;
	j->options.port = bearer == COLLSOCK_BEARER_UDP ? j->records[j->rank].terms.port : 0;
}

/*
 * Are the hosts of all ranks open? Records of all ranks are looked at: the plan has one of each
 * host, while another rank of that host may have tried Ethernet in vain.
 */
static bool joining_all_are_open(const struct joining *j)
{
	__u32 i;

	for (i = 0; i < j->ranks; i++)
		if (!joining_host_is_open(&j->records[i].host))
			return false;
	return true;
}

static int joining_choose_addresses(struct joining *j, unsigned int *culprit)
{
	int err = -EADDRNOTAVAIL;

	if (j->options.bearer != COLLSOCK_BEARER_AUTO)
		return joining_plan_choose_addresses(&j->plan, &j->options, culprit);
	if (joining_all_are_open(j))
		err = joining_plan_choose_addresses(&j->plan, &j->options, culprit);
	joining_set_bearer(j, err ? COLLSOCK_BEARER_UDP : COLLSOCK_BEARER_ETHERNET);
	if (err == -EADDRNOTAVAIL)
		err = joining_plan_choose_addresses(&j->plan, &j->options, culprit);
	return err;
}

static void joining_fill_answer(struct joining *j, struct joining_answer *a)
{
	unsigned int culprit = j->rank;

	/*
	 * All ranks prove that they have the same records, and each that its own was not altered.
	 * Otherwise an exchange could replay records of a former run, or make up hosts and options.
	 */
	if (j->altered)
		a->error = -EBADMSG;
	else
		a->error = joining_choose_addresses(j, &culprit);
	a->rank = culprit;
	if (a->error)
		return;
	a->common = joining_proof(joining_key(j), j->nonce, COLLSOCK_NO_RANK);
	a->proof = joining_proof(joining_key(j), j->nonce, j->rank);
	a->segment = j->options.segment_bytes;
	if (!a->segment)
		a->segment = joining_path_segment(&j->plan, &j->options, j->rank);
}

/* Segments fit the smallest MTU that any rank has found. */
static void joining_agree_segment(struct joining *j)
{
	__u32 i;

	if (j->options.segment_bytes) {
		j->segment = j->options.segment_bytes;
		return;
	}
	j->segment = COLLSOCK_MAX_SEGMENT;
	for (i = 0; i < j->ranks; i++)
		if (j->answers[i].segment < j->segment)
			j->segment = j->answers[i].segment;
	if (!j->segment)
		j->segment = COLLSOCK_DEFAULT_SEGMENT;
}

/* All ranks blame the same one, unless the exchange has altered their answers. */
static struct joining_outcome joining_compare_proofs(struct joining *j)
{
	const struct joining_answer *a = j->answers;
	__u32 i;

	for (i = 1; i < j->ranks; i++)
		if (a[i].common != a[0].common)
			return joining_blame(j, -EPROTO, i, joining_options_keyed(&j->options) ?
					     JOINING_OTHER_KEY : JOINING_OTHER_RECORDS);
	for (i = 0; i < j->ranks; i++)
		if (a[i].proof != joining_proof(joining_key(j), j->nonce, i))
			return joining_blame(j, -EBADMSG, i, JOINING_NO_PROOF);
	return joining_is_fine;
}

struct joining_outcome joining_prepare(struct joining *j)
{
	struct joining_answer own = { };
	struct joining_outcome o;

	joining_fill_answer(j, &own);
	o = joining_ask(j, &own);
	if (!o.error)
		o = joining_compare_proofs(j);
	if (o.error)
		return o;
	joining_agree_segment(j);
	j->chose_ethernet = j->options.bearer != j->records[j->rank].terms.bearer &&
			    j->options.bearer == COLLSOCK_BEARER_ETHERNET;
	return joining_is_fine;
}

/* ---- enter ---- */

static void joining_set_request(struct collsock_join *request, const struct joining *j)
{
	joining_options_set_request(request, &j->options);
	request->segment_bytes = j->segment;
	memcpy(request->multicast, j->options.multicast, sizeof(request->multicast));
}

static int joining_add_rank(struct collsock_group *group, const struct joining *j, __u32 rank)
{
	const struct joining_address *a = joining_plan_address(&j->plan, rank);
	struct sockaddr_storage address;
	socklen_t bytes = joining_host_sockaddr(a, joining_plan_port(&j->plan, rank), &j->options,
						&address);

	return collsock_group_add_sockaddr(group, (struct sockaddr *)&address, bytes);
}

int joining_make_group(const struct joining *j, struct collsock_group **made)
{
	struct collsock_group *group;
	__u32 rank;
	int err;

	err = collsock_group_new(&group, j->records[0].id, j->nonce, joining_key(j));
	if (err)
		return err;
	for (rank = 0; !err && rank < j->ranks; rank++)
		err = joining_add_rank(group, j, rank);
	if (err) {
		collsock_group_free(group);
		return err;
	}
	joining_set_request(collsock_group_request(group), j);
	*made = group;
	return 0;
}

int joining_take_socket(struct joining *j)
{
	if (!j->ports)
		return -1;
	return user_ports_take(j->ports, j->plan.chosen[j->plan.host_of_rank[j->rank]]);
}

static int joining_join(struct joining *j, struct collsock *socket)
{
	struct collsock_group *group;
	int err = joining_make_group(j, &group);

	if (err)
		return err;
	err = group_join(socket, group, j->rank, joining_take_socket(j));
	collsock_group_free(group);
	return err;
}

struct joining_outcome joining_enter(struct joining *j, struct collsock *socket, int error)
{
	const struct joining_outcome own = { error ? error : joining_join(j, socket), j->rank };

	return joining_agree(j, own);
}

/* A new nonce makes another group, so packets still under way are not for it. */
void joining_fall_back(struct joining *j)
{
	joining_set_bearer(j, COLLSOCK_BEARER_UDP);
	j->nonce++;
	j->detail[0] = '\0';
}
