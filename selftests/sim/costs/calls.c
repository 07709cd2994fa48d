// SPDX-License-Identifier: GPL-2.0
/*
 * calls: cost of system calls of a program that sends datagrams, in ns, as one JSON object:
 * sending a message, with and without its arrival; receiving one from the socket; polling
 * an empty socket; a message and a sleep. On hosts of the test machine, h1 and h2, with one
 * CPU, whose clock counts instructions.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PORT 7777
#define BYTES 8
/* Number of messages that fit into a socket */
#define BURST 50
#define BURSTS 40
#define WARM_UP 4
#define MESSAGES 2000
#define NS_PER_SECOND 1e9

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static struct sockaddr_in address(const char *host)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(PORT) };

	inet_aton(host, &a.sin_addr);
	return a;
}

static int socket_of(const char *space, const char *host)
{
	struct sockaddr_in own = address(host);
	int net = open(space, O_RDONLY | O_CLOEXEC), fd;

	if (net < 0 || setns(net, CLONE_NEWNET))
		err(1, "%s", space);
	close(net);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&own, sizeof(own)))
		err(1, "socket of %s", host);
	return fd;
}

static void sends(int fd, const struct sockaddr_in *to)
{
	char bytes[BYTES] = "";

	if (sendto(fd, bytes, BYTES, 0, (const struct sockaddr *)to, sizeof(*to)) != BYTES)
		err(1, "send");
}

static void receives(int fd)
{
	char bytes[BYTES];

	if (recv(fd, bytes, BYTES, 0) != BYTES)
		err(1, "receive");
}

static void polls(int fd)
{
	char bytes[BYTES];

	if (recv(fd, bytes, BYTES, MSG_DONTWAIT) >= 0)
		errx(1, "received a message that was not sent");
}

/* Mean ns of each of these calls; the cost of reading the clock is spread over a burst. */
#define TIME_BURST(sum, call) do {			\
	double begin = now_ns();			\
	int left;					\
							\
	for (left = BURST; left; left--)		\
		call;					\
	(sum) += (now_ns() - begin) / BURST / BURSTS;	\
} while (0)

static double time_messages(int one, int other, const struct sockaddr_in *to_one,
			    const struct sockaddr_in *to_other)
{
	pid_t echo = fork();
	double begin = 0;
	int i;

	if (echo < 0)
		err(1, "fork");
	for (i = -WARM_UP; i < MESSAGES; i++) {
		if (!i)
			begin = now_ns();
		if (echo) {
			sends(one, to_other);
			receives(one);
		} else {
			receives(other);
			sends(other, to_one);
		}
	}
	if (!echo)
		_exit(0);
	begin = (now_ns() - begin) / MESSAGES / 2;
	waitpid(echo, NULL, 0);
	return begin;
}

int main(void)
{
	/* An unused address, whose packets the network device accepts all the same */
	struct sockaddr_in unused = address("10.1.0.200");
	struct sockaddr_in to_one = address("10.1.0.1"), to_other = address("10.1.0.2");
	int one = socket_of("/run/netns/h1", "10.1.0.1");
	int other = socket_of("/run/netns/h2", "10.1.0.2");
	double sent = 0, lost = 0, received = 0, empty = 0;
	const struct sched_param equal = { };
	int i;

	/* A woken process waits for its turn */
	sched_setscheduler(0, SCHED_BATCH, &equal);
	for (i = -WARM_UP; i < BURSTS; i++) {
		if (!i) {
			sent = 0;
			lost = 0;
			received = 0;
			empty = 0;
		}
		TIME_BURST(sent, sends(one, &to_other));
		TIME_BURST(received, receives(other));
		TIME_BURST(empty, polls(other));
		TIME_BURST(lost, sends(one, &unused));
	}
	printf("{\"sent\": %.1f, \"lost\": %.1f, \"received\": %.1f, \"empty\": %.1f, ", sent, lost,
	       received, empty);
	fflush(stdout);
	printf("\"message\": %.1f}\n", time_messages(one, other, &to_one, &to_other));
	return 0;
}
