// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>

#include "meeting_keys.h"

/*
 * Each use of the secret begins with another of these. They have the same length, and the bytes
 * that follow each have a fixed length, so that no two uses have the same input.
 */
#define PURPOSE_BYTES 24

static const char purpose_server[PURPOSE_BYTES] = "collmeet server proof";
static const char purpose_client[PURPOSE_BYTES] = "collmeet client proof";
static const char purpose_from_server[PURPOSE_BYTES] = "collmeet from server";
static const char purpose_from_client[PURPOSE_BYTES] = "collmeet from client";
static const char purpose_group[PURPOSE_BYTES] = "collmeet key of a group";

static void keys_derive(__u8 out[MEETING_BYTES], const __u8 secret[COLLSOCK_KEY_BYTES],
			const char purpose[PURPOSE_BYTES], const void *data, size_t bytes)
{
	struct hmac_sha256_ctx mac;

	hmac_sha256_set_key(&mac, COLLSOCK_KEY_BYTES, secret);
	hmac_sha256_update(&mac, PURPOSE_BYTES, (const __u8 *)purpose);
	hmac_sha256_update(&mac, bytes, data);
	hmac_sha256_digest(&mac, MEETING_BYTES, out);
	explicit_bzero(&mac, sizeof(mac));
}

void meeting_keys_derive(struct meeting_keys *keys, const __u8 secret[COLLSOCK_KEY_BYTES],
			 const struct meeting_transcript *t)
{
	keys_derive(keys->server_proof, secret, purpose_server, t, sizeof(*t));
	keys_derive(keys->client_proof, secret, purpose_client, t, sizeof(*t));
	keys_derive(keys->from_server, secret, purpose_from_server, t, sizeof(*t));
	keys_derive(keys->from_client, secret, purpose_from_client, t, sizeof(*t));
}

void meeting_keys_group(__u8 key[COLLSOCK_KEY_BYTES], const __u8 secret[COLLSOCK_KEY_BYTES],
			const __u8 job[MEETING_BYTES], __u32 attempt,
			const __u8 salt[MEETING_BYTES])
{
	struct {
		__u8	job[MEETING_BYTES];
		__u8	salt[MEETING_BYTES];
		__be32	attempt;
	} of = { .attempt = htobe32(attempt) };
	__u8 derived[MEETING_BYTES];

	memcpy(of.job, job, sizeof(of.job));
	memcpy(of.salt, salt, sizeof(of.salt));
	keys_derive(derived, secret, purpose_group, &of, sizeof(of));
	memcpy(key, derived, COLLSOCK_KEY_BYTES);
	explicit_bzero(derived, sizeof(derived));
}

void meeting_keys_mac(__u8 out[MEETING_BYTES], const __u8 key[MEETING_BYTES], __u64 number,
		      const struct meeting_head *head, const __u8 digest[MEETING_BYTES])
{
	__be64 be = htobe64(number);
	struct hmac_sha256_ctx mac;

	hmac_sha256_set_key(&mac, MEETING_BYTES, key);
	hmac_sha256_update(&mac, sizeof(be), (const __u8 *)&be);
	hmac_sha256_update(&mac, sizeof(*head), (const __u8 *)head);
	hmac_sha256_update(&mac, MEETING_BYTES, digest);
	hmac_sha256_digest(&mac, MEETING_BYTES, out);
	explicit_bzero(&mac, sizeof(mac));
}

void meeting_keys_digest(__u8 digest[MEETING_BYTES], const void *data, size_t bytes)
{
	struct sha256_ctx sha;

	sha256_init(&sha);
	sha256_update(&sha, bytes, data);
	sha256_digest(&sha, MEETING_BYTES, digest);
}

bool meeting_keys_equal(const __u8 one[MEETING_BYTES], const __u8 other[MEETING_BYTES])
{
	return memeql_sec(one, other, MEETING_BYTES);
}

int meeting_keys_draw(void *random, size_t bytes)
{
	ssize_t drawn = getrandom(random, bytes, 0);

	if (drawn < 0)
		return -errno;
	return (size_t)drawn == bytes ? 0 : -EIO;
}
