/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Messages of PMI, the protocol between process managers of MPI and the processes that they start:
 * a command and attributes, as text. A process asks, and waits for the answer.
 *
 *	version 1	cmd=put kvsname=kvs_1 key=a value=b\n
 *	version 2	    28cmd=kvs-put;key=a;value=b;	(first its length)
 */
#ifndef COLLSOCK_PMI_MESSAGE_H
#define COLLSOCK_PMI_MESSAGE_H

#include <stddef.h>

#include <linux/types.h>

#include "launch_wait.h"

#define PMI_MESSAGE_BYTES 2048

/**
 * struct pmi_message - a message
 * @version: 1 or 2
 * @bytes: how long it is, without its end or its length
 * @text: the message
 */
struct pmi_message {
	unsigned int	version;
	size_t		bytes;
	char		text[PMI_MESSAGE_BYTES];
};

/* Begin to write one. */
void pmi_message_begin(struct pmi_message *message, unsigned int version, const char *command);

/* Add an attribute. A lack of room is reported when the message is sent. */
void pmi_message_add(struct pmi_message *message, const char *key, const char *value);
void pmi_message_add_number(struct pmi_message *message, const char *key, __u32 value);

/* Return: 0; -EMSGSIZE if it is too long, or another negative errno */
int pmi_message_send(struct pmi_message *message, int fd);

/**
 * pmi_message_receive() - receive one
 * @message: out; its version is that of the protocol
 * @fd: the connection, which blocks
 * @wait: how long
 *
 * Return: 0; -ETIMEDOUT; -EPIPE if the connection has ended; -EBADMSG if it is not a message; or
 * another negative errno.
 */
int pmi_message_receive(struct pmi_message *message, int fd, struct launch_wait *wait);

/**
 * pmi_message_find() - the value of an attribute
 * @message: as received
 * @key: of the attribute
 * @value: out: text; "" if there is none
 * @room: for it, from 1
 *
 * Return: 0, or -EBADMSG if there is no such attribute, or no room for it
 */
int pmi_message_find(const struct pmi_message *message, const char *key, char *value,
		     size_t room);

/* The same, of a whole number up to @most */
int pmi_message_find_number(const struct pmi_message *message, const char *key, __u32 most,
			    __u32 *number);

#endif
