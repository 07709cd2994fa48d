// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "pmi_message.h"

#define LENGTH_BYTES 6	/* of a message of version 2 */

static char message_separator(const struct pmi_message *m)
{
	return m->version == 1 ? ' ' : ';';
}

/* ---- write ---- */

void pmi_message_begin(struct pmi_message *m, unsigned int version, const char *command)
{
	m->version = version;
	m->bytes = 0;
	pmi_message_add(m, "cmd", command);
}

void pmi_message_add(struct pmi_message *m, const char *key, const char *value)
{
	size_t room = sizeof(m->text) - m->bytes;
	int bytes = snprintf(m->text + m->bytes, room, "%s=%s%c", key, value,
			     message_separator(m));

	m->bytes += (size_t)bytes < room ? (size_t)bytes : room;
}

void pmi_message_add_number(struct pmi_message *m, const char *key, __u32 value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	pmi_message_add(m, key, text);
}

static int message_send_all(int fd, const char *data, size_t bytes)
{
	ssize_t sent;

	for (; bytes; bytes -= sent, data += sent) {
		sent = send(fd, data, bytes, MSG_NOSIGNAL);
		if (sent < 0 && errno != EINTR)
			return -errno;
		if (sent < 0)
			sent = 0;
	}
	return 0;
}

int pmi_message_send(struct pmi_message *m, int fd)
{
	char length[LENGTH_BYTES + 1];
	int err;

	if (m->bytes == sizeof(m->text))
		return -EMSGSIZE;
	if (m->version == 1) {
		m->text[m->bytes - 1] = '\n';
		return message_send_all(fd, m->text, m->bytes);
	}
	snprintf(length, sizeof(length), "%6zu", m->bytes);
	err = message_send_all(fd, length, LENGTH_BYTES);
	return err ? err : message_send_all(fd, m->text, m->bytes);
}

/* ---- receive ---- */

static ssize_t message_receive_some(int fd, char *data, size_t room, int flags,
				    struct launch_wait *wait)
{
	ssize_t bytes;
	int err;

	do {
		err = launch_wait_for(wait, fd);
		if (err)
			return err;
		bytes = recv(fd, data, room, flags);
	} while (bytes < 0 && errno == EINTR);
	if (!bytes)
		return -EPIPE;
	return bytes < 0 ? -errno : bytes;
}

static int message_receive_all(int fd, char *data, size_t bytes, struct launch_wait *wait)
{
	ssize_t got;

	for (; bytes; bytes -= got, data += got) {
		got = message_receive_some(fd, data, bytes, 0, wait);
		if (got < 0)
			return got;
	}
	return 0;
}

/* Bytes after the line belong to another message, and stay where they are. */
static int message_receive_line(struct pmi_message *m, int fd, struct launch_wait *wait)
{
	ssize_t got;
	char *end;
	int err;

	for (m->bytes = 0; m->bytes < sizeof(m->text); m->bytes += got) {
		char *data = m->text + m->bytes;

		got = message_receive_some(fd, data, sizeof(m->text) - m->bytes, MSG_PEEK, wait);
		if (got < 0)
			return got;
		end = memchr(data, '\n', got);
		if (end)
			got = end + 1 - data;
		err = message_receive_all(fd, data, got, wait);
		if (err)
			return err;
		if (end) {
			*end = message_separator(m);
			m->bytes = end + 1 - m->text;
			return 0;
		}
	}
	return -EBADMSG;
}

static int message_receive_counted(struct pmi_message *m, int fd, struct launch_wait *wait)
{
	char length[LENGTH_BYTES + 1] = "", *end;
	int err = message_receive_all(fd, length, LENGTH_BYTES, wait);
	unsigned long bytes;

	if (err)
		return err;
	bytes = strtoul(length, &end, 10);
	/* Slurm has the spaces at the end. */
	end += strspn(end, " ");
	if (*end || end == length || bytes > sizeof(m->text))
		return -EBADMSG;
	m->bytes = bytes;
	return message_receive_all(fd, m->text, m->bytes, wait);
}

int pmi_message_receive(struct pmi_message *m, int fd, struct launch_wait *wait)
{
	return m->version == 1 ? message_receive_line(m, fd, wait) :
				 message_receive_counted(m, fd, wait);
}

/* ---- read ---- */

/* The end of the word at @word. (Version 2 doubles a separator in a value; ours have none.) */
static const char *message_end_of(const struct pmi_message *m, const char *word)
{
	const char *end = memchr(word, message_separator(m), m->text + m->bytes - word);

	return end ? end : m->text + m->bytes;
}

int pmi_message_find(const struct pmi_message *m, const char *key, char *value, size_t room)
{
	const char *last = m->text + m->bytes, *word, *end;
	size_t length = strlen(key), bytes;

	*value = '\0';
	for (word = m->text; word < last; word = end + 1) {
		end = message_end_of(m, word);
		if ((size_t)(end - word) <= length || memcmp(word, key, length) ||
		    word[length] != '=')
			continue;
		bytes = end - word - length - 1;
		if (bytes >= room || memchr(word, '\0', end - word))
			return -EBADMSG;
		memcpy(value, word + length + 1, bytes);
		value[bytes] = '\0';
		return 0;
	}
	return -EBADMSG;
}

int pmi_message_find_number(const struct pmi_message *m, const char *key, __u32 most,
			    __u32 *number)
{
	unsigned long long parsed;
	char text[24], *end;
	int err = pmi_message_find(m, key, text, sizeof(text));

	if (err)
		return err;
	parsed = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || parsed > most)
		return -EBADMSG;
	*number = parsed;
	return 0;
}
