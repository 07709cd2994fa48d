// SPDX-License-Identifier: GPL-2.0
/*
 * One rank of the demonstration: barriers, an all-reduce, all-reduces that are under way
 * while it computes, and a reduction that it leaves early. It records what it observes;
 * tools/demo/demo checks the records of all ranks.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <collsock.h>

#define MAX_DELAY_US 1000
#define LETTERS 26
#define PIECE_BYTES (256 * 1024)
#define PIECE_DARTS 2000
#define SUMS 20		/* all-reduces that are under way while the hosts compute */
#define LATE_PIECES 5	/* of darts, before the late rank of a sum posts */
#define LATE_MS 20	/* delay of the late host of the reduction */
#define NS_PER_SECOND 1000000000ULL
#define NS_PER_MS 1000000ULL
#define TEXT_BYTES 512
#define JOIN_MS 120000	/* an emulated machine starts many processes slowly */
#define EXCHANGE_BYTES 16	/* of each rank; the limit of a group by default */

enum {
	EXIT_DONE	= 0,
	EXIT_FAILED	= 1,
	EXIT_USAGE	= 2,
};

/**
 * struct host - this rank
 * @rank: its number
 * @hosts: number of hosts
 * @ranks: number of ranks; the first of them are on the first host, and so on
 * @socket: socket of the group
 * @other: socket of the second group
 * @folder: directory for its records
 * @seen: its record there, as JSON
 */
struct host {
	unsigned int	rank;
	unsigned int	hosts;
	unsigned int	ranks;
	struct collsock	*socket;
	struct collsock	*other;
	const char	*folder;
	FILE		*seen;
};

/* Darts thrown at a square, and the number that hit the quarter circle in it */
struct darts {
	__u64	hits;
	__u64	thrown;
};

static noreturn void fail(const char *what, int error, uint32_t failed_rank)
{
	char text[TEXT_BYTES];

	errx(EXIT_FAILED, "%s: %s", what,
	     collsock_strerror(error, failed_rank, text, sizeof(text)));
}

static __u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static FILE *create(const struct host *host, const char *name)
{
	char path[TEXT_BYTES];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s-%u", host->folder, name, host->rank);
	file = fopen(path, "we");
	if (!file)
		err(EXIT_FAILED, "%s", path);
	return file;
}

static void finish(FILE *file)
{
	if (ferror(file) || fclose(file))
		errx(EXIT_FAILED, "cannot write the results");
}

/* ---- 1. barriers ---- */

/* Records for each barrier when this rank arrived and when it left. */
static void do_barriers(struct host *host, unsigned long count)
{
	struct collsock_completion completion;
	FILE *times = create(host, "times");
	__u64 arrived;
	unsigned long i;
	int error;

	for (i = 0; i < count; i++) {
		usleep(drand48() * MAX_DELAY_US);
		arrived = now_ns();
		error = collsock_barrier(host->socket, &completion);
		if (error)
			fail("barrier", error, completion.failed_rank);
		fprintf(times, "%llu %llu\n", arrived, now_ns());
	}
	finish(times);
}

/* ---- 2. letters ---- */

/* Read a piece, or less at the end of the file. */
static size_t read_piece(int fd, uint8_t *piece, off_t from)
{
	size_t bytes = 0;

	while (bytes < PIECE_BYTES) {
		ssize_t more = pread(fd, piece + bytes, PIECE_BYTES - bytes, from + bytes);

		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0)
			err(EXIT_FAILED, "read");
		if (!more)
			break;
		bytes += more;
	}
	return bytes;
}

/* Offset of the first line that begins at @from or later */
static off_t find_line(int fd, uint8_t *piece, off_t from)
{
	const uint8_t *newline;
	size_t bytes;

	if (!from)
		return 0;
	for (from--; ; from += bytes) {
		bytes = read_piece(fd, piece, from);
		newline = memchr(piece, '\n', bytes);
		if (newline)
			return from + (newline - piece) + 1;
		if (bytes < PIECE_BYTES)
			return from + bytes;
	}
}

/* Count the lines that begin at @from or later and before @to; returns their number. */
static __u64 count_letters(int fd, off_t from, off_t to, __u64 letters[LETTERS])
{
	uint8_t *piece = malloc(PIECE_BYTES);
	__u64 lines = 0;
	size_t bytes, i;
	off_t end;

	if (!piece)
		err(EXIT_FAILED, "memory");
	from = find_line(fd, piece, from);
	end = to > from ? find_line(fd, piece, to) : from;
	for (; from < end; from += bytes) {
		bytes = read_piece(fd, piece, from);
		if (!bytes)
			errx(EXIT_FAILED, "the input became shorter");
		if (bytes > (size_t)(end - from))
			bytes = end - from;
		for (i = 0; i < bytes; i++) {
			uint8_t lower = piece[i] | 0x20;

			lines += piece[i] == '\n';
			if (lower >= 'a' && lower <= 'z')
				letters[lower - 'a']++;
		}
		if (from + (off_t)bytes == end)
			lines += piece[bytes - 1] != '\n';
	}
	free(piece);
	return lines;
}

/* A line belongs to the rank whose share contains its first byte. */
static void do_letters(struct host *host, const char *input)
{
	__u64 mine[LETTERS] = { }, all[LETTERS] = { }, lines;
	struct collsock_completion completion;
	struct stat status;
	unsigned int i;
	int fd, error;

	fd = open(input, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status))
		err(EXIT_FAILED, "%s", input);
	lines = count_letters(fd, status.st_size * host->rank / host->ranks,
			      status.st_size * (host->rank + 1) / host->ranks, mine);
	close(fd);
	error = collsock_allreduce(host->socket, mine, all, LETTERS, COLLSOCK_UINT64,
				   COLLSOCK_SUM, &completion);
	if (error)
		fail("allreduce", error, completion.failed_rank);
	fprintf(host->seen, "\"lines\": %llu, \"letters\": [", lines);
	for (i = 0; i < LETTERS; i++)
		fprintf(host->seen, "%s%llu", i ? ", " : "", all[i]);
	fprintf(host->seen, "]");
}

/* ---- 3. compute while a sum is under way ---- */

static void throw_darts(struct darts *darts)
{
	unsigned int i;

	for (i = 0; i < PIECE_DARTS; i++) {
		double x = drand48(), y = drand48();

		darts->hits += x * x + y * y < 1;
		darts->thrown++;
	}
}

/* Has an operation completed? Never sleeps: a server would check its clients here, too. */
static bool completed(int epoll)
{
	struct epoll_event event;
	int ready;

	do {
		ready = epoll_wait(epoll, &event, 1, 0);
	} while (ready < 0 && errno == EINTR);
	if (ready < 0)
		err(EXIT_FAILED, "epoll_wait");
	return ready;
}

/*
 * Compute until the operation has completed, and read the result. Returns its completion
 * time.
 */
static __u64 compute_and_take(struct collsock *socket, struct darts *darts, void *result,
			      size_t bytes, const char *what)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct collsock_completion completion;
	int epoll = epoll_create1(EPOLL_CLOEXEC), error;

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, collsock_fd(socket), &event))
		err(EXIT_FAILED, "epoll");
	while (!completed(epoll))
		throw_darts(darts);
	close(epoll);
	error = collsock_complete(socket, &completion, result, bytes);
	if (!error)
		error = completion.error;
	if (error)
		fail(what, error, completion.failed_rank);
	return completion.completed_ns;
}

/* Contribute the darts thrown so far, and throw more until the sum of all is available. */
static void sum_and_compute(struct host *host, unsigned int number, struct darts *darts)
{
	struct darts mine = *darts, all = { };
	int error;

	error = collsock_post_allreduce(host->socket, &mine, sizeof(mine) / sizeof(mine.hits),
					COLLSOCK_UINT64, COLLSOCK_SUM, number);
	if (error)
		fail("post", error, COLLSOCK_NO_RANK);
	*darts = (struct darts){ };
	compute_and_take(host->socket, darts, &all, sizeof(all), "allreduce");
	fprintf(host->seen, "%s{\"mine\": [%llu, %llu], ", number ? ", " : "", mine.hits,
		mine.thrown);
	fprintf(host->seen, "\"all\": [%llu, %llu], \"pieces\": %llu}", all.hits, all.thrown,
		darts->thrown / PIECE_DARTS);
}

static void do_sums(struct host *host)
{
	struct darts darts = { };
	unsigned int i, piece;

	fprintf(host->seen, ", \"sums\": [");
	for (i = 0; i < SUMS; i++) {
		/* One rank is always late, so that the others have time to compute. */
		for (piece = 0; i % host->ranks == host->rank && piece < LATE_PIECES; piece++)
			throw_darts(&darts);
		sum_and_compute(host, i, &darts);
	}
	fprintf(host->seen, "]");
}

/* ---- 4. a reduction in which no host waits for a late one ---- */

static void wait_for_all(struct collsock *socket)
{
	struct collsock_completion completion;
	int error = collsock_barrier(socket, &completion);

	if (error)
		fail("barrier", error, completion.failed_rank);
}

/*
 * Count the ranks at rank 0. Only rank 0 waits, and computes meanwhile; the others are free
 * as soon as they have posted, though their host must still receive the contribution of the
 * late host and forward it. The late ranks learn by a barrier of the other group that all
 * others have posted, and then delay.
 */
static void do_reduce(struct host *host, unsigned int late_host)
{
	const struct timespec pause = { .tv_nsec = LATE_MS * NS_PER_MS };
	bool late = host->rank / (host->ranks / host->hosts) == late_host;
	__u64 begin, posted, free_again, until, all = 0;
	const __u64 one = 1;
	struct darts darts = { };
	int error;

	wait_for_all(host->socket);
	begin = now_ns();
	if (late) {
		wait_for_all(host->other);
		nanosleep(&pause, NULL);
	}
	posted = now_ns();
	error = collsock_post_reduce(host->socket, &one, 1, COLLSOCK_UINT64, COLLSOCK_SUM, 0, 0,
				     0);
	if (!error && !late)
		error = collsock_post_barrier(host->other, 0);
	if (error)
		fail("post", error, COLLSOCK_NO_RANK);
	free_again = compute_and_take(host->socket, &darts, &all, sizeof(all), "reduce");
	if (!late) {
		until = compute_and_take(host->other, &darts, NULL, 0, "barrier");
		until += LATE_MS * NS_PER_MS;
		while (now_ns() < until)
			throw_darts(&darts);
	}
	fprintf(host->seen, ", \"reduce\": {\"begin\": %llu, \"posted\": %llu, ", begin, posted);
	fprintf(host->seen, "\"free\": %llu, \"all\": %llu, \"darts\": %llu}", free_again, all,
		darts.thrown);
}

/* ---- start and end ---- */

static noreturn void refuse(const char *what, int error, const struct collsock_options *options)
{
	errx(EXIT_FAILED, "%s: %s (%s)", what, options->text, strerror(-error));
}

/* The launcher determines which rank this is, and how to find the others. */
static void join(struct host *host, struct collsock_options *options)
{
	int error = collsock_join_env(&host->socket, options);

	if (error)
		refuse("join", error, options);
	host->rank = collsock_rank(host->socket);
	host->ranks = collsock_size(host->socket);
}

/* A collsock_exchange: an allgather by the group that the ranks have joined already */
static int exchange(void *socket, const void *mine, void *all, size_t bytes)
{
	unsigned int rank, ranks = collsock_size(socket);
	uint8_t pieces[ranks][EXCHANGE_BYTES];
	size_t at, piece;
	int error;

	for (at = 0; at < bytes; at += piece) {
		piece = bytes - at < EXCHANGE_BYTES ? bytes - at : EXCHANGE_BYTES;
		error = collsock_allgather(socket, (const uint8_t *)mine + at, pieces, piece,
					   COLLSOCK_BYTE, NULL);
		if (error)
			return error;
		for (rank = 0; rank < ranks; rank++)
			memcpy((uint8_t *)all + rank * bytes + at, (uint8_t *)pieces + rank * piece,
			       piece);
	}
	return 0;
}

/* The packets of the first group are not encrypted, so the key comes from a file instead. */
static void join_other(struct host *host, struct collsock_options *options, const char *key_file)
{
	int error = collsock_key_from_file(key_file, options->key);

	if (error)
		fail(key_file, error, COLLSOCK_NO_RANK);
	error = collsock_join_with(&host->other, options, host->rank, host->ranks, exchange,
				   host->socket);
	if (error)
		refuse("join again", error, options);
}

static void write_statistics(struct host *host)
{
	struct collsock_stats stats;
	int error = collsock_stats(host->socket, &stats, sizeof(stats));

	if (error)
		fail("statistics", error, COLLSOCK_NO_RANK);
	fprintf(host->seen, ", \"peers\": %u, \"operations\": %llu, \"rounds\": %llu, ",
		stats.peers, stats.completed, stats.rounds);
	fprintf(host->seen, "\"messages\": %llu, \"retransmits\": %llu", stats.messages_sent,
		stats.retransmits);
}

int main(int argc, char **argv)
{
	char text[TEXT_BYTES] = "";
	struct collsock_options options = {
		.size = sizeof(options), .timeout_ms = JOIN_MS,
		.text = text, .text_bytes = sizeof(text),
	};
	struct host host = { };

	if (argc != 7)
		errx(EXIT_USAGE,
		     "usage: host HOSTS LATE-HOST BARRIERS INPUT KEY-FILE FOLDER");
	host.hosts = strtoul(argv[1], NULL, 10);
	host.folder = argv[6];
	join(&host, &options);
	join_other(&host, &options, argv[5]);
	host.seen = create(&host, "seen");
	srand48(time(NULL) + host.rank);

	fprintf(host.seen, "{\"rank\": %u, ", host.rank);
	do_barriers(&host, strtoul(argv[3], NULL, 10));
	do_letters(&host, argv[4]);
	do_sums(&host);
	do_reduce(&host, strtoul(argv[2], NULL, 10));
	wait_for_all(host.socket);
	write_statistics(&host);
	fprintf(host.seen, "}\n");
	finish(host.seen);
	collsock_close(host.socket);
	collsock_close(host.other);
	return EXIT_DONE;
}
