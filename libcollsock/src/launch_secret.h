/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The secret of a user's ranks, in a file on each host or in a shared one */
#ifndef COLLSOCK_LAUNCH_SECRET_H
#define COLLSOCK_LAUNCH_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "collsock.h"

/* Does COLLSOCK_KEY_FILE name a file? */
bool launch_secret_is_named(void);

/**
 * launch_secret_read() - read the secret from COLLSOCK_KEY_FILE, else from ~/.config/collsock/key
 * @secret: out
 * @text: receives why there is none, and what to do
 * @bytes: room there
 *
 * Return: 0; -ENOKEY if there is no such file; else as collsock_key_from_file().
 */
int launch_secret_read(__u8 secret[COLLSOCK_KEY_BYTES], char *text, size_t bytes);

#endif
