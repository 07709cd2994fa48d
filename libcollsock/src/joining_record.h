/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the ranks of a group exchange before they join */
#ifndef COLLSOCK_JOINING_RECORD_H
#define COLLSOCK_JOINING_RECORD_H

#include "joining_host.h"
#include "joining_options.h"
#include "joining_outcome.h"
#include "user_port.h"

#define JOINING_RECORD_BYTES 512	/* in all versions, so that they can be told apart */

/**
 * struct joining_record - record of a rank
 * @version: of what ranks exchange; at the same offset in all versions
 * @rank: number of the rank
 * @ranks: number of ranks that it expects
 * @error: 0, or why the rank cannot join: a negative errno
 * @id: id of the group; that of rank 0 is used
 * @fresh: drawn by each rank; the nonce of the group is made of all (joining_nonce())
 * @key: key of the group; that of rank 0 is used; zero if the options have one
 * @terms: of its options
 * @host: the rank's host
 * @ports: user_ports_named(), if the error may be that the rank can have none of these; not checked
 * @reserved: 0
 * @no_program: the error is that of its program, which a launcher cannot start
 */
struct joining_record {
	__u32			version;
	__u32			rank;
	__u32			ranks;
	__s32			error;
	__u64			id;
	__u64			fresh;
	__u8			key[COLLSOCK_KEY_BYTES];
	struct joining_terms	terms;
	struct joining_host	host;
	char			ports[USER_PORTS_BYTES];
	__u8			reserved[7];
	__u8			no_program;
};

/*
 * Fill in the record of @rank. @devices: those that are open to every user. @error: 0, or why the
 * rank cannot join: a negative errno. Other errors are detected here. Rank 0 draws id and key.
 */
void joining_record_fill(struct joining_record *record, const struct collsock_options *options,
			 const struct collsock_devices *devices, __u32 rank, __u32 ranks,
			 int error);

/**
 * joining_record_check() - can these ranks join together?
 * @records: from all ranks; not checked yet
 * @options: those of this rank
 * @ranks: number of records
 * @detail: out: what is wrong, with the name of the rank, if the error is not specific; else ""
 *
 * Return: an error and the rank to blame: -EPROTO if it has another version, number, or options
 * than rank 0, -EBADMSG if no rank can have sent this, or the error of the rank.
 */
struct joining_outcome joining_record_check(const struct joining_record *records,
					    const struct collsock_options *options, __u32 ranks,
					    char detail[JOINING_DETAIL_BYTES]);

#endif
