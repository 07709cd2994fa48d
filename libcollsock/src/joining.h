/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A group that is being joined. All ranks take each step, or none does:
 *
 *	meet		each rank sends the others its record (joining_record.h), from which all
 *			compute the hosts (joining_plan.h)
 *	prepare		bearer and addresses are chosen (joining_choice.h); the ranks agree on the
 *			length of segments (joining_path.h), and find out whether they have the same
 *			key and records
 *	enter		each rank joins; they agree whether all could
 *
 * Each step returns an error and the rank to blame, which are the same on all ranks unless the
 * exchange failed, or altered blocks. After an error there is no other step, except that a group
 * that was to be joined over Ethernet may be joined over UDP (joining_fall_back()).
 */
#ifndef COLLSOCK_JOINING_H
#define COLLSOCK_JOINING_H

#include "joining_outcome.h"
#include "joining_plan.h"
#include "user_port.h"

/**
 * struct joining - see there
 * @options: of this rank, complete; once prepared, with the bearer that was chosen
 * @rank: number of this rank
 * @ranks: number of ranks
 * @exchange: an allgather of these ranks
 * @context: its first argument
 * @exchange_error: what it returned
 * @altered: the exchange has altered the record of this rank
 * @records: of all ranks, once they have met
 * @answers: scratch memory, an answer for each rank
 * @nonce: of the group, once they have met
 * @plan: who is where, once they have met
 * @segment: length of segments, once prepared
 * @chose_ethernet: that was chosen for COLLSOCK_BEARER_AUTO
 * @devices: see joining_find_devices()
 * @no_program: an error of this rank before they meet is that of its program
 * @ports: in user space, where the port of this rank is kept until it joins; NULL with the kernel
 * @detail: meaning of an error, with the rank, if its number is not specific; else ""
 */
struct joining {
	struct collsock_options	options;
	__u32			rank;
	__u32			ranks;
	collsock_exchange	exchange;
	void			*context;
	int			exchange_error;
	bool			altered;
	struct joining_record	*records;
	struct joining_answer	*answers;
	__u64			nonce;
	struct joining_plan	plan;
	unsigned int		segment;
	bool			chose_ethernet;
	struct collsock_devices	devices;
	bool			no_program;
	struct user_ports	*ports;
	char			detail[JOINING_DETAIL_BYTES];
};

/*
 * @options: complete (joining_options.h). Returns 0 or -ENOMEM; joining_free() is needed in either
 * case, also to erase a key.
 */
int joining_init(struct joining *j, const struct collsock_options *options, __u32 rank,
		 __u32 ranks, collsock_exchange exchange, void *context);
void joining_free(struct joining *j);

/*
 * Find the devices over which every user may have groups; none if this is not called before the
 * ranks meet. @socket: of this rank
 */
void joining_find_devices(struct joining *j, const struct collsock *socket);

/*
 * @error: 0, or why this rank cannot join: a negative errno. The plan is made even if an error is
 * returned, unless the exchange failed.
 */
struct joining_outcome joining_meet(struct joining *j, int error);

struct joining_outcome joining_prepare(struct joining *j);

/* In user space, the socket of this rank, once prepared, which the caller closes; else -1 */
int joining_take_socket(struct joining *j);

/* The group, once prepared, which the caller frees. 0, or a negative errno */
int joining_make_group(const struct joining *j, struct collsock_group **made);

/* @error: 0, or why this rank cannot join; then @socket is not used. */
struct joining_outcome joining_enter(struct joining *j, struct collsock *socket, int error);

/*
 * The group cannot be joined, or its packets do not arrive: can UDP be tried, because Ethernet was
 * the library's choice? The same on all ranks.
 */
static inline bool joining_can_fall_back(const struct joining *j)
{
	return j->chose_ethernet && !j->exchange_error;
}

/* The next step is to prepare, for UDP, and then to enter with another socket. */
void joining_fall_back(struct joining *j);

/*
 * This rank has waited for packets long enough. Its outcome is worse if its host has received no
 * message at all than if others have not, so that the rank whose packets are dropped is named.
 */
struct joining_outcome joining_unheard(const struct joining *j, const struct collsock *socket);

/* The worst outcome of those that the ranks have; of equal ones, that of the lowest rank. */
struct joining_outcome joining_agree(struct joining *j, struct joining_outcome own);

#endif
