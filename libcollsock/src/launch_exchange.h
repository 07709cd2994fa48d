/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The exchange of blocks between ranks that suits their launcher: a meeting, PMIx or PMI */
#ifndef COLLSOCK_LAUNCH_EXCHANGE_H
#define COLLSOCK_LAUNCH_EXCHANGE_H

#include <stdbool.h>

#include "collsock.h"
#include "launch.h"

#define LAUNCH_TIMEOUT_S 300	/* unless COLLSOCK_MEETING_TIMEOUT is set */

struct launch_provider;

/**
 * struct launch_exchange - an exchange
 * @provider: its functions
 * @ctx: their argument
 * @keyed: there is a key that was not exchanged
 * @key: of the group
 */
struct launch_exchange {
	const struct launch_provider	*provider;
	void				*ctx;
	bool				keyed;
	__u8				key[COLLSOCK_KEY_BYTES];
};

/**
 * launch_exchange_open() - begin to exchange
 * @exchange: out
 * @launch: as launch_find() found it; its rank and its number of ranks are right afterwards
 * @try_out_ms: how long ranks may take between two exchanges
 * @text: receives why it failed, and what to do
 * @bytes: room there; MEETING_TEXT is enough
 *
 * Prints on standard error whom it waits for. Return: 0; as meeting_open(), pmi_open(),
 * pmix_open() or launch_secret_read().
 */
int launch_exchange_open(struct launch_exchange *exchange, struct launch *launch,
			 __u32 try_out_ms, char *text, size_t bytes);

/* A collsock_exchange; @exchange is a struct launch_exchange. */
int launch_exchange_call(void *exchange, const void *mine, void *all, size_t bytes);

/* Why the last call failed, and what to do; or "" */
const char *launch_exchange_text(const struct launch_exchange *exchange);

void launch_exchange_close(struct launch_exchange *exchange);

#endif
