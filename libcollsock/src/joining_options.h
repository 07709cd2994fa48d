/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The options of a rank that joins, and those of them that all ranks must have alike */
#ifndef COLLSOCK_JOINING_OPTIONS_H
#define COLLSOCK_JOINING_OPTIONS_H

#include <stdbool.h>

#include "collsock.h"

/**
 * struct joining_terms - what must be the same on all ranks, as sent to the others
 * @name: this and all but the last two are as in struct collsock_options
 * @keyed: the options have a key
 * @reserved: 0
 */
struct joining_terms {
	char	name[COLLSOCK_NAME_BYTES];
	__u8	network[16];
	__u8	multicast[16];
	__u8	algorithm[COLLSOCK_MAX_OPERATIONS];
	__u64	features;
	__u64	algorithms;
	__u64	degrees;
	__u32	liveness_ms;
	__u32	max_bytes;
	__u32	max_result_bytes;
	__u16	family;
	__u16	port;
	__u16	window;
	__u16	segment_bytes;
	__u8	prefix;
	__u8	bearer;
	__u8	degree;
	__u8	mac;
	__u8	keyed;
	__u8	reserved[3];
};

/**
 * joining_options_complete() - check options, and fill in their defaults, but for the port
 * @complete: out: the options, or after an error the defaults
 * @options: from the caller of the library, or NULL
 *
 * Return: 0; -EINVAL if a field is not valid, -E2BIG if there are fields that this library does not
 * know.
 */
int joining_options_complete(struct collsock_options *complete,
			     const struct collsock_options *options);

/* Use the module's port if no port is given. */
void joining_options_find_port(struct collsock_options *options);

void joining_options_terms(struct joining_terms *terms, const struct collsock_options *options);

/*
 * Describe the difference between two ranks' terms, with the name of the option. Names that ranks
 * have sent are not repeated. Returns @text, or NULL if the terms are equal.
 */
const char *joining_options_difference(const struct joining_terms *of_first,
				       const struct joining_terms *of_other, char *text,
				       size_t bytes);

/* A length of segments that a group may have, or 0: none is named */
static inline bool joining_is_segment(__u32 bytes)
{
	return !bytes || (bytes >= COLLSOCK_MIN_SEGMENT && bytes <= COLLSOCK_MAX_SEGMENT &&
			  !(bytes % COLLSOCK_SEGMENT_QUANTUM));
}

/**
 * joining_options_set_request() - set the fields that do not depend on who the ranks are
 * @request: of a rank
 * @options: those that are 0 leave it as it is
 */
void joining_options_set_request(struct collsock_join *request,
				 const struct collsock_options *options);

/* Have the options a key? */
bool joining_options_keyed(const struct collsock_options *options);

/* Have they a multicast address? */
bool joining_options_multicast(const struct collsock_options *options);

/*
 * If they have a choice, hosts communicate by addresses of the family of the multicast address, and
 * over UDP unless Ethernet is wanted.
 */
void joining_options_set_multicast(struct collsock_options *options, const __u8 address[16]);

#endif
