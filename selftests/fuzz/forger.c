// SPDX-License-Identifier: GPL-2.0
/*
 * Sends UDP packets with arbitrary source addresses from the host on which it runs. The
 * program that started it writes the orders on standard input: each is struct record and its
 * packet. The answer to FORGE and FLOOD is a line with the number of packets sent.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/collsock.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define MAX_PACKET	1472
#define MAX_SAMPLES	64
#define MAX_ADDRESSES	16
/* Layout of the packet: prefix, body, MAC */
#define PREFIX		32
#define EPOCH		28
#define FLAGS		34
#define SMALLEST	72
/* Number of packets that a host can certainly queue */
#define BURST		200
#define NS_PER_SECOND	1000000000

enum {
	SEND,		/* the packet as it is */
	SAMPLE,		/* keep it, to be forged */
	SOURCE,		/* use this source address, in turn with the others */
	DESTINATION,	/* send to this address, likewise */
	FORGE,		/* make "count" packets from the samples */
	FLOOD,		/* the packet every "count" nanoseconds, until the input ends */
};

struct record {
	__u32	source;
	__u32	destination;
	__u16	port;
	__u16	bytes;
	__u16	what;
	__u16	unused;
	__u32	count;
	__u32	seed;
};

struct sample {
	__u32	source;
	__u32	destination;
	unsigned int	bytes;
	__u8		data[MAX_PACKET];
};

static struct sample samples[MAX_SAMPLES];
static unsigned int sample_count;
static __u32 sources[MAX_ADDRESSES], destinations[MAX_ADDRESSES];
static unsigned int source_count, destination_count;
static __u64 chance;
static int raw;

/* SplitMix64 */
static __u64 draw(void)
{
	__u64 x = chance += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static unsigned int below(unsigned int limit)
{
	return draw() % limit;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void transmit(const struct record *r, const __u8 *data, unsigned int bytes)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = r->destination };
	struct {
		struct iphdr	ip;
		struct udphdr	udp;
		__u8		data[MAX_PACKET];
	} p = {
		.ip	= { .version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP,
			    .frag_off = htons(IP_DF), .saddr = r->source,
			    .daddr = r->destination },
		.udp	= { .source = htons(r->port), .dest = htons(COLLSOCK_PORT),
			    .len = htons(sizeof(struct udphdr) + bytes) },
	};
	unsigned int all = sizeof(p.ip) + sizeof(p.udp) + bytes;

	memcpy(p.data, data, bytes);
	p.ip.tot_len = htons(all);
	while (sendto(raw, &p, all, 0, (struct sockaddr *)&to, sizeof(to)) < 0)
		if (errno != ENOBUFS && errno != EINTR)
			die("forger: sendto");
}

/* ---- forgeries: none may equal a packet of a member ---- */

static void fill(__u8 *data, unsigned int bytes)
{
	while (bytes--)
		*data++ = draw();
}

static unsigned int truncated(__u8 *data, unsigned int bytes)
{
	return below(bytes);
}

static unsigned int longer(__u8 *data, unsigned int bytes)
{
	unsigned int more = 1 + below(100);

	fill(data + bytes, more);
	return bytes + more;
}

static unsigned int noise(__u8 *data, unsigned int bytes)
{
	bytes = below(MAX_PACKET);
	fill(data, bytes);
	return bytes;
}

/* Version, reserved bytes and type are valid, and no parts follow. */
static unsigned int formed_noise(__u8 *data, unsigned int bytes)
{
	fill(data, SMALLEST);
	memcpy(data, "\2\0\0", 4);
	memset(data + EPOCH, 0, 4);
	data[PREFIX] = 1 + below(5);
	data[FLAGS + 1] = 0;
	return SMALLEST;
}

static unsigned int bit_flipped(__u8 *data, unsigned int bytes)
{
	data[below(bytes)] ^= 1 << below(8);
	return bytes;
}

static unsigned int bytes_changed(__u8 *data, unsigned int bytes)
{
	unsigned int begin = below(bytes), end = begin + 1 + below(bytes - begin);

	for (; begin < end; begin++)
		data[begin] ^= 1 + below(255);
	return bytes;
}

/* Another sender or receiver of the same group. */
static unsigned int other_index(__u8 *data, unsigned int bytes)
{
	data[4 + below(2) * 2 + 1] ^= 1 + below(7);
	return bytes;
}

static unsigned int reflected(__u8 *data, unsigned int bytes)
{
	__u8 source[2];

	memcpy(source, data + 4, 2);
	memcpy(data + 4, data + 6, 2);
	memcpy(data + 6, source, 2);
	return bytes;
}

static unsigned int unknown_group(__u8 *data, unsigned int bytes)
{
	fill(data + 8, 8);
	return bytes;
}

/* A packet of one group, or for one host, is sent to another one. */
static unsigned int grafted(__u8 *data, unsigned int bytes)
{
	const struct sample *other = &samples[below(sample_count)];

	if (!memcmp(other->data, data, PREFIX)) {
		data[bytes - 1] ^= 1;
		return bytes;
	}
	memcpy(data + PREFIX, other->data + PREFIX, other->bytes - PREFIX);
	return other->bytes;
}

static unsigned int other_incarnation(__u8 *data, unsigned int bytes)
{
	data[20 + below(8)] ^= 1 + below(255);
	return bytes;
}

static unsigned int (*const ways[])(__u8 *data, unsigned int bytes) = {
	truncated, longer, noise, formed_noise, bit_flipped, bytes_changed, other_index, reflected,
	unknown_group, grafted, other_incarnation,
};

/* Half of them keep their source and destination. */
static void aim(struct record *r, const struct sample *s)
{
	r->source = s->source;
	r->destination = s->destination;
	if (below(2))
		return;
	r->destination = destinations[below(destination_count)];
	do {	/* no host accepts a packet from itself */
		r->source = sources[below(source_count)];
	} while (r->source == r->destination);
}

static void forge(const struct record *order)
{
	struct record r = *order;
	__u8 data[2 * MAX_PACKET];
	unsigned int i, bytes;

	chance = order->seed;
	for (i = 0; i < order->count; i++) {
		const struct sample *s = &samples[below(sample_count)];

		memcpy(data, s->data, s->bytes);
		bytes = ways[below(ARRAY_SIZE(ways))](data, s->bytes);
		aim(&r, s);
		transmit(&r, data, bytes < MAX_PACKET ? bytes : MAX_PACKET);
		if (i % BURST == BURST - 1)
			usleep(1000);
	}
	printf("%u\n", order->count);
	fflush(stdout);
}

/* ---- the same packet, again and again ---- */

static bool input_ended(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&input, 1, 0) > 0;
}

static void flood(const struct record *r, const __u8 *data)
{
	unsigned int sent = 0;
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (; !input_ended(); sent++) {
		transmit(r, data, r->bytes);
		next.tv_nsec += r->count;
		if (next.tv_nsec >= NS_PER_SECOND) {
			next.tv_nsec -= NS_PER_SECOND;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	printf("%u\n", sent);
	fflush(stdout);
}

/* ---- orders ---- */

static bool take(void *to, size_t bytes)
{
	return fread(to, 1, bytes, stdin) == bytes;
}

static void obey(const struct record *r, const __u8 *data)
{
	switch (r->what) {
	case SEND:
		transmit(r, data, r->bytes);
		break;
	case SAMPLE:
		if (r->bytes < SMALLEST || sample_count == MAX_SAMPLES)
			break;
		memcpy(samples[sample_count].data, data, r->bytes);
		samples[sample_count].source = r->source;
		samples[sample_count].destination = r->destination;
		samples[sample_count++].bytes = r->bytes;
		break;
	case SOURCE:
		if (source_count < MAX_ADDRESSES)
			sources[source_count++] = r->source;
		break;
	case DESTINATION:
		if (destination_count < MAX_ADDRESSES)
			destinations[destination_count++] = r->destination;
		break;
	case FORGE:
		if (sample_count && source_count && destination_count)
			forge(r);
		break;
	case FLOOD:
		flood(r, data);
		break;
	}
}

int main(void)
{
	__u8 data[MAX_PACKET];
	struct record r;

	raw = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	if (raw < 0)
		die("forger: socket");
	while (take(&r, sizeof(r)) && r.bytes <= sizeof(data) && take(data, r.bytes))
		obey(&r, data);
	return 0;
}
