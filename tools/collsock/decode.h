/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replies as JSON objects, for commands that print lists as JSON or as tables. Keys are the names
 * of the specification, with _ for -. Attributes that the kernel did not send are absent; flags
 * are always true or false.
 */
#ifndef DECODE_H
#define DECODE_H

#include <stdint.h>

#include <json-c/json.h>

#include "reply.h"

enum decode_kind {
	DECODE_NUMBER,
	DECODE_HEX,		/* an opaque number */
	DECODE_RANK,		/* absent if it is COLLSOCK_NO_RANK */
	DECODE_ERRNO,		/* absent if it is 0 */
	DECODE_NAME,		/* a number with a name */
	DECODE_STRING,
	DECODE_FLAG,
	DECODE_ADDRESS,
	DECODE_SCOPE,		/* the interface of the address with that name */
	DECODE_NEST,
	DECODE_NUMBERS,		/* several attributes as an array */
	DECODE_NESTS,
};

/**
 * struct decode_field - one attribute
 * @name: key in the object; NULL ends a set
 * @type: of the attribute
 * @kind: how to decode it
 * @names: for DECODE_NAME, ended by NULL; empty strings are no names
 * @set: set of a nested attribute
 */
struct decode_field {
	const char			*name;
	int				type;
	enum decode_kind		kind;
	const char *const		*names;
	const struct decode_field	*set;
};

extern const struct decode_field decode_tunables[];
extern const struct decode_field decode_group[];
extern const struct decode_field decode_host[];
extern const struct decode_field decode_rank[];
extern const struct decode_field decode_peer[];
extern const struct decode_field decode_operation[];
extern const struct decode_field decode_net[];
extern const struct decode_field decode_early_packet[];
extern const struct decode_field decode_user[];
extern const struct decode_field decode_device[];
extern const struct decode_field decode_notice[];

/* Decode a reply into an object; that of a group in user space has the member "pid". */
struct json_object *decode(const struct decode_field *set, const struct reply *reply);

/* Decode replies into an array of objects. */
struct json_object *decode_all(const struct decode_field *set, const struct replies *replies);

#endif
