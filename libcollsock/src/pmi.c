// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collsock.h"
#include "launch_environment.h"
#include "meeting_rendezvous.h"
#include "meeting_self.h"
#include "pmi.h"
#include "pmi_message.h"

#define NAME_BYTES	256
#define KEY_BYTES	64
#define CHUNK_BYTES	256	/* of a block in a value, as hexadecimal digits */
#define GOODBYE_MS	2000

enum { PUT, GET, FENCE, FINALIZE, COMMANDS };

/* Names of each command and of its answer, by version */
static const struct pmi_command {
	const char *ask;
	const char *answer;
} commands[2][COMMANDS] = {
	{
		[PUT]		= { "put",		"put_result" },
		[GET]		= { "get",		"get_result" },
		[FENCE]		= { "barrier_in",	"barrier_out" },
		[FINALIZE]	= { "finalize",		"finalize_ack" },
	}, {
		[PUT]		= { "kvs-put",		"kvs-put-response" },
		[GET]		= { "kvs-get",		"kvs-get-response" },
		[FENCE]		= { "kvs-fence",	"kvs-fence-response" },
		[FINALIZE]	= { "finalize",		"finalize-response" },
	},
};

/**
 * struct pmi - the connection
 * @fd: its socket
 * @owned: it is this side's to close
 * @version: of the protocol
 * @rank: of this process
 * @ranks: number of ranks
 * @space: of this job's values: version 1 has a name for it, version 2 the job's
 * @exchanges: number of those that have begun
 * @failed: it cannot be used any more
 * @wait: time of the exchange
 * @message: in progress
 * @text: why it failed
 */
struct pmi {
	int			fd;
	bool			owned;
	unsigned int		version;
	__u32			rank;
	__u32			ranks;
	char			space[NAME_BYTES];
	unsigned int		exchanges;
	bool			failed;
	struct launch_wait	wait;
	struct pmi_message	message;
	char			text[MEETING_TEXT];
};

/* ---- is there one ---- */

/* Is it a library of MPI? Judged by names such as libmpi.so.12; the last two are clients of PMI. */
static int pmi_is_of_mpi(struct dl_phdr_info *info, size_t bytes, void *ctx)
{
	static const char * const names[] = {
		"libmpi.", "libmpi_", "libmpich.", "libpmi.", "libpmi2."
	};
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *name = slash ? slash + 1 : info->dlpi_name;
	unsigned int i;

	(void)bytes;
	(void)ctx;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return 1;
	return 0;
}

/* An MPI library that is loaded, with or without its symbols for all, may use the connection. */
static bool pmi_is_used(void)
{
	return dlsym(RTLD_DEFAULT, "MPI_Init") || dl_iterate_phdr(pmi_is_of_mpi, NULL);
}

static bool pmi_is_connection(int fd)
{
	socklen_t bytes = sizeof(int);
	int type;

	return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) && type == SOCK_STREAM;
}

int pmi_find(char *text, size_t bytes)
{
	bool has_fd = launch_variable("PMI_FD") && launch_variable("PMI_RANK") &&
		      launch_variable("PMI_SIZE");
	char ignored[80];
	__u32 fd;

	if (!has_fd && !(launch_variable("PMI_PORT") && launch_variable("PMI_ID")))
		return -ENOENT;
	if (pmi_is_used()) {
		snprintf(text, bytes,
			 "the launcher has PMI, but this process has loaded MPI, which has its connection: join with collsock_join_comm() of <collsock_mpi.h>, or set COLLSOCK_RENDEZVOUS, COLLSOCK_RANK and COLLSOCK_RANKS");
		return -ENOENT;
	}
	if (!has_fd || (!launch_number("PMI_FD", INT_MAX, &fd, ignored, sizeof(ignored)) &&
			pmi_is_connection(fd)))
		return 0;
	snprintf(text, bytes,
		 "PMI_FD=%.16s is no connection to the launcher in this process; start the program by the launcher itself, or set COLLSOCK_RENDEZVOUS, COLLSOCK_RANK and COLLSOCK_RANKS",
		 launch_variable("PMI_FD"));
	return -EBADF;
}

/* ---- questions ---- */

static const char *pmi_meaning(const struct pmi *pmi, int err)
{
	switch (err) {
	case -EPIPE:
		return "the launcher has ended this connection: each process joins once";
	case -EBADMSG:
		return "the launcher gave an answer that is not understood";
	case -EPROTO:
		return "the launcher has refused a request";
	case -ETIMEDOUT:
		return pmi->wait.for_ranks ?
		       "not all ranks that the launcher has started have asked to join" :
		       "the launcher does not answer";
	default:
		return strerror(-err);
	}
}

static int pmi_fail(struct pmi *pmi, int err)
{
	if (err == -ECONNRESET)
		err = -EPIPE;
	if (pmi->wait.rank == COLLSOCK_NO_RANK)
		snprintf(pmi->text, sizeof(pmi->text), "by PMI, PMI_PORT=%.64s: %s",
			 launch_variable("PMI_PORT"), pmi_meaning(pmi, err));
	else
		snprintf(pmi->text, sizeof(pmi->text), "rank %u, by PMI: %s", pmi->rank,
			 pmi_meaning(pmi, err));
	pmi->failed = true;
	return err;
}

static int pmi_check(const struct pmi_message *m, const char *answer)
{
	char text[KEY_BYTES];

	if (pmi_message_find(m, "cmd", text, sizeof(text)) || strcmp(text, answer))
		return -EBADMSG;
	/* Not all answers have it. */
	pmi_message_find(m, "rc", text, sizeof(text));
	return *text && strcmp(text, "0") ? -EPROTO : 0;
}

static int pmi_receive(struct pmi *pmi, const char *answer)
{
	int err = pmi_message_receive(&pmi->message, pmi->fd, &pmi->wait);

	return err ? err : pmi_check(&pmi->message, answer);
}

static int pmi_ask(struct pmi *pmi, const char *answer)
{
	int err = pmi_message_send(&pmi->message, pmi->fd);

	return err ? err : pmi_receive(pmi, answer);
}

static void pmi_begin(struct pmi *pmi, unsigned int command)
{
	pmi_message_begin(&pmi->message, pmi->version, commands[pmi->version - 1][command].ask);
}

static int pmi_run(struct pmi *pmi, unsigned int command)
{
	return pmi_ask(pmi, commands[pmi->version - 1][command].answer);
}

/* A key for each part of each rank's block; no two have the same. */
static void pmi_add_key(struct pmi *pmi, __u32 rank, size_t part)
{
	char key[KEY_BYTES];

	snprintf(key, sizeof(key), "collsock-%u-%u-%zu", pmi->exchanges, rank, part);
	if (pmi->version == 1)
		pmi_message_add(&pmi->message, "kvsname", pmi->space);
	pmi_message_add(&pmi->message, "key", key);
}

static int pmi_put(struct pmi *pmi, size_t part, const __u8 *data, size_t bytes)
{
	char digits[2 * CHUNK_BYTES + 1];
	size_t i;

	for (i = 0; i < bytes; i++)
		sprintf(digits + 2 * i, "%02x", data[i]);
	pmi_begin(pmi, PUT);
	pmi_add_key(pmi, pmi->rank, part);
	pmi_message_add(&pmi->message, "value", digits);
	explicit_bzero(digits, sizeof(digits));
	return pmi_run(pmi, PUT);
}

static int pmi_read_digits(const char *digits, __u8 *data, size_t bytes)
{
	static const char all[] = "0123456789abcdef";
	size_t i;

	if (strlen(digits) != 2 * bytes || strspn(digits, all) != 2 * bytes)
		return -EBADMSG;
	for (i = 0; i < bytes; i++)
		data[i] = (strchr(all, digits[2 * i]) - all) << 4 |
			  (strchr(all, digits[2 * i + 1]) - all);
	return 0;
}

static int pmi_get(struct pmi *pmi, __u32 rank, size_t part, __u8 *data, size_t bytes)
{
	char digits[2 * CHUNK_BYTES + 1];
	int err;

	pmi_begin(pmi, GET);
	if (pmi->version == 2) {
		pmi_message_add(&pmi->message, "jobid", pmi->space);
		pmi_message_add(&pmi->message, "srcid", "-1");
	}
	pmi_add_key(pmi, rank, part);
	err = pmi_run(pmi, GET);
	if (!err)
		err = pmi_message_find(&pmi->message, "value", digits, sizeof(digits));
	if (!err)
		err = pmi_read_digits(digits, data, bytes);
	explicit_bzero(digits, sizeof(digits));
	return err;
}

/* ---- begin ---- */

/* Both versions begin with a line, as of version 1. */
static int pmi_agree_version(struct pmi *pmi)
{
	__u32 version;
	int err;

	pmi_message_begin(&pmi->message, 1, "init");
	pmi_message_add_number(&pmi->message, "pmi_version", pmi->version);
	pmi_message_add_number(&pmi->message, "pmi_subversion", pmi->version == 1);
	err = pmi_ask(pmi, "response_to_init");
	if (!err)
		err = pmi_message_find_number(&pmi->message, "pmi_version", 2, &version);
	return err ? err : version == pmi->version ? 0 : -EPROTO;
}

static int pmi_init_1(struct pmi *pmi)
{
	int err;

	pmi_message_begin(&pmi->message, 1, "get_my_kvsname");
	err = pmi_ask(pmi, "my_kvsname");
	return err ? err : pmi_message_find(&pmi->message, "kvsname", pmi->space,
					    sizeof(pmi->space));
}

static int pmi_init_2(struct pmi *pmi)
{
	snprintf(pmi->space, sizeof(pmi->space), "%s", launch_variable("PMI_JOBID"));
	pmi_message_begin(&pmi->message, 2, "fullinit");
	pmi_message_add(&pmi->message, "pmijobid", pmi->space);
	pmi_message_add_number(&pmi->message, "pmirank", pmi->rank);
	pmi_message_add(&pmi->message, "threaded", "FALSE");
	return pmi_ask(pmi, "fullinit-response");
}

/* The connection was begun here: the launcher learns which process this is, and sends its rank. */
static int pmi_init_port(struct pmi *pmi)
{
	static const char * const settings[] = { "size", "rank", "debug" };
	__u32 number[3];
	unsigned int i;
	int err;

	pmi_message_begin(&pmi->message, 1, "initack");
	pmi_message_add(&pmi->message, "pmiid", launch_variable("PMI_ID"));
	err = pmi_ask(pmi, "initack");
	for (i = 0; !err && i < 3; i++) {
		err = pmi_receive(pmi, "set");
		if (!err)
			err = pmi_message_find_number(&pmi->message, settings[i],
						      COLLSOCK_MAX_RANKS, &number[i]);
	}
	if (err)
		return err;
	pmi->ranks = number[0];
	pmi->rank = number[1];
	pmi->wait.rank = number[1];
	return pmi->rank < pmi->ranks ? 0 : -EBADMSG;
}

static int pmi_init(struct pmi *pmi)
{
	int err = 0;

	launch_wait_begin(&pmi->wait);
	if (pmi->owned)
		err = pmi_init_port(pmi);
	if (!err)
		err = pmi_agree_version(pmi);
	if (err)
		return err;
	return pmi->version == 1 ? pmi_init_1(pmi) : pmi_init_2(pmi);
}

static int pmi_connect(struct pmi *pmi)
{
	static const __u8 no_job[MEETING_BYTES];
	struct meeting_rendezvous rendezvous;
	struct pollfd connected = { .events = POLLOUT };
	int err = meeting_rendezvous_parse(&rendezvous, launch_variable("PMI_PORT"), NULL, no_job);

	if (!err)
		err = meeting_rendezvous_connect(&rendezvous, 0, &pmi->fd);
	if (err)
		return err < 0 ? err : -EHOSTUNREACH;
	pmi->owned = true;
	connected.fd = pmi->fd;
	if (poll(&connected, 1, GOODBYE_MS) != 1)
		return -ETIMEDOUT;
	return fcntl(pmi->fd, F_SETFL, 0) ? -errno : 0;
}

/* PMI_FD, else PMI_PORT; launchers with version 2 also name the job. */
static int pmi_read_environment(struct pmi *pmi, char *text, size_t bytes)
{
	__u32 fd;
	int err;

	pmi->version = launch_variable("PMI_JOBID") ? 2 : 1;
	if (!launch_variable("PMI_FD")) {
		pmi->version = 1;
		return 0;
	}
	err = launch_number("PMI_FD", INT_MAX, &fd, text, bytes);
	if (!err)
		err = launch_number("PMI_RANK", COLLSOCK_MAX_RANKS - 1, &pmi->rank, text, bytes);
	if (!err)
		err = launch_number("PMI_SIZE", COLLSOCK_MAX_RANKS, &pmi->ranks, text, bytes);
	if (!err)
		pmi->fd = fd;
	return err ? -EINVAL : 0;
}

int pmi_open(struct pmi **made, __u32 timeout_ms, __u32 exchange_ms, char *text, size_t bytes)
{
	struct pmi *pmi = calloc(1, sizeof(*pmi));
	int err;

	if (!pmi) {
		snprintf(text, bytes, "no memory for PMI");
		return -ENOMEM;
	}
	pmi->fd = -1;
	err = pmi_read_environment(pmi, text, bytes);
	if (err) {
		free(pmi);
		return err;
	}
	pmi->wait = (struct launch_wait){
		.first_ms = timeout_ms, .later_ms = exchange_ms, .by = "PMI",
		.rank = pmi->fd < 0 ? COLLSOCK_NO_RANK : pmi->rank,
	};
	err = pmi->fd < 0 ? pmi_connect(pmi) : 0;
	if (!err)
		err = pmi_init(pmi);
	if (err) {
		err = pmi_fail(pmi, err);
		snprintf(text, bytes, "%s", pmi->text);
		pmi_close(pmi);
		return err;
	}
	*made = pmi;
	return 0;
}

__u32 pmi_rank(const struct pmi *pmi)
{
	return pmi->rank;
}

__u32 pmi_ranks(const struct pmi *pmi)
{
	return pmi->ranks;
}

const char *pmi_job(const struct pmi *pmi)
{
	return pmi->space;
}

/* ---- exchange ---- */

static size_t pmi_part_bytes(size_t bytes, size_t part)
{
	size_t left = bytes - part * CHUNK_BYTES;

	return left < CHUNK_BYTES ? left : CHUNK_BYTES;
}

static int pmi_put_block(struct pmi *pmi, const __u8 *mine, size_t bytes)
{
	size_t part;
	int err = 0;

	for (part = 0; !err && part * CHUNK_BYTES < bytes; part++)
		err = pmi_put(pmi, part, mine + part * CHUNK_BYTES, pmi_part_bytes(bytes, part));
	return err;
}

static int pmi_get_block(struct pmi *pmi, __u32 rank, __u8 *block, size_t bytes)
{
	size_t part;
	int err = 0;

	for (part = 0; !err && part * CHUNK_BYTES < bytes; part++)
		err = pmi_get(pmi, rank, part, block + part * CHUNK_BYTES,
			      pmi_part_bytes(bytes, part));
	return err;
}

static int pmi_fence(struct pmi *pmi)
{
	int err;

	launch_wait_turn_to(&pmi->wait, true);
	pmi_begin(pmi, FENCE);
	err = pmi_run(pmi, FENCE);
	if (!err)
		launch_wait_turn_to(&pmi->wait, false);
	return err;
}

int pmi_exchange(void *ctx, const void *mine, void *all, size_t bytes)
{
	struct pmi *pmi = ctx;
	__u32 rank;
	int err;

	if (pmi->failed)
		return -ENOTCONN;
	/* The time of the first exchange began with the connection. */
	if (pmi->exchanges++)
		launch_wait_begin(&pmi->wait);
	err = pmi_put_block(pmi, mine, bytes);
	if (!err)
		err = pmi_fence(pmi);
	for (rank = 0; !err && rank < pmi->ranks; rank++)
		err = pmi_get_block(pmi, rank, (__u8 *)all + rank * bytes, bytes);
	return err ? pmi_fail(pmi, err) : 0;
}

const char *pmi_text(const void *ctx)
{
	const struct pmi *pmi = ctx;

	return pmi->text;
}

/* The launcher's socket stays open: its number, in the environment, must not become another's. */
void pmi_close(void *ctx)
{
	struct pmi *pmi = ctx;

	if (!pmi->failed) {
		pmi->wait.later_ms = GOODBYE_MS;
		launch_wait_begin(&pmi->wait);
		pmi_begin(pmi, FINALIZE);
		pmi_run(pmi, FINALIZE);
	}
	if (pmi->owned)
		close(pmi->fd);
	explicit_bzero(pmi, sizeof(*pmi));
	free(pmi);
}
