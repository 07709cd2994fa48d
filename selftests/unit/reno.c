// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "reno.h"

#define INITIAL_WINDOW	10
#define TIMEOUT_NS	(200 * (u64)NSEC_PER_MSEC)

static struct reno *reno_of(const struct world_packet *p)
{
	return container_of(p->stream, struct reno, stream);
}

static u64 reno_number(const struct world_packet *p)
{
	u64 number;

	memcpy(&number, p->data, sizeof(number));
	return number;
}

static void reno_send(struct reno *r)
{
	struct world_packet *p = world_packet_new(RENO_BYTES);

	memcpy(p->data, &r->next, sizeof(r->next));
	p->from = r->from;
	p->to = r->to;
	p->stream = &r->stream;
	r->next++;
	r->flight++;
	world_send(r->world, p);
}

static void reno_fill(struct reno *r)
{
	while (r->flight < min_t(double, r->window, r->most))
		reno_send(r);
}

static void reno_reduce(struct reno *r)
{
	r->threshold = max_t(double, r->window / 2, 2);
	r->window = r->threshold;
	r->reduced = r->next;
	r->reductions++;
}

/* The window grows only while it is the limit (RFC 7661). */
static void reno_grow(struct reno *r)
{
	if (r->flight + 1 < r->window)
		return;
	r->window += r->window < r->threshold ? 1 : 1 / r->window;
}

static void reno_lose(struct reno *r, u64 number)
{
	r->flight--;
	r->lost++;
	if (number >= r->reduced)
		reno_reduce(r);
}

/* Packets do not overtake each other: those between have been lost. */
static void reno_acknowledge(struct reno *r, u64 number)
{
	if (number < r->acknowledged)
		return;
	while (r->acknowledged < number)
		reno_lose(r, r->acknowledged++);
	r->acknowledged++;
	reno_grow(r);
	r->flight--;
}

/* An acknowledgment of one or two packets; it is a packet of its own, without contents. */
struct reno_ack {
	struct reno	*reno;
	u64		numbers[2];
};

static void reno_acknowledged(struct world *w, void *what)
{
	struct reno_ack *ack = what;
	struct reno *r = ack->reno;

	r->heard_ns = w->now;
	reno_acknowledge(r, ack->numbers[0]);
	reno_acknowledge(r, ack->numbers[1]);
	free(ack);
	reno_fill(r);
}

/* Every second packet is acknowledged (RFC 5681, 4.2). */
static void reno_arrives(struct world *w, const struct world_packet *p)
{
	struct reno *r = reno_of(p);
	struct reno_ack *ack;

	if (r->arrived++ & 1) {
		ack = malloc(sizeof(*ack));
		*ack = (struct reno_ack){ r, { r->unacknowledged, reno_number(p) } };
		world_at(w, w->now + world_link(w, r->to, r->from)->delay_ns, reno_acknowledged,
			 ack);
	}
	r->unacknowledged = reno_number(p);
}

/* TCP's reaction to a full queue of its own host: congestion window reduced, once. */
static void reno_no_room(struct world *w, const struct world_packet *p)
{
	struct reno *r = reno_of(p);

	if (r->acknowledged >= r->reduced)
		reno_reduce(r);
}

static void reno_check(struct world *w, void *what)
{
	struct reno *r = what;

	if (r->flight && w->now - r->heard_ns >= TIMEOUT_NS) {
		reno_reduce(r);
		r->window = 1;
		r->acknowledged = r->next;
		r->flight = 0;
		reno_fill(r);
	}
	world_at(w, w->now + TIMEOUT_NS, reno_check, r);
}

void reno_start(struct reno *r, struct world *w, u32 from, u32 to, u32 most)
{
	*r = (struct reno) {
		.stream		= { .arrives = reno_arrives, .no_room = reno_no_room },
		.world		= w,
		.from		= from,
		.to		= to,
		.most		= most,
		.window		= INITIAL_WINDOW,
		.threshold	= RENO_MAX_FLIGHT,
		.heard_ns	= w->now,
	};
	reno_fill(r);
	world_at(w, w->now + TIMEOUT_NS, reno_check, r);
}
