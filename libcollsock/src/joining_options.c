// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "joining_options.h"
#include "socket.h"

#define MOST_OPTIONS_BYTES 4096
/* The first version, without what was added later */
#define FIRST_OPTIONS_BYTES offsetof(struct collsock_options, backend)
#define IPV4_BITS 32
#define IPV6_BITS 128
#define IPV6_MULTICAST 0xff	/* the first byte of an address */

static bool options_are_zero(const void *from, size_t bytes)
{
	const __u8 *byte = from;

	while (bytes && !*byte) {
		byte++;
		bytes--;
	}
	return !bytes;
}

/* Copy the fields that both the caller and the library know. */
static int options_copy(struct collsock_options *o, const struct collsock_options *from)
{
	__u32 size = from->size;

	/* Without a size only the fields of the first version can be looked at. */
	if (!size)
		return options_are_zero(from, FIRST_OPTIONS_BYTES) ? 0 : -EINVAL;
	if (size < FIRST_OPTIONS_BYTES || size > MOST_OPTIONS_BYTES)
		return size > MOST_OPTIONS_BYTES ? -E2BIG : -EINVAL;
	memcpy(o, from, size < sizeof(*o) ? size : sizeof(*o));
	if (size <= sizeof(*o))
		return 0;
	return options_are_zero((const __u8 *)from + sizeof(*o), size - sizeof(*o)) ? 0 : -E2BIG;
}

/* Check what the library uses. The rest is for the kernel to check. */
static int options_check(const struct collsock_options *o)
{
	if (strnlen(o->name, sizeof(o->name)) == sizeof(o->name) ||
	    o->bearer > COLLSOCK_BEARER_AUTO || o->spin_us > COLLSOCK_MAX_SPIN_US ||
	    o->timeout_ms > INT32_MAX || o->backend > COLLSOCK_BACKEND_USER || o->reserved ||
	    !joining_is_segment(o->segment_bytes))
		return -EINVAL;
	switch (o->family) {
	case 0:
		return o->prefix || !options_are_zero(o->network, sizeof(o->network)) ? -EINVAL : 0;
	case AF_INET:
		return o->prefix > IPV4_BITS ? -EINVAL : 0;
	case AF_INET6:
		return o->prefix > IPV6_BITS ? -EINVAL : 0;
	default:
		return -EINVAL;
	}
}

int joining_options_complete(struct collsock_options *o, const struct collsock_options *options)
{
	enum collsock_backend backend = COLLSOCK_BACKEND_AUTO;
	int err = 0;

	memset(o, 0, sizeof(*o));
	if (options)
		err = options_copy(o, options);
	if (!err)
		err = options_check(o);
	if (!err)
		err = socket_choose_backend(o->backend, &backend);
	/* An error is reported where the caller wants it, as far as that is known. */
	if (err)
		*o = (struct collsock_options){ .failed_rank = o->failed_rank, .text = o->text,
						.text_bytes = o->text_bytes };
	o->size = sizeof(*o);
	o->backend = backend;
	if (!o->timeout_ms)
		o->timeout_ms = COLLSOCK_DEFAULT_TIMEOUT_MS;
	if (!o->max_bytes)
		o->max_bytes = COLLSOCK_DEFAULT_MAX_BYTES;
	joining_options_set_multicast(o, o->multicast);
	return err;
}

void joining_options_find_port(struct collsock_options *o)
{
	if (o->port || o->bearer == COLLSOCK_BEARER_ETHERNET)
		return;
	o->port = o->backend == COLLSOCK_BACKEND_USER ? COLLSOCK_PORT : socket_port();
}

bool joining_options_keyed(const struct collsock_options *o)
{
	return !options_are_zero(o->key, sizeof(o->key));
}

bool joining_options_multicast(const struct collsock_options *o)
{
	return !options_are_zero(o->multicast, sizeof(o->multicast));
}

void joining_options_set_multicast(struct collsock_options *o, const __u8 address[16])
{
	memmove(o->multicast, address, sizeof(o->multicast));
	if (o->bearer == COLLSOCK_BEARER_ETHERNET || !joining_options_multicast(o))
		return;
	o->bearer = COLLSOCK_BEARER_UDP;
	if (!o->family)
		o->family = o->multicast[0] == IPV6_MULTICAST ? AF_INET6 : AF_INET;
}

#define OPTIONS_SET(field) \
	do { \
		if (o->field) \
			request->field = o->field; \
	} while (0)

void joining_options_set_request(struct collsock_join *request, const struct collsock_options *o)
{
	unsigned int operation;

	OPTIONS_SET(segment_bytes);
	OPTIONS_SET(max_bytes);
	OPTIONS_SET(max_result_bytes);
	OPTIONS_SET(window);
	OPTIONS_SET(liveness_ms);
	OPTIONS_SET(features);
	OPTIONS_SET(algorithms);
	OPTIONS_SET(degrees);
	OPTIONS_SET(degree);
	OPTIONS_SET(mac);
	for (operation = 0; operation < COLLSOCK_MAX_OPERATIONS; operation++)
		OPTIONS_SET(algorithm[operation]);
}

/* ---- what all ranks must have alike ---- */

/**
 * struct options_term - one of the terms
 * @name: of the option
 * @offset: in struct joining_terms
 * @bytes: its length; up to 8, it is a number
 */
struct options_term {
	const char	*name;
	size_t		offset;
	size_t		bytes;
};

#define OPTIONS_TERM_LIST(X) \
	X(name) X(bearer) X(network) X(prefix) X(family) X(port) X(max_bytes) \
	X(max_result_bytes) X(window) X(segment_bytes) X(liveness_ms) X(features) \
	X(algorithms) X(degrees) X(algorithm) X(degree) X(mac) X(multicast) X(keyed)

#define OPTIONS_TERM(name) \
	{ #name, offsetof(struct joining_terms, name), \
	  sizeof(((struct joining_terms *)NULL)->name) },

static const struct options_term options_terms[] = { OPTIONS_TERM_LIST(OPTIONS_TERM) };

void joining_options_terms(struct joining_terms *t, const struct collsock_options *o)
{
	memset(t, 0, sizeof(*t));
	/* Bytes after the end of the name do not count. */
	strcpy(t->name, o->name);
	memcpy(t->network, o->network, sizeof(t->network));
	memcpy(t->multicast, o->multicast, sizeof(t->multicast));
	memcpy(t->algorithm, o->algorithm, sizeof(t->algorithm));
	t->features = o->features;
	t->algorithms = o->algorithms;
	t->degrees = o->degrees;
	t->liveness_ms = o->liveness_ms;
	t->max_bytes = o->max_bytes;
	t->max_result_bytes = o->max_result_bytes;
	t->family = o->family;
	t->port = o->port;
	t->window = o->window;
	t->segment_bytes = o->segment_bytes;
	t->prefix = o->prefix;
	t->bearer = o->bearer;
	t->degree = o->degree;
	t->mac = o->mac;
	t->keyed = joining_options_keyed(o);
}

static unsigned long long options_number(const void *at, size_t bytes)
{
	switch (bytes) {
	case sizeof(__u8):
		return *(const __u8 *)at;
	case sizeof(__u16):
		return *(const __u16 *)at;
	case sizeof(__u32):
		return *(const __u32 *)at;
	default:
		return *(const __u64 *)at;
	}
}

const char *joining_options_difference(const struct joining_terms *first,
				       const struct joining_terms *other, char *text, size_t bytes)
{
	const struct options_term *t = options_terms;
	const struct options_term *end = t + sizeof(options_terms) / sizeof(*t);
	const __u8 *a = (const void *)first, *b = (const void *)other;

	while (t < end && !memcmp(a + t->offset, b + t->offset, t->bytes))
		t++;
	if (t == end)
		return NULL;
	if (t->offset == offsetof(struct joining_terms, keyed))
		snprintf(text, bytes,
			 "has %s key in its options, and rank 0 %s: all or none have one",
			 other->keyed ? "a" : "no", first->keyed ? "one" : "none");
	else if (t->bytes > sizeof(__u64))
		snprintf(text, bytes,
			 "has another %s in its options than rank 0: all must have the same",
			 t->name);
	else
		snprintf(text, bytes,
			 "has %s %llu in its options, and rank 0 %llu: all must have the same",
			 t->name, options_number(b + t->offset, t->bytes),
			 options_number(a + t->offset, t->bytes));
	return text;
}
