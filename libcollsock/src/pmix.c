// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "collsock.h"
#include "launch_environment.h"
#include "launch_wait.h"
#include "meeting_clock.h"
#include "meeting_self.h"
#include "pmix.h"
#include "pmix_library.h"

#define NAME_BYTES 64
/* Ranks put before they fence, so only a launcher that is delayed has no value yet. */
#define MOST_GET_SECONDS 10
/*
 * If a rank runs one process after another, fences of the later ones may complete without one of
 * them. libpmix 4 takes the end of an earlier process's connection for that of a later one's. It
 * also counts a process as lost, for the rest of the job, if it sees the end of the connection
 * before it has noted that the process has finalised: it replies first, and takes the note then.
 */
#define ENDED "perhaps a process of the job has ended meanwhile: either a rank has failed, or programs run one after the other: start each by an mpirun or srun of its own"

/**
 * struct pmix - this process at PMIx
 * @library: libpmix
 * @own: its name
 * @ranks: number of ranks
 * @exchanges: number of those that have begun
 * @failed: a fence may be in progress
 * @wait: time of the exchange
 * @text: why it failed
 */
struct pmix {
	const struct pmix_library	*library;
	struct pmix_process		own;
	__u32				ranks;
	unsigned int			exchanges;
	bool				failed;
	struct launch_wait		wait;
	char				text[MEETING_TEXT];
};

int pmix_find(char *text, size_t bytes)
{
	if (!launch_variable("PMIX_RANK") || !launch_variable("PMIX_NAMESPACE"))
		return -ENOENT;
	if (pmix_library_load())
		return 0;
	snprintf(text, bytes,
		 "the launcher has PMIx, but %s is not installed here: install it (libpmix2 in Debian) on all hosts",
		 PMIX_LIBRARY);
	return -ENOENT;
}

[[gnu::format(printf, 3, 4)]]
static int pmix_fail(struct pmix *pmix, int err, const char *format, ...)
{
	size_t bytes = snprintf(pmix->text, sizeof(pmix->text), "rank %u, by PMIx: ",
				pmix->own.rank);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(pmix->text + bytes, sizeof(pmix->text) - bytes, format, arguments);
	va_end(arguments);
	pmix->failed = true;
	return err;
}

/* ---- values ---- */

/* Take exactly @bytes from a value that libpmix has allocated, and free it. */
static int pmix_take(struct pmix_value *value, __u16 type, void *data, size_t bytes)
{
	int err = value->type == type ? 0 : -EBADMSG;

	if (!err && type == PMIX_TYPE_U32)
		memcpy(data, &value->number, bytes);
	if (!err && type == PMIX_TYPE_BYTES) {
		if (value->bytes.bytes == bytes)
			memcpy(data, value->bytes.data, bytes);
		else
			err = -EBADMSG;
		explicit_bzero(value->bytes.data, value->bytes.bytes);
		free(value->bytes.data);
	}
	free(value);
	return err;
}

/* Without a limit, some versions wait indefinitely for what a rank never puts. */
static struct pmix_info pmix_limit(const struct pmix *pmix)
{
	__u32 seconds = meeting_clock_left(pmix->wait.end_ms) / 1000;

	if (seconds > MOST_GET_SECONDS)
		seconds = MOST_GET_SECONDS;
	return (struct pmix_info){
		.key = PMIX_TIMEOUT,
		.value = { .type = PMIX_TYPE_U32, .number = seconds ? seconds : 1 },
	};
}

static int pmix_lacks(struct pmix *pmix, __u32 rank, int status)
{
	if (status == PMIX_TIMED_OUT)
		return pmix_fail(pmix, -ETIMEDOUT,
				 "rank %u has taken part in a fence, but has not asked to join; start the same program on all",
				 rank);
	return pmix_fail(pmix, -EREMOTEIO, "what rank %u gives is not there: %s%s", rank,
			 pmix->library->error(status),
			 status == PMIX_NOT_FOUND ? "; " ENDED : "");
}

static int pmix_get(struct pmix *pmix, __u32 rank, const char *key, __u16 type, void *data,
		    size_t bytes)
{
	const struct pmix_info limit = pmix_limit(pmix);
	struct pmix_process of = pmix->own;
	struct pmix_value *value = NULL;
	int status;

	of.rank = rank;
	status = pmix->library->get(&of, key, &limit, 1, &value);
	if (status || !value)
		return pmix_lacks(pmix, rank, status);
	if (pmix_take(value, type, data, bytes))
		return pmix_fail(pmix, -EBADMSG,
				 "rank %u gives something else; start the same program on all",
				 rank);
	return 0;
}

static int pmix_put(struct pmix *pmix, const char *key, const void *data, size_t bytes)
{
	struct pmix_value value = {
		.type = PMIX_TYPE_BYTES, .bytes = { (char *)data, bytes },
	};
	int status = pmix->library->put(PMIX_SCOPE_ALL, key, &value);

	if (!status)
		status = pmix->library->commit();
	return status ? pmix_fail(pmix, -EREMOTEIO, "%s", pmix->library->error(status)) : 0;
}

/* ---- fences ---- */

/**
 * struct pmix_fence - a fence, which a thread of libpmix completes, perhaps after nobody waits
 * @users: of this structure: who waits, and that thread
 * @status: how it ended
 * @done: an eventfd
 */
struct pmix_fence {
	atomic_int	users;
	int		status;
	int		done;
};

static void pmix_fence_release(struct pmix_fence *fence)
{
	if (atomic_fetch_sub(&fence->users, 1) > 1)
		return;
	close(fence->done);
	free(fence);
}

static void pmix_fence_complete(int status, void *ctx)
{
	struct pmix_fence *fence = ctx;

	fence->status = status;
	eventfd_write(fence->done, 1);
	pmix_fence_release(fence);
}

static struct pmix_fence *pmix_fence_new(void)
{
	struct pmix_fence *fence = calloc(1, sizeof(*fence));

	if (!fence)
		return NULL;
	fence->done = eventfd(0, EFD_CLOEXEC);
	fence->users = 2;
	if (fence->done >= 0)
		return fence;
	free(fence);
	return NULL;
}

/* Wait until all ranks are here, and what they have put can be got. */
static int pmix_fence(struct pmix *pmix)
{
	struct pmix_info with_values = {
		.key = PMIX_WITH_VALUES, .value = { .type = PMIX_TYPE_BOOL, .flag = true },
	};
	struct pmix_fence *fence = pmix_fence_new();
	struct pmix_process all = pmix->own;
	int status, err;

	if (!fence)
		return pmix_fail(pmix, -ENOMEM, "no memory, or no file");
	all.rank = PMIX_RANK_ALL;
	status = pmix->library->fence(&all, 1, &with_values, 1, pmix_fence_complete, fence);
	if (status == PMIX_DONE_AT_ONCE) {
		pmix_fence_complete(0, fence);
	} else if (status) {
		pmix_fence_release(fence);
		pmix_fence_release(fence);
		return pmix_fail(pmix, -EREMOTEIO, "%s", pmix->library->error(status));
	}
	err = launch_wait_for(&pmix->wait, fence->done);
	if (err)
		err = pmix_fail(pmix, err,
				"not all ranks that the launcher has started have asked to join");
	else if (fence->status)
		err = pmix_fail(pmix, -EREMOTEIO, "%s%s", pmix->library->error(fence->status),
				fence->status == PMIX_PARTLY_DONE ? "; " ENDED : "");
	pmix_fence_release(fence);
	return err;
}

/* ---- begin ---- */

static int pmix_init(struct pmix *pmix)
{
	int status = pmix->library->init(&pmix->own, NULL, 0), err;

	if (status)
		return pmix_fail(pmix, -ECONNREFUSED, "the launcher does not answer: %s",
				 pmix->library->error(status));
	err = pmix_get(pmix, PMIX_RANK_ALL, PMIX_NUMBER_OF_RANKS, PMIX_TYPE_U32, &pmix->ranks,
		       sizeof(pmix->ranks));
	if (!err && pmix->own.rank >= pmix->ranks)
		err = pmix_fail(pmix, -ECONNREFUSED, "the launcher counts %u ranks", pmix->ranks);
	if (err)
		pmix->library->finalize(NULL, 0);
	return err;
}

int pmix_open(struct pmix **made, __u32 timeout_ms, __u32 exchange_ms, char *text, size_t bytes)
{
	static atomic_bool was_opened;
	struct pmix *pmix;
	int err;

	/* libpmix 4 does not work a second time in a process. */
	if (atomic_exchange(&was_opened, true)) {
		snprintf(text, bytes, "each process joins once by PMIx");
		return -EPIPE;
	}
	pmix = calloc(1, sizeof(*pmix));
	if (!pmix) {
		snprintf(text, bytes, "no memory for PMIx");
		return -ENOMEM;
	}
	pmix->library = pmix_library_load();
	pmix->wait = (struct launch_wait){
		.first_ms = timeout_ms, .later_ms = exchange_ms, .by = "PMIx",
		.end_ms = meeting_clock_ms() + timeout_ms,
	};
	err = pmix_init(pmix);
	if (err) {
		snprintf(text, bytes, "%s", pmix->text);
		free(pmix);
		return err;
	}
	pmix->wait.rank = pmix->own.rank;
	*made = pmix;
	return 0;
}

__u32 pmix_rank(const struct pmix *pmix)
{
	return pmix->own.rank;
}

__u32 pmix_ranks(const struct pmix *pmix)
{
	return pmix->ranks;
}

const char *pmix_job(const struct pmix *pmix)
{
	return pmix->own.space;
}

/* ---- exchange ---- */

int pmix_exchange(void *ctx, const void *mine, void *all, size_t bytes)
{
	struct pmix *pmix = ctx;
	char key[NAME_BYTES];
	__u32 rank;
	int err;

	if (pmix->failed)
		return -ENOTCONN;
	launch_wait_begin(&pmix->wait);
	launch_wait_turn_to(&pmix->wait, true);
	snprintf(key, sizeof(key), "collsock.%u", pmix->exchanges++);
	err = pmix_put(pmix, key, mine, bytes);
	if (!err)
		err = pmix_fence(pmix);
	for (rank = 0; !err && rank < pmix->ranks; rank++)
		err = pmix_get(pmix, rank, key, PMIX_TYPE_BYTES, (char *)all + rank * bytes,
			       bytes);
	return err;
}

const char *pmix_text(const void *ctx)
{
	const struct pmix *pmix = ctx;

	return pmix->text;
}

/* libpmix is not finalised while a fence is in progress: it would wait for the missing ranks. */
void pmix_close(void *ctx)
{
	struct pmix *pmix = ctx;

	if (!pmix->failed)
		pmix->library->finalize(NULL, 0);
	free(pmix);
}
