// SPDX-License-Identifier: GPL-2.0
/* Measures the barrier of the module collsock_floor, as collperf measures collsock's. */
#include <err.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../tools/collperf/measure.h"
#include "../../../tools/collperf/options.h"
#include "../../../tools/collperf/status.h"
#include "floor.h"

static void run_barrier(void *context)
{
	const int *fd = context;

	if (read(*fd, NULL, 0))
		err(EXIT_FAILED, "a barrier");
}

static void parse(struct options *options, int argc, char **argv)
{
	static const struct option none[] = { { } };
	const struct program program = {
		.help = "floor: latency of a barrier in softirq with nothing around it\n\n"
			"usage: floor [OPTION]... --hosts N\n\n"
			"Its hosts are those of a test machine, which has loaded collsock_floor. The\n"
			"barrier is a dissemination, whatever the options say.\n\n",
		.own = none,
		.own_help = "\nexit code: 0 done, 1 failed, 2 wrong usage\n",
	};

	options_parse(options, &program, argc, argv);
	if (options->hosts.count < 2 || options->hosts.count > FLOOR_HOSTS)
		errx(EXIT_USAGE, "--hosts %u: 2 to %u", options->hosts.count, FLOOR_HOSTS);
	if (options->hosts.address->ss_family == AF_INET6)
		errx(EXIT_USAGE, "it has no IPv6");
}

static void join(int fd, const struct options *options)
{
	struct floor_join join = {
		.rank = options->rank,
		.hosts = options->hosts.count,
		.ethernet = options->hosts.address->ss_family == AF_PACKET,
		.spin_us = options->spin_us,
	};
	unsigned int i;

	for (i = 0; i < join.hosts; i++) {
		const struct sockaddr_in *in = (void *)&options->hosts.address[i];
		const struct sockaddr_ll *ll = (void *)&options->hosts.address[i];

		if (join.ethernet)
			memcpy(join.mac[i], ll->sll_addr, sizeof(join.mac[i]));
		else
			join.ipv4[i] = in->sin_addr.s_addr;
	}
	if (write(fd, &join, sizeof(join)) != sizeof(join))
		err(EXIT_FAILED, "the other hosts");
}

int main(int argc, char **argv)
{
	int fd;
	const struct work work = {
		.operation = run_barrier, .barrier = run_barrier, .context = &fd,
	};
	struct options options;
	struct figures figures;

	parse(&options, argc, argv);
	fd = open("/dev/" FLOOR_DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		err(EXIT_FAILED, "/dev/" FLOOR_DEVICE);
	join(fd, &options);
	measure_warm_up(&options, &work);
	measure(&figures, &options, &work);
	measure_print(&figures, &options, "floor");
	if (options.json)
		printf("}\n");
	return EXIT_DONE;
}
