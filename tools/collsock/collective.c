// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <collsock.h>

#include "collective.h"
#include "command.h"
#include "overdue.h"
#include "start.h"

#define TEXT_BYTES	512
#define TIMED_OUT	124	/* exit status, as of timeout(1) */
#define COOKIE		1
#define MS_PER_S	1000
#define NS_PER_MS	1000000

/**
 * struct number - operand of allreduce
 * @type: of the two that it may be
 * @whole: with COLLSOCK_INT64
 * @real: with COLLSOCK_DOUBLE
 */
struct number {
	enum collsock_type	type;
	union {
		int64_t	whole;
		double	real;
	};
};

static int64_t collective_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * MS_PER_S + now.tv_nsec / NS_PER_MS;
}

/* ---- join ---- */

/* First packets are waited for no longer than by default, though ranks may have longer to meet. */
static uint32_t collective_first_packets_ms(uint32_t timeout_s)
{
	uint32_t timeout_ms = timeout_s * MS_PER_S;

	return timeout_ms && timeout_ms < COLLSOCK_DEFAULT_TIMEOUT_MS ? timeout_ms : 0;
}

static struct collsock *collective_join(const struct start *start)
{
	struct collsock_options options = { .size = sizeof(options) };
	char text[TEXT_BYTES], timeout[16];
	struct collsock *socket;
	int error;

	if (start->timeout_s) {
		snprintf(timeout, sizeof(timeout), "%u", start->timeout_s);
		if (setenv("COLLSOCK_MEETING_TIMEOUT", timeout, 1))
			err(EXIT_ERROR, "COLLSOCK_MEETING_TIMEOUT");
	}
	options.timeout_ms = collective_first_packets_ms(start->timeout_s);
	options.text = text;
	options.text_bytes = sizeof(text);
	error = collsock_join_env(&socket, &options);
	if (!error)
		return socket;
	warnx("%s", text);
	exit(error == -ETIMEDOUT ? TIMED_OUT :
	     error == -ENOENT || error == -EINVAL ? START_USAGE : EXIT_ERROR);
}

/* ---- the operation ---- */

/* Time that is left, for poll() */
static int collective_left_ms(int64_t end_ms)
{
	int64_t left = end_ms - collective_now_ms();

	if (!end_ms)
		return -1;
	return left > 0 ? left : 0;
}

/* In user space nobody can ask for it later, as the rank ends with this process. */
[[gnu::noreturn]] static void collective_give_up(void)
{
	const char *sentence = overdue_sentence();

	errx(TIMED_OUT, "timed out; %s", sentence ? sentence :
	     "collsock wait says which rank everyone waits for");
}

/*
 * The operation stays posted: it is this process that gives up, but not before it has looked once,
 * as joining may have taken all of the time.
 */
static void collective_await(struct collsock *socket, int64_t end_ms)
{
	struct pollfd readable = { collsock_fd(socket), POLLIN, 0 };
	int left, ready;

	do {
		left = collective_left_ms(end_ms);
		ready = poll(&readable, 1, left);
		if (ready <= 0 && !left)
			collective_give_up();
	} while (ready <= 0);
}

static void collective_receive(struct collsock *socket, int64_t end_ms, void *result,
			       size_t bytes)
{
	struct collsock_completion completion = { };
	char text[TEXT_BYTES];
	int error;

	do {
		collective_await(socket, end_ms);
		error = collsock_wait(socket, COOKIE, &completion, result, bytes);
	} while (error == -EINTR || error == -EINPROGRESS || error == -EAGAIN);
	if (!error)
		error = completion.error;
	else
		completion.failed_rank = COLLSOCK_NO_RANK;
	if (error)
		errx(EXIT_ERROR, "%s",
		     collsock_strerror(error, completion.failed_rank, text, sizeof(text)));
}

static int64_t collective_end_ms(const struct start *start)
{
	return start->timeout_s ? collective_now_ms() + (int64_t)start->timeout_s * MS_PER_S : 0;
}

static void collective_check_post(int error)
{
	char text[TEXT_BYTES];

	if (error)
		errx(EXIT_ERROR, "%s",
		     collsock_strerror(error, COLLSOCK_NO_RANK, text, sizeof(text)));
}

/* ---- the commands ---- */

int collective_barrier(int argc, char **argv)
{
	struct start start = { .usage = START_USAGE };
	char **words = start_parse(&start, argc, argv, "rnRHpNt");
	int64_t end_ms = collective_end_ms(&start);
	struct collsock *socket;

	if (*words)
		errx(START_USAGE, "barrier: \"%s\" is too much: collsock --help", *words);
	socket = collective_join(&start);
	collective_check_post(collsock_post_barrier(socket, COOKIE));
	collective_receive(socket, end_ms, NULL, 0);
	collsock_close(socket);
	return EXIT_DONE;
}

static enum collsock_operator collective_operator(const char *name)
{
	static const struct {
		enum collsock_operator	number;
		const char		*name;
	} operators[] = {
		{ COLLSOCK_SUM, "sum" }, { COLLSOCK_MIN, "min" }, { COLLSOCK_MAX, "max" },
		{ COLLSOCK_PRODUCT, "product" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (name && !strcmp(name, operators[i].name))
			return operators[i].number;
	errx(START_USAGE, "allreduce: --op is sum, min, max or product");
}

/* The numbers of all ranks are of one type, so a whole one that is too large is not a real one. */
static struct number collective_number(const char *word)
{
	struct number number = { .type = COLLSOCK_INT64 };
	char *end;

	errno = 0;
	number.whole = strtoll(word, &end, 10);
	if (end != word && !*end) {
		if (errno)
			errx(START_USAGE,
			     "allreduce: \"%s\" is too large for a whole number of 64 bits; %s.0 is a real one",
			     word, word);
		return number;
	}
	number = (struct number){ .type = COLLSOCK_DOUBLE };
	number.real = strtod(word, &end);
	if (end == word || *end || strpbrk(word, "xX"))
		errx(START_USAGE, "allreduce: \"%s\" is not a decimal number", word);
	return number;
}

int collective_allreduce(int argc, char **argv)
{
	struct start start = { .usage = START_USAGE };
	char **words = start_parse(&start, argc, argv, "rnRHpNto");
	int64_t end_ms = collective_end_ms(&start);
	enum collsock_operator operator;
	struct number number, result;
	struct collsock *socket;

	operator = collective_operator(start.operator);
	if (!words[0] || words[1])
		errx(START_USAGE, "allreduce: one number, after the options: collsock --help");
	number = collective_number(words[0]);
	socket = collective_join(&start);
	collective_check_post(collsock_post_allreduce(socket, &number.whole, 1, number.type,
						      operator, COOKIE));
	collective_receive(socket, end_ms, &result.whole, sizeof(result.whole));
	if (number.type == COLLSOCK_INT64)
		printf("%jd\n", (intmax_t)result.whole);
	else
		printf("%.17g\n", result.real);
	collsock_close(socket);
	return EXIT_DONE;
}
