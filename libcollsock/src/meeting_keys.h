/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Keys and proofs from the secret of a meeting, by HMAC-SHA-256 and SHA-256 of nettle */
#ifndef COLLSOCK_MEETING_KEYS_H
#define COLLSOCK_MEETING_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "collsock.h"
#include "meeting_wire.h"

/**
 * struct meeting_keys - of one connection
 * @server_proof: shows that the server knows the secret
 * @client_proof: shows that the client does
 * @from_server: key of the MACs of the server's messages
 * @from_client: key of those of the client's
 */
struct meeting_keys {
	__u8	server_proof[MEETING_BYTES];
	__u8	client_proof[MEETING_BYTES];
	__u8	from_server[MEETING_BYTES];
	__u8	from_client[MEETING_BYTES];
};

void meeting_keys_derive(struct meeting_keys *keys, const __u8 secret[COLLSOCK_KEY_BYTES],
			 const struct meeting_transcript *transcript);

/**
 * meeting_keys_group() - derive the key of the group, which is never sent
 * @key: out
 * @secret: of the meeting
 * @job: SHA-256 of the job's name
 * @attempt: of the job
 * @salt: drawn by the server, so that each meeting has a different key
 */
void meeting_keys_group(__u8 key[COLLSOCK_KEY_BYTES], const __u8 secret[COLLSOCK_KEY_BYTES],
			const __u8 job[MEETING_BYTES], __u32 attempt,
			const __u8 salt[MEETING_BYTES]);

/**
 * meeting_keys_mac() - the MAC of a message
 * @mac: out
 * @key: of its direction
 * @number: of the message in its direction, from 0
 * @head: its head
 * @digest: SHA-256 of its payload, so that a payload to many is read once
 */
void meeting_keys_mac(__u8 mac[MEETING_BYTES], const __u8 key[MEETING_BYTES], __u64 number,
		      const struct meeting_head *head, const __u8 digest[MEETING_BYTES]);

void meeting_keys_digest(__u8 digest[MEETING_BYTES], const void *data, size_t bytes);

/* Compares in a time that does not depend on the contents. */
bool meeting_keys_equal(const __u8 one[MEETING_BYTES], const __u8 other[MEETING_BYTES]);

/* Return: 0, or a negative errno */
int meeting_keys_draw(void *random, size_t bytes);

#endif
