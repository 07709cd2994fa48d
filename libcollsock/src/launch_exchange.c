// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "launch_environment.h"
#include "launch_exchange.h"
#include "launch_secret.h"
#include "meeting.h"
#include "meeting_keys.h"
#include "pmi.h"
#include "pmix.h"

#define MS_PER_S	1000
/*
 * Time of an exchange once all ranks have come: a tenth of the time that they had, within these
 * limits
 */
#define LEAST_EXCHANGE_MS	2000
#define MOST_EXCHANGE_MS	30000

/**
 * struct launch_provider - a kind of exchange
 * @open: see launch_exchange_open()
 * @call: the exchange of its @ctx
 * @text: why that failed
 * @close: ends it
 */
struct launch_provider {
	int		(*open)(struct launch_exchange *x, struct launch *l, __u32 timeout_ms,
				__u32 exchange_ms, char *text, size_t bytes);
	collsock_exchange	call;
	const char	*(*text)(const void *ctx);
	void		(*close)(void *ctx);
};

/* ---- a meeting ---- */

static void exchange_report(void *file, const char *line)
{
	fprintf(file, "collsock: %s\n", line);
}

static int exchange_open_meeting(struct launch_exchange *x, struct launch *l, __u32 timeout_ms,
				 __u32 exchange_ms, char *text, size_t bytes)
{
	struct meeting_options o = {
		.rendezvous = l->rendezvous, .job = l->job, .attempt = l->attempt,
		.rank = l->rank, .ranks = l->ranks, .timeout_ms = timeout_ms,
		.exchange_ms = exchange_ms, .report = exchange_report, .ctx = stderr,
		.ports = launch_variable("COLLSOCK_MEETING_PORTS"),
	};
	struct meeting *meeting;
	int err = launch_secret_read(o.secret, text, bytes);

	if (!err)
		err = meeting_open(&meeting, &o, text, bytes);
	explicit_bzero(o.secret, sizeof(o.secret));
	if (err)
		return err;
	x->ctx = meeting;
	x->keyed = true;
	meeting_group_key(meeting, x->key);
	return 0;
}

static const char *exchange_text_meeting(const void *ctx)
{
	return meeting_text(ctx);
}

static void exchange_close_meeting(void *ctx)
{
	meeting_close(ctx);
}

/* ---- those of launchers ---- */

/*
 * Read the secret into the key of @x. Others may be able to read what passes through the launcher,
 * but a key made of a secret, which all ranks have, does not pass through it.
 */
static int exchange_read_secret(struct launch_exchange *x, char *text, size_t bytes)
{
	int err = launch_secret_is_named() ? launch_secret_read(x->key, text, bytes) : 0;

	x->keyed = !err && launch_secret_is_named();
	return err;
}

/* Jobs that share a secret have different keys. @job: the launcher's name of this one */
static void exchange_make_key(struct launch_exchange *x, const char *job)
{
	static const __u8 no_salt[MEETING_BYTES];
	__u8 secret[COLLSOCK_KEY_BYTES], digest[MEETING_BYTES];

	if (!x->keyed)
		return;
	memcpy(secret, x->key, sizeof(secret));
	meeting_keys_digest(digest, job, strlen(job));
	meeting_keys_group(x->key, secret, digest, 0, no_salt);
	explicit_bzero(secret, sizeof(secret));
}

static int exchange_open_pmi(struct launch_exchange *x, struct launch *l, __u32 timeout_ms,
			     __u32 exchange_ms, char *text, size_t bytes)
{
	int err = exchange_read_secret(x, text, bytes);
	struct pmi *pmi;

	if (!err)
		err = pmi_open(&pmi, timeout_ms, exchange_ms, text, bytes);
	if (err)
		return err;
	x->ctx = pmi;
	exchange_make_key(x, pmi_job(pmi));
	l->rank = pmi_rank(pmi);
	l->ranks = pmi_ranks(pmi);
	return 0;
}

static int exchange_open_pmix(struct launch_exchange *x, struct launch *l, __u32 timeout_ms,
			      __u32 exchange_ms, char *text, size_t bytes)
{
	int err = exchange_read_secret(x, text, bytes);
	struct pmix *pmix;

	if (!err)
		err = pmix_open(&pmix, timeout_ms, exchange_ms, text, bytes);
	if (err)
		return err;
	x->ctx = pmix;
	exchange_make_key(x, pmix_job(pmix));
	l->rank = pmix_rank(pmix);
	l->ranks = pmix_ranks(pmix);
	return 0;
}

/* ---- all ---- */

static const struct launch_provider providers[] = {
	[LAUNCH_BY_MEETING] = {
		exchange_open_meeting, meeting_exchange, exchange_text_meeting,
		exchange_close_meeting
	},
	[LAUNCH_BY_PMIX] = { exchange_open_pmix, pmix_exchange, pmix_text, pmix_close },
	[LAUNCH_BY_PMI] = { exchange_open_pmi, pmi_exchange, pmi_text, pmi_close },
};

/*
 * How long an exchange itself may take. If a rank stops after it has come, the others give up soon
 * after that.
 */
static __u32 exchange_own_ms(__u32 timeout_s)
{
	__u32 own_ms = timeout_s * (MS_PER_S / 10);

	if (own_ms < LEAST_EXCHANGE_MS)
		return LEAST_EXCHANGE_MS;
	return own_ms < MOST_EXCHANGE_MS ? own_ms : MOST_EXCHANGE_MS;
}

int launch_exchange_open(struct launch_exchange *x, struct launch *launch, __u32 try_out_ms,
			 char *text, size_t bytes)
{
	__u32 timeout_s = LAUNCH_TIMEOUT_S;
	int err = launch_number("COLLSOCK_MEETING_TIMEOUT", INT32_MAX / MS_PER_S, &timeout_s, text,
				bytes);

	if (err == -EINVAL)
		return err;
	memset(x, 0, sizeof(*x));
	x->provider = &providers[launch->by];
	err = x->provider->open(x, launch, timeout_s * MS_PER_S,
				try_out_ms + exchange_own_ms(timeout_s), text, bytes);
	if (err)
		explicit_bzero(x->key, sizeof(x->key));
	return err;
}

int launch_exchange_call(void *exchange, const void *mine, void *all, size_t bytes)
{
	const struct launch_exchange *x = exchange;

	return x->provider->call(x->ctx, mine, all, bytes);
}

const char *launch_exchange_text(const struct launch_exchange *x)
{
	return x->provider->text(x->ctx);
}

void launch_exchange_close(struct launch_exchange *x)
{
	x->provider->close(x->ctx);
	explicit_bzero(x->key, sizeof(x->key));
}
